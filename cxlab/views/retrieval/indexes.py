"""The parts of the page Retrieval that compare indexes: curves, what they take, areas, differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.compare import front_of
from cxlab.charts.numbers import format_count, format_points, format_seconds
from cxlab.charts.theme import Mark
from cxlab.read import View
from cxlab.records.benchmark_card import Search
from cxlab.records.metric_names import head_metric, name_metric
from cxlab.ui.address import cached, here, mark_sides, set_view
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import choose, is_new
from cxlab.ui.labels import empty, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import declared, ranking_tasks
from cxlab.views.retrieval import charts, queries, queries_across, queries_errors
from cxlab.views.retrieval.relations import FIRST, SHORT

_MEANINGS = {
    "hit@1": "share of queries whose first {one} is right",
    "hit@5": "share of queries with a right {one} among the first 5 different ones",
    "hit@10": "share of queries with a right {one} among the first 10 different ones",
    "precision@10": "share of the first 10 {many} that are right; with one right {one} at most 10",
    "recall@10": "share of the right {many} that are among the first 10 different ones",
    "recall@20": "share of the right {many} that are among the first 20 different ones",
    "mrr@10": "1 / rank of the first right {one}, 0 beyond 10",
    "ndcg@10": "discounted gain of the first 10 {many} against the best order (binary relevance)",
    queries.PUBLIC: "the public evaluator's count: right {many} behind the first 10 chunks, repetitions dropped "
    "and nothing refilled; none for a hybrid, which ranks no chunks",
}


@dataclass(frozen=True)
class IndexSelection:
    """What the parts of the page are drawn for: the task's runs that are shown, one an index, their names and marks,
    the metric. `about` are all runs of the task."""

    benchmark: str
    dataset: str
    task: str
    search: Search
    runs: tuple[str, ...]
    names: dict[str, str]
    marks: dict[str, Mark]
    metric: str
    cut: int
    about: pl.DataFrame
    compared: queries.ComparedIndexes

    @property
    def key(self) -> tuple[str, str, tuple[str, ...]]:
        """The arguments that reads begin with."""
        return self.dataset, self.task, self.runs

    @property
    def metric_name(self) -> str:
        """What the metric is called within a sentence."""
        return name_metric(self.metric)

    @property
    def every(self) -> tuple[str, ...]:
        """All runs with these indexes: who answers differs, what was found does not."""
        shown = self.about.filter(pl.col("run_id").is_in(list(self.runs)))["name"]
        return tuple(self.about.filter(pl.col("name").is_in(shown.to_list()))["run_id"])

    def fill(self, words: Mapping[str, str]) -> dict[str, str]:
        """Words with `{one}` and `{many}` filled by what the task says it ranks."""
        one, many = self.search.unit
        return {key: each.format(one=one, many=many) for key, each in words.items()}

    @property
    def meanings(self) -> dict[str, str]:
        """What each figure is."""
        return self.fill(_MEANINGS)

    @property
    def firsts(self) -> dict[str, str]:
        """What stands first instead of the right one."""
        return dict(self.search.misses) | self.fill(FIRST)

    def name(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with `name`: its run's index as people read it."""
        return frame.with_columns(name=pl.col("run_id").replace_strict(self.names, default=pl.col("run_id")))


def set_scene(view: View, benchmark: str, dataset: str, task: str) -> IndexSelection:
    """Draw the page's own filters in the sidebar, and what they leave."""
    every = cached(list_runs, dataset, task)
    # Floors are lines and words; one is a row of its own where a link names its run.
    floors = pl.col("model").is_in(declared(benchmark).floor_models) & ~pl.col("run_id").is_in(list(view.runs))
    known = every.filter(pl.col("shown") & ~floors)
    known = every.filter("shown") if known.is_empty() else known
    ids = known["run_id"].to_list()
    names = dict(known.select("run_id", "name").iter_rows())
    # A link may name another run of an index.
    shown = dict(known.select("name", "run_id").iter_rows())
    index = {run: shown[name] for run, name in every.select("run_id", "name").iter_rows() if name in shown}
    picked = list(dict.fromkeys(index[run] for run in view.runs if run in index))
    with st.sidebar:
        st.session_state["retrieval-runs"] = picked
        st.multiselect(
            "Index", ids, key="retrieval-runs", format_func=names.__getitem__, placeholder="all",
            on_change=_runs_changed, help="Method, characters a chunk / characters that neighbours share.",
        )  # fmt: skip
        metric = choose(
            view, "metric", "Figure", _metrics(benchmark, task), names=head_metric,
            help="Each is explained under the heading.",
        )  # fmt: skip
        search = ranking_tasks(benchmark)[task]
        tip = f"How many {search.unit[1]} an agent would look at."
        cut = choose(view, "at", "Cut-off", ["10", "1", "5", "20"], help=plain(tip))
    # Finding is the index's doing alone; only where a model writes the query it wears the simulated mark.
    simulated = (
        dict(known.select("run_id", "simulated").iter_rows()) if known["written"].any() else dict.fromkeys(ids, False)
    )
    marks = mark_sides(ids, simulated)
    names = dict(every.select("run_id", "whole").iter_rows()) | names
    compared = cached(queries.compare_runs, dataset, task, tuple(picked or ids), bool(picked))
    runs = compared.runs or tuple(picked or ids)
    return IndexSelection(benchmark, dataset, task, search, runs, names, marks, metric, int(cut), every, compared)


