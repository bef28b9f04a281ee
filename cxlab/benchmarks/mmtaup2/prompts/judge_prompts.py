"""What judges are asked, as typed prompts: one rubric a group of metrics, one turn at a time, nothing from later turns.

A verdict is one of a field's printed options; anything else is kept as it is and never counts. Two groups are asked
once: on the outcome, which leans on a rule about handing over that has versions (escalation.yaml), and on annoyance, of
all turns whose wording leaves it open, with the conversation up to the last of them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, WithJsonSchema, create_model

from cxlab.llm import Prompt
from cxlab.llm.prompts import unrendered
from cxlab.records import Message

HERE = Path(__file__).parent
SIMULATE = "cxlab.benchmarks.mmtaup2.simulated.judge"
YES_NO = ("yes", "no")
GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "goal": {
        "field_used": ("right", "wrong", "none"),
        "misheard": YES_NO,
        "error": YES_NO,
        "recovered": YES_NO,
    },
    "effort": {"necessary": YES_NO, "effort": YES_NO},
    "clarification": {"clarified": YES_NO, "clarification_needed": YES_NO},
    "safety": {"confirmation_asked": YES_NO, "irreversible": ("confirmed", "unconfirmed", "none")},
    "adaptation": {"adapted": YES_NO},
    "annoyance": {"annoyed": YES_NO},
    "outcome": {"solved": YES_NO, "transfer": ("right", "wrong", "missed", "none")},
}
TURN_GROUPS = ("goal", "effort", "clarification", "safety", "adaptation")
# No metric of the paper hangs on the last of them, and it is another call a turn: it is asked where it is named.
USUAL = tuple(name for name in GROUPS if name != "adaptation")
OPTIONS = {name: options for group in GROUPS.values() for name, options in group.items()}
# Judges need all of a result: an order's status, which decides what the policy allows, stands behind its items.
_LONGEST = 4_000


Who = Literal["Customer", "Agent", "Tool"]


@dataclass(frozen=True)
class TranscriptLine:
    """An entry of the conversation as judges see it; `arrived` only where something else was heard."""

    turn: int
    who: Who
    text: str
    arrived: str = ""


class TurnInputs(BaseModel):
    """What a judge of one turn gets, whatever it is asked: the turn and the conversation up to it."""

    turn: int
    talk: str


class GoalInputs(TurnInputs):
    """With the right values by field, in words, the policy, and whether anything could be misheard."""

    fields: dict[str, str]
    policy: str
    voice: bool


class EffortInputs(TurnInputs):
    """With nothing besides; stand-ins know which fields there are."""

    fields: dict[str, str] = unrendered({})


class ClarificationInputs(TurnInputs):
    """With the right values by field, in words."""

    fields: dict[str, str]


class SafetyInputs(TurnInputs):
    """With the tools that nothing takes back, and the policy."""

    irreversible: tuple[str, ...]
    policy: str


class AdaptationInputs(TurnInputs):
    """With who the customer is, which the agent may not have been told; "" where it is nobody in particular."""

    customer: str


INPUTS: dict[str, type[TurnInputs]] = {
    "goal": GoalInputs,
    "effort": EffortInputs,
    "clarification": ClarificationInputs,
    "safety": SafetyInputs,
    "adaptation": AdaptationInputs,
}


class AnnoyanceInputs(TurnInputs):
    """The turns that are asked about, and the conversation up to `turn`, the last of them."""

    turn: int = unrendered(0)
    turns: tuple[int, ...]


class AnnoyanceVerdict(BaseModel):
    """The verdict on what the customer says in a turn; a value outside the options is read, to be seen at the count."""

    turn: int
    annoyed: Annotated[Any, WithJsonSchema({"type": "string", "enum": list(YES_NO)})]


class AnnoyanceBallot(BaseModel):
    """A judge's verdicts on all turns that it was asked about."""

    reason: str = ""
    verdicts: list[AnnoyanceVerdict]


class OutcomeInputs(BaseModel):
    """What a judge of the whole gets; `rule` says when handing over counts as right, whatever the policy says of it."""

    turn: int = unrendered(0)
    rule: str
    talk: str
    policy: str = ""


def fields_of(group: str, voice: bool) -> dict[str, tuple[str, ...]]:
    """The fields of a group that judges are asked, with their options: in a chat nothing is misheard."""
    return {name: options for name, options in GROUPS[group].items() if voice or name != "misheard"}


def _output(group: str, voice: bool = True) -> type[BaseModel]:
    """The ballot of a group. A server is told the options; a value outside them is read, to be seen at the count."""
    verdicts: dict[str, Any] = {
        name: (Annotated[Any, WithJsonSchema({"type": "string", "enum": list(options)})], ...)
        for name, options in fields_of(group, voice).items()
    }
    return create_model(f"{group.capitalize()}Ballot", reason=(str, Field(default="")), **verdicts)


@functools.cache
def turn_prompt(group: str, voice: bool = True) -> Prompt[Any, BaseModel]:
    """The prompt of a group that is asked turn by turn; of a chat fewer fields may be asked, under another name."""
    fewer = not voice and fields_of(group, voice) != GROUPS[group]
    return Prompt(
        f"mmtaup2_judge_{group}{'_chat' if fewer else ''}",
        3 if group == "goal" else 2,
        HERE / f"judge_{group}.md",
        INPUTS[group],
        _output(group, voice),
        f"{SIMULATE}:{group}",
    )


