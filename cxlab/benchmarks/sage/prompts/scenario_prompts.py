"""SAGE's prompts as typed functions, one set a scenario, so that a server can enforce its options.

In each schema the reasoning comes first, and only what this procedure has is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, WithJsonSchema, create_model

from cxlab.benchmarks.sage.procedures.sop_text import show_known, show_variable
from cxlab.benchmarks.sage.rules import Scenario, files_by_id, load
from cxlab.errors import CxError
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
_JUDGE = HERE / "judge.md"


class DialogueLine(BaseModel):
    """One line of a dialogue as prompts print it."""

    model_config = ConfigDict(frozen=True)

    who: Literal["Customer", "Agent"]
    text: str


class Fact(BaseModel):
    """Something that is true for the customer, in the second person, and how it comes out."""

    truth: str
    how: str


class AgentInputs(BaseModel):
    """What the service agent gets; `system` is empty when the ablation hides it, `plan` where there is none."""

    business: str
    procedure: str
    first_stage: str
    plan: str
    system: dict[str, str]
    history: list[DialogueLine]

    def holds_own_replies(self) -> bool:
        """Whether the agent has answered before."""
        return any(line.who == "Agent" for line in self.history)


class CustomerInputs(BaseModel):
    """What the customer gets, in every prompt and not in the first one only.

    Facts are numbered from 1; `usual` is how those come out that say nothing else.
    `told`, `mistaken` and `untold` are kept by the run from the customer's own reports.
    """

    role: str
    intent: str
    background: str
    goal: str
    personality: str
    attitude: str
    system: dict[str, str]
    facts: tuple[Fact, ...]
    usual: str = ""
    patience: int
    language: str
    history: list[DialogueLine] = []
    told: tuple[int, ...] = ()
    mistaken: tuple[int, ...] = ()
    untold: tuple[int, ...] = ()
    may_leave: bool = False
    _script: object = PrivateAttr(None)
    """What a simulated customer is given beside the prompt; no model is shown it."""


class CustomerReply(BaseModel):
    """A customer's message and what of its facts it says that it has just told, withheld or taken back."""

    reasoning: str = ""
    message: str = Field(min_length=1)
    told: list[int] = []
    withheld: list[int] = []
    taken_back: list[int] = []
    done: bool = False


class JudgeInputs(BaseModel):
    """What a judge gets: the procedure, and the dialogue up to the judged reply and no more."""

    business: str
    fields: str
    policy: str
    system: dict[str, str]
    history: list[DialogueLine]


class JudgeReply(BaseModel):
    """A judge's ballot; values are checked at the count, so that an unknown one is seen and not lost."""

    fields_reasoning: str = ""
    fields: dict[str, Any]
    grades_reasoning: str = ""
    grades: dict[str, Any]


class CheckLine(BaseModel):
    """One numbered line of a conversation that people brought."""

    id: int
    who: str
    text: str


class CheckInputs(BaseModel):
    """A conversation that took place elsewhere, and the procedure that it is compared with.

    `back_end`: what its variables are called; `plan`: what the plan is called, empty where there is none.
    """

    business: str
    fields: str
    policy: str
    back_end: tuple[str, ...]
    plan: str
    lines: list[CheckLine]


UNTOLD = "untold"
"""What is read of a thing that the conversation does not tell."""


def _literal(values: tuple[Any, ...]) -> Any:
    return bool if set(values) == {True, False} else Literal[values]


