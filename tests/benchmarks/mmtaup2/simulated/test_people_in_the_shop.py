"""What people type to the shop's stand-in agent: bare answers, misspelt names, questions, other languages, nothing."""

import pytest

from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.simulated import other_messages
from cxlab.benchmarks.mmtaup2.simulated.retail import free_speech, reactions
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import phrases as shop_phrases
from cxlab.benchmarks.mmtaup2.simulated.typed import tidy
from cxlab.files import grammar
from tests.benchmarks.mmtaup2.person import play

TASK = next(each for each in tasks.make("retail", 1, 40) if each.id.startswith("[retail]cancel_order#"))
FACTS = TASK.known.facts
NUMBER, FIRST, LAST = FACTS["order_id"].removeprefix("#W"), FACTS["first_name"], FACTS["last_name"]
WHO = f"{FACTS['name'].lower()}, {FACTS['zip']}"
OPENS = "hi, i want to cancel an order"


def talk(*said: str, agent: str = "simulated:strong") -> list[tuple[str, dict[str, object]]]:
    """What the agent writes, and what it calls with which arguments, when a person says these things in turn."""
    messages = play(TASK, *said, agent=agent).duet.messages
    found: list[tuple[str, dict[str, object]]] = [
        (message.text, {}) for message in messages if message.role == "agent" and not message.tool_calls
    ]
    calls = [m.data for m in messages if m.role == "tool"]
    return [*((str(one["tool"]), dict(one["arguments"])) for one in calls), *found]


def called(told: list[tuple[str, dict[str, object]]], tool: str) -> list[dict[str, object]]:
    return [arguments for name, arguments in told if name == tool]


@pytest.mark.parametrize("agent", ["simulated:strong", "simulated:weak"])
@pytest.mark.parametrize("answer", [f"#W{NUMBER}", f"W{NUMBER}", NUMBER, f"w{NUMBER}."])
def test_a_number_alone_is_taken_by_every_agent(answer: str, agent: str) -> None:
    said = talk(OPENS, WHO, "what happens to my money if you cancel it?", answer, agent=agent)
    assert {"order_id": f"#W{NUMBER}"} in called(said, "get_order_details")


def test_an_email_alone_is_taken() -> None:
    assert called(talk(OPENS, FACTS["email"]), "find_user_id_by_email")[0] == {"email": FACTS["email"]}


def test_a_bare_answer_never_goes_unheard() -> None:
    assert free_speech.is_plain_answer(f"#W{NUMBER}")
    assert free_speech.is_plain_answer("somebody@example.org")
    # A stand-in ends it with a stop.
    assert not free_speech.is_plain_answer("somebody@example.org.")
    assert not free_speech.is_plain_answer(f"It is order #W{NUMBER}.")


def test_a_question_of_what_comes_of_it_is_answered_and_wants_nothing_done() -> None:
    said = talk(OPENS, WHO, "what happens to my money if you cancel it?", f"#W{NUMBER}")
    assert any("5 to 7 business days" in text for text, _ in said)
    assert "reason" in said[-1][0]  # one order is to be cancelled, and it is known which


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("I'd rather not give you my email. ulla chaudry, 12870", ("Ulla", "Chaudry", "12870")),
        ("i don't want to give my email but ulla chaudry 12870", ("Ulla", "Chaudry", "12870")),
        ("name's Ulla Chaudry and the zip code is 12870", ("Ulla", "Chaudry", "12870")),
        ("12870, Ulla Chaudry", ("Ulla", "Chaudry", "12870")),
        ("I would not give you that, 12870", None),
    ],
)
def test_the_name_is_what_stands_beside_the_zip_code(text: str, who: tuple[str, str, str] | None) -> None:
    assert free_speech.name_and_zip(text) == who


@pytest.mark.parametrize("again", ["no it's {name}", "{last}", "it is spelt {last}", "{name}"])
def test_a_name_under_which_nobody_is_found_is_said_and_spelt_anew(again: str) -> None:
    wrong = f"{LAST[:-1]}{LAST[-1] * 2}"
    told = again.format(name=f"{FIRST} {LAST}", last=LAST)
    said = talk(OPENS, f"{FIRST} {wrong}, {FACTS['zip']}", told)
    assert [one["last_name"] for one in called(said, "find_user_id_by_name_zip")] == [wrong, LAST]
    assert any(f"{FIRST} {wrong}" in text and "e-mail address" in text for text, _ in said)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("hallo, ich möchte meine Bestellung stornieren", "English"),
        ("bonjour, je voudrais annuler ma commande", "English"),
        ("...", "still"),
        ("How long would delivery take?", "tracking number"),
        ("Are you a robot?", "automated assistant"),
    ],
)
def test_what_is_no_answer_gets_one_and_the_talk_goes_on(text: str, answer: str) -> None:
    said = talk(OPENS, text)[-1][0]
    assert answer in said
    assert said.endswith("?")
    assert "did not understand" not in said


