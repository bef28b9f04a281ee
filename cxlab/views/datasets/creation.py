"""Making datasets on a page: the form of the generator, a job's stages as they go, and the preview of an import."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import polars as pl
import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Benchmark
from cxlab.benchmarks.generation import GenerationContext
from cxlab.charts.numbers import format_count
from cxlab.errors import CxError
from cxlab.importers.importer import Imported, Importer
from cxlab.read import View
from cxlab.ui.address import go
from cxlab.ui.choices import LARGEST, choose_id, choose_number
from cxlab.ui.jobs.job_panel import Job, badge_of, show_log
from cxlab.ui.jobs.stages import StageProgress, draw_stages
from cxlab.ui.labels import chip, error, label, plain, say, section, show_code
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.datasets.cost_panel import draw_spent
from cxlab.views.datasets.description import LICENCE, show_rejected
from cxlab.views.datasets.own_words import SAMPLE, SampleJobs, confirm_words, write_args
from cxlab.views.switches import fill_in

BUDGET_HELP = (
    "What the model may cost, all tries together. When it is spent, the job stops; what was made and paid for is kept, "
    "and it goes on with a higher one. Needs a price of the model, as the page Models shows it."
)
_LONGEST_WORD = 60


class Order(NamedTuple):
    """What the form comes to: arguments of the command line, what is wrong ("" when nothing is), what a model will take
    ("" when nothing is to be paid), and how much is made ("" when nobody knows)."""

    args: list[str]
    problem: str
    expected: str = ""
    amount: str = ""


def fill_in_settings(benchmark: Benchmark, models: Sequence[str], work: SampleJobs) -> Order:
    """The form of any benchmark, made from the types of its settings."""
    tip = "The same settings and seed give the same dataset."
    seed = choose_number("seed", "Seed", 0, LARGEST, 0, help=tip) or 0
    given = fill_in(benchmark.GenerateOptions.switches(), "set", models, unset="not set")
    given, undone = confirm_words(benchmark, given, seed, work)
    args = write_args(benchmark, given, seed)
    try:
        settings = benchmark.GenerateOptions.read(given)
        expected = benchmark.plan(settings, GenerationContext(seed)) if benchmark.plan is not None else None
    except CxError as mistake:
        return Order(args, str(mistake))
    amount = benchmark.amount(settings) if benchmark.amount is not None else ""
    if expected is None:
        return Order(args, undone, "", amount)
    budget = st.number_input("Budget in USD", 0.01, value=None, key="budget", placeholder="none", help=BUDGET_HELP)
    args += [] if budget is None else [f"--budget={budget:g}"]
    return Order(args, undone, expected.describe(), amount)


WHAT_HAPPENS = (
    "The same settings give the same dataset. It goes on when you leave this page; stopped, it goes on where it was."
)


def confirm(order: Order, words: str) -> bool:
    """What will happen, in `words`, and the button; True when it was pressed."""
    with st.container(border=True):
        section("What will happen")
        if order.amount:
            st.markdown(f"**{plain(order.amount)}.**")
        st.caption(plain(f"{words} {WHAT_HAPPENS}"))
        if order.expected:
            st.info(plain(f"{order.expected}. Each call is counted; what it took is shown while it runs and kept."))
        if order.problem:
            st.warning(plain(order.problem))
        pressed = st.button(
            "Generate dataset", type="primary", disabled=bool(order.problem), width="stretch", key="generate"
        )
        with st.expander("The same on the command line", type="compact"):
            show_code(f"python -m cxlab {shlex.join(order.args)}")
    return pressed


def choose_source(sources: Mapping[str, Importer], root: Path) -> tuple[str, str, dict[str, Any], bool]:
    """What is to be imported, where below `root`, the source's own settings; and whether to preview it."""
    titles = {name: source.title for name, source in sources.items()}
    kind = choose_id("kind", "What is imported", list(sources), titles.__getitem__)
    source = sources[kind]
    st.caption(plain(f"Give {source.takes}. Take out names and numbers of real people first."))
    given = fill_in(source.Options.switches(), "import")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tip = f"On the machine that runs this app, below {root}; its owner chooses that folder with --import-root."
        folder = st.text_input("Folder or file", key="folder", placeholder=kind, help=plain(tip), bind="query-params")
        pressed = st.button("Preview", key="import-look", type="primary", disabled=not folder.strip())
    st.caption(plain(f"Folders are looked for in {root}."))
    return kind, folder.strip(), given, pressed


