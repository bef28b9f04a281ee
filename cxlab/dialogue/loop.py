"""Customer and agent take turns until a rule ends the dialogue; nothing is thrown away.

The rules, in the order in which they are looked at: a provider fault (`provider`), three messages of the customer in
a row that cannot be read (`unreadable`; the agent is not asked for a third answer to nothing), the customer says
goodbye when it may (`goodbye`), three replies of the agent in a row that cannot be read, or the talk has grown longer
than its model can read (`unreadable`), the agent repeats itself three times (`loop`), the turn limit (`turns`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxlab.dialogue.consumption import Consumption
from cxlab.llm.parsing import without_thinking
from cxlab.records import CallTotals, Failure, Message, ToolCall
from cxlab.records.conversation import UNREADABLE
from cxlab.records.evaluation import Outcome, find_outcome

LOOP = 3


@dataclass(frozen=True)
class Utterance(Consumption):
    """One contribution: the text that the other side sees, and what it took to get it."""

    text: str
    done: bool = False
    data: dict[str, Any] = field(default_factory=dict)
    tool_calls: tuple[ToolCall, ...] = ()
    cost_usd: float | None = field(default=None, kw_only=True)


@dataclass
class Dialogue:
    """All messages, each with what it took, how it ended, what failed on the way, and what the agent took in all."""

    messages: list[Message] = field(default_factory=list)
    ended_by: str = "turns"
    failures: list[Failure] = field(default_factory=list)
    agent: CallTotals = field(default_factory=CallTotals)

    @property
    def outcome(self) -> Outcome:
        """What comes of it, by what failed."""
        return find_outcome(self.failures)


Speaker = Callable[[Sequence[Message], int], Awaitable[Utterance]]


async def converse(customer: Speaker, agent: Speaker, max_turns: int) -> Dialogue:
    """Run the dialogue; a speaker gets the messages so far and the turn (from 1).

    Only the agent's unreadable replies count as format failures of the attempt. A customer model that
    cannot be read is a failure of the `customer`: its turn is skipped with a plain filler, and said so.
    """
    dialogue = Dialogue()
    unread = unread_customer = 0
    for turn in range(1, max_turns + 1):
        said = await customer(dialogue.messages, turn)
        _note(dialogue, said, turn, "customer")
        unread_customer = unread_customer + 1 if said.failure else 0
        if _is_provider(said) or unread_customer >= LOOP:
            if said.usage.calls or said.cost_usd:
                # What the turn took was paid for, though nothing came of it.
                lost = {**said.data, "delivered": False}
                dialogue.messages.append(
                    Message(role="customer", text="", turn=turn, data=lost, **said.totals.of_message())
                )
            dialogue.ended_by = "provider" if _is_provider(said) else "unreadable"
            return dialogue
        text = without_thinking(said.text) or "Hello? Please go on."
        dialogue.messages.append(
            Message(role="customer", text=text, turn=turn, data=said.data, **said.totals.of_message())
        )
        leaving = said.done
        reply = await agent(dialogue.messages, turn)
        _note(dialogue, reply, turn, "agent")
        dialogue.agent = dialogue.agent + reply.totals
        if _is_provider(reply):
            dialogue.ended_by = "provider"
            return dialogue
        unread = unread + 1 if reply.failure else 0
        dialogue.messages.append(
            Message(
                role="agent",
                text=without_thinking(reply.text) or UNREADABLE,
                turn=turn,
                tool_calls=reply.tool_calls,
                data=reply.data,
                **reply.totals.of_message(),
            )
        )
        if leaving:
            dialogue.ended_by = "goodbye"
            return dialogue
        # A talk only grows: what is too long for the agent now is so at each further turn.
        if unread >= LOOP or (reply.failure is not None and reply.failure.type == "overlong"):
            dialogue.ended_by = "unreadable"
            return dialogue
        if _repeats(dialogue.messages):
            dialogue.ended_by = "loop"
            return dialogue
    return dialogue


def _note(dialogue: Dialogue, said: Utterance, turn: int, who: str) -> None:
    if said.failure:
        where = said.failure.where
        if who == "customer" and where == "format":
            where = "customer"
        role = who if where == "provider" else None
        dialogue.failures.append(said.failure.model_copy(update={"turn": turn, "where": where, "role": role}))


def _is_provider(said: Utterance) -> bool:
    return said.failure is not None and said.failure.where == "provider"


def _repeats(messages: Sequence[Message]) -> bool:
    agent = [m.text for m in messages if m.role == "agent"]
    return len(agent) >= LOOP and len(set(agent[-LOOP:])) == 1 and agent[-1] != UNREADABLE