def _schema(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    """A class of these fields (name → type, default)."""
    schema: type[BaseModel] = create_model(name, **fields)
    return schema


@functools.lru_cache(maxsize=64)
def agent_prompt(s: Scenario) -> Prompt[AgentInputs, BaseModel]:
    """The prompt of the agent under test; no repair, because its format is measured."""
    fields = _schema("Fields", {name: (_literal(tuple(spec.options)), ...) for name, spec in s.fields.items()})
    stages: Any = Literal[tuple(s.stages)]
    parts: dict[str, Any] = {
        "reasoning": (str, ""),
        "fields": (fields, ...),
        "path": (list[stages], Field(min_length=1)),
        "action": (Literal[tuple(s.actions)], ...),
    }
    if s.plan:
        parts["plan"] = (Literal[(*s.plan.values, s.plan.none)], ...)
    parts["chat"] = (str, Field(min_length=1))
    output: type[BaseModel] = create_model("AgentReply", **parts)
    return Prompt("sage_agent", 2, HERE / "agent.md", AgentInputs, output, f"{SIMULATE}.agent:agent", 0.1, repair=False)


@functools.lru_cache(maxsize=64)
def judge_prompt(s: Scenario) -> Prompt[JudgeInputs, JudgeReply]:
    """A judge's prompt; the server is told the options, the count decides what a stray value is worth."""
    fields = _schema("Fields", {name: (_told(tuple(f.options)), None) for name, f in s.fields.items()})
    grades = _schema("Grades", {name: (_told(GRADES), None) for name in DIMENSIONS})
    # Fields that a class inherits come in its order, so these are told with theirs.
    parts: dict[str, Any] = {
        "fields_reasoning": (str, ""),
        "fields": (_loose(fields), ...),
        "grades_reasoning": (str, ""),
        "grades": (_loose(grades), ...),
    }
    output = create_model("JudgeReply", __base__=JudgeReply, **parts)
    return Prompt("sage_judge", 2, _JUDGE, JudgeInputs, output, f"{SIMULATE}.judge:judge", 0.2)


@functools.cache
def judge_points() -> dict[str, str]:
    """What judges of every scenario are told of each thing that has a line of its own, by name."""
    return Prompt("sage_judge", 2, _JUDGE, JudgeInputs).points


@functools.lru_cache(maxsize=64)
def check_prompt(s: Scenario) -> Prompt[CheckInputs, BaseModel]:
    """The prompt that reads a whole conversation: fields, what was said of the back end, and what the agent did."""
    fields = _schema("Fields", {name: (_literal(tuple(spec.options)), ...) for name, spec in s.fields.items()})
    parts: dict[str, Any] = {"reasoning": (str, ""), "fields": (fields, ...)}
    if s.system:
        known = {
            name: (
                str | int | float if each.kind else Literal[(*map(show_known, each.values), UNTOLD)],
                Field(UNTOLD, alias=show_variable(name, each)),
            )
            for name, each in s.system.items()
        }
        parts["back_end"] = (_schema("BackEnd", known), ...)
    parts["action"] = (Literal[(*s.actions, UNTOLD)], ...)
    if s.plan:
        parts["plan"] = (Literal[(*s.plan.values, s.plan.none)], s.plan.none)
    parts["lines"] = (list[int], [])
    output: type[BaseModel] = create_model("CheckReply", **parts)
    return Prompt("sage_check", 1, HERE / "check.md", CheckInputs, output, f"{SIMULATE}.checker:check", 0.0)


CUSTOMER = Prompt(
    "sage_customer", 2, HERE / "customer.md", CustomerInputs, CustomerReply, f"{SIMULATE}.customer:customer", 0.8,
    script=f"{SIMULATE}.script:draw_script",
)  # fmt: skip


_JSON_TYPES = {bool: "boolean", str: "string", int: "integer", float: "number"}


def _told(values: tuple[Any, ...]) -> Any:
    # Servers that hold a model to its schema refuse one that leaves a type open.
    types = list(dict.fromkeys(_JSON_TYPES[type(value)] for value in values))
    return Annotated[Any, WithJsonSchema({"type": types[0] if len(types) == 1 else types, "enum": list(values)})]


def _loose(model: type[BaseModel]) -> Any:
    schema = model.model_json_schema()
    schema["required"] = list(schema["properties"])
    schema["additionalProperties"] = False
    return Annotated[dict[str, Any], WithJsonSchema(schema)]


def hashes() -> dict[str, str]:
    """Prompt name and scenario → hash, as runs keep them; a scenario whose file is broken has none."""
    found = {CUSTOMER.name: CUSTOMER.hash}
    for name in files_by_id():
        try:
            s = load(name)
            found |= {f"sage_agent/{name}": agent_prompt(s).hash, f"sage_judge/{name}": judge_prompt(s).hash}
        except CxError:
            continue  # whoever runs it is told; it must not keep others from running
    return found


def lines(messages: Sequence[Any]) -> list[DialogueLine]:
    """Messages as prompts print them."""
    return [_line(m.role == "customer", m.text) for m in messages]


# A message stands in the prompts of all turns after it, the customer's, the agent's and the judges'.
@functools.lru_cache(maxsize=20_000)
def _line(of_customer: bool, text: str) -> DialogueLine:
    return DialogueLine(who="Customer" if of_customer else "Agent", text=text)
