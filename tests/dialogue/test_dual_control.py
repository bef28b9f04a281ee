"""The loop in which both sides act: who moves when, what ends it, and that nothing that a side does is lost."""

from collections.abc import Sequence
from typing import Any

import pytest

from cxlab.dialogue import Delivery, DualControlLoop, Limits, Move, ToolResult, seen_by
from cxlab.records import Failure, Message, ToolCall, Usage


def calls(*names: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(id=f"{name}{n}", name=name, arguments="{}") for n, name in enumerate(names))


class Script:
    """A side that makes the given moves and then says goodbye, and keeps what it was shown."""

    def __init__(self, *moves: Move) -> None:
        self.moves, self.shown = list(moves), []

    async def __call__(self, messages: Sequence[Message], turn: int) -> Move:
        self.shown.append((turn, list(messages)))
        return self.moves.pop(0) if self.moves else Move("Goodbye.", stop="done")


def act(side: str, call: ToolCall, step: int) -> ToolResult:
    if call.name == "fail":
        return ToolResult("Error: no", "no", {"kind": "refused"})
    return ToolResult(f"{side} did {call.name}", None, {"kind": "ok", "tool": call.name})


async def shout(side: str, text: str, turn: int) -> Delivery:
    return Delivery(text.upper(), {"meant": text})


async def play(agent: Script, customer: Script, limits: Limits | None = None) -> DualControlLoop:
    duet = DualControlLoop(agent, customer, act, shout, limits)
    await duet.greet("Hello")
    await duet.run()
    return duet


async def test_turns_steps_and_who_gets_what() -> None:
    agent = Script(Move(calls=calls("look", "look")), Move("I see."), Move("Bye."))
    customer = Script(Move("It is broken."), Move(calls=calls("press")), Move("I pressed it."))
    duet = await play(agent, customer)
    shape = [(m.turn, m.role, m.text, len(m.tool_calls)) for m in duet.messages]
    assert shape == [
        (0, "agent", "HELLO", 0),
        (1, "customer", "IT IS BROKEN.", 0),
        (1, "agent", "", 2),
        (1, "tool", "agent did look", 0),
        (1, "tool", "agent did look", 0),
        (1, "agent", "I SEE.", 0),
        (2, "customer", "", 1),
        (2, "tool", "customer did press", 0),
        (2, "customer", "I PRESSED IT.", 0),
        (2, "agent", "BYE.", 0),
        (3, "customer", "GOODBYE.", 0),
    ]
    # Greeting apart, each move is a step and so is each carrying out, however many calls it has.
    assert duet.steps == 9
    assert (duet.ended_by, duet.stop, duet.outcome) == ("customer_stop", "done", "ok")


async def test_a_side_sees_its_own_words_as_meant_the_others_as_heard_and_its_own_tools_only() -> None:
    duet = await play(Script(Move(calls=calls("look")), Move("I see.")), Script(Move("Hm"), Move(calls=calls("press"))))
    mine = [(m.role, m.text) for m in seen_by("agent", duet.messages)]
    theirs = [(m.role, m.text) for m in seen_by("customer", duet.messages)]
    assert mine == [
        ("agent", "Hello"), ("customer", "HM"), ("agent", ""), ("tool", "agent did look"), ("agent", "I see."),
        ("customer", "GOODBYE."),
    ]  # fmt: skip
    assert theirs == [
        ("agent", "HELLO"), ("customer", "Hm"), ("agent", "I SEE."), ("customer", ""), ("tool", "customer did press"),
        ("customer", "Goodbye."),
    ]  # fmt: skip


async def test_text_beside_a_call_is_kept_and_not_delivered() -> None:
    duet = await play(Script(Move("One moment.", calls("look")), Move("Done.")), Script(Move("Hi")))
    beside = next(m for m in duet.messages if m.tool_calls)
    assert (beside.text, beside.data["delivered"]) == ("One moment.", False)
    assert all("moment" not in m.text for m in seen_by("customer", duet.messages))
    assert [(f.where, f.type, f.turn) for f in duet.failures] == [("agent", "text_and_tool", 1)]
    assert duet.outcome == "ok"


async def test_empty_replies_are_failures_and_three_in_a_row_the_end() -> None:
    duet = await play(Script(Move(), Move(), Move()), Script(*[Move(f"So {n}") for n in range(9)]))
    assert (duet.ended_by, duet.outcome) == ("unreadable", "format")
    assert [f.type for f in duet.failures] == ["empty"] * 3
    one = await play(Script(Move(), Move("Yes"), Move("So")), Script(Move("Hi"), Move(), Move("Hi")))
    assert one.ended_by == "customer_stop"
    assert [(f.where, f.turn) for f in one.failures] == [("format", 1), ("customer", 2)]


@pytest.mark.parametrize(
    ("agent", "customer", "ended"),
    [
        ([Move("Wait.")] * 9, [Move(f"So {n}") for n in range(9)], "loop"),
        ([Move(f"Go {n}") for n in range(9)], [Move("Yes.")] * 5, "customer_stop"),
        ([Move(calls=calls("look"))] * 9, [Move("Hi")], "loop"),
        (
            [Move(calls=calls("look", "look")), *[Move(calls=calls(f"c{n}")) for n in range(99)]],
            [Move("Hi")],
            "max_steps",
        ),
    ],
)
async def test_endless_talk_is_ended(agent: list[Move], customer: list[Move], ended: str) -> None:
    duet = await play(Script(*agent), Script(*customer), Limits(steps=30))
    assert duet.ended_by == ended
    assert duet.steps <= 31  # what is owed is carried out before the limit is looked at


