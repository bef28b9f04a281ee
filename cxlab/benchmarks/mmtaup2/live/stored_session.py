"""Stored conversations of one task shown side by side, beat by beat, as `live_session` plays them: no model is asked.

What was said, what came of it and when it ended is as it is stored. The calls of both sides are carried out again on a
world of the task, for what phone, line and orders looked like at each moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.conversation.personas import persona
from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.benchmarks.mmtaup2.live.snapshots import ConversationState, SnapshotRecorder, set_beside
from cxlab.benchmarks.mmtaup2.live.variant import Variant
from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import note_of
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import BadOption
from cxlab.records import Attempt, Message
from cxlab.records.live_snapshot import LiveSnapshot

_STORED = "a stored conversation cannot be answered; go on from it live"


@dataclass(frozen=True)
class StoredPlay:
    """Where the conversations come from: the run of each, when it was made, and the model that was the agent."""

    runs: tuple[str, ...]
    created: datetime
    model: str


class StoredConversation:
    """One stored conversation, shown up to a beat."""

    by_hand = False
    busy = False
    touched = False
    draft: tuple[str, str] | None = None
    since: float | None = None

    def __init__(self, task: tasks.Task, variant: Variant, attempt: Attempt, world: World | None = None) -> None:
        self.variant, self.attempt = variant, attempt
        self._world = tasks.begin(task, world)
        self._recorder = SnapshotRecorder(task, variant.persona, self._world)
        self._ends = _find_beats(attempt.messages)
        self.beats = self._shown = 0
        self.frame = self._show()

    @property
    def idle(self) -> bool:
        """Whether all of it is shown."""
        return self.beats >= len(self._ends) - 1

    @property
    def end(self) -> int:
        """How many of its messages are shown."""
        return self._shown

    def beat(self) -> None:
        """Show it up to the next message that somebody hears."""
        if not self.idle:
            self.beats += 1
            self.frame = self._show()

    def _show(self) -> LiveSnapshot:
        messages, frame = self.attempt.messages, None
        while frame is None or self._shown < self._ends[self.beats]:
            if self._shown < len(messages):
                self._carry_out(messages[self._shown])
                self._shown += 1
            # As live, each call moves the course within its turn.
            frame = self._recorder.make(self._state(self._shown))
        return frame

    def _carry_out(self, message: Message) -> None:
        if message.role == "tool":
            self._world.call(message.data.get("side", "agent"), message.data["tool"], message.data.get("arguments"))

    def _state(self, end: int) -> ConversationState:
        attempt = self.attempt
        shown = attempt.messages[:end]
        turn = shown[-1].turn if shown else 0
        over = end == len(attempt.messages)
        profiles = [one for one in attempt.output.get("profiles") or () if one.get("turn", 0) <= turn]
        told = note_of(persona(self.variant.persona).card) if self.variant.exposure == 1 else ""
        faults = [each for each in attempt.failures if each.where == "provider"]
        return ConversationState(
            messages=shown,
            beats=self.beats,
            turn=turn,
            waits="" if over else _find_next(attempt.messages[end]),
            ended=attempt.ended_by if over else "",
            passed=attempt.output.get("passed") if over else None,
            outcome=attempt.outcome if over else "ok",
            profiles=tuple(profiles),
            told=note_of(profiles[-1]["profile"]) if profiles else told,
            cost_usd=attempt.cost_usd if over else None,
            fault=faults[-1].message if over and faults else "",
        )

    def sound(self) -> tuple[Path, float] | None:
        """Nothing sounds: what is shown here was written, or misheard by a channel without sound."""
        return None

    def recordings(self) -> list[tuple[Message, Path]]:
        """None, as nothing sounds."""
        return []

    def give_up(self) -> None:
        """Nothing is waited for."""

    def retry(self) -> None:
        """Raises BadOption, as all that a person could do to it."""
        raise BadOption(_STORED)

    def say(self, text: str, stop: str | None = None) -> None:
        """Raises BadOption."""
        raise BadOption(_STORED)

    def do(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Raises BadOption."""
        raise BadOption(_STORED)

    def tools(self) -> list[dict[str, Any]]:
        """None: nobody uses them."""
        return []

    def card(self) -> Mapping[str, Any]:
        """Nothing: nobody answers for the customer."""
        return {}


class StoredSession:
    """Stored conversations of one task side by side; the surface of `LiveSession`."""

    free = True
    busy = False
    touched = False

    def __init__(
        self,
        task: tasks.Task,
        played: Sequence[tuple[Variant, Attempt]],
        stored: StoredPlay,
        simulated: Mapping[str, bool],
        source: str = live_tasks.OWN,
    ) -> None:
        """`played`: each variant with its attempt; `simulated`: side → whether its model was a stand-in; `source`: the
        dataset of an imported task."""
        self.task, self.stored, self.simulated = task, stored, dict(simulated)
        self._world = live_tasks.world_of(task, source)
        self.players = tuple(StoredConversation(task, variant, attempt, self._world) for variant, attempt in played)

    @property
    def frames(self) -> list[LiveSnapshot]:
        """The snapshots as they stand, with the metrics that compare one with another."""
        terms = [(each.variant.persona, each.variant.exposure, _modality(each.variant)) for each in self.players]
        return set_beside(self.task, terms, [player.frame for player in self.players])

    @property
    def idle(self) -> bool:
        return all(player.idle for player in self.players)

    def leave_out(self, place: int) -> None:
        """Go on without the conversation at a place; the others stay as far as they have come."""
        self.players = (*self.players[:place], *self.players[place + 1 :])

    @property
    def has_past(self) -> bool:
        """Whether anything has been shown that can be taken back."""
        return self.beats > 0

    def back(self) -> None:
        """Take back what was shown last, wherever it has come furthest."""
        left = max(0, self.beats - 1)
        self.players = tuple(
            StoredConversation(self.task, each.variant, each.attempt, self._world) for each in self.players
        )
        self.forward(left)

    @property
    def beats(self) -> int:
        return max(player.beats for player in self.players)

    def beat(self) -> None:
        """The next beat of all."""
        for player in self.players:
            player.beat()

    def wait(self, seconds: float) -> None:
        """Nothing is waited for."""

    def forward(self, beats: int, seconds: float = 0.0) -> None:
        """Show that many beats, or all there are."""
        while self.beats < beats and not self.idle:
            self.beat()

    def close(self) -> None:
        """Nothing is held open."""


def _modality(variant: Variant) -> str:
    return "text" if variant.modality == "text" else "voice"


def _find_beats(messages: Sequence[Message]) -> list[int]:
    """Where each beat ends: after the greeting, then after each message that somebody hears; calls belong to it."""
    ends = [at for at, one in enumerate(messages, 1) if one.role != "tool" and not one.tool_calls]
    if not ends or ends[-1] < len(messages):
        ends.append(len(messages))
    return ends


def _find_next(message: Message) -> Any:
    """For whom the conversation waits: the side that the next message is of."""
    return message.data.get("side", message.role) if message.role == "tool" else message.role
