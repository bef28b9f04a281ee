"""One attempt in full, whatever its benchmark: a dialogue by a procedure, a dialogue with a goal, or an answer."""

from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.errors import UnknownName
from cxlab.read import View
from cxlab.read.failure_kinds import KINDS
from cxlab.ui import address, path_strips
from cxlab.ui.labels import badge, error, header, label, plain, say
from cxlab.ui.transcript import transcript
from cxlab.views.failures import (
    annotation_form,
    attempt_answer,
    attempt_goal,
    attempt_list,
    attempt_procedure,
)
from cxlab.views.persona import live_link

Cards = Mapping[str, tuple[Sequence[str], Mapping[str, str]]]


def show_one(view: View, run_id: str, attempt_id: str, cards: Cards) -> None:
    """The attempt in full; `cards`: by benchmark its leading metrics and what each metric is."""
    path_strips.style()
    try:
        whole = read.attempt(run_id, attempt_id)
    except UnknownName as unknown:
        header("Failures", "What goes wrong, and why?")
        error(str(unknown))
        if st.button("All dialogues"):
            address.go(view.change(attempt="", turn=None))
        return
    attempt_list.show_way(view, attempt_id)
    row = whole.attempt
    leading, definitions = cards.get(str(row["benchmark"]), ((), {}))
    with st.container(horizontal=True, vertical_alignment="center"):
        about = f"{label(row['scenario'] or row['task'])}, {row['leaf'] or row['sample_id']}"
        if attempt_goal.has_goal(whole):
            about = about[:1].upper() + about[1:].replace("_", " ").replace("+", " + ")
        st.title(plain(about), anchor=False, width="content")
        st.badge(plain(label(row["model"])), color="blue")
        if row["simulated"]:
            badge("simulated")
        if attempt_goal.has_goal(whole):
            attempt_goal.show_terms(whole)
            live_link.show_way(whole.run)
    if attempt_answer.is_answer(whole):
        _show_answer(view, whole, definitions)
        return
    attempt_procedure.headline(whole, leading, definitions)
    if attempt_goal.has_goal(whole):
        _show_goal(view, whole, definitions)
    else:
        _show_turns(view, whole, definitions)
    if view.turn is not None:
        attempt_procedure.scroll_to(view.turn)


def _show_answer(view: View, whole: read.StoredAttempt, definitions: Mapping[str, str]) -> None:
    """An answer of a task: what was given, and what was due beside what came."""
    attempt_answer.headline(whole, definitions)
    given, about = st.columns([3, 2], gap="medium")
    with given:
        attempt_answer.show_given(whole)
    with about, st.container(key="cx-about"):
        attempt_answer.show_wrong(whole)
        attempt_answer.show_due(whole)
        attempt_answer.show_figures(whole, definitions)
        _show_rest(view, whole)


def _show_goal(view: View, whole: read.StoredAttempt, definitions: Mapping[str, str]) -> None:
    """A dialogue with a goal: what was said and done, and what had to come of it."""
    said, about = st.columns([3, 2], gap="medium")
    with said:
        attempt_goal.show_dialogue(
            whole, view.turn, lambda turn: attempt_procedure.turn_card(whole, turn, view.turn, None)
        )
    with about, st.container(key="cx-about"):
        attempt_goal.show_wrong(whole)
        attempt_goal.show_due(whole)
        attempt_goal.show_goal(whole)
        attempt_goal.show_profiles(whole)
        attempt_goal.show_figures(whole, definitions)
        _show_rest(view, whole)


def _show_turns(view: View, whole: read.StoredAttempt, definitions: Mapping[str, str]) -> None:
    """A dialogue that is held against a procedure, turn by turn, or whose end was marked as an answer."""
    wrong = whole.traces.filter(~pl.col("error").is_in(["none", "unscored"]))
    first_wrong = wrong["turn"][0] if wrong.height else None
    said, about = st.columns([3, 2], gap="medium")
    with said:
        transcript(
            whole.messages,
            turn=view.turn,
            after=lambda turn: attempt_procedure.turn_card(whole, turn, view.turn, first_wrong),
        )
    with about, st.container(key="cx-about"):
        if "right" in definitions:
            attempt_answer.show_wrong(whole)
            attempt_answer.show_due(whole)
            attempt_answer.show_figures(whole, definitions)
        else:
            _show_wrong(view, whole, wrong)
        attempt_procedure.situation(whole)
        _show_rest(view, whole)


def _show_wrong(view: View, whole: read.StoredAttempt, wrong: pl.DataFrame) -> None:
    """What went wrong turn by turn; a click goes there."""
    with st.container(border=True):
        st.markdown("**What went wrong**")
        if wrong.is_empty():
            st.caption("Nothing on the evaluated turns.")
        for trace in wrong.iter_rows(named=True):
            message = attempt_procedure.agent_data(whole, trace["turn"])
            with st.container(gap=None):
                words = f"✕ Turn {trace['turn']}: {KINDS.get(trace['error'], trace['error'])}"
                if st.button(words, key=f"goto-{trace['turn']}", type="tertiary"):
                    address.go(view.change(turn=int(trace["turn"]), page=view.page))
                say(attempt_procedure.explain_trace(trace, message))


def _show_rest(view: View, whole: read.StoredAttempt) -> None:
    annotation_form.show_annotations(str(whole.attempt["run_id"]), str(whole.attempt["attempt_id"]), view.turn)
    attempt_procedure.origin(whole)
