"""What schema changes add to an organisation, filled: objects, drawn and written or from files, and fields.

Values are drawn evenly from what each field can hold, references from the records that they lead to; texts are a
writer's, in batches of ten, each told the names that are there already. Nothing here has to do with any answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxlab.benchmarks.crmarena.generation import latent, prompts
from cxlab.benchmarks.crmarena.generation.writing import BATCH, TRIES, Counts, WritingStage, write_batch
from cxlab.benchmarks.crmarena.organisation.ids import make_id
from cxlab.benchmarks.crmarena.organisation.record_files import GivenRecords, read_folder
from cxlab.benchmarks.crmarena.organisation.schema import ObjectInfo, Schema
from cxlab.benchmarks.crmarena.organisation.schema_changes import (
    TEXTS,
    FieldChange,
    ObjectChange,
    extend,
    list_added,
    read_changes,
)
from cxlab.benchmarks.crmarena.organisation.tables import column_type
from cxlab.benchmarks.generation import stages
from cxlab.benchmarks.generation.stages import GenerationStopped, Progress
from cxlab.llm import ChatModel

LONGEST = {"string": 200, "text": 255, "long_text": 2000}
_NAMES = ("Name", "Title", "Subject")
_FIRST_DAY, _DAYS = datetime(2021, 1, 1), 1461

Tables = dict[str, pl.DataFrame]


def read_given(text: str, folder: str | None) -> dict[str, GivenRecords]:
    """The records of one's own for objects that changes add; BadFile for what does not fit."""
    return read_folder(Path(folder), extend(text), list_added(text)) if folder is not None else {}


