"""Records of one's own for the objects that schema changes add: a folder with a CSV file an object (`Warranty__c.csv`).

Columns are fields. `Id` may be left out, then ids are made. A reference is an id or what the record that it leads to is
called (its Name, Title or Subject). What does not fit is told with file and line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.organisation.ids import complete_id, make_id
from cxlab.benchmarks.crmarena.organisation.schema import FieldInfo, ObjectInfo, Schema
from cxlab.benchmarks.crmarena.organisation.schema_changes import MOST_ROWS
from cxlab.benchmarks.crmarena.organisation.tables import TypeMismatch, to_value
from cxlab.errors import BadFile
from cxlab.files.limits import Fault, check_string, read_text

LARGEST = 20_000_000
_ID = re.compile(r"[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?")
_NAMES = ("Name", "Title", "Subject")


@dataclass(frozen=True)
class GivenRecords:
    """The records of one file: field → values, references as they were written, and the line of each record."""

    path: Path
    object: ObjectInfo
    values: Mapping[str, list[Any]]
    lines: tuple[int, ...]

    def resolve(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, list[Any]]:
        """The values with ids in place of what referred-to records are called, where their tables are there."""
        found = dict(self.values)
        for field in self.object.references:
            to = field.reference.to if field.reference else ""
            if field.name not in found or not (to in tables or to == self.object.name):
                continue
            ids, names = self._list_own() if to == self.object.name else _list_known(tables[to])
            found[field.name] = [
                self._find(value, field, line, ids, names)
                for value, line in zip(found[field.name], self.lines, strict=True)
            ]
        return found

    def _list_own(self) -> tuple[set[str], dict[str, list[str]]]:
        names: dict[str, list[str]] = {}
        for id, name in zip(self.values["Id"], self.values.get("Name", ()), strict=False):
            names.setdefault(str(name), []).append(id)
        return set(self.values["Id"]), names

    def _find(
        self, value: str | None, field: FieldInfo, line: int, ids: set[str], names: Mapping[str, list[str]]
    ) -> str | None:
        to = field.reference.to if field.reference else ""
        if value is None or value in ids:
            return value
        if len(value) == 15 and _ID.fullmatch(value) and complete_id(value) in ids:
            return complete_id(value)
        found = names.get(value, [])
        if len(found) != 1:
            many = f"{len(found)} records of {to} are called" if found else f"no {to} has the id or is called"
            raise BadFile(self.path, line, f"{field.name}: {many} {value[:60]!r}", "give an id, or a name that one has")
        return found[0]


def _list_known(table: pl.DataFrame) -> tuple[set[str], dict[str, list[str]]]:
    names: dict[str, list[str]] = {}
    column = next((each for each in _NAMES if each in table.columns), None)
    if column is not None:
        for id, name in table.select("Id", column).iter_rows():
            names.setdefault(name, []).append(id)
    return set(table["Id"]), names


def read_folder(folder: Path, schema: Schema, added: Mapping[str, Any]) -> dict[str, GivenRecords]:
    """Added object → its records, for each that has a file; BadFile for what does not fit."""
    if not folder.is_dir():
        raise BadFile(folder, None, "is no folder", "give a folder with a CSV file an added object")
    for path in sorted(folder.glob("*.csv")):
        if path.stem not in added:
            known = ", ".join(added) or "none; add it in the schema changes"
            raise BadFile(path, None, f"{path.stem} is no object that the schema changes add; they add {known}")
    paths = {name: folder / f"{name}.csv" for name in added}
    found = {name: _read(path, schema.objects[name]) for name, path in paths.items() if path.exists()}
    if not found:
        raise BadFile(folder, None, "has no CSV file", f"name one after an added object: {', '.join(added)}")
    return found


def _read(path: Path, info: ObjectInfo) -> GivenRecords:
    lines: list[int] = []
    values: dict[str, list[Any]] = {}
    for line, row in _rows(path):
        if not values:
            values = {_name(path, line, column, info): [] for column in row}
            if len(values) < len(row):
                raise BadFile(path, line, "two columns have one name", "leave one of them out")
            continue
        if len(row) != len(values):
            raise BadFile(path, line, f"{len(row)} values, and {len(values)} columns", "quote values that hold commas")
        if len(lines) == MOST_ROWS:
            raise BadFile(path, line, f"more than {MOST_ROWS:,} records", "leave some out")
        for name, value in zip(values, row, strict=True):
            values[name].append(_value(path, line, value.strip(), info.fields[name]))
        lines.append(line)
    if not values:
        raise BadFile(path, 1, "is empty", "the first line names the fields")
    values["Id"] = _ids(path, info, values.get("Id", []), lines)
    return GivenRecords(path, info, values, tuple(lines))


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line, values) of each row that is not blank."""
    reader = csv.reader(io.StringIO(read_text(path, LARGEST), newline=""), strict=True)
    before = 0
    try:
        for row in reader:
            if any(row):
                yield before + 1, row
            before = reader.line_num
    except csv.Error as fault:
        raise BadFile(path, reader.line_num, f"not CSV: {fault}", 'text with commas stands in "…"') from None


def _name(path: Path, line: int, column: str, info: ObjectInfo) -> str:
    field = info.field(column.strip())
    if field is None:
        raise BadFile(path, line, f"{column[:60]!r} is no field of {info.name}", f"known: {', '.join(info.fields)}")
    return field.name


def _value(path: Path, line: int, text: str, field: FieldInfo) -> Any:
    parts = text.split(";") if field.type == "multipicklist" else [text]
    wrong = [part for part in parts if part.strip() not in field.values] if text and field.values else []
    if wrong:
        allowed = ", ".join(field.values)
        raise BadFile(path, line, f"{field.name}: {wrong[0][:60]!r} is none of its values", f"take one of {allowed}")
    try:
        return to_value(check_string(text), field)
    except (TypeMismatch, Fault) as fault:
        raise BadFile(path, line, f"{field.name}: {fault}", "see the type of the field") from None


def _ids(path: Path, info: ObjectInfo, given: list[str | None], lines: list[int]) -> list[str]:
    """The ids of records, made where none is given."""
    seen: dict[str, int] = {}
    taken = {each and complete_id(each[:15]) for each in given}
    free = (id for number in range(1, 2 * MOST_ROWS + 2) if (id := make_id(info.prefix, number)) not in taken)
    for told, line in zip(given or [None] * len(lines), lines, strict=True):
        if told is not None and not (_ID.fullmatch(told) and told.startswith(info.prefix)):
            problem = f"Id: {told[:40]!r} is no id of 15 or 18 letters and digits that begins with {info.prefix}"
            raise BadFile(path, line, problem, "leave the column out to have ids made")
        whole = next(free) if told is None else complete_id(told) if len(told) == 15 else told
        if whole in seen:
            raise BadFile(path, line, f"Id: {told} is that of line {seen[whole]}", "give each record its own")
        seen[whole] = line
    return [*seen]
