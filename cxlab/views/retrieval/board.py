"""The board of the page Retrieval: every index with its figures, floors and what papers report."""

from collections.abc import Collection, Mapping

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.charts.board import draw_published
from cxlab.charts.numbers import format_count, format_points
from cxlab.records.metric_names import head_metric, name_metric, within_sentence
from cxlab.ui.address import cached
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import published_columns
from cxlab.ui.choices import is_new
from cxlab.ui.labels import badge, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import declared, find_published
from cxlab.views.retrieval import charts, queries
from cxlab.views.retrieval.indexes import IndexSelection, go

_FLOORS = {
    "chance": "a random order of the {many}",
    "commonest": "always the {many} that are right most often",
}


def show_board(scene: IndexSelection) -> None:
    """Every index with its figures, floors and what papers report; one row an index, whoever answered."""
    board = cached(queries.board, *scene.key)
    rows = board.filter(metric=scene.metric).drop_nulls("mean")
    floors = cached(queries.floors, scene.dataset, scene.task)
    titles = scene.fill(_FLOORS)
    lines = [(titles[name], value) for name, metric, value in floors.iter_rows() if metric == scene.metric]
    section(
        _find_best(scene, rows),
        f"{scene.metric_name}: {plain(scene.meanings[scene.metric])}. Whiskers: 95 % intervals of "
        "each alone; a difference is paired by query.",
        ["simulated"] if any(scene.marks[run].simulated for run in scene.runs) else [],
    )
    left, right = st.columns([5, 4], gap="large")
    with left:
        figure = charts.draw_indexes(
            rows, scene.metric_name, scene.names, scene.marks, dark(), [value for _, value in lines]
        )
        columns = {
            "name": column("Index"), "metric": column("Figure"), "mean": column("Mean", "points"),
            "low": column("95 % from", "points"), "high": column("to", "points"), "n": column("n queries", "count"),
        }  # fmt: skip
        picked = show_chart(
            figure, scene.name(board), key=f"retrieval-board-{scene.task}", select=True, columns=columns,
            alt=f"{scene.metric_name} of each index with its 95 % interval.",
        )  # fmt: skip
        told = "; ".join(f"{name} {format_points(value)}" for name, value in lines)
        told = f"What needs no search: {told} (dotted, dashed). " if told else ""
        st.caption(plain(f"{told}{_tell_floors(scene)}A dot opens what it misses."))
    with right:
        _show_published(scene)
    _show_table(scene, board)
    _tell_compared(scene)
    others = len(scene.every) - len(scene.runs)
    if others:
        runs = (
            "run with one of these indexes is not a row of its own"
            if others == 1
            else ("runs with one of these indexes are no rows of their own")
        )
        st.caption(
            f"{format_count(others)} more {runs}: what they found is the same, whoever answered. Of each index the run "
            "with the most queries is shown."
        )
    if is_new("retrieval-board", picked):
        go(tab="misses", field=str(picked[0][0]), alike="", stage="")


def _tell_floors(scene: IndexSelection) -> str:
    """The constant retrievers that ran beside those that are shown, with their figures."""
    titles = {floor.model: floor.name for floor in declared(scene.benchmark).floors}
    ran = scene.about.filter(
        pl.col("model").is_in(list(titles)) & pl.col("shown") & ~pl.col("run_id").is_in(scene.runs)
    )
    if ran.is_empty():
        return ""
    board = cached(queries.board, scene.dataset, scene.task, tuple(ran["run_id"]))
    means = dict(board.filter(metric=scene.metric).drop_nulls("mean").select("run_id", "mean").iter_rows())
    rows = ran.select("run_id", "model").iter_rows()
    told = [f"{titles[model]} {format_points(means[run])}" for run, model in rows if run in means]
    return f"Ran as well: {'; '.join(told)}. " if told else ""


def _tell_compared(scene: IndexSelection) -> None:
    """On which queries the indexes are compared, and which are left out."""
    found = scene.compared
    if len(found.runs) < 2 and not found.others:
        return
    count = format_count(found.queries)
    who = "both" if len(found.runs) == 2 else f"all {len(found.runs)}"
    told = f"Compared on the {count} queries that {who} have." if len(found.runs) > 1 else ""
    left = "; ".join(
        f"{scene.names[run]} has {format_count(have)} of the {count} queries" for run, have in found.others.items()
    )
    left = f"Not compared: {left}. Choose indexes in the sidebar to see them on what they share." if left else ""
    st.caption(plain(" ".join(filter(None, (told, left)))))