def test_english_is_not_taken_for_another_language_nor_a_stand_ins_line_for_silence() -> None:
    lines = [one for kinds in shop_phrases().customer.values() for several in kinds.values() for one in several]
    said = [text for line in lines if "<" not in line for text in grammar.every(line) if text.strip()]
    said += [each.known.reason for each in tasks.make("retail", 1, 40)]
    assert [text for text in said if other_messages.is_foreign(text) or other_messages.is_silence(text)] == []
    assert [text for text in said if reactions.find(text) in ("delivery", "silence", "language")] == []


def told(*said: str) -> str:
    """The agent's last message."""
    return talk(*said)[-1][0]


def test_who_gives_no_reason_is_told_which_there_are_and_then_left_alone() -> None:
    asked = (OPENS, WHO, f"#W{NUMBER}")
    assert "reason why" in told(*asked)
    assert "no longer need" in told(*asked, "no")
    assert "by mistake" in told(*asked, "why do you need a reason")
    left = talk(*asked, "no", "none of your bussiness just cancel it")
    assert "Without one of these reasons" in left[-1][0]
    assert called(left, "cancel_pending_order") == []
    assert called(talk(*asked, "no", "mistake", "ok"), "cancel_pending_order") == [
        {"order_id": f"#W{NUMBER}", "reason": "ordered by mistake"}
    ]


def test_a_wish_for_a_person_is_no_reason_and_no_matter_of_its_own() -> None:
    said = talk(OPENS, WHO, f"#W{NUMBER}", "I want a human")
    assert "with you myself" in said[-1][0]
    assert "reason why" in said[-1][0]
    assert called(said, "transfer_to_human_agents") == []
    assert called(talk(OPENS, WHO, f"#W{NUMBER}", "I want a human", "a HUMAN, get me a person"),
                  "transfer_to_human_agents")  # fmt: skip


def test_another_shop_is_no_reason_that_the_policy_knows() -> None:
    said = told(OPENS, WHO, f"#W{NUMBER}", "because i bought it elsewhere cheaper")
    assert "cannot be cancelled for that reason" in said


@pytest.mark.parametrize("text", ["Write in Deutsch", "can you write in German please", "schreib bitte deutsch"])
def test_who_asks_for_another_language_is_told_which_there_is(text: str) -> None:
    assert "English" in told(OPENS, text)
    assert "English" in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "yo my order #W<number> pls cancel + what's the cheapest lamp u got",
        "cancle my order #W<number> plus tell me the cheapest lamp",
    ],
)
def test_two_wishes_in_one_message_are_both_taken(text: str) -> None:
    said = talk(OPENS, text.replace("<number>", NUMBER), WHO, "mistake", "yes")
    assert called(said, "cancel_pending_order")
    assert "cheapest Reading Lamp" in said[-1][0]


def test_who_has_no_number_is_told_which_orders_there_are_and_not_asked_on_and_on() -> None:
    said = [text for text, _ in talk("i want to return something", WHO, "dont know the number", "dunno")]
    assert sum("Could you tell me the order number?" in text for text in said) <= 1


def test_nothing_is_asked_four_times_in_the_same_words() -> None:
    said = [text for text, arguments in talk(OPENS, WHO, *["qwertz blah"] * 6) if not arguments]
    assert max(said.count(text) for text in said if "nothing more that I can do" not in text) <= 2
    assert any("handing you over" in text for text in said)


def test_the_talk_comes_to_an_end_and_names_no_name_that_is_a_place() -> None:
    moved = ("I moved!! change my adress", WHO, "12 Elm Street", "Dunmere, OH 73570", "yep")
    said = talk(*moved)
    assert [one["address1"] for one in called(said, "modify_user_address")] == ["12 Elm Street"]
    assert "Goodbye" in told(*moved, "no thats all")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("i dont want it, cancle it pls", "i don't want it, cancel it please"),
        ("where the hell is my stuff", "where is my stuff"),
        ("my adress is ulla.adress@example.org", "my address is ulla.adress@example.org"),
        ("two returns and Cancell Street", "two returns and Cancell Street"),
    ],
)
def test_what_is_typed_is_put_as_it_is_usually_written(text: str, plain: str) -> None:
    assert tidy(text) == plain


@pytest.mark.parametrize(("wish", "kind"), [("exchange", "exchange_items"), ("return", "return_items")])
def test_what_it_is_about_is_asked_for_before_how_it_is_paid(wish: str, kind: str) -> None:
    task = next(each for each in tasks.make("retail", 1, 40) if each.id.startswith(f"[retail]{kind}#"))
    facts = task.known.facts
    number = next(a.arguments["order_id"] for a in task.gold if "order_id" in a.arguments)
    opens = (f"hi, i want to {wish} something from order {number}", f"{facts['name'].lower()}, {facts['zip']}")
    messages = play(task, *opens).duet.messages
    said = [m.text for m in messages if m.role == "agent" and not m.tool_calls][-1]
    assert "which" in said.lower()
    assert "payment" not in said
    assert "refund" not in said
