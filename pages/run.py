"""Run: evaluate now."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from cxlab import jobs, llm, ui
from cxlab.benchmarks import REGISTRY
from cxlab.charts.numbers import format_count, format_seconds, format_usd
from cxlab.runner.arguments import to_arguments, validate
from cxlab.runner.estimate import estimate
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest, parse_options
from cxlab.store import write
from cxlab.ui.choices import LARGEST
from cxlab.views.run import run_form
from cxlab.views.run.history import show_history

ui.routed()

JUDGES = ["simulated:judge-strict", "simulated:judge-lenient", "simulated:judge-partial"]
# What the two facets of a sample mean, for benchmarks with and without a customer who talks.
FACETS = {
    True: ("Scenarios", "Adversarial levels", "How hard the customer makes it."),
    False: ("Tasks", "Taxonomies", "Of the task intent; other tasks have none."),
}


def list_facets(benchmark: str, dataset_id: str | None) -> dict[str, list[str]]:
    """The values of each facet of a stored dataset, or of the benchmark's own, in its order."""
    if dataset_id is None:
        samples = REGISTRY[benchmark].generate({}, 0)[1]
    else:
        samples = write.load_samples(dataset_id, only_facets=True)
    names = ("scenario", "level", *run_form.NARROWING)
    found = {name: [getattr(sample.facets, name) for sample in samples] for name in names}
    return {name: [value for value in dict.fromkeys(values) if value] for name, values in found.items()}


def choose_order() -> RunRequest:
    """The form: what to run, who takes part, and the limits."""
    one: dict[str, Any] = {"bind": "query-params"}
    # Names stand in the address as they are: a label there could not be told from a name that was typed.
    many: dict[str, Any] = {"wrap": True, **one}
    benchmark = REGISTRY[ui.choose_id("bench", "Benchmark", list(REGISTRY), ui.label, named="benchmark")]
    names = [row.name for row in llm.known(benchmark.card.id)]
    real = [name for name in names if not name.startswith("simulated:")]
    agents = [name for name in names if "judge" not in name and name != "simulated:customer"]
    judging = [name for name in names if "judge" in name] + real
    st.caption(ui.plain(f"{benchmark.card.title}. {benchmark.card.measures}"))
    every = {each.id: each for each in write.list_datasets()}
    stored = {name: each for name, each in every.items() if each.benchmark == benchmark.card.id}
    dataset_id = run_form.choose_dataset(stored, benchmark.instant, every)
    tip = "One run each, on the same samples. Type any other name as KIND:NAME, for example endpoint:local/my-model."
    models = st.multiselect(
        "Models to evaluate", agents, ["simulated:strong"], key="agents", help=tip, accept_new_options=True, **many
    )
    known = dataset_id or benchmark.instant
    facets = ui.cached(list_facets, benchmark.card.id, dataset_id) if known else {}
    scenario, level, tip = FACETS[benchmark.with_customer]
    left, right = st.columns(2)
    scenarios = left.multiselect(scenario, facets.get("scenario", []), key="scenarios", placeholder="all", **many)
    levels = right.multiselect(level, facets.get("level", []), key="levels", placeholder="all", help=tip, **many)
    where = run_form.narrow(facets)
    tip = "Each labels and grades every turn; labels are put to the vote."
    judges = st.multiselect("Judges", judging, JUDGES, key="judges", help=tip, accept_new_options=True, **many)
    with st.expander("Limits and set-up"):
        a, b, c = st.columns(3)
        tip = "Spread over scenarios, levels and leaves."
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
        customer = "simulated:customer"
        if benchmark.with_customer:
            customer = c.selectbox("Customer played by", [customer, *real], key="customer", **one)
        options = parse_options(run_form.fill_in_options(benchmark.options), benchmark.options)
        cache = st.checkbox("Reuse replies that were paid for before", key="cache", **one)
    narrowed = SampleFilter(tuple(scenarios), tuple(levels), limit, where)
    return RunRequest(
        benchmark.card.id, tuple(models), customer, tuple(judges), dataset_id, narrowed, trials=trials, seed=seed,
        options=options, concurrency=together, budget_usd=budget, cache=cache,
    )  # fmt: skip


def show_estimate(order: RunRequest) -> None:
    """What it will take, and the button that starts it."""
    problem = validate(order)
    with st.container(border=True):
        ui.section("What it will take")
        if problem:
            st.warning(ui.plain(problem))
        else:
            rows = ui.cached(estimate, order)
            costs, times = [row.cost_usd for row in rows], [row.seconds for row in rows]
            left, right = st.columns(2)
            what = "Dialogues" if REGISTRY[order.benchmark].with_customer else "Answers"
            left.metric(what, format_count(sum(row.attempts for row in rows)), help="Samples × trials × models.")
            right.metric("Calls", format_count(sum(row.calls for row in rows)), help="Agent, customer and judges.")
            cost = "unknown" if None in costs else format_usd(sum(cost or 0 for cost in costs))
            left.metric("Cost", cost, help="By the prices on the page Models; without a price it is unknown.")
            right.metric("Time", "unknown" if None in times else format_seconds(sum(time or 0 for time in times)))
            tokens = sum(row.prompt_tokens + row.completion_tokens for row in rows)
            basis = "; ".join(dict.fromkeys(row.basis for row in rows))
            words = f"About {format_count(tokens)} tokens. " if tokens else ""
            st.caption(ui.plain(f"{words}{basis[:1].upper()}{basis[1:]}."))
        if st.button("Run evaluation", type="primary", disabled=bool(problem), width="stretch", key="start"):
            st.query_params["job"] = jobs.start(to_arguments(order)).id
            st.rerun()
        with st.expander("The same on the command line", type="compact"):
            st.code("python -m cxlab " + " ".join(to_arguments(order)), language="bash", wrap_lines=True)


def resume(runs: Sequence[str]) -> None:
    st.query_params["job"] = jobs.start(["run", *(f"--resume={run}" for run in runs), "--quiet"]).id
    st.rerun()


ui.header("Run", "Evaluate now: which models, on what, and at what cost?")
for each in jobs.list_jobs():
    # Datasets that are being made are shown on their own page.
    if each.kind != "generate" and (each.state == "running" or each.id == st.query_params.get("job")):
        ui.show_job(partial(jobs.find_job, each.id), jobs.cancel, resume)
form, costs = st.columns([3, 2], gap="large")
with form:
    ordered = choose_order()
with costs:
    show_estimate(ordered)
show_history(resume)
