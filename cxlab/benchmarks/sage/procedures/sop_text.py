"""A procedure as text for prompts, and back: what is printed can be read again without loss."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cxlab.benchmarks.sage.procedures.signal_reader import FieldSignals, Value
from cxlab.benchmarks.sage.rules import Scenario, load


@dataclass(frozen=True)
class PrintedStage:
    """A stage as text tells it: conditions as (name, values or ">N") pairs, target stage or action."""

    name: str
    title: str
    ways: tuple[PrintedBranch, ...]


@dataclass(frozen=True)
class PrintedBranch:
    when: tuple[tuple[str, tuple[Any, ...]], ...]
    to: str | None
    action: str | None
    note: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PrintedProcedure:
    """What can be read from a printed procedure."""

    guides: tuple[FieldSignals, ...]
    asks: dict[str, tuple[str, ...]]
    clauses: dict[str, tuple[str, ...]]
    steps: dict[str, PrintedStage]
    plan: tuple[str, str, str] | None = None
    topics: dict[str, tuple[str, ...]] = field(default_factory=dict)


def guides(scenario: Scenario) -> tuple[FieldSignals, ...]:
    """The fields as a reader needs them."""
    return tuple(
        FieldSignals(name, spec.default, spec.emotion, tuple((v, o.signals, o.subtle) for v, o in spec.options.items()))
        for name, spec in scenario.fields.items()
    )


def show(value: Value) -> str:
    """A value as it is printed and as JSON writes it: true and false in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_value(text: str) -> Value:
    """The value behind a printed one."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def show_fields(scenario: Scenario, glossary: bool = True) -> str:
    """The classification fields with options, what holds until told, and (glossary) typical wordings."""
    out = []
    for name, spec in scenario.fields.items():
        mark = " (emotion)" if spec.emotion else ""
        out.append(f"- {name}{mark}: {spec.description} Until told: {show(spec.default)}.")
        for value, option in spec.options.items():
            out.append(f"  * {show(value)}: {option.description}")
            if glossary and option.signals:
                out.append(f"    Typical wording: {'; '.join(option.signals)}")
            if glossary and option.subtle:
                out.append(f"    Indirect wording: {'; '.join(option.subtle)}")
        out.append(f"  Ask: {' / '.join(spec.ask)}")
    return "\n".join(out)


def show_stages(scenario: Scenario) -> str:
    """The stages as numbered steps of `If … then …` sentences."""
    return "\n".join(
        f"{number}. {name} - {stage.title}\n" + "\n".join(f"   {_way(b)}" for b in stage.branches)
        for number, (name, stage) in enumerate(scenario.stages.items(), 1)
    )


def show_actions(scenario: Scenario) -> str:
    """The actions with what the agent then does; plans below them."""
    out = [f"- {name}: {a.description} Say: I will {' / '.join(a.clause)}." for name, a in scenario.actions.items()]
    if scenario.plan:
        p = scenario.plan
        out.append(f"{p.name} (only with action {p.with_action}, else {p.none}):")
        out += [f"- {name}: {meaning}" for name, meaning in p.values.items()]
    return "\n".join(out)


def show_system(scenario: Scenario) -> str:
    """What the system variables mean."""
    out = []
    for name, variable in scenario.system.items():
        values = (
            "a whole number" if variable.integer else "; ".join(f"{show(v)} = {t}" for v, t in variable.values.items())
        )
        out.append(f"- {name}: {variable.description} ({values})")
    return "\n".join(out)


@functools.cache
def show_procedure(scenario_id: str, glossary: bool = True) -> str:
    """The whole procedure as the service agent gets it."""
    s = load(scenario_id)
    return (
        f"FIELDS\n{show_fields(s, glossary)}\n\nSYSTEM VARIABLES\n{show_system(s)}\n\n"
        f"STAGES (begin at {s.start})\n{show_stages(s)}\n\nACTIONS\n{show_actions(s)}"
    )


def _way(branch: Any) -> str:
    conditions = []
    for name, condition in branch.when.items():
        if isinstance(condition, list | tuple):
            conditions.append(f"{name} is {' or '.join(show(v) for v in condition)}")
        elif isinstance(condition, str) and condition.startswith(">"):
            conditions.append(f"{name} is above {condition[1:]}")
        else:
            conditions.append(f"{name} is {show(condition)}")
    note = "".join(f"note {k} {v}, then " for k, v in branch.set.items())
    end = f"go to {branch.to}" if branch.to else f"do {branch.action} and stop"
    return f"If {' and '.join(conditions)}, then {note}{end}." if conditions else f"Always {note}{end}."


FIELD = re.compile(r"^- (\w+)( \(emotion\))?: .*Until told: (\S+)\.$")
OPTION = re.compile(r"^  \* (\S+): ")
STAGE = re.compile(r"^\d+[.)] (\w+) - (.*)$")
WAY = re.compile(r"^(?:If (?P<when>.+?), then|Always) (?P<rest>.+)\.$")
NOTE = re.compile(r"^note (\w+) (\w+), then (.*)$")
ACTION = re.compile(r"^- ([\w+]+): .* Say: I will (.*)\.$")
PLAN = re.compile(r"^(\w+) \(only with action (\S+), else (\S+)\):$")


@functools.lru_cache(maxsize=64)
def read_procedure(text: str) -> PrintedProcedure:
    """Read a printed procedure back; what cannot be read is left out, as a reader would."""
    fields: list[dict[str, Any]] = []
    steps: dict[str, PrintedStage] = {}
    ways: list[PrintedBranch] = []
    stage: tuple[str, str] | None = None
    clauses: dict[str, tuple[str, ...]] = {}
    plan = None
    for line in text.splitlines():
        stripped = line.strip()
        if found := FIELD.match(line):
            default = parse_value(found[3])
            fields.append({"name": found[1], "default": default, "emotion": bool(found[2]), "options": [], "ask": ()})
        elif fields and (found := OPTION.match(line)):
            fields[-1]["options"].append([parse_value(found[1]), (), ()])
        elif fields and fields[-1]["options"] and stripped.startswith("Typical wording: "):
            fields[-1]["options"][-1][1] = tuple(stripped[17:].split("; "))
        elif fields and fields[-1]["options"] and stripped.startswith("Indirect wording: "):
            fields[-1]["options"][-1][2] = tuple(stripped[18:].split("; "))
        elif fields and stripped.startswith("Ask: "):
            fields[-1]["ask"] = tuple(stripped[5:].split(" / "))
        elif found := STAGE.match(line):
            stage, ways = (found[1], found[2]), []
            steps[found[1]] = PrintedStage(found[1], found[2], ())
        elif stage and (found := WAY.match(stripped)):
            ways.append(_read_way(found["when"], found["rest"]))
            steps[stage[0]] = PrintedStage(*stage, tuple(ways))
        elif found := PLAN.match(line):
            plan = (found[1], found[2], found[3])
        elif found := ACTION.match(line):
            clauses[found[1]] = tuple(found[2].split(" / "))
    return PrintedProcedure(
        tuple(
            FieldSignals(f["name"], f["default"], f["emotion"], tuple((o[0], o[1], o[2]) for o in f["options"]))
            for f in fields
        ),
        {f["name"]: f["ask"] for f in fields},
        clauses,
        steps,
        plan,
    )


def _read_way(when: str | None, rest: str) -> PrintedBranch:
    conditions: list[tuple[str, tuple[Any, ...]]] = []
    for part in when.split(" and ") if when else ():
        name, _, values = part.partition(" is ")
        if values.startswith("above "):
            conditions.append((name, (">" + values[6:],)))
        else:
            conditions.append((name, tuple(parse_value(v) for v in values.split(" or "))))
    noted: list[tuple[str, str]] = []
    while found := NOTE.match(rest):
        noted.append((found[1], found[2]))
        rest = found[3]
    if found := re.match(r"^go to (\w+)$", rest):
        return PrintedBranch(tuple(conditions), found[1], None, tuple(noted))
    found = re.match(r"^do ([\w+]+) and stop$", rest)
    return PrintedBranch(tuple(conditions), None, found[1] if found else None, tuple(noted))


def names_of(steps: Sequence[PrintedStage]) -> tuple[str, ...]:
    return tuple(step.name for step in steps)