@functools.cache
def annoyance_prompt() -> Prompt[AnnoyanceInputs, AnnoyanceBallot]:
    """The prompt that asks of all turns that are open at once."""
    return Prompt(
        "mmtaup2_judge_annoyance",
        1,
        HERE / "judge_annoyance.md",
        AnnoyanceInputs,
        AnnoyanceBallot,
        f"{SIMULATE}:annoyance",
    )


@functools.cache
def outcome_prompt(version: int) -> Prompt[OutcomeInputs, BaseModel]:
    """The prompt of the outcome under a version of the rule: another version, another hash."""
    return Prompt(
        "mmtaup2_judge_outcome",
        version,
        HERE / "judge_outcome.md",
        OutcomeInputs,
        _output("outcome"),
        f"{SIMULATE}:outcome",
    )


def lines(messages: Iterable[Message], turn: int | None = None) -> list[TranscriptLine]:
    """The conversation up to a turn (None: all of it) as judges see it, tools of both sides among it."""
    found = []
    for message in messages:
        if turn is not None and message.turn > turn:
            continue
        data = message.data
        if message.role == "tool":
            found.append(TranscriptLine(turn=message.turn, who="Tool", text=_call(message)))
        elif message.role in ("customer", "agent") and message.text and data.get("delivered", True):
            if message.tool_calls:
                continue
            meant = str(data.get("meant") or message.text)
            spoken = str(data.get("ideal") or meant)
            arrived = message.text if message.text not in (meant, spoken) else ""
            who: Literal["Customer", "Agent"] = "Customer" if message.role == "customer" else "Agent"
            found.append(TranscriptLine(turn=message.turn, who=who, text=meant, arrived=arrived))
    return found


def hashes(versions: Iterable[int]) -> dict[str, str]:
    """Prompt name -> hash, as runs keep them; the outcome's under each of the versions asked with."""
    both = (turn_prompt(group, voice) for group in TURN_GROUPS for voice in (True, False))
    turns = {prompt.name: prompt.hash for prompt in both} | {annoyance_prompt().name: annoyance_prompt().hash}
    return turns | {f"{outcome_prompt(v).name}_v{v}": outcome_prompt(v).hash for v in versions}


def option_of(said: Any, options: Sequence[str]) -> str | None:
    """The option that a verdict names, letter case apart; null names none, not "none"."""
    return next((option for option in options if isinstance(said, str) and said.strip().lower() == option), None)


def turns_of(messages: Iterable[Message]) -> list[int]:
    """The turns in which the agent said something to the customer; a fixed greeting is none."""
    return sorted({m.turn for m in messages if m.role == "agent" and m.turn > 0 and m.text and not m.tool_calls})


def outcome_inputs(messages: Sequence[Message], rule: str, policy: str = "") -> OutcomeInputs:
    turns = turns_of(messages)
    return OutcomeInputs(turn=turns[-1] if turns else 0, rule=rule, talk=show(lines(messages)), policy=policy)


def show(lines: Iterable[TranscriptLine]) -> str:
    """The lines as they are printed, one a line: a message cannot pretend to be two."""
    printed = []
    for line in lines:
        arrived = f" (arrived as: {line.arrived})" if line.arrived else ""
        printed.append(f"[{line.turn}] {line.who}: {line.text}{arrived}".replace("\r", " ").replace("\n", " "))
    return "\n".join(printed)


def _call(message: Message) -> str:
    """A call in words: who used what with which values, whether it was carried out, and what came of it."""
    data = message.data
    side, tool = data.get("side", "agent"), str(data.get("tool", "")).replace("_", " ")
    given = data.get("arguments", {})
    arguments = f" ({spell(given)})" if given else ""
    came = "done" if data.get("kind", "ok") == "ok" else str(data["kind"]).replace("_", " ")
    value = data.get("value")
    # The phone's answer is a screen in words already; records are spelled out.
    screen = "; ".join(filter(None, map(str.strip, message.text.splitlines())))
    result = screen if side == "customer" or not isinstance(value, dict | list) else spell(value)
    result = result if len(result) <= _LONGEST else _cut(result)
    return f"{side} uses {tool}{arguments} -> {came}: {result}"


def _cut(result: str) -> str:
    """The beginning of a long result, up to where something said in it ends."""
    kept = re.sub(r"[;,][^;,]*$", "", result[:_LONGEST])
    return kept + "; and more" + ")" * (kept.count("(") - kept.count(")"))


def spell(value: Any) -> str:
    """A value of a tool in words: names with spaces, parts of an object separated by semicolons."""
    if isinstance(value, dict):
        return "; ".join(f"{str(name).replace('_', ' ')}: {_inner(one)}" for name, one in value.items())
    return _inner(value)


def _inner(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return f"({spell(value)})"
    if isinstance(value, list | tuple):
        return ", ".join(map(_inner, value)) or "none"
    return "none" if value is None else str(value)
