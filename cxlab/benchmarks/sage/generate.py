"""Samples of SAGE: every leaf of every procedure, crossed with the adversarial level.

A leaf's field values become the customer's situation and its system variables the back end's, so that
coverage holds by construction. Level changes how facts come out, never which facts are true.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np

from cxlab.benchmarks.generation import Generation, GenerationContext, make_at_once, rng_for
from cxlab.benchmarks.sage import conditions, rules
from cxlab.benchmarks.sage.options import SageDataset
from cxlab.benchmarks.sage.rules import LEVELS, Leaf, Scenario
from cxlab.records import Dataset, Sample, content_id
from cxlab.records.dataset import count_of

T = TypeVar("T")

# How facts come out, by level: chances of each delivery for a fact that the customer may hold back.
DELIVERY = {
    "zero": {"opening": 0.45, "asked": 0.50, "contrast": 0.05},
    "weak": {"opening": 0.25, "asked": 0.40, "second": 0.10, "contrast": 0.13, "corrected": 0.12},
    "strong": {"opening": 0.15, "asked": 0.30, "second": 0.25, "contrast": 0.15, "corrected": 0.15},
}
# How facts come out, by level: plainly, sharply, or by what they mean for the customer without being named.
WORDING = {
    "zero": {"plain": 0.85, "indirect": 0.15},
    "weak": {"plain": 0.62, "indirect": 0.38},
    "strong": {"heated": 0.62, "indirect": 0.38},
}
# How often the customer comes back after the outcome was announced: (fewest, most).
PATIENCE = {"zero": (0, 2), "weak": (1, 4), "strong": (2, 9)}


def generate(options: SageDataset, context: GenerationContext) -> Generation:
    """All leaves × levels of the scenarios, `per_leaf` times."""
    return make_at_once(*make(options, context.seed))


def amount(options: SageDataset) -> str:
    """How many dialogues these settings make, and of what."""
    scenarios, levels = options.scenarios or tuple(rules.ids()), options.levels or LEVELS
    ways = sum(len(list(rules.load(name).leaves())) for name in scenarios)
    whole = ways * len(levels) * options.per_leaf
    each = f" × {options.per_leaf} times" if options.per_leaf > 1 else ""
    return (
        f"{count_of(whole, 'dialogue')}: {count_of(ways, 'outcome')} of {count_of(len(scenarios), 'procedure')} × "
        f"{count_of(len(levels), 'level')}{each}"
    )


def make(options: SageDataset, seed: int) -> tuple[Dataset, list[Sample]]:
    """The dataset and its samples.

    Deterministic for a seed; a sample's id is the hash of its content.
    """
    scenarios, levels = options.scenarios or tuple(rules.ids()), options.levels or LEVELS
    per_leaf = options.per_leaf
    settings = {"scenarios": list(scenarios), "levels": list(levels), "per_leaf": per_leaf}
    files = [content_id(rules.load(name).model_dump(mode="json")) for name in scenarios]
    dataset_id = "sage-" + content_id(settings, seed, files, "2")
    samples = list(_samples_of(dataset_id, tuple(scenarios), tuple(levels), seed, per_leaf))
    many = f"{count_of(len(scenarios), 'procedure')}, {count_of(len(samples), 'dialogue')}"
    each = f", each {per_leaf} times" if per_leaf > 1 else ""
    name = f"SAGE, {many}: every outcome with {count_of(len(levels), 'kind')} of customer{each}"
    return Dataset(
        id=dataset_id,
        benchmark="sage",
        name=name,
        source="generated",
        config=settings,
        seed=seed,
        licence="own work",
        created=datetime.now(UTC),
    ), samples


@functools.lru_cache(maxsize=2)
def _samples_of(
    dataset_id: str, scenarios: tuple[str, ...], levels: tuple[str, ...], seed: int, per_leaf: int
) -> tuple[Sample, ...]:
    """All samples of a dataset. The id tells them apart: what is in it has the scenarios' content.

    Kept, because the Run page needs them for its filters, for what a run takes and for how many there are.
    """
    return tuple(
        sample for name in scenarios for sample in make_samples(dataset_id, rules.load(name), levels, seed, per_leaf)
    )


def make_samples(dataset_id: str, s: Scenario, levels: Sequence[str], seed: int, per_leaf: int) -> Iterator[Sample]:
    """All leaves of a scenario × levels, `per_leaf` times."""
    for leaf in s.leaves():
        for copy in range(per_leaf):
            for level in levels:
                yield _sample(dataset_id, s, leaf, level, seed, copy)


def _sample(dataset_id: str, s: Scenario, leaf: Leaf, level: str, seed: int, copy: int) -> Sample:
    # What levels must share is drawn without the level: the person, the slots, the system's amounts.
    shared = rng_for(s.id, leaf.id, seed, copy)
    own = rng_for(s.id, leaf.id, seed, copy, level)
    fields = {**s.defaults(), **{k: v for k, v in leaf.given.items() if k in s.fields}}
    system = _system(s, leaf, shared)
    intent = _intent(s, {**fields, **system, **leaf.given}, shared)
    personality = _pick(tuple(s.personalities), shared)
    slots = {name: _pick(values, shared) for name, values in s.slots.items()}
    told = [name for name in leaf.given if name in s.fields]
    low, high = PATIENCE[level]
    inputs = {
        "scenario": s.id,
        "leaf": leaf.id,
        "level": level,
        "intent": intent,
        "personality": personality,
        "fields": fields,
        "system": system,
        "slots": slots,
        "facts": [_fact(s, name, fields[name], level, own, position) for position, name in enumerate(told)],
        "patience": int(own.integers(low, high + 1)),
    }
    expected = {"path": list(leaf.path), "action": leaf.action, "fields": fields}
    return Sample(
        id=content_id(inputs, expected, seed, copy),
        dataset_id=dataset_id,
        benchmark="sage",
        task="dialogue",
        inputs=inputs,
        expected=expected,
        facets={
            "scenario": s.id,
            "level": level,
            "leaf": leaf.id,
            "intent": intent,
            "persona": personality,
            "modality": "text",
            "language": "en",
        },
    )


def _system(s: Scenario, leaf: Leaf, rng: np.random.Generator) -> dict[str, Any]:
    """The leaf's system variables; what the leaf leaves open is drawn, numbers and dates vary within their cell."""
    system: dict[str, Any] = {}
    for name, variable in s.system.items():
        value: Any
        if kind := variable.kind:
            cells = s.cells(name)
            cell = s.cell_of(name, leaf.given[name]) if name in leaf.given else cells[int(rng.integers(len(cells)))]
            value = conditions.draw(cell or cells[0], kind, rng)
        elif name in leaf.given:
            value = leaf.given[name]
        else:
            value = _pick(tuple(variable.values), rng)
        system[name] = value
    return system


