"""A procedure as text for prompts: fields, back end, stages and actions, in words wherever nothing has to be copied."""

from __future__ import annotations

import functools
import re
from typing import Any

from cxlab.benchmarks.sage import conditions
from cxlab.benchmarks.sage.conditions import same, to_step
from cxlab.benchmarks.sage.rules import Branch, FieldSpec, Scenario, Variable


def show(value: Any) -> str:
    """A value as JSON writes it: true and false in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def in_words(name: str) -> str:
    """A name or value of a program as words: "NoContract" → "no contract"; what is all capitals stays."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").split()
    return " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts)


def show_variable(name: str, variable: Variable) -> str:
    """What a system variable is called in prompts."""
    return variable.title or in_words(name)


def show_known(value: Any) -> str:
    """The value of a system variable in words; a list, such as courses, with commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(show_known, value)) or "none"
    return in_words(value) if isinstance(value, str) and to_step(value, "date") is None else str(value)


def shown_system(system: dict[str, Any], scenario: Scenario) -> dict[str, str]:
    """What the back end shows of one customer, in words."""
    known = {name: value for name, value in system.items() if name in scenario.system}
    return {show_variable(name, scenario.system[name]): show_known(value) for name, value in known.items()}


def told_to_customer(system: dict[str, Any], scenario: Scenario) -> dict[str, str]:
    """The same for the customer, who has no list of what the desk's words mean: "delivered" may be on its way."""
    known = {name: value for name, value in system.items() if name in scenario.system}
    return {
        show_variable(name, scenario.system[name]): next(
            (meaning for one, meaning in scenario.system[name].values.items() if same(one, value)), show_known(value)
        )
        for name, value in known.items()
    }


def known_to_customer(system: dict[str, Any], scenario: Scenario) -> dict[str, Any]:
    """What the customer knows of the back end: not the desk's own notes about it."""
    return {
        name: value
        for name, value in system.items()
        if name not in scenario.system or not any(same(value, one) for one in scenario.system[name].hidden)
    }


@functools.lru_cache(maxsize=64)
def show_fields(scenario: Scenario, glossary: bool = True) -> str:
    """The classification fields, what holds until told and (glossary) what each option means."""
    return "\n".join(f"- {name}: {show_field(spec, glossary)}" for name, spec in scenario.fields.items())


def show_field(spec: FieldSpec, glossary: bool = True) -> str:
    """One field as `show_fields` prints it behind its name, an option a line."""
    out = [f"{spec.description} Until told: {show(spec.default)}."]
    for value, option in spec.options.items():
        out.append(f"  * {show(value)}: {option.description}" if glossary else f"  * {show(value)}")
    return "\n".join(out)


def show_stages(scenario: Scenario) -> str:
    """The stages as numbered steps of `If … then …` sentences."""
    return "\n".join(
        f"{number}. {name} ({stage.title})\n" + "\n".join(f"   {_way(scenario, b)}" for b in stage.branches)
        for number, (name, stage) in enumerate(scenario.stages.items(), 1)
    )


def show_actions(scenario: Scenario) -> str:
    """The actions with what the agent then does; plans below them."""
    out = [f"- {name}: {action.description}" for name, action in scenario.actions.items()]
    if scenario.plan:
        p = scenario.plan
        out.append(f"{p.name} (only with action {p.with_action}, else {p.none}):")
        out += [f"- {name}: {meaning}" for name, meaning in p.values.items()]
    return "\n".join(out)


def show_system(scenario: Scenario) -> str:
    """What the back end's variables mean."""
    out = []
    for name, variable in scenario.system.items():
        kinds = {"integer": "a whole number", "amount": "an amount", "date": "a date"}
        told = kinds.get(variable.kind or "", "")
        told = told or "; ".join(f"{show_known(value)} means {text}" for value, text in variable.values.items())
        out.append(f"- {show_variable(name, variable)}: {variable.description} ({told})")
    return "\n".join(out)


@functools.lru_cache(maxsize=64)
def show_procedure(scenario: Scenario, glossary: bool = True) -> str:
    """The whole procedure as the service agent gets it."""
    parts = [f"FIELDS\n{show_fields(scenario, glossary)}"]
    if scenario.system:
        parts.append(f"WHAT THE BACK END MAY SHOW\n{show_system(scenario)}")
    parts += [f"STAGES (begin at {scenario.start})\n{show_stages(scenario)}", f"ACTIONS\n{show_actions(scenario)}"]
    return "\n\n".join(parts)


@functools.lru_cache(maxsize=64)
def show_policy(scenario: Scenario) -> str:
    """Stages and actions, as a judge needs them to see what the desk should do."""
    back_end = f"What the back end may show:\n{show_system(scenario)}\n\n" if scenario.system else ""
    return (
        f"{back_end}Stages (begin at {scenario.start}):\n{show_stages(scenario)}\n\n"
        f"Actions of the desk:\n{show_actions(scenario)}"
    )


def _way(scenario: Scenario, branch: Branch) -> str:
    told = []
    for name, condition in branch.when.items():
        if name in scenario.fields:
            told.append(f"{name} {conditions.in_words(condition, None, show)}")
        else:
            kind = scenario.kind(name)
            called = show_variable(name, scenario.system[name])
            told.append(f"the {called} {conditions.in_words(condition, kind, show_known)}")
    note = "".join(f"set {k} to {v} and " for k, v in branch.set.items())
    end = f"go to {branch.to}" if branch.to else f"do {branch.action} and stop"
    return f"If {' and '.join(told)}, then {note}{end}." if told else f"Always {note}{end}."