def list_runs(dataset: str, task: str) -> pl.DataFrame:
    """The runs with their indexes; a function of its own so that `cached` keeps this and not the rankings."""
    return queries.load(dataset, task).runs


def _metrics(benchmark: str, task: str) -> list[str]:
    found = declared(benchmark).card.task(task)
    headline = found.metric if found else ""
    first = headline if headline in _MEANINGS else "recall@10"
    return [first, *(name for name in _MEANINGS if name != first)]


def _runs_changed() -> None:
    set_view(here().change(runs=tuple(st.session_state["retrieval-runs"])))


def go(**changes: Any) -> None:
    set_view(here().change(**changes))
    st.rerun()


def show_curves(scene: IndexSelection, view: View) -> None:
    """Hit and recall by cut-off, and by chunk size."""
    kinds = (
        {"hit": "Hit", "recall": "Recall"}
        if cached(queries.several_right, scene.dataset, scene.task)
        else {"hit": "Hit (with one right: recall)"}
    )
    kind = "hit" if len(kinds) == 1 else choose(view, "order", "Curve", list(kinds), names=kinds, style="segments")
    frame = cached(queries.curves, *scene.key).filter(kind=kind)
    at = frame.filter(k=scene.cut).sort("mean", descending=True, nulls_last=True)
    one = frame.filter(k=1).select("run_id", one="mean")
    gains = at.join(one, on="run_id").with_columns(gain=pl.col("mean") - pl.col("one")).drop_nulls("gain").to_dicts()
    if not gains:
        empty("No query of these runs has a right answer to be found, so there is no curve to draw.")
        return
    gain = gains[0]
    section(
        plain(
            f"Looking at {scene.cut} {scene.search.unit[1]} instead of 1 finds {format_points(gain['gain'])} points "
            "more with the best"
        ),
        f"Worked out from the {queries.DEPTH} {plain(scene.search.unit[1])} that each attempt keeps, different ones "
        "only. Dotted: the cut-off.",
    )
    columns = {
        "name": column("Index"), "k": column("k", "count"), "mean": column(kind.capitalize(), "points"),
        "low": column("95 % from", "points"), "high": column("to", "points"), "n": column("n queries", "count"),
    }  # fmt: skip
    figure = charts.draw_curves(frame, kind, scene.names, scene.marks, dark(), scene.cut, scene.search.unit[1])
    show_chart(
        figure, scene.name(frame), key=f"retrieval-curves-{scene.task}-{kind}",
        alt=f"{kind} by cut-off, a line an index.", columns=columns,
    )  # fmt: skip
    _show_chunks(scene)


def _show_chunks(scene: IndexSelection) -> None:
    means = cached(queries.board, *scene.key).filter(metric=scene.metric).drop_nulls("mean")
    sized = means.join(scene.about.select("run_id", "chunk", "name"), on="run_id").with_columns(
        method=pl.col("name").str.replace(r" \d+/\d+", "")
    )
    several = sized.filter(pl.col("chunk").n_unique().over("method") > 1)
    if several.is_empty():
        st.caption("Evaluate one method with several chunk sizes to see here what the size does.")
        return
    spread = several.group_by("method").agg(gap=pl.col("mean").max() - pl.col("mean").min()).sort("gap", "method")
    widest = spread.row(-1, named=True)
    section(
        plain(f"Chunk size moves {widest['method']} by {format_points(widest['gap'])} points of {scene.metric_name}"),
        "Methods that were tried with more than one chunk size.",
    )
    columns = {
        "method": column("Method"), "chunk": column("Characters a chunk", "count"), "mean": column("Mean", "points"),
        "low": column("95 % from", "points"), "high": column("to", "points"), "n": column("n queries", "count"),
    }  # fmt: skip
    figure = charts.draw_chunks(several, scene.metric_name, scene.names, scene.marks, dark())
    show_chart(
        figure,
        several,
        key=f"retrieval-chunks-{scene.task}",
        alt=f"{scene.metric_name} by chunk size.",
        columns=columns,
    )


