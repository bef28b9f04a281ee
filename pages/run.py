"""Run: evaluate now."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from cxlab import jobs, llm, read, ui
from cxlab.benchmarks import REGISTRY
from cxlab.charts.numbers import format_count, format_seconds, format_usd
from cxlab.read import View
from cxlab.runner.arguments import complain, to_arguments
from cxlab.runner.estimate import estimate
from cxlab.runner.order import Order
from cxlab.runner.plan import Choice
from cxlab.store import trash

ui.routed()

JUDGES = ["simulated:judge-strict", "simulated:judge-lenient", "simulated:judge-partial"]
BADGES: dict[str, ui.Badge] = {"running": "running", "done": "done", "failed": "failed", "died": "failed"}
OPEN_STATES = ("cancelled", "failed", "budget", "stalled", "waiting")


def list_facets(benchmark: str) -> dict[str, list[str]]:
    """Scenarios and levels of a benchmark's own dataset, in its order."""
    _, samples = REGISTRY[benchmark].generate({}, 0)
    found = {name: [getattr(sample.facets, name) for sample in samples] for name in ("scenario", "level")}
    return {name: [value for value in dict.fromkeys(values) if value] for name, values in found.items()}


def choose_order() -> Order:
    """The form: what to run, who takes part, and the limits."""
    names = [row.name for row in llm.known()]
    real = [name for name in names if not name.startswith("simulated:")]
    agents = [name for name in names if "judge" not in name and name != "simulated:customer"]
    judging = [name for name in names if "judge" in name] + real
    one: dict[str, Any] = {"bind": "query-params"}
    # Names stand in the address as they are: a label there could not be told from a name that was typed.
    many: dict[str, Any] = {"wrap": True, **one}
    benchmark = st.selectbox("Benchmark", list(REGISTRY), key="bench", **one)
    card = REGISTRY[benchmark].card
    st.caption(ui.plain(f"{card.title}. {card.measures}"))
    tip = "One run each, on the same samples. Type any other name as KIND:NAME, for example endpoint:local/my-model."
    models = st.multiselect(
        "Models to evaluate", agents, ["simulated:strong"], key="agents", help=tip, accept_new_options=True, **many
    )
    facets = ui.cached(list_facets, benchmark)
    left, right = st.columns(2)
    scenarios = left.multiselect("Scenarios", facets["scenario"], key="scenarios", placeholder="all", **many)
    tip = "How hard the customer makes it, from zero to strong."
    levels = right.multiselect("Adversarial levels", facets["level"], key="levels", placeholder="all", help=tip, **many)
    tip = "Each labels and grades every turn; labels are put to the vote."
    judges = st.multiselect("Judges", judging, JUDGES, key="judges", help=tip, accept_new_options=True, **many)
    with st.expander("Limits and set-up"):
        a, b, c = st.columns(3)
        tip = "Spread over scenarios, levels and leaves."
        limit = a.number_input("Samples at most", 1, value=None, key="limit", placeholder="all", help=tip, **one)
        tip = "Several trials show how steady a model is."
        trials = b.number_input("Trials of each", 1, 100, 1, key="trials", help=tip, **one)
        turns = c.number_input("Turns at most", 1, 50, value=None, key="turns", placeholder="the usual", **one)
        tip = "USD a run. It stops cleanly when this is spent, and can be resumed."
        budget = a.number_input("Budget", 0.01, value=None, key="budget", placeholder="none", help=tip, **one)
        together = b.number_input("Dialogues at once", 1, 512, 32, key="at_once", **one)
        seed = c.number_input("Seed", 0, value=0, key="seed", help="Same seed, same samples and customers.", **one)
        customers = ["simulated:customer", *real]
        customer = st.selectbox("Customer played by", customers, key="customer", **one)
        cache = st.checkbox("Reuse replies that were paid for before", key="cache", **one)
    return Order(
        benchmark, tuple(models), customer, tuple(judges), choice=Choice(tuple(scenarios), tuple(levels), limit),
        trials=trials, seed=seed, options={"turns": turns} if turns else {}, concurrency=together, budget_usd=budget,
        cache=cache,
    )  # fmt: skip


