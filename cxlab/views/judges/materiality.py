"""The page Judges: what it matters for that judges differ."""

from collections.abc import Mapping

import polars as pl
import streamlit as st

from cxlab.charts.matrix import name_judge
from cxlab.charts.numbers import format_count, format_points, format_share
from cxlab.read import View
from cxlab.records import procedure
from cxlab.ui.address import cached, go, here, marks
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import label, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.judges import charts as draw
from cxlab.views.judges import queries_agreement, queries_materiality
from cxlab.views.judges.judge_columns import judge_names, mean_columns, pick, show_no_votes, show_one_judge
from cxlab.views.judges.slices import Slices


def show_changes(view: View, slices: Slices) -> None:
    """What it changes that judges differ; of one judge, or none, that there is nothing to tell."""
    judges = cached(queries_agreement.panel, view, slices.facets).height
    if judges > 1:
        show_materiality(view, slices)
    elif judges:
        show_one_judge()
    else:
        show_no_votes()


def show_materiality(view: View, slices: Slices) -> None:
    """What splits change: the reference, and the score."""
    by = pick("By", slices.titles, "judges-material-by")
    whole = {
        row["measure"]: row
        for row in cached(queries_materiality.materiality, view, None, slices.facets).iter_rows(named=True)
    }
    if not whole:
        st.info(
            "These runs were scored before it was noted where each judge alone would lead. Score them again: "
            "`python -m cxlab score RUN --judges ...`"
        )
        return
    frame = cached(queries_materiality.materiality, view, by, slices.facets)
    way, action, reach = whole["way"], whole["action"], whole["range"]
    left, right = st.columns(2, gap="large")
    with left:
        section(
            f"On {format_share(way['mean'])} of turns the split changes the way that is right",
            f"Each judge's own fields through the rule engine: two lead different ways ({format_share(way['low'])} to "
            f"{format_share(way['high'])}), on {format_share(action['mean'])} to different actions. The turn's logic "
            f"score goes {format_points(reach['mean'])} points from judge to judge on average. n "
            f"{format_count(way['n'])} turns.",
        )
        part = frame.filter(pl.col("measure") == "way").sort("mean", descending=True)
        picked = show_chart(
            draw.draw_means(
                part,
                "slice",
                {value: slices.name(by, value) for value in part["slice"]},
                dark(),
                unit="share",
                title="% of turns on which judges lead apart",
            ),
            frame,
            key=f"judges-material-{by}",
            alt=f"Share of turns on which judges lead different ways, by {by}.",
            columns={
                "slice": column(slices.titles[by]),
                "measure": column("Measure"),
                "n": column("Turns", "count"),
                "mean": column("Mean", "ratio"),
                "low": column("Low", "ratio"),
                "high": column("High", "ratio"),
            },
            select=True,
        )
        if picked and by != "turn":
            go(here().change(tab="review").narrow(**{"models" if by == "model" else by: (str(picked[0][0]),)}))
    metrics = {name: each.judged_alone for name, each in procedure.declared().items() if each.judged_alone}
    offsets = cached(queries_materiality.offsets, view, metrics)
    if offsets.is_empty():
        return
    named = " / ".join(label(metric) for metric in dict.fromkeys(metrics.values()))
    with right:
        far = offsets.sort(pl.col("mean").abs(), descending=True).row(0, named=True)
        section(
            f"{plain(name_judge(far['judge'])).capitalize()} alone would move {named} by {far['mean']:+.1f} points",
            "The score if one judge alone were the panel, minus the panel's, turn by turn; 95 % intervals "
            "clustered by sample. "
            "Over turns that the panel and every judge alone can score.",
        )
        show_chart(
            draw.draw_means(
                offsets, "judge", judge_names(offsets["judge"]), dark(), unit="offset", title=f"points of {named}"
            ),
            offsets,
            key="judges-offsets",
            alt=f"How {named} would move with one judge alone.",
            columns=mean_columns("judge", "Judge"),
        )
    show_ranking(view, metrics)


def show_ranking(view: View, metrics: Mapping[str, str]) -> None:
    """Whether the order of models hangs on the judge."""
    scores = cached(queries_materiality.alone, view, metrics)
    if scores["model"].n_unique() < 2:
        return
    found = queries_materiality.stability(scores)
    moved = [judge for judge, tau in found.tau.items() if tau < 0.999]
    finding = (
        "Every judge alone ranks the models as the panel does"
        if not moved
        else f"{', '.join(map(name_judge, moved)).capitalize()} alone would change the ranking"
    )
    taus = ", ".join(f"{name_judge(judge)} {tau:.2f}" for judge, tau in found.tau.items())
    left, right = st.columns([8, 4], gap="large")
    with left:
        section(
            plain(finding),
            plain(f"Kendall's tau-b of each judge's ranking to the panel's: {taus}. Same turns for all."),
        )
        show_chart(
            draw.draw_ranks(found.ranks, marks(), dark()),
            found.ranks.join(scores.select("judge", "model", "n", "low", "high"), on=["judge", "model"], how="left"),
            key="judges-ranks",
            alt=f"Ranks of the models by the panel and by each judge alone; {finding}.",
        )
    with right:
        section("Leave one judge out", "Rank by the mean of the judges, and the best and worst rank with one left out.")
        show_table(
            found.out.sort("rank").with_columns(name=pl.col("model").map_elements(label, return_dtype=pl.String)),
            {
                "name": column("Model"),
                "rank": column("Rank", "count"),
                "best": column("Best", "count"),
                "worst": column("Worst", "count"),
            },
            key="judges-out",
            alt="Ranks with one judge left out.",
        )
