"""The two sides as models: what each is shown, how it is asked for its next move, what its reply comes to.

Tools are offered natively, and to a server that refuses them as JSON in words; what a server refused is remembered.
"""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cxlab.benchmarks.mmtaup2.conversation.exposure import Exposure
from cxlab.benchmarks.mmtaup2.prompts import dialogue_prompts
from cxlab.dialogue import Move, seen_by
from cxlab.errors import BadOption
from cxlab.llm import Prompt, Request, Text, ask, call, refuses_tools
from cxlab.llm.ask import explain_cut
from cxlab.llm.base import ChatModel, Reply
from cxlab.llm.parsing import parse_text, without_thinking
from cxlab.records import Failure, Message, ToolCall

WAYS = ("auto", "native", "json")
TRANSFER = "transfer_to_human_agents"
# The message of a written move as far as it has come, without half an escape at its end.
_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*)')
_TOOLLESS: weakref.WeakSet[Any] = weakref.WeakSet()


@dataclass
class ModelSide:
    """A model with what every call of it shares: the way tools are offered, seed, cache and budget, who looks on."""

    model: ChatModel
    seed: int
    way: str = "auto"
    shared: Mapping[str, Any] = field(default_factory=dict)
    on_text: Callable[[str, str], None] | None = None
    _told: tuple[Prompt[Any, Text], dict[str, Any], dict[str, Any]] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise BadOption(f"tool calls {self.way!r}; give one of {', '.join(WAYS)}")

    async def move(
        self,
        side: str,
        native: Prompt[Any, Text],
        written: Prompt[Any, dialogue_prompts.WrittenMove],
        inputs: Any,
        seen: Sequence[Message],
        turn: int,
    ) -> Move:
        """The side's next move, natively where the server can, else as JSON."""
        seed = self.seed + 1000 * turn + len(seen)
        spent = Move()
        if self.way != "json" and (self.way == "native" or self.model not in _TOOLLESS):
            request = Request(
                # The first part is the system prompt; the talk itself goes as messages.
                messages=[self._system(native, inputs), *dialogue_prompts.chat(seen, side)],
                tools=inputs.tools or None,
                temperature=native.temperature,
                seed=seed,
                prompt=native,
                inputs=inputs,
                on_text=self._listener(side, False),
                # The seed says task, trial, turn and message: neither card nor policy decides a draw.
                draw=side,
            )
            done = await call(self.model, request, **self.shared)
            spent = Move(usage=done.usage, latency_s=done.latency_s, cost_usd=done.cost_usd, failure=done.failure)
            if done.completion is not None:
                said = done.completion
                made = _native(said.text, said.tool_calls, said.finish_reason, spent)
                thought = {"reasoning": said.reasoning} if said.reasoning else {}
                failure = explain_cut(made.failure, self.model, said)
                return replace(made, failure=failure, data={**made.data, **thought})
            if not refuses_tools(done.failure) or self.way == "native":
                return spent
        asked = inputs.model_copy(update={"as_text": True})
        look = self._listener(side, True)
        reply = await ask(self.model, written, asked, seed=seed, on_text=look, draw=side, **self.shared)
        if reply.output is not None and self.way == "auto" and spent.failure is not None:
            _TOOLLESS.add(self.model)
        return _written(reply, spent, len(seen))

    def _system(self, native: Prompt[Any, Text], inputs: Any) -> dict[str, Any]:
        """The first part of a prompt, rendered anew where more than the talk has changed."""
        told = {**inputs.__dict__, "history": None}
        if self._told is None or self._told[0] is not native or self._told[1] != told:
            self._told = native, told, native.render_part(0, inputs)
        return self._told[2]

    def _listener(self, side: str, written: bool) -> Callable[[str], None] | None:
        """Whoever looks on, told of the text alone; `written`: it comes within a JSON object."""
        look = self.on_text
        if look is None:
            return None
        return lambda text: look(side, message_in(text) if written else text)

    async def infer(self, inputs: dialogue_prompts.ProfileInputs, turn: int) -> Reply[dialogue_prompts.Profile]:
        seed = self.seed + 1000 * turn
        return await ask(self.model, dialogue_prompts.PROFILE, inputs, seed=seed, draw="profile", **self.shared)


