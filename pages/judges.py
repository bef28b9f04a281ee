"""Judges: what do they disagree on, and does it matter?"""

import streamlit as st

from cxlab import jobs, llm, read, ui
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Rejudge
from cxlab.read import View, decisions
from cxlab.ui import app_frame, path_strips
from cxlab.views.benchmarks import declared_all, in_order, leave_out_floors, names_of
from cxlab.views.comparison_sets import narrow_to_set
from cxlab.views.escalation import escalation
from cxlab.views.escalation.judging_jobs import JudgingJobs
from cxlab.views.glossary import show_words
from cxlab.views.judges import agreement, bias, leave_out, materiality, queries_review, review
from cxlab.views.judges.slices import choose_panel, find_slices
from cxlab.views.judges.verdicts import page as verdicts
from cxlab.views.report_button import offer_report_of

ui.routed()

TABS = {
    "review": "Review", "agreement": "Agreement", "bias": "Bias", "changes": "What it changes", "verdicts": "Verdicts",
}  # fmt: skip
# What older links call them, and what they had open there.
OLDER = {
    "queue": ("review", ""), "matters": ("changes", ""), "twice": ("agreement", ""), "strict": ("bias", ""),
    "gold": ("bias", "truth"), "judged": ("bias", "log"), "escalation": ("bias", "escalation"),
}  # fmt: skip
# What shows a rule with versions, by the name that its benchmark declares.
RULES = {"escalation": escalation.show_escalation}


def list_rules() -> dict[str, Rejudge]:
    """The rules with versions that judges can be asked by anew, by the part of this page that shows them."""
    known = [rejudge for name in REGISTRY if (rejudge := REGISTRY[name].rejudge)]
    return {rejudge.view: rejudge for rejudge in known if rejudge.view in RULES}


def show_page(view: View, judged: list[str]) -> None:
    """One view of the panel at a time; nothing is worked out for the others."""
    tab = pick_tab(view)
    # Panels differ from benchmark to benchmark: disagreements are reviewed together, statistics are of one panel.
    choices = ["", *judged] if tab == "review" else judged
    with st.sidebar:
        benchmark = ui.choose(view, "benchmark", "Benchmark", choices, names={"": "all", **names_of(judged)})
    given = view.benchmark
    view = view.change(benchmark=benchmark, page=view.page)
    about = declared_all([benchmark] if benchmark else judged, union=True)
    slices = find_slices(about, [benchmark] if benchmark else judged)
    view = ui.sidebar_filters(view, slices.list_filters(view, bool(benchmark) or len(judged) == 1), about)
    # No reading of this page depends on the metric that another page was left with; what was read serves for all.
    filters = leave_out_floors(view.filters().change(judges=(), metric=""), about)
    path_strips.style()
    if not app_frame.is_large():
        with head:
            reviewed = not ui.cached(decisions.decisions).is_empty()
            offer_report_of("judges", view, [benchmark] if benchmark else judged, reviewed)
    if tab == "review":
        if not app_frame.is_large():
            leave_out.show_findings(view, [benchmark] if benchmark else judged)
        review.show_review(view, about, slices.facets)
        return
    with st.container(key="cx-wide"):
        if not given and len(judged) > 1:
            told = f"Of {names_of(judged)[benchmark]} alone, as each benchmark has a panel of its own"
            st.caption(ui.plain(f"{told}; another is chosen in the sidebar, and Review has all."))
        filters = choose_panel(filters)
        if tab == "agreement":
            agreement.show_agreement(view, filters, slices)
        elif tab == "bias":
            rules = {name: each.title for name, each in list_rules().items()}
            bias.show_bias(view, filters, slices, rules, show_rule, OLDER.get(view.tab, ("", ""))[1])
        elif tab == "verdicts":
            verdicts.show_verdicts(view, filters, slices)
        else:
            # Here models are ranked: under the same conditions, and on what all of them tried.
            materiality.show_changes(filters, narrow_to_set(filters, [benchmark]), slices)


def show_rule(name: str, filters: View) -> None:
    """What came of the versions of a rule, of the benchmark that has it."""
    owner = next(each for each in REGISTRY if (rejudge := REGISTRY[each].rejudge) and rejudge.view == name)
    RULES[name](filters.change(benchmark=owner), list_jobs())


def list_jobs() -> JudgingJobs:
    """Who can be asked, the jobs that ask, and how to start one."""

    def start(arguments: list[str]) -> None:
        jobs.start(arguments)
        st.rerun()

    # The latter is what it was called first.
    asked = [each for each in jobs.list_jobs() if each.kind in ("rejudge", "patch")]
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


def pick_tab(view: View) -> str:
    """Which view is shown; part of the address."""
    tab, _ = OLDER.get(view.tab, (view.tab, ""))
    st.session_state["judges-tab"] = tab if tab in TABS else "review"
    st.segmented_control(
        "View",
        list(TABS),
        format_func=TABS.__getitem__,
        key="judges-tab",
        required=True,
        label_visibility="collapsed",
        on_change=lambda: ui.set_view(
            ui.view().change(tab=st.session_state["judges-tab"], page=1, field="", judges=(), attempt="", turn=None)
        ),
    )
    return str(st.session_state["judges-tab"])


view = ui.view()
badges: list[ui.Badge] = ["simulated"] if ui.cached(queries_review.has_simulated_judges) else []
head = app_frame.show_head("Judges", "What do the judges disagree on, and does it matter?", badges)
stored = ui.cached(read.benchmarks)["benchmark"].to_list()
voted = ui.cached(queries_review.benchmarks)
judgeable = [name for name in stored if name in REGISTRY and (REGISTRY[name].rejudge or REGISTRY[name].judged)]
if voted or judgeable:
    show_words("judges")
    show_page(view, in_order({*voted, *judgeable}))
else:
    ui.empty(
        "Here you would see what judges disagree on, decide it yourself, and read what your decisions change in the "
        "scores; how far judges agree beyond chance, and who leans where. No judge has voted in this store yet.",
        "Start a run with judges",
        lambda: ui.open_page("run", View()),
        "python -m cxlab demo",
    )
