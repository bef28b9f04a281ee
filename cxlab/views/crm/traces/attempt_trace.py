"""One attempt of an agent at a question: what it did beside what the solver does, and where the two part."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from cxlab.charts.numbers import format_count, format_seconds
from cxlab.errors import CxError
from cxlab.read import StoredAttempt, View
from cxlab.records import Dataset, Sample
from cxlab.store import write
from cxlab.ui.labels import chip, error, say, show_code
from cxlab.ui.place import show_link
from cxlab.views.crm.organisation import Organisation, count_records, has_organisation, load
from cxlab.views.crm.place import LONGEST_QUERY, Place
from cxlab.views.crm.tasks.page import show_evidence, show_result, show_step, solve_sample
from cxlab.views.crm.tasks.solving import SolverStep, can_solve, name_answer, write_alone
from cxlab.views.crm.traces.trace import StoredDeparture, Turn, read_departure, read_turns

_LONGEST_SEEN, _LONGEST_WHOLE = 4_000, 40_000


def show_attempt(whole: StoredAttempt) -> None:
    """The attempt: the question and both answers, the first departure, then both ways side by side."""
    dataset, organisation = _open(str(whole.run.get("dataset_id") or ""))
    sample = _read_sample(whole)
    place = Place(View(dataset=dataset.id if dataset else ""))
    turns, departure = read_turns(whole.messages), read_departure(whole.attempt)
    _show_question(place, organisation, sample, whole)
    steps = _solve(dataset, organisation, sample)
    if departure is not None:
        _show_departure(place, organisation, turns, steps, departure)
    did, due = st.columns(2, gap="large")
    with did:
        st.markdown("**What the agent did**")
        for turn in turns:
            show_turn(place, organisation, turn, departure)
        if not turns:
            st.caption("It never replied.")
    with due:
        if organisation is not None and not steps:
            show_evidence(place, organisation, sample)
            return
        st.markdown("**What the solver does**")
        if organisation is None:
            st.caption("The dataset is not in this store any more, or came without its records.")
        else:
            _show_steps(place, organisation, steps, departure)


def _open(dataset_id: str) -> tuple[Dataset | None, Organisation | None]:
    try:
        dataset = write.load_dataset(dataset_id)
        return dataset, load(dataset_id) if has_organisation(dataset_id) else None
    except CxError:
        return None, None


def _read_sample(whole: StoredAttempt) -> Sample:
    given = whole.sample
    return Sample(
        id=str(whole.attempt["sample_id"]),
        dataset_id=str(whole.run.get("dataset_id") or ""),
        benchmark=str(whole.attempt["benchmark"]),
        task=str(whole.attempt["task"]),
        inputs=given.get("inputs") or {},
        expected=given.get("expected") or {},
    )


def _solve(dataset: Dataset | None, organisation: Organisation | None, sample: Sample) -> tuple[SolverStep, ...]:
    if dataset is None or organisation is None or not can_solve(sample.task, sample.expected):
        return ()
    try:
        return solve_sample(dataset, sample).steps
    except CxError as fault:
        error(f"The answer cannot be worked out: {fault}")
        return ()


def _show_question(place: Place, organisation: Organisation | None, sample: Sample, whole: StoredAttempt) -> None:
    given = (whole.attempt.get("output") or {}).get("answer")
    with st.container(border=True):
        say(str(sample.inputs.get("query") or ""))
        due, came = st.columns(2)
        with due:
            st.caption("The answer")
            st.text(name_answer(organisation, sample.task, sample.expected.get("answer")))
        with came:
            st.caption("The agent's answer")
            st.text("It gave none" if given is None else name_answer(organisation, sample.task, str(given)))
        if place.dataset:
            show_link("The question and how it is worked out", place.change(tab="tasks", sample=sample.id))


def _show_departure(
    place: Place,
    organisation: Organisation | None,
    turns: Sequence[Turn],
    steps: Sequence[SolverStep],
    departure: StoredDeparture,
) -> None:
    """The reply where it went wrong beside the solver's step."""
    with st.container(border=True, key="cx-solver-marked-first"):
        where = "" if departure.turn is None else f", in reply {departure.turn}"
        st.markdown(f"**Where it first went wrong{where}**")
        say(departure.reason[:1].upper() + departure.reason[1:])
        turn = next((each for each in turns if each.number == departure.turn), None)
        step = next((each for each in steps if each.tool == departure.step), None)
        if turn is None and step is None:
            st.caption("No single action is to blame.")
            return
        if turn is not None and not steps:
            # What has no solver has nothing to set beside it.
            _show_action(place, organisation, turn)
            return
        did, due = st.columns(2, gap="medium")
        with did:
            st.caption("The agent")
            if turn is None:
                st.text("never did anything like it")
            else:
                _show_action(place, organisation, turn)
        with due:
            st.caption("The solver")
            if step is None:
                st.text("has no step like it")
            else:
                show_code(_write_call(organisation, step.tool, step.arguments))
                # A step that reckons shows in the query that it was reckoned for.
                for query in next((each.queries for each in steps[steps.index(step) :] if each.queries), ()):
                    show_code(query)