def show_job(
    look: Callable[[], Job],
    stages: Callable[[str], tuple[Sequence[StageProgress], str]],
    spending: Callable[[str], tuple[Mapping[str, Any], str]],
    waiting: Callable[[str], str],
    cancel: Callable[[str], None],
    again: Callable[[Sequence[str]], None],
) -> None:
    """A job that makes a dataset: its stages, what it took and waits for as they go, and what can be done about it."""
    job = look()
    with st.container(border=True):
        what = "Writing a sample" if SAMPLE in job.args else "Making a dataset"
        section(f"{what}: {_describe(job.args)}", badges=[badge_of(job)])
        if job.state == "running":
            _poll(look, stages, spending, waiting)
            tip = "What is finished stays, and it can be resumed."
            st.button("Cancel", key=f"cancel-{job.id}", on_click=cancel, args=(job.id,), help=tip)
            return
        done, dataset_id = stages(job.id)
        if job.state == "done" and SAMPLE in job.args:
            draw_spent(spending(job.id)[0])
            st.caption("It stands below, where its settings are confirmed.")
            return
        if job.state == "done":
            if st.button("Open the dataset", type="primary", key=f"open-{job.id}", disabled=not dataset_id):
                st.query_params.pop("job", None)
                go(View(dataset=dataset_id, tab="statistics"))
            return
        draw_stages(done)
        spent, why = spending(job.id)
        draw_spent(spent)
        args = list(job.args)
        if job.state == "stopped" and why:
            st.warning(plain(f"{why[:1].upper()}{why[1:]}."))
            given = next((float(each[9:]) for each in args if each.startswith("--budget=")), None)
            chosen = st.number_input("Budget in USD", 0.01, value=given, key=f"budget-{job.id}", help=BUDGET_HELP)
            args = [each for each in args if not each.startswith("--budget=")]
            args += [] if chosen is None else [f"--budget={chosen:g}"]
        elif job.state in ("stopped", "stalled"):
            st.caption(f"{job.state.capitalize()}. What was finished is kept.")
        else:
            error(
                "It ended by a fault.", "What was finished is kept: mend the cause and resume, or change the settings."
            )
            show_log(job)
        if st.button(
            "Resume", key=f"resume-{job.id}", help="The same settings again; finished stages are not repeated."
        ):
            again(args)


def _describe(args: Sequence[str]) -> str:
    told = dict(each.removeprefix("--").split("=", 1) for each in args if each.startswith("--") and "=" in each)
    name = declared(args[1]).card.name if len(args) > 1 else "a benchmark"
    titles = _list_titles(args[1]) if len(args) > 1 else {}
    rest = [
        f"{titles.get(key.replace('-', '_'), key.replace('-', ' '))} {value}"
        for key, value in told.items()
        if key not in ("seed", "budget")
    ]
    shown = [each if len(each) <= _LONGEST_WORD else f"{each[: _LONGEST_WORD - 1]}…" for each in rest]
    return plain(", ".join([name, *shown, f"seed {told.get('seed', '0')}"]))


def _list_titles(benchmark: str) -> dict[str, str]:
    """What the form calls each setting, within a sentence."""
    if benchmark not in REGISTRY:
        return {}
    switches = REGISTRY[benchmark].GenerateOptions.switches()
    return {switch.name: f"{switch.title[:1].lower()}{switch.title[1:]}" for switch in switches}


@st.fragment(run_every=0.7)
def _poll(
    look: Callable[[], Job],
    stages: Callable[[str], tuple[Sequence[StageProgress], str]],
    spending: Callable[[str], tuple[Mapping[str, Any], str]],
    waiting: Callable[[str], str],
) -> None:
    job = look()
    draw_stages(stages(job.id)[0], job.state == "running")
    # What a job that was killed waited for nobody waits for any more.
    if job.state == "running" and (told := waiting(job.id)):
        st.caption(plain(f"{told[:1].upper()}{told[1:]}"))
    draw_spent(spending(job.id)[0])
    if job.state != "running":
        st.rerun()


