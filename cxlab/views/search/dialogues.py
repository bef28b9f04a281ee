"""Searching the dialogues of runs by the words in them, on the page Conversations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import streamlit as st
from markupsafe import Markup, escape

from cxlab import read
from cxlab.charts.numbers import format_count
from cxlab.read import View
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, link
from cxlab.ui.filters import show_active, sidebar_filters
from cxlab.ui.labels import chip, label, plain, section
from cxlab.ui.paging import show_pages
from cxlab.ui.place import LONGEST, move, pick
from cxlab.ui.transcript_html import TranscriptLine, style, to_html
from cxlab.views.benchmarks import declared, declared_all, leave_out_floors, names_of
from cxlab.views.search import queries_dialogues
from cxlab.views.search.place import SearchPlace
from cxlab.views.search.queries_dialogues import FoundDialogues, find_dialogues, split_terms

SOURCES = {"": "Collected conversations", "runs": "Dialogues of runs"}
_ROWS_A_PAGE = 10
_SHOWN = 3
# Letters of a message on each side of the first word that was looked for.
_BEFORE, _AFTER = 200, 500
_SAID_BY = {
    "": "customer or agent", "customer": "the customer", "agent": "the agent", "tool": "a tool", "anybody": "anybody",
}  # fmt: skip
_ROLES = {"": ("customer", "agent"), "anybody": ()}
_VERDICTS = {"": "any", "failed": "failed", "unscored": "no verdict", "passed": "passed"}
_MARKS = {"passed": ("✓ passed", "green"), "failed": ("✕ failed", "red")}


def show_dialogues(place: SearchPlace, others: bool) -> bool:
    """What is searched, where there is more than one: conversations that were collected (`others`, whether there are
    any) or dialogues of runs. Whether the latter are, and with them the rest of the page is shown."""
    options = [*([""] if others else []), *(["runs"] if cached(queries_dialogues.has_dialogues) else [])]
    source = pick(place, "source", "Search in", options, SOURCES, style="segments") if len(options) > 1 else options[0]
    if source != "runs":
        return False
    view, about, said = _choose_filters(place)
    roles = _ROLES.get(said, (said,))
    terms = _ask(place)
    if not terms:
        st.info("Type words that stand in one message. What stands in “quotes” is looked for as it is.")
        return True
    with st.spinner("Searching"):
        narrowed = leave_out_floors(view, about).change(search="", attempt="", turn=None, tab="", page=1)
        found = cached(
            find_dialogues, narrowed, terms, roles, _ROWS_A_PAGE, (max(1, view.page) - 1) * _ROWS_A_PAGE, _SHOWN
        )
        elsewhere = (
            0 if found.dialogues or not roles else cached(find_dialogues, narrowed, terms, (), 1, 0, 1).dialogues
        )
    show_active(view.change(search=""), about)
    if found.dialogues:
        _show_found(view, terms, found)
    else:
        _say_none(place, said, elsewhere)
    return True


def _choose_filters(place: SearchPlace) -> tuple[View, Declaration, str]:
    """Benchmark, model, run, verdict and speaker, in the sidebar."""
    known = cached(read.benchmarks)["benchmark"].to_list()
    with st.sidebar:
        names = {"": "all benchmarks"} | names_of(known)
        benchmark = pick(place, "benchmark", "Benchmark", list(names), names) if len(known) > 1 else known[0]
        pick(place, "verdict", "Verdict", list(_VERDICTS), _VERDICTS)
        said = pick(place, "said", "Said by", list(_SAID_BY), _SAID_BY)
    about = declared_all([benchmark] if benchmark else known)
    view = place.view.change(benchmark=benchmark, page=place.view.page)
    return sidebar_filters(view, ("models", "runs"), about, without=about.floor_models), about, said


def _ask(place: SearchPlace) -> tuple[str, ...]:
    key = "search-words"
    st.session_state[key] = place.view.search

    def changed() -> None:
        move(place.now().change(search=str(st.session_state[key] or "").strip()[:LONGEST]))

    st.text_input(
        "Words", key=key, on_change=changed, max_chars=LONGEST, label_visibility="collapsed",
        placeholder="words in one message, for example: refund “next month”",
    )  # fmt: skip
    return split_terms(place.view.search)


def _say_none(place: SearchPlace, said: str, others: int) -> None:
    """That nothing was found, and in how many dialogues others than those asked of said it, with the way there."""
    section(
        f"No message of {_SAID_BY[said]} holds these words" if said != "anybody" else "No message holds these words"
    )
    if others:
        many = "1 dialogue" if others == 1 else f"{format_count(others)} dialogues"
        st.info(f"In {many} they stand in what others said, or in what a tool gave back.")
        st.button("Search what anybody said", key="search-anybody", on_click=move, args=(place.change(said="anybody"),))
    else:
        st.info("All words must stand in one message. Take fewer, or clear a filter in the sidebar.")


def _show_found(view: View, terms: Sequence[str], found: FoundDialogues) -> None:
    messages = "1 message" if found.messages == 1 else f"{format_count(found.messages)} messages"
    dialogues = "1 dialogue" if found.dialogues == 1 else f"{format_count(found.dialogues)} dialogues"
    section(
        f"{messages} in {dialogues}",
        "Where most messages hold the words comes first. Constant agents are left out unless one is chosen.",
    )
    style()
    for number, row in enumerate(found.rows.iter_rows(named=True)):
        said = found.said.filter(run_id=row["run_id"], attempt_id=row["attempt_id"]).to_dicts()
        with st.container(border=True, key=f"search-dialogue-{number}", gap="xsmall"):
            _show_one(view, terms, row, said)
    show_pages(view, found.dialogues, _ROWS_A_PAGE, "search-dialogues-page")


def _show_one(view: View, terms: Sequence[str], row: dict[str, Any], said: Sequence[dict[str, Any]]) -> None:
    """One dialogue: who and what became of it, and the messages that hold the words, each with the way to it."""
    about = declared(row["benchmark"])
    task = about.card.task(row["task"])
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(label(row['model']))}**", width="content")
        st.caption(plain(f"{about.card.name}, {task.title if task else row['task']}"), width="content")
        chip(*_MARKS.get(row["verdict"], ("– no verdict", "gray")))
        st.caption(plain(row["attempt_id"]), width="content")
    # There the next one is another that holds the words, as far as that page can look for them.
    listed = view.change(
        benchmark=row["benchmark"], attempt=f"{row['run_id']}/{row['attempt_id']}", tab="", page=1,
        verdict=view.verdict or "all", search=terms[0] if len(terms) == 1 else "",
    )  # fmt: skip
    for each in said:
        line = TranscriptLine(each["role"], int(each["turn"] or 0), each["text"] or "")
        st.html(to_html(line, mark_terms(cut_around(line.text, terms), terms)))
        where = f"at turn {line.turn}" if line.turn else "from its start"
        link(f"Read the dialogue {where}", "failures", listed.change(turn=line.turn or None))
    if row["found"] > len(said):
        more = row["found"] - len(said)
        st.caption(f"{format_count(more)} more {'message holds' if more == 1 else 'messages hold'} the words.")


def cut_around(text: str, terms: Sequence[str]) -> str:
    """A long text around the first of the terms, cut at words."""
    if len(text) <= _BEFORE + _AFTER:
        return text
    places = [at for each in terms if (at := text.lower().find(each.lower())) >= 0]
    start, end = max(0, min(places, default=0) - _BEFORE), min(places, default=0) + _AFTER
    head = "" if start == 0 else "… "
    tail = "" if end >= len(text) else " …"
    shown = text[start:end]
    shown = shown.partition(" ")[2] or shown if head else shown
    shown = shown.rpartition(" ")[0] or shown if tail else shown
    return f"{head}{shown}{tail}"


def mark_terms(text: str, terms: Sequence[str]) -> Markup:
    """The text as HTML, escaped, the terms marked wherever they stand."""
    pattern = re.compile("|".join(re.escape(each) for each in sorted(terms, key=len, reverse=True)), re.IGNORECASE)
    parts, at = [], 0
    for found in pattern.finditer(text):
        parts += [escape(text[at : found.start()]), Markup("<mark>{}</mark>").format(found.group())]
        at = found.end()
    return Markup("").join([*parts, escape(text[at:])])
