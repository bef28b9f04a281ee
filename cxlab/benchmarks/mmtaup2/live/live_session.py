"""Variants of one task played side by side, beat by beat, for a page that looks on.

    stage = LiveSession(task, (Variant("hard", 0), Variant("hard", 2, "voice")), AGENT, "simulated:customer", 0)
    stage.beat()            # every side that may speak says its next message; returns at once
    stage.wait(0.3)         # until all have, or the time is up
    stage.players[0].frame  # what is to be seen of it, never changed afterwards

A beat is what happens up to the next message that somebody hears: calls and their results belong to it. All
conversations run on one event loop in a thread of its own, so that a page is never held up by a slow model and a
model's connections stay on the loop they were opened on.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import GREETING, TaskDialogue, begin
from cxlab.benchmarks.mmtaup2.live import live_tasks, rewinding
from cxlab.benchmarks.mmtaup2.live.snapshots import ConversationState, SnapshotRecorder, set_beside
from cxlab.benchmarks.mmtaup2.live.variant import Variant
from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import stop_of
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.dialogue import Move
from cxlab.errors import BadOption
from cxlab.llm import load
from cxlab.llm.base import ChatModel
from cxlab.records import Attempt, Failure, Message, ToolCall
from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.store.layout import resolve_home

# How long a person's words are waited for: a simulated agent has answered by then.
_SOON_S = 0.3
# No model makes the greeting, but with real audio it is spoken and recognised.
_GREETING_S = 30
_lock = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


class LiveConversation:
    """One conversation, its models asked on the loop of all; `by_hand`: a person answers for the customer."""

    def __init__(
        self,
        task: tasks.Task,
        variant: Variant,
        seed: int,
        agent: ChatModel,
        customer: ChatModel,
        sounds: Path,
        world: World | None = None,
    ) -> None:
        self.folder = sounds
        self.draft: tuple[str, str] | None = None  # (side, what it has written so far) while it writes
        terms = replace(variant.terms(seed, task.domain, sounds), on_text=self._write)
        self._begin: Callable[[], TaskDialogue] = lambda: begin(task, terms, agent, customer, world)
        self._made: list[rewinding.MoveMade] = []
        self.talk = self._begin()
        rewinding.record(self.talk, self._made)
        self.variant, self.seed, self.started = variant, seed, datetime.now(UTC)
        self.by_hand, self.beats = False, 0
        self.touched = False  # whether a person has had a hand in it
        self._since: float | None = None  # when the step that is under way began
        self._recorder = SnapshotRecorder(task, variant.persona, self.talk.world)
        self._frame: LiveSnapshot | None = None
        self._work: concurrent.futures.Future[None] | None = None
        self._start(self._greet())

    @property
    def frame(self) -> LiveSnapshot:
        """The latest frame; raises what went wrong in the beat before, as it came."""
        if self._work is not None and self._work.done():
            self._work.result()
        if self._frame is None:
            self.wait(_GREETING_S)
        if self._frame is None:
            raise BadOption(f"the conversation has not begun after {_GREETING_S} s; restart it")
        waits = "person" if self._frame.waits == "customer" and self.by_hand else self._frame.waits
        return replace(self._frame, waits=waits)

    @property
    def busy(self) -> bool:
        return self._work is not None and not self._work.done()

    @property
    def idle(self) -> bool:
        """Whether nothing more comes of itself: it is over, a person is to speak, or the last beat has failed."""
        if self.busy:
            return False
        return self._failed or self.frame.waits in ("", "person")

    @property
    def _failed(self) -> bool:
        return self._work is not None and self._work.done() and self._work.exception() is not None

    @property
    def since(self) -> float | None:
        """When what is under way began, as time.monotonic() counts; None when nothing is."""
        return self._since if self.busy else None

    def retry(self) -> None:
        """After a fault of the provider: ask again for the message that failed, and go on from there."""
        if not self.busy and self.talk.duet.reopen():
            self._start(self._go_on())
            self.wait(_SOON_S)

    def give_up(self) -> None:
        """Wait no longer for what is under way: it is cut short as by a fault, and can be tried again."""
        if self._work is not None and self.busy:
            self._work.cancel()
            self._start(self._cut_short())
            self.wait(_SOON_S)

    @property
    def has_past(self) -> bool:
        """Whether there is anything to take back, without a service that would be paid to speak again."""
        return self.variant.free and not self.busy and bool(rewinding.took_part(self._made, self.by_hand))

    def back(self) -> None:
        """Take back what was said last; where a person answers, what it said or did last and what came of it.

        What it cost stays counted. Nothing where there is no past.
        """
        if self.has_past:
            self._start(self._rewind(list(rewinding.before_last(self._made, self.by_hand))))
            self.wait(_SOON_S)

    def go_on_from(self, attempt: Attempt, end: int) -> None:
        """Take over the first `end` messages of a stored conversation of the same task and terms; no model is asked."""
        self._start(self._rewind(rewinding.read_moves(attempt, end, self.talk.exposure.state)))

    def beat(self) -> None:
        """Set the next beat going; nothing when one is under way, it is over, or a person is to speak."""
        if not self.busy and not self.idle:
            self._start(self._beat())

    def say(self, text: str, stop: str | None = None) -> None:
        """A person's words for the customer, and the agent's answer; `stop` ends the conversation."""
        self._take(Move(text=text.strip(), stop=stop, data={"by_hand": True}))

    def do(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """A person uses one of the customer's tools."""
        call = ToolCall(id=f"hand_{self.talk.duet.steps}", name=tool, arguments=json.dumps(dict(arguments)))
        self._take(Move(calls=(call,), data={"by_hand": True}))

    def tools(self) -> list[dict[str, Any]]:
        """What the customer has in its hands."""
        return self.talk.world.tools("customer")

    def card(self) -> dict[str, Any]:
        """What the customer knows and wants."""
        return self.talk.task.known.model_dump()

    def sound(self) -> tuple[Path, float] | None:
        """The sound of the last message and how long it is; None where nothing sounds."""
        last = self.frame.messages[-1]
        path = self._recording(last)
        return None if path is None else (path, float(last.data.get("seconds", 0.0)))

    def recordings(self) -> list[tuple[Message, Path]]:
        """All messages that were spoken aloud, with their sounds."""
        return [(message, path) for message in self.frame.messages if (path := self._recording(message))]

    def _recording(self, message: Message) -> Path | None:
        path = self.folder / str(message.data.get("wav", ""))
        return path if message.data.get("wav") and path.is_file() else None

    def wait(self, seconds: float) -> None:
        if self._work is not None:
            concurrent.futures.wait([self._work], timeout=seconds)

    def _take(self, move: Move) -> None:
        if self.busy or self.frame.waits not in ("person", "customer"):
            raise BadOption("it is not the customer's turn; wait until the agent has spoken")
        self._start(self._taken(move))
        self.wait(_SOON_S)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._since = time.monotonic()
        self._work = asyncio.run_coroutine_threadsafe(work, loop())

    async def _greet(self) -> None:
        await self.talk.duet.greet(GREETING[self.talk.task.domain])
        self._publish()

    async def _beat(self) -> None:
        self.beats += 1
        duet = self.talk.duet
        while duet.ended_by is None:
            brought = await duet.step()
            if self.by_hand and self.talk.handed_over:
                # A customer's model ends it by its mark; a person who was handed over has nobody to go on with.
                await duet.take(Move(stop="transfer"))
            self._publish()
            if brought and brought[-1].role != "tool" and not brought[-1].tool_calls:
                return
            if self.by_hand and self._waits() == "customer":
                return

    async def _cut_short(self) -> None:
        what = Failure(where="provider", type="timeout", message="It was not waited for any longer.")
        await self.talk.duet.take(Move(failure=what))
        self._publish()

    async def _go_on(self) -> None:
        self._publish()
        await self._beat()

    async def _rewind(self, kept: list[rewinding.MoveMade]) -> None:
        spent = self.talk.duet.totals
        self.talk, self._made = self._begin(), kept
        self._recorder = SnapshotRecorder(self.talk.task, self.variant.persona, self.talk.world)
        self.beats, self.touched = 0, any(one.by_hand for one in kept)
        await self._greet()
        for one in kept:
            await rewinding.put_in(self.talk, one)
            # A person's hand on the phone is a beat of its own.
            self.beats += one.spoken or one.by_hand
            self._publish()
        rewinding.record(self.talk, self._made)
        self.talk.duet.totals = spent
        self._publish()

    async def _taken(self, move: Move) -> None:
        self.touched = True
        self.beats += 1
        duet = self.talk.duet
        self._made.append(rewinding.MoveMade("customer", move, self.talk.exposure.state))
        await duet.take(move)
        if move.calls and duet.ended_by is None:
            await duet.step()
        self._publish()
        if not move.calls and duet.ended_by is None:
            await self._beat()

    def _write(self, side: str, text: str) -> None:
        """What a model has written so far, without the marks by which a customer ends the talk, half of them too."""
        self.draft = (side, stop_of(text)[0].partition("###")[0])

    def _waits(self) -> Any:
        duet = self.talk.duet
        if duet.ended_by is not None:
            return ""
        return "tool" if duet.messages and duet.messages[-1].tool_calls else duet.next

    def _publish(self) -> None:
        talk, duet = self.talk, self.talk.duet
        self.draft, self._since = None, time.monotonic()
        faults = [each for each in duet.failures if each.where == "provider"]
        self._frame = self._recorder.make(
            ConversationState(
                messages=tuple(duet.messages),
                beats=self.beats,
                turn=duet.turn,
                waits=self._waits(),
                ended=duet.ended_by or "",
                passed=talk.output().get("passed") if duet.ended_by is not None else None,
                outcome=duet.outcome,
                profiles=tuple(talk.exposure.versions),
                told=talk.exposure.note,
                cost_usd=(duet.totals["agent"] + duet.totals["customer"]).cost_usd,
                fault=faults[-1].message if faults else "",
            )
        )


