"""Compare: which model, and is the difference real?"""

import polars as pl
import streamlit as st

from cxlab import read, ui
from cxlab.read import View
from cxlab.read.results.headlines import candidates, first_scored
from cxlab.records.metric_names import name_metric
from cxlab.views import comparison_sets
from cxlab.views.benchmarks import declared, titles_of, usable_facets
from cxlab.views.compare import comparison, queries
from cxlab.views.compare.decision_card import show_decision
from cxlab.views.compare.looks import choose_look
from cxlab.views.compare.no_published import has_published
from cxlab.views.compare.other_tasks import show_other_tasks
from cxlab.views.compare.samples import show_samples
from cxlab.views.compare.side_by_side import show_side_by_side
from cxlab.views.compare.sides import choose_baseline, choose_unit, names_of, show_runs_left_out, show_what_differs
from cxlab.views.compare.task_costs import show_costs, show_repeated
from cxlab.views.compare.verdicts import show_audit, show_owners
from cxlab.views.glossary import show_words
from cxlab.views.report_button import offer_report

ui.routed()
ui.header("Compare", "Which model, and is the difference real?")
view = ui.view()
benchmarks = ui.cached(read.benchmarks)["benchmark"].to_list()
if not benchmarks:
    ui.empty(
        "Once two models have run on the same samples, this page sets them side by side and says which "
        "differences are real.",
        command="python -m cxlab demo",
    )
    ui.link("Start an evaluation", "run")
    st.stop()

with st.sidebar:
    benchmark = benchmarks[0]
    if len(benchmarks) > 1:
        benchmark = ui.choose(view, "benchmark", "Benchmark", benchmarks, names=titles_of(benchmarks))
about = declared(benchmark, view.lead)
card, facets = about.card, usable_facets(about)
view = view.change(benchmark=benchmark)
tasks = {task.id: task for task in card.tasks}
several = len(tasks) > 1
if several:
    # Each task has figures of its own: one task at a time, led by its main figure.
    stored = ui.cached(read.facets, View(benchmark=benchmark), ("tasks",))["value"].to_list()
    tasks = {name: task for name, task in tasks.items() if name in stored} or tasks
    named = tasks.keys() & set(view.tasks)
    wanted = view if named else view.narrow(tasks=[comparison_sets.find_telling_task(benchmark)])
    with st.sidebar:
        names = {name: task.title for name, task in tasks.items()}
        task = tasks[
            ui.choose(wanted, "tasks", "Task", list(tasks), names=names) if len(tasks) > 1 else next(iter(tasks))
        ]
    view = view.change(tasks=(task.id,), page=view.page)
scored = View(benchmark=benchmark, tasks=view.tasks if several else ())
metrics = ui.cached(read.metric_names, scored)["metric"].to_list()
if view.metric not in metrics:
    usual = candidates(about, task.id if several else card.tasks[0].id) if card.tasks else (card.headline,)
    view = view.change(metric=first_scored(usual, metrics.__contains__), page=view.page)
view = ui.sidebar_filters(view, ["models", *facets, "runs"], about, metric=True, metrics=metrics)
asked = view
with st.container(horizontal=True, vertical_alignment="bottom"):
    view, unit = choose_unit(comparison_sets.leave_out_marked(asked))
    scope = view.filters()
    compared = ui.cached(queries.compared, scope, unit)
    comparison_sets.choose_lead(benchmark)
    comparison_sets.choose_set(compared, benchmark)
ranking = ui.cached(queries.ranked, scope, unit)
if ranking is not None and ranking.table.height == 1 and ranking.floors.height and unit == "model" and not scope.models:
    # Nothing else to compare with: then a constant agent is a side like any other.
    scope = scope.change(models=(ranking.leader, *ranking.floors["side"]))
    compared, ranking = ui.cached(queries.compared, scope, unit), ui.cached(queries.ranked, scope, unit)
    st.caption("One model alone has been evaluated here: beside it stand constant agents, which nobody should lose to.")
if ranking is None or ranking.table.height < 2:
    comparison.show_too_few(about, ranking, scope)
    comparison_sets.offer_marked(compared, [], about)
    st.stop()
board = ui.cached(queries.sides, scope, unit)
named = names_of(about, board, unit)
title = name_metric(scope.metric)
with st.sidebar:
    baseline = choose_baseline(about, view, unit, named)
show_words("compare", [about])
decided = ui.cached(queries.decided, scope, unit, baseline)
assert decided is not None  # two sides stand in the ranking
alone = several and len(tasks) > 1
if alone:
    show_other_tasks(about, ranking.task.id, scope, unit, compared.conditions)
corrected = show_decision(about, ranking, compared.conditions, decided, board, title, named, scope, unit, alone)
comparison_sets.tell_standing(about, compared, [ranking], "compare", lambda side: named.get(side, ui.label(side)))
if unit == "run_id":
    show_runs_left_out(about, asked)
    show_what_differs(about, list(named), named)
offer_report("compare", [(about, scope, unit)], reviewed=corrected is not None)

order = list(named)
with st.sidebar:
    meaning = card.metrics.get(scope.metric, "no definition is noted")
    less = " Less is better." if scope.metric in card.lower_is_better else ""
    st.caption(f"**{ui.plain(title)}**: {ui.plain(meaning)}{less}")
    beside = has_published(benchmark) and st.toggle(
        "Show published figures", key="compare-published", help="Other data and judges: to look at, not to pair."
    )
shown = list(dict.fromkeys([*order[: queries.MOST_SIDES], baseline]))
if len(order) > queries.MOST_SIDES:
    st.caption(f"Below the first {queries.MOST_SIDES} of {len(order)}; choose in the sidebar which ones.")
named = {side: name for side, name in named.items() if side in shown}
board = board.filter(pl.col("side").is_in(shown))

groups = comparison.list_groups(about, scope, unit, facets)
by = ui.choose(view, "field", "Side by side", list(groups), names=groups, style="segments") if len(groups) > 1 else ""
grouped = comparison.show_scores(about, scope, unit, by, title, named, beside, decided, corrected)
if by or baseline != ranking.leader:
    gaps = ui.cached(queries.differences, scope, baseline, unit, by, tuple(named), grouped.least)
    comparison.show_gaps(about, gaps, unit, by, title, named, baseline, grouped)

st.divider()
tab = choose_look(card, board, view)
if tab == "profile":
    comparison.show_profile(about, scope, unit, named)
elif tab == "front":
    comparison.show_front(about, board, unit, ranking, title, named)
    if several:
        show_costs(scope.change(tasks=()), {name: task.title for name, task in tasks.items()})
elif tab == "owners":
    show_owners(about, scope, unit, named)
elif tab == "labels":
    show_audit(about, scope, unit, named)
elif tab == "history":
    comparison.show_history(about, scope, unit, title, named)
elif tab == "trials":
    comparison.show_trials(about, scope, unit, named)
    if (moves := ui.cached(queries.repeated, scope, unit).filter(pl.col("side").is_in(shown))).height:
        show_repeated(moves, title, named)
else:
    other = show_samples(about, scope, view, unit, list(named), baseline, title, named)
    if view.opened:
        # An address may name an attempt of the baseline itself: then it stands beside the other side's.
        every = View(benchmark=benchmark)
        found = (ui.cached(queries.counterpart, every, *view.opened, side, unit) for side in (baseline, other))
        if counterpart := next((each for each in found if each and each != view.opened), None):
            show_side_by_side(about, view.opened, counterpart)
