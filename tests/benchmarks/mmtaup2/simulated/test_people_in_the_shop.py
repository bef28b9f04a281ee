"""What people type to the shop's stand-in agent: bare answers, misspelt names, questions, other languages, nothing."""

import pytest

from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.simulated import other_messages
from cxlab.benchmarks.mmtaup2.simulated.retail import free_speech, reactions
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import phrases as shop_phrases
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
