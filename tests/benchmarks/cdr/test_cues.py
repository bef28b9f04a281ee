"""What people say where something happens that is seldom called by its name."""

from cxlab.benchmarks.cdr.relevance.cues import CueReader, load_concepts
from cxlab.records import Conversation, Message


def talk(name: str, *said: str) -> Conversation:
    roles = ("customer", "agent") * len(said)
    messages = tuple(Message(role=role, text=text, turn=1) for role, text in zip(roles, said, strict=False))
    return Conversation(id=name, messages=messages)


TALKS = [
    talk("asks", "Stupid question, and don't laugh: what is a fork bomb?", "A process that copies itself."),
    talk("told", "What is a fork bomb?", "No stupid question at all; never told anyone?"),
    talk("plain", "Which sizes are there?", "Three."),
    talk("rises", "Which sizes?", "Three.", "Still not there.", "Sorry.", "Fed up, this is ridiculous.", "I see."),
    talk("falls", "Fed up, this is ridiculous.", "I see.", "Still not there.", "Sorry.", "Which sizes?", "Three."),
]


def test_a_cue_of_the_side_that_is_meant_tells_more_than_one_of_the_other() -> None:
    found = CueReader(TALKS).read("Users who are ashamed or embarrassed")
    meant, anybody, _ = found.T
    assert meant[0] > 0
    assert anybody[0] == meant[0]
    assert (meant[1], meant[2], anybody[2]) == (0, 0, 0)
    assert anybody[1] > 0


def test_what_comes_late_is_told_from_what_comes_early() -> None:
    found = CueReader(TALKS).read("Users who grow angry")
    assert found[3, 0] == found[4, 0] > 0
    assert found[3, 2] == -found[4, 2] > 0


def test_a_question_without_a_known_word_and_an_empty_talk_tell_nothing() -> None:
    reader = CueReader([*TALKS, Conversation(id="empty", messages=())])
    assert not reader.read("xylophones").any()
    assert not reader.read("angry users")[-1].any()


def test_each_concept_can_be_asked_for_and_seen() -> None:
    for name, concept in load_concepts().items():
        said = " . ".join(cue.rstrip("*") for cue in concept.shown)
        reader = CueReader([talk("shown", said, "."), talk("other", "xyz", "xyz")])
        asked = concept.asked[0].rstrip("*")
        assert reader.read(asked)[0, 1] > 0, name