@dataclass
class AgentSide:
    """The agent under test as one side of a `Duet`."""

    asking: ModelSide
    policy: str
    tools: list[dict[str, Any]]
    voice: bool
    device: bool
    exposure: Exposure

    async def __call__(self, messages: Sequence[Message], turn: int) -> Move:
        seen = seen_by("agent", messages)
        reply = await self.exposure.refresh(seen, turn)
        inputs = dialogue_prompts.AgentInputs.model_construct(
            policy=self.policy,
            note=self.exposure.note,
            tools=self.tools,
            history=dialogue_prompts.lines(seen),
            voice=self.voice,
            device=self.device,
            as_text=False,
        )
        move = await self.asking.move("agent", dialogue_prompts.AGENT, dialogue_prompts.AGENT_JSON, inputs, seen, turn)
        return move if reply is None else _with(move, reply)


@dataclass
class CustomerSide:
    """The customer as the other side; `card` is all it is told but the talk."""

    asking: ModelSide
    card: dialogue_prompts.CustomerInputs

    async def __call__(self, messages: Sequence[Message], turn: int) -> Move:
        seen = seen_by("customer", messages)
        inputs = self.card.model_copy(update={"history": dialogue_prompts.lines(seen)})
        move = await self.asking.move(
            "customer", dialogue_prompts.CUSTOMER, dialogue_prompts.CUSTOMER_JSON, inputs, seen, turn
        )
        text, stop = dialogue_prompts.stop_of(move.text)
        if stop is None and not move.calls and not _is_fault(move) and is_handed_over(messages):
            # As in tau2-bench a talk is over with the hand-over, also with a customer that thanks and forgets the mark.
            stop = "transfer"
        return move if stop is None else replace(move, text=text, stop=stop)


def is_handed_over(messages: Sequence[Message]) -> bool:
    """Whether the agent has handed the customer over and has written to them since."""
    handed = False
    for message in messages:
        if message.role == "tool":
            handed = handed or (message.data.get("tool") == TRANSFER and message.data.get("kind") == "ok")
        elif handed and message.role == "agent" and not message.tool_calls:
            return True
    return False


def message_in(reply: str) -> str:
    """The message of a move that is being written as JSON; "" before it has begun."""
    found = _MESSAGE.search(reply)
    if found is None:
        return ""
    try:
        # A pair of surrogates may have come by half.
        return str(json.loads(f'"{found[1]}"', strict=False)).encode("utf-8", "ignore").decode("utf-8")
    except ValueError:
        return ""


def _is_fault(move: Move) -> bool:
    return move.failure is not None and move.failure.where == "provider"


def _native(text: str, calls: tuple[ToolCall, ...], finish_reason: str | None, spent: Move) -> Move:
    if calls:
        cut = None
        if finish_reason == "length":
            cut = Failure(where="format", type="truncated", message="a call was cut off at the token limit")
        return replace(spent, text=without_thinking(text), calls=_numbered(calls), failure=cut)
    said, failure = parse_text(text, finish_reason)
    # A text cut off at the limit was still said; what was only thought was not.
    return replace(spent, text=without_thinking(said if said is not None else text), failure=failure)


def _written(reply: Reply[dialogue_prompts.WrittenMove], before: Move, place: int) -> Move:
    usage, latency_s = before.usage + reply.usage, before.latency_s + reply.latency_s
    cost = None if reply.cost_usd is None or before.cost_usd is None else reply.cost_usd + before.cost_usd
    move = Move(usage=usage, latency_s=latency_s, cost_usd=cost, failure=reply.failure)
    if reply.output is None:
        return replace(move, data={"raw": reply.raw})
    calls = tuple(
        ToolCall(id=f"call_{place}_{n}", name=one.name, arguments=json.dumps(one.arguments, ensure_ascii=False))
        for n, one in enumerate(reply.output.calls, 1)
    )
    return replace(move, text=reply.output.message, calls=calls)


def _numbered(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Every call with an id of its own: some servers send none, or the same one twice."""
    ids = [one.id for one in calls]
    if all(ids) and len(set(ids)) == len(ids):
        return calls
    return tuple(one.model_copy(update={"id": f"{one.id or 'call'}_{n}"}) for n, one in enumerate(calls, 1))


def _with(move: Move, reply: Reply[dialogue_prompts.Profile]) -> Move:
    """The move, with the price of the profile it was made with."""
    cost = None if move.cost_usd is None or reply.cost_usd is None else move.cost_usd + reply.cost_usd
    return replace(move, usage=move.usage + reply.usage, latency_s=move.latency_s + reply.latency_s, cost_usd=cost)
