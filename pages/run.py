"""Run: evaluate now."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from cxlab import jobs, llm, ui
from cxlab.benchmarks import REGISTRY
from cxlab.runner.arguments import foresee, to_arguments
from cxlab.runner.estimate import estimate
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest
from cxlab.store import write
from cxlab.ui.choices import LARGEST, choose_ids
from cxlab.ui.labels import label_judge
from cxlab.views.benchmarks import declared, names_of
from cxlab.views.run import run_form
from cxlab.views.run.cost_by_role import show_foreseen, show_roles
from cxlab.views.run.history import show_history
from cxlab.views.run.real_models import offer_real
from cxlab.views.run.told import call_job, is_in_sight, keep_in_sight, show_results
from cxlab.views.switches import fill_in

ui.routed()


def choose_order() -> RunRequest:
    """The form: what to run, who takes part, and the limits."""
    names = names_of(REGISTRY)
    benchmark = REGISTRY[ui.choose_id("bench", "Benchmark", list(REGISTRY), names.__getitem__, named="benchmark")]
    card = benchmark.card
    rows = sorted(llm.known(card.id), key=lambda row: row.rank)
    # A model that has no role of its own can take any.
    able = {role: [row.name for row in rows if row.role in ("", role)] for role in ("agent", "judge")}
    real = [row.name for row in rows if not row.role]
    agents = [row.name for role in benchmark.model_roles for row in llm.known_as(role)]
    agents += able["agent"] if "agent" in benchmark.model_roles else []
    st.caption(ui.plain(f"{card.title}. {card.measures}"))
    every = {each.id: each for each in write.list_datasets()}
    stored = {name: each for name, each in every.items() if each.benchmark == card.id}
    dataset_id = run_form.choose_dataset(card.id, stored, benchmark.own_data, every)
    offered = st.container()
    tip = "One run each, on the same samples. Type any other name as KIND:NAME, for example endpoint:local/my-model."
    models = choose_ids("agents", "Models to evaluate", agents, ui.label, benchmark.default_models, tip)
    known = dataset_id or benchmark.own_data
    facets = ui.cached(run_form.list_facets, card.id, dataset_id) if known else {}
    where = run_form.narrow(declared(card.id), facets)
    judges: list[str] = []
    if benchmark.needs_judges or benchmark.default_judges:
        tip = "Each judges by itself; what they say is put to the vote."
        judges = choose_ids("judges", "Judges", able["judge"], label_judge, benchmark.default_judges, tip)
    # What was set stays in sight when the page runs anew.
    with st.expander("Limits and set-up", expanded=bool(run_form.LIMITS & set(st.query_params))):
        a, b, c = st.columns(3)
        spread = [facet.title.lower() for facet in benchmark.facets if facet.spread]
        tip = f"Spread over {', '.join(spread)}." if spread else "The first ones of the dataset."
        with a:
            limit = ui.choose_number("limit", "Samples at most", 1, LARGEST, None, help=tip, placeholder="all")
        tip = "Several trials show how steady a model is."
        with b:
            trials = ui.choose_number("trials", "Trials of each", 1, 100, 1, help=tip) or 1
        with c:
            seed = ui.choose_number("seed", "Seed", 0, LARGEST, 0, help="Same seed, same samples and customers.") or 0
        tip = "USD a run. It stops cleanly when this is spent, and can be resumed."
        with a:
            budget = ui.choose_number("budget", "Budget", 0.01, 1e6, None, help=tip, placeholder="none")
        with b:
            together = ui.choose_number("at_once", "Samples at once", 1, 512, 32) or 32
        customer = None
        if benchmark.with_customer:
            players = [benchmark.default_customer, *real]
            # Over the whole width: a third of it cuts what models are called.
            customer = ui.choose_id("customer", "Customer played by", list(dict.fromkeys(players)), ui.label)
        cache = st.checkbox("Reuse replies that were paid for before", key="cache", bind="query-params")
    offer_real(offered, benchmark, [row.name for row in rows if row.rank == 0], [*models, *judges, customer or ""])
    switches = benchmark.Options.switches()
    options: dict[str, Any] = {}
    if switches:
        few = sum(switch.on_page for switch in switches) <= 6
        with st.expander(f"Switches of {ui.plain(card.name)}", expanded=few):
            options = fill_in(switches)
    return RunRequest(
        card.id, tuple(models), customer, tuple(judges), dataset_id, SampleFilter(limit, where),
        trials=trials, seed=seed, options=options, concurrency=together, budget_usd=budget, cache=cache,
    )  # fmt: skip


def show_estimate(order: RunRequest) -> None:
    """What it will take, and the button that starts it."""
    problem, rows = foresee(order, partial(ui.cached, estimate))
    with st.container(border=True):
        ui.section("What it will take")
        if problem:
            st.warning(ui.plain(problem))
        if rows:
            show_foreseen(rows, REGISTRY[order.benchmark].card.unit[1].capitalize())
            show_roles(share for row in rows for share in row.roles)
        if st.button("Run evaluation", type="primary", disabled=bool(problem), width="stretch", key="start"):
            keep_in_sight(jobs.start(to_arguments(order)).id)
            st.rerun()
        with st.expander("The same on the command line", type="compact"):
            ui.show_code("python -m cxlab " + " ".join(to_arguments(order)))


def cancel(job: str) -> None:
    """Cancel a job, which stays in sight with what is left of it."""
    jobs.cancel(job)
    keep_in_sight(job)


def resume(runs: Sequence[str], *how: str) -> None:
    # A demo that was killed before it had made a run goes on as a demo.
    words = ["run", *(f"--resume={run}" for run in runs), *how, "--quiet"] if runs else ["demo"]
    keep_in_sight(jobs.start(words).id)
    st.session_state["run-started"] = True
    st.rerun()


ui.keep_form()
ui.header("Run", "Evaluate now: which models, on what, and at what cost?")
# Datasets and indexes have pages of their own; of what was killed, the last stays until it is resumed.
elsewhere = ("generate", "import", "index", "send")
for place, each in enumerate(each for each in jobs.list_jobs() if each.kind not in elsewhere):
    kept = is_in_sight(each.id) or (not place and each.state == "stalled")
    if each.state == "running" or kept:
        ui.show_job(partial(jobs.find_job, each.id), cancel, resume, call_job(each), show_results)
if st.session_state.pop("run-started", False):
    # Resume stands at the foot of the page, out of sight of the bar.
    st.toast("Started: its bar stands at the top of this page.", icon=":material/play_circle:")
form, costs = st.columns([3, 2], gap="large")
with form:
    ordered = choose_order()
with costs:
    show_estimate(ordered)
show_history(resume, lambda runs: resume(runs, "--faults"))
