"""Searching the dialogues of runs by the words in them, on the page Conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from cxlab import read
from cxlab.benchmarks.cdr.retrievers import read_question
from cxlab.charts.numbers import format_count
from cxlab.read import View
from cxlab.read.word_search.attempts import SPEAKERS
from cxlab.read.word_search.terms import left_out, split_terms
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, link
from cxlab.ui.filters import show_active, sidebar_filters
from cxlab.ui.labels import chip, empty, label, plain, section
from cxlab.ui.looked_for import HELP, SAID_BY, say_looked_for, say_within
from cxlab.ui.paging import show_pages
from cxlab.ui.place import LONGEST, move, pick
from cxlab.ui.transcript_html import TranscriptLine, mark_sought, style, to_html
from cxlab.views.benchmarks import declared, declared_all, leave_out_floors, names_of
from cxlab.views.search import queries_dialogues
from cxlab.views.search.dialogue_set import offer_dialogues
from cxlab.views.search.excerpts import cut_around
from cxlab.views.search.place import SearchPlace
from cxlab.views.search.queries_dialogues import FoundDialogues, find_dialogues
from cxlab.word_forms import Term, read_terms

SOURCES = {"": "Collected conversations", "runs": "Dialogues of runs"}
_ROWS_A_PAGE = 10
_SHOWN = 3
# Of so many words that carry nothing a text is a sentence.
_A_SENTENCE = 3
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
    roles = SPEAKERS.get(said, (said,))
    terms = _ask(place)
    _say_read(place, others)
    if not terms:
        st.info(f"Type words that stand in one message. {HELP}")
        return True
    with st.spinner("Searching"):
        narrowed = leave_out_floors(view, about).change(search="", attempt="", turn=None, tab="", page=1)
        skipped = (max(1, view.page) - 1) * _ROWS_A_PAGE
        found = cached(find_dialogues, narrowed, terms, roles, _ROWS_A_PAGE, skipped, _SHOWN)
        all_held = found.held == len(terms)
        wider = cached(find_dialogues, narrowed, terms, (), 1, 0, 1, fewer=False) if roles and not all_held else None
    show_active(view.change(search=""), about)
    say_looked_for((found.forms.get(each.text, (each.text,)) for each in terms), left_out(place.view.search))
    words = (each.text for each in terms if not each.exact)
    say_within([word for word in words if word not in found.forms and found.counts[word]])
    shown = narrowed.change(search=view.search, speaker=said, page=view.page)
    if all_held:
        many = any(len(each) > 1 for each in found.forms.values())
        first = "Words as they were typed come first, then where most messages hold them." if many else ""
        _show_found(shown, about, terms, found, first or "Where most messages hold the words comes first.")
        return True
    _say_none(place, terms, said, wider.dialogues if wider and wider.held == len(terms) else 0, found)
    if found.held:
        held = f"{found.held} of the {len(terms)} words" if found.held > 1 else "one of the words"
        _show_found(shown, about, terms, found, f"Each holds {held}; those with the rarest come first.")
    return True


def show_alone(place: SearchPlace) -> None:
    """What there is to search where no conversations were collected: dialogues of runs, if any."""
    if cached(queries_dialogues.has_dialogues):
        show_dialogues(place, others=False)
        return
    empty(
        "Here you would ask “users who grow more frustrated over time” and read the messages that fit, see where and "
        "when it happens and how widespread it is. This store holds no conversations yet: drop a file below.",
        command="python -m cxlab generate cdr",
    )


def _choose_filters(place: SearchPlace) -> tuple[View, Declaration, str]:
    """Benchmark, model, run, verdict and speaker, in the sidebar."""
    known = cached(read.benchmarks)["benchmark"].to_list()
    with st.sidebar:
        names = {"": "all benchmarks"} | names_of(known)
        benchmark = pick(place, "benchmark", "Benchmark", list(names), names) if len(known) > 1 else known[0]
        pick(place, "verdict", "Verdict", list(_VERDICTS), _VERDICTS)
        # First what the words name: it is meant where nobody has chosen.
        said = pick(place, "said", "Said by", list(dict.fromkeys([read_speaker(place.view.search), *SAID_BY])), SAID_BY)
    about = declared_all([benchmark] if benchmark else known)
    view = place.view.change(benchmark=benchmark, page=place.view.page)
    return sidebar_filters(view, ("models", "runs"), about, without=about.floor_models), about, said


def _ask(place: SearchPlace) -> tuple[Term, ...]:
    key = "search-words"
    st.session_state[key] = place.view.search

    def changed() -> None:
        now = place.now()
        # Other words may name somebody: that the last ones were not to be read so holds for them alone.
        said = "" if now.said == "both" else now.said
        move(now.change(search=str(st.session_state[key] or "").strip()[:LONGEST], said=said))

    st.text_input(
        "Words", key=key, on_change=changed, max_chars=LONGEST, label_visibility="collapsed",
        placeholder="words in one message, for example: refund “next month”",
    )  # fmt: skip
    return split_terms(place.view.search)


def read_speaker(text: str) -> str:
    """Whose messages a question means that names one side ("a customer says that …"); "both" where it names none."""
    bare = set(left_out(text))
    side = read_question(" ".join(each.text for each in read_terms(text) if each.text in bare)).side
    return {"user": "customer", "assistant": "agent"}.get(side or "", "both")


def _say_read(place: SearchPlace, others: bool) -> None:
    """What the question was taken to mean, with the way back; and where it tells what happens more than what is said,
    the way to where that is looked for."""
    text = place.view.search
    read_ = read_speaker(text)
    if read_ != "both" and place.said in ("", read_):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            who = SAID_BY[read_]
            st.caption(f"The question names {who}, so only what {who} says is searched.", width="content")
            back = place.change(said="both")
            st.button("Search both sides", key="search-both", type="tertiary", on_click=move, args=(back,))
    moves = any(state.where != "any" for state in read_question(text).states)
    if others and (moves or len(left_out(text)) >= _A_SENTENCE):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("Here words are looked for, not what happens.", width="content")
            there = place.change(source="", said="")
            told = "Ask it of the collected conversations"
            st.button(told, key="search-collected", type="tertiary", on_click=move, args=(there,))


def count_dialogues(question: str) -> int:
    """The dialogues of runs in which whom a question names says all its words; constant agents left out."""
    if not (terms := split_terms(question)) or not queries_dialogues.has_dialogues():
        return 0
    speaker = read_speaker(question)
    about = declared_all(cached(read.benchmarks)["benchmark"].to_list())
    roles = SPEAKERS.get(speaker, (speaker,))
    found = find_dialogues(leave_out_floors(View(), about), terms, roles, 1, 0, 1, fewer=False)
    return found.dialogues if found.held == len(terms) else 0


def _say_none(place: SearchPlace, terms: Sequence[Term], said: str, others: int, found: FoundDialogues) -> None:
    """That no message holds all the words; in how many dialogues others than those asked of said them, and how many
    messages hold each of the words where any does, with the ways there."""
    counts = found.counts if found.held else {}
    told = [f"“{each.text}”" for each in terms]
    section(plain(f"{_no_message(said)} holds {'all of: ' if len(terms) > 1 else ''}{', '.join(told)}"))
    if others:
        many = "1 dialogue" if others == 1 else f"{format_count(others)} dialogues"
        st.info(f"In {many} they stand in what others said, or in what a tool gave back.")
        st.button("Search what anybody said", key="search-anybody", on_click=move, args=(place.change(said="anybody"),))
    elif not counts:
        st.info("No message holds any of these words. Take others, or clear a filter in the sidebar.")
    if counts:
        each = [f"{format_count(n) if n else 'none'} hold{'s' * (n == 1)} “{word}”" for word, n in counts.items()]
        st.markdown(plain(f"{', '.join(each)}."))
        with st.container(horizontal=True, gap="small"):
            for number, term in enumerate(terms):
                alone = place.change(search=_write([term]))
                if counts[term.text]:
                    st.button(f"Only {plain(term.text)}", key=f"search-only-{number}", on_click=move, args=(alone,))


def _no_message(said: str) -> str:
    return f"No message of {SAID_BY[said]}" if said != "anybody" else "No message"


def _write(terms: Sequence[Term]) -> str:
    """The terms as they are typed: in quotes what is looked for as it stands."""
    return " ".join(f'"{each.text}"' if each.exact else each.text for each in terms)


def _show_found(view: View, about: Declaration, terms: Sequence[Term], found: FoundDialogues, order: str) -> None:
    messages = "1 message" if found.messages == 1 else f"{format_count(found.messages)} messages"
    dialogues = "1 dialogue" if found.dialogues == 1 else f"{format_count(found.dialogues)} dialogues"
    section(
        f"{messages} in {dialogues}",
        f"{order} Constant agents are left out unless one is chosen.",
    )
    offer_dialogues(view, about, terms, found)
    style()
    for number, row in enumerate(found.rows.iter_rows(named=True)):
        said = found.said.filter(run_id=row["run_id"], attempt_id=row["attempt_id"]).to_dicts()
        with st.container(border=True, key=f"search-dialogue-{number}", gap="xsmall"):
            _show_one(view, terms, found, row, said)
    show_pages(view, found.dialogues, _ROWS_A_PAGE, "search-dialogues-page")


def _show_one(
    view: View, terms: Sequence[Term], found: FoundDialogues, row: dict[str, Any], said: Sequence[dict[str, Any]]
) -> None:
    """One dialogue: who and what became of it, and the messages that hold the words, each with the way to it."""
    about = declared(row["benchmark"])
    task = about.card.task(row["task"])
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(label(row['model']))}**", width="content")
        st.caption(plain(f"{about.card.name}, {task.title if task else row['task']}"), width="content")
        chip(*_MARKS.get(row["verdict"], ("– no verdict", "gray")))
        st.caption(plain(row["attempt_id"]), width="content")
    # There the next one is another that holds the words; of some of them alone that page finds none.
    held = found.held == len(terms)
    listed = view.change(
        benchmark=row["benchmark"], attempt=f"{row['run_id']}/{row['attempt_id']}", tab="", page=1,
        verdict=view.verdict or "all", search=view.search if held else "", sought="" if held else view.search,
        speaker=view.speaker if held else "",
    )  # fmt: skip
    for each in said:
        line = TranscriptLine(each["role"], int(each["turn"] or 0), each["text"] or "")
        st.html(to_html(line, mark_sought(cut_around(line.text, found.sought), found.sought)))
        where = f"at turn {line.turn}" if line.turn else "from its start"
        link(f"Read the dialogue {where}", "failures", listed.change(turn=line.turn or None))
    if row["found"] > len(said):
        more = row["found"] - len(said)
        st.caption(f"{format_count(more)} more {'message holds' if more == 1 else 'messages hold'} the words.")
