"""The form of a retail database that comes from elsewhere, checked row by row before a world is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cxlab.benchmarks.mmtaup2.worlds.database import Row
from cxlab.errors import BadOption

Complaint = tuple[str, str, str]
"""(table, row, what is wrong with it)"""


class _Row(BaseModel):
    # Newer files may say more; what the tools read must be there and of its type.
    model_config = ConfigDict(extra="allow", strict=True)


class _Name(_Row):
    first_name: str
    last_name: str


class _Address(_Row):
    address1: str
    address2: str
    city: str
    country: str
    state: str
    zip: str


class _Method(_Row):
    source: str
    id: str
    balance: float | None = None


class _User(_Row):
    user_id: str
    name: _Name
    address: _Address
    email: str
    payment_methods: dict[str, _Method]
    orders: list[str]


class _Variant(_Row):
    item_id: str
    options: dict[str, Any]
    available: bool
    price: float


class _Product(_Row):
    name: str
    product_id: str
    variants: dict[str, _Variant]


class _Item(_Row):
    name: str
    product_id: str
    item_id: str
    price: float
    options: dict[str, Any]


class _Payment(_Row):
    transaction_type: str
    amount: float
    payment_method_id: str


class _Order(_Row):
    order_id: str
    user_id: str
    address: _Address
    items: list[_Item]
    status: str
    payment_history: list[_Payment] = Field(min_length=1)


_FORMS: dict[str, type[_Row]] = {"users": _User, "orders": _Order, "products": _Product}
_OWN_ID = {"users": "user_id", "orders": "order_id", "products": "product_id"}


def split_rows(database: Mapping[str, Any]) -> tuple[dict[str, dict[str, Row]], list[Complaint]]:
    """The rows that can be used, as they came, and what is wrong with the others; BadOption when a table is missing."""
    kept: dict[str, dict[str, Row]] = {}
    complaints: list[Complaint] = []
    for table, form in _FORMS.items():
        given = database.get(table)
        if not isinstance(given, Mapping):
            raise BadOption(f"the retail database has no table {table!r} (an object of rows by id)")
        kept[table] = {}
        for name, row in given.items():
            problem = _problem(table, str(name), row, form)
            if problem:
                complaints.append((table, str(name), problem))
            else:
                kept[table][str(name)] = row
    return kept, complaints


def check_rows(database: Mapping[str, Any]) -> dict[str, dict[str, Row]]:
    """All rows; BadOption names the first that cannot be used."""
    kept, complaints = split_rows(database)
    if complaints:
        table, name, problem = complaints[0]
        raise BadOption(f"retail database, {table} {name}: {problem}")
    return kept


def _problem(table: str, name: str, row: Any, form: type[_Row]) -> str | None:
    try:
        form.model_validate(row)
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return f"{where}: {first['msg']}" if where else str(first["msg"])
    if row[_OWN_ID[table]] != name:
        return f"its {_OWN_ID[table]} is {row[_OWN_ID[table]]!r}"
    gift_cards = row.get("payment_methods", {}).values() if table == "users" else ()
    if any(method["source"] == "gift_card" and method.get("balance") is None for method in gift_cards):
        return "a gift card without a balance"
    return None