async def test_tool_errors_are_counted_over_both_sides_and_all_of_a_move_is_carried_out() -> None:
    duet = await play(
        Script(Move(calls=calls("fail", "fail")), Move("So?"), Move(calls=calls("fail", "look")), Move("So?")),
        Script(Move("Hi"), Move(calls=calls("fail"))),
        Limits(errors=2),
    )
    assert (duet.ended_by, duet.errors) == ("too_many_errors", 2)
    assert [f.where for f in duet.failures] == ["tool", "tool"]
    more = await play(
        Script(Move(calls=calls("fail", "fail", "look")), Move("So?")), Script(Move("Hi")), Limits(errors=3)
    )
    assert (more.ended_by, more.errors) == ("customer_stop", 2)
    assert sum(m.role == "tool" for m in more.messages) == 3


async def test_a_provider_fault_ends_it_and_costs_are_summed() -> None:
    fault = Failure(where="provider", type="timeout", message="late", retryable=True)
    paid = Move("Hi", usage=Usage(prompt_tokens=7, completion_tokens=2, calls=1), cost_usd=0.5, latency_s=1.5)
    duet = await play(Script(Move(failure=fault, cost_usd=0.25)), Script(paid))
    assert (duet.ended_by, duet.outcome) == ("provider", "provider")
    assert {side: totals.cost_usd for side, totals in duet.totals.items()} == {"agent": 0.25, "customer": 0.5}
    assert (duet.totals["customer"].latency_s, duet.totals["customer"].usage.prompt_tokens) == (1.5, 7)
    unknown = await play(Script(Move("Yes", cost_usd=None)), Script(paid))
    assert unknown.totals["agent"].cost_usd is None
    assert unknown.totals["customer"].cost_usd is not None


async def test_after_a_provider_fault_the_same_move_is_asked_for_again() -> None:
    fault = Failure(where="provider", type="timeout", message="late", retryable=True)
    duet = await play(
        Script(Move(failure=fault, cost_usd=0.25), Move("Yes?"), Move("Bye", stop="done")),
        Script(Move("Hi"), Move("Ok")),
    )
    assert not (await play(Script(Move("Bye", stop="done")), Script(Move("Hi")))).reopen()
    assert duet.reopen()
    assert (duet.ended_by, duet.outcome, duet.next) == (None, "ok", "agent")
    await duet.run()
    assert [message.text for message in duet.messages] == ["HELLO", "HI", "YES?", "OK", "BYE"]
    assert duet.totals["agent"].cost_usd == 0.25  # what the lost try cost stays counted


async def test_a_text_that_could_not_be_spoken_is_written_again() -> None:
    fault = Failure(where="provider", type="timeout", message="late", retryable=True)
    lost = [True]

    async def carry(side: str, text: str, turn: int) -> Delivery:
        failed = side == "agent" and lost and lost.pop()
        return Delivery(text, failure=fault if failed else None)

    duet = DualControlLoop(Script(Move("Yes?"), Move("Bye", stop="done")), Script(Move("Hi"), Move("Ok")), None, carry)
    await duet.run()
    assert duet.ended_by == "provider"
    assert duet.reopen()
    assert (duet.next, [message.text for message in duet.messages]) == ("agent", ["Hi"])
    await duet.run()
    assert [message.text for message in duet.messages] == ["Hi", "Bye"]


async def test_a_message_keeps_what_it_took_and_a_tools_result_nothing() -> None:
    def paid(cost: float) -> dict[str, Any]:
        return {"usage": Usage(calls=1), "cost_usd": cost, "latency_s": 1.0}

    duet = await play(
        Script(Move(calls=calls("look"), **paid(0.5)), Move("Done.", stop="done", **paid(0.25))),
        Script(Move("Hi", **paid(0.125))),
    )
    took = [(m.role, m.usage and m.usage.calls, m.cost_usd) for m in duet.messages if m.turn > 0]
    assert took == [("customer", 1, 0.125), ("agent", 1, 0.5), ("tool", None, None), ("agent", 1, 0.25)]
    assert (duet.totals["agent"].usage.calls, duet.totals["agent"].cost_usd) == (2, 0.75)


async def test_step_by_step_and_a_person_taking_over() -> None:
    duet = DualControlLoop(Script(Move("Ask away."), Move("Sure.")), Script(), act, shout)
    await duet.greet("Hello")
    assert duet.next == "customer"
    await duet.take(Move("I do the talking now."))
    assert [m.text for m in await duet.step()] == ["ASK AWAY."]
    await duet.take(Move("Enough.", stop="done"))
    assert await duet.step() == []
    assert (duet.ended_by, duet.turn, duet.messages[-1].data["stop"]) == ("customer_stop", 2, "done")
    await duet.take(Move("One more thing."))
    assert duet.messages[-1].text == "ENOUGH."


async def test_a_person_who_takes_over_after_a_call_waits_for_its_result() -> None:
    duet = DualControlLoop(Script(), Script(Move(calls=calls("press"))), act, shout)
    await duet.step()
    await duet.take(Move("It is pressed."))
    assert [(m.role, m.text) for m in duet.messages[1:]] == [
        ("tool", "customer did press"),
        ("customer", "IT IS PRESSED."),
    ]


async def test_the_clock_can_end_it() -> None:
    duet = await play(Script(Move("a")), Script(Move("b")), Limits(seconds=-1.0))
    assert (duet.ended_by, len(duet.messages)) == ("timeout", 1)