def show_price(scene: IndexSelection, view: View) -> None:
    """Quality against the time of a search and the cost of a query."""
    frame = cached(queries.price, *scene.key, scene.metric)
    priced = bool((frame["cost_usd"] > 0).any())
    names = {"search_s": "Time", "cost_usd": "Cost"}
    price = choose(view, "order", "Price", list(names), names=names, style="segments") if priced else "search_s"
    known = frame.drop_nulls(["mean", price])
    if known.is_empty():
        empty("These runs noted no search times; evaluate an index anew to have them.")
        return
    front = front_of(known.rename({"mean": "value"}), price)["run_id"].to_list()
    best = ", ".join(scene.names[run] for run in front)
    section(
        plain(f"{len(front)} of {known.height} are worth their {names[price].lower()}: {best}"),
        "None of the others is at least as cheap and better. Times are of the search alone, measured on this machine "
        "while other attempts were at work; cost is of the model's calls and of a server's embeddings."
        + ("" if priced else " Nothing here has a price."),
    )
    columns = {
        "name": column("Index"), "mean": column(scene.metric_name, "points"), "low": column("95 % from", "points"),
        "high": column("to", "points"), "search_ms": column("Search, ms", "points", "Median of a query."),
        "slow_ms": column("95 % under, ms", "points"), "build_s": column("Building", "seconds", "In one process."),
        "pieces": column("Chunks", "count"), "cost_usd": column("Cost", "usd", "Mean of a query."),
        "n": column("n queries", "count"),
    }  # fmt: skip
    figure = charts.draw_price(frame, price, scene.metric_name, front, scene.names, scene.marks, dark())
    rows = scene.name(frame).with_columns(search_ms=1000 * pl.col("search_s"), slow_ms=1000 * pl.col("slow_s"))
    show_chart(figure, rows, key=f"retrieval-price-{scene.task}", alt="Quality against price.", columns=columns)
    slow = known.sort("search_s").to_dicts()[-1]
    st.caption(plain(f"Slowest: {scene.names[slow['run_id']]}, {format_seconds(slow['search_s'])} a query."))


def show_areas(scene: IndexSelection) -> None:
    """Which parts of the knowledge base are found badly."""
    frame = cached(queries.areas, *scene.key, scene.metric)
    if frame.is_empty():
        empty(f"The {plain(scene.search.unit[1])} of this dataset name no topics, so there are no areas to tell apart.")
        return
    whole = frame.group_by("area").agg(mean=pl.col("mean").mean(), n=pl.col("n").max()).sort("mean", "area")
    areas = whole["area"].to_list()
    order = cached(queries.board, *scene.key).filter(metric=scene.metric).sort("mean", descending=True, nulls_last=True)
    worst = whole.row(0, named=True)
    section(
        plain(f"{worst['area']} is found worst: {scene.metric_name} {format_points(worst['mean'])} on average"),
        f"{explain_areas(scene)}, hardest on top, with the number of queries. Click a cell for its misses.",
    )
    columns = {
        "area": column("Area"), "name": column("Index"), "mean": column(scene.metric_name, "points"),
        "low": column("95 % from", "points"), "high": column("to", "points"), "n": column("n queries", "count"),
    }  # fmt: skip
    runs = order["run_id"].to_list()
    figure = charts.draw_areas(frame, areas, runs, scene.names, scene.metric_name, dark())
    picked = show_chart(
        figure, scene.name(frame.sort("mean", "area", "run_id")), key=f"retrieval-areas-{scene.task}", select=True,
        columns=columns, alt=f"{scene.metric_name} by area and index.",
    )  # fmt: skip
    if is_new("retrieval-areas", picked):
        go(tab="misses", stage=str(picked[0][0]), field=str(picked[0][1]), alike="")
    _show_short(scene)


def explain_areas(scene: IndexSelection) -> str:
    """What the areas are by which queries are grouped."""
    if not scene.search.area:
        return "Areas are the roots of the topic tree"
    named = declared(scene.benchmark).title(scene.search.area).lower()
    return "Areas of the queries" if named == "area" else plain(f"Areas: {named}")


