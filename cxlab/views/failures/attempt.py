"""One attempt in full; which part draws it is named by its benchmark's `attempt_view`."""

import json
from collections.abc import Callable, Mapping

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.benchmarks import REGISTRY
from cxlab.charts.failure_names import spell_programs
from cxlab.errors import UnknownName
from cxlab.read import StoredAttempt, View, failure_kinds, failures
from cxlab.read.failure_kinds import name_kind
from cxlab.read.word_search.terms import split_terms
from cxlab.records.benchmark_card import Declaration
from cxlab.ui import address, path_strips
from cxlab.ui.address import cached
from cxlab.ui.labels import badge, error, header, label, plain, say, show_code
from cxlab.ui.transcript import transcript
from cxlab.views.benchmarks import declared
from cxlab.views.failures import (
    annotation_form,
    attempt_answer,
    attempt_goal,
    attempt_list,
    attempt_procedure,
    attempt_procedure_words,
)
from cxlab.views.failures.attempt_procedure_words import list_unread
from cxlab.views.failures.attempt_verdict import (
    group_turns,
    link_group,
    link_turn,
    mark_turn,
    say_judges,
    say_misread,
    show_chip,
    show_owner,
    show_rule,
    show_verdict,
)
from cxlab.views.failures.dispute import show_dispute
from cxlab.views.persona import live_link
from cxlab.word_forms import NOTHING, Sought, Term, find_language, seek

# Of which attempt the model and the verdict were asked for, reading blind.
_SEEN = "failures-blind-seen"


def show_one(view: View, run_id: str, attempt_id: str) -> None:
    """The attempt in full."""
    path_strips.style()
    try:
        whole = read.attempt(run_id, attempt_id)
    except UnknownName as unknown:
        header("Failures", "What goes wrong, and why?")
        error(str(unknown))
        if st.button("All attempts"):
            address.go(view.change(attempt="", turn=None))
        return
    row = whole.attempt
    about = declared(str(row["benchmark"]))
    attempt_list.show_navigation(view, attempt_id, about)
    if view.blind == "yes" and st.session_state.get(_SEEN) != view.attempt:
        _show_blind(view, whole, about)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(plain(_name(whole, about)), anchor=False, width="content")
        st.badge(plain(label(row["model"])), color="blue")
        if row["simulated"]:
            badge("simulated")
        show_chip(whole)
        if about.attempt_view == "goal":
            attempt_goal.show_terms(whole, about)
            live_link.show_live_link(whole.run)
    # Of what nobody has labelled there is what was given and what came, whatever else the benchmark draws.
    unlabelled = bool(whole.sample) and not whole.sample.get("expected")
    # Opened from a group of alike failures it opens at the group's turn, as its neighbours do.
    if view.turn is None and (turns := group_turns(view, whole)):
        view = view.change(turn=turns[0], page=view.page)
    part = _show_answer if unlabelled else PARTS.get(about.attempt_view, _show_dialogue)
    part(view, whole, about)
    if view.turn is not None:
        attempt_procedure.scroll_to(view.turn)


