"""Personas, what the agent is told of them, and what a line makes of words."""

import json
import re
from typing import Any

import pytest

from cxlab.benchmarks.mmtaup2.conversation.exposure import Exposure
from cxlab.benchmarks.mmtaup2.conversation.personas import NAMES, describe, manner, persona
from cxlab.benchmarks.mmtaup2.conversation.speech import open_carrier, speakable
from cxlab.benchmarks.mmtaup2.prompts import dialogue_prompts
from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import PROMPTS, Profile, ProfileInputs
from cxlab.errors import BadOption, UnknownName
from cxlab.llm import ask, load
from cxlab.llm.base import Completion, ProviderFault, Reply, Request
from cxlab.records import Failure, Message, ToolCall


def talk(turns: int) -> list[Message]:
    said = [Message(role="agent", text="Hello", turn=0)]
    for turn in range(1, turns + 1):
        said += [
            Message(role="customer", text=f"c{turn}", turn=turn),
            Message(role="agent", text=f"a{turn}", turn=turn),
        ]
    return said


def exposure(level: int, replies: list[Any]) -> tuple[Exposure, list[ProfileInputs]]:
    asked: list[ProfileInputs] = []

    async def infer(inputs: ProfileInputs, turn: int) -> Reply[Profile]:
        asked.append(inputs)
        reply = replies.pop(0)
        return Reply(None, "", failure=reply) if isinstance(reply, Failure) else Reply(Profile(**reply), "")

    return Exposure(level, "hard", infer), asked


def test_personas_differ_in_kind_the_hard_ones_among_themselves_too() -> None:
    hard = NAMES[2:]
    ways = [set(manner(name)) for name in hard]
    assert len(hard) == 3
    assert all(one - other for one in ways for other in ways if one is not other)
    for name in hard:
        written, spoken = describe(name, voice=False), describe(name, voice=True)
        assert written != spoken
        assert written.startswith(persona(name).about)
        assert spoken.startswith(persona(name).about)
    assert describe("none", voice=True) == ""
    assert persona("none").card == {}
    assert not manner("none")
    assert set(manner("hard")).isdisjoint(manner("easy"))
    assert all(manner(name) == dict(manner(name)) for name in NAMES)
    with pytest.raises(UnknownName):
        persona("kind")


@pytest.mark.parametrize("name", NAMES)
def test_who_has_no_device_is_told_nothing_of_one(name: str) -> None:
    """The shop's customers hold nothing in their hand: no screen to retell, no switch to touch by mistake."""
    told = manner(name, device=False)
    assert set(told) <= set(manner(name))
    assert not re.search(r"\b(screen|switch|settings|pictures)\b", " ".join(told.values()))
    if name == "hard":
        assert "short_of_patience" in told
        assert "touches_the_wrong_thing" in manner(name)
        assert "touches_the_wrong_thing" not in told


async def test_exposure_0_tells_nothing_and_1_the_card() -> None:
    nothing, asked = exposure(0, [])
    assert (await nothing.refresh(talk(9), 9), nothing.note, asked) == (None, "", [])
    card, _ = exposure(1, [])
    assert "technical skill: 2 of 10" in card.note
    assert Exposure(1, "none", nothing._infer).note == ""


async def test_exposure_2_reads_16_messages_after_every_3_of_the_customer() -> None:
    found, asked = exposure(
        2, [{"age": 71, "gender": "N/A"}, {"technical_skill": 2, "more": {"hearing": "N/A", "pace": 3}}]
    )
    for turn in range(1, 7):
        await found.refresh(talk(turn), turn)
    assert [len(one.history) for one in asked] == [7, 13]
    assert [v["turn"] for v in found.versions] == [3, 6]
    assert found.versions[0]["profile"] == {"age": 71}
    assert found.note == "- technical skill: 2.0\n- pace: 3"
    long, seen = exposure(2, [{}])
    await long.refresh(talk(20), 20)
    assert [line.text for line in seen[0].history][0::15] == ["c13", "a20"]


async def test_a_profile_that_cannot_be_read_leaves_the_last_one_and_is_a_failure() -> None:
    bad = Failure(where="provider", type="timeout", message="late")
    found, asked = exposure(2, [{"age": 40}, bad, {"age": 41}])
    for turn in range(1, 10):
        await found.refresh(talk(turn), turn)
    assert len(asked) == 3
    assert [v["profile"]["age"] for v in found.versions] == [40, 41]
    assert [(f.where, f.type, f.turn) for f in found.failures] == [("agent", "profile_timeout", 6)]


@pytest.mark.parametrize("level", [3, -1, True])
def test_bad_levels(level: int) -> None:
    with pytest.raises(BadOption):
        exposure(level, [])


