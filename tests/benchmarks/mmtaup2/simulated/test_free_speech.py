"""What the stand-in agent makes of a person's own words: it understands, leaves out, or says that it did not."""

import pytest

from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.simulated.retail import free_speech as shop_speech
from cxlab.benchmarks.mmtaup2.simulated.retail import phrases
from cxlab.benchmarks.mmtaup2.simulated.telecom import free_speech, reactions
from cxlab.benchmarks.mmtaup2.simulated.telecom.phrases import phrases as telecom_phrases
from cxlab.benchmarks.mmtaup2.tasks import telecom_tasks
from cxlab.files import grammar
from tests.benchmarks.mmtaup2.person import agent_moves


def talk(*said: str) -> list[str]:
    """What the agent of the phone company writes and does when a person says these things in turn."""
    return agent_moves(telecom_tasks.compose("service", ["lock_sim_card_pin"], 1), *said)


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
        ("it's asking me for some pin number", {"sim": "locked"}),
        ("it can't find a sim card", {"sim": "missing"}),
        ("there's a wee aeroplane next to the battery", {"airplane": "on"}),
        ("I don't see any aeroplane up there", {"airplane": "off"}),
        ("zero bars, just an x", {"signal": "none"}),
        ("says 4 bars and LTE", {"signal": "some"}),
        ("the mobile data thing is switched off", {"data": "off"}),
        ("mobile data's on, roaming isn't", {"data": "on", "roaming": "off"}),
        ("yeah data saver was on", {"saver": "on"}),
        ("no there's no vpn on it", {"vpn": "off"}),
        ("it's stuck on 3g", {"mode": "old"}),
        ("wifi calling is enabled", {"wificalling": "on"}),
        ("turned it off and back on like you said", {"rebooted": "yes"}),
        ("the picture went through this time", {"mms": "yes"}),
        ("test says 2 megabits, that's rubbish", {"speed": "slow"}),
        ("I'm in Spain on holiday till sunday", {"abroad": "yes"}),
        ("I'm sat at home on the sofa", {"abroad": "no"}),
        ("I'm not at home this week", {"abroad": "yes"}),
        ("storage is allowed but sms isn't", {"storage": "granted", "sms": "missing"}),
    ],
)
def test_states_in_everyday_words_and_from_the_screen(text: str, facts: dict[str, str]) -> None:
    assert free_speech.facts_in(text) == facts


def test_a_bare_answer_is_read_by_what_was_asked() -> None:
    asked = "Please check whether Data Saver is on."
    assert free_speech.facts_in("no", asked) == {"saver": "off"}
    assert free_speech.facts_in("yeah it is", asked) == {"saver": "on"}
    assert free_speech.facts_in(
        "nope says not delivered", "Please try to send an MMS and tell me whether it goes out."
    ) == {"mms": "no"}
    assert free_speech.facts_in("no", "Please turn Mobile Data on.") == {}


@pytest.mark.parametrize("text", ["not touching that, sorry", "I'd rather you did that from your end", "no way"])
def test_a_refusal_in_any_words(text: str) -> None:
    assert free_speech.refuses(text)


def test_a_thing_that_is_asked_for_has_a_reason_of_its_own() -> None:
    said = talk(
        "my phone has no service", "<phone>", "My screen says: No Service, airplane symbol, battery 74%", "why?"
    )
    assert "Airplane Mode off" in said[-2]
    assert "stands in the way" in said[-1] or "keeps it from working" in said[-1]


SHOP = tasks.make("retail", 1, 2)[1]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Are you a robot?", "I am the shop's automated assistant."),
        ("No, I won't do that", "Without it I cannot find the order."),
        ("I want a human", "I can do most of this with you myself"),
        ("How long does the refund take?", "within 5 to 7 business days"),
        ("why do you need to know that", "nobody else is to see them"),
    ],
)
def test_the_shop_answers_what_is_said_beside_the_matter_and_goes_on(text: str, answer: str) -> None:
    said = agent_moves(SHOP, "hi, i want to return something", text)
    assert answer in said[-1]
    assert said[-1].endswith("?")


