"""One simulation of a tau2-bench result file as an attempt: what was said and done, how it ended, how it was marked.

The original tau-bench's records (`traj`, `info`) are read as the same thing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from cxlab.benchmarks.mmtaup2.importers.tau2_tasks import Unusable, refuse_faults
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.files import find_fault
from cxlab.records import Failure, Message, ToolCall, Usage

# Ends that say nothing about the agent: no reward is taken from them.
FAULTS = ("infrastructure_error", "unexpected_error")
# Ends that the simulated customer brought about by a fault of its own.
OF_CUSTOMER = ("user_error",)
STOPS = ("user_stop", "agent_stop", "")
# A customer message of such a mark alone says nothing and begins no turn.
_MARKS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
_ROLES: dict[str, Literal["agent", "customer", "system", "tool"]] = {
    "assistant": "agent",
    "user": "customer",
    "system": "system",
    "tool": "tool",
}


# Beyond these a number is a fault of whoever wrote the file.
LAST_TRIAL = 9_999
MOST_SECONDS = 10_000_000
MOST_USD = 1_000_000
MOST_TOKENS = 1_000_000_000
LONGEST_TEXT = 5_000_000


def _check_usage(usage: dict[str, Any]) -> dict[str, Any]:
    for name in ("prompt_tokens", "completion_tokens"):
        count = usage.get(name)
        if isinstance(count, int) and not 0 <= count <= MOST_TOKENS:
            raise ValueError(f"{name} is {count}; it can be from 0 to {MOST_TOKENS:,}")
    return usage


class _Raw(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Call(_Raw):
    id: str | None = ""
    name: str = ""
    arguments: Any = None
    requestor: str | None = "assistant"
    function: dict[str, Any] | None = None  # as OpenAI nests it, and tau-bench with it


class RawMessage(_Raw):
    role: Literal["assistant", "user", "system", "tool"]
    content: Any = None
    tool_calls: list[_Call] | None = None
    tool_messages: list[RawMessage] | None = None
    id: str | None = None
    tool_call_id: str | None = None
    requestor: str | None = None
    error: bool | None = None
    usage: Annotated[dict[str, Any], AfterValidator(_check_usage)] | None = None
    audio_script_gold: str | None = None


class _Match(_Raw):
    met: bool | None = None
    action_match: bool | None = None
    action: dict[str, Any] | None = None
    env_assertion: dict[str, Any] | None = None
    info: Any = None


class _Db(_Raw):
    db_match: bool | None = None


class RawReward(_Raw):
    # Products of shares; some programs write 1 with an error of rounding.
    reward: float | None = Field(default=None, ge=0, le=1 + 1e-6, allow_inf_nan=False)
    db_check: _Db | None = None
    env_assertions: list[_Match] | None = None
    action_checks: list[_Match] | None = None
    communicate_checks: list[_Match] | None = None
    nl_assertions: list[_Match] | None = None
    reward_basis: list[str] | None = None
    reward_breakdown: dict[str, float | None] | None = None


class RawSimulation(_Raw):
    """A simulation as the files have it; whatever an older or newer file lacks is null."""

    id: str | None = None
    task_id: str = Field(min_length=1, max_length=500)
    trial: int | None = Field(default=None, ge=0, le=LAST_TRIAL)
    messages: list[RawMessage] | None = None
    reward_info: RawReward | None = None
    termination_reason: str | None = Field(default=None, max_length=200)
    start_time: str | None = None
    timestamp: str | None = None
    duration: float | None = Field(default=None, ge=0, le=MOST_SECONDS, allow_inf_nan=False)
    agent_cost: float | None = Field(default=None, ge=0, le=MOST_USD, allow_inf_nan=False)
    mode: str | None = None

    @field_validator("task_id", "id", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


RawMessage.model_rebuild()


@dataclass(frozen=True)
class RewardMarks:
    """The reward and its parts, from 0 to 1 (None: not marked), and in words what is wrong."""

    reward: float | None
    parts: dict[str, float]
    reason: str


def read_simulation(given: Any) -> RawSimulation:
    """A simulation as it stands in a file; Unusable says which field is not what it should be."""
    if isinstance(given, dict) and "traj" in given:
        given = _from_old(given)
    refuse_faults(given, LONGEST_TEXT)
    try:
        return RawSimulation.model_validate(given)
    except ValidationError as fault:
        first = fault.errors()[0]
        raise Unusable(".".join(map(str, first["loc"])) or None, str(first["msg"])) from None


def _from_old(given: Mapping[str, Any]) -> dict[str, Any]:
    """tau-bench's record in tau2-bench's form; it has no checks beside the reward, and no reason of the end."""
    reward = given.get("reward")
    return {
        "task_id": given.get("task_id"),
        "trial": given.get("trial"),
        "messages": given.get("traj"),
        "reward_info": None if reward is None else {"reward": reward},
        "termination_reason": "",
    }


def read_time(text: str | None) -> datetime | None:
    """A time of the file; one without a zone is taken as UTC."""
    try:
        found = datetime.fromisoformat(text or "")
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_messages(given: Iterable[RawMessage], world: World | None) -> tuple[Message, ...]:
    """All that was said and done; turn 0 is what comes before the first customer message.

    `world` says which tools change something; None where the domain is not one of ours.
    """
    flat = [one for each in given for one in (each.tool_messages or [each])]
    found: list[Message] = []
    calls: dict[str, tuple[str, str, Any]] = {}  # call id → side, tool, arguments
    turn = 0
    for step, raw in enumerate(flat):
        text = _text(raw.content)
        if raw.role == "user" and not raw.tool_calls and text.strip() not in _MARKS:
            turn += 1
        if raw.role != "tool":
            own = tuple(_call(call, f"call-{step}-{place}") for place, call in enumerate(raw.tool_calls or ()))
            for made in own:
                calls[made.id] = ("customer" if raw.role == "user" else "agent", made.name, _parsed(made.arguments))
            heard = {"meant": raw.audio_script_gold, "heard": text} if raw.audio_script_gold else {}
            found.append(Message(role=_ROLES[raw.role], text=text, turn=turn, tool_calls=own, data=heard))
            continue
        side, tool, arguments = calls.get(
            raw.id or raw.tool_call_id or "", ("customer" if raw.requestor == "user" else "agent", "", {})
        )
        known = world.tool(side, tool) if world else None
        data = {
            "side": side,
            "tool": tool,
            "arguments": arguments,
            "kind": "refused" if raw.error or text.startswith("Error") else "ok",
            "value": _parsed(text),
            "write": known.write if known else None,
            "irreversible": known.irreversible if known else None,
            "step": step,
        }
        found.append(Message(role="tool", text=text, turn=turn, data=data))
    return tuple(found)


def _call(raw: _Call, fallback: str) -> ToolCall:
    function = raw.function or {}
    arguments = raw.arguments if raw.arguments is not None else function.get("arguments")
    emitted = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return ToolCall(id=raw.id or fallback, name=raw.name or str(function.get("name") or ""), arguments=emitted)


def _text(content: Any) -> str:
    """What was said; some servers' messages are lists of parts."""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "\n".join(str(part) for part in parts if part)
    return "" if content is None else content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _parsed(text: str) -> Any:
    """What a text says in JSON; the text itself where it is none, or says what no store could hold."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if find_fault(found, longest=LONGEST_TEXT) else found


def read_usage(given: Sequence[RawMessage]) -> Usage:
    """The agent's calls and tokens; None where the file counts no tokens. A greeting before the customer is no call."""
    first = next((place for place, each in enumerate(given) if each.role == "user"), 0)
    own = [each for each in given[first:] if each.role == "assistant"]
    counted = [each.usage for each in own if each.usage]

    def total(name: str) -> int | None:
        numbers = [usage[name] for usage in counted if isinstance(usage.get(name), int)]
        return sum(numbers) if numbers else None

    return Usage(prompt_tokens=total("prompt_tokens"), completion_tokens=total("completion_tokens"), calls=len(own))


