"""The rows of a plan as the product's interface shapes them: nested parents, children with their count, expr0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.crmarena.soql.plan import Output, QueryPlan
from cxlab.benchmarks.crmarena.soql.translate import MOST_GROUPS

Row = Sequence[Any]
Ask = Callable[[str, Sequence[Any]], Sequence[Row]]
"""How a statement is asked: (SQL, parameters) → rows."""
Record = dict[str, Any]
# Records of one answer, those inside others counted; more than any table of a large organisation.
MOST_RECORDS = 200_000
_VERSION = "v62.0"


def answer(plan: QueryPlan, ask: Ask, attributes: bool = False) -> list[Record]:
    """The records of a plan. `attributes`: each with its type and address, as the product's interface has it.

    COUNT() alone gives one record with `expr0`: the product tells that number beside an empty list of records, and
    nobody who asks for it wants the empty list.
    """
    rows = ask(plan.sql, plan.params)
    if plan.kind == "records":
        return [record for _, record in _records(plan, rows, ask, attributes, [len(rows)])]
    if len(rows) > MOST_GROUPS:
        problem = f"an aggregate query has at most {MOST_GROUPS} groups, and this one {len(rows)}: use LIMIT or WHERE"
        raise QueryError("EXCEEDED_ID_LIMIT", problem)
    keys = [output.keys[0] for output in plan.outputs]
    converts = [output.convert for output in plan.outputs]
    head = {"attributes": {"type": "AggregateResult"}} if attributes else {}
    return [
        head
        | {key: convert(value) if convert else value for key, convert, value in zip(keys, converts, row, strict=True)}
        for row in rows
    ]


def _records(
    plan: QueryPlan, rows: Sequence[Row], ask: Ask, attributes: bool, count: list[int]
) -> list[tuple[str | None, Record]]:
    """(parent's id, record) of each row; `count` is how many records the whole answer has so far."""
    if count[0] > MOST_RECORDS:
        raise QueryError("QUERY_TOO_COMPLICATED", f"an answer has at most {MOST_RECORDS} records: use LIMIT or WHERE")
    own = 1 if plan.is_child else 0
    first = own + 1 + len(plan.parents)
    make = _maker(plan, own, first, attributes)
    found = [(row[0] if plan.is_child else None, make(row)) for row in rows]
    for children in plan.children:
        ids = list(dict.fromkeys(row[own] for row in rows if row[own] is not None))
        inner = ask(children.plan.sql, (ids, *children.plan.params[1:])) if ids else []
        count[0] += len(inner)
        by_parent: dict[str | None, list[Record]] = {}
        for parent, record in _records(children.plan, inner, ask, attributes, count):
            by_parent.setdefault(parent, []).append(record)
        for row, (_, record) in zip(rows, found, strict=True):
            mine = by_parent.get(row[own])
            record[children.name] = {"totalSize": len(mine), "done": True, "records": mine} if mine else None
    return found


def _maker(plan: QueryPlan, own: int, first: int, attributes: bool) -> Callable[[Row], Record]:
    """What makes a record of a row; the plain case is the fast one."""
    outputs = plan.outputs
    if not attributes and all(len(output.keys) == 1 and output.convert is None for output in outputs):
        names = [output.keys[0] for output in outputs]
        return lambda row: dict(zip(names, row[first:], strict=True))
    place = {keys: own + 1 + number for number, keys in enumerate(plan.parents)}

    def make(row: Row) -> Record:
        record: Record = _head(plan.object, row[own]) if attributes else {}
        for number, output in enumerate(outputs, first):
            holder = _holder(record, output, row, place, plan.parents, attributes)
            if holder is not None:
                holder[output.keys[-1]] = output.convert(row[number]) if output.convert else row[number]
        return record

    return make


def _holder(
    record: Record,
    output: Output,
    row: Row,
    place: Mapping[tuple[str, ...], int],
    parents: Mapping[tuple[str, ...], str],
    attributes: bool,
) -> Record | None:
    """The record or parent that a value belongs to; None where that parent does not exist, which is then null."""
    holder = record
    for depth in range(1, len(output.keys)):
        way = output.keys[:depth]
        id_ = row[place[way]]
        if id_ is None:
            holder[way[-1]] = None
            return None
        inner = holder.get(way[-1])
        if inner is None:
            inner = holder[way[-1]] = _head(parents[way], id_) if attributes else {}
        holder = inner
    return holder


def _head(object_: str, id_: str) -> Record:
    return {"attributes": {"type": object_, "url": f"/services/data/{_VERSION}/sobjects/{object_}/{id_}"}}