def _show_short(scene: IndexSelection) -> None:
    parts = cached(queries_errors.short_queries, *scene.key, scene.metric)
    both = parts.filter("short").join(parts.filter(~pl.col("short")), on="run_id", suffix="_other")
    if both.is_empty():
        return
    row = both.with_columns(gap=pl.col("mean_other") - pl.col("mean")).sort("gap", nulls_last=True).to_dicts()[-1]
    st.caption(
        plain(
            f"Short queries (at most {SHORT} words, n {format_count(row['n'])}): {scene.metric_name} "
            f"{format_points(row['mean'])} against {format_points(row['mean_other'])} on the others with "
            f"{scene.names[row['run_id']]}, where the gap is widest."
        )
    )


_VERDICTS = {"better": "✓ better", "worse": "✕ worse", "cannot tell": "? cannot tell"}
_REPORTED = {
    "verdict": pl.col("verdict").replace_strict(_VERDICTS),
    "interval": pl.format("{} to {}", pl.col("low").round(1), pl.col("high").round(1)),
    "results": pl.format("{} / {} / {}", "wins", "ties", "losses"),
}
_COLUMNS: Mapping[str, Any] = {
    "verdict": column("Verdict"), "difference": column("Difference", "points"), "interval": column("95 % interval"),
    "p_corrected": column("p, corrected", "p"),
    "results": column("Won / tied / lost", help="Queries on which it did better, the same, worse."),
    "n": column("Pairs", "count"), "unmatched": column("Unmatched", "count", "Queries that only one has."),
}  # fmt: skip


def show_differences(scene: IndexSelection, view: View) -> None:
    """Each index against one of them on the same queries, and against itself at other tasks that ask them."""
    _show_between(scene, view)
    _show_across(scene)


def _show_across(scene: IndexSelection) -> None:
    """Each index against itself at another task, such as single messages against whole conversations."""
    if not queries_across.sisters(scene.dataset, scene.task):
        return
    gaps = cached(queries_across.differences, *scene.key, scene.metric).drop_nulls("difference")
    if gaps.is_empty():
        return
    titles = {task.id: task.title for task in declared(scene.benchmark).card.tasks}
    sure = gaps.filter(pl.col("verdict") != "cannot tell").height
    section(
        plain(f"{sure} of {gaps.height} differ from themselves at another task for sure in {scene.metric_name}"),
        f"This task minus the other, by query: {titles.get(scene.task, scene.task)}. Intervals and p corrected for "
        f"{gaps.height} comparisons (Bonferroni).",
    )
    rows = scene.name(gaps.sort("other", "difference", descending=[False, True])).with_columns(
        other=pl.col("other").replace(titles), **_REPORTED
    )
    columns = {"name": column("Index"), "other": column("Against itself at"), **_COLUMNS}
    show_table(rows, columns, key=f"retrieval-across-{scene.task}", alt="Paired differences between tasks.")


def _show_between(scene: IndexSelection, view: View) -> None:
    if len(scene.runs) < 2:
        empty("A comparison needs two indexes. Choose more of them in the sidebar, or try another one.")
        return
    best = cached(queries.board, *scene.key).filter(metric=scene.metric).sort("mean", descending=True, nulls_last=True)
    order = best["run_id"].to_list()
    base = choose(view, "baseline", "Compare with", order, names=scene.names)
    gaps = cached(queries.differences, *scene.key, base, scene.metric).drop_nulls("difference")
    sure = gaps.filter(pl.col("verdict") != "cannot tell").height
    section(
        plain(f"{sure} of {gaps.height} differ from {scene.names[base]} for sure in {scene.metric_name}"),
        f"The same queries, paired. Intervals and p by flipping signs, both corrected for {gaps.height} comparisons "
        "(Bonferroni): a difference is real where its interval is clear of 0.",
    )
    figure = charts.draw_gaps(gaps, scene.metric_name, scene.names[base], scene.names, scene.marks, dark())
    rows = scene.name(gaps.sort("difference", descending=True)).with_columns(**_REPORTED)
    columns = {"name": column("Index"), **_COLUMNS}
    show_chart(figure, gaps, key=f"retrieval-gaps-{scene.task}", alt="Paired differences of the indexes.", table=False)
    show_table(rows, columns, key=f"retrieval-gaps-table-{scene.task}", alt="Paired differences with verdicts.")


def pick_run(scene: IndexSelection, view: View, field: str, title: str, order: Sequence[str] = ()) -> str:
    """One of the runs that are shown, kept in a field of the view."""
    return choose(view, field, title, list(order or scene.runs), names=scene.names)
