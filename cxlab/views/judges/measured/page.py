"""The page Judges: what the world's log says beside what judges make of the same conversations."""

import polars as pl
import streamlit as st

from cxlab.benchmarks.contract import Contrast, JudgedMetrics
from cxlab.charts.matrix import draw_confusion, name_judge
from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_change, format_changes, format_count, format_ratio, format_share
from cxlab.read import View
from cxlab.records.benchmark_card import Card, Declaration
from cxlab.ui.address import cached, open_page
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import choose_id, is_new
from cxlab.ui.labels import ROUNDED, empty, label, plain, section
from cxlab.ui.tables import Kind, column, show_chart, show_table
from cxlab.views.benchmarks import usable_facets
from cxlab.views.judges.judge_columns import judge_names
from cxlab.views.judges.measured import queries, queries_fields
from cxlab.views.judges.measured.charts import draw_fields, draw_gaps

_COLUMNS = {
    "name": column("Metric"),
    "n": column("Conversations", "count", "In which both have a value."),
    "measured": column("Measured", "points"),
    "judged": column("Judged", "points"),
    "mean": column("Difference", "ratio", "Judged minus measured, over the same conversations."),
    "low": column("Low", "ratio"),
    "high": column("High", "ratio"),
    "differ": column("Differ", "share", "Share of the conversations whose two values differ."),
    "off": column("Apart", "ratio", "Mean absolute difference."),
    "r": column("Correlation", "ratio", "Pearson's, over conversations; none where one side does not vary."),
    "clusters": column("Clusters", "count"),
    "only_measured": column("Only measured", "count"),
    "only_judged": column("Only judged", "count"),
}


def show_judged(view: View, about: Declaration, both_ways: JudgedMetrics) -> None:
    """The metrics twice, the conversations in which they part, and each judge against the log field by field."""
    view = view.change(benchmark=about.card.id)
    values = both_ways.values
    among = cached(queries.runs, view, both_ways.first)
    if not among:
        _show_nothing(view, about.card)
        return
    panel = cached(queries.judges, among)
    with st.columns([4, 8])[0]:
        who = {
            queries.PANEL: "the panel's majority",
            **judge_names(pl.Series(panel, dtype=pl.String)),
        }
        by = choose_id("judged-by", "Judged by", list(who), who.__getitem__)
    frame = cached(queries.compared, view, among, by, values)
    frame = frame.filter(~pl.col("metric").is_in(sorted(both_ways.same)))
    if frame.is_empty():
        st.info("No conversation under these filters has a metric both ways.")
        return
    name = "the panel" if by == queries.PANEL else name_judge(by)
    known = frame.with_columns(name=pl.col("metric").replace(both_ways.names).str.replace_all("_", " "))
    _show_gaps(known, name, both_ways)
    if both_ways.contrast is not None:
        found = cached(queries.contrast, view, among, by, values, both_ways.contrast)
        _show_contrast(found, both_ways.contrast)
    _show_apart(queries.pairs_by(view, among, by, values), known, name, about, both_ways)
    if panel:
        _show_fields(view, among)


