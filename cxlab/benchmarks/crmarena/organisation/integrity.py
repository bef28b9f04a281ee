"""What must hold in an organisation: ids, references, and the history of each case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.organisation.schema import Schema

HISTORY = "CaseHistory__c"


def find_faults(tables: Mapping[str, pl.DataFrame], schema: Schema) -> list[str]:
    """What does not hold, one sentence a field or rule with how many rows it concerns; [] for a sound organisation."""
    return [*_find_id_faults(tables, schema), *_find_dangling(tables, schema), *_find_history_faults(tables)]


def _find_id_faults(tables: Mapping[str, pl.DataFrame], schema: Schema) -> Iterator[str]:
    for name, info in schema.objects.items():
        ids = tables[name]["Id"]
        if missing := ids.null_count():
            yield f"{name}: {missing:,} of {len(ids):,} records have no Id"
        if again := len(ids) - ids.n_unique():
            yield f"{name}: {again:,} of {len(ids):,} ids come more than once"
        if other := ids.drop_nulls().str.starts_with(info.prefix).not_().sum():
            yield f"{name}: {other:,} of {len(ids):,} ids do not begin with {info.prefix}"


def _find_dangling(tables: Mapping[str, pl.DataFrame], schema: Schema) -> Iterator[str]:
    for name, info in schema.objects.items():
        for field in info.references:
            if field.reference is None:
                continue
            values = tables[name][field.name].drop_nulls()
            known = tables[field.reference.to]["Id"].drop_nulls().unique()
            lost = values.is_in(known.implode()).not_().sum()
            if lost:
                yield f"{name}.{field.name}: {lost:,} of {len(values):,} lead to no {field.reference.to}"


def _find_history_faults(tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """Each case is opened once, given to its first agent then, handed from agent to agent to the one who has it, and
    closed once if it is closed.
    """
    if HISTORY not in tables or tables[HISTORY].is_empty():
        return
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in tables[HISTORY].sort("CreatedDate", maintain_order=True).iter_rows(named=True):
        rows.setdefault(row["CaseId__c"], []).append(row)
    faults = Counter(
        fault for case in tables["Case"].iter_rows(named=True) for fault in _judge(case, rows.get(case["Id"], []))
    )
    total = tables["Case"].height
    yield from (f"{HISTORY}: in {count:,} of {total:,} cases {fault}" for fault, count in faults.items())


def _judge(case: Mapping[str, Any], history: list[dict[str, Any]]) -> Iterator[str]:
    kinds = Counter(row["Field__c"] for row in history)
    if kinds["Case Creation"] != 1:
        yield "there is not one Case Creation"
    if kinds["Case Closed"] != (case["ClosedDate"] is not None):
        yield "Case Closed does not fit ClosedDate"
    if any(row["OldValue__c"] or row["NewValue__c"] for row in history if row["Field__c"] != "Owner Assignment"):
        yield "something else than an assignment has a value"
    moves = [row for row in history if row["Field__c"] == "Owner Assignment"]
    if not moves:
        yield "there is no Owner Assignment"
        return
    if moves[0]["CreatedDate"] != case["CreatedDate"]:
        yield "the first assignment is not of the moment of opening"
    holders = _chain(moves)
    if holders is None:
        yield "the assignments do not lead from agent to agent"
    elif holders != case["OwnerId"]:
        yield "the last assignment is not to the owner"


def _chain(moves: list[dict[str, Any]]) -> str | None:
    """Who has a case after all its assignments; those of one moment may stand in any order. None: they do not join."""
    left, holder = list(moves), None
    while left:
        first = left[0]["CreatedDate"]
        found = next((m for m in left if m["CreatedDate"] == first and m["OldValue__c"] == holder), None)
        if found is None:
            return None
        left.remove(found)
        holder = found["NewValue__c"]
    return holder