def _find_best(scene: IndexSelection, rows: pl.DataFrame) -> str:
    found = rows.sort("mean", "run_id", descending=[True, False])
    if found.is_empty():
        return "None of these indexes has this figure"
    means = dict(found.select("run_id", "mean").iter_rows())
    gaps = cached(queries.differences, *scene.key, next(iter(means)), scene.metric)
    return say_best(means, set(gaps.filter(verdict="worse")["run_id"]), scene.names, scene.metric_name)


def say_best(means: Mapping[str, float], behind: Collection[str], names: Mapping[str, str], metric: str) -> str:
    """Which index is first, by how much, and whether that is sure. `means`: the best first; `behind`: those that the
    paired test of Differences, which is Compare's, puts below the first. Intervals of two means overlap long before
    their difference is in doubt, as a query that is hard is hard for both."""
    first, *others = means
    lead = f"{names[first]}: {metric} {format_points(means[first])}"
    if not others:
        return plain(lead)
    apart = format_points(means[first] - means[others[0]])
    if apart == "0.0":
        return plain(f"{lead}, the same as {names[others[0]]}")
    gap = f"{lead}, {apart} above {names[others[0]]}"
    near = [run for run in others if run not in behind]
    if not near:
        return plain(f"{gap}{f', and ahead of all {len(others)} others' if len(others) > 1 else ''} for sure")
    whom = f" against {len(near)} of {len(others)} others" if len(others) > 1 else ""
    return plain(f"{gap}: too close to call{whom}, see Differences")


def _show_published(scene: IndexSelection) -> None:
    table = find_published(scene.benchmark, "search", scene.task)
    board = read.published_board([table] if table else [])
    if table is None or board.is_empty():
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**The paper reports** {plain(within_sentence(board['metric'][0]))}")
        badge("published")
    # In points of 100, as the board beside it.
    share = pl.col("unit") == "ratio"
    short = board.with_columns(
        pl.col("entity").str.replace(", chunk ", " ").str.replace(", k = ", ", k "),
        value=pl.when(share).then(100 * pl.col("value")).otherwise("value"),
        unit=pl.when(share).then(pl.lit("points")).otherwise("unit"),
    )
    same = "recall" if scene.metric.startswith("recall") else name_metric(scene.metric)
    show_chart(
        draw_published(short, dark()), table.frame, key=f"retrieval-published-{scene.task}", table=True,
        columns=published_columns(table), alt=f"Published figures: {table.source}.",
    )  # fmt: skip
    st.caption(
        plain(f"{table.source}: other data, not to be paired; nearest to our {same}. The table has it as printed.")
    )


def _show_table(scene: IndexSelection, board: pl.DataFrame) -> None:
    """One row an index with every figure."""
    wide = board.pivot(on="metric", index="run_id", values="mean")
    intervals = board.filter(metric=scene.metric).select(
        "run_id", "n", interval=pl.format("{} to {}", pl.col("low").round(1), pl.col("high").round(1))
    )
    took = cached(queries.price, *scene.key, scene.metric).select("run_id", "search_s")
    rows = scene.name(wide).join(intervals, on="run_id").join(took, on="run_id")
    rows = rows.join(scene.about.select("run_id", "lost"), on="run_id").with_columns(
        search_ms=1000 * pl.col("search_s")
    )
    columns = {
        "name": column("Index"),
        # The figure that is chosen stands in front: at 1024 px the last ones are to be scrolled to.
        **{
            name: column(head_metric(name), "points", scene.meanings[name])
            for name in (scene.metric,)
            if name in rows.columns
        },
        "interval": column(f"95 % of {scene.metric_name}"),
        **{
            name: column(head_metric(name), "points", tip)
            for name, tip in scene.meanings.items()
            if name in rows.columns and name != scene.metric
        },
        "n": column("n", "count", "Queries."),
        "search_ms": column("Search, ms", "points", "Median of one query on this machine, without the model's calls."),
        "lost": column("Lost", "count", "Queries that a provider cut short; they are in no mean."),
    }
    if not scene.about["lost"].sum():
        del columns["lost"]
    if {"hit@10", "recall@10"} <= {*columns} and rows["hit@10"].equals(rows["recall@10"]):
        del columns["recall@10"]  # where one thing is right they are the same figure
    if rows[queries.PUBLIC].is_null().all():
        del columns[queries.PUBLIC]
    shown = rows.sort(scene.metric, descending=True, nulls_last=True)
    show_table(shown, columns, key=f"retrieval-table-{scene.task}", alt="All figures of each index.")
