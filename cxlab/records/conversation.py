"""What is said and what is known: messages, conversations, articles."""

from typing import Annotated, Any, Literal

from pydantic import Field

from cxlab.records.base import Record
from cxlab.records.usage import Usage

Role = Literal["customer", "agent", "system", "tool", "ivr"]


class ToolCall(Record):
    """One call of a tool; `arguments` is the raw text that was emitted, parsed by whoever runs it."""

    id: str
    name: str
    arguments: str


# Left out of what is written where it says nothing, so that a text made without any call is written as it always was.
_LEFT_OUT = Field(exclude_if=lambda value: value is None)


UNREADABLE = "(The reply could not be read.)"
"""What the other side is told of a reply without words; what came is in the message's data."""


class Message(Record):
    """One message; `turn` counts from 1 and a turn is one customer message with the reply to it.

    `usage`, `latency_s` and `cost_usd` are what it took to get the message from whoever has its role, with the speech
    services that carried it; all None where nobody was asked (a tool's result, a fixed text, a person).
    """

    role: Role
    text: str
    turn: int
    tool_calls: tuple[ToolCall, ...] = ()
    data: dict[str, Any] = {}
    usage: Annotated[Usage | None, _LEFT_OUT] = None
    latency_s: Annotated[float | None, _LEFT_OUT] = None
    cost_usd: Annotated[float | None, _LEFT_OUT] = None


class Conversation(Record):
    """A whole conversation with its labels and, per agent message, what it was grounded in."""

    id: str
    messages: tuple[Message, ...]
    channel: str = "text"
    persona: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    grounding: dict[int, tuple[str, ...]] = {}


class Article(Record):
    """A knowledge-base article; `relations` holds what is known by construction."""

    id: str
    kind: Literal["information", "issue", "policy"]
    topic: tuple[str, ...]
    title: str
    body: str
    format: str = "text"
    properties: dict[str, Any] = {}
    tools: tuple[dict[str, Any], ...] = ()
    relations: dict[str, tuple[str, ...]] = {}
