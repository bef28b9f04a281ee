"""What people say to the phone company's stand-in agent that is no answer, and how it gets on with the matter."""

import json

import pytest

from cxlab import files
from cxlab.benchmarks.mmtaup2.simulated import other_messages
from cxlab.benchmarks.mmtaup2.simulated.telecom import phrases, reactions
from cxlab.benchmarks.mmtaup2.tasks import telecom_tasks
from cxlab.files import grammar
from tests.benchmarks.mmtaup2.person import play

TASK = telecom_tasks.compose("service", ["break_apn_settings"], 1)
PHONE = str(TASK.known.facts["phone_number"])
OPENS = ("my phone has no service", PHONE)


def talk(*said: str) -> list[str]:
    """What the agent says, and in brackets what it hands over with, when a person says these things in turn."""
    messages = play(TASK, *said).duet.messages
    calls = {call.name: call for m in messages if m.role == "agent" for call in m.tool_calls}
    handed = calls.get("transfer_to_human_agents")
    told = [m.text for m in messages if m.role == "agent" and m.text]
    return [*told, f"({json.loads(handed.arguments)['summary']})"] if handed else told


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("17 January 1951", "date of birth"),
        ("17.01.1951", "date of birth"),
        ("why do you need my birth date??", "date of birth"),
        ("what is airplane mode?", "reaches no network"),
        ("what's an APN", "from our network to the internet"),
        ("hallo, bei mir geht nichts", "English"),
        ("...", "still"),
    ],
)
def test_what_is_no_answer_gets_one_and_the_question_comes_again(text: str, answer: str) -> None:
    said = talk(*OPENS, text)[-1]
    assert answer in said
    assert "tell me what" in said
    assert "catch" not in said
    assert "understand that" not in said


def test_a_reading_of_one_thing_is_taken_and_the_other_is_asked_for() -> None:
    said = talk(*OPENS, "17 January 1951", "what is airplane mode?", "airplane mode is off")
    assert said[-1].startswith("Thank you.")
    assert "bars" in said[-1]
    assert "small card" in talk(*OPENS, "what is airplane mode?", "airplane mode is off", "no service")[-1]


def test_nobody_is_told_that_it_looks_good_or_was_gone_through_before_anything_was_seen() -> None:
    said = talk(*OPENS, *["ok"] * 8)
    assert not any("looks good" in text or "should work" in text for text in said)
    assert "could not be found out" in said[-1]


def test_who_opens_in_another_language_is_told_so() -> None:
    assert "English" in talk("hallo, ich habe kein Netz mehr")[-1]


def test_what_is_explained_is_no_request() -> None:
    for told in files.read_yaml(reactions.FILE)["terms"].values():
        assert phrases.requests_in(told) == (), told


def test_no_line_of_a_stand_in_asks_for_an_explanation_or_is_in_another_language() -> None:
    lines = [one for kinds in phrases.phrases().customer.values() for several in kinds.values() for one in several]
    said = [text for line in lines if "<" not in line for text in grammar.every(line) if text.strip()]
    assert [text for text in said if other_messages.is_foreign(text) or other_messages.is_silence(text)] == []
    assert [text for text in said if reactions.explain(text)] == []
    assert reactions.explain("What is Airplane Mode? I don't know what that is.") == ""


def test_what_is_typed_in_a_hurry_is_taken() -> None:
    said = talk("my fone has no servcie wtf", f"its 555 000 1111 no wait {PHONE}", "im at home, bars full")
    assert not any("find nobody" in text or "could not find that number" in text for text in said)
    assert "sorry for the trouble" in said[0]
    assert "status bar" not in said[-1]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("hello??", "here"),
        ("who are u", "automated assistant"),
        ("Write in Deutsch", "English"),
        ("fuck off", "sorry"),
        ("works now thx", "works again"),
    ],
)
def test_short_things_have_an_answer(text: str, answer: str) -> None:
    said = talk(*OPENS, text)[-1]
    assert answer in said
    assert "catch" not in said
    assert "understand that" not in said


@pytest.mark.parametrize("text", ["ok", "purple is a nice colour"])
def test_what_was_answered_with_nothing_is_asked_for_in_other_words_each_time(text: str) -> None:
    said = [line for line in talk(*OPENS, *[text] * 2) if phrases.requests_in(line)]
    assert [[one.name for one in phrases.requests_in(line)] for line in said] == [["check_status_bar"]] * 3
    asked = [line.split(". ", 1)[-1].removeprefix("Now ").lower() for line in said]
    assert len(set(asked)) == 3
    assert "check your status bar" in asked[0]
    assert "check your status bar" not in " ".join(asked[1:])