def _show_gaps(frame: pl.DataFrame, who: str, both_ways: JudgedMetrics) -> None:
    """The chart of all metrics, shares and counts apart; a click chooses the metric below."""
    real = frame.filter((pl.col("low") > 0) | (pl.col("high") < 0))
    counted = pl.col("metric").is_in(sorted(both_ways.counts))
    shares = frame.filter(~counted).sort(pl.col("mean").abs(), "metric", descending=[True, False])
    counts = frame.filter(counted)
    otherwise = pl.col("metric").is_in(sorted(both_ways.otherwise))
    most = shares.filter(pl.col("metric").is_in(real["metric"].to_list()) & ~otherwise)
    if most.height:
        row = most.row(0, named=True)
        how = "above" if row["mean"] > 0 else "below"
        finding = f"{who} sees {row['name']} {abs(row['mean']):.1f} points {how} the log"
        finding = finding[0].upper() + finding[1:]
    else:
        finding = "No metric is judged clearly apart from the log"
    section(
        plain(finding),
        f"{real.height} of {frame.height} metrics lie apart by more than chance (filled squares; 95 % intervals "
        f"clustered and corrected for {frame.height} metrics, over the same conversations). "
        f"{both_ways.note} Click a metric for its conversations.",
    )
    for part, key, unit, scale in ((shares, "shares", "points", 100.0), (counts, "counts", "count", None)):
        if part.is_empty():
            continue
        picked = show_chart(
            draw_gaps(part, dict(part.select("metric", "name").iter_rows()), dark(), unit=unit, scale=scale),
            part,
            key=f"judged-{key}",
            alt=f"Measured and judged values of {part.height} metrics with their differences; {finding}.",
            columns=_COLUMNS,
            select=True,
        )
        if is_new(f"judged-{key}", picked):
            st.query_params["judged-metric"] = str(picked[0][0])
            st.rerun()


def _show_contrast(found: queries.Ratio | None, wanted: Contrast) -> None:
    """The figure that compares conversations."""
    if found is None:
        return
    interval = "" if found.low is None else f", 95 % interval {format_changes(found.low, found.high, 2)}"
    st.caption(
        plain(
            f"{wanted.title}: measured {format_ratio(found.measured)}, "
            f"judged {format_ratio(found.judged)}, difference {format_change(found.difference, 2)}{interval}; over "
            f"{format_count(found.tasks)} tasks played both ways under the same terms, bootstrap over tasks."
        )
    )


def _show_apart(
    both: pl.DataFrame, frame: pl.DataFrame, who: str, about: Declaration, both_ways: JudgedMetrics
) -> None:
    """The conversations in which one metric's values lie furthest apart."""
    names = dict(frame.select("metric", "name").iter_rows())
    ordered = frame.sort("differ", "metric", descending=[True, False])["metric"].to_list()
    first = next((metric for metric in (both_ways.first, *ordered) if metric in names), ordered[0])
    options = [first, *(metric for metric in ordered if metric != first)]
    metric = choose_id("judged-metric", "Metric", options, names.__getitem__)
    row = frame.filter(pl.col("metric") == metric).row(0, named=True)
    section(
        plain(
            f"{names[metric].capitalize()}: {who} and the log differ in {format_share(row['differ'])} of conversations"
        ),
        plain(
            f"{about.card.metrics.get(metric, '')} n {format_count(row['n'])}. The furthest apart on top; pick one to "
            "open it."
        ),
    )
    told = usable_facets(about)
    facets = [facet.id for facet in about.facets if facet.id in told]
    far = queries.apart(both, metric, facets)
    if far.is_empty():
        st.info("They differ in no conversation.")
        return
    kind: Kind = "ratio" if metric in both_ways.counts else "points"
    chosen = show_table(
        far.with_columns(who=name_each(far["model"], label)),
        {
            "measured": column("Measured", kind),
            "judged": column("Judged", kind),
            "difference": column("Difference", kind, ROUNDED),
            "who": column("Model"),
            **{facet: column(about.title(facet)) for facet in facets},
            "attempt_id": column("Conversation", "id"),
        },
        key=f"judged-apart-{metric}",
        alt=f"Conversations in which {names[metric]} is measured and judged apart.",
        select="single",
        search=True,
        height=280,
    )
    if chosen:
        open_page("failures", View(attempt=f"{chosen[0]['run_id']}/{chosen[0]['attempt_id']}"))