def _intent(s: Scenario, facts: dict[str, Any], rng: np.random.Generator) -> str:
    """One of the most specific intents that fit the leaf."""
    fitting = [key for key, intent in s.intents.items() if s.applies(intent.when, facts)]
    most = max(len(s.intents[key].when) for key in fitting)
    return _pick([key for key in fitting if len(s.intents[key].when) == most], rng)


def _fact(s: Scenario, name: str, value: Any, level: str, rng: np.random.Generator, position: int) -> dict[str, Any]:
    spec = s.fields[name]
    delivery = _draw(DELIVERY[level], rng)
    wording = _draw(WORDING[level], rng)
    others = [v for v in spec.options if not conditions.same(v, value)]
    wrong = others[int(rng.integers(len(others)))] if delivery in ("contrast", "corrected") and others else None
    if delivery in ("contrast", "corrected") and (wrong is None or spec.emotion):
        # Feelings come up when they come up: they are neither announced nor taken back by plan.
        delivery, wrong = "asked", None
    if position == 0 and delivery in ("asked", "second") and level == "zero":
        delivery = "opening"
    # What depends on the agent's offer or on feelings does not come up before there is anything to react to.
    if delivery == "opening" and (spec.emotion or position > 1):
        delivery = "asked"
    return {"field": name, "value": value, "delivery": delivery, "wording": wording, "wrong": wrong}


# As `rng.choice` picks and draws, which makes arrays of what it is given first.


def _pick(values: Sequence[T], rng: np.random.Generator) -> T:
    return values[int(rng.integers(len(values)))]


def _draw(chances: dict[str, float], rng: np.random.Generator) -> str:
    return list(chances)[bisect.bisect_right(_bounds(tuple(chances.values())), rng.random())]


@functools.cache
def _bounds(weights: tuple[float, ...]) -> list[float]:
    """Where each chance ends on the line from 0 to 1."""
    ends = (np.array(weights) / sum(weights)).cumsum()
    bounds: list[float] = (ends / ends[-1]).tolist()
    return bounds
