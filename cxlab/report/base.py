"""What a report of one benchmark stands on: the attempts that it tells of, and the runs that these are from."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from cxlab.charts.theme import short_model
from cxlab.read.annotations import notes_on
from cxlab.read.attempts import facets
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.sets import ComparisonSet, Unit, attempts_of
from cxlab.read.query import AttemptSet
from cxlab.read.run_names import call_runs_of
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration
from cxlab.report import queries


def attempts_behind(
    about: Declaration, view: View, unit: Unit, found: ComparisonSet, scored: Sequence[Ranking]
) -> View:
    """The view of the attempts that a section tells of: of its sides on what all of them tried. All of the view's
    where no side has anything in common with others."""
    parts = [attempts_of(about, view, found, each.compared, unit) for each in scored if each.compared.sides]
    return view.change(among=AttemptSet.of(pl.concat(parts)).keep()) if parts else view


def list_runs(about: Declaration, behind: View, named: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """The runs behind a section and those that were named for it, each with all of its own attempts."""
    counted = dict(queries.runs(behind).select("run_id", "attempts").iter_rows())
    own = queries.runs(View(about.card.id, runs=tuple(dict.fromkeys([*named, *counted]))))
    models = dict(own.select("run_id", "model").iter_rows())
    called = call_runs_of(about, list(models.items()), {model: short_model(model) for model in models.values()})
    return tuple(
        {
            **run, "counted": counted.get(id := run["run_id"], 0), "notes": notes_on(id),
            "called": called[id] if called[id] != short_model(run["model"]) else "",
        }
        for run in own.iter_rows(named=True)
    )  # fmt: skip


def name_task(about: Declaration, scored: Sequence[Ranking]) -> str:
    """The title of the one task that a section tells of, where the store has others of the benchmark; "" otherwise."""
    tried = facets(View(benchmark=about.card.id), ("tasks",))
    return scored[0].task.title if len(scored) == 1 < tried.height else ""


def say_base(about: Declaration, scored: Sequence[Ranking], total: int, unit: Unit) -> str:
    """Which attempts a section tells of, as one sentence."""
    one, many = about.card.unit
    what = f"{total:,} {one if total == 1 else many}"
    sides = {len(each.compared.sides) for each in scored}
    if not total or not max(sides, default=0):
        return ""
    side = "run" if unit == "run_id" else "model"
    if sides == {1}:
        return f"All figures are of the {what} of one {side}"
    who = f"both {side}s" if sides == {2} else f"all {max(sides)} {side}s" if len(sides) == 1 else f"all {side}s"
    task = " of a task" if len(scored) > 1 else ""
    return f"All figures but those of whole runs are of the same {what}: what {who}{task} tried"
