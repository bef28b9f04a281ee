"""The retriever made for conversations: who says it, in which order; against BM25, which sees neither."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab import retrieval
from cxlab.errors import BadOption
from cxlab.retrieval.conversation import ConversationRetriever, State, read_question
from cxlab.retrieval.conversation.messages import read_messages
from cxlab.retrieval.conversation.retriever import ORDER, STATE
from cxlab.retrieval.conversation.signals import DIMENSIONS, read_signals

# The same sentences, the other way round: only the order tells them apart.
SOURS = (
    "user: Morning! Lovely app, quick question about the ferry pass.\nassistant: Sure, what is it?\n"
    "user: The pass shows no zone.\nassistant: Please reload it.\n"
    "user: I reloaded twice. This is ridiculous, I'm standing at the pier."
)
MENDS = (
    "user: I reloaded twice. This is ridiculous, I'm standing at the pier.\nassistant: Sure, what is it?\n"
    "user: The pass shows no zone.\nassistant: Please reload it.\n"
    "user: Morning! Lovely app, quick question about the ferry pass."
)
# The same sentences from the other mouth.
ADVISES = "user: My tomatoes curl up.\nassistant: You should water the roots in the evening and prune the lower leaves."
ADVISED = "assistant: My tomatoes curl up.\nuser: You should water the roots in the evening and prune the lower leaves."


def scores(retriever, query, *texts):
    return retriever.fit(list(texts)).scores(query).tolist()


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Conversation where user becomes more frustrated over time.", SOURS),
        ("users who grow more frustrated", SOURS),
        ("user goes from happy to angry", SOURS),
        ("talks that end in anger", SOURS),
        ("user starts angry but ends up satisfied", MENDS),
        ("the customer feels increasingly satisfied", MENDS),
        ("user grows less and less annoyed", MENDS),
        ("talks that begin with a frustrated user", MENDS),
    ],
)
def test_the_order_decides_where_all_words_are_the_same(query, first):
    second = MENDS if first is SOURS else SOURS
    found = scores(ConversationRetriever(), query, second, first)
    assert found[1] > found[0] + 0.1
    for blind in (retrieval.load("bm25"), ConversationRetriever(order=False)):
        same = scores(blind, query, second, first)
        assert same[0] == pytest.approx(same[1], abs=1e-6)


def test_vague_then_specific_and_doubt_then_trust():
    narrows = (
        "user: Something about a trip, maybe?\nassistant: Where to?\nuser: Somewhere warm or so.\nassistant: When?\n"
        "user: Lisbon, 12 May to 19 May, 2 adults, below 900 euros, hotel near Baixa."
    )
    widens = "\n".join([*narrows.split("\n")[::-1]])
    query = "Conversation where the user moves from vague to specific requests"
    found = scores(ConversationRetriever(), query, widens, narrows)
    assert found[1] > found[0] + 0.1
    warms = (
        "user: Are you sure? I doubt a bot knows tax law.\nassistant: The office prints it on page 4.\n"
        "user: Okay, I looked it up and you were right. I'll go with your figures."
    )
    cools = "\n".join(warms.split("\n")[::-1])
    query = "Conversation where user shifts from skepticism to trust."
    found = scores(ConversationRetriever(), query, cools, warms)
    assert found[1] > found[0] + 0.1


def test_who_says_it_decides():
    query = "assistant says to water the roots and prune leaves"
    found = scores(ConversationRetriever(), query, ADVISED, ADVISES)
    assert found[1] > found[0] + 0.1
    found = scores(ConversationRetriever(), query.replace("assistant", "user"), ADVISED, ADVISES)
    assert found[0] > found[1] + 0.1
    for blind in (ConversationRetriever(roles=False),):
        same = scores(blind, query, ADVISED, ADVISES)
        assert same[0] == pytest.approx(same[1], abs=1e-6)


def test_a_constant_mood_does_not_rise():
    constant = "\n".join(["user: Thanks, lovely.", "assistant: Sure."] * 3)
    rising = "user: Hm.\nassistant: Sure.\nuser: That helps.\nassistant: Sure.\nuser: Wonderful, thank you!"
    found = scores(ConversationRetriever(), "user feels increasingly satisfied", constant, rising)
    assert found[1] > found[0]


def test_growth_has_to_arrive_and_easing_has_not():
    cools = "user: Wonderful app!\nassistant: Sure.\nuser: Hm.\nassistant: Sure.\nuser: Two tickets."
    sours = "user: Hm.\nassistant: Sure.\nuser: Two tickets.\nassistant: Sure.\nuser: This is ridiculous."
    found = scores(ConversationRetriever(), "user grows more annoyed", cools, sours)
    assert found[0] <= 0.05 < found[1]
    calms = "user: This is ridiculous.\nassistant: Sure.\nuser: Hm.\nassistant: Sure.\nuser: Two tickets."
    found = scores(ConversationRetriever(), "user grows less annoyed", sours, calms)
    assert found[0] < 0 < found[1]


def test_one_word_in_common_is_little_and_all_words_are_much():
    texts = ["user: a ferry", "user: a ferry pass for one zone", "user: nothing alike"]
    found = scores(ConversationRetriever(), "ferry pass zone timetable", *texts)
    assert 1 > found[1] > 2 * found[0] > found[2] == 0


@pytest.mark.parametrize(
    ("text", "side", "states"),
    [
        ("Conversation where user becomes more frustrated over time.", "user", [("mood", -1, "grow")]),
        ("Conversation expressing distrust to assistant.", "user", [("trust", -1, "any")]),
        ("gratitude towards the agent", "user", [("mood", 1, "any")]),
        ("Assistant's answers are increasingly detailed", "assistant", [("detail", 1, "grow")]),
        ("bots that turn rude", "assistant", [("courtesy", -1, "grow")]),
        ("Conversation ending in anger.", None, [("mood", -1, "end")]),
        ("users who are not happy", "user", [("mood", -1, "any")]),
        ("dissatisfied customers", "user", [("mood", -1, "any")]),
        ("lost parcels in Lisbon", None, None),
        (
            "user goes from confused to grateful",
            "user",
            [("clarity", -1, "start"), ("mood", 1, "end"), ("mood", 1, "rise")],
        ),
        ("", None, []),
    ],
)
def test_questions_as_they_are_read(text, side, states):
    asked = read_question(text)
    assert asked.side == side
    if states is not None:
        assert list(asked.states) == [State(*each) for each in states]
    assert "conversation" not in asked.topic.split()


def test_the_topic_counts_among_all_that_grow_angry():
    other = SOURS.replace("ferry pass", "gym card").replace("pier", "door")
    found = scores(ConversationRetriever(), "users who grow more frustrated about a ferry pass", other, SOURS)
    assert found[1] > found[0]


moods = st.lists(st.sampled_from(("great, thanks", "this is awful", "the blue one", "5 May")), min_size=1, max_size=8)


@settings(max_examples=50)
@given(moods)
def test_read_backwards_every_rise_is_a_fall(said):
    def written(messages):
        return "\n".join(f"user: {text}" for text in messages)

    up, down = "user grows less annoyed", "user grows less satisfied"
    there = ConversationRetriever().fit([written(said)])
    back = ConversationRetriever().fit([written(said[::-1])])
    assert there.scores(up)[0] == pytest.approx(-back.scores(up)[0], abs=1e-5)
    assert there.scores(up)[0] == pytest.approx(-there.scores(down)[0], abs=1e-5)


@given(st.text(max_size=60))
def test_any_text_can_be_fitted_and_asked(text):
    found = ConversationRetriever().fit([text, "user: hello"]).scores(text)
    assert found.shape == (2,)
    assert np.isfinite(found).all()
    assert all(-1 <= value <= 1 for value in read_signals(text))


def test_texts_without_speakers_and_messages_of_several_lines():
    assert read_messages("just words") == [(None, "just words")]
    assert read_messages("User: one\ntwo\n\nASSISTANT: three: four") == [
        ("user", "one\ntwo"),
        ("assistant", "three: four"),
    ]
    assert read_messages("system: rules\nuser: hi") == [("user", "hi")]
    assert read_messages("") == []


@pytest.mark.parametrize(
    ("text", "dimension", "sign"),
    [
        ("I am not happy with this", "mood", -1),
        ("Thank you so much, that works!", "mood", 1),
        ("it still doesn't work!!", "mood", -1),
        ("Are you sure? I doubt it.", "trust", -1),
        ("Makes sense, I'll try that.", "trust", 1),
        ("Sorry, what do you mean?", "clarity", -1),
        ("Could you please check?", "courtesy", 1),
        ("some thing or so", "detail", -1),
    ],
)
def test_signals_of_a_message(text, dimension, sign):
    assert sign * read_signals(text)[DIMENSIONS.index(dimension)] > 0.1


def test_it_is_loaded_by_name_and_says_what_it_is_made_of():
    retriever = retrieval.load("conversation")
    with pytest.raises(BadOption, match="not fitted"):
        retriever.scores("x")
    assert retriever.fit([]).scores("x").shape == (0,)
    assert retriever.description["words"] == 1
    assert ConversationRetriever(order=False).description["order"] is False


@pytest.mark.parametrize(
    "query",
    [
        "late parcel",
        "users who grow more frustrated about a late parcel",
        "the assistant apologises",
        "users who are rude and end up glad",
    ],
)
def test_its_parts_come_to_its_scores(query: str) -> None:
    texts = [
        "user: my parcel is late\nassistant: sorry\nuser: this is ridiculous, I am furious",
        "user: I am furious about the parcel\nassistant: here it is\nuser: great, thank you",
        "user: hello\nassistant: hello",
    ]
    found = ConversationRetriever().fit(texts)
    topic, side, state, order = found.parts(query).T
    # Half of the topic is the side's; where no side is meant both are the same.
    assert (topic + side) / 2 + STATE * state + ORDER * order == pytest.approx(found.scores(query))
