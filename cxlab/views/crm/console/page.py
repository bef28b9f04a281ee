"""Console: queries asked of the organisation, with what may come next, faults at their place, and a plan."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import streamlit as st

from cxlab.benchmarks.crmarena.organisation.schema import Schema
from cxlab.benchmarks.crmarena.sandbox import TIMEOUT_S, Sandbox
from cxlab.benchmarks.crmarena.soql import QueryError
from cxlab.benchmarks.crmarena.soql.completion import complete
from cxlab.charts.numbers import format_count, format_seconds
from cxlab.errors import CxError
from cxlab.records import Dataset
from cxlab.ui.labels import chip, error, plain, say
from cxlab.ui.place import go, move, show_link
from cxlab.ui.render import render
from cxlab.ui.tables import column, show_table
from cxlab.views.crm.console.asking import Answer, ask, find_meant, mark_place, to_json, to_table
from cxlab.views.crm.console.queries_examples import EXAMPLES
from cxlab.views.crm.organisation import Organisation, count_records, open_sandbox
from cxlab.views.crm.place import LONGEST_QUERY, Place
from cxlab.views.crm.records.page import shorten

_MOST_SUGGESTIONS = 40
_MOST_KEPT = 30
_MOST_ROWS = 2_000
_TEMPLATES = Path(__file__).parent / "templates"
_LONG = "crm-long-query"
_HISTORY = "crm-history"


@dataclass(frozen=True)
class ConsoleQuery:
    """A query that was asked in this session, and in short what came of it."""

    query: str
    came: str


def show_console(place: Place, dataset: Dataset, organisation: Organisation) -> None:
    """The editor, what came of the query, and the queries before."""
    try:
        sandbox = open_sandbox(dataset, place.today or None)
    except CxError as fault:
        error(str(fault))
        return
    query = place.query or str(st.session_state.get(_LONG, ""))
    editor, beside = st.columns([3, 1], gap="medium")
    with editor:
        edit(query, sandbox.schema)
    answer = None
    if query.strip():
        with st.spinner("Asking the organisation"):
            answer = ask(sandbox, query)
        _remember(query, answer)
    with beside:
        _choose_day(sandbox)
        _show_examples(place)
        _show_history(place)
    if answer is not None:
        _show_answer(place, organisation, query, answer)
    else:
        st.caption(
            "Type a query, or begin with an example. SOQL begins with SELECT, SOSL with FIND; nothing can be changed, "
            f"and a query has {TIMEOUT_S:g} s."
        )


@st.fragment
def edit(query: str, schema: Schema) -> None:
    """The editor with suggestions; a run writes the query into the address."""
    draft = _read_draft(st.session_state.get("crm-editor"))
    found = complete(*draft, schema)[:_MOST_SUGGESTIONS] if draft else []
    data = {
        "text": query,
        "draft": {"text": draft[0], "at": draft[1]} if draft else None,
        "found": [{"text": each.text, "kind": each.kind, "about": each.about} for each in found],
    }
    asked = _editor()(data=data, key="crm-editor", on_draft_change=_nothing, on_run_change=_nothing)
    if asked.run is not None:
        _run(str(asked.run))


def _nothing() -> None:
    """A rerun is all that is wanted."""


@functools.cache
def _part(kind: str) -> str:
    return (_TEMPLATES / f"editor.{kind}").read_text(encoding="utf-8")


def _editor() -> Any:
    # A component belongs to the running server, so each run names it anew.
    return st.components.v2.component("cx_query_editor", html=_part("html"), css=_part("css"), js=_part("js"))


def _read_draft(state: Any) -> tuple[str, int] | None:
    """(text, place) of what is being typed, as the editor told it."""
    draft = state.get("draft") if state is not None else None
    if draft is None:
        return None
    text, at = draft.get("text"), draft.get("at")
    if not isinstance(text, str) or isinstance(at, bool) or not isinstance(at, int | float):
        return None
    return text, max(0, min(int(at), len(text)))


def _run(query: str) -> None:
    place = Place.now().change(tab="console")
    short = len(query) <= LONGEST_QUERY
    st.session_state[_LONG] = "" if short else query
    go(place.change(query=query if short else ""))


def _choose_day(sandbox: Sandbox) -> None:
    key = "crm-today"
    st.session_state[key] = sandbox.today

    def changed() -> None:
        picked = st.session_state[key]
        move(Place.now().change(today=picked.isoformat() if isinstance(picked, date) else ""))

    tip = "The day that TODAY, LAST_N_DAYS:30 and the like are seen from."
    st.date_input("Today is", key=key, on_change=changed, help=tip, min_value=date.min, max_value=date.max)


def _show_examples(place: Place) -> None:
    with st.popover("Examples", width="stretch"):
        for title, query in EXAMPLES.items():
            show_link(title, place.ask(query))


def _show_history(place: Place) -> None:
    asked: list[ConsoleQuery] = st.session_state.get(_HISTORY, [])
    with st.popover(f"Asked before ({len(asked)})", width="stretch", disabled=not asked):
        for each in reversed(asked):
            show_link(shorten(each.query), place.ask(each.query), help=plain(each.query[:500]))
            st.caption(plain(each.came))


def _remember(query: str, answer: Answer) -> None:
    came = answer.fault.code if answer.fault else count_records(len(answer.records))
    asked: list[ConsoleQuery] = st.session_state.get(_HISTORY, [])
    kept = [each for each in asked if each.query != query and len(each.query) <= LONGEST_QUERY]
    st.session_state[_HISTORY] = [*kept, ConsoleQuery(query, came)][-_MOST_KEPT:]


def _show_answer(place: Place, organisation: Organisation, query: str, answer: Answer) -> None:
    if len(query) > LONGEST_QUERY:
        st.caption("This query is too long for an address: it stays in this session only.")
    if answer.fault is not None:
        _show_fault(place, organisation, query, answer.fault)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(count_records(len(answer.records)), anchor=False, width="content")
        st.caption(format_seconds(answer.seconds), width="content")
    _show_plan(answer.steps, opened=not answer.records)
    if not answer.records:
        st.info("No record is like that. The plan above says what was looked for.")
        return
    _show_table(place, organisation, answer)


def _show_fault(place: Place, organisation: Organisation, query: str, fault: QueryError) -> None:
    where = f"row {fault.row}, column {fault.column}" if fault.row is not None else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        chip(f"✕ {fault.code}", "red")
        st.caption(where or "The query as a whole", width="content")
    if lines := mark_place(query, fault):
        st.html(render("cxlab.views.crm:source", lines=lines, problem=fault.problem))
    else:
        say(fault.problem)
    if meant := find_meant(query, fault, organisation.schema):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("Did you mean", width="content")
            for name, changed in meant:
                show_link(name, place.ask(changed))


def _show_plan(steps: Sequence[str], opened: bool) -> None:
    with st.expander("Explain: how it is worked through", type="compact", expanded=opened):
        for number, step in enumerate(steps, start=1):
            say(f"{number}. {step}")


def _show_table(place: Place, organisation: Organisation, answer: Answer) -> None:
    table = to_table(answer.records)
    shown = table.head(_MOST_ROWS)
    if table.height > shown.height:
        st.caption(f"The first {format_count(shown.height)} are shown; the JSON file has all of them.")
    columns = {name: column(name) for name in shown.columns}
    links = "Id" in shown.columns
    picked = show_table(
        shown, columns, key="crm-answer", alt="Records of the answer.", select="single" if links else None, search=True
    )
    st.download_button(
        "All records as JSON", to_json(answer.records), "records.json", "application/json", on_click="ignore",
        key="crm-json", type="tertiary",
    )  # fmt: skip
    if picked and organisation.find(str(picked[0]["Id"])):
        go(place.open(str(picked[0]["Id"])))
