"""Retrieval: which index finds the right thing?"""

import streamlit as st

from cxlab import jobs, llm, ui
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Benchmark
from cxlab.read import View
from cxlab.retrieval.embedders import minilm
from cxlab.runner import index_grid
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest
from cxlab.store import write
from cxlab.ui import path_strips
from cxlab.ui.jobs import job_panel
from cxlab.views.benchmarks import declared, ranking_tasks
from cxlab.views.retrieval import board, queries, queries_datasets, retrieval_errors, search_form
from cxlab.views.retrieval import indexes as parts

ui.routed()
TABS = {
    "": "Board",
    "curves": "Curves",
    "price": "Time and cost",
    "areas": "Areas",
    "misses": "What is missed",
    "query": "One query",
    "answers": "Answers",
    "gaps": "Differences",
    "try": "Try another index",
}
RESUME = "--resume={}"


def show_form(benchmark: Benchmark, dataset: str, tasks: list[str]) -> None:
    """Choose indexes to try, see what it takes, start them."""
    left, right = st.columns([3, 2], gap="large")
    lacking = {"minilm": minilm.missing()} if minilm.missing() else {}
    name = benchmark.card.id
    agents = [row.name for row in llm.known(name) if row.role in ("", "agent") and "judge" not in row.name]
    searches = {task: search for task, search in ranking_tasks(name).items() if task in tasks}
    with left:
        titles = {each.id: each.title for each in declared(name).card.tasks if each.id in searches}
        proposed = benchmark.default_models
        rows = [row for role in benchmark.model_roles for row in llm.known_as(role) if row.configured]
        wanted = search_form.fill_in_indexes(
            benchmark.Options.switches(),
            searches,
            titles,
            agents,
            lacking,
            {row.name: row.name in proposed for row in rows},
        )
    order = RunRequest(
        name,
        wanted.models,
        None,
        benchmark.default_judges if wanted.judged(searches) else (),
        dataset,
        SampleFilter(wanted.limit, tuple(("task", task) for task in wanted.tasks)),
        options=dict(wanted.options),
    )
    with right, st.container(border=True), ui.guarded():
        ui.section("What it will take")
        orders = index_grid.expand(order, wanted.variants)
        problem = index_grid.validate(orders) if wanted.tasks else "Pick at least one task."
        if problem:
            st.warning(ui.plain(problem))
        else:
            search_form.show_foreseen(
                ui.cached(index_grid.estimate_grid, orders, ui.cached(queries.past_seconds, dataset))
            )
        if st.button("Run evaluation", type="primary", disabled=bool(problem), width="stretch", key="start"):
            begin(index_grid.to_arguments(index_grid.create(orders)))


def show_work() -> None:
    """The job that was started here, until it is done: then its runs are on the board."""
    known = {job.id: job for job in jobs.list_jobs()}
    job = known.get(st.query_params.get("job", ""))
    if job is not None and job.state != "done":
        job_panel.show_job(
            lambda: jobs.find_job(job.id), jobs.cancel, lambda runs: begin(["run", *map(RESUME.format, runs)])
        )


def begin(arguments: list[str]) -> None:
    """Start a job and stay with it."""
    st.query_params["job"] = jobs.start(arguments).id
    st.rerun()


def show_page(view: View, searchable: dict[str, dict[str, int]]) -> None:
    """One dataset and task: the board, then one question at a time."""
    used = ui.cached(queries_datasets.datasets)
    order = list(dict.fromkeys([*used["dataset_id"], *searchable]))
    names = {each.id: f"{each.name} · {each.id[-6:]}" for each in write.list_datasets()}
    with st.sidebar:
        dataset = ui.choose(view, "dataset", "Dataset", order, names=names)
        benchmark = queries_datasets.benchmark_of(dataset)
        known = ranking_tasks(benchmark)
        tasks = [task for task in known if task in searchable.get(dataset, {})]
        ran = used.filter(dataset_id=dataset)["task"].to_list()
        listed = [task for task in known if task in ran or task in tasks]
        titles = {each.id: each.title for each in declared(benchmark).card.tasks}
        task = ui.choose(view, "tasks", "Task", listed, names=titles)
    view = view.change(dataset=dataset, tasks=(task,), page=view.page)
    if task not in ran:
        ui.empty(
            f"No index has searched this dataset for the task “{ui.plain(titles[task])}” yet. Choose one or several "
            "below; then this page shows which of them finds what is right, how fast, and what it misses."
        )
        show_form(REGISTRY[benchmark], dataset, tasks)
        return
    scene = parts.set_scene(view, benchmark, dataset, task)
    shown = {tab: name for tab, name in TABS.items() if tab != "answers" or scene.search.answers}
    tab = ui.choose(view, "tab", "View", list(shown), names=shown, style="segments")
    passage = retrieval_errors.find_passage(REGISTRY[benchmark].document, dataset, scene.search.corpus)
    closer = {
        "": lambda: board.show_board(scene),
        "curves": lambda: parts.show_curves(scene, view),
        "price": lambda: parts.show_price(scene, view),
        "areas": lambda: parts.show_areas(scene),
        "misses": lambda: retrieval_errors.show_misses(scene, view),
        "query": lambda: retrieval_errors.show_query(scene, view, passage),
        "answers": lambda: retrieval_errors.show_answers(scene),
        "gaps": lambda: parts.show_differences(scene, view),
        "try": lambda: show_form(REGISTRY[benchmark], dataset, tasks),
    }
    with st.container(key="cx-wide"):
        closer[tab]()


ui.header("Retrieval", "Which index finds the right thing?")
path_strips.style()
show_work()
found = ui.cached(queries_datasets.searchable)
if not found and ui.cached(queries_datasets.datasets).is_empty():
    if jobs.is_building_demo():
        st.info("The demo is being built at this moment and brings one: load this page again in half a minute.")
    ui.empty(
        "Here you would see which index finds what is right: BM25, vectors or both, with small chunks or large, "
        "how fast and at what cost, which topics it misses and why. There is no dataset to search in yet.",
        "Generate or import a dataset",
        lambda: ui.open_page("datasets", View()),
        "python -m cxlab demo",
    )
else:
    show_page(ui.view(), found)
