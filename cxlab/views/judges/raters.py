"""The page Judges: how far raters agree, how often each judge is of their opinion, and all decisions."""

import polars as pl
import streamlit as st

from cxlab.charts.matrix import name_judge
from cxlab.charts.names import name_each, name_id
from cxlab.charts.numbers import format_count, format_ratio, format_share
from cxlab.metrics.intervals import clustered_proportion
from cxlab.read import View, decisions
from cxlab.read.sample_clusters import clusters_of
from cxlab.ui.labels import plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.judges import queries_review

_STATES = {"single": "one rater", "agreed": "agreed", "conflict": "! conflict", "resolved": "settled"}


def show_people(view: View, decided: pl.DataFrame, states: pl.DataFrame) -> None:
    """Raters against each other, and judges against what they decided; nothing before anything is decided."""
    if states.is_empty():
        return
    left, right = st.columns(2, gap="large")
    with left:
        _show_raters(decided)
    with right:
        _show_judges(judges_with_people(view, states))


def _show_raters(decided: pl.DataFrame) -> None:
    pairs = decisions.agreement_of_raters(decided)
    if not pairs:
        names = decided["rater"].unique().sort().to_list()
        section(
            plain(f"Decided by {', '.join(names)} alone" if len(names) == 1 else "No item has two raters yet"),
            "A second rater who goes through the same review shows how far people agree. Decisions stay hidden from "
            "each other until both are made.",
        )
        return
    first = pairs[0]
    section(
        plain(f"{first.a} and {first.b} agree on {format_share(first.share.mean)}"),
        f"95 % interval {format_share(first.share.low)} to {format_share(first.share.high)}, clustered by attempt; "
        f"kappa {format_ratio(first.kappa)}; n {format_count(first.share.n)} items that both decided.",
    )
    show_table(
        pl.DataFrame(
            [(one.a, one.b, one.share.n, one.share.mean, one.share.low, one.share.high, one.kappa) for one in pairs],
            schema={"a": pl.String, "b": pl.String, "n": pl.Int64, "agree": pl.Float64, "low": pl.Float64,
                    "high": pl.Float64, "kappa": pl.Float64}, orient="row",
        ).fill_nan(None),
        {
            "a": column("Rater"),
            "b": column("and"),
            "n": column("Items", "count", "Decided by both."),
            "agree": column("Agreement", "share"),
            "low": column("Low", "share"),
            "high": column("High", "share"),
            "kappa": column("Kappa", "ratio", "Cohen's, chance counted field by field; none where no disagreement is "
                            "expected."),
        },
        key="review-raters",
        alt="How far each two raters agree.",
    )  # fmt: skip


def judges_with_people(view: View, states: pl.DataFrame) -> pl.DataFrame:
    """How often each judge said what people decided: judge, n, agree (share), low, high (clustered); the best
    first. Items that nobody settled do not count."""
    settled = decisions.settled(states)
    schema = {"judge": pl.String, "n": pl.Int64, **dict.fromkeys(("agree", "low", "high"), pl.Float64)}
    if settled.is_empty():
        return pl.DataFrame(schema=schema)
    found = queries_review.verdicts_on(view, settled)
    rows = []
    for (judge,), part in found.group_by("judge"):
        hits = (part["verdict"] == part["value"]).cast(pl.Float64)
        about = clustered_proportion(hits, clusters_of(part["sample_id"]))
        rows.append((judge, about.n, about.mean, about.low, about.high))
    frame = pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)
    return frame.sort("agree", "judge", descending=[True, False])


def _show_judges(frame: pl.DataFrame) -> None:
    if frame.is_empty():
        return
    least, most = frame.row(-1, named=True), frame.row(0, named=True)
    apart = len(frame) > 1 and least["high"] is not None and least["high"] < most["low"]
    finding = (
        f"{name_judge(most['judge']).capitalize()} is of people's opinion more often than {name_judge(least['judge'])}"
        if apart
        else "Which judge is of people's opinion most often cannot be told yet"
    )
    section(
        plain(finding),
        "How often each judge said what people decided. Splits were decided, not a random choice, so this is no "
        "accuracy; a judge that is often alone is often decided against.",
    )
    show_table(
        frame.with_columns(name=name_each(frame["judge"], name_judge)),
        {
            "name": column("Judge"),
            "n": column("Decided", "count"),
            "agree": column("Same", "share"),
            "low": column("Low", "share"),
            "high": column("High", "share"),
        },
        key="review-judges",
        alt="How often each judge said what people decided.",
    )


def show_decisions(decided: pl.DataFrame, states: pl.DataFrame) -> None:
    """Every decision in force with what became of its item, to read and to download."""
    if decided.is_empty():
        return
    told = states.select(*decisions.ITEM, state="state", settled="value")
    rows = decided.join(told, on=decisions.ITEM, how="left")
    rows = rows.with_columns(
        said=pl.when(pl.col("kind") == "resolution").then(pl.lit("settled as")).otherwise(pl.lit("decided")),
        state=pl.col("state").replace(_STATES),
        # Beside the ids, which downloads keep.
        **{f"{name}_": name_each(rows[name], name_id) for name in ("value", "field", "settled")},
    )
    section(f"{format_count(rows.height)} decision{'' if rows.height == 1 else 's'}")
    show_table(
        rows,
        {
            "rater": column("Rater"),
            "said": column("", width="small"),
            "value_": column("Decision"),
            "field_": column("Field"),
            "turn": column("Turn", "count", width="small"),
            "state": column("State", width="small"),
            "settled_": column("Counts as"),
            "created": column("When", "time"),
            "attempt_id": column("Attempt", "id"),
        },
        key="review-decisions",
        alt="All decisions of people.",
        search=True,
        height=260 if rows.height > 6 else None,
    )
