"""Scores beside the paper's: by what was told so far, by the truth, and over chance.

The paper scores every field from the first turn on, so that "until told" defaults are nearly free, and takes the panel
for the truth. What customers told is known here by their own account (customer_card.py), and what follows from it by
the rule engine: `told` credits only what can be decided from it, `truth` is the paper's formula against it, `skill` is
`told` over what the best constant agent gets.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.customer_card import ToldFacts, fields_told, told_until
from cxlab.benchmarks.sage.formulae import action as grade_action
from cxlab.benchmarks.sage.rules import Leaf, Scenario, Trace, Untraceable
from cxlab.records import Message, Sample

WEIGHTS = {"classification": 0.4, "path": 0.4, "action": 0.2}
NOT_REPORTED = "what the customer had told is not known"
NOTHING_YET = "nothing was decidable yet"
Values = dict[str, tuple[float | None, str | None]]


@dataclass(frozen=True)
class Decidable:
    """What can be decided from what was told: fields, the stages that are certain, and the action once all is.

    `sure` of these stages are certain before anything is told, and nobody's merit.
    """

    fields: dict[str, Any]
    path: tuple[str, ...]
    sure: int
    action: dict[str, str] | None


@dataclass(frozen=True)
class TurnTruth:
    """The truth at a turn: what was told, what is decidable from it, and where it leads with defaults for the rest."""

    told: ToldFacts
    decidable: Decidable
    fields: dict[str, Any]
    route: Trace | None


def truth_at(s: Scenario, sample: Sample, messages: Iterable[Message], turn: int) -> TurnTruth | None:
    """The truth at a turn; None where the customer's messages hold no report of what they tell."""
    facts = sample.inputs["facts"]
    told = told_until(facts, messages, turn)
    if told is None:
        return None
    known = fields_told(facts, told)
    fields = {**s.defaults(), **known}
    try:
        route: Trace | None = s.trace(fields, sample.inputs["system"])
    except Untraceable:
        route = None
    return TurnTruth(told, decide(s, known, sample.inputs["system"]), fields, route)


def decide(s: Scenario, known: Mapping[str, Any], system: Mapping[str, Any]) -> Decidable:
    """Walk the procedure as far as the known fields and the back end allow."""
    path, action = _walk(s, {**known, **system})
    return Decidable(dict(known), path, len(_walk(s, system)[0]), action)


def grade(
    decidable: Decidable, fields: Mapping[str, Any], path: Sequence[str], action: float | None
) -> dict[str, float]:
    """The parts that can be decided, each 0 to 1; `action` is the agent's action graded against the decided one."""
    found: dict[str, float] = {}
    if decidable.fields:
        right = sum(same(fields.get(name), value) for name, value in decidable.fields.items())
        found["classification"] = right / len(decidable.fields)
    due = len(decidable.path) - decidable.sure
    if due > 0:
        found["path"] = max(0, _common(path, decidable.path) - decidable.sure) / due
    if decidable.action is not None and action is not None:
        found["action"] = action
    return found


def weigh(parts: Mapping[str, float]) -> float | None:
    """The paper's weights over the parts that there are; None without any."""
    whole = sum(WEIGHTS[name] for name in parts)
    return sum(WEIGHTS[name] * value for name, value in parts.items()) / whole if whole else None


def over_chance(value: float, chance: float) -> float | None:
    """A share over what chance gives, up to 1: 0 is the best constant agent; None where that is always right."""
    return None if chance >= 1 else (value - chance) / (1 - chance)


@functools.lru_cache(maxsize=64)
def chance_of(s: Scenario) -> float:
    """What the best constant agent gets in `told`: the same fields, path and action whatever is said.

    The mean over all leaves, and in each over the facts told one after the other, as a dialogue goes; each part of the
    constant answer is the best one there is.
    """
    states = [(state, weight) for leaf in s.leaves() for state, weight in _states(s, leaf)]
    if not states:
        return 0.0
    votes: dict[str, list[tuple[Any, float]]] = {}
    for state, weight in states:
        for name, value in state.fields.items():
            votes.setdefault(name, []).append((value, weight))
    fields = {name: _heaviest(given) for name, given in votes.items()}

    def credit(path: Sequence[str]) -> float:
        return sum(weight * grade(state, {}, path, None).get("path", 0.0) for state, weight in states)

    def worth(outputs: Mapping[str, str]) -> float:
        return sum(weight * grade_action(outputs, state.action) for state, weight in states if state.action)

    path = max(sorted({leaf.path for leaf in s.leaves()}), key=credit)
    action = max((leaf.action for leaf in s.leaves()), key=worth)
    total = got = 0.0
    for state, weight in states:
        value = weigh(grade(state, fields, path, grade_action(action, state.action) if state.action else None))
        if value is not None:
            total, got = total + weight, got + weight * value
    return got / total if total else 0.0


def _states(s: Scenario, leaf: Leaf) -> list[tuple[Decidable, float]]:
    """What is decidable as the facts of a leaf are told one after the other; a leaf's weights make 1."""
    system = {name: value for name, value in leaf.given.items() if name in s.system}
    told = [name for name in leaf.given if name in s.fields]
    return [
        (decide(s, {name: leaf.given[name] for name in told[: count + 1]}, system), 1 / len(told))
        for count in range(len(told))
    ]


def _walk(s: Scenario, facts: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, str] | None]:
    """The stages that are certain from the facts, and the outputs when the walk comes to an end."""
    stage, path = s.start, []
    while stage not in path:
        path.append(stage)
        chosen = None
        for branch in s.stages[stage].branches:
            if any(name not in facts for name in branch.when):
                # Conditions that fail already rule a branch out, whatever else it reads.
                if any(name in facts and not s.meets(name, facts[name], c) for name, c in branch.when.items()):
                    continue
                return tuple(path), None
            if s.applies(branch.when, facts):
                chosen = branch
                break
        if chosen is None:
            return tuple(path), None
        if chosen.action is not None:
            try:
                return tuple(path), s.trace(facts, facts).action
            except Untraceable:
                return tuple(path), None
        stage = str(chosen.to)
    return tuple(path), None


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the common beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _heaviest(given: Sequence[tuple[Any, float]]) -> Any:
    """The value with the most weight."""
    # True is not 1, and 0 is not False.
    weights: dict[tuple[bool, Any], float] = {}
    for value, weight in given:
        key = (isinstance(value, bool), value)
        weights[key] = weights.get(key, 0.0) + weight
    return max(weights, key=weights.__getitem__)[1]
