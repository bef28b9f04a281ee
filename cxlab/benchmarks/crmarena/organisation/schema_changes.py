"""Changes to the schema of an organisation that is made: more fields, other labels, fields that agents are not told of.

    [Case]
    about = "A customer's request."                             # what agents are told of an object
    fields.Priority = { about = "How soon it must be done" }    # another label of a field that is there
    fields.Phone = { listed = false }                           # agents are not told of it
    fields.Language__c = { type = "picklist", values = ["English", "Spanish"], about = "Its language" }   # one more

Objects are the paper's 16: nothing would fill another one. A field more is filled at random and has nothing to do with
any answer; its name ends with __c. A dataset keeps its changes in its record.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cxlab.benchmarks.crmarena.organisation.schema import FieldInfo, Name, Schema, load_default
from cxlab.benchmarks.crmarena.organisation.tables import column_type
from cxlab.errors import BadFile
from cxlab.files import line_of, parse_toml, toml_lines

CONFIG = "schema_changes"
"""Where a dataset's record has them."""
NAME = "schema changes"
FORM = "see cxlab/benchmarks/crmarena/README.md for the form"
MOST_FIELDS = 20
Added = Literal["picklist", "string", "boolean", "integer", "number", "currency", "date"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Change(_Part):
    """What is said of a field; with a `type` it is a new one. `values` are what it can hold, a number lies from `least`
    to `most`."""

    type: Added | None = None
    about: str | None = Field(None, max_length=300)
    listed: bool = True
    values: tuple[str, ...] = ()
    least: float = 0
    most: float = 100


class _ObjectChange(_Part):
    about: str | None = Field(None, max_length=300)
    fields: dict[Name, _Change] = Field(default_factory=dict)


def read_changes(text: str) -> dict[str, _ObjectChange]:
    """Object → what changes; BadFile with the line of the first thing that does not fit."""
    lines = toml_lines(text)
    found: dict[str, _ObjectChange] = {}
    for name, given in parse_toml(text, NAME).items():
        try:
            found[name] = _ObjectChange.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = (name, *first["loc"])
            raise BadFile(NAME, line_of(lines, where), f"{'.'.join(map(str, where))}: {first['msg']}", FORM) from None
    for where, problem in _find_faults(found):
        raise BadFile(NAME, line_of(lines, where), f"{'.'.join(where)}: {problem}", FORM)
    return found


def _find_faults(changes: Mapping[str, _ObjectChange]) -> Iterator[tuple[tuple[str, ...], str]]:
    schema = load_default()
    more = 0
    for name, change in changes.items():
        info = schema.objects.get(name)
        if info is None:
            yield (name,), f"is no object; known: {', '.join(schema.objects)}"
            return
        for field, told in change.fields.items():
            where = (name, "fields", field)
            there = info.field(field)
            more += told.type is not None
            if told.type is None and there is None:
                yield where, "is no field; give its type to add it"
            elif told.type is not None and there is not None:
                yield where, "is there already; leave its type out to change its label"
            elif told.type is not None and not field.endswith("__c"):
                yield where, "the name of a field that is added ends with __c"
            elif told.type is not None and not told.about:
                yield where, "say in about what it is"
            elif told.type in ("picklist", "string") and not told.values:
                yield where, "give the values that it can hold"
            elif told.least > told.most:
                yield where, "least is above most"
    if more > MOST_FIELDS:
        yield (), f"{more} fields are added; {MOST_FIELDS} are the most"


@functools.lru_cache(maxsize=16)
def extend(text: str) -> Schema:
    """The paper's schema with changes; the same text gives the same object."""
    schema = load_default()
    if not text.strip():
        return schema
    objects = dict(schema.objects)
    for name, change in read_changes(text).items():
        info = objects[name]
        fields = dict(info.fields)
        for field, told in change.fields.items():
            there = info.field(field)
            if there is not None:
                about = told.about if told.about is not None else there.about
                fields[there.name] = replace(there, about=about, listed=there.listed and told.listed)
            elif told.type is not None:
                values = told.values if told.type == "picklist" else ()
                fields[field] = FieldInfo(name, field, told.type, told.about or "", told.listed, values)
        objects[name] = replace(info, about=change.about or info.about, fields=fields)
    return Schema(objects)


def fill(tables: Mapping[str, pl.DataFrame], text: str, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
    """The tables with the fields that are added, drawn evenly from what each can hold."""
    found = dict(tables)
    schema = extend(text)
    for name, change in read_changes(text).items() if text.strip() else ():
        for field, told in change.fields.items():
            if told.type is not None:
                values = pl.Series(field, _draw(told, found[name].height, rng), strict=False)
                found[name] = found[name].with_columns(values.cast(column_type(schema.objects[name].fields[field])))
    return found


def _draw(told: _Change, count: int, rng: np.random.Generator) -> list[Any]:
    match told.type:
        case "picklist" | "string":
            return [told.values[place] for place in rng.integers(0, len(told.values), count).tolist()]
        case "boolean":
            return [bool(each) for each in rng.integers(0, 2, count).tolist()]
        case "integer":
            return [int(each) for each in rng.integers(int(told.least), int(told.most) + 1, count).tolist()]
        case "date":
            days = np.datetime64("2021-01-01") + rng.integers(0, 1461, count)
            return [day.item() for day in days]
        case _:
            return [round(float(each), 2) for each in rng.uniform(told.least, told.most, count).tolist()]


def load_of(folder: Path) -> Schema:
    """The schema of a stored dataset; the paper's for any other folder or file."""
    record = folder / "dataset.json"
    if not record.is_file():
        return load_default()
    text = json.loads(record.read_text(encoding="utf-8")).get("config", {}).get(CONFIG, "")
    return extend(text) if isinstance(text, str) else load_default()
