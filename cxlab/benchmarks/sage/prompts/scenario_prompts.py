"""SAGE's prompts as typed functions, one set a scenario, so that a server can enforce its options."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, WithJsonSchema, create_model

from cxlab.benchmarks.sage.rules import Scenario, load
from cxlab.llm import Prompt

HERE = Path(__file__).parent
SIMULATE = "cxlab.benchmarks.sage.simulated"
DIMENSIONS = (
    "linguistic_quality",
    "anthropomorphism_emotion",
    "content_utility",
    "user_satisfaction",
    "instruction_compliance",
)
GRADES = (3, 6, 9)


class DialogueLine(BaseModel):
    """One line of a dialogue as prompts print it."""

    who: Literal["Customer", "Agent"]
    text: str


class Fact(BaseModel):
    """Something that is true for the customer, how it comes out, and sample wordings."""

    field: str
    value: str
    meaning: str
    topic: tuple[str, ...]
    delivery: Literal["opening", "asked", "second", "contrast", "corrected"]
    wordings: tuple[str, ...]
    denial: str = ""
    wrong: tuple[str, ...] = ()


class AgentInputs(BaseModel):
    """What the service agent gets; `system` is empty when the ablation hides it."""

    business: str
    procedure: str
    first_stage: str
    plan: str
    system: dict[str, str]
    history: list[DialogueLine]


class CustomerInputs(BaseModel):
    """What the customer gets, in every prompt and not in the first one only."""

    role: str
    intent: str
    background: str
    goal: str
    personality: str
    style: tuple[str, ...]
    attitude: str
    system: dict[str, str]
    facts: tuple[Fact, ...]
    openings: tuple[str, ...]
    small_talk: tuple[str, ...]
    objections: tuple[str, ...]
    patience: int
    history: list[DialogueLine]
    may_leave: bool


class CustomerReply(BaseModel):
    """A customer's message; `done` only counts when it was allowed."""

    message: str = Field(min_length=1)
    done: bool = False


class JudgeInputs(BaseModel):
    """What a judge gets: the dialogue up to the judged reply and no more."""

    business: str
    fields: str
    actions: str
    system: dict[str, str]
    history: list[DialogueLine]


class AgentReply(BaseModel):
    """The agent's one JSON object; a scenario's own version knows the options."""

    fields: Any
    path: list[str] = Field(min_length=1)
    action: str
    plan: str | None = None
    reasoning: str = ""
    chat: str = Field(min_length=1)


class JudgeReply(BaseModel):
    """A judge's ballot; values are checked at the count, so that an unknown one is seen and not lost."""

    fields: dict[str, Any]
    grades: dict[str, Any]
    fields_reason: str = ""
    grades_reason: str = ""


def _literal(values: tuple[Any, ...]) -> Any:
    return bool if set(values) == {True, False} else Literal[values]  # type: ignore[valid-type]


@functools.cache
def agent_prompt(scenario_id: str) -> Prompt[AgentInputs, AgentReply]:
    """The prompt of the agent under test; no repair, because its format is measured."""
    s = load(scenario_id)
    fields = create_model("Fields", **{name: (_literal(tuple(spec.options)), ...) for name, spec in s.fields.items()})  # type: ignore[call-overload]
    extra: dict[str, Any] = {
        "fields": (fields, ...),
        "path": (list[Literal[tuple(s.stages)]], Field(min_length=1)),  # type: ignore[misc]
        "action": (Literal[tuple(s.actions)], ...),  # type: ignore[misc]
    }
    if s.plan:
        extra["plan"] = (Literal[(*s.plan.values, s.plan.none)], ...)  # type: ignore[misc]
    output = create_model("AgentReply", __base__=AgentReply, **extra)
    return Prompt(
        "sage_agent", 1, HERE / "agent.md", AgentInputs, output, f"{SIMULATE}.agent:agent", 0.1, 1024, repair=False
    )


@functools.cache
def judge_prompt(scenario_id: str) -> Prompt[JudgeInputs, JudgeReply]:
    """A judge's prompt; the server is told the options, the count decides what a stray value is worth."""
    s = load(scenario_id)
    fields = create_model("Fields", **{name: (_told(tuple(f.options)), None) for name, f in s.fields.items()})  # type: ignore[call-overload]
    grades = create_model("Grades", **{name: (_told(GRADES), None) for name in DIMENSIONS})  # type: ignore[call-overload]
    schema = {"fields": (_loose(fields), ...), "grades": (_loose(grades), ...)}
    output = create_model("JudgeReply", __base__=JudgeReply, **schema)  # type: ignore[call-overload]
    return Prompt("sage_judge", 1, HERE / "judge.md", JudgeInputs, output, f"{SIMULATE}.agent:judge", 0.2, 1024)


CUSTOMER = Prompt(
    "sage_customer", 1, HERE / "customer.md", CustomerInputs, CustomerReply, f"{SIMULATE}.customer:customer", 0.8, 512
)


def _told(values: tuple[Any, ...]) -> Any:
    return Annotated[Any, WithJsonSchema({"enum": list(values)})]


def _loose(model: type[BaseModel]) -> Any:
    schema = model.model_json_schema()
    schema["required"] = list(schema["properties"])
    schema["additionalProperties"] = False
    return Annotated[dict[str, Any], WithJsonSchema(schema)]


def hashes(scenario_ids: tuple[str, ...]) -> dict[str, str]:
    """Prompt name and scenario → hash, as runs keep them."""
    found = {"sage_customer": CUSTOMER.hash}
    for name in scenario_ids:
        found[f"sage_agent/{name}"] = agent_prompt(name).hash
        found[f"sage_judge/{name}"] = judge_prompt(name).hash
    return found


def lines(messages: Any) -> list[DialogueLine]:
    """Messages as prompts print them."""
    return [DialogueLine(who="Customer" if m.role == "customer" else "Agent", text=m.text) for m in messages]


def attitude(level: str) -> str:
    """What an adversarial level asks of the customer, in words."""
    return {
        "zero": "cooperative: friendly, clear, you want what the desk can give",
        "weak": "questioning: reasonable but doubtful, you want things explained and do not offer everything at once",
        "strong": "adversarial: impatient and hostile in tone, you push, threaten to complain and give facts "
        "reluctantly; you never insult for its own sake and never lie",
    }[level]


def shown(values: dict[str, Any], scenario: Scenario) -> dict[str, str]:
    """System variables as prompts print them."""
    from cxlab.benchmarks.sage.procedures.sop_text import show

    return {
        name: show(value) if not isinstance(value, list) else ", ".join(map(str, value))
        for name, value in values.items()
    }
