"""Snapshots of one conversation as it goes on, whether its models are asked now or it is read from a store."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import OVER
from cxlab.benchmarks.mmtaup2.evaluation import unasked
from cxlab.benchmarks.mmtaup2.live.left_undone import find_unmended
from cxlab.benchmarks.mmtaup2.live.live_metrics import compare, differences, watch, wear_out
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.records import Message
from cxlab.records.live_snapshot import LiveCounts, LiveSnapshot


@dataclass(frozen=True)
class ConversationState:
    """A conversation at one moment, as far as its world does not say it; names as of LiveSnapshot."""

    messages: tuple[Message, ...]
    beats: int
    turn: int
    waits: Literal["agent", "customer", "tool", ""]
    ended: str = ""
    passed: bool | None = None
    outcome: str = "ok"
    profiles: tuple[Mapping[str, Any], ...] = ()
    told: str = ""
    cost_usd: float | None = None
    fault: str = ""


class SnapshotRecorder:
    """Makes the snapshots of one conversation in their order: it remembers its course and the turn before."""

    def __init__(self, task: tasks.Task, persona: str, world: World) -> None:
        self.task, self.persona, self.world = task, persona, world
        self._first = world.snapshot()
        self._course: list[tuple[int, float]] = []
        self._marked = (-1, 0.0)  # calls that were marked, and what they came to
        # The metrics as they stand, of which turn, and as they stood at the end of the turn before.
        self._now: tuple[int, dict[str, float | None]] = (0, {})
        self._before: dict[str, float | None] = {}
        # The device as it was last seen, after so many messages, and by which message each thing of it was turned.
        self._seen, self._device = 0, _device(self._first)
        self._turned: dict[str, int] = {}

    def make(self, at: ConversationState) -> LiveSnapshot:
        """The snapshot of this moment, the world as it is now."""
        tally, readings = watch(self.task, at.messages, at.passed, at.outcome)
        if self._now[0] != at.turn:
            self._before = self._now[1]
        self._now = at.turn, {one.metric: one.value for one in readings}
        point = (max(1, tally.turns), self._share(tally))
        if self._course and self._course[-1][0] == point[0]:
            self._course[-1] = point
        else:
            self._course.append(point)
        state = self.world.snapshot()
        return LiveSnapshot(
            messages=at.messages,
            beats=at.beats,
            turn=at.turn,
            waits=at.waits,
            ended=at.ended,
            passed=at.passed,
            changes=tuple(differences(self._first, state)),
            profiles=at.profiles,
            told=at.told,
            tally=tally,
            course=tuple(self._course),
            cost_usd=at.cost_usd,
            readings=readings,
            before=self._before,
            fault=at.fault,
            state=state,
            begun=self._first,
            worn=tuple(wear_out(self.task, self.persona, at.messages)),
            needless=self._find_needless(at.messages, state),
            by_customer=at.passed is False
            and at.ended in OVER
            and bool(unasked.find_blame(self.task, at.messages, self.world)),
            hand_over=self.task.transfer_right,
            unmended=find_unmended(self.task, self.world) if at.ended else (),
        )

    def _find_needless(self, messages: Sequence[Message], state: Mapping[str, Any]) -> frozenset[int]:
        """Where the customer last turned what was right from the start, is off that now, and no gold action touches."""
        device = _device(state)
        done = [place for place in range(self._seen, len(messages)) if _changes_device(messages[place])]
        if done:
            self._turned |= {name: done[-1] for name in device if device[name] != self._device.get(name)}
        self._seen, self._device = len(messages), device
        first = _device(self._first)
        off = [name for name in self._turned if device.get(name) != first.get(name)]
        return frozenset(
            self._turned[name] for name in off if all(one.get(name) == first.get(name) for one in self._right)
        )

    @functools.cached_property
    def _right(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The device before the task put faults into it, and after the gold actions, which may only hand over."""
        world = tasks.begin(self.task, self.world)
        for action in self.task.gold:
            world.call(action.side, action.tool, action.arguments)
        return _device(self.world.fresh().snapshot()), _device(world.snapshot())

    def _share(self, tally: LiveCounts) -> float:
        """How much of what the task needs is done: critical fields used rightly and gold actions carried out."""
        calls = len(self.world.log)
        if self._marked[0] != calls:
            marked = tasks.evaluate(self.task, self.world, self.world.log, ())["checks"]["actions"]
            self._marked = (calls, float(sum(each["matched"] for each in marked)))
        needed = len(self.task.gold) + len(tally.fields)
        return (self._marked[1] + sum(tally.fields.values())) / needed if needed else 1.0


def _changes_device(message: Message) -> bool:
    return message.role == "tool" and message.data.get("side") == "customer" and bool(message.data.get("changed"))


def _device(state: Mapping[str, Any]) -> Mapping[str, Any]:
    return (state.get("customer") or {}).get("device") or {}


def set_beside(
    task: tasks.Task, terms: Sequence[tuple[str, int, str]], frames: Sequence[LiveSnapshot]
) -> list[LiveSnapshot]:
    """The snapshots with the metrics that compare one with another; `terms`: persona, exposure, modality of each."""
    # What a provider cut short has not been decided.
    decided = [None if frame.ended == "provider" else frame.passed for frame in frames]
    seen = [(frame.readings, frame.tally.turns, one) for frame, one in zip(frames, decided, strict=True)]
    return [replace(frame, readings=told) for frame, told in zip(frames, compare(task, terms, seen), strict=True)]
