"""That Compare looks at one task of several, and what the others come to: one task is not the benchmark."""

from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab.charts.numbers import interval_of
from cxlab.charts.theme import short_model
from cxlab.read import View
from cxlab.read.comparison.ranking import Ranking, took
from cxlab.read.comparison.words import MARKED_STANDING, say_leaders
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import head_metric
from cxlab.ui.address import cached, set_view
from cxlab.ui.choices import is_new
from cxlab.ui.labels import PASSED_COMPARED, ROUNDED, label, plain, say_passed, section
from cxlab.ui.tables import column, show_table
from cxlab.views.comparison_sets import ranked, view_of

_MOST_SIDES = 4


def show_other_tasks(about: Declaration, task: str) -> None:
    """What a benchmark's tasks come to together, without the filters of this page, as the first heading; and a table
    with a row a task, which leads to it. Nothing where a single task is ranked."""
    view = view_of(about.card.id)
    scored = [each for each in cached(ranked, view).tasks if each.table.height > 1]
    if len(scored) < 2:
        return
    success = cached(success_over, view)
    section(
        plain(f"All {len(scored)} tasks: {say_leaders(scored, short_model)}"),
        f"Each task by its own main figure, on the samples that all its models have. {say_passed(about.card)}",
    )
    models = [*success, *dict.fromkeys(side for each in scored for side in each.table["side"] if side not in success)]
    models = models[:_MOST_SIDES]
    rows = list_tasks(scored, models, task)
    passed = {side: 100 * success[side] for side in models if side in success}
    whole = {"task": "", "name": "All tasks together", "metric": PASSED_COMPARED, "difference": lead_of(success)}
    frame = pl.concat([pl.DataFrame([{**whole, **passed}]), rows], how="diagonal_relaxed").select(rows.columns)
    columns = {
        "name": column("Task"),
        "metric": column("By"),
        **{side: column(short_model(side), "points", label(side)) for side in models},
        "difference": column("Difference", "points", f"Of the first two: the first minus the second. {ROUNDED}"),
        "interval": column("95 % interval", help="Paired by sample, corrected for the number of models."),
        "verdict": column("The second", help="Against the first, at 5 %."),
        "samples": column("Samples", "count", "That all models of the task have."),
    }
    picked = show_table(frame, columns, key="compare-tasks", alt="What each task comes to.", select="single")
    wanted = picked[0]["task"] if picked else ""
    if is_new("compare-tasks", wanted) and wanted != task:
        set_view(view.change(tasks=(wanted,)))
        st.rerun()


def lead_of(success: Mapping[str, float]) -> float | None:
    """By how many points the first passed more, of shares with the highest first; None without a second."""
    shares = list(success.values())
    return 100 * (shares[0] - shares[1]) if len(shares) > 1 else None


def list_tasks(found: Sequence[Ranking], models: Sequence[str], task: str) -> pl.DataFrame:
    """A row a task, in points: task, name (with a mark at the one that is looked at), metric, a column each model,
    difference of the first two with its interval, verdict on the second, samples."""
    rows = []
    for each in found:
        values = dict(zip(each.table["side"], each.table["value"], strict=True))
        gap = each.gaps.row(by_predicate=pl.col("side") == each.table["side"][1], named=True)
        # The gap is of the second from the first; its ends turn round with its sign.
        ends = {"difference": gap["difference"], "low": gap["high"], "high": gap["low"]}
        told = {name: None if value is None else 0.0 - value for name, value in ends.items()}
        name = f"{each.task.title} (below)" if each.task.id == task else each.task.title
        rows.append({
            "task": each.task.id, "name": name, "metric": head_metric(each.task.metric),
            **{side: values.get(side) for side in models}, **told,
            "verdict": MARKED_STANDING[gap["verdict"]], "samples": each.compared.samples,
        })  # fmt: skip
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(interval_of(frame, "low", "high"))


def success_over(view: View) -> dict[str, float]:
    """The share of attempts that passed of all tasks of a comparison together, of each model that is ranked in any; the
    highest first."""
    found = cached(ranked, view).tasks
    told = took(pl.concat([each.compared.results for each in found])).drop_nulls("success").drop_nans("success")
    sides = {side for each in found for side in each.table["side"]}
    rates = [(side, rate) for side, rate in zip(told["side"], told["success"], strict=True) if side in sides]
    return dict(sorted(rates, key=lambda each: (-each[1], each[0])))
