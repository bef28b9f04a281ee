"""Why a conversation fits a question, and which questions are worth asking of a corpus."""

import pytest

from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.benchmarks.cdr.corpus.subset import save_subset
from cxlab.benchmarks.cdr.retrievers.explanation import explain
from cxlab.benchmarks.cdr.retrievers.suggestions import PLAIN, suggest
from cxlab.benchmarks.cdr.units import split
from cxlab.records import Conversation, Dataset, Message, Sample
from cxlab.retrieval.bm25 import tokenize
from cxlab.retrieval.conversation import read_question
from cxlab.store import write
from tests.benchmarks.cdr.conftest import CORPUS, QUERIES, stored

__all__ = ["stored"]


def test_words_are_those_that_stand_in_what_matched() -> None:
    late = CORPUS["late"]
    first, _, last = split(late, "turn")
    assert explain("users whose parcel is late", late, first).words == ("late", "parcel") or explain(
        "users whose parcel is late", late, first
    ).words == ("parcel", "late")
    assert "parcel" not in explain("users whose parcel is late", late, last).words


def test_words_of_the_other_side_are_told_apart() -> None:
    late = CORPUS["late"]
    whole = split(late, "session")[0]
    asked, answered = explain("users whose parcel is late", late, whole), explain("assistants late parcel", late, whole)
    assert (asked.side, answered.side) == ("user", "assistant")
    assert set(asked.words) == set(answered.words) == {"late", "parcel"}
    assert set(asked.of_side) | set(answered.of_side) == {"late", "parcel"}
    assert set(asked.of_side) != set(answered.of_side)


def test_what_moves_is_read_off_the_side_that_is_asked_for() -> None:
    said = ("it is fine", "I am furious", "this is annoying", "great, thanks", "ridiculous, I am furious", "sorry")
    roles = ("customer", "agent") * 3
    talk = Conversation(
        id="t",
        messages=tuple(Message(role=role, text=text, turn=1) for role, text in zip(roles, said, strict=True)),
    )
    why = explain("users who grow more frustrated over time", talk, split(talk, "session")[0])
    assert why.side == "user"
    (mood,) = why.movements
    assert (mood.dimension, mood.sign, mood.where) == ("mood", -1, "grow")
    assert [level.place for level in mood.levels] == [0, 2, 4]
    assert mood.early > mood.late
    assert explain("users whose parcel is late", talk, split(talk, "turn")[0]).movements == ()


@pytest.mark.parametrize(
    ("question", "said", "speaks"),
    [
        ("users who grow angry", "I am sick with worry, I am scared", False),
        ("users who grow worried", "I am sick with worry, I am scared", True),
        ("users who grow angry", "you are useless, I hate this", True),
        ("users who grow worried", "you are useless, I hate this", False),
        ("users who grow sad", "I am so lonely, I could cry", True),
        ("users who grow angry", "I am so lonely, I could cry", False),
        # What is of no kind is of every one.
        ("users who grow angry", "this is terrible, I am upset", True),
        ("users who grow worried", "this is terrible, I am upset", True),
        # Asked without a kind.
        ("users who grow upset", "I am sick with worry, I am scared", True),
        ("users who get angrier the longer it takes", "you are useless, I hate this", True),
    ],
)
def test_one_kind_of_low_mood_is_not_taken_for_another(question: str, said: str, speaks: bool) -> None:
    talk = talk_of("where is it?", said)
    assert explain(question, talk, split(talk, "session")[0]).speaks_for_it is speaks


def test_what_grows_and_is_there_in_the_end_is_told_once_and_by_how_much_there_is_in_the_end() -> None:
    question = "the user is more and more frustrated and angriest at the end"
    mild, strong = (
        talk_of("hello", "I see", said) for said in ("it is still not here", "useless, ridiculous, I hate this")
    )
    once = [explain(question, talk, split(talk, "session")[0]) for talk in (mild, strong)]
    assert [[(each.sign, each.where) for each in why.movements] for why in once] == [[(-1, "grow")]] * 2
    assert 0 < once[0].strength < once[1].strength == -once[1].movements[0].late


