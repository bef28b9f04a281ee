"""Retrieval: which index finds the right thing?"""

from typing import Any

import streamlit as st

from cxlab import jobs, llm, ui
from cxlab.benchmarks.cxmarena.evaluation import corpus
from cxlab.errors import UnknownName
from cxlab.read import View
from cxlab.retrieval import minilm
from cxlab.runner import index_grid
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest
from cxlab.store import write
from cxlab.ui import job_panel, path_strips
from cxlab.ui.labels import title
from cxlab.views.benchmarks import ranking_tasks
from cxlab.views.retrieval import indexes as parts
from cxlab.views.retrieval import queries, retrieval_errors, search_form

ui.routed()
JUDGES = ("simulated:judge-strict", "simulated:judge-lenient", "simulated:judge-partial")
TABS = {
    "": "Curves",
    "price": "Time and cost",
    "areas": "Areas",
    "misses": "What is missed",
    "query": "One query",
    "answers": "Answers",
    "gaps": "Differences",
    "try": "Try another index",
}
LONGEST = 1500
RESUME = "--resume={}"


def find_passage(dataset: str, name: str) -> retrieval_errors.FindPassage:
    """Looks up a piece of an article as it was indexed."""

    def passage(article: str, start: int | None, end: int | None) -> str:
        try:
            text = corpus.load(dataset, name).texts[article]
        except (UnknownName, KeyError):
            return "The dataset has no such article."
        return text[slice(start or 0, end or LONGEST)]

    return passage


def show_form(dataset: str, tasks: dict[str, int]) -> None:
    """Choose indexes to try, see what it takes, start them."""
    left, right = st.columns([3, 2], gap="large")
    lacking = {"minilm": minilm.missing()} if minilm.missing() else {}
    agents = [row.name for row in llm.known("cxmarena") if "judge" not in row.name and row.name != "simulated:customer"]
    with left:
        wanted = search_form.fill_in({task: title(task) for task in tasks}, agents, JUDGES, lacking)
    options: dict[str, Any] = {"query": wanted.query, "respond": wanted.respond}
    order = RunRequest(
        "cxmarena",
        (wanted.model,),
        None,
        wanted.judges,
        dataset,
        SampleFilter(wanted.limit, tuple(("scenario", task) for task in wanted.tasks)),
        options=options,
    )
    with right, st.container(border=True), ui.guarded():
        ui.section("What it will take")
        variants = [
            {"retrieval": method, "chunk": size, "overlap": size * wanted.overlap // 100}
            for method in wanted.methods
            for size in wanted.sizes
        ]
        orders = index_grid.expand(order, variants)
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
    used = ui.cached(queries.datasets)
    order = list(dict.fromkeys([*used["dataset_id"], *searchable]))
    names = {each.id: f"{each.name} · {each.id[-6:]}" for each in write.list_datasets()}
    with st.sidebar:
        dataset = ui.choose(view, "dataset", "Dataset", order, names=names)
        known = ranking_tasks()
        tasks = [task for task in known if task in searchable.get(dataset, {})]
        ran = used.filter(dataset_id=dataset)["task"].to_list()
        listed = [task for task in known if task in ran or task in tasks]
        task = ui.choose(view, "tasks", "Task", listed, names={name: title(name) for name in known})
    view = view.change(dataset=dataset, tasks=(task,), page=view.page)
    counts = searchable.get(dataset, {})
    if task not in ran:
        ui.empty(
            f"No index has searched this dataset for the task {title(task).lower()} yet. Choose one or several "
            "below; then this page shows which of them finds the right article, how fast, and what it misses."
        )
        show_form(dataset, counts)
        return
    scene = parts.set_scene(view, dataset, task)
    if not (view.tab == "query" and view.opened):  # one query is looked at by itself
        with st.container(key="cx-wide"):
            parts.show_board(scene)
        st.divider()
    tab = ui.choose(view, "tab", "Look closer", list(TABS), names=TABS, style="segments")
    closer = {
        "": lambda: parts.show_curves(scene, view),
        "price": lambda: parts.show_price(scene, view),
        "areas": lambda: parts.show_areas(scene),
        "misses": lambda: retrieval_errors.show_misses(scene, view),
        "query": lambda: retrieval_errors.show_query(scene, view, find_passage(dataset, known[task].corpus)),
        "answers": lambda: retrieval_errors.show_answers(scene),
        "gaps": lambda: parts.show_differences(scene, view),
        "try": lambda: show_form(dataset, counts),
    }
    closer[tab]()


ui.header("Retrieval", "Which index finds the right thing?")
path_strips.style()
show_work()
found = ui.cached(queries.searchable)
if not found and ui.cached(queries.datasets).is_empty():
    ui.empty(
        "Here you would see which index finds the right article: BM25, vectors or both, with small chunks or large, "
        "how fast and at what cost, which topics it misses and why. There is no dataset to search in yet.",
        "Generate or import a dataset",
        lambda: ui.open_page("datasets", View()),
        "python -m cxlab generate cxmarena --brand hearthwise --size small",
    )
else:
    show_page(ui.view(), found)
