"""What a query comes to: its SQL, and what its rows hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cxlab.benchmarks.crmarena.soql.shown_values import Convert


@dataclass(frozen=True)
class Output:
    """One column of the answer: its place in a record, and what is still done to its value."""

    keys: tuple[str, ...]
    convert: Convert | None = None


@dataclass(frozen=True)
class Children:
    """A query inside SELECT: the name of the way, and the plan whose first parameter is the list of parents' ids and
    whose first column is the parent's id.
    """

    name: str
    plan: QueryPlan


@dataclass(frozen=True)
class QueryPlan:
    """How a query is answered.

    `kind`: records, groups (of an aggregate query) or count (COUNT() alone). Columns of `sql`: for children the
    parent's id; for records the record's id and that of each parent in `parents` (null where there is none); then
    `outputs`.
    """

    kind: str
    object: str
    sql: str
    params: tuple[Any, ...]
    outputs: tuple[Output, ...] = ()
    parents: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    children: tuple[Children, ...] = ()
    is_child: bool = False
