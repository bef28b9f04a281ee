"""Going back in a conversation, or on from a stored one: it is begun anew and what was said up to there is put into it
again, no model asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cxlab.benchmarks.mmtaup2.conversation.exposure import ExposureState
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import TaskDialogue
from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import note_of
from cxlab.dialogue import Move
from cxlab.dialogue.dual_control import Party, Side
from cxlab.records import Attempt, Message

# What the line between the two sides and the log add to a message, which they do anew.
_ADDED = frozenset(("meant", "heard", "ideal", "wer", "errors", "step", "stop", "delivered", "greeting"))


@dataclass(frozen=True)
class MoveMade:
    """A move of one side, and what the agent was told of the customer once it was made."""

    side: Side
    move: Move
    exposure: ExposureState

    @property
    def spoken(self) -> bool:
        return not self.move.calls

    @property
    def by_hand(self) -> bool:
        return bool(self.move.data.get("by_hand"))


def record(talk: TaskDialogue, made: list[MoveMade]) -> None:
    """Have all moves that the models make from now on added to `made`; one that a provider's fault cut off is none."""

    def recorded(side: Side, party: Party) -> Party:
        async def move(messages: Sequence[Message], turn: int) -> Move:
            found = await party(messages, turn)
            if found.failure is None or found.failure.where != "provider":
                made.append(MoveMade(side, found, talk.exposure.state))
            return found

        return move

    for side, party in list(talk.duet.parties.items()):
        talk.duet.parties[side] = recorded(side, party)


def took_part(made: Sequence[MoveMade], by_hand: bool) -> bool:
    """Whether there is anything that `before_last` would take back."""
    return any(one.side == "customer" if by_hand else one.spoken for one in made)


def before_last(made: Sequence[MoveMade], by_hand: bool) -> Sequence[MoveMade]:
    """What is left when the last thing that was said is taken back, with the calls that led to it.

    `by_hand`: a person answers for the customer; then what it said or did last, and all that came of it.
    """
    end = len(made)
    if by_hand:
        while end and made[end - 1].side != "customer":
            end -= 1
        return made[: max(0, end - 1)]
    # Calls after the last message led to nothing yet.
    while end and not made[end - 1].spoken:
        end -= 1
    end = max(0, end - 1)
    side = made[end].side if end < len(made) else None
    while end and not made[end - 1].spoken and made[end - 1].side == side:
        end -= 1
    return made[:end]


async def put_in(talk: TaskDialogue, one: MoveMade) -> None:
    """Make a recorded move in a conversation, its calls carried out."""
    await talk.duet.take(one.move)
    talk.exposure.state = one.exposure
    if one.move.calls and talk.duet.ended_by is None:
        await talk.duet.step()


def read_moves(attempt: Attempt, end: int, first: ExposureState) -> list[MoveMade]:
    """The moves of a stored conversation in its first `end` messages; `first`: what the agent is told at its start.

    When a profile is due again is not stored: it is reckoned from the turn of the last one.
    """
    moves, spoken, exposure = [], 0, first
    profiles = list(attempt.output.get("profiles") or ())
    for one in attempt.messages[:end]:
        if one.role not in ("agent", "customer") or one.data.get("greeting"):
            continue
        if one.role == "customer":
            spoken += not one.tool_calls
        elif due := [each for each in profiles if each.get("turn", 0) <= one.turn][len(exposure.versions) :]:
            versions = (*exposure.versions, *due)
            exposure = replace(exposure, note=note_of(due[-1]["profile"]), versions=versions, counted=spoken)
        data = {name: value for name, value in one.data.items() if name not in _ADDED}
        text = str(one.data.get("meant", one.text))
        moves.append(MoveMade(one.role, Move(text, one.tool_calls, one.data.get("stop"), data), exposure))
    return moves
