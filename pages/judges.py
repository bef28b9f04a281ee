"""Judges: do the judges agree, and does it matter?"""

import streamlit as st

from cxlab import jobs, llm, read, ui
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.mmtaup2.evaluation import judged_metrics as judging
from cxlab.benchmarks.mmtaup2.evaluation import rubric_versions
from cxlab.read import View
from cxlab.ui import path_strips
from cxlab.views.benchmarks import declared, declared_all, usable_facets
from cxlab.views.judges import (
    adjudication_queue,
    agreement,
    bias,
    escalation,
    materiality,
    measured_vs_judged,
    queries_agreement,
)
from cxlab.views.judges import queries_escalation as escalations

ui.routed()

TABS = {
    "agreement": "Agreement",
    "matters": "Does it matter",
    "strict": "Strictness",
    "gold": "Against the truth",
    "judged": "Measured or judged",
    "escalation": "Escalation",
    "twice": "Twice the same",
    "queue": "Disagreements",
}


def show_page(view: View) -> None:
    """The panel, then one question at a time."""
    about = declared_all(ui.cached(read.benchmarks)["benchmark"].to_list(), union=True)
    facets = [name for name in usable_facets(about) if about.identifying is None or name != about.identifying.id]
    view = ui.sidebar_filters(view, ["models", *facets, "runs"], about)
    view = view.change(metric=declared("sage").card.headline, page=view.page)
    filters = view.filters().change(judges=())
    path_strips.style()
    votes = ui.cached(queries_agreement.panel, filters)
    if votes["judge"].str.starts_with("simulated:").any():
        st.caption(
            "The judges of the demo are simulated (◇): they show what the page does, not how language models judge."
        )
    tab = pick_tab(view)
    if tab in ("judged", "escalation"):
        with st.container(key="cx-wide"):
            if tab == "judged":
                measured_vs_judged.show_judged(filters, judging.values, REGISTRY["mmtaup2"].card.metrics)
            else:
                escalation.show_escalation(filters, make_desk())
        return
    if votes.is_empty():
        st.info("No judge has voted under these filters. Clear one of them in the sidebar.")
        return
    agreement.show_figures(filters, votes)
    names = votes["judge"].to_list()
    with st.container(key="cx-wide"):
        show_tab(view, filters, names, tab)


def make_desk() -> escalation.RuleActions:
    """What can be done about the rule: add a version, ask judges, watch that."""

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
    return escalation.RuleActions(
        rules=rubric_versions.rules(),
        file=str(rubric_versions.own_file()),
        judges=known,
        jobs=[each.id for each in shown],
        busy=any(each.state == "running" for each in shown),
        add=rubric_versions.add,
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
        adjudication_queue.show_queue(view)


def pick_tab(view: View) -> str:
    """Which question is shown; part of the address."""
    st.session_state["judges-tab"] = view.tab if view.tab in TABS else "agreement"
    st.segmented_control(
        "Question",
        list(TABS),
        format_func=TABS.__getitem__,
        key="judges-tab",
        required=True,
        label_visibility="collapsed",
        on_change=lambda: ui.set_view(ui.view().change(tab=st.session_state["judges-tab"], page=1, field="")),
    )
    return str(st.session_state["judges-tab"])


view = ui.view()
ui.header("Judges", "Do the judges agree, and does it matter?")
if not ui.cached(read.health)["votes"] and ui.cached(escalations.sources, View()).is_empty():
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
