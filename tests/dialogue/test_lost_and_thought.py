"""What a side thinks aloud stays its own; what a provider's fault cost is kept, with the side that it stood behind."""

import asyncio
from collections.abc import Sequence

from cxlab.dialogue import Delivery, DualControlLoop, Move, ToolResult, Utterance, converse
from cxlab.records import Failure, Message, Usage

PAID = Usage(prompt_tokens=9, completion_tokens=4, calls=1)
FAULT = Failure(where="provider", type="connection", message="gone", retryable=True)


async def thinking(messages: Sequence[Message], turn: int) -> Utterance:
    return Utterance(text="Hello.<think>They must not read this.</think> Bye.", cost_usd=0.0)


async def dead(messages: Sequence[Message], turn: int) -> Utterance:
    return Utterance(text="", usage=PAID, cost_usd=0.25, failure=FAULT)


def test_no_reasoning_reaches_the_other_side() -> None:
    dialogue = asyncio.run(converse(thinking, thinking, 1))
    assert [message.text for message in dialogue.messages] == ["Hello. Bye.", "Hello. Bye."]


def test_a_dead_customer_is_the_customers_fault_and_what_it_took_is_kept() -> None:
    dialogue = asyncio.run(converse(dead, thinking, 3))
    assert (dialogue.ended_by, dialogue.outcome) == ("provider", "provider")
    assert [(each.where, each.role) for each in dialogue.failures] == [("provider", "customer")]
    assert [(each.role, each.usage, each.cost_usd) for each in dialogue.messages] == [("customer", PAID, 0.25)]
    assert dialogue.agent.cost_usd == 0.0, "nothing of it is the agent's"


def test_both_hold_where_both_sides_act() -> None:
    async def agent(messages: Sequence[Message], turn: int) -> Move:
        return Move(text="<think>hm</think>Hello.")

    async def customer(messages: Sequence[Message], turn: int) -> Move:
        if turn == 1:
            return Move(text="My phone is dead.<think>I lie</think>")
        return Move(usage=PAID, cost_usd=0.25, failure=FAULT)

    async def carry(side: str, text: str, turn: int) -> Delivery:
        return Delivery(text=text)

    def act(side: str, call: object, turn: int) -> ToolResult:
        raise AssertionError("nobody calls a tool")

    loop = DualControlLoop(agent, customer, act, carry)
    asyncio.run(loop.run())
    assert [message.text for message in loop.messages] == ["My phone is dead.", "Hello.", ""]
    assert loop.messages[-1].cost_usd == 0.25
    assert [(each.where, each.role) for each in loop.failures] == [("provider", "customer")]