def _show_fields(view: View, among: tuple[str, ...]) -> None:
    """Each judge against the log, verdict by verdict, and one confusion."""
    frame = cached(queries_fields.fields, view, among)
    if frame.is_empty():
        return
    names = {field: field.replace("_", " ") for field in frame["field"]}
    worst = frame.sort("mean", "field", "judge", descending=[True, False, False]).row(0, named=True)
    left, right = st.columns([6, 6], gap="large")
    with left:
        section(
            plain(
                f"{name_judge(worst['judge']).capitalize()} differs from the log most on "
                f"{names[worst['field']]}: {format_share(worst['mean'])}"
            ),
            "The verdicts that the metrics are made of, turn by turn: share that is another than the log's. The most "
            "troubled field on top; click a cell.",
        )
        picked = show_chart(
            draw_fields(frame, names, dark()),
            frame.with_columns(name=pl.col("field").replace(names)),
            key="judged-fields",
            alt="Share of verdicts that differ from the log, by field and judge.",
            columns={
                "name": column("Field"),
                "judge": column("Judge"),
                "n": column("Verdicts", "count"),
                "mean": column("Differs", "share"),
                "low": column("Low", "share"),
                "high": column("High", "share"),
                "mcc": column("MCC", "ratio", "Matthews' correlation with the log; none where a side never varies."),
            },
            select=True,
        )
    known = set(frame.select("field", "judge").iter_rows())
    if picked and tuple(picked[0]) in known and is_new("judged-fields", picked):
        st.query_params["judged-field"] = "~".join(map(str, picked[0]))
    field, _, judge = st.query_params.get("judged-field", "").partition("~")
    if (field, judge) not in known:
        field, judge = worst["field"], worst["judge"]
    with right:
        table = cached(queries_fields.verdicts, view, among, judge, field)
        labels = sorted({*table["log"], *table["said"]})
        counts = {(log, said): n for log, said, n in table.iter_rows()}
        who = name_judge(judge)
        section(plain(f"{names[field].capitalize()}: what the log has, and what {who} says"))
        show_chart(
            draw_confusion(
                labels, [[counts.get((a, b), 0) for b in labels] for a in labels], f"{who} says", "the log has", dark()
            ),
            table,
            key="judged-confusion",
            alt=f"What the log has of {names[field]}, and what {who} says, as counts.",
        )
        if frame.filter((pl.col("field") == field) & pl.col("yes_no")).height:
            _show_prevalence(cached(queries_fields.prevalence, view, among, field), names[field], judge)


def _show_prevalence(frame: pl.DataFrame, name: str, judge: str) -> None:
    """How often a field is yes, by judges, by judges whose errors are known of one half, and by the log."""
    row = frame.filter(pl.col("judge") == judge).row(0, named=True)
    known = row["corrected"] is not None
    section(
        plain(
            f"Corrected, {name_judge(judge)} comes to {format_share(row['corrected'])}; the log has "
            f"{format_share(row['log'])}"
            if known
            else f"{name_judge(judge).capitalize()} is no better than chance on {name}"
        ),
        "What can be done without a log: check one half of the samples, and correct the share of the other half "
        "by how often the judge was right (Rogan and Gladen; both halves in turn, bootstrap over samples).",
    )
    show_table(
        frame.with_columns(name_each(frame["judge"], name_judge)),
        {
            "judge": column("Judge"),
            "observed": column("Says yes", "share"),
            "tpr": column("Right on yes", "share", "Of what is yes, how often the judge says so."),
            "tnr": column("Right on no", "share", "Of what is no, how often the judge says so."),
            "corrected": column("Corrected", "share"),
            "low": column("Low", "share"),
            "high": column("High", "share"),
            "log": column("Log", "share"),
            "n": column("n", "count"),
        },
        key="judged-prevalence",
        alt=f"How often {name} is yes by each judge, corrected, and by the log.",
        downloads=False,
    )


def _show_nothing(view: View, card: Card) -> None:
    """How to come by conversations that are both measured and judged."""
    empty(
        f"Here you would see the metrics of {card.name} twice, measured from the world's log and judged by models, "
        "with the difference, its interval, and the conversations in which the two part. "
        + (
            "No conversation under these filters is both; clear one of them, or judge a run:"
            if view.filters() != View()
            else "No run in this store is both yet."
        ),
        f"Run {card.name} with judges",
        lambda: open_page("run", View()),
        f"python -m cxlab run {card.id} --model simulated:strong --limit 60",
    )
