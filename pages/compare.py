"""Compare: which model, and is the difference real?"""

import polars as pl
import streamlit as st

from cxlab import read, ui
from cxlab.benchmarks import REGISTRY
from cxlab.read import View, scenarios
from cxlab.read.tasks import repeated
from cxlab.views.compare import comparison, queries, queries_score_sums
from cxlab.views.compare.side_by_side import show_side_by_side
from cxlab.views.overview.task_board import show_costs, show_repeated

ui.routed()
GROUPS = {
    "": "All together", "scenario": "By scenario", "level": "By level", "leaf": "By leaf", "task": "By task",
    "persona": "By persona", "exposure": "By what the agent was told", "modality": "By modality",
}  # fmt: skip
# Where a dialogue is played under terms, they say more than the level, which is the persona again.
TERMS = ["personas", "exposures", "modalities", "leaves"]
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
    if len(benchmarks) > 1:
        titles = {name: REGISTRY[name].card.title if name in REGISTRY else name for name in benchmarks}
        benchmark = ui.choose(view, "benchmark", "Benchmark", benchmarks, names=titles)
    else:
        benchmark = benchmarks[0]
view = view.change(benchmark=benchmark)
definitions = REGISTRY[benchmark].card.metrics if benchmark in REGISTRY else {}
tasks = {task.id: task for task in REGISTRY[benchmark].card.tasks} if benchmark in REGISTRY else {}
several = len(tasks) > 1
if several:
    # Each task has figures of its own: one task at a time, led by its main figure.
    stored = ui.cached(read.facets, View(benchmark=benchmark), ("tasks",))["value"].to_list()
    tasks = {name: task for name, task in tasks.items() if name in stored} or tasks
    with st.sidebar:
        titles = {name: task.title for name, task in tasks.items()}
        task = tasks[ui.choose(view, "tasks", "Task", list(tasks), names=titles)]
    view = view.change(tasks=(task.id,), page=view.page)
    known = ui.cached(read.metric_names, View(benchmark=benchmark, tasks=(task.id,)))["metric"].to_list()
    if view.metric not in known:
        view = view.change(metric=task.metric, page=view.page)
    narrow = TERMS if REGISTRY[benchmark].with_customer else ["levels"]
    view = ui.sidebar_filters(view, ["models", *narrow, "runs"], metric=True, metrics=known)
else:
    view = ui.sidebar_filters(view, ["models", "scenarios", "levels", "leaves", "runs"], metric=True)
unit: queries.Unit = "model"
if len(view.runs) > 1 and len(view.models) < 2:
    unit = "run_id"  # several runs were picked by name: they are the sides, whatever models they are of
scope = view.filters()
board = ui.cached(queries.sides, scope, unit)
named = comparison.names_of(board, unit)
sides = [side for side in (*ui.marks(), *named) if side in named]
sides = list(dict.fromkeys(sides))[:MOST]
if len(sides) < 2:
    ui.empty("A comparison needs two models that were scored on this metric. Choose more models, or widen the filters.")
    st.stop()
if len(named) > MOST:
    st.caption(f"Showing {MOST} of {len(named)}; choose in the sidebar which ones.")
best = comparison.best_of(board.filter(pl.col("side").is_in(sides)), scope.metric)
with st.sidebar:
    order = [best, *(side for side in sides if side != best)]
    baseline = ui.choose(
        view, "baseline", "Compare with", order, names=named, help="The others are measured against this one."
    )
    st.caption(
        f"**{ui.plain(ui.label(scope.metric))}**: {ui.plain(definitions.get(scope.metric, 'no definition is noted'))}"
    )
    beside = st.toggle(
        "Show published figures", key="compare-published", help="Other data and judges: to look at, not to pair."
    )
scope = scope.change(**{"models" if unit == "model" else "runs": tuple(sides)})

useful = [name for name in GROUPS if name not in ({"task", "level"} if several else set(queries_score_sums.TERMS))]
useful = [name for name in useful if comparison.is_useful(scope, name)]
by = ui.choose(view, "field", "Side by side", useful, names=GROUPS, style="segments") if len(useful) > 1 else ""
title = ui.label(scope.metric)
gaps = ui.cached(queries.differences, scope, baseline, unit, by)
comparison.show_scores(scope, unit, by, title, named, gaps, baseline, beside, scenarios.procedures())
comparison.show_gaps(gaps, by, title, named, baseline)

st.divider()
# A profile sets the parts of SAGE's scores side by side; tasks have none.
looks = [name for name in LOOKS if name != "profile" or not several]
tab = ui.choose(view, "tab", "Look closer", looks, names=LOOKS, style="segments")
if tab == "profile":
    comparison.show_profile(scope, unit, definitions, named)
elif tab == "front":
    comparison.show_front(board.filter(pl.col("side").is_in(sides)), scope.metric, title, named)
    if several:
        show_costs(scope.change(tasks=()), {name: task.title for name, task in tasks.items()})
elif tab == "trials":
    comparison.show_trials(scope, unit, named)
    if (moves := ui.cached(repeated, scope, unit)).height:
        show_repeated(moves, title, named)
else:
    other = comparison.show_samples(scope, view, unit, sides, baseline, title, named)
    if view.opened:
        # An address may name an attempt of the baseline itself: then it stands beside the other side's.
        every = View(benchmark=benchmark)
        found = (ui.cached(queries.counterpart, every, *view.opened, side, unit) for side in (baseline, other))
        if counterpart := next((each for each in found if each and each != view.opened), None):
            show_side_by_side(
                view.opened, counterpart, REGISTRY[benchmark].card.leading if benchmark in REGISTRY else ()
            )
