"""Judges: do the judges agree, and does it matter?"""

import streamlit as st

from cxlab import jobs, llm, read, ui
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Rejudge
from cxlab.read import View
from cxlab.ui import path_strips
from cxlab.views.benchmarks import declared, declared_all, names_of, usable_facets
from cxlab.views.comparison_sets import narrow_to_set
from cxlab.views.escalation import escalation
from cxlab.views.judges import (
    adjudication_queue,
    agreement,
    bias,
    materiality,
    measured_vs_judged,
    queries_agreement,
)
from cxlab.views.judges.judging_jobs import JudgingJobs

ui.routed()

TABS = {
    "agreement": "Agreement",
    "matters": "Does it matter",
    "strict": "Strictness",
    "gold": "Against the truth",
    "judged": "Measured or judged",
    "twice": "Twice the same",
    "queue": "Disagreements",
}
# These pair what was done twice, so that all of it counts.
POOLED = ("judged", "twice")
# What shows a rule with versions, by the name that its benchmark declares.
RULES = {"escalation": escalation.show_escalation}


def list_rules() -> dict[str, Rejudge]:
    """The rules with versions that judges can be asked by anew, by the part of this page that shows them."""
    known = [rejudge for name in REGISTRY if (rejudge := REGISTRY[name].rejudge)]
    return {rejudge.view: rejudge for rejudge in known if rejudge.view in RULES}


def list_tabs() -> dict[str, str]:
    """The questions of this page: those of every benchmark, and each rule's before the last two."""
    titles = list(TABS.items())
    return dict([*titles[:-2], *((view, rejudge.title) for view, rejudge in list_rules().items()), *titles[-2:]])


def show_page(view: View) -> None:
    """The panel, then one question at a time."""
    about = declared_all(ui.cached(read.benchmarks)["benchmark"].to_list(), union=True)
    facets = [name for name in usable_facets(about) if about.identifying is None or name != about.identifying.id]
    view = ui.sidebar_filters(view, ["models", *facets, "runs"], about)
    # No reading of this page depends on the metric that another page was left with; what was read serves for all.
    filters = view.filters().change(judges=(), metric="")
    path_strips.style()
    tab = pick_tab(view)
    if tab not in POOLED and tab not in RULES:
        stored = ui.cached(read.benchmarks)["benchmark"].to_list()
        filters = narrow_to_set(filters, [name for name in stored if name in REGISTRY])
    votes = ui.cached(queries_agreement.panel, filters)
    if votes["judge"].str.starts_with("simulated:").any():
        st.caption(
            "The judges of the demo are simulated (◇): they show what the page does, not how language models judge."
        )
    if tab == "judged":
        show_judged(filters)
        return
    if tab in RULES:
        with st.container(key="cx-wide"):
            RULES[tab](filters, list_jobs())
        return
    if votes.is_empty():
        st.info("No judge has voted under these filters. Clear one of them in the sidebar.")
        return
    agreement.show_figures(filters, votes)
    names = votes["judge"].to_list()
    with st.container(key="cx-wide"):
        show_tab(view, filters, names, tab)


def show_judged(filters: View) -> None:
    """What is measured and judged, of one benchmark at a time."""
    known = {name: judged for name in REGISTRY if (judged := REGISTRY[name].judged)}
    if not known:
        st.info("No benchmark here has metrics that are measured and judged as well.")
        return
    names = names_of(known)
    name = next(iter(known))
    if len(known) > 1:
        name = ui.choose_id("judged-of", "Benchmark", list(known), names.__getitem__, named="benchmark")
    with st.container(key="cx-wide"):
        measured_vs_judged.show_judged(filters, declared(name), known[name])


def list_jobs() -> JudgingJobs:
    """Who can be asked, the jobs that ask, and how to start one."""

    def start(arguments: list[str]) -> None:
        jobs.start(arguments)
        st.rerun()

    asked = [
        each for each in jobs.list_jobs() if each.kind in ("rejudge", "patch")
    ]  # the latter is what it was called first
    # One that was stopped stays to be resumed until another one has been started.
    shown = [
        each for place, each in enumerate(asked) if each.state == "running" or (not place and each.state != "done")
    ]
    known = [row.name for row in llm.known() if "judge" in row.name or not row.name.startswith("simulated:")]
    return JudgingJobs(
        judges=known,
        jobs=[each.id for each in shown],
        busy=any(each.state == "running" for each in shown),
        ask=start,
        look=jobs.find_job,
        cancel=jobs.cancel,
        again=lambda job_id: start(list(jobs.find_job(job_id).args)),
    )


def show_tab(view: View, filters: View, names: list[str], tab: str) -> None:
    """The section that is picked."""
    if len(names) < 2 and tab in ("agreement", "matters"):
        st.info(
            "There is one judge only; agreement needs two. "
            "Add judges with `python -m cxlab score RUN --judge A --judge B`."
        )
    elif tab == "agreement":
        agreement.show_agreement(filters.change(field=view.field, judges=view.judges), names)
    elif tab == "matters":
        materiality.show_materiality(filters)
    elif tab == "strict":
        bias.show_strictness(filters)
    elif tab == "gold":
        bias.show_gold(filters.change(field=view.field))
    elif tab == "twice":
        bias.show_retest(filters)
    else:
        adjudication_queue.show_queue(view.change(among=filters.among, page=view.page))


def pick_tab(view: View) -> str:
    """Which question is shown; part of the address."""
    tabs = list_tabs()
    st.session_state["judges-tab"] = view.tab if view.tab in tabs else "agreement"
    st.segmented_control(
        "Question",
        list(tabs),
        format_func=tabs.__getitem__,
        key="judges-tab",
        required=True,
        label_visibility="collapsed",
        on_change=lambda: ui.set_view(ui.view().change(tab=st.session_state["judges-tab"], page=1, field="")),
    )
    return str(st.session_state["judges-tab"])


view = ui.view()
ui.header("Judges", "Do the judges agree, and does it matter?")
stored = ui.cached(read.benchmarks)["benchmark"].to_list()
judgeable = any(REGISTRY[name].rejudge or REGISTRY[name].judged for name in stored if name in REGISTRY)
if not ui.cached(read.health)["votes"] and not judgeable:
    ui.empty(
        "Here you would see how far the judges agree beyond chance, on how many turns a split changes what "
        "would have been "
        "right, who grades strictly or favours its own family, and a queue of disagreements to decide. No "
        "judge has voted in "
        "this store yet.",
        "Start a run with judges",
        lambda: ui.open_page("run", View()),
        "python -m cxlab demo",
    )
else:
    show_page(view)
