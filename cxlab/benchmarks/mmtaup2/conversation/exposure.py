"""How much the agent is told of the person it talks to.

0: nothing. 1: the persona's card, in the system prompt from the agent's first message on. 2: a profile that the
agent's own model infers from the last 16 messages, made anew whenever 3 customer messages have come since the last
one. What cannot be told is left out, and every version is kept with the turn from which it held.

On 1 the sources differ: the paper says that persona metadata is provided to the agent, and not when; the README beside
its code (which itself is not public) speaks of after the customer has been identified. Here it stands there from the
start: who is to be spoken to is not looked up in a record, and each exposure so begins at the same message.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.mmtaup2.conversation.personas import persona
from cxlab.benchmarks.mmtaup2.prompts import dialogue_prompts
from cxlab.errors import BadOption
from cxlab.llm.base import Reply
from cxlab.records import Failure, Message

LEVELS = (0, 1, 2)
IN_WORDS = {0: "told nothing", 1: "told the persona", 2: "infers a profile"}
"""What the agent is at each level, wherever people read of it."""
WINDOW = 16
FRESH = 3

Infer = Callable[[dialogue_prompts.ProfileInputs, int], Awaitable[Reply[dialogue_prompts.Profile]]]


@dataclass(frozen=True)
class ExposureState:
    """What has been inferred up to a moment, and when it is due again."""

    note: str
    versions: tuple[dict[str, Any], ...]
    failures: tuple[Failure, ...]
    counted: int


class Exposure:
    """What stands about the customer in the agent's prompt at the moment: `note`, "" for nothing."""

    def __init__(self, level: int, persona_name: str, infer: Infer) -> None:
        if level not in LEVELS or isinstance(level, bool):
            raise BadOption(f"exposure {level!r}; give 0 (nothing), 1 (the persona) or 2 (an inferred profile)")
        self.level, self._infer = level, infer
        self.versions: list[dict[str, Any]] = []
        self.note = dialogue_prompts.note_of(persona(persona_name).card) if level == 1 else ""
        self.failures: list[Failure] = []
        self._counted = 0

    @property
    def state(self) -> ExposureState:
        """All that changes as the talk goes on; put back, it goes on from there."""
        return ExposureState(self.note, tuple(self.versions), tuple(self.failures), self._counted)

    @state.setter
    def state(self, to: ExposureState) -> None:
        self.note, self.versions, self.failures = to.note, list(to.versions), list(to.failures)
        self._counted = to.counted

    async def refresh(self, seen: Sequence[Message], turn: int) -> Reply[dialogue_prompts.Profile] | None:
        """Infer anew if it is time; `seen` is the talk as the agent knows it. The reply, for its cost and faults.

        A reply that cannot be read leaves the last profile standing, and the next one waits for 3 more messages.
        """
        said = sum(message.role == "customer" and not message.tool_calls for message in seen)
        if self.level != 2 or said - self._counted < FRESH:
            return None
        self._counted = said
        talk = [m for m in seen if m.role in ("customer", "agent") and not m.tool_calls]
        reply = await self._infer(dialogue_prompts.ProfileInputs(history=dialogue_prompts.lines(talk[-WINDOW:])), turn)
        if reply.output is not None:
            told = reply.output.told()
            self.note = dialogue_prompts.note_of(told)
            self.versions.append({"turn": turn, "profile": told, "reasoning": reply.output.reasoning or ""})
        elif reply.failure is not None:
            # Whatever went wrong, the talk goes on with what is known: no fault here is the end of it.
            where = "agent" if reply.failure.where == "provider" else reply.failure.where
            named = f"profile_{reply.failure.type}"
            self.failures.append(reply.failure.model_copy(update={"turn": turn, "type": named, "where": where}))
        return reply
