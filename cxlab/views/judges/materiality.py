"""The page Judges: what it matters for that judges differ."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.matrix import name_judge
from cxlab.charts.names import begin, name_each
from cxlab.charts.numbers import format_change, format_changes, format_points, format_share
from cxlab.charts.theme import short_model
from cxlab.read import View, procedures
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import name_metric
from cxlab.ui.address import cached, go, here, link, marks
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import label, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.judges import charts as draw
from cxlab.views.judges import queries_agreement, queries_materiality
from cxlab.views.judges.judge_columns import (
    judge_names,
    mean_columns,
    pick,
    say_turns,
    show_no_votes,
    show_one_judge,
)
from cxlab.views.judges.leave_out import show_leave_out
from cxlab.views.judges.slices import Slices

_MEASURES = {"way": "lead different ways", "action": "lead to different actions", "range": "points apart"}


def show_changes(view: View, compared: View, slices: Slices) -> None:
    """What it changes that judges differ; of one judge, or none, that there is nothing to tell. `compared` is the view
    narrowed to runs whose models can be ranked."""
    votes = cached(queries_agreement.panel, view, slices.facets)
    if votes.is_empty():
        show_no_votes()
    elif votes.height < 2:
        show_one_judge()
    else:
        st.markdown(plain(say_at_stake(declared(view.benchmark))))
        link("See who leads on Compare", "compare", View(benchmark=view.benchmark))
        show_leave_out(view, compared, votes, slices)
        show_materiality(view, compared, max(votes["turns"]), slices)


def show_materiality(view: View, compared: View, judged: int, slices: Slices) -> None:
    """What splits change of `judged` turns: the reference, and the score. Nothing where no procedure is held to."""
    whole = {
        row["measure"]: row
        for row in cached(queries_materiality.materiality, view, None, slices.facets).iter_rows(named=True)
    }
    if not whole:
        if procedures.of(view.benchmark):
            st.info(
                "These runs were scored before it was noted where each judge alone would lead. Score them again: "
                "`python -m cxlab score RUN`"
            )
        return
    by = pick("By", slices.titles, "judges-material-by")
    frame = cached(queries_materiality.materiality, view, by, slices.facets)
    points = _name(procedures.single_judge_metrics("way"))
    way, action, reach = whole["way"], whole["action"], whole["range"]
    left, right = st.columns(2, gap="large")
    with left:
        section(
            f"On {format_share(way['mean'])} of turns the split changes the way that is right",
            f"Each judge's own fields through the rule engine: two lead different ways ({format_share(way['low'])} to "
            f"{format_share(way['high'])}), on {format_share(action['mean'])} to different actions. The turn's "
            f"{plain(points)} goes {format_points(reach['mean'])} points from judge to judge on average. "
            f"{begin(say_turns(way['n'], judged))}.",
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
            words={"slice": lambda value: slices.name(by, value), "measure": _MEASURES.__getitem__},
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
    offsets = cached(queries_materiality.offsets, compared, slices.facets)
    if offsets.is_empty():
        return
    named = _name(procedures.single_judge_metrics("whole"))
    with right:
        section(
            plain(say_offsets(offsets, named)),
            "The score if one judge alone were the panel, minus the panel's, turn by turn; clustered 95 % "
            "intervals. "
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
    show_ranking(compared, slices)


def say_at_stake(about: Declaration) -> str:
    """Whether a ranking of models hangs on who judges at all, which is to be known before a judge is dropped."""
    task, free = about.card.tasks[0], about.card.unjudged
    named = name_metric(task.metric)
    if task.metric not in free:
        by = named if len({each.metric for each in about.card.tasks}) == 1 else "each task's own main figure"
        return (
            f"Models are ranked by {by}; where judges have a say in it, Compare shows the ranking without each of them."
        )
    judged = [name_metric(each) for each in task.leads if each not in free]
    told = f"Models are ranked by {named}, in which no judge has a say: dropping one changes nobody's rank by it."
    return told + (
        f" They have one in {' and '.join(judged)}: by that alone it can matter who judged." if judged else ""
    )


def _name(metrics: Mapping[str, str]) -> str:
    """What the metrics are called, of all benchmarks that are compared."""
    return " / ".join(name_metric(metric) for metric in dict.fromkeys(metrics.values()))


def say_offsets(offsets: pl.DataFrame, named: str) -> str:
    """How far judges alone move a score; only what is beyond chance is a judge's doing."""
    far = offsets.sort(pl.col("mean").abs(), descending=True).row(0, named=True)
    if far["low"] is None or far["low"] <= 0 <= far["high"]:
        return f"No judge alone moves {named} beyond chance"
    return (
        f"{name_judge(far['judge']).capitalize()} alone moves {named} by {format_change(far['mean'])} points "
        f"({format_changes(far['low'], far['high'])})"
    )


def say_ranking(scores: pl.DataFrame, tau: Mapping[str, float]) -> str:
    """Whether a judge alone turns the order of two models for sure: the panel has one clearly above the other, and the
    judge has it clearly below (their 95 % intervals do not touch)."""
    by_judge = {
        judge: {row["model"]: row for row in part.iter_rows(named=True)} for (judge,), part in scores.group_by("judge")
    }
    panel = by_judge.get("panel", {})
    turned = [
        f"{name_judge(str(judge))} turns {short_model(one)} and {short_model(other)}"
        for judge, own in sorted(by_judge.items(), key=str)
        for one in own
        for other in own
        if judge != "panel" and _is_above(panel.get(one), panel.get(other)) and _is_above(own[other], own[one])
    ]
    if turned:
        return f"{turned[0][0].upper()}{'; '.join(turned)[1:]}, each beyond chance"
    if all(value > 0.999 for value in tau.values()):
        return "Every judge alone ranks the models as the panel does"
    return "No judge alone turns the order of two models beyond chance"


def _is_above(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    if one is None or other is None or one["low"] is None or other["high"] is None:
        return False
    return bool(one["low"] > other["high"])


def show_ranking(view: View, slices: Slices) -> None:
    """Whether the order of models hangs on the judge."""
    scores = cached(queries_materiality.alone, view, slices.facets)
    if scores["model"].n_unique() < 2:
        return
    found = queries_materiality.stability(scores)
    finding = say_ranking(scores, found.tau)
    taus = ", ".join(f"{name_judge(judge)} {tau:.2f}" for judge, tau in found.tau.items())
    left, right = st.columns([8, 4], gap="large")
    with left:
        section(
            plain(finding),
            plain(
                "How alike each judge's order of the models is to the panel's, 1 the same, 0 unrelated, -1 reversed "
                f"(Kendall's tau-b): {taus}. Same turns for all."
            ),
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
            found.out.with_columns(name=name_each(found.out["model"], label)).sort("rank"),
            {
                "name": column("Model"),
                "rank": column("Rank", "count"),
                "best": column("Best", "count"),
                "worst": column("Worst", "count"),
            },
            key="judges-out",
            alt="Ranks with one judge left out.",
        )