class ImportPreview(Protocol):
    """What a folder came to; `cxlab.importers.imported.ImportResult` is one."""

    dataset: Any
    samples: list[Any]
    tables: dict[str, pl.DataFrame]
    rejected: Sequence[Any]
    ignored: list[str]
    rows: dict[str, int]

    @property
    def tasks(self) -> dict[str, int]: ...


def show_results(found: Imported, title: str) -> bool:
    """What a source of results would become, where there are no tables to look at; True when it is to be stored."""
    told = None if found.dataset else found.report()
    complaints = list(told.complaints if told else getattr(found, "rejected", ()))
    section(
        f"{plain(found.dataset.name if found.dataset else title[:1].upper() + title[1:])} can be imported",
        "Nothing is stored yet."
        + (
            f" Of what is in it {format_count(len(complaints))} cannot be used."
            if complaints
            else " All of it can be used."
        ),
    )
    if found.dataset is not None:
        st.caption(plain(f"Licence: {found.dataset.licence}"), help=LICENCE)
    if told:
        say("\n".join(told.lines[:200]))
    pressed = st.button("Import it", type="primary", key="import-store")
    if complaints:
        with st.expander("What cannot be used", type="compact"):
            say("\n".join(map(str, complaints[:200])))
    return pressed


def tell_stored(found: Imported) -> None:
    """What became of an import that is no dataset, and where to see it."""
    told = found.report()
    (st.warning if told.failed else st.success)(plain("\n\n".join(told.lines[:200])))
    st.page_link("pages/overview.py", label="See it on Overview")


def show_preview(found: ImportPreview) -> bool:
    """What an import would store and what it would not; True when it is to be stored."""
    talks = found.tables["conversations"].height if "conversations" in found.tables else 0
    # Samples are what is scored; conversations alone are for reading.
    count, what = (len(found.samples), "sample") if found.samples else (talks, "conversation")
    section(
        f"{format_count(count)} {what}{'' if count == 1 else 's'} can be imported",
        "Nothing is stored yet. Rows are what the files hold; samples are what models are scored on.",
    )
    with st.container(horizontal=True, gap="small"):
        for task, n in found.tasks.items():
            chip(f"{label(task)}: {format_count(n)}", "green")
        # Conversations alone belong to no task; else what is lacking is said.
        for declared_task in declared(found.dataset.benchmark).card.tasks if found.samples else ():
            if declared_task.id not in found.tasks:
                missing = "The files that this task needs are missing, or no row was usable."
                chip(f"{label(declared_task.id)}: none", "gray", missing)
    st.caption(plain(f"Licence: {found.dataset.licence}"), help=LICENCE)
    pressed = st.button("Import it", type="primary", key="import-store")
    left, right = st.columns([2, 3], gap="large")
    with left:
        rows = pl.DataFrame({"part": list(found.rows), "rows": list(found.rows.values())})
        columns = {"part": column("Part or file"), "rows": column("Rows", "count")}
        show_table(rows, columns, key="import-rows", alt="Rows that each part has.", downloads=False)
        if found.ignored:
            with st.expander(
                f"{format_count(len(found.ignored))} {'file' if len(found.ignored) == 1 else 'files'} ignored",
                type="compact",
            ):
                st.caption("Their names or kinds are none of those that are read.")
                say("\n".join(found.ignored[:200]))
    with right:
        names = [name for name, frame in found.tables.items() if frame.height and name != "rejected"]
        if names:
            name = st.segmented_control("First rows of", names, default=names[0], required=True, key="import-table")
            head = found.tables[name].head(5)
            columns = {each: column(label(each)) for each in head.columns}
            show_table(head, columns, key=f"import-head-{name}", alt=f"First rows of {name}.", downloads=False)
    if found.rejected:
        show_rejected(found.tables["rejected"], "preview")
    else:
        st.success("No complaint: every row was usable.")
    return pressed