def _show_steps(
    place: Place, organisation: Organisation, steps: Sequence[SolverStep], departure: StoredDeparture | None
) -> None:
    marked = departure.step if departure else ""
    first = next((number for number, step in enumerate(steps, start=1) if marked and step.tool == marked), 0)
    for number, step in enumerate(steps, start=1):
        show_step(place, organisation, step, number, "what the agent missed" if number == first else "")


def show_turn(place: Place, organisation: Organisation | None, turn: Turn, departure: StoredDeparture | None) -> None:
    """One reply: thought, action, and what came of it; the first departure is marked."""
    here = departure is not None and departure.turn == turn.number
    with st.container(border=True, gap="small", key=f"cx-reply-{'marked-' if here else ''}{turn.number}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**Reply {turn.number}**", width="content")
            if here:
                chip("✕ first departure", "red")
            spent = [format_seconds(turn.latency_s) if turn.latency_s is not None else "",
                     f"{format_count(turn.tokens)} tokens" if turn.tokens is not None else ""]  # fmt: skip
            st.caption(" · ".join(filter(None, spent)), width="content")
        if turn.thought:
            st.caption("Thought")
            say(turn.thought)
        _show_action(place, organisation, turn)
        _show_seen(organisation, turn)
        if turn.reminder:
            st.caption("No action could be read in it, so it was told")
            say(turn.reminder)
        if turn.raw:
            with st.popover("The reply as it was sent", type="tertiary", key=f"crm-raw-{turn.number}"):
                show_code(turn.raw)


def _show_action(place: Place, organisation: Organisation | None, turn: Turn) -> None:
    if turn.query is not None:
        show_code(turn.query)
        if place.dataset and len(turn.query) <= LONGEST_QUERY:
            show_link("Ask it in the console", place.ask(turn.query))
    elif turn.answer is not None:
        st.caption("Answers")
        say(turn.answer)
    elif turn.tool:
        show_code(_write_call(organisation, turn.tool, turn.arguments or {}))


def _write_call(organisation: Organisation | None, tool: str, arguments: object) -> str:
    given = arguments if isinstance(arguments, dict) else {}
    inside = ",\n".join(f"  {name}={write_alone(organisation, value)}" for name, value in given.items())
    return f"{tool}(\n{inside}\n)" if inside else f"{tool}()"


def _show_seen(organisation: Organisation | None, turn: Turn) -> None:
    """What the agent was shown: an error with its code, rows as a table, else the text."""
    if turn.seen is None:
        return
    if turn.error:
        chip(f"✕ {turn.error}", "red")
        # Not wrapped: a caret in it points to a place in the line above.
        show_code(turn.seen[:_LONGEST_SEEN])
        return
    count = "" if turn.records is None else f"{count_records(turn.records)}, "
    st.caption(f"Saw {count}{format_count(len(turn.seen))} characters")
    if isinstance(turn.result, list | dict) and turn.result:
        show_result(organisation, turn.result)
        with st.popover("All that it saw", type="tertiary", key=f"crm-seen-{turn.number}"):
            show_code(turn.seen[:_LONGEST_WHOLE])
            if len(turn.seen) > _LONGEST_WHOLE:
                st.caption(f"The first {format_count(_LONGEST_WHOLE)} characters.")
    elif turn.result == []:
        st.text("nothing")
    else:
        say(turn.seen[:_LONGEST_SEEN])
