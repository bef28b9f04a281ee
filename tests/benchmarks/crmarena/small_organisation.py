"""A small organisation, the same each time: a few of each object, with nulls, ties and transfers to be tested."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from cxlab.benchmarks.crmarena.organisation.ids import make_id

Rows = dict[str, list[dict[str, Any]]]
# A window at whose ends some cases are opened.
START, END = "2020-03-01T00:00:00Z", "2020-06-01T00:00:00Z"
STATES = ("GA", "TX", "ca", None)
STATUSES = ("Closed", "Closed", "New", "Working", "Escalated")
WORDS = ("late parcel", "Wrong Size", "100% broken", "under_score", "O'Neil's order", "Größe", "", "late")


def ident(prefix: str, number: int) -> str:
    return make_id(prefix, number)


def make_rows(seed: int = 0, cases: int = 60) -> Rows:
    """Rows of every object, as `to_tables` takes them."""
    rng = random.Random(seed)
    users = [
        {
            "Id": ident("005", i),
            "FirstName": f"Ann{i}",
            "LastName": "Lee" if i % 2 else "O'Neil",
            "Email": f"a{i}@x.org",
        }
        for i in range(5)
    ]
    accounts = [
        {"Id": ident("001", i), "FirstName": f"Cust{i}", "LastName": "Ray", "ShippingState": STATES[i % 4]}
        for i in range(8)
    ]
    contacts = [
        {"Id": ident("003", i), "FirstName": f"Cust{i}", "AccountId": ident("001", i), "OwnerId": ident("005", i % 5)}
        for i in range(8)
    ]
    issues = [{"Id": ident("a1M", i), "Name": name} for i, name in enumerate(("Shipping Delay", "Size Mismatch"))]
    products = [
        {"Id": ident("01t", i), "Name": name, "IsActive": active, "Description": f"A pair of {name.lower()}."}
        for i, (name, active) in enumerate(
            (("Trail Running Shoe", True), ("Road Runner", False), ("Yoga Mat", None), ("Café Boots", True))
        )
    ]
    orders = [
        {
            "Id": ident("801", i),
            "AccountId": ident("001", i % 8),
            "Status": "Activated" if i % 3 else "Draft",
            "EffectiveDate": f"2020-0{i % 9 + 1}-1{i % 9}",
        }
        for i in range(12)
    ]
    items = [
        {
            "Id": ident("802", i),
            "OrderId": ident("801", i % 12),
            "Product2Id": ident("01t", i % 4),
            "Quantity": float(i % 5 + 1),
            "UnitPrice": rng.choice([9.5, 20.0, 129.99, None]),
        }
        for i in range(24)
    ]
    made = []
    for i in range(cases):
        status = rng.choice(STATUSES)
        day, hour = rng.randrange(1, 29), rng.randrange(24)
        month = rng.randrange(1, 13)
        made.append(
            {
                "Id": ident("500", i),
                "Subject": rng.choice(WORDS) or None,
                "Description": "Long text that nobody may filter",
                "Priority": rng.choice(["High", "Low", None]),
                "Status": status,
                "CreatedDate": f"{2020 + i % 2}-{month:02}-{day:02}T{hour:02}:30:00.000+0000",
                "ClosedDate": f"2022-01-{day:02}T10:00:00.000+0000" if status == "Closed" else None,
                "AccountId": ident("001", rng.randrange(8)) if rng.random() < 0.9 else None,
                "ContactId": ident("003", rng.randrange(8)),
                "OwnerId": ident("005", rng.randrange(4)),
                "OrderItemId__c": ident("802", rng.randrange(24)),
                "IssueId__c": ident("a1M", rng.randrange(2)) if rng.random() < 0.9 else None,
            }
        )
    emails = [
        {
            "Id": ident("02s", i),
            "ParentId": ident("500", i % 20),
            "Subject": f"Re: {i}",
            "TextBody": f"Dear customer, number {i} is on its way.",
            "FromAddress": f"a{i % 5}@x.org",
            "ToIds": [ident("003", i % 8)],
            "MessageDate": f"2020-05-{i % 28 + 1:02}T08:00:00.000+0000",
        }
        for i in range(30)
    ]
    articles = [
        {"Id": ident("ka0", 0), "Title": "Return Policy", "FAQ_Answer__c": "Boots may be sent back within 30 days."},
        {"Id": ident("ka0", 1), "Title": "Shipping", "FAQ_Answer__c": "Parcels leave on the same day.", "Summary": "s"},
        {"Id": ident("ka0", 2), "Title": "Old Boots", "FAQ_Answer__c": "Not any more.", "PublishStatus": "Archived"},
    ]
    return {
        "User": users,
        "Account": accounts,
        "Contact": contacts,
        "Issue__c": issues,
        "Product2": products,
        "Order": orders,
        "OrderItem": items,
        "Case": made,
        "EmailMessage": emails,
        "Knowledge__kav": articles,
    }


def when(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def agent(number: int) -> str:
    return ident("005", number)


def add_history(rows: Rows) -> Rows:
    """A history for every case: opened, given to its first agent, perhaps handed over, perhaps closed."""
    rng = random.Random(1)
    history = []

    def add(case: dict[str, Any], at: str, field: str, old: str | None = None, new: str | None = None) -> None:
        row = {"CaseId__c": case["Id"], "Field__c": field, "CreatedDate": at, "OldValue__c": old, "NewValue__c": new}
        history.append({"Id": ident("a1N", len(history)), **row})

    for case in rows["Case"]:
        # Some are opened just when the window begins or ends.
        if rng.random() < 0.3:
            case["CreatedDate"] = rng.choice([START, END]).replace("Z", ".000+0000")
        holders = rng.sample(range(5), rng.choice([1, 1, 2, 3]))
        at = when(case["CreatedDate"])
        add(case, case["CreatedDate"], "Case Creation")
        add(case, case["CreatedDate"], "Owner Assignment", None, agent(holders[0]))
        for old, new in pairwise(holders):
            at += timedelta(days=rng.choice([0, 1, 40]))
            add(case, at.strftime("%Y-%m-%dT%H:%M:%S.000+0000"), "Owner Assignment", agent(old), agent(new))
        case["OwnerId"] = agent(holders[-1])
        if case["ClosedDate"]:
            add(case, case["ClosedDate"], "Case Closed")
    return rows | {"CaseHistory__c": history}
