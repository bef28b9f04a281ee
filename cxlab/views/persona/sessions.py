"""What a play of the lab is: the stored conversations, where the store has every one of them, or models asked now."""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple

import polars as pl
import streamlit as st

from cxlab.benchmarks.mmtaup2.evaluation.results import TERMS
from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.benchmarks.mmtaup2.live.live_session import LiveSession
from cxlab.benchmarks.mmtaup2.live.stored_session import StoredPlay, StoredSession
from cxlab.benchmarks.mmtaup2.live.variant import Variant
from cxlab.benchmarks.mmtaup2.run import seed_of
from cxlab.charts.theme import SIMULATED_PREFIX
from cxlab.records import Message
from cxlab.store import load, write
from cxlab.store.attempt_metrics import load_figures
from cxlab.ui.address import cached
from cxlab.ui.labels import empty, label, plain
from cxlab.views.persona import choices as address
from cxlab.views.persona.choices import Choices, VariantChoice
from cxlab.views.persona.queries import list_runs

# What a conversation by voice was misheard at, and on which line, where its run says so.
_VOICE = {"wer": "0.15", "audio": "channel"}
# How long, and how many, live stages are held for a page that is loaded anew.
_LEFT_S, _MOST_LEFT = 1800.0, 8
# No model is asked for what is put into a conversation again.
_SOON_S = 20.0


def find_attempts(choices: Choices) -> list[tuple[str, str]]:
    """(run, attempt) of each column, of the newest run that has it; [] where one of them is not stored."""
    # The same model was the customer, and nobody typed.
    same = (pl.col("model") == choices.agent) & (pl.col("customer") == choices.customer) & ~pl.col("by_hand")
    rows = cached(list_runs).filter(same & (pl.col("dataset_id") == choices.source) & ~pl.col("again"))
    runs = rows["run_id"].to_list()
    if not runs:
        return []
    conversations, _ = cached(load_figures, runs, ["turns"], TERMS | _VOICE)
    seeds = {run: write.load_run(run).seed for run in runs}
    there: dict[VariantChoice, tuple[str, str]] = {}
    for row in conversations.filter(pl.col("task") == choices.case).iter_rows(named=True):
        if seed_of(choices.case, row["trial"], seeds[row["run_id"]]) == choices.seed:
            column = _column(row)
            newer = column in there and runs.index(there[column][0]) <= runs.index(row["run_id"])
            if not newer:
                there[column] = row["run_id"], row["attempt_id"]
    found = [there.get(column) for column in choices.columns]
    return [each for each in found if each] if all(found) else []


def _column(row: Mapping[str, Any]) -> VariantChoice:
    """The terms of a stored conversation as a column; a line with sound is none that can be shown."""
    exposure = int(row["exposure"]) if row["exposure"] in ("0", "1", "2") else 0
    if row["modality"] == "text":
        return VariantChoice(row["persona"], exposure)
    line = "voice" if row["audio"] == "channel" else str(row["audio"])
    return VariantChoice(row["persona"], exposure, line, round(100 * float(row["wer"])))


def _open_stored(choices: Choices, attempts: list[tuple[str, str]]) -> StoredSession:
    """These conversations side by side, before anything of them is shown."""
    task = live_tasks.cases(choices.domain, choices.source)[choices.case]
    played = [
        (Variant(column.persona, column.exposure, column.modality, column.wer / 100), load.load_attempt(*place)[0])
        for column, place in zip(choices.columns, attempts, strict=True)
    ]
    runs = tuple(dict.fromkeys(run for run, _ in attempts))
    stored = StoredPlay(runs, max(write.load_run(run).created for run in runs), choices.agent)
    sides = {"agent": choices.agent, "customer": choices.customer}
    simulated = {side: model.startswith(SIMULATED_PREFIX) for side, model in sides.items()}
    return StoredSession(task, played, stored, simulated, choices.source)


class _Left(NamedTuple):
    """A stage that the seed alone does not play again, as its address names it."""

    asked: object
    stage: LiveSession
    since: float


@st.cache_resource(show_spinner=False)
def _left() -> dict[str, _Left]:
    """Such stages of this process, by a name that nobody guesses: a page that is loaded anew finds its own again."""
    return {}


def keep_for_reload(stage: Any) -> str:
    """The name under which a page that is loaded anew finds the stage; "" where the seed alone plays it again."""
    held = st.session_state.get("persona-stage")
    if not isinstance(stage, LiveSession) or (stage.free and not stage.touched) or not held:
        return ""
    left, now = _left(), time.monotonic()
    for name, one in list(left.items()):
        if now - one.since > _LEFT_S:
            left.pop(name, None)
    name = next((name for name, one in left.items() if one.stage is stage), "") or secrets.token_urlsafe(9)
    left[name] = _Left(held[0], stage, now)
    while len(left) > _MOST_LEFT:
        left.pop(min(left, key=lambda each: left[each].since))
    return name


def _find_left(asked: object, name: str) -> LiveSession | None:
    one = _left().get(name)
    return one.stage if one and one.asked == asked else None


