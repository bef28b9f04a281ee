"""SOP paths: where do agents leave the procedure?"""

import polars as pl
import streamlit as st

from cxlab import read, ui
from cxlab.charts.numbers import format_count
from cxlab.read import View, procedures
from cxlab.ui import app_frame
from cxlab.ui.unknown import describe, stop_at
from cxlab.views.benchmarks import declared, leave_out_floors, titles_of
from cxlab.views.comparison_sets import narrow_to_set
from cxlab.views.report_button import offer_report_of
from cxlab.views.sop import deviations, parts, procedures_overview, queries, scores

ui.routed()
TURNS = {
    "": "all evaluated turns",
    "1": "first turn",
    "5": "turn 5",
    "10": "turn 10",
    "15": "turn 15",
    "last": "last turn",
}
LOOKS = {
    "": "First divergence",
    "branches": "Branches",
    "variants": "Variants",
    "actions": "Actions",
    "coverage": "Coverage",
    "turns": "By turn",
    "levels": "By level",
    "parts": "Sub-metrics",
}

large = app_frame.is_large()
head = app_frame.show_head("SOP paths", "Where do agents leave the procedure?")
view = ui.view()
stored = ui.cached(read.benchmarks)["benchmark"].to_list()
having = [name for name in procedures.declared() if name in stored] or list(procedures.declared())
if len(having) > 1:
    with st.sidebar:
        benchmark = ui.choose(view, "benchmark", "Benchmark", having, names=titles_of(having))
else:
    (benchmark,) = having
FACET = procedures.facet_of(benchmark)
known = ui.cached(read.facets, View(benchmark=benchmark), ("models", FACET))
tested = known.filter(pl.col("name") == FACET)["value"].to_list()
# The smallest procedure first: it is the one to begin with.
usable = sorted(
    (name for name in procedures.ids() if name in tested),
    key=lambda name: (len(procedures.get(name).stages), name),
)
if not usable:
    ui.empty(
        "Once agents were compared with a procedure, this page shows it as a map: where they follow "
        "it, where they "
        "leave it, and which dialogues stand behind each step.",
        command="python -m cxlab demo",
    )
    ui.link("Start an evaluation", "run")
    st.stop()

asked = view.values(FACET)
if not set(asked) <= set(usable):
    # One of another benchmark may have come along from another page; any other there is not.
    every = ui.cached(read.facets, View(), (FACET,))["value"].to_list()
    lost = [describe("procedure", name) for name in asked if name not in every]
    stop_at(lost, lambda: ui.set_view(view.narrow(**{FACET: ()})))
models = [name for name in ui.marks() if name in known.filter(pl.col("name") == "models")["value"].to_list()]
with st.sidebar:
    titles = {"": "all of them", **{name: procedures.get(name).title for name in usable}}
    scenario = ui.choose(view, FACET, "Procedure", ["", *usable] if len(usable) > 1 else usable, names=titles)
    at = ui.choose(
        view, "at", "Turns", list(TURNS), names=TURNS, help="Turns 1, 5, 10, 15 and the last one are evaluated."
    )
    against = scenario and ui.choose(
        view,
        "baseline",
        "Show the difference from",
        ["", *models],
        names={"": "off", **{name: ui.label(name) for name in models}},
        help="The map then shows the first chosen model minus this one.",
    )
    compared = st.empty()
view = view.narrow(**{FACET: (scenario,) if scenario else ()}).change(
    benchmark=benchmark, at=at, baseline=against if against in models else ""
)
card = declared(benchmark).card
if view.metric not in card.metrics:
    view = view.change(metric=card.headline, page=view.page)
metric = view.tab in ("coverage", "turns", "levels")
view = ui.sidebar_filters(view, ["models", "level", "runs"], declared(benchmark), metric=metric)
difference = None
if view.baseline:
    first = next((name for name in (*view.models, *models) if name != view.baseline), None)
    difference = (first, view.baseline) if first else None
if difference:
    compared.caption(f"Compared: {ui.plain(ui.label(difference[0]))} minus {ui.plain(ui.label(difference[1]))}.")
of = view.change(models=difference) if difference else view
if not large:
    with head:
        offer_report_of("sop_paths", of, [benchmark])
among = narrow_to_set(of, [benchmark]).filters()
shown = leave_out_floors(among, declared(benchmark)).change(at=view.at, stage=view.stage)
kept = ""
if large:
    with head:
        scenario, kept = procedures_overview.choose_for_audience(shown.change(tab=view.tab), FACET, usable)
    shown = shown.narrow(**{FACET: (scenario,) if scenario else ()})
if not scenario:
    procedures_overview.show_procedures(shown, FACET, usable, large)
    st.stop()
procedure = procedures.get(scenario)

split = ui.cached(queries.error_split, shown.change(stage=""))
turns = int(split.filter(~pl.col("error").is_in(["format", "unscored"]))["n"].sum())
if not turns:
    ui.empty("No turn of this selection could be compared with the procedure. Widen the filters.")
    st.stop()
others, models_shown = int(split["n"].sum()) - turns, split["model"].n_unique()
st.caption(
    f"{kept}{format_count(turns)} turns by {models_shown} model{'' if models_shown == 1 else 's'}. "
    f"{format_count(others)} more are not on the map: the reply could not be parsed, or the panel gave no reference."
)

deviations.show_map(shown, procedure, difference, large)
if large:
    st.stop()
deviations.show_quadrants(shown, procedure)
deviations.show_errors(shown, procedure)
st.divider()
tab = ui.choose(view, "tab", "Look closer", list(LOOKS), names=LOOKS, style="segments")
closer = {
    "": lambda: deviations.show_funnel(shown, procedure),
    "branches": lambda: deviations.show_branches(shown, procedure),
    "variants": lambda: deviations.show_variants(shown, procedure),
    "actions": lambda: deviations.show_flows(shown, procedure),
    "coverage": lambda: scores.show_coverage(shown),
    "turns": lambda: scores.show_by_turn(shown),
    "levels": lambda: scores.show_by_level(shown),
    "parts": lambda: parts.show_parts(shown),
}
closer[tab]()
scores.show_export(shown, procedure)