def show_estimate(order: Order) -> None:
    """What it will take, and the button that starts it."""
    problem = complain(order)
    with st.container(border=True):
        ui.section("What it will take")
        if problem:
            st.warning(ui.plain(problem))
        else:
            rows = ui.cached(estimate, order)
            costs, times = [row.cost_usd for row in rows], [row.seconds for row in rows]
            left, right = st.columns(2)
            left.metric("Dialogues", format_count(sum(row.attempts for row in rows)), help="Samples × trials × models.")
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


def show_job(job: jobs.Job) -> None:
    """One job: its runs as they go, and what can be done about it."""

    def look() -> jobs.Job:
        return jobs.find_job(job.id)

    with st.container(border=True):
        ui.section(f"Job {job.id.removeprefix('job-')}", badges=[BADGES.get(job.state, "stopped")])
        ui.live_progress(lambda: look().runs, key=job.id, working=lambda: look().state == "running")
        if job.state == "running":
            tip = "What is finished stays, and the run can be resumed."
            st.button("Cancel", key=f"cancel-{job.id}", on_click=jobs.cancel, args=(job.id,), help=tip)
        elif job.state == "done":
            ui.link("See the result on Overview", "overview")
        elif job.state in ("stopped", "interrupted"):
            st.caption("Stopped. What was finished is kept; the rest can be resumed.")
            if st.button("Resume", key=f"resume-{job.id}", disabled=not job.runs):
                resume(job.runs)
        else:
            ui.error(f"The job {job.state}.", "What was finished is kept; resume its runs from the history below.")
            if log := job.log.read_text(errors="replace")[-2000:] if job.log.is_file() else "":
                st.code(log, language=None, wrap_lines=True)


def resume(runs: Sequence[str]) -> None:
    st.query_params["job"] = jobs.start(["run", *(f"--resume={run}" for run in runs), "--quiet"]).id
    st.rerun()


def show_history() -> None:
    runs = read.latest_runs(100)
    ui.section("History", "Pick runs to open, resume or delete them.")
    if runs.is_empty():
        ui.empty("Each run will stand here with its state, its counts and its cost.", command="python -m cxlab demo")
        return
    picked = ui.show_runs(runs, key="history", select="multi", search=True)
    ids = tuple(row["run_id"] for row in picked)
    unfinished = [row["run_id"] for row in picked if row["state"] in OPEN_STATES]
    with st.container(horizontal=True):
        if st.button("Open dialogues", disabled=not ids, key="open") and ui.has_page("failures"):
            ui.open_page("failures", View(benchmark=picked[0]["benchmark"], runs=ids))
        if st.button("Resume", disabled=not unfinished, key="resume", help="Finished dialogues are not repeated."):
            resume(unfinished)
        if st.button("Delete", disabled=not ids, key="delete", help="Moves the runs to the trash below."):
            with ui.guarded():
                for run_id in ids:
                    trash.delete_run(run_id)
                st.session_state["run-deleted"] = len(ids)
                st.rerun()


def show_trash() -> None:
    deleted = trash.list_deleted()
    fresh = st.session_state.get("run-deleted", 0)
    if not deleted:
        return
    with st.expander(f"Trash: {len(deleted)} deleted", expanded=bool(fresh)):
        for entry in deleted[:20]:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(f"{entry.run_id}, deleted {ui.format_time(entry.deleted, ui.zone())}")
                if st.button("Undo", key=f"undo-{entry.folder.name}"):
                    with ui.guarded():
                        trash.restore_run(entry.run_id)
                        st.rerun()


ui.header("Run", "Evaluate now: which models, on what, and at what cost?")
for each in jobs.list_jobs():
    if each.state == "running" or each.id == st.query_params.get("job"):
        show_job(each)
form, costs = st.columns([3, 2], gap="large")
with form:
    ordered = choose_order()
with costs:
    show_estimate(ordered)
show_history()
show_trash()
