"""Who stands against whom: models or single runs, how they are called and drawn, and the baseline that is kept."""

from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab.charts.names import name_parties
from cxlab.charts.theme import Mark, mark_of
from cxlab.read import View, annotations, known
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.words import name_some, say_apart
from cxlab.read.conditions import find_differing, of_runs
from cxlab.read.run_names import call_runs_of
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, mark_sides, marks
from cxlab.ui.annotations import annotate, withdraw
from cxlab.ui.app_frame import guarded
from cxlab.ui.choices import choose, choose_id
from cxlab.ui.labels import label, plain
from cxlab.ui.run_names import call_all_runs, offer_names
from cxlab.ui.tables import column, show_table
from cxlab.views.compare import queries

_UNITS = {"models": "Models", "runs": "Runs"}


def choose_unit(view: View) -> tuple[View, Unit]:
    """Whether models are the sides or runs, by the address; and the view of these runs.

    Runs are the sides, too, where several were picked by name and no two models. Where runs are asked for and fewer
    than two were picked, those stand beside them that `run_choice` finds, and the others are named with the reason.
    """
    picked = len(view.runs) > 1 and len(view.models) < 2
    options = list(_UNITS)[::-1] if picked else list(_UNITS)
    asked = choose_id(
        "sides", "Sides", options, _UNITS.__getitem__, style="segments",
        help="Runs against each other: the same model with two prompts or two settings, or what changed since.",
    )  # fmt: skip
    if asked == "models":
        return view, "model"
    if len(view.runs) < 2:
        view = view.change(runs=cached(queries.runs_to_compare, view.filters()).runs, page=view.page)
    return view, "run_id"


def show_runs_left_out(about: Declaration, asked: View) -> None:
    """Which runs of the dataset are not compared and why, where the address (`asked`) leaves that to the page."""
    if len(asked.runs) > 1:
        return
    left = cached(queries.runs_to_compare, asked.filters()).left_out
    if not left:
        return
    # Told apart from those that are compared, too.
    names = cached(call_all_runs, about)
    told: dict[str, list[str]] = {}
    for run, why in left:
        told.setdefault(why, []).append(names[run])
    lines = "; ".join(f"**{plain(name_some(runs))}**: {plain(why)}" for why, runs in told.items())
    st.caption(f"Not among these runs: {lines}. Pick runs under Run in the sidebar to compare others.")


def names_of(about: Declaration, board: pl.DataFrame, unit: Unit) -> dict[str, str]:
    """How each side is called: its model, or what its run is called."""
    floors = {floor.model: floor.name for floor in about.floors}
    if unit == "model":
        return {side: floors.get(side, label(side)) for side in board["side"]}
    runs = list(board.select("side", "model").iter_rows())
    return call_runs_of(about, runs, {model: floors.get(model, label(model)) for _, model in runs})


def marks_of(unit: Unit, named: Mapping[str, str]) -> dict[str, Mark]:
    """How each side is drawn: a model as on every page, a run by its name (see `drawn`), best first: as its model
    where each is of another one, else in a colour of its own."""
    if unit == "model":
        return marks()
    models = {run: model for run, model, _ in cached(known.runs) if run in named}
    if len(set(models.values())) == len(named):
        of_model = marks()
        return {name: mark_of(of_model, models[side]) for side, name in named.items()}
    own = mark_sides([named[side] for side in sorted(named)])
    return {name: own[name] for name in named.values()}


def drawn(frame: pl.DataFrame, unit: Unit, named: Mapping[str, str]) -> pl.DataFrame:
    """The frame with sides as charts write them: models by their id, runs by their name."""
    return frame if unit == "model" else frame.with_columns(pl.col("side").replace(dict(named)))


def show_what_differs(about: Declaration, runs: Sequence[str], named: Mapping[str, str]) -> None:
    """In what the conditions of runs that are compared differ: that is then what is compared."""
    offer_names(runs, "compare-names", named)
    for run in runs:
        for note in cached(annotations.notes_on, run):
            st.caption(f"**{plain(named.get(run, run))}**: {plain(note)}")
    made = of_runs(about.card.id, about.switches)
    apart = find_differing({run: made[run].conditions for run in runs if run in made})
    words, warns = say_apart(apart, [made[run].model for run in runs if run in made])
    if warns:
        st.warning(plain(f"{words}."), icon="⚠")
    else:
        st.caption(plain(f"{words}."))
    if not apart:
        return
    rows = pl.DataFrame(
        [{"setting": title, **{run: name_parties(value) for run, value in values.items()}}
         for title, values in apart.items()]
    )  # fmt: skip
    columns = {"setting": column("Setting")} | {run: column(named.get(run, run)) for run in runs}
    with st.expander("What differs", type="compact"):
        show_table(rows, columns, key="compare-settings", alt="Settings in which the runs differ.", downloads=False)


def choose_baseline(about: Declaration, view: View, unit: Unit, named: Mapping[str, str]) -> str:
    """The side that the others are measured against: of the address, else the one that was kept, else the first; and
    where it is kept from now on, or no longer."""
    kept = cached(annotations.baselines, about.card.id).get(unit)
    settled = view.change(baseline=kept.side) if kept and not view.baseline else view
    chosen = choose(
        settled, "baseline", "Compare with", list(named), names=named, help="The others are measured against this one."
    )
    if kept and kept.side == chosen:
        st.caption(plain(f"Kept as the baseline by {kept.author}."))
        if st.button("Stop keeping it", key="baseline-back", type="tertiary"):
            with guarded():
                withdraw(kept.id, about.card.id, "")
                st.rerun()
    elif st.button("Keep as the baseline", key="baseline-keep", type="tertiary",
                   help="For everybody who opens this store; Overview shows it, too."):  # fmt: skip
        with guarded():
            annotate("baseline", about.card.id, "", chosen, field=unit)
            st.rerun()
    return chosen