def mark(talk: RawSimulation) -> RewardMarks:
    """The reward as the file has it, its parts as shares, and what the basis of the reward misses."""
    end = talk.termination_reason or ""
    given = talk.reward_info
    if end in FAULTS:
        return RewardMarks(None, {}, f"ended by {end}, which says nothing about the agent")
    if given is None or given.reward is None:
        return RewardMarks(None, {}, "the file has no reward for it")
    checks = {
        "actions": [each.action_match for each in given.action_checks or ()],
        "env_assertions": [each.met for each in given.env_assertions or ()],
        "communicate": [each.met for each in given.communicate_checks or ()],
        "nl_assertions": [each.met for each in given.nl_assertions or ()],
    }
    parts = {name: sum(map(bool, found)) / len(found) for name, found in checks.items() if found}
    if given.db_check is not None and given.db_check.db_match is not None:
        parts = {"db": float(given.db_check.db_match), **parts}
    return RewardMarks(given.reward, parts, "" if given.reward >= 1 - 1e-6 else _why(given, parts, end))


_BASIS = {
    "DB": "db",
    "ACTION": "actions",
    "ENV_ASSERTION": "env_assertions",
    "COMMUNICATE": "communicate",
    "NL_ASSERTION": "nl_assertions",
}


def _why(given: RawReward, parts: Mapping[str, float], end: str) -> str:
    """What is missing, in words short enough for alike ones to be alike."""
    if end not in STOPS:
        return f"ended by {end}"
    breakdown = given.reward_breakdown or {}
    # A check may have failed that does not count for this task: only the basis explains the reward.
    names = {_BASIS.get(name, name) for name in given.reward_basis or breakdown}
    names |= {_BASIS.get(name, name) for name, value in breakdown.items() if value is not None and value < 1}
    wrong = [name for name, value in parts.items() if value < 1 and (name in names or not names)]
    told = {
        "db": "the database is not as it should be",
        "actions": "not done: " + _names(each.action for each in given.action_checks or () if not each.action_match),
        "env_assertions": "does not hold: "
        + _names(each.env_assertion for each in given.env_assertions or () if not each.met),
        "communicate": "not told: "
        + ", ".join(str(each.info) for each in given.communicate_checks or () if not each.met),
        "nl_assertions": "an assertion in words does not hold",
    }
    return "; ".join(told[name] for name in wrong) or "the reward is below 1; the file does not say why"


def _names(given: Iterable[Mapping[str, Any] | None]) -> str:
    found = [str((each or {}).get("name") or (each or {}).get("func_name") or "?") for each in given]
    return ", ".join(dict.fromkeys(found))


def read_end(talk: RawSimulation) -> tuple[Literal["ok", "format", "provider"], tuple[Failure, ...]]:
    """How an attempt counts, and the failure that its end is, if any."""
    end = talk.termination_reason or ""
    if end in STOPS:
        return "ok", ()
    text = f"tau2-bench ended the conversation: {end}"
    if end in FAULTS:
        return "provider", (Failure(where="provider", type=end, message=text, retryable=True),)
    if end == "agent_error":
        return "format", (Failure(where="format", type=end, message=text),)
    return "ok", (Failure(where="customer" if end in OF_CUSTOMER else "agent", type=end, message=text),)
