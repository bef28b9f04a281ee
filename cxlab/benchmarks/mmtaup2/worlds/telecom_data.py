"""The rows of a telecom world of our own: plans by hand, everything else drawn from a seed, at any size."""

import datetime
from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from cxlab.errors import BadOption

Rows = list[dict[str, Any]]
Drawn = TypeVar("Drawn")

DEFAULT_SIZE = 60
# (id, name, GB a month, USD a month, USD for a GB more); the last one's quota cannot be used up
PLANS = (
    ("P201", "Pebble", 4.0, 29.0, 4.0),
    ("P202", "Stream", 12.0, 45.0, 2.5),
    ("P203", "River", 20.0, 58.0, 2.0),
    ("P204", "Delta", 40.0, 79.0, 1.5),
    ("P205", "Ocean", 999.0, 95.0, 0.5),
)
_PLAN_SHARES = (0.2, 0.3, 0.25, 0.15, 0.1)
_FIRST_NAMES = (
    "Ada Amara Anton Beatriz Bruno Caleb Carmen Chidi Dalia Derek Elena Emeka Farah Felix Freya Gideon Greta Hana "
    "Hugo Ines Isaac Jonas Judith Kaya Kofi Lars Leila Lucia Malik Marta Mateo Mina Nadia Nils Noor Olga Omar Paolo "
    "Petra Quentin Rafael Renata Rosa Samir Selma Silas Sofia Tariq Teresa Tobias Uma Vera Viktor Wanda Yara Yusuf"
)
_LAST_NAMES = (
    "Abbott Acheson Almeida Baptiste Barrow Castellano Chowdhury Coleman Dacosta Dvorak Eklund Escobar Fairweather "
    "Ferreira Gallagher Goldberg Haddad Hartley Holloway Ibarra Ivanov Jankowski Jensen Kaminski Kerr Kowalski Lang "
    "Lindqvist Lopes Maddox Mbeki Mendoza Nakamura Novak Oduya Okafor Osborne Pacheco Petrov Quigley Ramsey Rinaldi "
    "Salazar Schreiber Silva Sorensen Takeda Thackeray Ueda Vance Vidal Weaver Whitlock Xavier Yamada Zeller"
)
_FIRST, _LAST = _FIRST_NAMES.split(), _LAST_NAMES.split()
_STREETS = ("Alder", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Linden", "Maple", "Rowan", "Willow")
_TOWNS = (
    ("Ashford Falls", "OR"),
    ("Bellmoor", "MA"),
    ("Carrow Springs", "CO"),
    ("Dunmere", "OH"),
    ("Eastwick Bay", "WA"),
    ("Fenton Ridge", "TN"),
    ("Greyhaven", "ME"),
    ("Harlow Park", "IL"),
)
_MODELS = (("phone", "Fjord 4"), ("phone", "Fjord 4 Mini"), ("phone", "Kestrel S"), ("phone", "Orbit 9"))
_OTHER_MODELS = (("tablet", "Slate 11"), ("watch", "Pulse 2"), ("router", "Hearth Hub"))
_STATUSES = ("Active", "Suspended", "Pending Activation", "Closed")
_STATUS_SHARES = (0.88, 0.07, 0.03, 0.02)
_METHODS = ("Credit Card", "Debit Card", "PayPal")
# Numbers step through all of 555-100-0000 to 555-999-9999 without meeting twice: the step shares no factor with 9e6
_NUMBERS, _STEP = 9_000_000, 6_700_417


def generate(seed: int, size: int) -> tuple[dict[str, Rows], dict[str, Any]]:
    """(records as lists of rows, the phone's own fields) with `size` customers; the same seed gives the same rows."""
    if not 1 <= size <= _NUMBERS // 3:
        raise BadOption(f"size {size}: a telecom world has 1 to {_NUMBERS // 3} customers")
    rng = Random(f"telecom {seed}")
    rows: dict[str, Rows] = {"plans": _plans(), "customers": [], "lines": [], "bills": [], "devices": []}
    start = rng.randrange(_NUMBERS)
    for number in range(size):
        _add_customer(rows, number, start, rng)
    return rows, {"device": {"battery_level": rng.randrange(25, 96)}}


def _plans() -> Rows:
    names = ("plan_id", "name", "data_limit_gb", "price_per_month", "data_refueling_price_per_gb")
    return [dict(zip(names, plan, strict=True)) for plan in PLANS]


def _add_customer(rows: dict[str, Rows], number: int, start: int, rng: Random) -> None:
    customer_id = f"C{30001 + number}"
    first, last = rng.choice(_FIRST), rng.choice(_LAST)
    owned = [_add_line(rows, start, rng, first=not each) for each in range(_drawn(rng, (1, 2, 3), (0.6, 0.3, 0.1)))]
    town, state = rng.choice(_TOWNS)
    methods = rng.sample(_METHODS, rng.randint(1, 2))
    customer = {
        "customer_id": customer_id,
        "full_name": f"{first} {last}",
        "date_of_birth": str(datetime.date(1941, 1, 1) + datetime.timedelta(days=rng.randrange(23_000))),
        "email": f"{first}.{last}{number + 1}@example.com".lower(),
        "phone_number": owned[0]["phone_number"],
        "address": {
            "street": f"{rng.randrange(1, 990)} {rng.choice(_STREETS)} Street",
            "city": town,
            "state": state,
            "zip_code": f"{rng.randrange(10_000, 99_999)}",
        },
        "account_status": "Active",
        "payment_methods": [
            {
                "method_type": method,
                "account_number_last_4": f"{rng.randrange(10_000):04d}",
                "expiration_date": f"{rng.randrange(1, 13):02d}/{rng.randrange(2026, 2030)}",
            }
            for method in methods
        ],
        "line_ids": [line["line_id"] for line in owned],
        "bill_ids": [],
        "created_at": f"{_joined(rng, owned)}T{rng.randrange(8, 20):02d}:{rng.randrange(60):02d}:00",
        "last_extension_date": None,
        "goodwill_credit_used_this_year": rng.choice((0.0, 0.0, 10.0, 25.0)),
    }
    rows["customers"].append(customer)
    _add_bills(rows, customer, owned, rng)


def _add_line(rows: dict[str, Rows], start: int, rng: Random, *, first: bool) -> dict[str, Any]:
    number = len(rows["lines"])
    kind, model = rng.choice(_MODELS)
    if not first and rng.random() < 0.4:
        kind, model = rng.choice(_OTHER_MODELS)
    activated = _before(rng, 700)
    device = {
        "device_id": f"D{60001 + number}",
        "device_type": kind,
        "model": model,
        "imei": f"{rng.randrange(10**15):015d}",
        "is_esim_capable": rng.random() < 0.7,
        "activated": True,
        "activation_date": f"{activated}T{rng.randrange(8, 20):02d}:{rng.randrange(60):02d}:00",
        "last_esim_transfer_date": None,
    }
    plan = _drawn(rng, PLANS, _PLAN_SHARES)
    status = _drawn(rng, _STATUSES, _STATUS_SHARES)
    place = 1_000_000 + (start + number * _STEP) % _NUMBERS
    line = {
        "line_id": f"L{40001 + number}",
        "phone_number": f"555-{place // 10_000}-{place % 10_000:04d}",
        "status": status,
        "plan_id": plan[0],
        "device_id": device["device_id"],
        "data_used_gb": round(rng.uniform(0.05, 0.9) * min(plan[2], 60.0), 1) if status == "Active" else 0.0,
        "data_refueling_gb": 0.0,
        "roaming_enabled": rng.random() < 0.5,
        "contract_end_date": str(datetime.date(2025, 6, 30) + datetime.timedelta(days=rng.randrange(900))),
        "last_plan_change_date": str(activated),
        "last_sim_replacement_date": None,
        "suspension_start_date": str(_before(rng, 40)) if status == "Suspended" else None,
    }
    rows["devices"].append(device)
    rows["lines"].append(line)
    return line


def _add_bills(rows: dict[str, Rows], customer: dict[str, Any], owned: Rows, rng: Random) -> None:
    """January's bill, paid; February's, of which some are not; the draft of March."""
    prices = {plan[0]: plan[3] for plan in PLANS}
    suspended = any(line["status"] == "Suspended" for line in owned)
    # A suspended line has its reason in the records: an overdue bill
    february = "Overdue" if suspended else _drawn(rng, ("Paid", "Issued", "Disputed"), (0.6, 0.35, 0.05))
    for month, status in ((1, "Paid"), (2, february), (3, "Draft")):
        first = datetime.date(2025, month, 1)
        last = datetime.date(2025, month + 1, 1) - datetime.timedelta(days=1)
        items: Rows = [
            {
                "description": f"Line {line['phone_number']}",
                "amount": prices[line["plan_id"]],
                "date": str(first),
                "item_type": "Plan Charge",
            }
            for line in owned
            if status != "Draft"
        ]
        bill = {
            "bill_id": f"B{80001 + len(rows['bills'])}",
            "customer_id": customer["customer_id"],
            "period_start": str(first),
            "period_end": str(last),
            "issue_date": str(first),
            "total_due": sum((float(item["amount"]) for item in items), 0.0),
            "due_date": str(first + datetime.timedelta(days=14)),
            "line_items": items,
            "status": status,
        }
        rows["bills"].append(bill)
        customer["bill_ids"].append(bill["bill_id"])


def _joined(rng: Random, owned: Rows) -> datetime.date:
    """A day before the first of these lines was activated: nobody has a line who is no customer."""
    first = min(datetime.date.fromisoformat(line["last_plan_change_date"]) for line in owned)
    return min(_before(rng, 1500), first - datetime.timedelta(days=1))


def _before(rng: Random, days: int) -> datetime.date:
    """A day up to so many days before the end of January 2025."""
    return datetime.date(2025, 1, 31) - datetime.timedelta(days=rng.randrange(days))


def _drawn(rng: Random, options: Sequence[Drawn], shares: Sequence[float]) -> Drawn:
    return rng.choices(options, shares)[0]
