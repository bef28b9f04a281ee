"""Which messages of an agent ask or say again what it had asked or said before, though the customer had answered it.

A question is asked again when it stands there once more in nearly the same words, or is for the same field, and nothing
has been done since the answer: after a call of the agent, or a setting that the customer changed, it has another reason
or is another question. Who asked back or said that it does not know has not answered, and is asked again with reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cxlab.benchmarks.mmtaup2 import dialogue_acts, stated_values
from cxlab.benchmarks.mmtaup2.cues import questions
from cxlab.benchmarks.mmtaup2.evaluation import adaptations
from cxlab.benchmarks.mmtaup2.evaluation.events import ToolUse, Utterance

# Who does not know, or has not understood.
LOST = re.compile(
    r"\b(?:don't|do not|can't|cannot|didn't|did not) (?:\w+ )?(?:know|remember|tell|say|find|see|understand|hear|follow"
    r"|get|have)\b|\bno idea\b|\bnot sure\b|\bforgotten\b|\bmeans nothing\b",
    re.IGNORECASE,
)
_BARE = re.compile(r"^\W*(?:(?:yes|yeah|yep|no|nope|nah)\b\W*){1,2}$", re.IGNORECASE)
_ALIKE = 0.8


@dataclass(frozen=True)
class Repetition:
    """A message of the agent that repeats an earlier one.

    `answered`: whether that had been answered, None where the wording of the reply leaves it open; `effort`: whether
    the customer then answered it once more, None where that is open or it has not spoken yet.
    """

    turn: int
    answered: bool | None
    reply_turn: int | None = None
    effort: bool | None = None


@dataclass
class _Earlier:
    """A message of the agent, with what the customer said to it."""

    text: str
    asks: frozenset[str]
    field: str | None
    answered: bool | None = False


def follow(entries: Sequence[Utterance | ToolUse], states_fact: Callable[[str], bool]) -> list[Repetition]:
    """The repetitions in the order of the turns; `states_fact`: whether a text says a value that the customer knows."""
    found: list[Repetition] = []
    before: list[_Earlier] = []
    looked, waits = False, False
    for entry in entries:
        if isinstance(entry, ToolUse):
            if entry.side == "agent" or (entry.kind == "ok" and entry.write):
                before = []
            looked = looked or entry.side == "customer"
        elif entry.who == "agent":
            now = _read(entry)
            again = [one.answered for one in before if one.answered is not False and _is_again(now, one)]
            if again:
                found.append(Repetition(entry.turn, True if True in again else None))
            before.append(now)
            looked, waits = False, bool(again)
        else:
            answered = _answers(entry.meant, looked, states_fact)
            if before:
                before[-1].answered = answered
            if waits:
                last = found[-1]
                effort = False if answered is False else True if answered and last.answered else None
                found[-1] = replace(last, reply_turn=entry.turn, effort=effort)
            waits = False
    return found


def _read(said: Utterance) -> _Earlier:
    asks = said.data.get("asks")
    closing = questions.CLOSING_OFFER.search
    put = frozenset(one for one in adaptations.requests(said.meant) if not closing(one))
    return _Earlier(said.meant, put, asks if isinstance(asks, str) else None)


def _is_again(now: _Earlier, before: _Earlier) -> bool:
    if stated_values.alike(now.text, before.text, _ALIKE):
        return True
    if dialogue_acts.asks_to_confirm(now.text):  # "Shall I do that?" asks for what stands beside it
        return False
    if now.field is not None and now.field == before.field:
        return True
    return any(stated_values.alike(one, other, _ALIKE) for one in now.asks for other in before.asks)


def _answers(text: str, looked: bool, states_fact: Callable[[str], bool]) -> bool | None:
    """Whether a reply answers: False for who asks back or does not know, None for what its wording leaves open."""
    if "?" in text or LOST.search(text):
        return False
    plain = _BARE.match(text) or stated_values.codes(text) or states_fact(text) or looked
    return True if plain or dialogue_acts.agrees(text) or dialogue_acts.refuses(text) else None
