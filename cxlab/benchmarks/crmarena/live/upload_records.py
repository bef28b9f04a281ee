"""A stored organisation as the records that an upload makes: object by object, in an order in which each can be made.

Beside the stored records the product needs a few that no stored organisation has: the catalogue that categories are
part of, the visitor of each chat, and a standard price of each product, without which no other price is taken. Contacts
are not made: each customer is a person account, whose contact the product makes itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.live.target import Target
from cxlab.benchmarks.crmarena.organisation.schema import ObjectInfo, Schema

CATALOGUE, VISITOR = "ProductCatalog", "LiveChatVisitor"
# Made just before the object that refers to them by a field; an object that the schema does not have.
_BEFORE = {"ProductCategory": (CATALOGUE, "CatalogId"), "LiveChatTranscript": (VISITOR, "LiveChatVisitorId")}
STANDARD_PRICE = "standard price of "
# What a record is made with, whatever is stored; the stored value is set when everything else is there.
FIRST = {"Order": ("Status", "Draft"), "Product2": ("IsActive", True)}
# The product works these out itself.
_WORKED_OUT = {("OrderItem", "Product2Id"), ("Account", "RecordTypeId")}
_AUDIT = ("CreatedDate", "ClosedDate")
KB_A_RECORD = 2


@dataclass(frozen=True)
class UploadPlan:
    """What an upload makes: object → stored id → its fields, with stored ids in them. `problems` are what the
    organisation lacks, a sentence each; `stored_ids` all ids that stand for a record."""

    stages: Mapping[str, Mapping[str, Mapping[str, Any]]]
    problems: tuple[str, ...]
    stored_ids: frozenset[str]

    @property
    def count(self) -> int:
        """Records to be made."""
        return sum(map(len, self.stages.values()))


def list_objects(schema: Schema) -> list[str]:
    """The objects of an upload, those that others refer to first."""
    order = schema.dependency_order()
    # Prices need products and price books; the customers' owners are users. What they refer to comes before them.
    first = {"User", "Account", "Product2"}
    for name in reversed(order):
        if name in first:
            first |= {field.reference.to for field in schema.objects[name].references if field.reference}
    found: list[str] = []
    for name in sorted(order, key=lambda each: each not in first):
        if name in _BEFORE:
            found.append(_BEFORE[name][0])
        found.append(name)
    return found


def make_plan(tables: Mapping[str, pl.DataFrame], schema: Schema, target: Target | None) -> UploadPlan:
    """The records of a stored organisation for a live one; None: as if it had every field, to count them."""
    stages: dict[str, dict[str, Mapping[str, Any]]] = {}
    problems = [] if target is None else [*_find_lacks(target, tables)]
    for name in list_objects(schema):
        info = schema.object(name)
        if name == "Contact":
            continue
        if info is None:
            owner, field = next((each, field) for each, (made, field) in _BEFORE.items() if made == name)
            keys = tables[owner][field].drop_nulls().unique(maintain_order=True).to_list()
            body = {"Name": "Catalogue"} if name == CATALOGUE else {}
            stages[name] = dict.fromkeys(keys, body)
            if target is not None and keys and name not in target.fields:
                problems.append(f"{name}: the organisation has no such object")
            continue
        frame = tables[name]
        fields = [each for each in info.fields if each != "Id" and frame[each].null_count() < frame.height]
        if target is not None and frame.height:
            problems += _find_missing(info, fields, target)
            fields = [each for each in fields if all(target.can_set(name, part) for part in _list_parts(info, each))]
        stages[name] = dict(_list_bodies(info, frame.select("Id", *fields)))
        _add_needs(stages[name], name, tables, target)
    ids = frozenset(id for name in schema.objects for id in tables[name]["Id"].drop_nulls().to_list())
    made = frozenset(key for stage in stages.values() for key in stage)
    return UploadPlan({name: each for name, each in stages.items() if each}, tuple(problems), ids | made)


def _find_lacks(target: Target, tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    if tables["Account"].height and not target.person_type:
        yield "Account: there is no record type for persons; turn on person accounts in the organisation"
    if tables["User"].height and not target.profile:
        yield "User: there is no such profile; name another one with --profile"
    if target.seats is not None and (short := tables["User"].height - target.seats) > 0:
        yield f"User: {tables['User'].height} are to be made, the licences of the profile are {short} short of it"
    if tables["PricebookEntry"].height and not target.standard_book:
        yield "Pricebook2: there is no standard price book"


def _find_missing(info: ObjectInfo, fields: list[str], target: Target) -> Iterator[str]:
    if info.name not in target.fields:
        yield f"{info.name}: the organisation has no such object"
        return
    known = target.fields[info.name]
    told = (each for each in fields if info.fields[each].listed and (info.name, each) not in _WORKED_OUT)
    for name in (part for each in told for part in _list_parts(info, each)):
        if name not in known:
            yield f"{info.name}.{name}: the organisation has no such field"
        elif not known[name]:
            how = "; turn on Set Audit Fields upon Record Creation" if name in _AUDIT else ""
            yield f"{info.name}.{name}: cannot be set when a record is made{how}"


def _list_parts(info: ObjectInfo, name: str) -> tuple[str, ...]:
    """The fields by which a field is set: a place is set by its two halves."""
    if info.fields[name].type != "location":
        return (name,)
    return tuple(f"{name.removesuffix('__c')}__{half}__s" for half in ("Latitude", "Longitude"))


def _list_bodies(info: ObjectInfo, frame: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    lists = {name for name in frame.columns if info.fields[name].type == "id_list"}
    places = [name for name in frame.columns if info.fields[name].type == "location"]
    derived = {name for name in frame.columns if info.fields[name].made_of}
    for row in frame.iter_rows(named=True):
        body = {
            name: json.loads(value) if name in lists else _write(value)
            for name, value in row.items()
            if value is not None and name != "Id" and name not in derived and name not in places
        }
        for name in places:
            if row[name] is not None:
                body |= zip(_list_parts(info, name), map(float, row[name].split(",")), strict=True)
        yield row["Id"], body


def _write(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.000+0000")
    return value.isoformat() if isinstance(value, date) else value


def _add_needs(
    stage: dict[str, Mapping[str, Any]], name: str, tables: Mapping[str, pl.DataFrame], target: Target | None
) -> None:
    """What the product wants beside the stored fields."""
    if name in FIRST:
        field, value = FIRST[name]
        stage.update({key: {**body, field: value} for key, body in stage.items()})
    if name == "PricebookEntry":
        book = target.standard_book if target is not None else ""
        standard = {
            f"{STANDARD_PRICE}{product}": {"Pricebook2Id": book, "Product2Id": product, "UnitPrice": price}
            for product, price in tables[name].group_by("Product2Id", maintain_order=True).agg(
                pl.col("UnitPrice").first()
            ).iter_rows()
        }  # fmt: skip
        listed = {**standard, **stage}
        stage.clear()
        stage.update({key: {**body, "IsActive": True} for key, body in listed.items()})
    if name == "EmailMessage":
        users = frozenset(tables["User"]["Id"].to_list())
        for key, body in stage.items():
            incoming = any(to in users for to in body.get("ToIds", ()))
            stage[key] = {**body, "Incoming": incoming, "Status": "0" if incoming else "3"}
    if target is None:
        return
    if name == "User":
        # Names to log in with are unique among all organisations of the product.
        mark = "".join(letter if letter.isalnum() else "-" for letter in target.host)
        for key, body in stage.items():
            login = f"{body.get('Username') or body.get('Email') or key + '@cxlab.example'}.{mark}"[:80]
            stage[key] = {**body, "Username": login, "ProfileId": target.profile}
    if name == "Account":
        owners = dict(tables["Contact"].select("AccountId", "OwnerId").drop_nulls().iter_rows())
        for key, body in stage.items():
            owned = {"OwnerId": owners[key]} if key in owners else {}
            stage[key] = {**body, "RecordTypeId": target.person_type, **owned}


def list_last(name: str, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Stored id → what the field of `FIRST` is to be set to at last, where that is something else."""
    field, first = FIRST[name]
    empty = False if isinstance(first, bool) else first  # a flag that is not set is false in the product
    stored = tables[name].select("Id", pl.col(field).fill_null(empty))
    return {key: value for key, value in stored.iter_rows() if value != first}
