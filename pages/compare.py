"""Compare: which model, and is the difference real?"""

import polars as pl
import streamlit as st

from cxlab import read, ui
from cxlab.read import View
from cxlab.read.tasks import repeated
from cxlab.views.benchmarks import declared, leave_out_floors, titles_of, usable_facets
from cxlab.views.compare import comparison, queries
from cxlab.views.compare.settings import show_settings
from cxlab.views.compare.side_by_side import show_side_by_side
from cxlab.views.compare.task_costs import show_costs, show_repeated

ui.routed()
LOOKS = {"": "Samples", "profile": "Profile", "front": "Quality and price", "trials": "Repeated trials"}
MOST = 6

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
about = declared(benchmark)
card, facets = about.card, usable_facets(about)
view = view.change(benchmark=benchmark)
tasks = {task.id: task for task in card.tasks}
several = len(tasks) > 1
if several:
    # Each task has figures of its own: one task at a time, led by its main figure.
    stored = ui.cached(read.facets, View(benchmark=benchmark), ("tasks",))["value"].to_list()
    tasks = {name: task for name, task in tasks.items() if name in stored} or tasks
    with st.sidebar:
        names = {name: task.title for name, task in tasks.items()}
        task = tasks[ui.choose(view, "tasks", "Task", list(tasks), names=names)]
    view = view.change(tasks=(task.id,), page=view.page)
scored = View(benchmark=benchmark, tasks=view.tasks if several else ())
metrics = ui.cached(read.metric_names, scored)["metric"].to_list()
if view.metric not in metrics:
    view = view.change(metric=task.metric if several else card.headline, page=view.page)
view = ui.sidebar_filters(view, ["models", *facets, "runs"], about, metric=True, metrics=metrics)
less_is_better = view.metric in card.lower_is_better
unit: queries.Unit = "model"
if len(view.runs) > 1 and len(view.models) < 2:
    unit = "run_id"  # several runs were picked by name: they are the sides, whatever models they are of
scope = leave_out_floors(view.filters(), about)
board = ui.cached(queries.sides, scope, unit)
if board.height < 2:  # nothing else to compare with: then a constant agent is a side like any other
    scope = scope.change(without=())
    board = ui.cached(queries.sides, scope, unit)
named = comparison.names_of(board, unit)
sides = [side for side in (*ui.marks(), *named) if side in named]
sides = list(dict.fromkeys(sides))[:MOST]
if len(sides) < 2:
    ui.empty("A comparison needs two models that were scored on this metric. Choose more models, or widen the filters.")
    st.stop()
if len(named) > MOST:
    st.caption(f"Showing {MOST} of {len(named)}; choose in the sidebar which ones.")
board = board.filter(pl.col("side").is_in(sides))
best = comparison.best_of(board, less_is_better)
title = ui.label(scope.metric)
with st.sidebar:
    order = [best, *(side for side in sides if side != best)]
    baseline = ui.choose(
        view, "baseline", "Compare with", order, names=named, help="The others are measured against this one."
    )
    meaning = card.metrics.get(scope.metric, "no definition is noted")
    st.caption(f"**{ui.plain(title)}**: {ui.plain(meaning)}" + (" Less is better." if less_is_better else ""))
    beside = st.toggle(
        "Show published figures", key="compare-published", help="Other data and judges: to look at, not to pair."
    )
floors = scope.change(models=scope.without, without=())
scope = scope.change(**{"models" if unit == "model" else "runs": tuple(sides)}, without=())

groups = comparison.list_groups(about, scope, facets)
by = ui.choose(view, "field", "Side by side", list(groups), names=groups, style="segments") if len(groups) > 1 else ""
show_settings(scope, unit, named)
gaps = ui.cached(queries.differences, scope, baseline, unit, by, less_is_better)
lines = comparison.means_of_floors(about, floors, by)
comparison.show_scores(about, scope, unit, by, title, named, gaps, baseline, beside, lines)
comparison.show_gaps(about, gaps, by, title, named, baseline)

st.divider()
# A profile sets the parts of a headline side by side, where the benchmark names them.
looks = [name for name in LOOKS if name != "profile" or card.parts]
tab = ui.choose(view, "tab", "Look closer", looks, names=LOOKS, style="segments")
if tab == "profile":
    comparison.show_profile(about, scope, unit, named)
elif tab == "front":
    comparison.show_front(about, board, scope.metric, title, named, less_is_better)
    if several:
        show_costs(scope.change(tasks=()), {name: task.title for name, task in tasks.items()})
elif tab == "trials":
    comparison.show_trials(about, scope, unit, named)
    if (moves := ui.cached(repeated, scope, unit)).height:
        show_repeated(moves, title, named)
else:
    other = comparison.show_samples(about, scope, view, unit, sides, baseline, title, named)
    if view.opened:
        # An address may name an attempt of the baseline itself: then it stands beside the other side's.
        every = View(benchmark=benchmark)
        found = (ui.cached(queries.counterpart, every, *view.opened, side, unit) for side in (baseline, other))
        if counterpart := next((each for each in found if each and each != view.opened), None):
            show_side_by_side(about, view.opened, counterpart)
