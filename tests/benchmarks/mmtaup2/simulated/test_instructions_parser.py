"""Directions in running text, and goods that nobody gives a number for: what is read from them."""

from typing import Any

import pytest

from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import GREETING, ConversationSettings, begin
from cxlab.benchmarks.mmtaup2.simulated.instructed_customer import is_directed
from cxlab.benchmarks.mmtaup2.simulated.instructions_parser import first_person, parse_instructions, who
from cxlab.benchmarks.mmtaup2.simulated.retail import item_matching, order_matching
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import CustomerWish, matters_in, order_in
from cxlab.llm import load

MUG = {
    "variants": {
        str(key): {"options": {"size": size, "color": color, "lid": lid}, "available": free, "price": price}
        for key, size, color, lid, free, price in (
            (1, "small", "red", "no", True, 9.0),
            (2, "medium", "red", "yes", True, 11.0),
            (3, "large", "blue", "no", True, 12.0),
            (4, "large", "red", "no", False, 13.0),
            (5, "medium", "green", "no", True, 8.0),
        )
    }
}
OLD = {"item_id": "1", "name": "Travel Mug", "product_id": "p", "options": MUG["variants"]["1"]["options"]}


def order(number: str, status: str, *names: str, city: str = "Denver", state: str = "CO") -> dict[str, Any]:
    items = [
        {"name": name, "item_id": f"{number}{n}", "product_id": name, "options": {}} for n, name in enumerate(names)
    ]
    return {"order_id": number, "status": status, "items": items, "address": {"city": city, "state": state}}


ORDERS = [
    order("#W1", "delivered", "Travel Mug", "Desk Fan", "Yoga Block"),
    order("#W2", "pending", "Travel Mug", "Rain Jacket"),
    order("#W3", "delivered", "Tea Set", city="Austin", state="TX"),
    order("#W4", "pending", "Bath Mat"),
]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            "You want your money back, and the agent should tell you when.",
            "I want my money back, and you should tell me when.",
        ),
        ("You'd rather keep it yourself.", "I'd rather keep it myself."),
        ("You are sure that the agent's list is for you.", "I am sure that your list is for me."),
    ],
)
def test_directions_are_said_in_the_first_person(told: str, said: str) -> None:
    assert first_person(told) == said
    assert is_directed(told)
    assert not is_directed(said)


def test_a_card_is_told_by_what_calls_for_each_part_of_it() -> None:
    card = parse_instructions(
        "You want to return the fan. If the agent asks you to confirm, say you want to exchange it instead. "
        "If that is not possible, you'd keep it (do not reveal this to the agent).",
        ("You are a busy person. Be polite.", "If asked for a reason, say it was ordered by mistake."),
    )
    assert card.tells == ("I want to return the fan.",)
    assert card.at_confirm == ("I want to exchange it instead.",)
    assert card.if_denied == ("I'd keep it.",)
    assert [then for _, then in card.answers] == ["It was ordered by mistake."]
    assert who("You are ann_lee_1234 of 60611, ann@example.org") == {
        "email": "ann@example.org",
        "emails": "ann@example.org",
        "zip": "60611",
        "zips": "60611",
        "name": "Ann Lee",
    }


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ("I want to return the mug and exchange the fan for a red one.", ["return", "exchange"]),
        ("I want to cancel or return everything.", ["undo"]),
        ("Please change the address of order #W1234567, and my default address, too.", ["home", "address"]),
        ("The exchange went well, and the return label is here.", []),
        ("I do not want to cancel it.", []),
        ("I want to talk to a human.", ["human"]),
    ],
)
def test_what_a_sentence_wants(said: str, kinds: list[str]) -> None:
    assert [one.kind for one in matters_in([(1, said)])] == kinds


def test_what_is_wanted_only_or_no_longer_changes_what_was_told_before() -> None:
    both = (1, "I want to exchange the mug and the fan.")
    only = matters_in([both, (3, "Then please only exchange the fan.")])
    assert [(one.kind, "fan" in one.only) for one in only] == [("exchange", True)]
    assert matters_in([both, (3, "Please do not exchange anything.")]) == []
    assert order_in("It is order 1234567, paid with gift card 7654321.") == "#W1234567"


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ("for a blue one", "3"),
        ("for a bigger one with a lid", "2"),
        ("for the cheapest", "5"),
        ("for the most expensive", "3"),
        ("as size: medium, color: green, lid: no", "5"),
        ("for the same but large", None),
        ("for the largest one", "3"),
        ("for a medium one, preferably green", "5"),
        ("because I do not like it", None),
    ],
)
def test_a_variant_is_chosen_by_what_is_said_of_it(words: str, chosen: str | None) -> None:
    assert item_matching.choose(f"the travel mug {words}", MUG, OLD)[0] == chosen


def test_a_second_choice_overrules_the_first() -> None:
    first = "the travel mug for the same but large"
    assert item_matching.choose(first, MUG, OLD, "Then I'd take blue.")[0] == "3"


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("return", "return the fan", {"#W1": ["Desk Fan"]}),
        ("cancel", "cancel the jacket", {"#W2": ["Rain Jacket"]}),
        ("cancel", "cancel all pending orders", {"#W2": [], "#W4": []}),
        ("return", "return the mug and the tea set", {"#W1": ["Travel Mug"], "#W3": ["Tea Set"]}),
        ("return", "return everything in that order except the mug", {"#W1": ["Desk Fan", "Yoga Block"]}),
        ("return", "return the order that went to Texas", {"#W3": []}),
        ("exchange", "exchange the mug in my pending order", {"#W2": ["Travel Mug"]}),
        ("return", "return the fan I got with the mug", {"#W1": ["Desk Fan"]}),
        ("return", "return my order", {}),
        ("return", "return the piano", {}),
    ],
)
def test_orders_are_found_by_what_is_in_them(kind: str, text: str, found: dict[str, list[str]]) -> None:
    targets = order_matching.targets(CustomerWish(kind, f"I want to {text}."), ORDERS)
    assert {one.id: [pick.item["name"] for pick in one.picks] for one in targets} == found


async def test_own_tasks_told_as_directions_come_out_as_well_as_told_outright() -> None:
    agent, customer = load("simulated:strong"), load("simulated:customer")
    passed = []
    for task in tasks.make("retail", 1, 16):
        if "parcel" in task.known.reason or "What" in task.known.reason:
            # Questions are no directions.
            continue
        told = task.known.reason.replace("I ", "You ").replace("my ", "your ").replace("My ", "Your ")
        known = task.known.model_copy(update={"reason": told})
        talk = begin(task.model_copy(update={"known": known}), ConversationSettings(), agent, customer)
        await talk.duet.greet(GREETING["retail"])
        await talk.duet.run()
        passed.append(talk.output()["passed"])
    assert len(passed) >= 8
    assert sum(passed) >= 0.75 * len(passed)
