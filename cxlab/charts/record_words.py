"""Records that tools give back, as a customer would call them: "plan River, 20 GB, $58.00 a month" for P203."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cxlab.charts.numbers import format_usd

_ID, _PERSON = "_id", ("customer", "user")
# Where a record has no name of its own: what tells it apart.
_CALLED: dict[str, Callable[[Any], str]] = {
    "phone_number": str,
    "total_due": lambda value: f"of {_money(value)}",
    "model": str,
}
# What is said of a record beside its name, in this order.
_TOLD: dict[str, Callable[[Any], str]] = {
    "data_limit_gb": lambda value: f"{value:g} GB",
    "price_per_month": lambda value: f"{_money(value)} a month",
    "price": lambda value: _money(value),
    "status": lambda value: str(value).replace("_", " ").lower(),
    "due_date": lambda value: f"due {value}",
}


def name_records(values: Iterable[Any]) -> dict[str, str]:
    """What each record within these values is called, by its id; those that say no more than their id are left out."""
    return {id: words for value in values for id, words in _list_names(value)}


def describe_record(value: Any) -> str:
    """A record with what matters of it in a few words; "" for what is none, or says no more than its id."""
    if not isinstance(value, Mapping) or not (name := _name(value)):
        return ""
    told = [words(value[field]) for field, words in _TOLD.items() if _is_plain(value.get(field))]
    things = [str(each["name"]) for each in value.get("items") or () if isinstance(each, Mapping) and each.get("name")]
    return ", ".join(dict.fromkeys([name, *told, *things]))


def _list_names(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        id, name = next((str(each) for field, each in value.items() if str(field).endswith(_ID)), ""), _name(value)
        if id and name:
            yield id, name
        # An article of an order or a variant of a product, which has the product's id as well.
        if item := ", ".join(filter(None, (str(value.get("name") or ""), _options(value.get("options"))))):
            yield str(value.get("item_id") or ""), item
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        if isinstance(each, Mapping | list):
            yield from _list_names(each)


def _name(record: Mapping[str, Any]) -> str:
    """A record is of what its first id is of, which stands first in it or after its name."""
    field = next((str(each) for each in record if str(each).endswith(_ID)), "")
    kind, name = field.removesuffix(_ID).replace("_", " "), record.get("full_name") or record.get("name")
    if not field:
        return ""
    if isinstance(name, Mapping):
        name = " ".join(str(part) for part in name.values() if part)
    if name:
        return str(name) if kind in _PERSON or kind not in _NAMED_BY_KIND else f"{kind} {name}"
    told = next((words(record[each]) for each, words in _CALLED.items() if _is_plain(record.get(each))), "")
    if told:
        return f"{kind} {told}"
    # An order's number is what its customer calls it by.
    return f"{kind} {record[field]}" if str(record[field]).startswith("#") else ""


_NAMED_BY_KIND = frozenset({"plan"})
"""What is not known by its name alone, as a person or an article is."""


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _money(value: Any) -> str:
    return format_usd(value) if isinstance(value, int | float) else f"${value}"


def _options(value: Any) -> str:
    return ", ".join(map(str, value.values())) if isinstance(value, Mapping) else ""
