"""The card that Compare opens with: who wins, by how much, at what price, and what would change that."""

from collections.abc import Mapping

import polars as pl
import streamlit as st

from cxlab.charts.names import begin, name_parties
from cxlab.charts.numbers import format_count, interval_of
from cxlab.read import View, procedures
from cxlab.read.comparison.corrected import CorrectedRanking
from cxlab.read.comparison.decision import Decision
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.words import (
    MARKED_STANDING,
    Name,
    is_repeat,
    leads,
    say_floors,
    say_leader,
    say_no_floors,
    say_repeats,
    say_set,
)
from cxlab.read.conditions import Conditions, of_runs
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import begin_metric
from cxlab.report.decision_figures import list_figures, list_named, say_metric, say_other_lead, say_zeros
from cxlab.ui.address import link
from cxlab.ui.labels import ROUNDED, badge, plain, section
from cxlab.ui.render import render
from cxlab.ui.tables import column, show_table
from cxlab.views.compare.comparison import name_sides
from cxlab.views.compare.corrected import choose_corrected, show_corrected
from cxlab.views.compare.without_judge import show_without
from cxlab.views.like_run import link_estimate, link_floors


def show_decision(
    about: Declaration, found: Ranking, conditions: Conditions | None, told: Decision, board: pl.DataFrame, title: str,
    named: Mapping[str, str], view: View, unit: Unit, alone: bool,
) -> CorrectedRanking | None:  # fmt: skip
    """What is compared; the card; and all sides in their order, with corrected means where the address asks for them,
    which are returned.

    `board`: what each costs and takes (queries.sides). `alone`: this is one of several tasks that were tried.
    """

    def name(side: str) -> str:
        return named.get(side, side)

    on = ["Single runs"]
    if conditions is not None:
        parts = dict(conditions.parts)
        on = [f"Dataset {conditions.dataset}", f"judges: {name_parties(parts['Judges'])}"]
    st.caption(plain(f"{'; '.join(on)}; {say_set(found.compared)}."))
    known = of_runs(about.card.id, about.switches) if unit == "run_id" else {}
    repeat = is_repeat(found, {run: known[run].conditions for run in known})
    words = say_repeats([found]) if repeat else say_leader(found, name)
    corrected = choose_corrected(view, unit)
    simulated = dict(zip(board["side"], board["simulated"], strict=True))
    with st.container(border=True, key="decision"):
        heading = f"{found.task.title} alone: {words}" if alone else begin(words)
        section(plain(heading), plain(say_metric(about, found)))
        if simulated.get(told.leader) or simulated.get(told.rival):
            badge("simulated", "stand-ins answered, so this tells nothing of real models")
        st.html(
            render(
                "cxlab.views.compare:decision",
                figures=list_figures(about, found, told, board, title, name, corrected, repeat),
            )
        )
        floors = say_floors([found], name)
        none = "" if floors else say_no_floors([found], bool(about.floors))
        if floors or none:
            st.caption(plain(f"⚠ {floors or none}."))
        if none:
            link_floors(about, conditions)
        if all(simulated.get(side) for side in (told.leader, told.rival)):
            link_estimate(about, conditions, told.leader if unit == "run_id" else "")
        if low := say_zeros(about, told.other_leads, name):
            st.caption(plain(f"⚠ {low}."))
        if not repeat:
            _link_further(about, told, view, name)
    _show_ranking(about, found, conditions, title, named, words)
    if corrected:
        show_corrected(about, found, corrected, title, name)
    show_without(about, found, view, unit, title, name)
    return corrected


def _link_further(about: Declaration, told: Decision, view: View, name: Name) -> None:
    """Links: the verdict by each other metric that may lead, the slices that the card names, and paths behind them."""
    with st.container(key="decision-links", gap=None):
        for each in told.other_leads:
            link(say_other_lead(each, name), "compare", view.change(lead=each.metric, metric=""))
        for slice in list_named(told.slices):
            where = f"{about.title(slice.facet)}: {about.value(slice.facet, slice.value)}"
            words = f"The {format_count(slice.n)} samples of {where}"
            link(words, "compare", view.narrow(**dict(slice.held), **{slice.facet: [slice.value]}))
        _link_paths(about, told)


def _link_paths(about: Declaration, told: Decision) -> None:
    """Where the benchmark has procedures, the way to where each side leaves the ones of the slices above, else any."""
    if procedures.of(about.card.id) is None:
        return
    facet, view = procedures.facet_of(about.card.id), View(benchmark=about.card.id)
    named = [each.value for each in list_named(told.slices) if each.facet == facet]
    for value in named:
        link(f"{about.value(facet, value)}, stage by stage on SOP paths", "sop_paths", view.narrow(**{facet: (value,)}))
    if not named:
        link("All procedures, stage by stage on SOP paths", "sop_paths", view)


def _show_ranking(
    about: Declaration, found: Ranking, conditions: Conditions | None, title: str, named: Mapping[str, str], alt: str
) -> None:
    compared = found.compared
    rows = found.table.join(found.gaps, on="side", how="left", maintain_order="left", suffix="_gap").join(
        compared.coverage.select("side", has="samples"), on="side", how="left", maintain_order="left"
    )
    words = pl.when(pl.col("side") == found.leader).then(pl.lit("leads" if leads(found) else "first"))
    shown = name_sides(rows, named, {}).with_columns(
        verdict=words.otherwise(pl.col("verdict").replace_strict(MARKED_STANDING, default="–")),
        interval=interval_of(rows, "low", "high"),
        gap=interval_of(rows, "low_gap", "high_gap"),
        coverage=pl.format("{} of {}", "has", pl.lit(compared.known)),
    )
    columns = {
        "name": column("Model" if conditions else "Run"),
        "value": column(begin_metric(title), "points", about.card.metrics.get(found.task.metric)),
        "interval": column("95 % interval"),
        "verdict": column("Against the first", help="At 5 %, corrected for the number of comparisons."),
        "difference": column("Difference", "points", f"From the first. {ROUNDED}"),
        "gap": column("Its interval", help="Paired by sample; all these intervals hold together in 95 cases of 100."),
        "p_corrected": column("p", "p", "Corrected for the number of comparisons (Bonferroni)."),
        "coverage": column("Has samples", help="With a result under these conditions, of those that the task has."),
    }
    # How many all of them share stands above.
    if (rows["has"] == compared.samples).all():
        del columns["coverage"]
    show_table(shown, columns, key="compare-ranking", alt=f"{alt}.")
