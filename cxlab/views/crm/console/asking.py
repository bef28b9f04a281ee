"""A query of the console asked: its records as a table, or what is wrong with it and where."""

from __future__ import annotations

import difflib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.organisation.schema import Schema
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.soql import QueryError, parse
from cxlab.benchmarks.crmarena.soql.explain import explain
from cxlab.benchmarks.crmarena.soql.search_parser import is_search

_MISSPELT = re.compile(r"No such column '([^']+)' on entity '([^']+)'|sObject type '([^']+)'")
_MOST_MEANT = 3
_OBJECT = "(object)"


@dataclass(frozen=True)
class Answer:
    """What came of a query: its records as the product gives them, or a fault; `steps` say how it is worked through."""

    records: list[dict[str, Any]] = field(default_factory=list)
    fault: QueryError | None = None
    steps: Sequence[str] = ()
    seconds: float = 0.0


def ask(sandbox: Sandbox, text: str) -> Answer:
    """The answer to a query or search; nothing is raised for what cannot be answered."""
    began = time.perf_counter()
    steps: Sequence[str] = ()
    try:
        steps = explain(parse(text), sandbox.schema, sandbox.today)
        # A search gives records of several objects: each says of which it is.
        records = sandbox.sosl(text, attributes=True) if is_search(text) else sandbox.soql(text)
    except QueryError as fault:
        return Answer(fault=fault, steps=steps, seconds=time.perf_counter() - began)
    return Answer(records, None, steps, time.perf_counter() - began)


def to_table(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Records as a table: parents as columns `Account.Name`, children as their number and their values in short."""
    rows = [dict(flatten(record)) for record in records]
    known = dict.fromkeys(name for row in rows for name in row)
    # A parent that is not there is null as a whole, where others have columns of theirs.
    parents = {name.rpartition(".")[0] for name in known}
    names = [name for name in known if name not in parents]
    return pl.DataFrame({name: _column(name, [row.get(name) for row in rows]) for name in names})


def flatten(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(column, value) of a record: parents' fields as `Account.Name`, children as their number and values in short,
    its object, where it says it, as (object)."""
    for key, value in record.items():
        if key == "attributes" and isinstance(value, Mapping) and "type" in value:
            yield f"{prefix}{_OBJECT}", value["type"]
        elif isinstance(value, Mapping) and isinstance(value.get("records"), list):
            yield f"{prefix}{key}", _say_children(value["records"])
        elif isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _say_children(records: Sequence[Mapping[str, Any]]) -> str:
    told = "; ".join(", ".join("null" if v is None else str(v) for _, v in flatten(each)) for each in records)
    return f"{len(records)}: {told}"


def _column(name: str, values: list[Any]) -> pl.Series:
    """Values of one type as they are, of several as text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1 and kinds <= {str, bool, int, float}:
        return pl.Series(name, values)
    if kinds and kinds <= {int, float}:
        return pl.Series(name, values, pl.Float64)
    return pl.Series(
        name, [value if value is None or isinstance(value, str) else json.dumps(value) for value in values], pl.String
    )


def to_json(records: Sequence[Mapping[str, Any]]) -> bytes:
    """The records as the product gives them."""
    return json.dumps(records, ensure_ascii=False, indent=1).encode()


@dataclass(frozen=True)
class SourceLine:
    """A line of a query with its number; `caret` is the column that a fault points to, counted from 1."""

    number: int
    text: str
    caret: int | None = None


# A query of many or long lines is shown around the place alone.
_AROUND_LINES, _AROUND_SIGNS = 6, 110


def mark_place(text: str, fault: QueryError) -> list[SourceLine]:
    """The lines of a query around the place of a fault, that place marked; [] where the fault has none."""
    if fault.row is None or fault.column is None:
        return []
    lines = text.split("\n")
    first, last = max(0, fault.row - 1 - _AROUND_LINES), min(len(lines), fault.row + _AROUND_LINES)
    found = []
    for number, line in enumerate(lines[first:last], start=first + 1):
        here = number == fault.row
        start = max(0, fault.column - 1 - _AROUND_SIGNS) if here else 0
        shown = line[start : start + 2 * _AROUND_SIGNS].replace("\t", " ")
        found.append(SourceLine(number, shown, fault.column - start if here else None))
    return found


def find_meant(text: str, fault: QueryError, schema: Schema) -> list[tuple[str, str]]:
    """(name, query) of what may have been meant by a field or object that there is not, the likeliest first, or by a
    form that is another language's."""
    if fault.row is None or fault.column is None:
        return []
    match = _MISSPELT.search(fault.problem)
    if match is None:
        return _find_meant_form(text, _find_place(text, fault.row, fault.column))
    wrong, entity, type_ = match.groups()
    info = schema.object(entity) if entity else None
    known = list(info.fields) if info else list(schema.objects) if type_ else []
    typed = wrong or type_
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(typed.lower(), lower, _MOST_MEANT, 0.5)
    at = _find_place(text, fault.row, fault.column)
    # The place is that of the path's first step, or of the name itself.
    place = re.compile(rf"(?<!\w){re.escape(typed)}(?!\w)").search(text, at)
    if place is None:
        return []
    return [(lower[each], text[: place.start()] + lower[each] + text[place.end() :]) for each in near]


def _find_place(text: str, row: int, column: int) -> int:
    """How many characters stand before a row and column, both counted from 1."""
    return sum(len(line) + 1 for line in text.split("\n")[: row - 1]) + column - 1


# What people who know SQL write → what is said here; at the place of the fault.
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<==)=\s*"), " "),
    (re.compile(r"IS\s+NOT\s+NULL\b", re.I), "!= NULL"),
    (re.compile(r"IS\s+NULL\b", re.I), "= NULL"),
    (re.compile(r"\*"), "FIELDS(ALL)"),
    (re.compile(r";\s*$"), ""),
    (re.compile(r'"([^"\\\']*)"'), r"'\1'"),
)
_BARE = re.compile(r"[^\W\d]\w*")
_COMPARED = re.compile(r"(?:[=<>]|\bLIKE|\bIN\s*\(|,)\s*$", re.I)


_MOST_CHANGES = 5


def _find_meant_form(text: str, at: int) -> list[tuple[str, str]]:
    """The query with these put right, where it is one then."""
    names: list[str] = []
    for _ in range(_MOST_CHANGES):
        changed = _put_right(text, at)
        if changed is None:
            return []
        names.append(changed[0])
        text = changed[1]
        try:
            parse(text)
        except QueryError as fault:
            if fault.row is None or fault.column is None:
                return []
            at = _find_place(text, fault.row, fault.column)
        else:
            return [(", ".join(dict.fromkeys(names)), text)]
    return []


def _put_right(text: str, at: int) -> tuple[str, str] | None:
    """(what is put there, the query with it); None where no form is known."""
    for form, here in _FORMS:
        if (found := form.match(text, at)) is not None:
            new = found.expand(here)
            return new.strip() or f"without {found.group().strip()}", text[:at] + new + text[found.end() :]
    bare = _BARE.match(text, at)
    if bare is not None and _COMPARED.search(text[:at]):
        return f"'{bare.group()}'", f"{text[:at]}'{bare.group()}'{text[bare.end() :]}"
    return None
