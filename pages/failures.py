"""Failures: what goes wrong, and why?"""

import polars as pl
import streamlit as st

from cxlab import read, ui
from cxlab.benchmarks import REGISTRY
from cxlab.errors import UnknownName
from cxlab.read import View, failures
from cxlab.read.troubles import KINDS
from cxlab.ui import answer, browse, dialogue, remarks, strips

ui.routed()

FILTERS = ["models", "scenarios", "errors", "levels", "splits", "ends", "personas", "runs"]
# Of benchmarks whose samples are answers and no dialogues.
ANSWER_FILTERS = ["models", "tasks", "errors", "levels", "runs"]
# Of dialogues that have a goal to reach.
GOAL_FILTERS = ["models", "tasks", "personas", "intents", "modalities", "errors", "ends", "leaves", "runs"]


def show_list(view: View) -> None:
    """What goes wrong under the filters: groups, then dialogues."""
    ui.header("Failures", "What goes wrong, and why?")
    view = choose_benchmark(view)
    benchmark = REGISTRY.get(view.benchmark)
    definitions = benchmark.card.metrics if benchmark else {}
    if benchmark and "right" in definitions and benchmark.with_customer:
        metric = view.metric if view.metric in definitions else benchmark.card.leading[0]
        view = ui.sidebar_filters(view.change(metric=metric, page=view.page), GOAL_FILTERS, search=True)
    elif "right" in definitions:
        view = ui.sidebar_filters(view.change(metric="right", page=view.page), ANSWER_FILTERS)
    else:
        view = ui.sidebar_filters(view, FILTERS, search=True)
    filters = view.change(attempt="", turn=None, order="", page=1)
    counts = ui.cached(failures.counts, filters)
    groups = ui.cached(failures.groups, filters.change(alike=""))
    browse.show_counts(view, counts, groups)
    browse.show_groups(view, groups)
    browse.show_attempts(view)


def choose_benchmark(view: View) -> View:
    """One benchmark or all, where the store has several."""
    known = ui.cached(read.benchmarks)["benchmark"].to_list()
    if len(known) < 2:
        return view.change(benchmark=known[0] if known else "", page=view.page)
    with st.sidebar:
        names = {"": "all benchmarks"} | {name: ui.label(name) for name in known}
        return view.change(
            benchmark=ui.choose(view, "benchmark", "Benchmark", list(names), names=names), page=view.page
        )


def show_answer(view: View, whole: read.Whole) -> None:
    """An answer of a task: what was given, and what was due beside what came."""
    benchmark = str(whole.attempt["benchmark"])
    definitions = REGISTRY[benchmark].card.metrics if benchmark in REGISTRY else {}
    answer.headline(whole, definitions)
    given, about = st.columns([3, 2], gap="medium")
    with given:
        answer.show_given(whole)
    with about, st.container(key="cx-about"):
        answer.show_wrong(whole)
        answer.show_due(whole)
        answer.show_figures(whole, definitions)
        remarks.show_remarks(str(whole.attempt["run_id"]), str(whole.attempt["attempt_id"]), view.turn)
        dialogue.origin(whole)


def show_one(view: View, run_id: str, attempt_id: str) -> None:
    """One attempt in full."""
    strips.style()
    try:
        whole = read.attempt(run_id, attempt_id)
    except UnknownName as unknown:
        ui.header("Failures", "What goes wrong, and why?")
        ui.error(str(unknown))
        if st.button("All dialogues"):
            browse.go(view.change(attempt="", turn=None))
        return
    browse.show_way(view, attempt_id)
    row = whole.attempt
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(
            ui.plain(f"{ui.label(row['scenario'] or row['task'])}, {row['leaf'] or row['sample_id']}"),
            anchor=False,
            width="content",
        )
        st.badge(ui.plain(ui.label(row["model"])), color="blue")
        if row["simulated"]:
            ui.badge("simulated")
    if answer.is_answer(whole):
        show_answer(view, whole)
        return
    card = REGISTRY[row["benchmark"]].card if row["benchmark"] in REGISTRY else None
    dialogue.headline(whole, card.leading if card else (), card.metrics if card else {})

    wrong = whole.traces.filter(~pl.col("error").is_in(["none", "unscored"]))
    first_wrong = wrong["turn"][0] if wrong.height else None
    said, about = st.columns([3, 2], gap="medium")
    with said:
        ui.transcript(
            whole.messages,
            turn=view.turn,
            after=lambda turn: dialogue.turn_card(whole, turn, view.turn, first_wrong),
        )
    with about, st.container(key="cx-about"):
        if card and "right" in card.metrics:
            answer.show_wrong(whole)
            answer.show_due(whole)
            answer.show_figures(whole, card.metrics)
        else:
            show_wrong(view, whole, wrong)
        dialogue.situation(whole)
        remarks.show_remarks(run_id, attempt_id, view.turn)
        dialogue.origin(whole)
    if view.turn is not None:
        dialogue.scroll_to(view.turn)


def show_wrong(view: View, whole: read.Whole, wrong: pl.DataFrame) -> None:
    """What went wrong turn by turn; a click goes there."""
    with st.container(border=True):
        st.markdown("**What went wrong**")
        if wrong.is_empty():
            st.caption("Nothing on the evaluated turns.")
        for trace in wrong.iter_rows(named=True):
            message = dialogue.agent_data(whole, trace["turn"])
            with st.container(gap=None):
                words = f"✕ Turn {trace['turn']}: {KINDS.get(trace['error'], trace['error'])}"
                if st.button(words, key=f"goto-{trace['turn']}", type="tertiary"):
                    browse.go(view.change(turn=int(trace["turn"]), page=view.page))
                ui.say(dialogue.explain_trace(trace, message))


view = ui.view()
opened = view.opened
if opened:
    show_one(view, *opened)
elif not ui.cached(read.health)["attempts"]:
    ui.header("Failures", "What goes wrong, and why?")
    ui.empty(
        "Here you would browse every dialogue that went wrong: grouped by what they have in common, and each "
        "in full with "
        "what was expected beside what was given. There are no dialogues in this store yet.",
        "Build the demo",
        lambda: ui.open_page("run", View()),
        "python -m cxlab demo",
    )
else:
    show_list(view)