def test_who_was_told_why_is_answered_in_what_it_says_next() -> None:
    said = agent_moves(SHOP, "hi, i want to return something", "why do you need to know that", "I want a human")
    assert "nobody else is to see them" in said[-2]
    assert "I can do most of this with you myself" in said[-1]


def test_who_asks_the_shop_for_a_person_twice_is_handed_over_and_told_so_once() -> None:
    said = agent_moves(SHOP, "hi, i want to return something", "I want a human", "get me a person, please", "hello?")
    assert "(transfer_to_human_agents)" in said
    assert sum("handing you over" in one for one in said) == 1
    assert "nothing more that I can do" in said[-1]


WHO = "Could you tell me the e-mail address of your account, or your first and last name with your zip code?"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hi i'd like to send a lamp back", "return"),
        ("can I get my money back for the kettle", "return"),
        ("can you cancel my last order, I clicked twice by accident", "cancel"),
        ("call the whole thing off", "cancel"),
        ("wrong size, I need an L instead of M", "exchange"),
        ("these boots are too small", "exchange"),
        ("I've moved house, the parcel should go to 12 Elm Street, Dunmere, OH 73570, USA", "address"),
        ("where is my stuff", "track"),
        ("my order never came", "track"),
        ("the box was empty when it came", "parcel"),
        ("what's the cheapest tent you've got?", "cheapest"),
        ("get me a manager", "human"),
    ],
)
def test_what_somebody_wants_of_a_shop_in_words_of_their_own(text: str, kind: str) -> None:
    assert [matter.kind for matter in phrases.matters_in([(0, shop_speech.put_plainly(text, ""))])] == [kind]


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        ("selma dobbs, 81674", WHO, "My name is Selma Dobbs and my zip code is 81674."),
        ("5963952", "Could you tell me the order number?", "It is order #W5963952."),
        ("order number's 5963952", "", "It is order #W5963952."),
        ("don't need it any longer", "May I ask for the reason why?", "It is no longer needed."),
        ("clicked the wrong button", "May I ask for the reason why?", "I ordered it by mistake."),
        ("put it back on the card I used", "Where should the refund go?", "With the original payment method."),
        ("go on then", "I would cancel it. Do you confirm that?", "Yes, go ahead."),
    ],
)
def test_an_answer_is_put_into_words_that_the_shops_agent_knows(text: str, asked: str, said: str) -> None:
    assert shop_speech.put_plainly(text, asked).endswith(said)
    assert shop_speech.put_plainly(said, asked) == said


def test_a_shop_customer_in_own_words_is_served_and_what_has_nothing_to_do_with_it_is_said() -> None:
    task = next(each for each in tasks.make("retail", 1, 40) if each.id.startswith("[retail]cancel_order#"))
    facts = task.known.facts
    said = agent_moves(
        task, "hey, i want to call my order off", "my dog ate the fence", f"{facts['name'].lower()}, {facts['zip']}",
        f"{facts['order_id'].removeprefix('#W')}", "clicked it by accident", "go on then",
    )  # fmt: skip
    assert sum(text.startswith("I am sorry, I did not understand that.") for text in said) == 1
    assert "(cancel_pending_order)" in said
    left = agent_moves(
        task, "cancel my order please", f"{facts['name']}, {facts['zip']}", facts["order_id"], "it was a mistake",
        "no, don't bother",
    )  # fmt: skip
    assert "(cancel_pending_order)" not in left
    assert any("as it is" in text for text in left)


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
    assert sum("status bar" in text for text in said) == 2  # once more, with what it is for


