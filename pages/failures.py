"""Failures: what goes wrong, and why?"""

import streamlit as st

from cxlab import read, ui
from cxlab.read import View, failures
from cxlab.read.word_search.attempts import find_attempts
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.looked_for import say_search
from cxlab.ui.saved_filters import show_saved_filters
from cxlab.views.benchmarks import declared_all, leave_out_floors, names_of, usable_facets
from cxlab.views.failures import attempt, attempt_list, attempt_set, groups, labels_to_check
from cxlab.views.glossary import show_words

ui.routed()


LOOKS = {"": "What fails", "labels": "Labels to check"}


def show_list(view: View, about: Declaration) -> None:
    """What goes wrong under the filters: groups, then attempts; or where the label may be wrong instead."""
    if view.blind != "yes":
        ui.choose(view, "tab", "Look at", list(LOOKS), names=LOOKS, style="segments")
    if view.tab == "labels" and view.blind != "yes":
        tasks = ["tasks"] if len(about.card.tasks) > 1 else []
        view = ui.sidebar_filters(view, [*tasks, *usable_facets(about), "runs"], about)
        ui.show_active(view, about)
        labels_to_check.show_labels(view, about)
        return
    tasks = ["tasks"] if len(about.card.tasks) > 1 else []
    # A facet that the address narrows is there to be cleared, whichever benchmark has declared it.
    facets = dict.fromkeys([*usable_facets(about), *(name for name, _ in view.facets)])
    blind = view.blind == "yes"
    telling = [] if blind else ["models", "errors", "owners", "splits", "ends", "runs"]
    if view.reasons and not blind:
        telling.append("reasons")
    filters = [*telling[:1], *tasks, *facets, *telling[1:], "tags", "written"]
    attempt_list.choose_blind(view)
    attempt_list.choose_floors(view, about)
    attempt_set.tell_shared(view)
    floors = () if view.floors == "shown" else about.floor_models
    listed = attempt_list.choose_metric(view, about)
    view = ui.sidebar_filters(listed, filters, about, search=True, without=floors)
    with st.sidebar:
        show_saved_filters("failures", view)
    view = leave_out_floors(attempt_list.choose_metric(view, about), about)
    ui.show_active(view, about, attempt_list.TELLING_FILTERS if blind else ())
    if view.search:
        unit = "message" if view.speaker else "message or note"
        found = find_attempts(view.search, view.speaker)
        say_search(view.search, found.terms, found.forms, found.attempts.rows.height > 0, unit)
    if blind:
        attempt_list.show_attempts(attempt_list.scope_of(view), about)
        return
    # The numbers beside the choice of what is listed are the same for each choice.
    counts = ui.cached(failures.counts, view.change(attempt="", turn=None, order="", page=1, verdict=""))
    attempt_list.show_counts(view, about, counts)
    view = attempt_list.choose_verdict(view, counts)
    filters_ = view.change(attempt="", turn=None, order="", page=1)
    groups.show_groups(
        view, about, ui.cached(failures.groups, filters_.change(alike=""), full=groups.weighed_by(view, about))
    )
    groups.show_on_the_way(view, about, counts)
    attempt_list.show_attempts(view, about)


def choose_benchmark(view: View) -> tuple[View, Declaration]:
    """One benchmark or all, where the store has several; what is declared of them."""
    known = ui.cached(read.benchmarks)["benchmark"].to_list()
    picked = known[0] if len(known) == 1 else ""
    if len(known) > 1:
        with st.sidebar:
            names = {"": "all benchmarks"} | names_of(known)
            picked = ui.choose(view, "benchmark", "Benchmark", list(names), names=names)
    return view.change(benchmark=picked, page=view.page), declared_all([picked] if picked else known)


view = ui.view()
opened = view.opened
if opened:
    attempt.show_one(view, *opened)
else:
    ui.header("Failures", "What goes wrong, and why?")
    show_words("failures")
    if ui.cached(read.health)["attempts"]:
        show_list(*choose_benchmark(view))
    else:
        ui.empty(
            "Here you would browse every attempt that went wrong: grouped by what they have in common, and each in "
            "full with what was expected beside what was given. There are no dialogues in this store yet.",
            "Build the demo",
            lambda: ui.open_page("run", View()),
            "python -m cxlab demo",
        )
