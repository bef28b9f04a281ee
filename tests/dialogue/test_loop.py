"""Taking turns: every message keeps what it took, and what the agent took is told apart from the customer's."""

from collections.abc import Sequence

from cxlab.dialogue import Utterance, converse
from cxlab.records import Failure, Message, Usage

ASKED = Usage(prompt_tokens=10, completion_tokens=2, calls=1)


async def test_each_message_keeps_what_it_took_and_the_agents_are_summed() -> None:
    async def customer(messages: Sequence[Message], turn: int) -> Utterance:
        return Utterance(f"Question {turn}", done=turn == 2, usage=ASKED, latency_s=1.0, cost_usd=0.5)

    async def agent(messages: Sequence[Message], turn: int) -> Utterance:
        return Utterance(f"Answer {turn}", usage=ASKED, latency_s=2.0, cost_usd=0.25)

    dialogue = await converse(customer, agent, 5)
    assert dialogue.ended_by == "goodbye"
    assert [(m.role, m.latency_s, m.cost_usd) for m in dialogue.messages] == [
        ("customer", 1.0, 0.5), ("agent", 2.0, 0.25)] * 2  # fmt: skip
    assert {m.usage for m in dialogue.messages} == {ASKED}
    assert (dialogue.agent.usage.calls, dialogue.agent.latency_s, dialogue.agent.cost_usd) == (2, 4.0, 0.5)


async def test_what_nobody_was_asked_for_takes_nothing_and_unknown_stays_unknown() -> None:
    async def person(messages: Sequence[Message], turn: int) -> Utterance:
        return Utterance("Hello?")

    async def agent(messages: Sequence[Message], turn: int) -> Utterance:
        failure = Failure(where="provider", type="timeout", message="late") if turn == 2 else None
        return Utterance("Yes?", usage=ASKED, cost_usd=None if turn == 1 else 0.0, failure=failure)

    dialogue = await converse(person, agent, 5)
    assert dialogue.ended_by == "provider"
    assert [(m.role, m.usage is None, m.cost_usd) for m in dialogue.messages] == [
        ("customer", True, None), ("agent", False, None), ("customer", True, None)]  # fmt: skip
    assert dialogue.agent.cost_usd is None
    # What is said without any call is written as it always was.
    assert set(dialogue.messages[0].model_dump()) == {"role", "text", "turn", "tool_calls", "data"}


async def test_a_customer_that_cannot_be_read_three_times_ends_the_dialogue_and_is_paid_for() -> None:
    unreadable = Failure(where="format", type="refusal", message="the model declined")
    asked_of_agent = 0

    async def customer(messages: Sequence[Message], turn: int) -> Utterance:
        # The second message can be read: only three in a row are the end.
        said = {"text": "It is broken."} if turn == 2 else {"text": "", "failure": unreadable}
        return Utterance(**said, usage=ASKED, cost_usd=0.5)

    async def agent(messages: Sequence[Message], turn: int) -> Utterance:
        nonlocal asked_of_agent
        asked_of_agent += 1
        return Utterance(f"Answer {turn}", usage=ASKED, cost_usd=0.25)

    dialogue = await converse(customer, agent, 15)
    assert (dialogue.ended_by, dialogue.outcome) == ("unreadable", "ok")
    assert {failure.where for failure in dialogue.failures} == {"customer"}
    assert asked_of_agent == 4
    last = dialogue.messages[-1]
    assert (last.role, last.text, last.turn, last.data["delivered"], last.cost_usd) == ("customer", "", 5, False, 0.5)