def test_one_word_in_a_long_talk_is_no_mood() -> None:
    talk = talk_of(*["where is it?"] * 7, "that is wrong")
    assert not explain("users who grow angry", talk, split(talk, "session")[0]).speaks_for_it


def talk_of(*said: str) -> Conversation:
    return Conversation(id="t", messages=tuple(Message(role="customer", text=text, turn=1) for text in said))


@pytest.mark.parametrize(
    ("question", "said", "speaks"),
    [
        ("users who grow angry", ("it is fine", "I am furious"), True),
        ("users who grow angry", ("how much do hedgehogs grow?", "and the users?"), False),
        ("users who grow angry", ("I am furious", "it is fine, great"), False),
        # What starts glad and ends indifferent is worse, and yet nobody is angry.
        ("users who grow angry", ("great, perfect, thanks a lot", "it is on the table"), False),
        ("users who are less and less angry", ("I am furious", "it is on the table"), True),
        ("angry users", ("I am furious", "it is on the table"), True),
        ("angry users", ("it is on the table", "and on the chair"), False),
        ("it ends in anger", ("it is on the table", "I am furious"), True),
        ("users who start angry", ("it is on the table", "I am furious"), False),
    ],
)
def test_only_what_goes_where_the_question_asks_speaks_for_it(
    question: str, said: tuple[str, ...], speaks: bool
) -> None:
    talk = talk_of(*said)
    (mood,) = explain(question, talk, split(talk, "session")[0]).movements
    assert mood.speaks_for_it is speaks


def test_a_talk_without_messages_of_that_side_has_no_levels() -> None:
    talk = Conversation(id="t", messages=(Message(role="agent", text="hello", turn=1),))
    (mood,) = explain("users who grow angry", talk, split(talk, "turn")[0]).movements
    assert mood.levels == ()
    assert mood.early == mood.late == 0
    assert not mood.speaks_for_it


@pytest.mark.parametrize("count", [1, 3])
def test_suggestions_are_the_queries_of_the_set_spread_over_areas(
    stored: tuple[Dataset, list[Sample]], count: int
) -> None:
    found = suggest(stored[0].id, count)
    assert len(found) == count
    assert set(found) <= set(QUERIES.values())


def test_without_queries_templates_are_suggested_whose_matter_is_talked_of(
    stored: tuple[Dataset, list[Sample]],
) -> None:
    made = save_subset(stored[0].id, "no queries", list(CORPUS), {})
    found = suggest(made.id)
    assert found
    for question in {*found} - {text for _, text in PLAIN}:
        topic = set(tokenize(read_question(question).topic))
        assert any(topic <= set(tokenize(" ".join(each.text for each in talk.messages))) | {"user", "assistant"}
                   for talk in CORPUS.values())  # fmt: skip


def test_a_question_of_moods_is_suggested_where_they_are_shown_and_not_in_other_words(
    stored: tuple[Dataset, list[Sample]],
) -> None:
    told = ["Where is my parcel?", "On its way.", "That is ridiculous.", "Sorry.", "I am furious and fed up with you."]
    calm = ["Where is my parcel?", "On its way.", "Which day is that?", "Friday.", "Fine, I will be there."]
    roles = ("customer", "agent") * 3
    corpus = {
        f"{name}{n}": Conversation(id=f"{name}{n}", messages=tuple(
            Message(role=role, text=f"{text} {n}", turn=1) for role, text in zip(roles, said, strict=False)))
        for name, said in (("worse", told), ("calm", calm)) for n in range(1 if name == "worse" else 6)
    }  # fmt: skip
    dataset, samples, tables = build("own", "imported", corpus, {}, {}, {}, config={}, licence="ours", seed=0)
    write.save_dataset(dataset, samples, tables=tables)
    found = suggest(dataset.id)
    assert "Users who grow more frustrated over time" in found
    assert not any("grief" in text or "lonely" in text or "satisfied" in text for text in found)
