"""What is said and what is known: messages, conversations, articles."""

from typing import Any, Literal

from cxlab.records.base import Record

Role = Literal["customer", "agent", "system", "tool", "ivr"]


class ToolCall(Record):
    """One call of a tool; `arguments` is the raw text that was emitted, parsed by whoever runs it."""

    id: str
    name: str
    arguments: str


class Message(Record):
    """One message; `turn` counts from 1 and a turn is one customer message with the reply to it."""

    role: Role
    text: str
    turn: int
    tool_calls: tuple[ToolCall, ...] = ()
    data: dict[str, Any] = {}


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
