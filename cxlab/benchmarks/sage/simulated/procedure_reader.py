"""How simulated agents and judges read a printed procedure: what is printed can be read again without loss."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.sage import conditions
from cxlab.benchmarks.sage.conditions import Kind, same
from cxlab.benchmarks.sage.simulated.signal_reader import Value


@dataclass(frozen=True)
class PrintedField:
    """A field: its default, and its options with what they mean."""

    name: str
    default: Value
    options: tuple[tuple[Value, str], ...]


@dataclass(frozen=True)
class PrintedBranch:
    """A way out of a stage: conditions as (name, condition), the target stage or the action."""

    when: tuple[tuple[str, Any], ...]
    to: str | None
    action: str | None
    note: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PrintedStage:
    """A stage as text tells it."""

    name: str
    title: str
    ways: tuple[PrintedBranch, ...]

    @functools.cached_property
    def joint(self) -> bool:
        """Whether one of its ways reads two things at once."""
        return any(len(way.when) > 1 for way in self.ways)


@dataclass(frozen=True, eq=False)
class PrintedProcedure:
    """What can be read from a printed procedure; `plan` is (name, action that it goes with, what it is else)."""

    fields: tuple[PrintedField, ...]
    steps: dict[str, PrintedStage]
    actions: dict[str, str]
    plan: tuple[str, str, str] | None = None


FIELD = re.compile(r"^- (\w+): .*Until told: (\S+)\.$")
OPTION = re.compile(r"^  \* ([^\s:]+)(?:: (.*))?$")
STAGE = re.compile(r"^\d+[.)] (\w+) \((.*)\)$")
WAY = re.compile(r"^(?:If (?P<when>.+?), then|Always) (?P<rest>.+)\.$")
NOTE = re.compile(r"^set (\w+) to (\w+) and (.*)$")
ACTION = re.compile(r"^- ([\w+]+): (.*)$")
PLAN = re.compile(r"^(\w+) \(only with action (\S+), else (\S+)\):$")
BOUNDS = {
    "above": ">", "at least": ">=", "below": "<", "at most": "<=",
    "after": ">", "on or after": ">=", "before": "<", "on or before": "<=",
}  # fmt: skip
BOUND = re.compile(rf"^is ({'|'.join(sorted(BOUNDS, key=len, reverse=True))}) (\S+)$")
RANGE = re.compile(r"^is from (\S+) to (\S+)$")


def parse_value(text: str) -> Value:
    """The value behind a printed one."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


@functools.lru_cache(maxsize=64)
def read_procedure(text: str) -> PrintedProcedure:
    """Read a printed procedure back; what cannot be read is left out, as a reader would."""
    fields: list[tuple[str, Value, list[tuple[Value, str]]]] = []
    steps: dict[str, PrintedStage] = {}
    ways: list[PrintedBranch] = []
    stage: tuple[str, str] | None = None
    actions: dict[str, str] = {}
    plan = None
    acting = False
    for line in text.splitlines():
        acting = acting or line.lower().startswith("actions")
        if found := FIELD.match(line):
            fields.append((found[1], parse_value(found[2]), []))
        elif fields and (found := OPTION.match(line)):
            fields[-1][2].append((parse_value(found[1]), found[2] or ""))
        elif found := STAGE.match(line):
            stage, ways = (found[1], found[2]), []
            steps[found[1]] = PrintedStage(found[1], found[2], ())
        elif stage and (found := WAY.match(line.strip())):
            ways.append(_read_way(found["when"], found["rest"]))
            steps[stage[0]] = PrintedStage(*stage, tuple(ways))
        elif found := PLAN.match(line):
            plan = (found[1], found[2], found[3])
        elif acting and plan is None and (found := ACTION.match(line)):
            actions[found[1]] = found[2]
    return PrintedProcedure(tuple(PrintedField(n, d, tuple(o)) for n, d, o in fields), steps, actions, plan)


def meets(value: Any, condition: Any) -> bool:
    """Whether what is known meets a printed condition; numbers and dates are told by their looks."""
    if isinstance(condition, tuple):
        return any(meets(value, one) for one in condition)
    return _meets(value, condition)


@functools.lru_cache(maxsize=10_000, typed=True)
def _meets(value: Any, condition: Any) -> bool:
    kinds: tuple[Kind, ...] = ("integer", "amount", "date")
    for kind in kinds:
        if conditions.to_step(value, kind) is not None and conditions.read_interval(condition, kind) is not None:
            return conditions.meets(value, condition, kind)
    return same(value, condition)


def _read_way(when: str | None, rest: str) -> PrintedBranch:
    told = []
    for part in when.split(" and ") if when else ():
        found = re.match(r"^(?:the )?(.+?) (is .*)$", part)
        if found:
            told.append((found[1], _read_condition(found[2])))
    noted: list[tuple[str, str]] = []
    while note := NOTE.match(rest):
        noted.append((note[1], note[2]))
        rest = note[3]
    if jump := re.match(r"^go to (\w+)$", rest):
        return PrintedBranch(tuple(told), jump[1], None, tuple(noted))
    act = re.match(r"^do ([\w+]+) and stop$", rest)
    return PrintedBranch(tuple(told), None, act[1] if act else None, tuple(noted))


def _read_condition(text: str) -> Any:
    if " or is " in text:
        return tuple(
            _read_condition(part if part.startswith("is ") else f"is {part}") for part in text.split(" or is ")
        )
    if found := BOUND.match(text):
        return BOUNDS[found[1]] + found[2]
    if found := RANGE.match(text):
        return f"{found[1]}..{found[2]}"
    values = tuple(parse_value(value) for value in text.removeprefix("is ").split(" or "))
    return values if len(values) > 1 else values[0]
