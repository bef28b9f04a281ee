"""A dialogue in which both sides act: each may answer with text for the other or with calls of its own tools.

One step is one delivery: a side's move, or the carrying out of all calls of one move. Text passes to the other
side; calls are carried out and their results come back to whoever made them. `step` makes one delivery, so that a
page can show a dialogue as it grows and a person can take a side over at any point; `run` goes on to the end.

How it may end (`ended_by`), in the order in which it is looked at:
`provider` a provider fault; `agent_stop`, `customer_stop` a side says it is over; `unreadable` three moves in a row of
one side that are empty or cannot be read; `loop` the agent has said the same, or a side has made the same calls with
the same results, four times in a row; `too_many_errors` tool errors, counted over both sides and the whole dialogue;
`max_steps`; `timeout`. The last three are not looked at while calls still wait to be carried out.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cxlab.dialogue.consumption import Consumption
from cxlab.llm.parsing import without_thinking
from cxlab.records import CallTotals, Failure, Message, ToolCall
from cxlab.records.evaluation import Outcome, find_outcome

Side = Literal["agent", "customer"]
OTHER: Mapping[Side, Side] = {"agent": "customer", "customer": "agent"}
UNREADABLE = 3
REPEATS = 4
# What the other side gets in place of a move that has neither text nor calls.
SILENCE = "(no answer)"

# Failures of a customer's model after which it has said nothing that a customer would.
_NOTHING_SAID = ("refusal", "filtered", "overlong")


@dataclass(frozen=True)
class Move(Consumption):
    """What a side does: text, or calls. Both at once is kept, and only the calls count."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop: str | None = None
    """Why the side says the dialogue is over; None while it is not."""
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Delivery(Consumption):
    """A text as the other side got it, with what is worth keeping about the way and what the way took."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolResult:
    """A call carried out: the text its caller reads, whether it was an error, and what the log keeps."""

    text: str
    error: str | None
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """Steps and tool errors of a whole dialogue (tau2-bench's own numbers), and seconds if time is short."""

    steps: int = 200
    errors: int = 10
    seconds: float | None = None


Party = Callable[[Sequence[Message], int], Awaitable[Move]]
"""A side: all messages so far and the turn; see `seen_by` for what of them it may know."""
Act = Callable[[Side, ToolCall, int], ToolResult]
Carry = Callable[[Side, str, int], Awaitable[Delivery]]


def seen_by(side: Side, messages: Sequence[Message]) -> list[Message]:
    """The messages a side knows of: its own as it meant them, the other's as it got them, its own tools only."""
    seen = []
    for message in messages:
        if message.role == "tool":
            if message.data.get("side") == side:
                seen.append(message)
        elif message.role == side:
            meant = message.data.get("meant")
            seen.append(message if meant in (None, message.text) else message.model_copy(update={"text": meant}))
        elif message.data.get("delivered", True):
            seen.append(message)
    return seen


class DualControlLoop:
    """A dialogue under way; all it was and cost can be read from it at any time."""

    def __init__(self, agent: Party, customer: Party, act: Act, carry: Carry, limits: Limits | None = None) -> None:
        self.parties: dict[Side, Party] = {"agent": agent, "customer": customer}
        self.act, self.carry, self.limits = act, carry, limits or Limits()
        self.messages: list[Message] = []
        self.failures: list[Failure] = []
        self.totals: dict[Side, CallTotals] = {"agent": CallTotals(), "customer": CallTotals()}
        self.steps = self.errors = 0
        self.turn = 1
        self.ended_by: str | None = None
        self.stop: str | None = None
        self.next: Side = "customer"
        self._waiting: tuple[ToolCall, ...] = ()
        self._unspoken: Side | None = None  # whose text the line did not carry
        self._unread: dict[Side, int] = {"agent": 0, "customer": 0}
        self._said: dict[Side, list[str]] = {"agent": [], "customer": []}
        self._begun = time.monotonic()

    async def greet(self, text: str) -> None:
        """The agent's fixed first words, which no model makes and no step counts."""
        carried = await self._carry("agent", text, 0)
        data = {**carried.data, "greeting": True}
        took = carried.totals.of_message()
        self.messages.append(Message(role="agent", text=carried.text, turn=0, data=data, **took))

    async def run(self) -> None:
        """Go on until it has ended."""
        while self.ended_by is None:
            await self.step()

    async def step(self) -> list[Message]:
        """Make the next delivery and give the messages it brought; none when it has ended."""
        known = len(self.messages)
        if self.ended_by is None:
            if self._waiting:
                self._carry_out()
            elif not self._exhausted():
                await self.take(await self.parties[self.next](self.messages, self._turn()))
        return self.messages[known:]

    async def take(self, move: Move) -> None:
        """Take a move of the side whose turn it is, from its model or from a person at a page; none after the end."""
        if self._waiting:
            self._carry_out()
        if self.ended_by is not None:
            return
        side, turn = self.next, self._turn()
        self.steps += 1
        self.turn = turn
        self._count(side, move)
        if move.failure is not None:
            self._fail(side, move.failure, turn)
            if move.failure.where == "provider":
                if side == "customer" and (move.usage.calls or move.cost_usd):
                    # What an earlier call of the move took was paid for, though nothing came of it.
                    lost = {**move.data, "step": self.steps, "delivered": False}
                    self.messages.append(Message(role=side, text="", turn=turn, data=lost, **move.totals.of_message()))
                self._end("provider")
                return
        # Whatever a side thought aloud stays its own.
        # A customer's model that declines to play its part has said nothing that a customer would.
        declined = side == "customer" and move.failure is not None and move.failure.type in _NOTHING_SAID
        text = "" if declined else without_thinking(move.text)
        readable = bool(text or move.calls or move.stop)
        if not readable and move.failure is None:
            self._fail(side, Failure(where="format", type="empty", message="neither text nor a tool call"), turn)
        # A move that said something is readable even if something about it was wrong.
        self._unread[side] = 0 if readable else self._unread[side] + 1
        if move.calls:
            self._call(side, move, text, turn)
            return
        await self._speak(side, move, text or ("" if move.stop else SILENCE), turn)
        self._said[side].append(text or SILENCE)
        if move.stop:
            self.stop = move.stop
            self._end(f"{side}_stop")
        elif self._unread[side] >= UNREADABLE:
            self._end("unreadable")
        elif side == "agent" and self._repeats(side):
            # A customer may well say "yes, please" four times.
            self._end("loop")
        self.next = OTHER[side]

    def reopen(self) -> bool:
        """Go on after a provider's fault, as if the move that failed had not been tried; whether there was one.

        A text that was written and could not be spoken is written again. What the try cost stays counted.
        """
        if self.ended_by != "provider":
            return False
        if self._unspoken is not None:
            self.next = self._unspoken
            self.messages.pop()
            self._said[self.next].pop()
        self.failures = [each for each in self.failures if each.where != "provider"]
        self.ended_by = self.stop = self._unspoken = None
        return True

    def _call(self, side: Side, move: Move, text: str, turn: int) -> None:
        data = {**move.data, "step": self.steps, "delivered": False}
        if text:
            # The other side never gets this text: whoever waits for a result has not finished speaking.
            self._fail(side, Failure(where="agent", type="text_and_tool", message="a text beside a tool call"), turn)
            data["meant"] = text
        took = move.totals.of_message()
        self.messages.append(Message(role=side, text=text, turn=turn, tool_calls=move.calls, data=data, **took))
        self._waiting = move.calls

    def _carry_out(self) -> None:
        side, seen = self.next, []
        self.steps += 1
        for call in self._waiting:
            done = self.act(side, call, self.turn)
            data = {**done.data, "side": side, "call": call.id, "step": self.steps}
            self.messages.append(Message(role="tool", text=done.text, turn=self.turn, data=data))
            seen.append(f"{call.name} {call.arguments} {done.text}")
            if done.error is not None:
                self.errors += 1
                kind = str(done.data.get("kind", "error"))
                self._fail(side, Failure(where="tool", type=kind, message=done.error), self.turn)
        self._waiting = ()
        self._said[side].append("\n".join(seen))
        if self._repeats(side):
            self._end("loop")

    async def _speak(self, side: Side, move: Move, text: str, turn: int) -> None:
        carried = await self._carry(side, text, turn)
        data = {**carried.data, **move.data, "step": self.steps, **({"stop": move.stop} if move.stop else {})}
        took = (move.totals + carried.totals).of_message()
        self.messages.append(Message(role=side, text=carried.text, turn=turn, data=data, **took))

    async def _carry(self, side: Side, text: str, turn: int) -> Delivery:
        carried = await self.carry(side, text, turn)
        self._count(side, carried)
        if carried.failure is not None:
            self._fail(side, carried.failure, turn)
            if carried.failure.where == "provider":
                self._unspoken = side
                self._end("provider")
        return carried

    def _turn(self) -> int:
        """A turn begins with the customer's first move after the agent has spoken."""
        spoke = self.messages[-1] if self.messages else None
        fresh = self.next == "customer" and spoke is not None and spoke.role == "agent" and spoke.turn > 0
        return self.turn + 1 if fresh else self.turn

    def _exhausted(self) -> bool:
        if self.errors >= self.limits.errors:
            self._end("too_many_errors")
        elif self.steps >= self.limits.steps:
            self._end("max_steps")
        elif self.limits.seconds is not None and time.monotonic() - self._begun > self.limits.seconds:
            self._end("timeout")
        return self.ended_by is not None

    def _repeats(self, side: Side) -> bool:
        last = self._said[side][-REPEATS:]
        return len(last) == REPEATS and len(set(last)) == 1

    def _end(self, by: str) -> None:
        if self.ended_by is None:
            self.ended_by = by

    def _count(self, side: Side, move: Move | Delivery) -> None:
        self.totals[side] = self.totals[side] + move.totals

    def _fail(self, side: Side, failure: Failure, turn: int) -> None:
        # What the customer's model gets wrong is no fault of the agent under test.
        ours = side == "customer" and failure.where in ("format", "agent", "tool")
        where: Any = "customer" if ours else failure.where
        role = side if where == "provider" else None
        self.failures.append(failure.model_copy(update={"turn": turn, "where": where, "role": role}))

    @property
    def outcome(self) -> Outcome:
        """What comes of it, by what failed."""
        return find_outcome(self.failures)
