"""One task of tau2-bench's tasks.json as a task of ours; what cannot be one is said by field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from cxlab import files
from cxlab.benchmarks.mmtaup2.tasks import Basis, CustomerKnowledge, GoldAction, Task, count_optimal_turns
from cxlab.benchmarks.mmtaup2.tasks.samples import leaf_of
from cxlab.benchmarks.mmtaup2.tasks.telecom_tasks import needs_look
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import CxError
from cxlab.records import content_id

TRANSFER = "transfer_to_human_agents"
# "[mms_issue]bad_vpn|break_app_sms_permission[PERSONA:Hard]"
_TELECOM_ID = re.compile(r"^\[(?P<intent>\w+)\](?P<issues>[^\[\]]*)\[PERSONA:(?P<persona>\w+)\]$")
_SIDES: dict[str, Literal["agent", "customer"]] = {"assistant": "agent", "user": "customer"}
# What of a call's arguments must not be got wrong; lists and running text are left out.
CRITICAL = {
    "telecom": ("phone_number", "customer_id", "line_id", "bill_id", "gb_amount"),
    "retail": ("user_id", "order_id", "payment_method_id", "zip", "reason"),
}


class Unusable(ValueError):
    """A task that cannot be played; `field` is where, the text why."""

    def __init__(self, field: str | None, problem: str) -> None:
        super().__init__(problem)
        self.field = field


class _Raw(BaseModel):
    # Later versions know more keys; what is missing is as good as null, except where a task is none without it.
    model_config = ConfigDict(extra="ignore")


# null stands for none.
_Arguments = Annotated[dict[str, Any], BeforeValidator(lambda value: {} if value is None else value)]


class _Action(_Raw):
    name: str
    arguments: _Arguments = {}
    requestor: Literal["assistant", "user"] = "assistant"
    compare_args: list[str] | None = None


class _Function(_Raw):
    env_type: Literal["assistant", "user"]
    func_name: str
    arguments: _Arguments = {}


class _Assertion(_Function):
    assert_value: bool = True


class _Criteria(_Raw):
    actions: list[_Action] | None = None
    env_assertions: list[_Assertion] | None = None
    communicate_info: list[str] | None = None
    nl_assertions: list[str] | None = None
    reward_basis: list[Basis] | None = None


class _Instructions(_Raw):
    reason_for_call: str | None = None
    known_info: str | None = None
    unknown_info: str | None = None
    task_instructions: str | None = None


class _Scenario(_Raw):
    persona: str | None = None
    instructions: _Instructions | str | None = None


class _State(_Raw):
    initialization_data: Any = None
    initialization_actions: list[_Function] | None = None
    message_history: list[Any] | None = None

    @field_validator("initialization_data")
    @classmethod
    def _emptied(cls, value: Any) -> Any:
        """{"agent_data": null, "user_data": null} changes nothing."""
        return {k: v for k, v in value.items() if v} if isinstance(value, dict) else value


class RawTask(_Raw):
    """A task as the files have it."""

    id: str = Field(max_length=500)
    user_scenario: _Scenario | None = None
    initial_state: _State | None = None
    evaluation_criteria: _Criteria | None = None

    @field_validator("id", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def refuse_faults(given: Any, longest: int = files.LONGEST_TEXT) -> None:
    """Unusable for what no store could hold: numbers beyond 64 bits, NUL, nesting without end."""
    if fault := files.find_fault(given, longest=longest):
        raise Unusable(".".join(fault.where[:6]) or None, fault.problem)


def read_raw(given: Any) -> RawTask:
    """The task as it stands in a file; Unusable says which field is not what it should be."""
    refuse_faults(given)
    try:
        return RawTask.model_validate(given)
    except ValidationError as fault:
        first = fault.errors()[0]
        raise Unusable(".".join(map(str, first["loc"])) or None, str(first["msg"])) from None


def build_task(raw: RawTask, domain: str, world: World) -> Task:
    """A task of ours, played on `world`; Unusable when its first state or its gold actions are not possible there."""
    state, criteria = raw.initial_state or _State(), raw.evaluation_criteria or _Criteria()
    if state.message_history:
        raise Unusable("initial_state.message_history", "begins in the middle of a conversation")
    if state.initialization_data:
        raise Unusable("initial_state.initialization_data", "changes the database by hand, not by functions")
    gold = read_gold(criteria.actions or ())
    for place, action in enumerate(gold):
        if world.tool(action.side, action.tool) is None:
            where = f"evaluation_criteria.actions.{place}.name"
            raise Unusable(where, f"the {domain} world has no {action.side} tool {action.tool!r}")
    owner = _owner(world, gold) if domain == "retail" else None
    prepare = _prepare(state, owner)
    assertions = tuple(assertion.model_dump() for assertion in criteria.env_assertions or ())
    trial = world.fresh()
    try:
        trial.prepare(prepare)
        for assertion in assertions:
            trial.check(assertion)
    except CxError as fault:
        raise Unusable("initial_state / env_assertions", str(fault)) from None
    return compose(raw, domain, world, owner)


def compose(raw: RawTask, domain: str, world: World, owner: str | None = None) -> Task:
    """The task as it is written, whether or not it can be played; `world` says which tools write and which bind."""
    state, criteria = raw.initial_state or _State(), raw.evaluation_criteria or _Criteria()
    gold = read_gold(criteria.actions or ())
    prepare = _prepare(state, owner)
    irreversible = tuple(dict.fromkeys(a.tool for a in gold if world.is_irreversible(a.tool)))
    # Retail's policy asks for a yes before every change, telecom's before those that nothing takes back.
    asked = irreversible if domain == "telecom" else [a.tool for a in gold if world.is_write(a.side, a.tool)]
    issues = issues_of(raw, gold)
    looks = domain == "telecom" and needs_look(issues)
    return Task(
        id=raw.id,
        domain=domain,
        issues=issues,
        known=_known(raw, prepare, gold),
        prepare=tuple(prepare),
        gold=gold,
        assertions=tuple(assertion.model_dump() for assertion in criteria.env_assertions or ()),
        reward_basis=tuple(criteria.reward_basis or ()),
        communicate=tuple(criteria.communicate_info or ()),
        nl_assertions=tuple(criteria.nl_assertions or ()),
        optimal_turns=count_optimal_turns(gold, asked, looks=looks),
        critical_fields=_critical(domain, prepare, gold, owner),
        irreversible=irreversible,
        transfer_right=any(action.tool == TRANSFER for action in gold),
        source="tau2",
    )


def read_gold(actions: Iterable[_Action]) -> tuple[GoldAction, ...]:
    """The gold actions in our words for the sides."""
    return tuple(
        GoldAction(
            side=_SIDES[action.requestor],
            tool=action.name,
            arguments=action.arguments,
            compare=None if action.compare_args is None else tuple(action.compare_args),
        )
        for action in actions
    )


def issues_of(raw: RawTask, gold: Iterable[GoldAction] = ()) -> tuple[str, ...]:
    """The issues that a telecom id names; of other tasks, the tools of the gold actions that change something."""
    if match := _TELECOM_ID.match(raw.id):
        return tuple(filter(None, match["issues"].split("|")))
    reads = ("get_", "find_", "list_", "check_")
    tools = [action.tool for action in gold if not action.tool.startswith(reads) and action.tool != "calculate"]
    return tuple(dict.fromkeys(tools)) or ("question",)


def sample_id(domain: str, raw: RawTask) -> str:
    """The same for the same task, whichever file it comes from and whatever else that file says of it."""
    criteria, state = raw.evaluation_criteria or _Criteria(), raw.initial_state or _State()
    # Of an action, older and newer files say different things beside what it is.
    parts = [[a.requestor, a.name, a.arguments, a.compare_args] for a in criteria.actions or ()]
    goals = [criteria.env_assertions or [], criteria.communicate_info or [], criteria.nl_assertions or []]
    return content_id("tau2", domain, raw.id, parts, [_plain(g) for g in goals], _plain(state.initialization_actions))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.model_dump() if isinstance(value, BaseModel) else value


def describe(raw: RawTask, domain: str) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """(inputs, expected, leaf) of a task that need not be playable here: what a page can show of it."""
    criteria = raw.evaluation_criteria or _Criteria()
    gold = read_gold(criteria.actions or ())
    known = _known(raw, (), gold)
    inputs = {"id": raw.id, "domain": domain, "known": known.model_dump(mode="json")}
    expected = {
        "gold": [action.model_dump(mode="json") for action in gold],
        "assertions": [assertion.model_dump() for assertion in criteria.env_assertions or ()],
        "communicate": criteria.communicate_info or [],
        "nl_assertions": criteria.nl_assertions or [],
        "reward_basis": criteria.reward_basis or [],
    }
    return inputs, expected, leaf_of(issues_of(raw, gold)) if gold or raw.user_scenario else None


def facets_of(raw: RawTask) -> dict[str, str | None]:
    """Intent and persona, where the id says them; the persona is the one the task came with."""
    match = _TELECOM_ID.match(raw.id)
    persona = match["persona"].lower() if match else "none"
    return {"intent": match["intent"] if match else None, "persona": persona, "modality": "text"}


def _known(raw: RawTask, prepare: Iterable[Mapping[str, Any]], gold: Iterable[GoldAction]) -> CustomerKnowledge:
    said = (raw.user_scenario or _Scenario()).instructions or ""
    if isinstance(said, str):
        said = _Instructions(reason_for_call=said)
    facts: dict[str, Any] = {}
    for function in prepare:
        if function["func_name"] == "set_user_info":
            facts |= function["arguments"]
    for action in gold:
        if action.tool in ("find_user_id_by_email", "find_user_id_by_name_zip"):
            facts |= {name: value for name, value in action.arguments.items() if name not in facts}
    if said.known_info:
        facts["known"] = said.known_info
    return CustomerKnowledge(
        reason=said.reason_for_call or "",
        facts=facts,
        unknown=(said.unknown_info,) if said.unknown_info else (),
        instructions=said.task_instructions or "",
    )


def _prepare(state: _State, owner: str | None) -> list[dict[str, Any]]:
    prepare = [function.model_dump() for function in state.initialization_actions or ()]
    if owner:
        prepare.append({"env_type": "assistant", "func_name": "set_customer", "arguments": {"user_id": owner}})
    return prepare


def _owner(world: World, gold: Iterable[GoldAction]) -> str | None:
    """The one user whose rows the gold actions are about; None when that is not one."""
    found = set()
    for action in gold:
        order = world.agent.get("orders", str(action.arguments.get("order_id")))
        name = action.arguments.get("user_id") or (order or {}).get("user_id")
        if name and world.agent.get("users", str(name)) is not None:
            found.add(str(name))
    return found.pop() if len(found) == 1 else None


def _critical(
    domain: str, prepare: Iterable[Mapping[str, Any]], gold: Iterable[GoldAction], owner: str | None
) -> dict[str, Any]:
    """The values of the fields that a mishearing would spoil, several as a list."""
    given = [function["arguments"] for function in prepare if function["func_name"] == "set_user_info"]
    given += [action.arguments for action in gold if action.side == "agent"]
    given += [{"user_id": owner}] if owner else []
    found: dict[str, list[Any]] = {}
    for name in CRITICAL.get(domain, ()):
        for arguments in given:
            value = arguments.get(name)
            if value is not None and value not in found.setdefault(name, []):
                found[name].append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items() if values}
