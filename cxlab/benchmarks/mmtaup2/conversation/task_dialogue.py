"""One conversation: two models, a world under both their hands, a line between them, and what becomes of it.

    talk = begin(task, ConversationSettings(persona="hard", exposure=2, modality="voice"), agent_model, customer_model)
    await talk.duet.run()          # or `await talk.duet.step()`, one delivery at a time
    talk.output()                  # reward with its parts, profiles, how it ended, both sides' last state

A person may play the customer: `await talk.duet.take(Move(text="Hello?"))` whenever `talk.duet.next` is "customer".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cxlab.benchmarks.mmtaup2 import tasks, worlds
from cxlab.benchmarks.mmtaup2.conversation import act_labels, model_sides
from cxlab.benchmarks.mmtaup2.conversation.customer_card import make_card
from cxlab.benchmarks.mmtaup2.conversation.exposure import Exposure
from cxlab.benchmarks.mmtaup2.conversation.personas import describe, manner
from cxlab.benchmarks.mmtaup2.conversation.speech import USUAL_WER, ServiceBackEnd, SpeechBackEnd, open_carrier
from cxlab.benchmarks.mmtaup2.worlds import World, screens
from cxlab.dialogue import Delivery, DualControlLoop, Limits, ToolResult
from cxlab.llm.base import ChatModel
from cxlab.records import ToolCall
from cxlab.voice import words

GREETING = {
    "telecom": "Hello, this is the service desk for your mobile line. What can I do for you?",
    "retail": "Hello, this is the shop's service desk. What can I do for you?",
}
# Ways to end at which the outcome counts; all others are a reward of 0, as in tau2-bench.
OVER = ("agent_stop", "customer_stop")


@dataclass(frozen=True)
class ConversationSettings:
    """Under what terms a task is played; all but the task itself."""

    persona: str = "none"
    exposure: int = 0
    modality: str = "text"
    wer: float = USUAL_WER
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    tool_calls: str = "auto"
    shared: Mapping[str, Any] = field(default_factory=dict)
    """Cache and budget for every call."""
    ears: SpeechBackEnd | ServiceBackEnd | None = None
    """Another voice and recogniser than the text channel."""
    on_text: Callable[[str, str], None] | None = None
    """Told (side, text so far) while a model writes, where it can be read as it is written."""


class TaskDialogue:
    """A conversation under way: its world, its `DualControlLoop`, and what it comes to."""

    def __init__(
        self, task: tasks.Task, terms: ConversationSettings, world: World, exposure: Exposure, duet: DualControlLoop
    ) -> None:
        self.task, self.terms, self.world, self.exposure, self.duet = task, terms, world, exposure, duet

    @property
    def wer(self) -> float:
        """The word error rate: the stated one of the text channel, what real audio came to, 0 in a chat."""
        if self.terms.ears is None:
            return self.terms.wer if self.terms.modality == "voice" else 0.0
        spoken = [each.data for each in self.duet.messages if "wer" in each.data]
        lengths = [len(words(str(data["ideal"]))) for data in spoken]
        lost = sum(length * data["wer"] for length, data in zip(lengths, spoken, strict=True))
        return round(lost / sum(lengths), 4) if sum(lengths) else 0.0

    @property
    def handed_over(self) -> bool:
        """Whether the agent has handed the customer over, and said so as its last words to them."""
        last = self.duet.messages[-1]
        return last.role == "agent" and not last.tool_calls and model_sides.is_handed_over(self.duet.messages)

    def output(self) -> dict[str, Any]:
        """What `Attempt.output` keeps; see the room's README for the keys."""
        duet = self.duet
        # What counts as said to the customer is what the agent wrote, not what a recogniser made of it.
        said = [
            str(message.data.get("meant", message.text))
            for message in duet.messages
            if message.role == "agent" and message.data.get("delivered", True)
        ]
        reward = tasks.evaluate(self.task, self.world, self.world.log, said)
        over = duet.ended_by in OVER
        reward = {**reward, "over": over, "reward": reward["reward"] if over else 0.0}
        return {
            "reward": reward,
            "passed": abs(float(reward["reward"]) - 1) <= 1e-6,
            "profiles": list(self.exposure.versions),
            "exposure": self.terms.exposure,
            "persona": self.terms.persona,
            "modality": self.terms.modality,
            "wer": self.wer,
            "ended": duet.ended_by,
            "stop": duet.stop,
            "transferred": any(c.tool == model_sides.TRANSFER and c.kind == "ok" for c in self.world.log),
            "steps": duet.steps,
            "tool_errors": duet.errors,
            "snapshot": self.world.snapshot(),
        }


def begin(
    task: tasks.Task,
    terms: ConversationSettings,
    agent_model: ChatModel,
    customer_model: ChatModel,
    world: World | None = None,
) -> TaskDialogue:
    """A conversation before its greeting; `world` is only needed for imported tasks. Raises UnknownName, BadOption."""
    first = tasks.begin(task, world)
    line = open_carrier(terms.modality, terms.seed, terms.wer, terms.ears)
    asking = model_sides.ModelSide(agent_model, terms.seed, terms.tool_calls, terms.shared, terms.on_text)
    answering = model_sides.ModelSide(customer_model, terms.seed + 1, terms.tool_calls, terms.shared, terms.on_text)
    exposure = Exposure(terms.exposure, terms.persona, asking.infer)
    device = bool(first.tools("customer"))
    agent = model_sides.AgentSide(
        asking, worlds.policy(task.domain), first.tools("agent"), line.voice, device, exposure
    )
    about, traits = describe(terms.persona, line.voice), manner(terms.persona, device)
    card = make_card(task.known, about, traits, first.tools("customer"), line.voice)
    customer = model_sides.CustomerSide(answering, card)
    reader = act_labels.ActLabeller(task.domain)

    async def carry(side: str, text: str, turn: int) -> Delivery:
        carried = await line.carry(side, text, turn)
        return replace(carried, data={**carried.data, **reader.read(side, text, carried.text)})

    duet = DualControlLoop(agent, customer, tool_executor(first), carry, terms.limits)
    return TaskDialogue(task, terms, first, exposure, duet)


def tool_executor(world: World) -> Any:
    """How calls are carried out on a world: arguments read from what was emitted, the result as its caller reads it."""

    def act(side: str, call: ToolCall, step: int) -> ToolResult:
        result = world.call(side, call.name, read_arguments(call.arguments))
        row = world.log[-1]
        data = {
            "tool": call.name,
            "arguments": row.arguments,
            "kind": result.kind,
            "value": result.value,
            "error": result.error,
            "write": world.is_write(side, call.name),
            "irreversible": world.is_irreversible(call.name),
            "changed": row.before_hash != row.after_hash,
        }
        if result.kind != "ok":
            return ToolResult(f"Error: {result.error}", result.error or result.kind, data)
        if side == "customer":  # a person sees a screen; the value stays in the log
            return ToolResult(screens.show(result.value), None, data)
        said = result.value if isinstance(result.value, str) else json.dumps(result.value, ensure_ascii=False)
        return ToolResult(said, None, data)

    return act


def read_arguments(emitted: str) -> Any:
    """The arguments of a call; what is no JSON stays the text it is, for the world to refuse. No text means none."""
    if not emitted.strip():
        return {}
    try:
        return json.loads(emitted)
    except (ValueError, RecursionError):
        return emitted