def let_go(stage: LiveSession | StoredSession) -> None:
    """Close a stage that is not gone back to."""
    for name, one in list(_left().items()):
        if one.stage is stage:
            _left().pop(name, None)
    stage.close()


def tell_lost(choices: Choices, stage: LiveSession | StoredSession) -> None:
    """That what the address spoke of is not to be had any more: the program was started anew, or it is long ago."""
    if choices.held and _find_left(st.session_state["persona-stage"][0], choices.held) is not stage:
        st.caption("! What was typed or asked live under this address is not held any more; it begins anew.")


def tell_absent(lost: frozenset[str]) -> None:
    """A play that is not stored, of models that cannot be asked here."""

    def show_stored() -> None:
        address.leave_out()
        st.rerun()

    names = " and ".join(map(label, sorted(lost)))
    empty(
        f"{plain(names)} cannot be asked on this machine; Models says what is missing. Of these conversations none "
        "are stored, so there is nothing to show.",
        "Show what is stored",
        show_stored,
    )


def begin_anew(stage: LiveSession | StoredSession) -> None:
    """Let go of the stage; who answered for a customer there answers in the next one too, instead of looking on."""
    st.session_state.pop("persona-stage", None)
    st.session_state["persona-hands"] = [player.by_hand for player in stage.players]
    let_go(stage)


def leave_out(choices: Choices, place: int) -> tuple[Choices, LiveSession | StoredSession]:
    """Without the column at a place: the choices and the stage, on which the others stay as far as they have come."""
    (_, attempts), stage = st.session_state["persona-stage"]
    stage.leave_out(place)
    left = replace(choices, columns=(*choices.columns[:place], *choices.columns[place + 1 :]))
    shown = (*attempts[:place], *attempts[place + 1 :])
    st.session_state["persona-stage"] = ((left.play, shown), stage)
    # The switches are named by place: each is to stand as the column has it that is there now.
    for at in range(len(choices.columns)):
        st.session_state.pop(f"persona-hand-{at}", None)
    return left, stage


def go_on_live(choices: Choices, stored: StoredSession, place: int) -> None:
    """From where stored conversations were stopped on live, a person answering for the customer of the column at a
    place: what was said up to here is put into conversations with the same models, which are asked from now on."""
    live, now = _open_live(choices), replace(choices, anew=True, beats=stored.beats, held="")
    live.wait(_SOON_S)
    for player, shown in zip(live.players, stored.players, strict=True):
        player.go_on_from(shown.attempt, shown.end)
    live.wait(_SOON_S)
    hand = live.players[place]
    hand.by_hand = True
    # Tools and the line are asked anew, and an older program may have stored other answers.
    strayed = [
        turn for player, shown in zip(live.players, stored.players, strict=True)
        if (turn := find_strayed(player.frame.messages, shown.frame.messages)) is not None
    ]  # fmt: skip
    if strayed:
        told = f"From turn {min(strayed)} on this differs from what is stored: what tools and line gave now was used."
        st.session_state["persona-replaced"] = (now.play, [told])
    # Who takes over wants to answer: what the customer said last gets its answer first.
    hand.beat()
    st.session_state.update({"persona-stage": ((now.play, ()), live), "persona-playing": False, "persona-kept": None})
    let_go(stored)
    address.write(replace(now, held=keep_for_reload(live)))


def find_strayed(now: Sequence[Message], stored: Sequence[Message]) -> int | None:
    """The turn from which on two records of a conversation differ; None where they are the same."""
    for one, other in zip_longest(now, stored):
        if one is None or other is None or (one.role, one.text) != (other.role, other.text):
            return (other or one).turn
    return None


def _open_live(choices: Choices) -> LiveSession:
    task = live_tasks.cases(choices.domain, choices.source)[choices.case]
    variants = [Variant(c.persona, c.exposure, c.modality, c.wer / 100) for c in choices.columns]
    return LiveSession(task, variants, choices.agent, choices.customer, choices.seed, choices.source)


def open_session(choices: Choices, attempts: list[tuple[str, str]]) -> LiveSession | StoredSession:
    """The stage of these choices; another one is set up when they change, as far played as the address says.

    `attempts`: the stored conversations that are shown; none where models are asked.
    """
    held: tuple[object, LiveSession | StoredSession] | None = st.session_state.get("persona-stage")
    asked = (choices.play, tuple(attempts))
    if held and held[0] == asked:
        return held[1]
    if held is None and (found := _find_left(asked, choices.held)):
        st.session_state.update({"persona-stage": (asked, found), "persona-playing": False, "persona-kept": None})
        return found
    if held:
        let_go(held[1])
    stage = _open_stored(choices, attempts) if attempts else _open_live(choices)
    st.session_state.update({"persona-stage": (asked, stage), "persona-playing": False, "persona-kept": None})
    hands = st.session_state.pop("persona-hands", ())
    if isinstance(stage, LiveSession):  # nobody answers in what is stored
        for player, by_hand in zip(stage.players, hands, strict=False):
            player.by_hand = by_hand
    if stage.free:  # what costs money is played only by who presses the button
        stage.forward(choices.beats)
    return stage
