"""Scores along a procedure: which leaves were tested, and what turns and adversarial levels do to the score."""

import polars as pl
import streamlit as st

from cxlab.charts.compare import range_of
from cxlab.charts.dots import add_floors
from cxlab.charts.numbers import format_count
from cxlab.read import View
from cxlab.read.comparison import score_sums
from cxlab.read.comparison.ranking import zero_of
from cxlab.read.files import to_csv
from cxlab.records.metric_names import name_metric
from cxlab.records.procedure import Procedure
from cxlab.ui.address import cached, marks, open_page
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import with_labels
from cxlab.ui.labels import section, show_code
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.sop import charts, queries, queries_comparisons, queries_turns
from cxlab.views.sop.mermaid import to_mermaid

_ENOUGH = 10
_MEAN = {
    "n": column("n turns", "count"),
    "clusters": column("Clusters", "count"),
    "share": column("Mean", "points"),
    "low": column("95 % from", "points"),
    "high": column("to", "points"),
}


def show_coverage(current: View) -> None:
    """Which leaf was tested how often by whom."""
    frame = cached(queries.coverage, current)
    leaves = frame["leaf"].n_unique()
    untested = leaves - frame.filter(pl.col("dialogues") > 0)["leaf"].n_unique()
    section(
        f"{format_count(leaves - untested)} of {format_count(leaves)} leaves are tested",
        f"Number: dialogues; shade: mean {name_metric(current.metric)} of turns. Leaves are those of the stored "
        f"datasets. Click a "
        "square for its dialogues.",
    )
    columns = {
        "leaf": column("Case"),
        "name": column("Model"),
        "dialogues": column("Dialogues", "count"),
        "n": column("n turns", "count"),
        "mean": column("Mean", "points"),
    }
    rows = with_labels(frame.with_columns(pl.col("model").fill_null("not tested")))
    figure = charts.draw_coverage(frame, name_metric(current.metric), marks(), dark())
    picked = show_chart(figure, rows, key="sop-coverage", alt="Leaf by model.", select=True, columns=columns)
    if picked:
        leaf, model = picked[0]
        open_page(
            "failures",
            View(benchmark=current.benchmark, models=(model,), order="worst").narrow(
                scenario=current.values("scenario"), leaf=(leaf,)
            ),
        )


def show_by_turn(current: View) -> None:
    """The metric by evaluated turn, with all dialogues or only with those that reach every turn."""
    reached = cached(queries.reaches, current)
    options = [None, *(turn for turn in (5, 10, 15) if (reached.filter(pl.col("turn") == turn)["n"] >= _ENOUGH).any())]
    section(
        "Does the agent get worse as the dialogue goes on?",
        "Short dialogues end early, so later turns are over other and harder dialogues; the paired view keeps to "
        "dialogues "
        "that were scored at every turn shown. n stands below each turn.",
    )
    reach = st.segmented_control(
        "Dialogues",
        options,
        default=options[-1],
        required=True,
        format_func=lambda turn: "all dialogues" if turn is None else f"only those that reach turn {turn}",
        key="sop-reach",
        label_visibility="collapsed",
    )
    frame = cached(queries.by_turn, current, reach, _scale(current))
    figure = charts.draw_turns(frame, name_metric(current.metric), _range(current), marks(), dark())
    add_floors(figure, zero_of(declared(current.benchmark), current.metric), dark())
    columns = {"name": column("Model"), "turn": column("Turn", "count"), **_MEAN}
    show_chart(figure, with_labels(frame), key="sop-by-turn", alt="Score by turn.", columns=columns)


def show_by_level(current: View) -> None:
    """The metric by adversarial level, and the differences paired by leaf."""
    frame = cached(score_sums.table, current, ("model", "level"), _scale(current))
    gaps = cached(queries_comparisons.level_differences, current, bounds=_scale(current))
    real = gaps.filter((pl.col("p_corrected") < 0.05) & (pl.col("difference") < 0))
    tested = gaps["model"].n_unique()
    section(
        f"Difficult customers cost {real['model'].n_unique()} of {tested} models points" if tested else "By level",
        "Levels share their leaves, so the difference is paired by leaf. Intervals and p by flipping signs, both "
        f"corrected for {gaps.height} comparisons (Bonferroni).",
    )
    # One below the other: side by side neither fits at 1024.
    figure = charts.draw_levels(frame, name_metric(current.metric), _range(current), marks(), dark())
    add_floors(figure, zero_of(declared(current.benchmark), current.metric), dark(), "x")
    columns = {
        "name": column("Model"),
        "level": column("Level"),
        **{k: v for k, v in _MEAN.items() if k != "share"},
    }
    rows = with_labels(frame)
    show_chart(
        figure, rows, key="sop-levels", alt="Score by level.", columns={**columns, "mean": column("Mean", "points")}
    )
    unsure = pl.col("p_corrected").is_null() | (pl.col("p_corrected") >= 0.05)
    verdict = pl.when(unsure).then(pl.lit("? cannot tell")).when(pl.col("difference") < 0)
    rows = with_labels(gaps).with_columns(
        against=pl.format("{} − zero", "level"),
        verdict=verdict.then(pl.lit("✕ worse")).otherwise(pl.lit("✓ better")),
        interval=pl.format("{} to {}", pl.col("low").round(1), pl.col("high").round(1)),
    )
    columns = {
        "name": column("Model"),
        "against": column("Difference"),
        "verdict": column("Verdict"),
        "difference": column("Points", "points"),
        "interval": column("95 % interval"),
        "p_corrected": column("p, corrected", "p"),
        "n": column("Leaves", "count", "Leaves that have both levels."),
    }
    show_table(rows, columns, key="sop-level-gaps", alt="Paired differences between levels.")


def _scale(current: View) -> tuple[float, float] | None:
    return declared(current.benchmark).card.scale(current.metric)


def _range(current: View) -> tuple[float, float] | None:
    return range_of(_scale(current))


def show_export(current: View, procedure: Procedure) -> None:
    """The ways as an event log, and the procedure as text."""
    with st.expander("Take it elsewhere: event log and Mermaid", type="compact"):
        st.caption(
            "The event log has the columns that process-mining tools expect (case, activity, time). A case is "
            "one turn; only "
            "the order of its steps is real, the clock time within it is made up."
        )
        with st.container(horizontal=True, gap="small"):
            st.download_button(
                "Download event log (CSV)",
                lambda: to_csv(queries_turns.events(current)),
                f"cxlab-{procedure.id}-events.csv",
                "text/csv",
                on_click="ignore",
            )
            st.download_button(
                "Download procedure (Mermaid)",
                lambda: to_mermaid(procedure).encode(),
                f"{procedure.id}.mmd",
                "text/plain",
                on_click="ignore",
            )
        show_code(to_mermaid(procedure), height=220)