def test_absent_fields_are_none_and_wrong_ones_no_profile() -> None:
    given = {"age": "N/A", "technical_skill": "7", "frustration_level": "unknown", "eagerness": 8, "more": "N/A"}
    assert Profile.model_validate(given).told() == {"technical_skill": 7.0}
    with pytest.raises(ValueError, match="frustration_level"):
        Profile.model_validate({"frustration_level": 11})


async def test_the_simulated_inference_tells_a_beginner_from_an_expert_and_guesses_nothing() -> None:
    def history(*texts: str) -> ProfileInputs:
        lines = [dialogue_prompts.HistoryEntry(who="Customer", text=text) for text in texts]
        return ProfileInputs(history=lines)

    model = load("simulated:strong")
    beginner = history("What is an APN? I don't know what that is.", "Well, there is a little plane up there. Oh dear.")
    expert = history("Airplane Mode is off, and the signal is good.", "The network mode is 4G and 5G.")
    blank = history("Hello.", "Yes.")
    told = [(await ask(model, dialogue_prompts.PROFILE, one)).output for one in (beginner, expert, blank)]
    assert all(told)
    assert told[0].technical_skill < 4 < 7 < told[1].technical_skill
    assert told[0].frustration_level > told[1].frustration_level
    assert (told[2].technical_skill, told[2].age, told[2].gender) == (None, None, None)


def test_prompts_are_sound() -> None:
    assert [complaint for prompt in PROMPTS for complaint in prompt.check()] == []
    assert len(set(dialogue_prompts.hashes().values())) == len(PROMPTS)


def test_nobody_but_the_agent_reads_the_note_and_no_text_becomes_a_template() -> None:
    inputs = dialogue_prompts.AgentInputs(policy="P", note="{{ policy }}", tools=[], history=[], voice=False)
    system = dialogue_prompts.AGENT.render(inputs)[0]["content"]
    assert "{{ policy }}" in system
    assert "{{ policy }}" not in dialogue_prompts.AGENT.render(inputs.model_copy(update={"note": ""}))[0]["content"]


async def test_three_transcripts_in_text_and_in_voice() -> None:
    meant = "**Please** reboot:\n- the phone 📱\n- then [read](http://x) order #W123"
    chat = await open_carrier("text", 1).carry("agent", meant, 1)
    assert (chat.text, chat.data["wer"], chat.data["ideal"]) == (meant, 0.0, meant)
    clear = await open_carrier("voice", 1, 0.0).carry("agent", meant, 1)
    assert clear.text == clear.data["ideal"] == "Please reboot: the phone then read order #W123"
    assert clear.data["meant"] == meant
    noisy = await open_carrier("voice", 1, 0.5).carry("agent", meant, 1)
    assert noisy.data["heard"] == noisy.text != noisy.data["ideal"]
    assert noisy.data["wer"] > 0
    assert json.dumps(noisy.data)
    again, other = [await open_carrier("voice", 1, 0.5).carry(side, meant, 1) for side in ("agent", "customer")]
    assert again == noisy != other


def test_what_can_be_spoken_stays() -> None:
    assert speakable("Set app_name to 2G, #W12 costs $3.50!") == "Set app_name to 2G, #W12 costs $3.50!"
    with pytest.raises(BadOption):
        open_carrier("smoke", 1)
    with pytest.raises(BadOption):
        open_carrier("voice", 1, 1.5)


class TooLong:
    name, simulated, prices = "small", False, None

    async def complete(self, request: Request) -> Completion:
        assert [each["role"] for each in request.messages] == ["system", "user"]
        raise ProviderFault("too_long", "maximum context length")

    async def aclose(self) -> None:
        """Nothing to close."""


LOOK = Message(role="agent", text="", turn=1, tool_calls=(ToolCall(id="1", name="look", arguments="{}"),))


@pytest.mark.parametrize(
    ("said", "whose"),
    [
        (talk(1)[:2], ("provider", "too_long")),
        (talk(1), ("format", "overlong")),
        ([*talk(1)[:2], LOOK], ("format", "overlong")),
    ],
)
async def test_a_talk_that_goes_as_one_text_is_the_agents_own_once_it_holds_its_words(
    said: list[Message], whose: tuple[str, str]
) -> None:
    history = dialogue_prompts.lines(said)
    inputs = dialogue_prompts.AgentInputs(policy="Help.", note="", tools=[], history=history, voice=False, as_text=True)
    reply = await ask(TooLong(), dialogue_prompts.AGENT_JSON, inputs)
    assert reply.failure is not None
    assert (reply.failure.where, reply.failure.type) == whose
