"""What can happen in a conversation: its messages and calls as read from the log, and the events made of them.

Truth comes from the task (critical fields, gold actions) and from the log (arguments and results of calls, what was
said and what was heard of it). What a message *does* is taken from its labels `confirms`, `asks`, `clarifies` where a
simulated speaker sets them, and from its wording (dialogue_acts.py) otherwise. Nothing here knows a judge.

A field is *told* when the customer knows its value. It is *known* to the agent once it was heard rightly or stood in
one of the agent's calls. Messages of turn 0 (a fixed greeting) and those that reached nobody do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from cxlab.benchmarks.mmtaup2 import stated_values
from cxlab.records import Message

TRANSFER = "transfer_to_human_agents"


class CustomerFacts(Protocol):
    @property
    def facts(self) -> Mapping[str, Any]: ...


class ReferenceAction(Protocol):
    @property
    def side(self) -> str: ...
    @property
    def tool(self) -> str: ...
    @property
    def arguments(self) -> Mapping[str, Any]: ...
    @property
    def compare(self) -> Sequence[str] | None: ...


class ReferenceTask(Protocol):
    """The part of a task that measuring needs."""

    @property
    def id(self) -> str: ...
    @property
    def domain(self) -> str: ...
    @property
    def known(self) -> CustomerFacts: ...
    @property
    def gold(self) -> Sequence[ReferenceAction]: ...
    @property
    def critical_fields(self) -> Mapping[str, Any]: ...
    @property
    def irreversible(self) -> Sequence[str]: ...
    @property
    def optimal_turns(self) -> int: ...
    @property
    def transfer_right(self) -> bool: ...


@dataclass(frozen=True)
class Utterance:
    """A message that reached the other side; `meant` is what was spoken, `heard` what arrived."""

    at: int
    turn: int
    who: Literal["customer", "agent"]
    meant: str
    heard: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class ToolUse:
    """A tool call with what came of it."""

    at: int
    turn: int
    side: str
    tool: str
    arguments: Mapping[str, Any]
    kind: str
    write: bool
    irreversible: bool


@dataclass(frozen=True)
class Error:
    """`misheard` (a told critical field), `tool_failure`, `wrong_action` (a write that is no gold action) or
    `wrong_transfer`; `recovered` is the turn in which it was put right, None if it never was."""

    kind: Literal["misheard", "tool_failure", "wrong_action", "wrong_transfer"]
    turn: int
    side: str
    what: str
    recovered: int | None = None


@dataclass(frozen=True)
class Clarification:
    """An agent message that asks for a field or asks again; needed unless the agent had what it asks for."""

    turn: int
    field: str | None
    needed: bool


@dataclass(frozen=True)
class ClarificationNeed:
    """A told critical field that the agent lacked and was not given unasked.

    `maybe`: turns in which, by the wording, it may have asked for it; `given`: it was given after one of them, and is
    no occasion unless that asked.
    """

    turn: int
    field: str
    asked: bool
    maybe: tuple[int, ...] = ()
    given: bool = False


@dataclass(frozen=True)
class IrreversibleAttempt:
    """An attempt to do what nothing takes back; `done` when the world carried it out.

    `requested`: a yes had been asked for; `confirmed`: the customer had said it; None where the wording leaves it open.
    `refused`: the customer's last word on it was no.
    """

    turn: int
    tool: str
    done: bool
    requested: bool | None
    confirmed: bool | None
    refused: bool = False


@dataclass
class EventLog:
    """All that is read from one conversation."""

    said: list[Utterance] = field(default_factory=list)
    did: list[ToolUse] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    clarifications: list[Clarification] = field(default_factory=list)
    occasions: list[ClarificationNeed] = field(default_factory=list)
    maybe_clarified: list[int] = field(default_factory=list)  # turns whose wording leaves open whether it asks
    lacking: set[int] = field(default_factory=set)  # turns in which the agent lacked something when it answered
    irreversible: list[IrreversibleAttempt] = field(default_factory=list)
    requests: list[tuple[int, str | None]] = field(default_factory=list)  # (turn, tool or None) of asked-for yeses
    maybe_requests: list[int] = field(default_factory=list)  # turns in which a yes may have been asked for
    effort: list[int] = field(default_factory=list)  # turns of the customer's repeated, corrected, restated messages
    maybe_effort: list[int] = field(default_factory=list)  # turns in which the wording leaves that open
    annoyed: list[int] = field(default_factory=list)  # turns in which the customer says that it is annoyed
    maybe_annoyed: list[int] = field(default_factory=list)  # turns in which its wording leaves that open
    repeated: list[int] = field(default_factory=list)  # turns in which the agent repeats what had been answered
    maybe_repeated: list[int] = field(default_factory=list)  # turns in which the reply leaves that open
    misheard: list[tuple[int, bool]] = field(default_factory=list)  # (turn, whether a told critical field was lost)
    fields: dict[str, bool] = field(default_factory=dict)
    transferred: bool = False

    @property
    def turns(self) -> int:
        """The agent's messages to the customer, the unit of `Task.optimal_turns`."""
        return sum(one.who == "agent" for one in self.said)

    @property
    def customer_messages(self) -> int:
        return sum(one.who == "customer" for one in self.said)

    @property
    def customer_turns(self) -> int:
        """Turns in which the customer speaks, with one message or more."""
        return len({one.turn for one in self.said if one.who == "customer"})


def read_entries(messages: Iterable[Message], task: ReferenceTask) -> Iterable[Utterance | ToolUse]:
    for at, message in enumerate(messages):
        data = message.data
        if message.role == "tool":
            given = data.get("arguments")
            tool = str(data.get("tool", ""))
            # Imported results do not say which tools write; what nothing takes back does.
            final = bool(data.get("irreversible")) or tool in task.irreversible
            yield ToolUse(
                at,
                message.turn,
                str(data.get("side", "agent")),
                tool,
                given if isinstance(given, dict) else {},
                str(data.get("kind", "ok")),
                bool(data.get("write")) or (final and data.get("write") is None),
                final,
            )
        elif message.role in ("customer", "agent") and message.turn > 0:
            if message.tool_calls or not message.text or not data.get("delivered", True):
                continue
            meant = data.get("ideal") or data.get("meant") or message.text
            heard = message.text if data.get("heard") is None else data["heard"]
            who: Literal["customer", "agent"] = "customer" if message.role == "customer" else "agent"
            yield Utterance(at, message.turn, who, str(meant), str(heard), data)


def elements(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def carries(call: ToolUse, name: str, value: Any) -> bool:
    """Whether a call has the value: under the field's name, or under another if it is too long to be chance."""
    for argument, given in call.arguments.items():
        if argument == name and (
            stated_values.same(given, value) or any(stated_values.same(given, one) for one in elements(value))
        ):
            return True
        if len(stated_values.shape(value)) >= 4 and stated_values.same(given, value):
            return True
    return False


def transfer_truth(task: ReferenceTask, transferred: bool) -> str:
    """What the task says of a hand-over, or of its absence."""
    if transferred:
        return "right" if task.transfer_right else "wrong"
    return "missed" if task.transfer_right else "none"