def count_written(text: str, given: Mapping[str, GivenRecords]) -> int:
    """How many batches a writer is asked for."""
    added = list_added(text)
    return sum(-(-change.rows // BATCH) for name, change in added.items() if name not in given and _list_texts(change))


def fill(
    model: ChatModel,
    description: str,
    tables: Mapping[str, pl.DataFrame],
    text: str,
    given: Mapping[str, GivenRecords],
    seed: int,
    work: Path | None,
) -> WritingStage[tuple[Tables, Counts]]:
    """The tables with all that the changes add, and how often a writer was asked."""
    found, counts = dict(tables), Counts()
    if not text.strip():
        return found, counts
    schema, added = extend(text), list_added(text)
    for name in schema.dependency_order():
        if name in given:
            found[name] = _take(given[name], added[name], found, seed)
        elif name in added:
            frame = _draw_object(schema.objects[name], added[name], added[name].rows, found, seed)
            made = yield from _write(model, description, schema, name, added[name], frame, found, counts, seed, work)
            found[name] = made
        elif name in found:
            more = _draw_fields(schema.objects[name], read_changes(text).get(name), found[name].height, found, seed)
            found[name] = found[name].with_columns(more)
    return found, counts


def _take(given: GivenRecords, change: ObjectChange, tables: Mapping[str, pl.DataFrame], seed: int) -> pl.DataFrame:
    """Records of one's own; columns that their file does not have are drawn, texts stay empty."""
    info = given.object
    values = given.resolve(tables)
    drawn = _draw_object(info, change, len(given.lines), tables, seed)
    own = [pl.Series(name, each, column_type(info.fields[name])) for name, each in values.items()]
    return drawn.with_columns(own)


def _draw_object(
    info: ObjectInfo, change: ObjectChange, count: int, tables: Mapping[str, pl.DataFrame], seed: int
) -> pl.DataFrame:
    label = _label(info.name)
    first = {"Id": [make_id(info.prefix, number) for number in range(1, count + 1)]}
    if "Name" not in change.fields:
        first["Name"] = [f"{label}-{number:04}" for number in range(1, count + 1)]
    own = pl.DataFrame(first, schema=dict.fromkeys(first, pl.String))
    return own.with_columns(_draw_fields(info, change, count, {**tables, info.name: own}, seed))


def _draw_fields(
    info: ObjectInfo, change: ObjectChange | None, count: int, tables: Mapping[str, pl.DataFrame], seed: int
) -> list[pl.Series]:
    """The added fields of an object but for the texts that are to be written."""
    made = []
    for name, told in change.fields.items() if change else ():
        if told.type is None:
            continue
        rng = latent.rng_for(seed, f"added {info.name}.{name}")
        ids = tables[told.to]["Id"].to_list() if told.to is not None and told.to in tables else []
        drawn = _draw_own(ids, rng) if told.to == info.name else _draw(told, count, ids, rng)
        made.append(pl.Series(name, drawn, strict=False).cast(column_type(info.fields[name])))
    return made


def _draw_own(ids: Sequence[str], rng: np.random.Generator) -> list[str | None]:
    """Each record leads to an earlier one of its own object, or to none."""
    places = [int(rng.integers(-1, place)) if place else -1 for place in range(len(ids))]
    return [ids[place] if place >= 0 else None for place in places]


def _draw(told: FieldChange, count: int, ids: Sequence[str], rng: np.random.Generator) -> list[Any]:
    match told.type:
        case "reference":
            return [ids[place] for place in rng.integers(0, len(ids), count).tolist()] if ids else [None] * count
        case "multipicklist":
            chosen = rng.random((count, len(told.values))) < 0.4
            chosen[np.arange(count), rng.integers(0, len(told.values), count)] = True
            return [";".join(v for v, held in zip(told.values, row, strict=True) if held) for row in chosen.tolist()]
        case "boolean":
            return [bool(each) for each in rng.integers(0, 2, count).tolist()]
        case "integer":
            return [int(each) for each in rng.integers(int(told.least), int(told.most) + 1, count).tolist()]
        case "date":
            return [(_FIRST_DAY + timedelta(days)).date() for days in rng.integers(0, _DAYS, count).tolist()]
        case "datetime":
            minutes = rng.integers(0, _DAYS * 24 * 60, count).tolist()
            return [_FIRST_DAY + timedelta(minutes=each) for each in minutes]
        case "location":
            # Somewhere in the continental United States.
            north, east = rng.uniform(30, 47, count).tolist(), rng.uniform(-121, -75, count).tolist()
            return [f"{lat:.4f},{lon:.4f}" for lat, lon in zip(north, east, strict=True)]
        case "number" | "currency":
            return [round(float(each), 2) for each in rng.uniform(told.least, told.most, count).tolist()]
        case _ if told.values:
            return [told.values[place] for place in rng.integers(0, len(told.values), count).tolist()]
        case _:
            return [None] * count


def _list_texts(change: ObjectChange) -> dict[str, FieldChange]:
    """The fields that a writer fills."""
    return {name: told for name, told in change.fields.items() if told.type in TEXTS and not told.values}


def _write(
    model: ChatModel,
    description: str,
    schema: Schema,
    name: str,
    change: ObjectChange,
    frame: pl.DataFrame,
    tables: Mapping[str, pl.DataFrame],
    counts: Counts,
    seed: int,
    work: Path | None,
) -> WritingStage[pl.DataFrame]:
    """The records with their texts, batch after batch."""
    texts = _list_texts(change)
    if not texts or frame.is_empty():
        return frame
    fields = tuple(
        prompts.TextField(name=field, about=told.about or "", longest=LONGEST[told.type or "string"])
        for field, told in texts.items()
    )
    facts = _tell_facts(change, frame, tables)
    found: dict[str, list[str]] = {field: [] for field in texts}
    batches = range(0, frame.height, BATCH)
    for number, start in enumerate(batches):
        records = tuple(
            prompts.RecordFacts(number=place + 1, facts=facts[place])
            for place in range(start, min(start + BATCH, frame.height))
        )
        inputs = prompts.RecordsInputs(
            description=description,
            label=_label(name),
            about=change.about or "",
            fields=fields,
            records=records,
            known=tuple(found.get("Name", ())),
        )

        async def write(key: str, inputs: prompts.RecordsInputs = inputs, number: int = number) -> dict[str, Any]:
            made, discarded, why = await write_batch(model, prompts.RECORDS, inputs, seed * 1000 + number * TRIES)
            if made is None:
                raise GenerationStopped(f"{name}: {model.name} did not write records as asked in {TRIES} tries: {why}")
            return {"texts": inputs.sort(made), "discarded": discarded}

        stage = f"records {name}"
        row = stages.finish(stages.run(stage, [str(start)], str, write, work))[0]
        counts.add(row)
        for texts_of in row["texts"]:
            for field in found:
                found[field].append(texts_of[field])
        yield Progress(stage, number + 1, len(batches))
    return frame.with_columns(pl.Series(field, values, pl.String) for field, values in found.items())


def _tell_facts(change: ObjectChange, frame: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> list[tuple[str, ...]]:
    """What is known of each record before it is written, one line a field."""
    columns: list[list[str]] = []
    for field, told in change.fields.items():
        if field not in frame.columns or frame[field].null_count() == frame.height:
            continue
        values = frame[field].to_list()
        if told.to is not None and told.to in tables:
            titles = _list_titles(tables[told.to])
            values = [titles.get(value) for value in values]
        columns.append([f"{_label(field)}: {_say(value, told.type)}" if value is not None else "" for value in values])
    return [tuple(filter(None, facts)) for facts in zip(*columns, strict=True)] or [()] * frame.height


def _say(value: Any, type_: str | None) -> str:
    if type_ == "currency":
        return f"${value:,.2f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return str(value).replace(";", ", ") if type_ == "multipicklist" else str(value)


def _list_titles(table: pl.DataFrame) -> dict[str, str]:
    """Id → what a record is called."""
    if {"FirstName", "LastName"} <= set(table.columns):
        return {id: f"{first} {last}" for id, first, last in table.select("Id", "FirstName", "LastName").iter_rows()}
    column = next((each for each in _NAMES if each in table.columns), "Id")
    return dict(table.select("Id", pl.col(column).alias("title")).iter_rows())


def _label(name: str) -> str:
    """ "Sold_by__c" → "Sold by"."""
    return name.removesuffix("__c").replace("_", " ")
