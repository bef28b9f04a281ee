"""The two prompts of a conversation that real models write: each side decides for itself what it says and does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import Passage
from cxlab.llm import Prompt

HERE = Path(__file__).parents[1] / "prompts" / "conversations"
SIMULATE = "cxlab.benchmarks.cxmarena.simulated.conversations.free_dialogue"

# Standard of service → what an agent is told who keeps it, and who does not.
SERVICE_RULES: dict[str, tuple[str, str]] = {
    "greeting": ("Greet the customer in your first message.", "Do not greet the customer."),
    "introduction": ("Give your name in your first message.", "Do not give your name."),
    "name": ("Use the customer's name once you know it.", "Never use the customer's name."),
    "wellbeing": ("Ask once, early on, how the customer is.", "Do not ask how the customer is."),
    "empathy": ("Show once that you see what the trouble means for the customer.", "Do not comment on the trouble."),
    "apology": ("Apologise for the trouble.", "Do not apologise for anything."),
    "restate": (
        "Before you begin to solve it, sum the matter up and ask whether you have understood it.",
        "Do not sum the matter up; begin at once.",
    ),
    "verify": (
        "Before you open an order or an account, ask for the full name and the house number on file.",
        "Open orders and accounts without asking who it is.",
    ),
    "jargon": (
        "Use no word that only colleagues know.",
        "Use words and abbreviations of the house without explaining them.",
    ),
    "hold": ("Before you look something up, ask the customer to wait a moment.", "Look things up without a word."),
    "hold_thanks": (
        "After you have looked something up, thank the customer for waiting.",
        "Do not thank the customer for waiting.",
    ),
    "understanding": (
        "After an instruction, ask whether it was clear.",
        "Do not ask whether an instruction was clear.",
    ),
    "repeat": (
        "When the customer does not follow, explain it in other, plainer words.",
        "When the customer does not follow, say the same words again.",
    ),
    "alternative": (
        "When the customer cannot do a step, offer another way.",
        "When the customer cannot do a step, offer no other way.",
    ),
    "calm": ("Stay kind when the customer is annoyed.", "Answer curtly when the customer is annoyed."),
    "promise": (
        "When you put a question off, come back to it yourself.",
        "When you put a question off, do not come back to it.",
    ),
    "next_steps": ("Say before you close what happens next and by when.", "Do not say what happens next."),
    "settled": ("Ask before you close whether the matter is settled.", "Do not ask whether the matter is settled."),
    "further_help": ("Ask before you close whether there is anything else.", "Do not ask whether there is more."),
    "closing": ("Say goodbye in your last message.", "End without saying goodbye."),
}
# What a customer left out at first → how its card puts it.
DETAILS = {
    "model": "Which one it is about",
    "since": "Since when",
    "place": "Where",
    "tried": "What you have tried",
    "before": "Whether you were in touch about it before",
    "hurry": "How urgent it is",
}
Kind = Literal["general", "knowledge_base", "tool_information_gathering", "tool_call"]


class ToolOffer(BaseModel):
    """A tool as the agent reads it; `needs` are its arguments, each with what it is."""

    name: str
    description: str
    needs: tuple[str, ...]


class AgentMessageInputs(BaseModel):
    """What an agent has at hand."""

    language: str
    formal_you: str = ""
    brand: str
    agent: str
    rules: tuple[str, ...]
    tools: tuple[ToolOffer, ...]
    articles: tuple[Passage, ...]
    history: str
    complaints: tuple[str, ...] = ()


class SourceSentence(BaseModel):
    article: str
    words: str


class ToolUse(BaseModel):
    name: str
    arguments: dict[str, Any] = {}


class AgentMessage(BaseModel):
    reason: str
    kind: Kind
    sources: list[SourceSentence] = []
    call: ToolUse | None = None
    message: str = Field(min_length=1)


class CustomerMessageInputs(BaseModel):
    """A customer's card and what was said."""

    language: str
    formal_you: str = ""
    brand: str
    customer: str
    manner: tuple[str, ...]
    casual: bool
    problem: str
    details: tuple[str, ...]
    questions: tuple[str, ...]
    history: str


class CustomerMessage(BaseModel):
    message: str = Field(min_length=1)
    finished: bool = False


AGENT_MESSAGE = Prompt(
    "cxmarena_agent_message",
    1,
    HERE / "agent_message.md",
    AgentMessageInputs,
    AgentMessage,
    f"{SIMULATE}:agent",
    temperature=0.8,
)
CUSTOMER_MESSAGE = Prompt(
    "cxmarena_customer_message",
    2,
    HERE / "customer_message.md",
    CustomerMessageInputs,
    CustomerMessage,
    f"{SIMULATE}:customer",
    temperature=0.9,
)
ALL = (AGENT_MESSAGE, CUSTOMER_MESSAGE)


def hashes() -> dict[str, str]:
    """Prompt name → hash, as datasets keep them."""
    return {prompt.name: prompt.hash for prompt in ALL}
