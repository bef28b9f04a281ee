"""The columns of the Persona lab as they stand, drawn again and again while it is played."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import streamlit as st

from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.benchmarks.mmtaup2.live.stored_session import StoredPlay, StoredSession
from cxlab.charts.record_words import name_records
from cxlab.records import Message
from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import plain, section
from cxlab.ui.tables import show_chart
from cxlab.views.persona import board, sessions
from cxlab.views.persona import live_conversation as parts
from cxlab.views.persona import take_over as hand
from cxlab.views.persona.charts import course_frame, draw_course
from cxlab.views.persona.choices import MANY_BEATS, PACES, Choices, write
from cxlab.views.persona.controls import show_keep
from cxlab.views.persona.device import show_device, show_patience
from cxlab.views.persona.live_metrics import show_manner, show_metrics

# How often what a model writes is looked at.
LOOK_S = 0.3


class LiveConversation(Protocol):
    """One conversation that goes on."""

    by_hand: bool
    draft: tuple[str, str] | None

    @property
    def frame(self) -> LiveSnapshot: ...
    @property
    def busy(self) -> bool: ...
    def sound(self) -> tuple[Path, float] | None: ...
    def recordings(self) -> Sequence[tuple[Message, Path]]: ...
    @property
    def since(self) -> float | None: ...
    def retry(self) -> None: ...
    def give_up(self) -> None: ...
    def say(self, text: str, stop: str | None = None) -> None: ...
    def do(self, tool: str, arguments: Mapping[str, Any]) -> None: ...
    def tools(self) -> list[dict[str, Any]]: ...
    def card(self) -> Mapping[str, Any]: ...


class LiveSession(Protocol):
    """All conversations that are played side by side."""

    free: bool

    @property
    def stored(self) -> StoredPlay | None: ...
    @property
    def simulated(self) -> Mapping[str, bool]: ...
    @property
    def players(self) -> Sequence[LiveConversation]: ...
    @property
    def frames(self) -> list[LiveSnapshot]: ...
    @property
    def idle(self) -> bool: ...
    @property
    def busy(self) -> bool: ...
    @property
    def touched(self) -> bool: ...
    @property
    def has_past(self) -> bool: ...
    def back(self) -> None: ...
    @property
    def beats(self) -> int: ...
    def beat(self) -> None: ...
    def wait(self, seconds: float) -> None: ...
    def forward(self, beats: int, seconds: float = ...) -> None: ...


def keep_place(choices: Choices, stage: LiveSession) -> None:
    """The address says how far it has been played; what a person said is in no address, only where it is held."""
    beats = 0 if stage.touched else min(stage.beats, MANY_BEATS)
    write(replace(choices, beats=beats, held=sessions.keep_for_reload(stage)))


def leave_out(choices: Choices, place: int) -> None:
    """Take a column away; the others stay as far as they have come, and so does the address."""
    keep_place(*sessions.leave_out(choices, place))


def interval(choices: Choices, stage: LiveSession) -> float:
    """Seconds between two looks at the stage: what a model writes is followed as it is written."""
    pace = PACES[choices.pace][1]
    return pace if stage.free else min(pace, LOOK_S)


def show_board(
    choices: Choices,
    stage: LiveSession,
    followed: bool,
    lacks: Mapping[str, str],
    keep: Callable[[], None],
    pair: tuple[int, int] | None = None,
    can_ask: bool = True,
) -> None:
    """The columns as they stand, one beat further if it is time. `followed`: this is drawn again and again; `pair`: the
    two columns that the measured difference on the page is of; `can_ask`: whether the models can be asked here."""
    playing = bool(st.session_state["persona-playing"])
    _go_on(choices, stage, playing)
    frames = stage.frames
    names = parts.short_titles(choices.columns)
    finding = parts.find_difference(choices.columns, frames, pair)
    if finding:
        section(finding)
    aloud = (playing and choices.pace != "once") or st.session_state.get("persona-stepped") == stage.beats
    # Two at once are noise: the first that sounds is the one that is heard.
    heard = next((place for place, player in enumerate(stage.players) if aloud and player.sound()), None)
    left, right = parts.divide_board(len(frames)) if choices.large else (st.container(), st.container())
    cut = [player for player, frame in zip(stage.players, frames, strict=True) if frame.ended == parts.CUT_SHORT]
    with left:
        if len(cut) > 1 and not stage.stored:
            st.button(
                "Try all again from here", key="persona-again-all", on_click=_try_again, args=(cut,),
                help="Asks the models again for the messages that failed; what was said before stays.",
            )  # fmt: skip
        stopped = bool(stage.stored and stage.beats and not playing and not stage.idle)
        _show_talks(choices, stage, frames, bool(finding), stopped)
        for place, column in enumerate(st.columns(len(frames), gap="small" if choices.large else "medium")):
            with column:
                _show_hand(choices, place, frames[place], stage, playing, heard == place, stopped and can_ask)
        if stopped and can_ask and not choices.large:
            # On a stage it would lie below the screen; the switch above the talk does the same.
            _offer_live(choices)
    if not choices.large:
        # Below where a person answers, which belongs to the talk.
        board.explain_marks(choices.columns, frames)
    with right:
        heads = parts.brief_titles(choices.columns) if choices.large else [(name,) for name in names]
        if not choices.large and stage.beats:
            facts = live_tasks.cases(choices.domain, choices.source)[choices.case].known.facts
            show_manner(names, frames, [value for name, value in facts.items() if name not in hand.WANTED])
        if choices.large or stage.beats:  # else there is nothing in them yet
            show_metrics(heads, frames, choices.columns, choices.large, lambda: _explain_marks(choices, frames, lacks))
        for frame, variant in zip(frames, choices.columns, strict=True):
            if choices.large:
                parts.show_profile(frame, variant, True)
    if not choices.large:
        for place, (column, frame) in enumerate(zip(st.columns(len(frames), gap="medium"), frames, strict=True)):
            with column:
                called = name_records(one.data.get("value") for one in frame.messages if one.role == "tool")
                parts.show_changes(frame.changes, choices.domain, called)
                parts.show_profile(frame, choices.columns[place], False)
                if not stage.free:
                    parts.show_cost(frame.cost_usd)
        parts.explain_voice(choices.columns, lacks)
    if finding and not choices.large:
        show_keep(stage.stored.runs if stage.stored else (), st.session_state["persona-kept"], keep)
        courses = [frame.course for frame in frames]
        section("How far each had come, turn by turn", "Critical fields used rightly, needed actions carried out.")
        alt = "Share of what the task needs that was done, by turn and variant."
        show_chart(draw_course(names, courses, dark()), course_frame(names, courses), key="course", alt=alt)
    turn = max(frame.turn for frame in frames)
    # A link that is copied while it plays opens this exchange; one entry a message would fill the browser's history.
    if stage.touched or (playing and st.session_state.get("persona-placed") != (choices.play, turn)):
        st.session_state["persona-placed"] = (choices.play, turn)
        keep_place(choices, stage)
    if (playing and stage.idle) or followed != (playing or stage.busy):
        st.session_state["persona-playing"] = playing and not stage.idle
        keep_place(choices, stage)
        st.rerun()


def _try_again(players: Sequence[LiveConversation]) -> None:
    for player in players:
        player.retry()


def _explain_marks(choices: Choices, frames: Sequence[LiveSnapshot], lacks: Mapping[str, str]) -> None:
    board.explain_marks(choices.columns, frames)
    parts.explain_voice(choices.columns, lacks)


def _go_on(choices: Choices, stage: LiveSession, playing: bool) -> None:
    """The next beat, when the one before has been read and heard."""
    pace, at_once = PACES[choices.pace][1], choices.pace == "once"
    sounds = [found[1] for player in stage.players if not at_once and (found := player.sound())]
    due = st.session_state.get("persona-beaten", 0.0) + max([0.8 * pace, *sounds])
    if not playing or stage.busy or time.monotonic() <= due:
        return
    st.session_state["persona-beaten"] = time.monotonic()
    if at_once:
        stage.forward(MANY_BEATS, pace)
    else:
        stage.beat()
        stage.wait(0.3 if stage.free else 0.05)


def _show_talks(
    choices: Choices, stage: LiveSession, frames: Sequence[LiveSnapshot], found: bool, stopped: bool
) -> None:
    """All conversations, moment by moment. A hand in one of them takes room on a beamer, and so does the way to it
    where what is stored was `stopped`."""
    taken = not stage.stored and any(
        _is_taken(place, player, frames[place]) for place, player in enumerate(stage.players)
    )
    live = choices.large and any(not frame.ended for frame in frames) and (stopped or not stage.stored)
    told = "left" if any(frame.unmended and frame.passed for frame in frames) else "found"
    beside = "hand" if taken else told if found else "live" if live else "plain"
    pending = [board.Pending(player.busy, player.draft, player.since) for player in stage.players]
    board.show_board_of_talks(choices.columns, frames, pending, choices.large, beside, stage.simulated["agent"])


def _offer_live(choices: Choices) -> None:
    """What answering in a stored dialogue that was stopped does, and the other way: the same task from the start."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            "This is stored. Answer as the customer, and it goes on live from here: the models are asked.",
            width="content",
        )
        tip = "The same task and variants. The models are asked from the first message on."
        if st.button("Play this task live, from the start", key="persona-go-live", help=tip):
            write(replace(choices, anew=True, beats=0, held=""))
            # What is shown is chosen outside what is drawn again and again.
            st.rerun()


