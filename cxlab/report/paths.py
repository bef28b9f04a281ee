"""How agents went through the procedures that a benchmark declares: shares, stages and the commonest wrong ways."""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import polars as pl

from cxlab.charts.names import name_id
from cxlab.errors import BadFile
from cxlab.read import procedures
from cxlab.read.attempts import StoredAttempt, read_object
from cxlab.read.comparison.sets import Unit
from cxlab.read.view import View
from cxlab.records.procedure import Procedure, declared, number
from cxlab.report import queries

_MOST_WAYS = 5
ARROW = " → "


@dataclass(frozen=True)
class ProcedurePaths:
    """One procedure: for each side the turns that count and those whose way was the one due; stages with followed,
    inserted and skipped of each side; and the commonest ways that were not the one due: (side, taken, due, turns)."""

    title: str
    sides: tuple[tuple[str, int, int], ...]
    stages: tuple[tuple[str, tuple[tuple[int, int, int], ...]], ...]
    wrong: tuple[tuple[str, str, str, int], ...]


def find_paths(benchmark: str, view: View, unit: Unit, names: Mapping[str, str]) -> tuple[ProcedurePaths, ...]:
    """The procedures of a view's turns, by id; none where the benchmark declares none or nothing was traced."""
    if benchmark not in declared():
        return ()
    ways, stages = queries.ways(view, unit), queries.stages(view, unit)
    found = []
    for id in ways["procedure"].drop_nulls().unique().sort():
        own, steps = ways.filter(pl.col("procedure") == id), stages.filter(pl.col("procedure") == id)
        totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        wrong: list[tuple[str, str, str, int]] = []
        for side, taken, due, n in own.select("side", "taken", "due", "n").iter_rows():
            totals[side][0] += n
            if taken == due:
                totals[side][1] += n
            elif len(wrong) < _MOST_WAYS:
                wrong.append((names.get(side, side), _write(taken), _write(due), n))
        sides = [*(side for side in names if side in totals), *sorted(totals.keys() - names.keys())]
        by_stage: dict[str, dict[str, tuple[int, int, int]]] = defaultdict(dict)
        for _, stage, side, *counts in steps.iter_rows():
            by_stage[stage][side] = (counts[0], counts[1], counts[2])
        known = _load(id)
        order = {stage: place for place, stage in enumerate(known.stages)} if known else {}
        found.append(ProcedurePaths(
            known.title if known else id,
            tuple((names.get(side, side), totals[side][0], totals[side][1]) for side in sides),
            tuple((known.name(stage) if known else stage, tuple(by_stage[stage].get(side, (0, 0, 0)) for side in sides))
                  for stage in sorted(by_stage, key=lambda stage: (order.get(stage, len(order)), stage))),
            tuple(wrong),
        ))  # fmt: skip
    return tuple(found)


def say_turn(found: StoredAttempt, turn: int | None, field: str) -> str:
    """Of a turn: what the agent took a field for and where it went, against what was due; "" where nothing is
    traced."""
    row = next((row for row in found.traces.iter_rows(named=True) if row["turn"] == turn), None)
    if row is None or not row["reference_path"]:
        return ""
    told = []
    given, wanted = (read_object(row[name]).get(field) for name in ("predicted_fields", "panel_fields"))
    if field and given != wanted:
        told.append(f"read {name_id(field)} as {_name(given)}, the judges as {_name(wanted)}")
    taken, due = ([*row[f"{side}_path"], row[f"{side}_action"] or ""] for side in ("predicted", "reference"))
    told.append(f"took {_write(taken)}" + (f", due was {_write(due)}" if taken != due else ", as was due"))
    return f"In turn {turn} the agent {' and '.join(told)}"


def _name(value: object) -> str:
    return "nothing" if value is None else name_id(value)


def _write(way: list[str]) -> str:
    """The stages by their numbers, and the action at the end in words."""
    numbers = [(number(step), step) for step in way]
    return ARROW.join(short if short.isdigit() else name_id(step) if step else "no action" for short, step in numbers)


def _load(id: str) -> Procedure | None:
    """The procedure; None where its file cannot be read or is not there any more."""
    with suppress(BadFile):
        return procedures.find(id)
    return None
