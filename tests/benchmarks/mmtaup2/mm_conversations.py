"""Conversations made by hand, small enough to count their twelve metrics on paper."""

from datetime import UTC, datetime
from typing import Any

from cxlab.benchmarks.mmtaup2.tasks import CustomerKnowledge, GoldAction, Task
from cxlab.records import Attempt, Message

PHONE = "555-123-2002"
REFUEL = {"customer_id": "C1001", "line_id": "L1002", "gb_amount": 2.0}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def task(**changes: Any) -> Task:
    """The customer's data allowance is used up: 2 GB are to be bought on the right line, once agreed to."""
    given: dict[str, Any] = {
        "id": "T1",
        "domain": "telecom",
        "issues": ("data_usage_exceeded",),
        "known": CustomerKnowledge(
            reason="Mobile data has stopped.", facts={"name": "Ada Moss", "phone": PHONE, "abroad": False}
        ),
        "prepare": (),
        "gold": (GoldAction(side="agent", tool="refuel_data", arguments=REFUEL),),
        "assertions": (),
        "reward_basis": ("ENV_ASSERTION",),
        "optimal_turns": 4,
        "critical_fields": {"phone_number": PHONE, "line_id": "L1002", "gb_amount": 2.0},
        "irreversible": ("refuel_data",),
        "transfer_right": False,
        "source": "own",
    }
    return Task(**(given | changes))


def customer(turn: int, text: str, heard: str | None = None, **data: Any) -> Message:
    said = {"meant": text, "ideal": text, "heard": heard or text, **data}
    return Message(role="customer", text=heard or text, turn=turn, data=said)


def agent(turn: int, text: str, **data: Any) -> Message:
    labels = {"asks": None, "confirms": None, "clarifies": False}
    return Message(
        role="agent", text=text, turn=turn, data={"meant": text, "ideal": text, "heard": text, **labels, **data}
    )


def tool(turn: int, name: str, kind: str = "ok", side: str = "agent", **arguments: Any) -> Message:
    data = {
        "side": side,
        "tool": name,
        "arguments": arguments,
        "kind": kind,
        "value": None,
        "write": name in ("refuel_data", "send_payment_request", "toggle_data"),
        "irreversible": name == "refuel_data",
        "step": turn,
    }
    return Message(role="tool", text="done" if kind == "ok" else "Error: no", turn=turn, data=data)


def attempt(messages: list[Message], passed: bool | None = True, trial: int = 0, **output: Any) -> Attempt:
    told = {"passed": passed, "exposure": 0, "persona": "none", "modality": "voice", "transferred": False, **output}
    return Attempt(
        id=f"a{trial}", run_id="r", sample_id="s", trial=trial, messages=tuple(messages), output=told, started=NOON
    )


def rough() -> list[Message]:
    """A number misheard and put right, 3 GB bought by mistake and then 2 GB without asking, one needless question."""
    return [
        agent(0, "Hello, what can I do for you?"),
        customer(1, "Hi, my mobile data has stopped."),
        agent(1, "What is your phone number?", asks="phone_number"),
        customer(2, f"It is {PHONE}.", "It is 555-123-2092."),
        tool(2, "get_customer_by_phone", "refused", phone_number="555-123-2092"),
        agent(2, "Sorry, could you say that again?", clarifies=True),
        customer(3, f"I said {PHONE}."),
        tool(3, "get_customer_by_phone", phone_number=PHONE),
        tool(3, "get_data_usage", customer_id="C1001", line_id="L1001"),
        agent(3, "I can add 2 GB for 4 dollars. Do you agree?", confirms="refuel_data"),
        customer(4, "Yes, please."),
        tool(4, "refuel_data", customer_id="C1001", line_id="L1002", gb_amount=3.0),
        agent(4, "That is done. What was your phone number?", asks="phone_number"),
        customer(5, f"{PHONE}, and now I have 3 instead."),
        tool(5, "refuel_data", **REFUEL),
        agent(5, "Now you have what you wanted."),
    ]


def clean() -> list[Message]:
    """The same task as it should go, by text."""
    return [
        agent(0, "Hello, what can I do for you?"),
        customer(1, f"Hi, my mobile data has stopped. My number is {PHONE}."),
        tool(1, "get_customer_by_phone", phone_number=PHONE),
        agent(1, "Is data switched on?"),
        customer(2, "Yes, it is."),
        tool(2, "get_data_usage", customer_id="C1001", line_id="L1002"),
        agent(2, "Your allowance is used up. 2 GB cost 4 dollars. Do you agree?", confirms="refuel_data"),
        customer(3, "Yes, go ahead.", confirms="refuel_data"),
        tool(3, "refuel_data", **REFUEL),
        agent(3, "Done. Does it work?"),
        customer(4, "It works now, thank you."),
        agent(4, "Glad to hear it."),
    ]
