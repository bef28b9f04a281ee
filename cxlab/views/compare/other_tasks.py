"""That Compare looks at one task of several, and what all of them come to: one task is not the benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.numbers import interval_of
from cxlab.charts.theme import short_model
from cxlab.metrics.paired import LEAST_CLUSTERS
from cxlab.read import View
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.run_floors import with_floors
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.together import pass_together
from cxlab.read.comparison.words import MARKED_STANDING, is_repeat, say_leaders, say_repeats
from cxlab.read.conditions import Conditions, of_runs
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import head_metric
from cxlab.ui.address import cached, here, set_view
from cxlab.ui.choices import is_new
from cxlab.ui.labels import PASSED_COMPARED, ROUNDED, label, plain, say_passed, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.compare import queries
from cxlab.views.compare.sides import names_of
from cxlab.views.comparison_sets import ranked

_FEW = "too few"


def show_other_tasks(about: Declaration, task: str, scope: View, unit: Unit, conditions: Conditions | None) -> None:
    """What the tasks come to, as the first heading, of the same sides that the page compares below: its models or runs,
    under its filters and `conditions`; and a table with a row a task, which leads to it. Nothing where a single task is
    ranked."""
    # Which conditions are compared by default follows from the tasks that are asked for: here it is those of the one.
    sets = (conditions.id,) if conditions else ()
    scored = cached(rank_tasks, scope.change(tasks=(), metric="", sets=sets), unit)
    if len(scored) < 2:
        return
    sides = pl.concat([each.coverage.filter("in_set").select("side", "model") for each in scored])
    named = names_of(about, sides.unique(maintain_order=True), unit)
    known = {run: each.conditions for run, each in of_runs(about.card.id, about.switches).items()}
    repeat = unit == "run_id" and all(is_repeat(each, known) for each in scored)
    told = say_repeats(scored) if repeat else say_leaders(scored, lambda side: named.get(side, side))
    own = {each.task.id for each in scored}
    card = replace(about.card, tasks=tuple(each for each in about.card.tasks if each.id in own))
    one, many = ("run", "runs") if unit == "run_id" else ("model", "models")
    section(
        plain(f"All {len(scored)} tasks: {told}"),
        f"Each task by its own main figure, on the samples that all its {many} have. {say_passed(card)}",
    )
    together = pass_together(scored)
    shown = list(dict.fromkeys([*together.passed, *named]))[: queries.MOST_SIDES]
    whole = {"task": "", "name": "All tasks together", "metric": PASSED_COMPARED,
             **{side: 100 * together.passed[side] for side in shown if side in together.passed},
             **_tell_gap(together.gap)}  # fmt: skip
    rows = list_tasks(scored, shown, task)
    frame = pl.concat([pl.DataFrame([whole]), rows], how="diagonal_relaxed").select(rows.columns)
    few = f"Too few: fewer than {LEAST_CLUSTERS} independent samples, and nothing is sure, so it would say little."
    columns = {
        "name": column("Task"),
        "metric": column("By"),
        **{side: column(name, "points", plain(named[side])) for side, name in _shorten(named, shown).items()},
        "difference": column("Difference", "points", f"Of the first two: the first minus the second. {ROUNDED}"),
        "interval": column("95 % interval", help=f"Paired by sample, corrected for the number of {many}. {few}"),
        "verdict": column("The second", help="Against the first, at 5 %."),
        "samples": column("Samples", "count", f"That all {many} of the task have."),
    }
    picked = show_table(frame, columns, key="compare-tasks", alt=f"Each {one} by task: {told}.", select="single")
    wanted = picked[0]["task"] if picked else ""
    if is_new("compare-tasks", wanted) and wanted != task:
        set_view(here().filters().change(tasks=(wanted,), metric=""))
        st.rerun()


def _shorten(named: Mapping[str, str], shown: Sequence[str]) -> dict[str, str]:
    """What the sides are called at the head of a column: the differences must stay in sight beside them, so that what
    the names of all begin with ("strong, ") is left out."""
    names = {side: short_model(side) if named[side] == label(side) else named[side] for side in shown}
    begins = {name.partition(", ")[0] for name in names.values()}
    rests = {side: name.partition(", ")[2] for side, name in names.items()}
    return rests if len(begins) == 1 and all(rests.values()) else names


def rank_tasks(view: View, unit: Unit) -> tuple[Ranking, ...]:
    """The tasks of a view that two sides or more are ranked in, with constant agents beside them."""
    found = tuple(each for each in ranked(view, unit).tasks if each.table.height > 1)
    about = declared(view.benchmark, view.lead)
    return tuple(with_floors(about, view, each) for each in found) if unit == "run_id" else found


def list_tasks(found: Sequence[Ranking], sides: Sequence[str], task: str) -> pl.DataFrame:
    """A row a task, in points: task, name (with a mark at the one that is looked at), metric, a column each side,
    difference of the first two with its interval, verdict on the second, samples."""
    rows = []
    for each in found:
        values = dict(zip(each.table["side"], each.table["value"], strict=True))
        gap = each.gaps.row(by_predicate=pl.col("side") == each.table["side"][1], named=True)
        name = f"{each.task.title} (below)" if each.task.id == task else each.task.title
        rows.append({
            "task": each.task.id, "name": name, "metric": head_metric(each.task.metric),
            **{side: values.get(side) for side in sides}, **_tell_gap(gap), "samples": each.compared.samples,
        })  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _tell_gap(gap: Mapping[str, Any] | None) -> dict[str, Any]:
    """The first against the second, as columns: difference, low, high, interval, verdict, samples that both have."""
    if gap is None:
        return {}
    # The gap is of the second from the first; its ends turn round with its sign.
    ends = {"difference": gap["difference"], "low": gap["high"], "high": gap["low"]}
    told = {name: None if value is None else 0.0 - value for name, value in ends.items()}
    # So few samples leave an interval that is half of all there is, or none.
    few = gap["clusters"] < LEAST_CLUSTERS and gap["verdict"] == "cannot tell"
    span = interval_of(pl.DataFrame([told], schema=dict.fromkeys(told, pl.Float64)), "low", "high")[0]
    tied = gap["wins"] == gap["losses"] == 0
    return {
        **told, "interval": _FEW if few else span or ("all tied" if tied else _FEW),
        "verdict": MARKED_STANDING[gap["verdict"]], "samples": gap["n"],
    }  # fmt: skip
