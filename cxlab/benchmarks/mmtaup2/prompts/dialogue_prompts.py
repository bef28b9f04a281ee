"""The prompts of the conversation as typed functions: agent, customer, and what is inferred about the customer."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from cxlab.llm import Prompt, Text
from cxlab.llm.prompts import unrendered
from cxlab.records import Message

HERE = Path(__file__).parent
SIMULATE = "cxlab.benchmarks.mmtaup2.simulated"
# What a customer writes to end the talk, as in tau2-bench, and why it does.
STOPS = {"done": "###STOP###", "transfer": "###TRANSFER###", "out_of_scope": "###OUT-OF-SCOPE###"}


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry of a talk as one side knows it; `call` has the tool's name and the arguments as they were emitted.

    `value` is a result before it was put in words, which stand-ins read in place of a screen; no prompt prints it.
    """

    who: Literal["Customer", "Agent", "Call", "Result"]
    text: str
    call: tuple[str, str] | None = None
    error: bool = False
    turn: int = 0
    value: Any = None


class AgentInputs(BaseModel):
    """What the agent under test gets; `note` is empty at exposure 0, `device`: customers have one with tools."""

    policy: str
    note: str
    tools: list[dict[str, Any]]
    history: list[HistoryEntry]
    voice: bool
    device: bool = False
    as_text: bool = False

    def holds_own_replies(self) -> bool:
        """Whether the agent has answered or called a tool before; its greeting, of turn 0, is no model's."""
        return any(entry.turn and entry.who in ("Agent", "Call") for entry in self.history)


class CustomerInputs(BaseModel):
    """What the customer gets: `wants` one after the other, what it knows and does not know, how it decides.

    `manner` are the traits of its persona in words. Stand-ins are given the reason and the facts as the task has them.
    """

    about: str
    manner: dict[str, str]
    wants: tuple[str, ...]
    knows: tuple[str, ...]
    unknown: tuple[str, ...]
    wishes: tuple[str, ...]
    instructions: str
    device: bool
    reason: str = unrendered("")
    facts: dict[str, Any] = unrendered({})
    tools: list[dict[str, Any]]
    history: list[HistoryEntry]
    voice: bool
    stops: dict[str, str] = STOPS
    as_text: bool = False


class ProfileInputs(BaseModel):
    """The last messages, as the agent knows them."""

    history: list[HistoryEntry]


class WrittenCall(BaseModel):
    """A tool call written as JSON; whether it can be carried out is for the world to say."""

    name: str
    arguments: Any = Field(default_factory=dict)


class WrittenMove(BaseModel):
    """A move in words of JSON, for servers without tool calls."""

    calls: list[WrittenCall] = []
    message: str = ""


class Profile(BaseModel):
    """What was told of a customer; None where it cannot be known, and then left out of every prompt."""

    model_config = ConfigDict(extra="ignore")

    reasoning: str | None = None
    age: int | None = Field(default=None, ge=5, le=120)
    gender: str | None = None
    articulation_skill: float | None = Field(default=None, ge=0, le=10)
    language_understanding_skill: float | None = Field(default=None, ge=0, le=10)
    technical_skill: float | None = Field(default=None, ge=0, le=10)
    frustration_level: float | None = Field(default=None, ge=0, le=10)
    persona: str | None = None
    more: dict[str, Any] = {}

    @field_validator("*", mode="before")
    @classmethod
    def _absent(cls, value: Any, info: Any) -> Any:
        """Models write "N/A", "unknown" or "" for what they cannot tell: that is None, not a value."""
        if info.field_name == "more":
            return value if isinstance(value, dict) else {}
        absent = isinstance(value, str) and value.strip().lower() in ("", "n/a", "na", "none", "null", "unknown")
        return None if absent else value

    def told(self) -> dict[str, Any]:
        """What was told, absent things left out; the reasoning stays with us."""
        found = self.model_dump(exclude_none=True, exclude={"reasoning", "more"})
        kept = {k: v for k, v in self.more.items() if v not in (None, "", "N/A") and isinstance(v, str | int | float)}
        return found | kept


AGENT: Prompt[AgentInputs, Text] = Prompt(
    "mmtaup2_agent", 2, HERE / "agent.md", AgentInputs, None, f"{SIMULATE}.agent:agent"
)
AGENT_JSON = Prompt("mmtaup2_agent_json", 2, HERE / "agent.md", AgentInputs, WrittenMove, f"{SIMULATE}.agent:agent")
CUSTOMER: Prompt[CustomerInputs, Text] = Prompt(
    "mmtaup2_customer", 5, HERE / "customer.md", CustomerInputs, None, f"{SIMULATE}.customer:customer"
)
CUSTOMER_JSON = Prompt(
    "mmtaup2_customer_json",
    5,
    HERE / "customer.md",
    CustomerInputs,
    WrittenMove,
    f"{SIMULATE}.customer:customer",
)
PROFILE = Prompt(
    "mmtaup2_profile", 2, HERE / "profile.md", ProfileInputs, Profile, f"{SIMULATE}.profile_inference:profile"
)
PROMPTS = (AGENT, AGENT_JSON, CUSTOMER, CUSTOMER_JSON, PROFILE)


def hashes() -> dict[str, str]:
    """Prompt name → hash, as runs keep them."""
    return {prompt.name: prompt.hash for prompt in PROMPTS}


def lines(messages: Sequence[Message]) -> list[HistoryEntry]:
    """Messages that one side may see, as prompts print them."""
    found = []
    for message in messages:
        if message.role == "tool":
            found.append(
                HistoryEntry(
                    "Result",
                    message.text,
                    None,
                    message.data.get("kind", "ok") != "ok",
                    message.turn,
                    message.data.get("value"),
                )
            )
            continue
        for call in message.tool_calls:
            pair = (call.name, call.arguments)
            found.append(HistoryEntry("Call", f"{call.name} {call.arguments}", pair, False, message.turn))
        if not message.tool_calls:
            who: Any = "Customer" if message.role == "customer" else "Agent"
            found.append(HistoryEntry(who, message.text, None, False, message.turn))
    return found


def chat(messages: Sequence[Message], side: str) -> list[dict[str, Any]]:
    """The same messages in OpenAI's form: the side itself is the assistant, the other one the user."""
    found: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "tool":
            found.append({"role": "tool", "tool_call_id": message.data["call"], "content": message.text})
        elif message.tool_calls:
            calls = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": _sendable(c.arguments)}}
                for c in message.tool_calls
            ]
            found.append({"role": "assistant", "content": message.text or None, "tool_calls": calls})
        else:
            found.append({"role": "assistant" if message.role == side else "user", "content": message.text})
    return found


@functools.lru_cache(maxsize=1024)
def _sendable(arguments: str) -> str:
    """Servers refuse a history whose arguments are no JSON object; what went wrong stands in the result."""
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except ValueError:
        return "{}"


def stop_of(text: str) -> tuple[str, str | None]:
    """(the text without stop marks, why it stops or None)."""
    found = next((why for why, mark in STOPS.items() if mark in text), None)
    for mark in STOPS.values():
        text = text.replace(mark, "")
    return text.strip(), found


def note_of(told: Mapping[str, Any]) -> str:
    """What is known of a customer as lines for the agent's prompt."""
    return "\n".join(f"- {name.replace('_', ' ')}: {value}" for name, value in told.items())
