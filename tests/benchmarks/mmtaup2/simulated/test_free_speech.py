"""What the stand-in agent makes of a person's own words: it understands, leaves out, or says that it did not."""

import asyncio

import pytest

from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import ConversationSettings, begin
from cxlab.benchmarks.mmtaup2.simulated.telecom import free_speech
from cxlab.benchmarks.mmtaup2.tasks import telecom_tasks
from cxlab.dialogue import Move
from cxlab.llm import load


def talk(*said: str) -> list[str]:
    """What the agent writes and does (tools in brackets) when a person says these things in turn."""
    task = telecom_tasks.compose("service", ["lock_sim_card_pin"], 1)
    talk = begin(task, ConversationSettings(), load("simulated:strong"), load("simulated:customer"))

    async def play() -> None:
        left = [each.replace("<phone>", task.known.facts["phone_number"]) for each in said]
        while talk.duet.next and (left or talk.duet.next != "customer"):
            if talk.duet.next == "customer":
                await talk.duet.take(Move(text=left.pop(0)))
            else:
                await talk.duet.step()

    asyncio.run(play())
    found = []
    for message in talk.duet.messages:
        if message.role == "agent":
            found.append(message.text or f"({', '.join(call.name for call in message.tool_calls)})")
    return found


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("it wants a PIN code", {"sim": "locked"}),
        ("Airplane mode: off\nSignal: none", {"airplane": "off", "signal": "none"}),
        ("Flight mode is on.", {"airplane": "on"}),
        ("I have four bars now", {"signal": "some"}),
        ("Mobile data is off and data roaming is on", {"data": "off", "roaming": "on"}),
        ("Preferred network: 2G only", {"mode": "old"}),
        ("It could not be sent", {}),
        ("The test picture message could not be sent.", {"mms": "no"}),
        ("Download speed: 275 Mbps, excellent", {"speed": "excellent"}),
    ],
)
def test_states_in_everyday_words_and_from_the_screen(text: str, facts: dict[str, str]) -> None:
    assert free_speech.facts_in(text) == facts


def test_a_code_that_is_wanted_is_a_locked_card() -> None:
    said = talk("My phone has no service", "<phone>", "Airplane mode: off. Signal: none.", "it wants a PIN code")
    assert said[-2] == "(transfer_to_human_agents)"
    assert not any("little pictures" in text for text in said)


def test_what_is_not_understood_is_said_and_ends_in_no_circle() -> None:
    said = talk("My phone has no service", "<phone>", "The cat sat on the mat", "Elephants dance", "Tralala la la")
    assert [text.startswith("I am sorry, I did not understand that.") for text in said[-4:-2]] == [True, True]
    assert said[-2] == "(transfer_to_human_agents)"


def test_what_is_turned_down_is_not_asked_for_again() -> None:
    said = talk("My phone has no service", "<phone>", "I won't do that", "no")
    assert sum("status bar" in text for text in said) == 1


def test_a_stand_ins_own_lines_are_never_strange() -> None:
    for text in ("What should I do?", "Yes, that is right.", "The signal is excellent.", "Oh dear, have I broken it?"):
        assert not free_speech.is_strange(text), text
    assert free_speech.is_strange("Purple elephants everywhere")