def test_a_stand_ins_own_lines_are_never_strange() -> None:
    for text in ("What should I do?", "Yes, that is right.", "The signal is excellent.", "Oh dear, have I broken it?"):
        assert not free_speech.is_strange(text), text
    assert free_speech.is_strange("Purple elephants everywhere")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Why do you need to know that?", "why"),
        ("What will happen to my contacts if I do that?", "harm"),
        ("Are you a robot?", "robot"),
        ("How long will this take?", "long"),
        ("Does it cost anything?", "cost"),
        ("I want to speak to a human", "human"),
        ("You already asked me that", "again"),
        ("No, I won't do that, the last time I lost everything.", "refusal"),
        ("This is ridiculous, cancel my contract!", "out"),
        ("You people are useless", "upset"),
        ("I don't know where that is", "how"),
        ("which bar?", "how"),
        ("Hang on, let me find the phone", "wait"),
        ("thanks, bye", "bye"),
        ("Is it raining in your town?", "question"),
        ("There is an aeroplane at the top", ""),
        ("My number is 555-123-4567", ""),
    ],
)
def test_what_a_person_says_beside_the_matter_is_known_for_what_it_is(text: str, kind: str) -> None:
    assert reactions.find(text) == kind


def test_nothing_that_a_stand_in_says_is_beside_the_matter() -> None:
    lines = [one for kinds in telecom_phrases().customer.values() for several in kinds.values() for one in several]
    said = [text for line in lines if "<" not in line for text in grammar.every(line) if text.strip()]
    assert len(said) > 100
    assert [text for text in said if reactions.find(text) or reactions.says_done(text)] == []


def test_a_question_is_answered_and_the_talk_goes_on_with_what_was_asked() -> None:
    said = talk("My phone has no service.", "<phone>", "Why do you need to know that?")
    assert said[-1].startswith(("It tells me", "From that I can see"))
    assert "status bar" in said[-1]
    assert "catch" not in said[-1]
    assert "understand" not in said[-1]


def test_who_turns_a_thing_down_is_told_what_it_is_for_and_then_left_alone() -> None:
    said = talk("My phone has no service.", "<phone>", "No, I won't do that.", "I said no, I won't look at it.")
    told = next(text for text in said if "nothing that cannot be put back" in text)
    assert "status bar" in told
    assert "doing well" not in told
    # Without it nothing more can be found: a colleague takes over, and nobody asks a third time.
    assert said[said.index(told) + 1] == "(transfer_to_human_agents)"
    pictures = telecom_tasks.compose("mms", ["bad_wifi_calling"], 1)
    said = agent_moves(pictures, "Pictures do not go out.", "<phone>", "No, I won't look.", "I won't look at that.")
    assert said[-1].startswith("All right, we leave that.")
    assert "status bar" not in said[-1]


def test_a_screen_read_out_symbol_by_symbol_is_understood() -> None:
    said = talk("My phone has no service.", "<phone>", "It says No Service, airplane symbol, battery 74%, Wi-Fi off.")
    assert "Airplane Mode off" in said[-1]
    after = talk("My phone has no service.", "<phone>", "There is an airplane symbol.", "ok, I did that")
    assert "status bar" in after[-1]


def test_who_wants_a_person_gets_one_when_it_says_so_again() -> None:
    said = talk("My phone has no service.", "<phone>", "Let me speak to a manager.", "Let me talk to a human, please.")
    assert "with you myself" in said[-3]
    assert said[-2:] == ["(transfer_to_human_agents)", said[-1]]
    assert "handing you over" in said[-1]


def test_a_number_that_nobody_has_is_said_to_be_so_at_once() -> None:
    said = talk("My phone has no service, my number is 555-999-0000, and you people are useless.")
    assert said[-1].startswith("I am sorry")
    assert "that number" in said[-1]


def test_who_talks_on_after_being_handed_over_does_not_hear_the_same_again() -> None:
    want = "Let me talk to a human, please."
    said = talk("My phone has no service.", "<phone>", want, want, "Hello? Are you there?")
    assert "handing you over" in said[-2]
    assert "will be with you" in said[-1]
