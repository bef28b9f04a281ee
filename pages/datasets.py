"""Datasets: what am I evaluating on?"""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from cxlab import jobs, llm, ui
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.import_sources import list_sources
from cxlab.errors import CxError, UnknownName
from cxlab.importers.import_root import find_below_root, import_root
from cxlab.importers.imported import ImportResult
from cxlab.read import View
from cxlab.ui.address import go
from cxlab.views.benchmarks import names_of
from cxlab.views.conversations import conversation, queries, realism
from cxlab.views.conversations.noise_switch import hear
from cxlab.views.datasets import creation
from cxlab.views.datasets import description as about
from cxlab.views.datasets import queries as datasets
from cxlab.views.datasets.own_words import SampleJobs

ui.routed()

QUESTION = "What am I evaluating on?"
TABS = {"statistics": "Statistics", "conversations": "Conversations", "realism": "Realism study", "files": "Files"}
COMMAND = "python -m cxlab demo"
UP = [("Datasets", "datasets", View())]


def start(args: Sequence[str]) -> None:
    """Set a job out and stay with it."""
    st.query_params["job"] = jobs.start_quietly(args).id
    st.rerun()


def show_jobs() -> None:
    """What is being made at the moment, and the job that the address names."""
    for job in jobs.list_jobs():
        if job.kind == "generate" and (job.state == "running" or job.id == st.query_params.get("job")):
            look = partial(jobs.find_job, job.id)
            creation.show_job(look, jobs.stages, jobs.spending, jobs.waiting, jobs.cancel, start)


def show_generate() -> None:
    ui.breadcrumbs(UP, "Generate")
    ui.header("Generate a dataset", "What models are to be evaluated on, made from a few settings and a seed.")
    show_jobs()
    form, beside = st.columns([3, 2], gap="large")
    with form:
        names = names_of(REGISTRY)
        # Those that cannot do without a dataset first; the others make theirs with the run where none is named.
        listed = sorted(REGISTRY, key=lambda name: REGISTRY[name].own_data)
        benchmark = REGISTRY[ui.choose_id("bench", "Benchmark", listed, names.__getitem__, named="benchmark")]
        st.caption(ui.plain(benchmark.card.measures))
        models = [row.name for row in llm.known(benchmark.card.id) if row.role in ("", "agent")]
        work = SampleJobs(start, jobs.list_jobs, jobs.sample)
        order = creation.fill_in_settings(benchmark, models, work)
    with beside:
        if creation.confirm(order, benchmark.GenerateOptions.making):
            start(order.args)


def show_import() -> None:
    ui.breadcrumbs(UP, "Import")
    ui.header("Import a dataset", "Other people's files: what can be used of them, and what not?")
    sources = list_sources()
    kind, folder, given, pressed = creation.choose_source(sources, import_root())
    asked = (kind, folder, given)
    if pressed:
        st.session_state.pop("cx-import", None)
        with ui.guarded(), st.spinner("Reading"):
            source = sources[kind]
            st.session_state["cx-import"] = (asked, source.read(find_below_root(folder), source.Options.read(given)))
    kept = st.session_state.get("cx-import")
    if kept is None or kept[0] != asked:
        st.caption("A preview comes first: nothing is stored before you have seen what would be, and what would not.")
        return
    found = kept[1]
    is_dataset = isinstance(found, ImportResult)
    if creation.show_preview(found) if is_dataset else creation.show_results(found, sources[kind].title):
        with ui.guarded():
            found.save()
            del st.session_state["cx-import"]
            if found.dataset is None:
                creation.tell_stored(found)
            else:
                go(View(dataset=found.dataset.id, tab="files"))


def show_dataset(view: View) -> None:
    try:
        dataset = datasets.load(view.dataset)
    except CxError as problem:
        ui.header("Datasets", QUESTION)
        about.say_unknown(str(problem))
        return
    row = ui.cached(datasets.datasets).row(by_predicate=datasets.is_of(dataset.id), named=True)
    ui.breadcrumbs(UP, "Dataset")
    ui.header(ui.plain(dataset.name), QUESTION)
    tabs = [tab for tab in TABS if row["conversations"] or tab in ("statistics", "files")]
    tab = ui.choose(view, "tab", "Part", tabs, names=TABS, style="segments")
    if tab == "statistics":
        about.show_summary(dataset, row)
        about.show_statistics(dataset)
    elif tab == "files":
        about.show_summary(dataset, row)
        about.show_files(dataset, row["runs"])
    elif tab == "realism":
        realism.show_study(dataset)
    elif not view.conversation:
        conversation.show_list(view)
    else:
        try:
            conversation.show_one(view, queries.conversation(dataset.id, view.conversation), hear)
        except UnknownName as unknown:
            conversation.say_unknown(view, str(unknown))


def show_all() -> None:
    ui.header("Datasets", QUESTION)
    show_jobs()
    frame = ui.cached(datasets.datasets)
    if frame.is_empty():
        words = "Here stand the datasets that models are evaluated on, made here or imported: what each holds, how it "
        words += "was made and checked, and its files. There are none in this store yet."
        ui.empty(words, "Generate a dataset", partial(go, View(tab="generate")), COMMAND)
    about.show_ways(first=frame.is_empty())
    if frame.height:
        about.show_list(view, frame)
    ui.show_trash("dataset")


view = ui.view()
if view.tab == "generate":
    show_generate()
elif view.tab == "import":
    show_import()
elif view.dataset:
    show_dataset(view)
else:
    show_all()
