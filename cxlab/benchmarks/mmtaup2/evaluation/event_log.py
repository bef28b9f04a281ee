"""From the messages of a conversation to its events; the truth they are compared with is the task's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cxlab.benchmarks.mmtaup2 import dialogue_acts, stated_values
from cxlab.benchmarks.mmtaup2.cues import questions
from cxlab.benchmarks.mmtaup2.evaluation import confirmations, repetitions
from cxlab.benchmarks.mmtaup2.evaluation.events import (
    TRANSFER,
    EventLog,
    ReferenceTask,
    ToolUse,
    Utterance,
    carries,
    elements,
    read_entries,
)
from cxlab.benchmarks.mmtaup2.evaluation.tracking import KnowledgeTracker
from cxlab.records import Message


def read(task: ReferenceTask, messages: Iterable[Message], passed: bool | None) -> EventLog:
    """The log of a conversation so far; `passed` None while it is not decided."""
    entries = list(read_entries(messages, task))
    walk = KnowledgeTracker(task)
    for entry in entries:
        walk.take(entry)
    log = walk.finish(passed)
    log.fields = {name: _field_right(name, value, log.did) for name, value in task.critical_fields.items()}
    log.effort, log.maybe_effort = _effort(task, entries)
    log.annoyed, log.maybe_annoyed = _annoyance(log.said)
    _take_repetitions(task, log, entries)
    asked = confirmations.follow(entries)
    log.irreversible, log.requests, log.maybe_requests = asked.attempts, asked.requests, asked.maybe
    log.transferred = any(d.side == "agent" and d.tool == TRANSFER and d.kind == "ok" for d in log.did)
    return log


def _field_right(name: str, value: Any, did: Sequence[ToolUse]) -> bool:
    """Whether the agent got a field right: every write that names it has the value; without one, some call has it."""
    ours = [d for d in did if d.side == "agent"]
    written = [d for d in ours if d.kind == "ok" and d.write and name in d.arguments]
    if written and not all(carries(d, name, value) for d in written):
        return False
    right = [d for d in ours if d.kind in ("ok", "refused") and carries(d, name, value)]
    if not isinstance(value, list | tuple):
        return bool(right)
    given = [shape for d in right for one in d.arguments.values() for shape in map(stated_values.shape, elements(one))]
    return all(stated_values.shape(one) in given for one in value)


def _annoyance(said: Iterable[Utterance]) -> tuple[list[int], list[int]]:
    """Turns in which the customer says that it is annoyed, and those in which its wording leaves that open."""
    moods: dict[int, list[bool | None]] = {}
    for one in said:
        if one.who == "customer":
            moods.setdefault(one.turn, []).append(dialogue_acts.frustration(one.meant))
    annoyed = [turn for turn, found in moods.items() if any(found)]
    return annoyed, [turn for turn, found in moods.items() if None in found and turn not in annoyed]


def _take_repetitions(task: ReferenceTask, log: EventLog, entries: Sequence[Utterance | ToolUse]) -> None:
    """What the agent asked again though it had been answered, and the effort of answering it once more."""
    facts = _long_facts(task)
    found = repetitions.follow(entries, lambda text: any(stated_values.states(text, value) for value in facts))
    log.repeated = [one.turn for one in found if one.answered]
    log.maybe_repeated = [one.turn for one in found if one.answered is None]
    replies = {one.reply_turn: one.effort for one in found if one.reply_turn is not None and one.effort is not False}
    log.effort = sorted({*log.effort, *(turn for turn, sure in replies.items() if sure)})
    log.maybe_effort = sorted(
        {*log.maybe_effort, *(turn for turn, sure in replies.items() if not sure)} - {*log.effort}
    )


def _long_facts(task: ReferenceTask) -> list[Any]:
    """What the customer can tell and the task is about, but for what is too short to stand for itself."""
    told = (*task.known.facts.values(), *task.critical_fields.values())
    return [value for value in told if len(stated_values.shape(value)) >= 4]


def _effort(task: ReferenceTask, entries: Sequence[Utterance | ToolUse]) -> tuple[list[int], list[int]]:
    """Turns in which the customer had to say again: a correction, a value told before, or nearly the same words; and
    those in which that hangs on a wording that may be no correction.

    A code in place of one that was not found, of the same make, corrects it however it is put. Nearly the same words
    are no repetition when the customer has used a tool since: then they are a new finding; but what is looked up once
    more because the agent asks again for what it was told is a repetition, in whatever words.
    """
    values = {stated_values.shape(v): v for v in _long_facts(task) if not isinstance(v, bool | list | tuple | dict)}
    makes = {stated_values.make(str(value)) for value in values.values()}
    turns: list[int] = []
    unclear: list[int] = []
    asked: str | None = None
    told: set[str] = set()
    slips: dict[str, str] = {}  # codes that nobody has: shape → make
    wrong: set[str] = set()  # makes of those that turned out so
    said = (entry for entry in entries if isinstance(entry, Utterance) and entry.who == "customer")
    before = stated_values.EarlierMessages(entry.meant for entry in said)
    looked: set[str] = set()
    first, asked_again, looks_again = True, False, False
    for entry in entries:
        if isinstance(entry, ToolUse):
            if entry.side == "customer":
                before.clear()
                look = f"{entry.tool} {sorted(entry.arguments.items())}"
                looks_again = looks_again or (asked_again and not entry.write and look in looked)
                looked.add(look)
            elif entry.kind != "ok":
                given = {stated_values.shape(one) for value in entry.arguments.values() for one in elements(value)}
                wrong |= {slips[code] for code in given & slips.keys()}
            continue
        if entry.who == "agent":
            asked = entry.meant
            asked_again = bool(entry.data.get("clarifies")) or dialogue_acts.found(entry.meant, questions.ASKS_AGAIN)
            looks_again = False
            wrong |= set(slips.values()) if asked_again else set()
            continue
        now = {shape for shape, value in values.items() if stated_values.states(entry.meant, value)}
        codes = {stated_values.shape(code): stated_values.make(code) for code in stated_values.codes(entry.meant)}
        lost = {code: make for code, make in codes.items() if make in makes and code not in values}
        right = {stated_values.make(str(values[shape])) for shape in now - told}
        # To agree twice is to agree to two things.
        again = not dialogue_acts.agrees(entry.meant) and before.holds(entry.meant)
        mended = not wrong.isdisjoint(right | set(lost.values()))
        within = first or dialogue_acts.repairs_itself(entry.meant)
        corrects = False if within else dialogue_acts.correction(entry.meant, asked)
        if (now & told) or again or mended or looks_again or corrects:
            turns.append(entry.turn)
        elif corrects is None:
            unclear.append(entry.turn)
        told |= now
        slips |= lost
        wrong -= right
        if right:
            slips = {code: make for code, make in slips.items() if make not in right}
        before.add(entry.meant)
        first = looks_again = False
    return turns, unclear
