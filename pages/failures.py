"""Failures: what goes wrong, and why?"""

import streamlit as st

from cxlab import read, ui
from cxlab.benchmarks import REGISTRY
from cxlab.read import View, failures
from cxlab.views.failures import attempt, attempt_list

ui.routed()

FILTERS = ["models", "scenarios", "errors", "levels", "splits", "ends", "personas", "exposures", "runs"]
# Of benchmarks whose samples are answers and no dialogues.
ANSWER_FILTERS = ["models", "tasks", "errors", "levels", "runs"]
# Of dialogues that have a goal to reach.
GOAL_FILTERS = [
    "models", "tasks", "personas", "exposures", "modalities", "errors", "intents", "ends", "leaves", "runs",
]  # fmt: skip


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
    # The numbers beside the choice of what is listed are the same for each choice.
    counts = ui.cached(failures.counts, view.change(attempt="", turn=None, order="", page=1, verdict=""))
    attempt_list.show_counts(view, counts)
    view = attempt_list.choose_verdict(view, counts)
    filters = view.change(attempt="", turn=None, order="", page=1)
    attempt_list.show_groups(view, ui.cached(failures.groups, filters.change(alike="")))
    attempt_list.show_on_the_way(view, counts)
    attempt_list.show_attempts(view)


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


view = ui.view()
opened = view.opened
if opened:
    attempt.show_one(view, *opened, {name: (each.card.leading, each.card.metrics) for name, each in REGISTRY.items()})
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
