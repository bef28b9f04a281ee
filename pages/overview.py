"""Overview: what do we know so far?"""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from cxlab import jobs, read, ui
from cxlab.benchmarks import REGISTRY
from cxlab.read import View
from cxlab.records.benchmark_card import Declaration
from cxlab.report.write import Subject
from cxlab.ui.address import here
from cxlab.views.benchmarks import declared, declared_all, in_order
from cxlab.views.comparison_sets import view_of
from cxlab.views.glossary import show_words
from cxlab.views.overview.across import show_across
from cxlab.views.overview.board import show_board
from cxlab.views.overview.health import show_health, show_set_aside
from cxlab.views.overview.published import show_published
from cxlab.views.overview.since import show_since
from cxlab.views.overview.summary import show_summary
from cxlab.views.report_button import offer_report
from cxlab.views.run.history import show_all_runs
from cxlab.views.run.told import show_last

ui.routed()

STARTS = (
    ("You look for failures", "Filter, read a dialogue, see where it went wrong.", "Browse failures", "failures"),
    ("You choose a model", "Models side by side, and whether a difference is real.", "Compare models", "compare"),
    ("You show it to a customer", "Where agents follow a procedure and where not.", "Open the map", "sop_paths"),
)


def show_work() -> bool:
    """Start the demo on an empty store, and show whatever work goes on, or lost its process; whether there is any."""
    told = [each for each in jobs.list_jobs() if each.kind != "generate"]
    # A demo that was stopped is not begun again by itself, and can be taken up.
    ended = ("stalled", "stopped") if told and told[0].args == jobs.DEMO else ("stalled",)
    lost = told[0] if told and told[0].state in ended else None
    job = jobs.ensure_demo() or next((each for each in jobs.list_jobs() if each.state == "running"), lost)
    if job is None:
        return False
    ui.show_work(partial(jobs.find_job, job.id), resume, jobs.cancel)
    return job.state == "running"


def resume(runs: Sequence[str]) -> None:
    # The demo goes on as a demo: some of its runs may not have been made yet.
    jobs.start(["run", *(f"--resume={run}" for run in runs), "--quiet"] if runs else jobs.DEMO)
    st.rerun()


def show_empty() -> None:
    ui.empty(
        "Once agents have been evaluated, this page ranks them and says how sure the order is. There are no attempts "
        "in this store yet.",
        "Start an evaluation",
        lambda: ui.open_page("run", View()),
        "python -m cxlab demo",
    )


def show_boards(about: list[Declaration]) -> None:
    """Each benchmark's own leaderboard, one at a time; a pick leads to the failures behind it."""
    boards = {each.card.id: each for each in about}
    # One is drawn when it is chosen: five of them cost as much as the rest of the page.
    chosen = next(iter(boards))
    if len(boards) > 1:
        chosen = ui.choose_id("board", "Benchmark", list(boards), lambda each: boards[each].card.name, style="segments")
    picked = show_board(boards[chosen])
    if picked:
        models, tasks = ((name,) if name else () for name in picked)
        ui.open_page("failures", View(benchmark=chosen, models=models, tasks=tasks, order="worst"))


def find_subjects(about: list[Declaration]) -> list[Subject]:
    """What a report on these leaderboards tells of."""
    return [(each, view_of(each.card.id), "model") for each in about]


def show_starts() -> None:
    for column, (who, what, words, page) in zip(st.columns(3), STARTS, strict=True):
        with column, st.container(border=True, height="stretch", gap="xsmall"):
            st.markdown(f"**{who}**")
            st.caption(what)
            ui.link(words, page)


def show_latest() -> None:
    runs = read.latest_runs(5)
    if runs.is_empty():
        return
    ui.section("Latest runs")
    picked = show_all_runs(runs, key="latest-runs", select="single")
    if picked and ui.has_page("failures"):
        ui.open_page("failures", View(benchmark=picked[0]["benchmark"], runs=(picked[0]["run_id"],), verdict="all"))
    ui.link("Start, resume or delete runs", "run")


ui.header("Overview", "What do we know so far?")
show_set_aside()
working = show_work()
state = ui.cached(read.health)
if state["attempts"]:
    stored = [declared(name, here().lead) for name in in_order(ui.cached(read.benchmarks)["benchmark"])]
    if not working:
        show_last(jobs.list_jobs())
    show_words("overview", stored)
    show_summary(stored)
    show_since(stored)
    offer_report("overview", find_subjects(stored))
    show_starts()
    show_across(stored)
    show_boards(stored)
else:
    if not working:
        show_empty()
    show_starts()
with st.expander("What the papers report"):
    show_published(list(REGISTRY))
show_latest()
if state["attempts"]:
    show_health(state, declared_all([each.card.id for each in stored]).card.unit)
