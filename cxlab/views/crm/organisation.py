"""A stored organisation as people browse it: records by id, what each is called, and where its fields lead."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.organisation.ids import complete_id
from cxlab.benchmarks.crmarena.organisation.schema import FieldInfo, ObjectInfo, Schema, load_default
from cxlab.benchmarks.crmarena.organisation.schema_changes import load_of
from cxlab.benchmarks.crmarena.organisation.tables import read_folder
from cxlab.benchmarks.crmarena.sandbox import COMPATS, Compat, Sandbox
from cxlab.charts.numbers import format_count
from cxlab.records import Dataset
from cxlab.store import layout, write

BENCHMARK = "crmarena"
_ID = re.compile(r"[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?")
# What a record is called by, the first that it has.
_NAMES = ("Name", "Title", "Subject", "Field__c")
# What a record without a name is called by: its own fields and the records that they lead to.
_TEMPLATES: Mapping[str, str] = {
    "Order": "Order of {EffectiveDate}",
    "OrderItem": "{Quantity} × {Product2Id}",
    "PricebookEntry": "{Product2Id}, {UnitPrice}",
    "ProductCategoryProduct": "{ProductId} in {ProductCategoryId}",
    "LiveChatTranscript": "Chat of {EndTime}",
}
# By what the newest comes first.
_TIMES = ("CreatedDate", "EffectiveDate", "MessageDate", "EndTime")


@dataclass(frozen=True)
class OrganisationRecord:
    """One record: its object, and its values by field."""

    object: ObjectInfo
    values: Mapping[str, Any]
    title: str

    @property
    def id(self) -> str:
        return str(self.values["Id"])


@dataclass(frozen=True)
class Lead:
    """A field of a record that leads to other records. `declared`: whether the benchmark's metadata says so."""

    field: FieldInfo
    to: tuple[OrganisationRecord, ...]
    declared: bool


@dataclass(frozen=True)
class ReverseReference:
    """Records of an object that refer to a record by a field."""

    object: ObjectInfo
    field: FieldInfo
    ids: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Organisation:
    """The tables of an organisation by object. Latent variables are not among them."""

    schema: Schema
    tables: Mapping[str, pl.DataFrame]

    def count(self, name: str) -> int:
        """How many records an object has."""
        return self.tables[name].height

    def find(self, id: str) -> OrganisationRecord | None:
        """The record of an id of 15 or 18 characters; None where there is none."""
        if not _ID.fullmatch(id):
            return None
        whole = complete_id(id) if len(id) == 15 else id
        info = self.schema.by_prefix(whole)
        place = None if info is None else _index(self, info.name).get(whole)
        if info is None or place is None:
            return None
        return OrganisationRecord(info, self.tables[info.name].row(place, named=True), self.title(whole))

    def title(self, id: str) -> str:
        """What the record of an id is called; the id where there is none."""
        info = self.schema.by_prefix(id)
        return _titles(self, info.name).get(id, id) if info else id

    def leads(self, record: OrganisationRecord) -> list[Lead]:
        """Where the fields of a record lead, references first as the schema has them, then others that hold ids."""
        found: list[Lead] = []
        for field in record.object.fields.values():
            if field.name == "Id":
                continue
            ids = _ids_in(record.values[field.name], field)
            to = tuple(each for each in map(self.find, ids) if each is not None)
            if to:
                found.append(Lead(field, to, field.reference is not None and field.reference.declared))
        return sorted(found, key=lambda lead: lead.field.reference is None)

    def ways_back(self, record: OrganisationRecord) -> list[ReverseReference]:
        """The records that refer to a record, by object and field, newest first."""
        found = []
        for info, field in self.references_to(record.object.name):
            rows = self.tables[info.name].filter(pl.col(field.name) == record.id)
            if rows.height:
                found.append(ReverseReference(info, field, tuple(newest_first(rows)["Id"])))
        return found

    def references_to(self, name: str) -> Iterator[tuple[ObjectInfo, FieldInfo]]:
        """(object, field) of each reference that leads to an object."""
        for info in self.schema.objects.values():
            for field in info.references:
                if field.reference is not None and field.reference.to == name:
                    yield info, field

    def rows(self, name: str, field: str, ids: Sequence[str]) -> pl.DataFrame:
        """The records of an object with one of some values in a field."""
        return self.tables[name].filter(pl.col(field).is_in(ids)) if ids else self.tables[name].clear()

    def search(self, name: str, words: str) -> pl.DataFrame:
        """The records of an object that have all of some words in any of their texts, newest first."""
        found = self.tables[name]
        texts = [pl.col(each).str.to_lowercase() for each, dtype in found.schema.items() if dtype == pl.String]
        for word in words.lower().split():
            found = found.filter(
                pl.any_horizontal(each.str.contains(word, literal=True).fill_null(False) for each in texts)
            )
        return newest_first(found)

    def readable(self, rows: pl.DataFrame, name: str) -> pl.DataFrame:
        """Rows of an object with `record`, what each is called; references are told by titles, times in UTC."""
        own = _titles(self, name)
        changes = [
            pl.Series(field.name, [value and self.title(value) for value in rows[field.name]], pl.String)
            for field in self.schema.objects[name].references
        ]
        titles = pl.Series("record", [own.get(id, id) for id in rows["Id"]], pl.String)
        return rows.with_columns(titles, *changes, pl.col(pl.Datetime).dt.strftime("%Y-%m-%d %H:%M"))


