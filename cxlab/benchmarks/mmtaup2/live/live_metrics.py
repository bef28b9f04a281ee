"""What is to be seen of conversations while they go on: counts, the twelve metrics as they stand, what has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.conversation import personas
from cxlab.benchmarks.mmtaup2.conversation.patience import HURRIED, SHORT, MessageLoad, patience, person_of, strain
from cxlab.benchmarks.mmtaup2.evaluation import adaptations, summary
from cxlab.benchmarks.mmtaup2.evaluation.left_undecided import SHARES, UNBOUNDED
from cxlab.benchmarks.mmtaup2.evaluation.measured_metrics import (
    CUT_SHORT,
    METRICS,
    PAIRED,
    Figure,
    Measurement,
    measure,
)
from cxlab.records import Message
from cxlab.records.live_snapshot import LiveCounts, LiveMetric, WorldChange
from cxlab.voice import words

# Rows that appear because somebody looked at them are no change of the world.
_LOOKED_UP = ("users", "orders")
_IDS = ("bill_id", "item_id", "id", "transaction_id", "tracking_id")
NOT_OVER = "known when the conversation is over"
NO_VOICE = "stands with the voice variants: it compares them with text"
NO_TEXT = "needs a text variant of the same persona and exposure beside it"
NOT_BOTH = "known when the voice and the text conversation are over"


def watch(
    task: tasks.Task, messages: Sequence[Message], passed: bool | None = None, outcome: str = "ok"
) -> tuple[LiveCounts, tuple[LiveMetric, ...]]:
    """What can be counted of a conversation so far, and the twelve metrics as they stand; from its log."""
    found = measure(task, messages, {"passed": passed}, outcome)
    return _count(task, messages, found), tuple(_read(metric, found) for metric in METRICS)


def compare(
    task: tasks.Task,
    terms: Sequence[tuple[str, int, str]],
    seen: Sequence[tuple[tuple[LiveMetric, ...], int, bool | None]],
) -> list[tuple[LiveMetric, ...]]:
    """The readings with those that compare voice with text, where the variants allow it.

    `terms`: persona, exposure and modality of each variant; `seen`: its readings, turns, and whether it passed.
    """
    cases = [
        None if passed is None else summary.ConversationResult(
            task.id, task.domain, persona, exposure, modality, place,
            {"pass": Figure((float(passed),)), "turns": Figure((float(turns),) if turns else ())},
        )
        for place, ((persona, exposure, modality), (_, turns, passed)) in enumerate(zip(terms, seen, strict=True))
    ]  # fmt: skip
    found = []
    paired: dict[str, tuple[float | None, str]]
    for place, (persona, exposure, modality) in enumerate(terms):
        beside = [
            case
            for case, other in zip(cases, terms, strict=True)
            if other == (persona, exposure, "text")
        ]  # fmt: skip
        readings = seen[place][0]
        if modality == "text":
            paired = dict.fromkeys(PAIRED, (None, NO_VOICE))
        elif not beside:
            paired = dict.fromkeys(PAIRED, (None, NO_TEXT))
        elif any(case is None for case in (cases[place], *beside)):
            paired = dict.fromkeys(PAIRED, (None, NOT_BOTH))
        else:
            both = [case for case in (cases[place], *beside) if case is not None]
            robust, overhead = summary.modality_robustness(both), summary.turn_overhead(both)
            paired = {
                "modality_robustness": (robust.value, robust.reason or ""),
                "turn_overhead": (overhead.value, overhead.reason or ""),
            }
        found.append(tuple(_paired(one, paired) for one in readings))
    return found


def _paired(one: LiveMetric, paired: Mapping[str, tuple[float | None, str]]) -> LiveMetric:
    if one.metric not in paired or one.reason == CUT_SHORT:
        return one
    value, reason = paired[one.metric]
    return replace(one, value=value, n=int(value is not None), reason=reason)


def _read(metric: str, found: Measurement) -> LiveMetric:
    what, figure = METRICS[metric], found.figures[metric]
    reason = figure.reason or ""
    if metric == "arga" and figure.value is None and found.log.misheard:
        reason = NOT_OVER
    n = len(figure.observations)
    open = None if metric in UNBOUNDED else found.figures.get(SHARES.get(metric, ""))
    left = round(sum(open.observations)) if open else 0
    return LiveMetric(metric, what.title, what.definition, figure.value, n, reason, what.high == 1, what.best, left)


def _count(task: tasks.Task, messages: Sequence[Message], found: Measurement) -> LiveCounts:
    spoken = [
        (str(message.data["ideal"]), float(message.data.get("wer", 0.0)))
        for message in messages
        if message.data.get("ideal")
    ]
    said = sum(len(words(text)) for text, _ in spoken)
    lost = sum(rate * len(words(text)) for text, rate in spoken)
    return LiveCounts(
        turns=found.log.turns,
        least=task.optimal_turns,
        fields=dict(found.log.fields),
        wer=lost / said if said else None,
        repeated=tuple(found.log.repeated),
    )


def wear_out(task: tasks.Task, persona: str, messages: Sequence[Message]) -> list[float]:
    """The share of the customer's patience that is gone after each message of the agent, the greeting first.

    Empty for a persona that has all the time in the world. An estimate from the wording, the same for real and
    simulated customers; what a simulated one counts for itself may be a little more or less.
    """
    traits = personas.persona(persona).traits
    if SHORT not in traits:
        return []
    said = [message.text for message in messages if message.role == "agent" and not message.tool_calls]
    facts = task.known.facts
    contact = facts.get("phone_number") or facts.get("email") or ""
    whole = patience(person_of(task.known.reason, str(contact), str(facts.get("name", ""))))
    return [min(1.0, each / whole) for each in strain(said, _load, HURRIED in traits)]


def _load(text: str) -> MessageLoad:
    return MessageLoad(frozenset(adaptations.requests(text)), adaptations.NAMES.search(text) is not None)


def differences(before: Any, now: Any, path: tuple[str, ...] = ()) -> list[WorldChange]:
    """The values that are others now than before, by their place; lists of rows are matched by the rows' ids."""
    before, now = _by_id(before), _by_id(now)
    if isinstance(before, dict) and isinstance(now, dict):
        found = []
        for name in dict.fromkeys([*before, *now]):
            if name not in before and path and path[-1] in _LOOKED_UP:
                continue
            found += differences(before.get(name), now.get(name), (*path, str(name)))
        return found
    return [] if before == now else [WorldChange(path, before, now)]


def _by_id(value: Any) -> Any:
    """A list of rows that have ids as a table of them."""
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        name = next((each for each in _IDS if all(each in row for row in value)), None)
        if name is not None and len({str(row[name]) for row in value}) == len(value):
            return {str(row[name]): row for row in value}
    return value
