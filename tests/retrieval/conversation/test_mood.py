"""The mood of a message, as it is given as evidence: what is cross, and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.cdr.corpus import load_written
from cxlab.benchmarks.cdr.retrievers.explanation import LEAST, asks_for_states_alone, explain
from cxlab.benchmarks.cdr.units import split
from cxlab.retrieval.conversation.mood import read_mood

ANGER = frozenset({"anger"})
# Messages of the conversations written by hand in which somebody is angry, by a reader of all of them: conversation →
# places. Those in doubt were left out on both sides.
ANGRY = {
    "finance_05": {4, 6, 8}, "travel_01": {4, 6}, "shopping_03": {4, 6}, "law_06": {0, 2}, "law_04": {6},
    "health_07": {2, 4}, "law_03": {0}, "people_09": {0, 2}, "shopping_04": {0, 2}, "travel_02": {0, 2},
    "computers_05": {0},
}  # fmt: skip
DOUBTFUL = {
    ("finance_02", 6),
    ("law_03", 2),
    ("law_03", 4),
    ("jobs_08", 0),
    ("arts_04", 6),
    ("travel_02", 4),
    ("law_06", 6),
}


@pytest.mark.parametrize(
    "text",
    [
        "This is ridiculous, I have been on hold since nine.",
        "I am NOT happy. Nobody told me about the fee!",
        "You still owe me an answer and I am fed up!",
        "That is not good enough, and you know it.",
        "Are you reading what I send you? Third time!",
        "I'm really upset about the late train.",
    ],
)
def test_anger_that_is_said_is_read(text):
    assert read_mood(text, ANGER) <= -LEAST


@pytest.mark.parametrize(
    "text",
    [
        "Thank heavens! Do I have to pay it again?",
        "And if it fails again?",
        "How many nights was it again?",
        "Go on, tell me the worst.",
        "I had the wrong size, could you swap it?",
        "Is it wrong to open the parcel for my neighbour?",
        "No worries, I'm not angry at all.",
        "My sister was furious, she wanted the aisle.",
        "I'm afraid I don't have the number here.",
        "We had an awful accident on the bridge.",
        "I played on that awful old piano and they clapped!",
    ],
)
def test_what_only_looks_like_anger_is_none(text):
    assert read_mood(text, ANGER) > -LEAST


def test_kinds_are_told_apart_and_a_good_mood_is_read():
    worried = "I'm worried that the letter got lost."
    assert read_mood(worried, frozenset({"fear"})) <= -LEAST < read_mood(worried, ANGER)
    assert read_mood(worried) <= -LEAST
    assert read_mood("Phew, what a relief, thank you so much!") > 0.5
    assert read_mood("The parcel is at the depot.") == 0


def test_anger_in_the_conversations_written_by_hand():
    found, right = [], 0
    conversations = load_written().conversations
    for name, talk in conversations.items():
        for place, said in enumerate(talk.messages):
            if said.role == "customer" and (name, place) not in DOUBTFUL and read_mood(said.text, ANGER) <= -LEAST:
                found.append((name, place))
                right += place in ANGRY.get(name, ())
    assert right >= 0.75 * len(found), [each for each in found if each[1] not in ANGRY.get(each[0], ())]
    assert right >= 0.6 * sum(map(len, ANGRY.values()))


@given(st.text(max_size=80), st.sampled_from([frozenset(), ANGER]))
def test_any_text_has_a_mood_within_the_scale(text, kinds):
    assert -1 <= read_mood(text, kinds) <= 1


def test_questions_for_a_mood_alone_have_no_topic():
    assert asks_for_states_alone("angry customers")
    assert asks_for_states_alone("Frustrated customers")
    assert not asks_for_states_alone("customers angry about baggage fees")
    assert not asks_for_states_alone("refunds")


def test_a_mood_is_given_as_found_with_a_message_that_shows_it():
    talks = load_written().conversations
    why = {name: explain("angry customers", talks[name], split(talks[name], "session")[0]) for name in talks}
    # A trouble, a question and an old piano: nobody is angry there.
    for name in ("jobs_04", "travel_07", "arts_03", "business_06"):
        assert not why[name].speaks_for_it, name
    for each in why.values():
        (mood,) = each.movements
        assert mood.speaks_for_it == any(level.value <= -LEAST for level in mood.levels)
    first = sorted((name for name in why if why[name].speaks_for_it), key=lambda name: -why[name].strength)[:5]
    assert set(first) <= ANGRY.keys()
