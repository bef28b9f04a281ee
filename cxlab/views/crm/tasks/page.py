"""Tasks: what agents are asked and told, a question's answer, and how it comes about step by step."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab.benchmarks.crmarena.answers import best_constant
from cxlab.benchmarks.crmarena.solvers import SOLVERS
from cxlab.benchmarks.crmarena.tasks import TASKS, CrmTask
from cxlab.charts.numbers import format_count
from cxlab.errors import CxError
from cxlab.records import Dataset, Sample
from cxlab.store import layout, write
from cxlab.ui.address import cached
from cxlab.ui.labels import chip, error, plain, say, section, show_code
from cxlab.ui.path_strips import grid
from cxlab.ui.place import go, pick, show_link
from cxlab.ui.render import render
from cxlab.ui.tables import column, show_table
from cxlab.views.crm.organisation import Organisation, has_organisation, load, open_sandbox
from cxlab.views.crm.place import LONGEST_QUERY, Place
from cxlab.views.crm.records.page import draw_timeline, show_trail
from cxlab.views.crm.tasks.solving import (
    QuestionSolution,
    SolverStep,
    can_solve,
    name_answer,
    shorten_question,
    tabulate,
    work_out,
    write_alone,
)

_ANSWERS = {
    "user": "an agent's id", "product": "a product's id", "article": "an article's id", "issue": "an issue's id",
    "month": "a month's name", "state": "a state's two letters", "text": "a text",
}  # fmt: skip
_METRICS = {"exact_match": "exact match", "fuzzy_match": "F1 of words"}
READINGS = {"": "As this dataset reads the policies", "policy": "As the policies read", "original": "As the original"}


def read_samples(dataset_id: str) -> tuple[Sample, ...]:
    """The questions of a dataset, by their numbers."""
    path = layout.dataset_folder(layout.resolve_home(None), dataset_id)
    stamp = max((each.stat().st_mtime_ns for each in path.glob("samples*")), default=0)
    return _read_samples(dataset_id, str(path), stamp)


@functools.lru_cache(maxsize=4)
def _read_samples(dataset_id: str, folder: str, stamp: int) -> tuple[Sample, ...]:
    del folder, stamp
    return tuple(sorted(write.load_samples(dataset_id), key=lambda each: int(each.inputs.get("number") or 0)))


def show_tasks(place: Place, dataset: Dataset) -> None:
    """All tasks, the questions of one, or one question, by the address."""
    samples = read_samples(dataset.id)
    if not samples:
        st.info("This dataset has records and no tasks: it was imported without the task file.")
        return
    organisation = load(dataset.id) if has_organisation(dataset.id) else None
    if place.sample:
        sample = next((each for each in samples if each.id == place.sample), None)
        if sample is None:
            error(f"There is no question {place.sample} in this dataset.")
            show_link("All tasks", place.change(sample="", kind=""))
            return
        _show_question(place, dataset, organisation, sample)
    elif place.kind in TASKS:
        _show_task(place, organisation, TASKS[place.kind], [each for each in samples if each.task == place.kind])
    else:
        _show_all(place, samples)


def _show_all(place: Place, samples: Sequence[Sample]) -> None:
    section(
        f"{format_count(len(samples))} questions of {len({each.task for each in samples})} tasks",
        "Pick a task to read its policy and questions. The constant is the one answer that is right most often: an "
        "agent that always gives it reaches that share.",
    )
    rows = []
    for task in TASKS.values():
        golds = [each.expected.get("answer") for each in samples if each.task == task.id]
        constant, share = best_constant(golds)
        rows.append(
            {
                "id": task.id, "title": task.title, "persona": task.persona, "answer": _ANSWERS[task.answer],
                "metric": _METRICS[task.metric], "questions": len(golds),
                "unanswerable": sum(gold is None for gold in golds),
                "constant": constant if golds else None, "share": share if golds else None,
            }
        )  # fmt: skip
    columns = {
        "title": column("Task"),
        "persona": column("Asked by"),
        "answer": column("The answer is"),
        "questions": column("Questions", "count"),
        "unanswerable": column("No answer", "count", "Questions that have none: right is then to say None."),
        "share": column("Constant", "share", "Share of questions that the commonest answer gets right."),
        "constant": column("Commonest answer"),
        "metric": column("Scored by"),
    }
    picked = show_table(
        pl.DataFrame(rows), columns, key="crm-tasks", alt="The nine tasks.", select="single", downloads=False
    )
    if picked:
        go(place.change(kind=picked[0]["id"]))


def _show_task(place: Place, organisation: Organisation | None, task: CrmTask, samples: Sequence[Sample]) -> None:
    show_trail([("Tasks", place.change(kind=""))], task.title)
    section(task.title, f"Asked by a service {task.persona}. The answer is {_ANSWERS[task.answer]}.")
    if not samples:
        st.info("This dataset has no question of this task.")
        return
    _show_told(samples[0])
    rows = [
        {
            "id": each.id,
            "number": each.inputs.get("number"),
            "query": str(each.inputs.get("query", "")),
            "asked": shorten_question(str(each.inputs.get("query", ""))),
            "today": each.inputs.get("today"),
            "answer": name_answer(organisation, task.id, each.expected.get("answer")),
            "difficulty": each.facets.get("difficulty"),
        }
        for each in samples
    ]
    columns = {
        "number": column("No.", "count"),
        "asked": column("Question", width="large"),
        "today": column("Today"),
        "answer": column("Answer", width="medium"),
        "difficulty": column("Objects", help="How many objects the answer joins."),
    }
    picked = show_table(
        pl.DataFrame(rows), columns, key="crm-questions", alt=f"Questions of {task.title}.", select="single",
        search=True,
    )  # fmt: skip
    if picked:
        go(place.change(sample=picked[0]["id"]))


def _show_told(sample: Sample) -> None:
    """What every agent is told with a question, and what it is told as well when aided."""
    always, aided = (str(sample.inputs.get(name) or "") for name in ("required", "optional"))
    if always:
        with st.expander("The policy, as every agent is told it", expanded=True):
            say(always)
    if aided:
        with st.expander("What an aided agent is told as well"):
            say(aided)


def _show_question(place: Place, dataset: Dataset, organisation: Organisation | None, sample: Sample) -> None:
    task = TASKS.get(sample.task)
    title = task.title if task else sample.task
    number = f"No. {sample.inputs.get('number', '')}"
    up = place.change(sample="")
    show_trail([("Tasks", up.change(kind="")), (title, up.change(kind=sample.task))], number)
    st.markdown(f"**{plain(number)}, {plain(title)}**")
    say(str(sample.inputs.get("query", "")))
    _show_facts(place, sample)
    _show_told(sample)
    _show_answer(place, organisation, sample)
    if organisation is None:
        st.info("How the answer comes about needs the records, which were not imported.")
    elif can_solve(sample.task, sample.expected):
        _show_solution(place, dataset, organisation, sample)
    else:
        show_evidence(place, organisation, sample)


def _show_facts(place: Place, sample: Sample) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for name, value in sample.facets.items():
            chip(f"{name} {value}")
        if today := sample.inputs.get("today"):
            chip(f"today {today}")
        for name in ("case_id", "contact_id"):
            if id := sample.inputs.get(name):
                show_link(f"{name} {id}", place.open(str(id)))


def _show_answer(place: Place, organisation: Organisation | None, sample: Sample) -> None:
    expected = sample.expected
    gold = expected.get("answer")
    with st.container(border=True):
        st.markdown("**The answer**")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(name_answer(organisation, sample.task, gold), width="content")
            if isinstance(gold, str) and organisation is not None and organisation.find(gold):
                show_link("Open the record", place.open(gold))
        level = [each for each in expected.get("answers") or () if each != gold]
        if level:
            st.caption(
                "Level with it: " + plain(", ".join(name_answer(organisation, sample.task, each) for each in level))
            )
        if "answer_original" in expected and expected["answer_original"] != gold:
            other = name_answer(organisation, sample.task, expected["answer_original"])
            st.caption(plain(f"As the original's tools count, it would be: {other}"))


def _show_solution(place: Place, dataset: Dataset, organisation: Organisation, sample: Sample) -> None:
    section(
        "How it is worked out",
        "The reference solution: calls of the tools that agents have, in order, with the queries that each asks.",
    )
    reading = pick(place, "reading", "How the policies are read", list(READINGS), READINGS, style="segments")
    try:
        solved = solve_sample(dataset, sample, reading)
    except CxError as fault:
        error(f"It cannot be worked out: {fault}")
        return
    for number, step in enumerate(solved.steps, start=1):
        show_step(place, organisation, step, number)
    told = "; ".join(name_answer(organisation, sample.task, each) for each in solved.answers)
    st.success(plain(f"Answer: {told or name_answer(organisation, sample.task, None)}"), icon=":material/check:")
    gold = sample.expected.get("answer")
    if not reading and gold not in (solved.answers or (None,)):
        st.warning(plain(f"The dataset says otherwise: {name_answer(organisation, sample.task, gold)}"))


def solve_sample(dataset: Dataset, sample: Sample, reading: str = "") -> QuestionSolution:
    """The reference solution of a question on its day; remembered."""
    today = sample.inputs.get("today")
    arguments = sample.expected["arguments"]
    return cached(_solve, dataset.id, sample.task, arguments, str(today) if today else None, reading)


def _solve(
    dataset_id: str, task: str, arguments: Mapping[str, object], today: str | None, reading: str
) -> QuestionSolution:
    dataset = write.load_dataset(dataset_id)
    return work_out(open_sandbox(dataset, today, reading, linked=True), task, arguments)


def show_step(place: Place, organisation: Organisation, step: SolverStep, number: int, marked: str = "") -> None:
    """One call: what for, with what, which queries it asks, and what it returned; `marked` says why it stands out."""
    with st.container(border=True, gap="small", key=f"cx-solver-{'marked-' if marked else ''}{number}"):
        st.markdown(f"**{number}. {plain(step.tool)}**" + (f" · {plain(marked)}" if marked else ""))
        st.caption(plain(step.about))
        given = [f"{name} = {_say_argument(organisation, step, name)}" for name in step.arguments]
        if given:
            say("\n".join(given))
        show_result(organisation, step.result)
        if step.queries:
            count = len(step.queries)
            with st.expander("The query" if count == 1 else f"The {count} queries", type="compact"):
                for query in step.queries:
                    show_code(query)
                    if len(query) <= LONGEST_QUERY:
                        show_link("Ask it in the console", place.ask(query))


def _say_argument(organisation: Organisation, step: SolverStep, name: str) -> str:
    maker = step.made_by.get(name)
    return f"what step {maker} returned" if maker else write_alone(organisation, step.arguments[name])


def show_result(organisation: Organisation | None, result: object) -> None:
    """What a call returned: a small table, or a line."""
    heads, rows, count = tabulate(organisation, result)
    if rows:
        grid(heads, [[(cell, "") for cell in row] for row in rows])
        if count > len(rows):
            st.caption(f"The first {len(rows)} of {format_count(count)}.")
    else:
        st.markdown(f"→ {plain(write_alone(organisation, result))}")


def show_evidence(place: Place, organisation: Organisation, sample: Sample) -> None:
    """What the answer of a task without a solver rests on: the article, the rule, and what was written in the case."""
    if sample.task in SOLVERS:
        st.info("This dataset does not keep what the solver was asked for, as the published files do not.")
        return
    expected = sample.expected
    article = organisation.find(str(expected.get("article_id") or expected.get("answer") or ""))
    section("What it rests on", "No calculation: the answer stands in the texts.")
    for name, words in (("rule", "The rule"), ("breach", "How the agent broke it")):
        if expected.get(name):
            st.markdown(f"**{words}**")
            say(str(expected[name]))
    if article is not None and article.object.name == "Knowledge__kav":
        st.markdown(f"**The article: {plain(article.title)}**")
        show_link("Open the article", place.open(article.id))
        st.html(_mark(str(article.values.get("FAQ_Answer__c") or ""), str(expected.get("answer") or "")))
    case = organisation.find(str(sample.inputs.get("case_id") or ""))
    if case is not None:
        st.markdown("**What happened in the case**")
        draw_timeline(place, organisation, case)
    if article is None and case is None:
        st.info("This dataset does not say which article the answer stands in.")


def _mark(text: str, passage: str) -> str:
    """A text with the passage marked in it, as HTML."""
    found = re.search(re.escape(passage), text, re.IGNORECASE) if passage else None
    start, end = found.span() if found else (len(text), len(text))
    cut = ((text[:start], False), (text[start:end], True), (text[end:], False))
    parts = [{"text": part, "marked": marked} for part, marked in cut if part]
    return render("cxlab.views.crm:passage", parts=parts)
