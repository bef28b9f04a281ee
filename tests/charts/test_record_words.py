"""Records that tools give back, in the words of a customer."""

from typing import Any

import pytest

from cxlab.charts.record_words import describe_record, name_records
from cxlab.charts.sent_fields import say_arguments

PLAN = {"plan_id": "P203", "name": "River", "data_limit_gb": 20.0, "price_per_month": 58.0}
BILL = {"bill_id": "B1", "customer_id": "C1", "total_due": 45.0, "due_date": "2025-01-15", "status": "Overdue"}
HEADSET = {"name": "Headset", "product_id": "36", "item_id": "45", "price": 126.17, "options": {"color": "blue"}}
ORDER = {"order_id": "#W1", "user_id": "u_1", "items": [HEADSET], "status": "pending"}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (PLAN, "plan River, 20 GB, $58.00 a month"),
        (BILL, "bill of $45.00, overdue, due 2025-01-15"),
        ({"line_id": "L1", "phone_number": "555-1", "plan_id": "P203", "status": "Active"}, "line 555-1, active"),
        ({"customer_id": "C1", "full_name": "Ada Kerr", "phone_number": "555-1"}, "Ada Kerr"),
        ({"user_id": "u_1", "name": {"first_name": "Ada", "last_name": "Kerr"}}, "Ada Kerr"),
        (ORDER, "order #W1, pending, Headset"),
        # What says no more than its id, or is no record.
        ({"bill_id": "B1", "charge_usd": 4.0}, ""),
        ({"airplane_mode": True, "status": "on"}, ""),
        ({"name": "Ada"}, ""),
        ({}, ""),
        ([PLAN], ""),
        ("P203", ""),
        (None, ""),
    ],
)
def test_a_record_is_told_as_a_customer_would_call_it(record: Any, words: str) -> None:
    assert describe_record(record) == words


def test_records_are_known_by_their_ids_wherever_they_lie() -> None:
    variants = {"77": {"item_id": "77", "options": {"length": "90 cm", "wood": "walnut"}}}
    names = name_records([{"line": {"line_id": "L1", "phone_number": "555-1"}}, [BILL], ORDER, None, {"v": variants}])
    assert names["L1"] == "line 555-1"
    assert names["B1"] == "bill of $45.00"
    assert (names["45"], names["77"]) == ("Headset, blue", "90 cm, walnut")
    assert "C1" not in names


def test_a_call_names_what_it_is_about_by_words_and_what_has_none_by_its_id() -> None:
    sent = '{"customer_id": "C9", "bill_id": "B1", "item_ids": ["45", "46"], "now": true, "left": []}'
    told = say_arguments(sent, {"B1": "bill of $45.00", "45": "Headset"})
    assert told == "C9, bill of $45.00, Headset, 46, yes, none"
    assert say_arguments(sent) == "C9, B1, 45, 46, yes, none"
