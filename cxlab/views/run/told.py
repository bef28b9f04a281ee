"""What a job that makes runs is called, and where its results are to be seen."""

from collections.abc import Sequence

import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.charts.numbers import format_count, format_time
from cxlab.errors import BadStore, UnknownName
from cxlab.read import View
from cxlab.read.runs import progress
from cxlab.store import write
from cxlab.ui.address import cached, link
from cxlab.ui.app_frame import zone
from cxlab.ui.jobs.job_panel import Job
from cxlab.ui.labels import describe_state, label, plain
from cxlab.views.benchmarks import declared, names_of
from cxlab.views.compare.queries import runs_to_compare

_MOST_NAMED = 3
_KEPT = "cx-run-job"


def call_job(job: Job) -> str:
    """Who is evaluated on what: "strong and weak on SAGE"; its command where its runs are not known yet."""
    # A job that resumes names its runs before it has taken them up.
    named_runs = tuple(arg.partition("=")[2] for arg in job.args if arg.startswith("--resume="))
    found = _benchmarks_of(job.runs or named_runs)
    models = list(dict.fromkeys(label(progress(run).model) for run in found))
    if not models:
        named = names_of(name for name in job.args[1:2] if name in REGISTRY)
        return " ".join(["Evaluation", *(f"on {name}" for name in named.values())])
    if len(models) > _MOST_NAMED:
        models = [*models[: _MOST_NAMED - 1], f"{len(models) - _MOST_NAMED + 1} others"]
    who = models[0] if len(models) == 1 else f"{', '.join(models[:-1])} and {models[-1]}"
    return f"{who} on {' and '.join(names_of(dict.fromkeys(found.values())).values())}"


def keep_in_sight(job: str) -> None:
    """Keep a job on the page Run: in its address, and in the session for whoever comes back by the menu."""
    st.query_params["job"] = st.session_state[_KEPT] = job


def is_in_sight(job: str) -> bool:
    """Whether a job is to be shown although it has ended."""
    return job == st.query_params.get("job", st.session_state.get(_KEPT))


def show_results(runs: Sequence[str]) -> None:
    """Links to what runs came to: their attempts, and they beside the last runs of their models and of others; one pair
    a benchmark."""
    found = _benchmarks_of(runs)
    names = names_of(dict.fromkeys(found.values()))
    for benchmark, name in names.items():
        own = tuple(run for run, of in found.items() if of == benchmark)
        where = f" of {name}" if len(names) > 1 else ""
        many = declared(benchmark).card.unit[1]
        with st.container(horizontal=True):
            link(f"Read the {many}{where}", "failures", View(benchmark, runs=own, verdict="all"))
            words = f"Compare with other runs{where}"
            beside = cached(runs_to_compare, View(benchmark, runs=own)).runs
            link(words, "compare", View(benchmark, runs=beside), also={"sides": "runs"})


def show_last(jobs: Sequence[Job]) -> None:
    """That nothing is running, and what was evaluated last, with the way to it; `jobs`: the newest first."""
    last = next((each for each in jobs if each.args[:1] == ("run",) and _benchmarks_of(each.runs)), None)
    if last is None:
        st.caption("Nothing is running.")
        return
    states = [progress(run) for run in _benchmarks_of(last.runs)]
    done, planned = (format_count(sum(getattr(each, what) for each in states)) for what in ("done", "planned"))
    how = describe_state(states[0].state if len(states) == 1 else last.state)
    began = format_time(states[0].started, zone())
    st.caption(plain(f"Nothing is running. Last: {call_job(last)}, {how}, {done} of {planned}, begun {began}."))
    show_results(last.runs)


def _benchmarks_of(runs: Sequence[str]) -> dict[str, str]:
    """Run → its benchmark, of those that are there yet and still."""
    return {run: name for run in runs if (name := cached(_benchmark_of, run))}


def _benchmark_of(run: str) -> str:
    try:
        return write.load_run(run).benchmark
    except (UnknownName, BadStore):
        return ""
