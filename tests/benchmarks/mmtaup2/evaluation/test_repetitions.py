"""What an agent asks again though it had been answered, and what that costs the customer."""

import pytest

from cxlab.benchmarks.mmtaup2.evaluation import measured_metrics
from cxlab.records import Message
from tests.benchmarks.mmtaup2.mm_conversations import PHONE, REFUEL, agent, customer, task, tool

REASON = "May I ask for the reason why you want to cancel it?"
NUMBER = "Could you tell me the order number?"


def measured(*messages: Message) -> dict[str, float | None]:
    found = measured_metrics.measure(task(), messages, {"passed": False})
    names = ("repeated_messages", "user_effort", "user_effort_undecided")
    return {name: found.figures[name].value for name in names}


def test_the_same_question_four_times_and_an_answer_each_time_are_no_effortless_talk() -> None:
    talk = [customer(1, "i want to cancel an order")]
    for turn, told in enumerate(("#W7450575", "W7450575!!", "its 7450575", "#W7450575"), start=1):
        lead = "" if turn % 2 else "For that I need the order number. "
        talk += [agent(turn, lead + NUMBER), customer(turn + 1, told)]
    found = measured(*talk)
    assert found == {"repeated_messages": 3 / 4, "user_effort": 3 / 5, "user_effort_undecided": 0}


def test_a_bare_no_is_an_answer() -> None:
    talk = [customer(1, "Cancel it."), agent(1, REASON), customer(2, "no"), agent(2, REASON), customer(3, "no")]
    assert measured(*talk) == {"repeated_messages": 1 / 2, "user_effort": 1 / 3, "user_effort_undecided": 0}


@pytest.mark.parametrize("reply", ["What do you need it for?", "I don't know that", "Sorry, I did not understand you."])
def test_who_has_not_answered_is_asked_again_with_reason(reply: str) -> None:
    talk = [customer(1, "Cancel it."), agent(1, NUMBER), customer(2, reply), agent(2, NUMBER), customer(3, "#W7450575")]
    assert measured(*talk) == {"repeated_messages": 0, "user_effort": 0, "user_effort_undecided": 0}


def test_whether_it_was_an_answer_is_left_open_where_only_the_wording_tells() -> None:
    beside = "My sister told me about your shop."
    talk = [
        customer(1, "Cancel it."),
        agent(1, NUMBER),
        customer(2, beside),
        agent(2, NUMBER),
        customer(3, "#W7450575"),
    ]
    found = measured(*talk)
    assert (found["repeated_messages"], found["user_effort_undecided"]) == (0, 1 / 3)
    # The first message is no observation of what is not decided.
    assert measured_metrics.measure(task(), talk, {}).figures["repeated_messages"].observations == (0.0,)


def test_after_something_was_done_it_is_another_question() -> None:
    look = "Please check your status bar and tell me what it shows."
    shown = tool(2, "check_status_bar", side="customer")
    start = [customer(1, "No service."), agent(1, look), shown, customer(2, "There is a plane.")]
    assert measured(*start, agent(2, look), shown, customer(3, "Still a plane."))["repeated_messages"] == 1 / 2
    turned = tool(2, "toggle_data", side="customer")
    assert measured(*start, turned, agent(2, look), shown, customer(3, "Bars."))["repeated_messages"] == 0
    bought = tool(2, "refuel_data", **REFUEL)
    assert measured(*start, bought, agent(2, look), shown, customer(3, "Bars."))["repeated_messages"] == 0
    nobody = tool(2, "get_customer_by_phone", "refused", phone_number="555-000-0000")
    asked = [customer(1, "Hi."), agent(1, "Your phone number?"), customer(2, "555-000-0000"), nobody]
    again = [agent(2, "Nobody has it. Your phone number?"), customer(3, PHONE)]
    assert measured(*asked, *again)["repeated_messages"] == 0


def test_what_is_agreed_to_twice_is_two_things() -> None:
    offer = "I can cancel order #W{}. Shall I do that?"
    talk = [customer(1, "Cancel both."), agent(1, offer.format(1111111)), customer(2, "yes")]
    assert measured(*talk, agent(2, offer.format(2222222)), customer(3, "yes"))["repeated_messages"] == 0
    assert measured(*talk, agent(2, offer.format(1111111)), customer(3, "yes"))["repeated_messages"] == 1 / 2


def test_offers_of_more_help_and_single_words_repeat_nothing() -> None:
    more = "Is there anything else I can do for you?"
    talk = [customer(1, "Hi."), agent(1, f"The tracking number is 123. {more}"), customer(2, "no, wait, yes")]
    assert (
        measured(*talk, agent(2, f"The cheapest lamp costs $12.00. {more}"), customer(3, "no"))["repeated_messages"]
        == 0
    )