def newest_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Records by the time that they have, the newest first; those without one as they are stored."""
    time = next((name for name in _TIMES if name in rows.columns), None)
    return rows.sort(time, descending=True, nulls_last=True, maintain_order=True) if time else rows


@functools.lru_cache(maxsize=64)
def _index(organisation: Organisation, name: str) -> dict[str, int]:
    return {id: place for place, id in enumerate(organisation.tables[name]["Id"]) if id is not None}


@functools.lru_cache(maxsize=64)
def _titles(organisation: Organisation, name: str) -> dict[str, str]:
    """Id → what the record is called, of all records of an object."""
    table, info = organisation.tables[name], organisation.schema.objects[name]
    named = [table[each] for each in _NAMES if each in table.columns]
    template = _TEMPLATES.get(name, "")
    used = [field for field in info.fields.values() if f"{{{field.name}}}" in template]
    found = {}
    for place, id in enumerate(table["Id"]):
        title = next((str(column[place]) for column in named if column[place]), "")
        if not title and used:
            values = {field.name: _say(organisation, table[field.name][place], field) for field in used}
            title = template.format_map(values) if all(values.values()) else ""
        found[id] = title or f"{name} {id}"
    return found


def _say(organisation: Organisation, value: Any, field: FieldInfo) -> str:
    if value is not None and field.reference is not None:
        return organisation.title(value)
    return write_value(value, field)


def count_records(count: int) -> str:
    """ "1 record", "2,071 records"."""
    return f"{format_count(count)} record{'s' * (count != 1)}"


def write_value(value: Any, field: FieldInfo) -> str:
    """A value as people read it; "" for null. Times are the organisation's, UTC."""
    if value is None:
        return ""
    if field.type == "multipicklist":
        return str(value).replace(";", ", ")
    if field.type == "currency":
        return f"${value:,.2f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_count(int(value)) if value.is_integer() else f"{value:,g}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


def _ids_in(value: Any, field: FieldInfo) -> Sequence[str]:
    """The ids that a field holds: one, several in a list, or none."""
    if not isinstance(value, str):
        return ()
    if field.type == "id_list":
        try:
            found = json.loads(value)
        except ValueError:
            return ()
        return [each for each in found if isinstance(each, str)] if isinstance(found, list) else ()
    return (value,) if field.type in ("reference", "string") and _ID.fullmatch(value) else ()


def datasets() -> list[Dataset]:
    """The stored datasets of this benchmark, newest first."""
    found = [each for each in write.list_datasets() if each.benchmark == BENCHMARK]
    return sorted(found, key=lambda each: (each.created, each.id), reverse=True)


def has_organisation(dataset_id: str) -> bool:
    """Whether a dataset has records, and not only tasks."""
    folder = layout.dataset_folder(layout.resolve_home(None), dataset_id)
    return any((folder / f"{name}.parquet").is_file() for name in load_default().objects)


def load(dataset_id: str) -> Organisation:
    """The organisation of a dataset; BadFile where it has none or one that is damaged."""
    folder = layout.dataset_folder(layout.resolve_home(None), dataset_id)
    stamp = max((path.stat().st_mtime_ns for path in folder.glob("*.parquet")), default=0)
    return _load(folder, stamp)


@functools.lru_cache(maxsize=4)
def _load(folder: Path, stamp: int) -> Organisation:
    del stamp
    schema = load_of(folder)
    return Organisation(schema, read_folder(folder, schema))


def open_sandbox(dataset: Dataset, today: str | None = None, compat: str = "", linked: bool = False) -> Sandbox:
    """The organisation to be asked, with its dataset's reading of the tools unless another is wanted; `linked` for
    solvers, which know what each case is about."""
    reading = compat or str(dataset.config.get("compat", ""))
    chosen: Compat = next((each for each in COMPATS if each == reading), "original")
    return Sandbox.open(dataset.id, compat=chosen, today=today, linked=linked)