def _is_taken(place: int, player: LiveConversation, frame: LiveSnapshot) -> bool:
    # The switch is drawn below the talk, and what it says holds for what is drawn above it too.
    return bool(st.session_state.get(f"persona-hand-{place}", player.by_hand)) and not frame.ended


def _show_hand(
    choices: Choices, place: int, frame: LiveSnapshot, stage: LiveSession, playing: bool, heard: bool, open: bool
) -> None:
    """How a conversation ended, a hand in it, and what the customer has before it. `heard`: its last message plays;
    `open`: it is stored and can be gone on from."""
    player = stage.players[place]
    large, taken = choices.large, not stage.stored and _is_taken(place, player, frame)
    if heard and (sound := player.sound()):
        st.audio(str(sound[0]), autoplay=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        parts.show_end(frame, large)
        if not frame.ended and (open or not stage.stored):
            by_hand = st.toggle("Answer as the customer", player.by_hand, key=f"persona-hand-{place}")
            if by_hand and isinstance(stage, StoredSession):
                with st.spinner("Going on from here, live"):
                    sessions.go_on_live(choices, stage, place)
                st.rerun()
            if by_hand != player.by_hand:
                # What plays each side stands above the talk, outside what is drawn again and again.
                player.by_hand = by_hand
                st.rerun()
        if taken:
            with st.popover("What the customer knows", type="tertiary", key=f"persona-card-{place}"):
                hand.show_card(player.card())
        if not playing and (kept := player.recordings()):
            with st.popover("Listen again", type="tertiary", key=f"persona-listen-{place}"):
                _list_recordings(kept)
    parts.show_fault(frame)
    if player.since is not None and time.monotonic() - player.since >= board.SLOW_S:
        tip = "Waits no longer for this message; it can be tried again from here."
        st.button("Give up", key=f"persona-give-up-{place}", on_click=player.give_up, help=tip)
    if frame.ended == parts.CUT_SHORT and not stage.stored:
        tip = "Asks the model again for the message that failed; what was said before stays."
        st.button("Try again from here", key=f"persona-again-{place}", on_click=player.retry, help=tip)
    if taken:
        hand.show_take_over(place, player.frame, player.tools(), player.say, player.do, lambda: player.say("", "done"))
    # On a stage what was said has the room: of a conversation that is over its end is told, not the last screen.
    if not (large and (taken or frame.ended)):
        show_device(frame, choices.domain, large)
    if not (large and taken):
        show_patience(frame, large)


def _list_recordings(kept: Sequence[tuple[Message, Path]]) -> None:
    for message, path in kept:
        said = str(message.data.get("meant", ""))
        said = said if len(said) < 60 else f"{said[:59]}…"
        st.caption(plain(f"{message.role.capitalize()} · {message.turn}: {said}"))
        st.audio(str(path))
