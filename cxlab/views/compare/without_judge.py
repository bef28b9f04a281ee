"""The decision without one judge of the panel, beside the one as judged; from stored votes."""

import streamlit as st

from cxlab.benchmarks.scores.without_judge import judges_of, leave_out
from cxlab.charts.matrix import name_judge
from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count, interval_of
from cxlab.read import View
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.without_judge import WithoutJudge, compared_attempts, rank_without, say_reach, say_without
from cxlab.read.comparison.words import Name
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import begin_metric, name_metric
from cxlab.ui.address import cached, link
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.compare import queries


def list_judges(view: View, unit: Unit) -> tuple[str, ...]:
    """The judges that can be left out of the view's ranking; none where votes are not stored or decide nothing."""
    found = queries.ranked(view, unit)
    return () if found is None else judges_of(sorted(found.compared.runs))


def ranked_without(view: View, unit: Unit, judge: str) -> WithoutJudge | None:
    """The view's ranking without a judge; None where nothing is compared."""
    found = queries.ranked(view, unit)
    if found is None:
        return None
    return rank_without(
        declared(view.benchmark, view.lead), view, found, judge, leave_out(judge, compared_attempts(found))
    )


def _say_unjudged(about: Declaration, judged: Ranking, view: View, title: str) -> None:
    """That it does not hang on any judge who leads, and by which other metric it may."""
    st.caption(plain(f"No judge has a say in the {title}: without any one of them the decision stays as it is."))
    declared_as = about.card.task(judged.task.id)
    for metric in (each for each in (declared_as.leads if declared_as else ()) if each not in about.card.unjudged):
        words = f"Leave a judge out by {name_metric(metric)}, in which they have one"
        link(words, "compare", view.change(lead=metric, metric=""))


def show_without(about: Declaration, judged: Ranking, view: View, unit: Unit, title: str, name: Name) -> None:
    """A choice of a judge to leave out, and what is left of the decision without it."""
    judges = cached(list_judges, view, unit)
    if not judges:
        return
    if judged.task.metric in about.card.unjudged:
        # Scoring everything anew would only say the same.
        _say_unjudged(about, judged, view, title)
        return
    names = {"": "none left out", **{judge: name_judge(judge) for judge in judges}}
    with st.container(width=360):
        judge = choose_id(
            "dropped", "Without judge", list(names), names.__getitem__,
            help="Scores all attempts anew from the stored votes of the other judges, by the benchmark's own rules. "
            "Nobody is asked again, and what stands elsewhere on this page stays as judged.",
        )  # fmt: skip
    if not judge:
        return
    many = sum(len(own) for own in compared_attempts(judged).values())
    with st.spinner(f"Scoring {format_count(many)} {about.card.unit[1]} anew from stored votes"):
        found = cached(ranked_without, view, unit, judge)
    if found is None:
        return
    section(plain(say_without(found, judged, name, name_judge(judge))), plain(say_reach(found, about.card.unit[1])))
    for run, why in found.left_out.items():
        st.caption(plain(f"⚠ Run {run} is not scored anew: {why}."))
    shown = found.beside.with_columns(
        name=name_each(found.beside["side"], name),
        interval=interval_of(found.beside, "low", "high"),
    )
    columns = {
        "name": column("Model"),
        "value": column(begin_metric(title), "points", about.card.metrics.get(judged.task.metric)),
        "without": column(f"Without {name_judge(judge)}", "points", "By the votes of the others alone."),
        "interval": column("95 % interval"),
    }
    show_table(shown, columns, key="compare-without-judge", alt="Means as judged and without a judge.")
