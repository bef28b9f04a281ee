"""Words in which an agent adapts: found in what people really write, and not in what says nothing of the kind."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.mmtaup2.evaluation import adaptations, customer_talk
from cxlab.benchmarks.mmtaup2.evaluation.adaptations import describe, find, requests
from cxlab.benchmarks.mmtaup2.simulated.telecom.phrases import phrases as telecom_phrases
from cxlab.files import grammar


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("There's no rush at all, let me know when you're on that page.", ["patience", "steps"]),
        ("Please don't worry, you won't break anything.", ["comfort", "comfort"]),
        ("I'm so sorry about the trouble this has caused.", ["apology"]),
        ("Look for the small gear icon at the top of your screen.", ["plain", "plain"]),
        ("Could you spell that letter by letter?", ["guided"]),
        ("Roaming means that your phone uses another company's network.", ["explains"]),
        ("I need your number to find your line in our records.", ["reason"]),
        ("The quickest way is to restart it; this takes two minutes.", ["brief", "brief"]),
        ("Did I get that right?", ["checks"]),
        ("Let's start with the settings, one step at a time.", ["steps", "steps"]),
        ("Please toggle airplane mode off and check the APN settings.", []),
        ("Your order #W123 has been cancelled.", []),
        ("What is your phone number?", []),
        ("", []),
    ],
)
def test_ways_of_adapting_are_told_by_the_wording(text: str, kinds: list[str]) -> None:
    assert [one.kind for one in find(text)] == kinds


@settings(max_examples=25)
@given(st.lists(st.sampled_from([*"ab .?!'", "take your time", "don't worry", "small icon", "sorry for the wait"])))
def test_marks_lie_within_the_text_and_never_overlap(parts: list[str]) -> None:
    text = "".join(parts)
    found = find(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


def test_how_an_agent_speaks_is_counted_over_its_messages() -> None:
    assert describe([]) is None
    assert describe(["", " "]) is None
    told = describe(["Please check the APN. Could you restart it?", "Take your time."])
    assert told is not None
    assert (told.messages, told.adapted, told.requests, told.words, told.names) == (2, 0.5, 1.0, 5.5, 0.5)
    assert told.kinds == {"patience": 1}
    assert requests("It is fine. Please look at the top. Which one is it?") == [
        "please look at the top.",
        "which one is it?",
    ]
    assert adaptations.NAMES.findall("Put the SIM card in") == []


def test_a_request_in_everyday_words_is_marked_and_one_by_name_is_not() -> None:
    for name, request in telecom_phrases().requests.items():
        for line, everyday in ((request.plain, True), (request.named, False)):
            for text in map(grammar.tidy, grammar.every(line)):
                assert ("plain" in [one.kind for one in find(text)]) == everyday, (name, text)


def test_how_a_customer_speaks_is_counted_over_its_messages() -> None:
    said = ["Hello, my number is 555-123-2002.", "What is a status bar?", "I did not understand that.", ""]
    found = customer_talk.describe(said, ["555-123-2002", "Ada Moss", False, 2.0])
    assert found is not None
    assert (found.messages, found.questions, found.lost) == (3, 1, 1)
    assert (found.facts, found.told_at_first) == (2, 1)
    assert customer_talk.describe([], []) is None


def test_a_mood_that_is_not_said_is_open_and_not_none() -> None:
    found = customer_talk.describe(["I am really annoyed.", "It has been nine days. Where is it?", "Thank you."], [])
    assert found is not None
    assert found.upset == ("I am really annoyed.",)
    assert found.maybe_upset == ("It has been nine days. Where is it?",)
    # What is wrong with a phone is no mood.
    told = ["I have no service on my phone.", "It shows no service.", "There's still no service here."]
    found = customer_talk.describe([*told, "No service, no answer, shame on you."], [])
    assert found is not None
    assert found.upset == ("No service, no answer, shame on you.",)
