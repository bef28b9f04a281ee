"""What ids are called on pages."""

import pytest

from cxlab.charts.names import shorten, spell_out


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("ReturnOrRefund", "return or refund"),
        ("RescheduleOrRefund+HandlingFee", "reschedule or refund + handling fee"),
        ("PLAN_C", "plan C"),
        ("GUIDE", "guide"),
        ("hasSLA", "has SLA"),
        ("orderStatus", "order status"),
        (True, "yes"),
        ("false", "no"),
        ("<img src=x>", "<img src=x>"),
        ("3 days", "3 days"),
        ("", ""),
    ],
)
def test_an_id_is_spelled_out_and_other_text_stays(id: object, words: str) -> None:
    assert spell_out(id) == words


@pytest.mark.parametrize("longest", [1, 5, 12, 40, 80])
def test_shortened_text_fits_and_begins_alike(longest: int) -> None:
    text = "Read core demand as inquiry, it was a complaint about “Where the parcel is”"
    short = shorten(text, longest)
    assert len(short) <= max(longest, 2)
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))