class LiveSession:
    """The variants of one task and seed with their models."""

    stored = None  # it comes from no store

    def __init__(
        self,
        task: tasks.Task,
        variants: Sequence[Variant],
        agent: str,
        customer: str,
        seed: int,
        source: str = live_tasks.OWN,
    ) -> None:
        """`source`: the dataset of an imported task."""
        self.task, self.agent, self.customer, self.seed, self.source = task, agent, customer, seed, source
        self._models = (load(agent), load(customer))
        self.free = all(model.simulated for model in self._models) and all(each.free for each in variants)
        # Each column has a folder, for files are named by side and turn alone.
        folder = resolve_home(None) / "persona-lab"
        world = live_tasks.world_of(task, source)
        self.players = tuple(
            LiveConversation(task, each, seed, *self._models, folder / str(place), world)
            for place, each in enumerate(variants)
        )
        # Who leaves the page says nothing: its connections are let go of with the session.
        self._all = self.players
        self._forgotten = weakref.finalize(self, _let_go, self._all, self._models)
        self._forgotten.atexit = False
        self.wait(_GREETING_S)

    def leave_out(self, place: int) -> None:
        """Go on without the conversation at a place; the others stay as far as they have come. What is under way there
        comes to its end, and is let go of with the session."""
        self.players = (*self.players[:place], *self.players[place + 1 :])

    @property
    def frames(self) -> list[LiveSnapshot]:
        """The players' latest frames, with the metrics that compare one with another."""
        terms = [(each.variant.persona, each.variant.exposure, each.talk.terms.modality) for each in self.players]
        return set_beside(self.task, terms, [player.frame for player in self.players])

    @property
    def simulated(self) -> dict[str, bool]:
        """Side → whether its model is a stand-in."""
        return {side: model.simulated for side, model in zip(("agent", "customer"), self._models, strict=True)}

    @property
    def agent_model(self) -> ChatModel:
        return self._models[0]

    @property
    def idle(self) -> bool:
        return all(player.idle for player in self.players)

    @property
    def busy(self) -> bool:
        return any(player.busy for player in self.players)

    @property
    def touched(self) -> bool:
        """Whether a person has had a hand in it, so that the seed alone does not replay it."""
        return any(player.touched for player in self.players)

    @property
    def beats(self) -> int:
        return max(player.beats for player in self.players)

    def beat(self) -> None:
        """The next beat of all; nothing while one of them is still at the last, so that they stay abreast."""
        if not self.busy:
            for player in self.players:
                player.beat()

    @property
    def has_past(self) -> bool:
        """Whether there is anything to take back."""
        return not self.busy and any(player.has_past for player in self.players)

    def back(self) -> None:
        """Take back what was said last: where a person answers, there alone, else wherever it has come furthest."""
        hands = [player for player in self.players if player.by_hand and player.has_past]
        furthest = [player for player in self.players if player.beats == self.beats]
        for player in hands or furthest:
            player.back()

    def wait(self, seconds: float) -> None:
        """Until no beat is under way, at most that long."""
        concurrent.futures.wait([each._work for each in self.players if each._work is not None], timeout=seconds)

    def forward(self, beats: int, seconds: float = 20.0) -> None:
        """Play that many beats at once, as far as they come in that time."""
        until = loop().time() + seconds
        while self.beats < beats and not self.idle and loop().time() < until:
            self.beat()
            self.wait(until - loop().time())

    def close(self) -> concurrent.futures.Future[None]:
        """Let go of the models' connections, once what is under way has come back; returns at once."""
        self._forgotten.detach()
        return _let_go(self._all, self._models)


def _let_go(players: Sequence[LiveConversation], models: Sequence[ChatModel]) -> concurrent.futures.Future[None]:
    under_way = [player._work for player in players if player._work is not None]

    async def leave() -> None:
        await asyncio.gather(*map(asyncio.wrap_future, under_way), return_exceptions=True)
        for each in (*models, *(player.talk.terms.ears for player in players)):
            # A recogniser of this machine holds nothing open.
            if close := getattr(each, "aclose", None):
                await close()

    return asyncio.run_coroutine_threadsafe(leave(), loop())


def loop() -> asyncio.AbstractEventLoop:
    """The event loop of all players, which runs in a thread of its own as long as the process."""
    with _lock:
        if not _loops:
            made = asyncio.new_event_loop()
            threading.Thread(target=made.run_forever, name="persona-lab", daemon=True).start()
            _loops.append(made)
        return _loops[0]
