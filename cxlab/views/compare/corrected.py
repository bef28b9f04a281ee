"""The ranking of Compare with people's decisions in the place of judges' verdicts, beside the one as judged."""

import streamlit as st

from cxlab.benchmarks.scores.corrected import correct
from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count, interval_of
from cxlab.read import View, decisions
from cxlab.read.comparison.corrected import CorrectedRanking, correct_ranking, keep_decided
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.words import NO_RANDOM_CHOICE, Name, say_changes, say_leader
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import begin_metric
from cxlab.ui.address import cached, here, link, set_view
from cxlab.ui.labels import PASSED_COMPARED, ROUNDED, plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.compare import queries


def count_decisions(view: View, unit: Unit) -> int:
    """How many decisions that settle something are on attempts of the view's ranking."""
    found = queries.ranked(view, unit)
    return 0 if found is None else keep_decided(found, decisions.in_force()).height


def corrected_ranking(view: View, unit: Unit) -> CorrectedRanking | None:
    """The view's ranking with its decisions; None where nothing is compared."""
    found = queries.ranked(view, unit)
    if found is None:
        return None
    made = correct(keep_decided(found, decisions.in_force()))
    return correct_ranking(declared(view.benchmark, view.lead), view, found, made)


def choose_corrected(view: View, unit: Unit) -> CorrectedRanking | None:
    """The switch that sets corrected means beside those as judged; drawn where there are decisions. What it asks for,
    None while it is off."""
    if cached(decisions.decisions).is_empty() or not (many := cached(count_decisions, view, unit)):
        return None
    st.session_state["compare-reviewed"] = here().reviewed == "yes"

    def changed() -> None:
        set_view(here().change(reviewed="yes" if st.session_state["compare-reviewed"] else ""))

    st.toggle(
        f"With reviewers' corrections: {format_count(many)} decision{'' if many == 1 else 's'}",
        key="compare-reviewed",
        on_change=changed,
        help="A decision takes the place of every judge's verdict, and the benchmark's own rules score the attempt "
        "anew. The card, the means side by side and the report then tell both. What is told by facet and further down "
        "stays as judged.",
    )
    return cached(corrected_ranking, view, unit) if here().reviewed == "yes" else None


def show_corrected(about: Declaration, judged: Ranking, found: CorrectedRanking, title: str, name: Name) -> None:
    """Who leads by the corrected means, how much was changed, and both beside those as judged."""
    section(
        f"With reviewers' corrections: {plain(say_leader(found.ranking, name))}",
        f"{say_changes(found, about.card.unit[1])} Change: corrected minus judged. {NO_RANDOM_CHOICE}",
    )
    for run, why in found.left_out.items():
        st.caption(plain(f"⚠ Run {run} is not corrected: {why}."))
    shown = found.beside.with_columns(
        name=name_each(found.beside["side"], name),
        interval=interval_of(found.beside, "corrected_low", "corrected_high"),
    )
    columns = {
        "name": column("Model"),
        "value": column(begin_metric(title), "points", about.card.metrics.get(judged.task.metric)),
        "corrected": column("Corrected", "points", "With decisions in the place of judges' verdicts."),
        "interval": column("95 % interval"),
        "change": column("Change", "ratio", ROUNDED),
        "passed": column(PASSED_COMPARED, "share", "By the verdicts as judged, on the same samples."),
        "passed_corrected": column("Passed, corrected", "share", "By the verdicts that decisions make."),
    }
    show_table(shown, columns, key="compare-corrected", alt="Means and success rates as judged and as corrected.")
    link("See the decisions", "judges", View(benchmark=about.card.id))