def _show_blind(view: View, whole: StoredAttempt, about: Declaration) -> None:
    """What was said and done, without who said it and what became of it, and a place for notes."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(plain(_name(whole, about)), anchor=False, width="content")
        if st.button("Show model and verdict", key="blind-show"):
            st.session_state[_SEEN] = view.attempt
            st.rerun()
    said, beside = st.columns([3, 2], gap="medium")
    with said:
        if not whole.messages.height or about.attempt_view == "answer":
            attempt_answer.show_given(whole)
        if whole.messages.height and about.attempt_view != "answer":
            transcript(whole.messages, turn=view.turn, unread=list_unread(whole), sought=_read_sought(view, whole))
        elif whole.attempt["output"]:
            st.markdown("**What came**")
            show_code(json.dumps(whole.attempt["output"], ensure_ascii=False, indent=1))
    with beside, st.container(key="cx-about"):
        annotation_form.show_annotations(str(whole.attempt["run_id"]), str(whole.attempt["attempt_id"]), view.turn)


def _read_sought(view: View, whole: StoredAttempt) -> Sought:
    """What is marked in what was said: the words that led here, or that the list was searched for, in all their
    forms."""
    asked = view.sought or view.search
    if not asked:
        return NOTHING
    said = [str(text or "") for text in whole.messages["text"]]
    return seek(split_terms(asked) or (Term(asked, exact=True),), said, find_language(said))


def _name(whole: StoredAttempt, about: Declaration) -> str:
    """The situation in a few words: the first facet's value or the task, then what stands for the sample's id."""
    row, identity = whole.attempt, about.identifying
    first = next((row[facet.id] for facet in about.facets if facet.spread and row.get(facet.id)), None)
    task = about.card.task(str(row["task"]))
    place = about.value(about.facets[0].id, first) if first else task.title if task else label(str(row["task"]))
    own = row.get(identity.id) if identity else None
    name = about.value(identity.id, str(own)) if identity and own else str(row["sample_id"])
    return f"{place[:1].upper()}{place[1:]}, {name}"


def _show_answer(view: View, whole: StoredAttempt, about: Declaration) -> None:
    """An answer of a task: what was given, and what was due beside what came."""
    attempt_answer.headline(whole, about)
    given, beside = st.columns([3, 2], gap="medium")
    with given:
        attempt_answer.show_given(whole)
    with beside, st.container(key="cx-about"):
        show_verdict(view, whole, about)
        attempt_answer.show_due(whole)
        attempt_answer.show_figures(whole, about.card.metrics)
        _show_rest(view, whole)


def _show_goal(view: View, whole: StoredAttempt, about: Declaration) -> None:
    """A dialogue with a goal: what was said and done, and what had to come of it."""
    attempt_procedure.headline(whole, about, about.card.leading)
    said, beside = st.columns([3, 2], gap="medium")
    with said:
        attempt_goal.show_dialogue(whole, view.turn, lambda turn: _below(view, whole, turn), _read_sought(view, whole))
    with beside, st.container(key="cx-about"):
        show_verdict(view, whole, about, on_the_way=True)
        attempt_goal.show_due(whole)
        attempt_goal.show_goal(whole)
        attempt_goal.show_profiles(whole)
        known = REGISTRY.get(about.card.id)
        attempt_goal.show_figures(whole, about.card.metrics, known.judged if known else None)
        _show_rest(view, whole)


def _show_procedure(view: View, whole: StoredAttempt, about: Declaration) -> None:
    """A dialogue that is compared with a procedure, turn by turn."""
    attempt_procedure.headline(whole, about, about.card.leading)
    wrong = whole.traces.filter(~pl.col("error").is_in(["none", "unscored"]))
    first_wrong = wrong["turn"][0] if wrong.height else None
    said, beside = st.columns([3, 2], gap="medium")
    with said:
        transcript(
            whole.messages,
            turn=view.turn,
            after=lambda turn: _below(view, whole, turn, first_wrong),
            unread=list_unread(whole),
            sought=_read_sought(view, whole),
        )
    with beside, st.container(key="cx-about"):
        _show_wrong(view, whole, about, wrong)
        attempt_procedure.situation(whole, about)
        _show_rest(view, whole)


def _show_dialogue(view: View, whole: StoredAttempt, about: Declaration) -> None:
    """A dialogue of any benchmark: what was said, what became of it, and what was due beside what came."""
    attempt_procedure.headline(whole, about, about.card.leading or (about.card.headline,))
    said, beside = st.columns([3, 2], gap="medium")
    with said:
        if whole.messages.height:
            transcript(
                whole.messages, turn=view.turn, after=lambda turn: _below(view, whole, turn),
                unread=list_unread(whole), sought=_read_sought(view, whole),
            )  # fmt: skip
        else:
            attempt_answer.show_given(whole)
    with beside, st.container(key="cx-about"):
        show_verdict(view, whole, about, on_the_way=True)
        attempt_answer.show_due(whole)
        attempt_answer.show_figures(whole, about.card.metrics)
        _show_rest(view, whole)


def _show_actions(view: View, whole: StoredAttempt, about: Declaration) -> None:
    """Actions and what came of them, beside those that lead to the answer."""
    # Late, as it brings a query engine that no other attempt needs.
    from cxlab.views.crm import look
    from cxlab.views.crm.traces import attempt_trace

    look.style()
    attempt_answer.headline(whole, about)
    show_rule(whole, about)
    attempt_trace.show_attempt(whole)
    _show_rest(view, whole)


PARTS: Mapping[str, Callable[[View, StoredAttempt, Declaration], None]] = {
    "procedure": _show_procedure,
    "answer": _show_answer,
    "goal": _show_goal,
    "dialogue": _show_dialogue,
    "actions": _show_actions,
}
"""What draws one attempt, by the contract's `attempt_view`; what is not in here is drawn as a dialogue."""


def _below(view: View, whole: StoredAttempt, turn: int, first_wrong: int | None = None) -> None:
    """What belongs below a turn: whether the verdict stands on it, and what was due beside what came."""
    mark_turn(whole, turn)
    attempt_procedure.turn_card(whole, turn, view.turn, first_wrong)


def _show_wrong(view: View, whole: StoredAttempt, about: Declaration, wrong: pl.DataFrame) -> None:
    """What went wrong turn by turn; a click goes there."""
    with st.container(border=True):
        st.markdown("**What went wrong**")
        alike = set(group_turns(view, whole))
        kept = cached(failures.of_attempt, str(whole.attempt["run_id"]), str(whole.attempt["attempt_id"]))
        fields = dict(kept.drop_nulls("field").select("turn", "field").iter_rows())
        if wrong.is_empty():
            reason = spell_programs(str(whole.attempt.get("verdict_reason") or ""))
            say(reason) if reason else st.caption("Nothing on the evaluated turns that the verdict counts.")
            say_misread(whole)
            link_turn(view, whole)
        link_group(view, whole, {*wrong["turn"], *([whole.attempt["verdict_turn"]] if wrong.is_empty() else [])})
        unread = list_unread(whole)
        for trace in wrong.iter_rows(named=True):
            message = attempt_procedure.agent_data(whole, trace["turn"])
            with st.container(gap=None):
                mark = " ◀ the failure you came for" if trace["turn"] in alike else ""
                decides = " (the verdict stands on it)" if trace["turn"] == whole.attempt["verdict_turn"] else ""
                sign = "○" if trace["error"] in failure_kinds.others() else "✕"
                words = f"{sign} Turn {trace['turn']}: {name_kind(trace['error'])}{decides}{mark}"
                if st.button(words, key=f"goto-{trace['turn']}", type="tertiary"):
                    address.go(view.change(turn=int(trace["turn"]), page=view.page))
                say(f"{attempt_procedure_words.explain_trace(trace, message, unread.get(trace['turn'], ''))}.")
                if told := say_judges(whole, trace["turn"], fields.get(trace["turn"], "")):
                    st.caption(plain(told))
        _link_passing(view, whole, unread)
        show_rule(whole, about)
        show_owner(whole)
        show_dispute(whole)


def _link_passing(view: View, whole: StoredAttempt, unread: Mapping[int, str]) -> None:
    """The unreadable replies that decided nothing, with the way to each."""
    if not (turns := attempt_procedure_words.list_passing(whole)):
        return
    st.caption("On the way, on turns that are not evaluated:")
    for turn in turns:
        words = plain(f"○ Turn {turn}: {name_kind('format')}, {unread[turn]}")
        if st.button(words, key=f"goto-{turn}", type="tertiary"):
            address.go(view.change(turn=turn, page=view.page))


def _show_rest(view: View, whole: StoredAttempt) -> None:
    annotation_form.show_annotations(str(whole.attempt["run_id"]), str(whole.attempt["attempt_id"]), view.turn)
    attempt_procedure.origin(whole)
