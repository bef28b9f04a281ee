"""How simulated readers read: negation, changes of mind, forgetting, hostility - and systematically."""

import re

from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.sage.simulated import signal_reader
from cxlab.benchmarks.sage.simulated.signal_reader import FieldSignals, ReaderSkill, heat, read
from cxlab.llm.simulated import knows

MOOD = FieldSignals(
    "Mood", "Calm", True, (("Calm", ("fine by me", "not angry"), ()), ("Cross", ("angry", "outrag*"), ("bad taste",)))
)
WISH = FieldSignals("Wish", "Ask", False, (("Ask", ("advise",), ()), ("End", ("cancel*",), ("call it a day",))))
ALL = ReaderSkill("all")


def value(guide: FieldSignals, messages: list[str], skill: ReaderSkill = ALL) -> object:
    return read([guide], messages, skill)[guide.name][0]


def test_nothing_said_keeps_the_default() -> None:
    assert value(WISH, ["Hello there"]) == "Ask"
    assert read([WISH], ["Hello there"], ALL)["Wish"][1] is None


def test_negation_is_understood_or_not() -> None:
    text = ["I don't want to cancel anything, please advise me"]
    assert value(WISH, text) == "Ask"
    assert value(WISH, ["I do not want to cancel"], ReaderSkill("x", negation=False)) == "End"
    assert value(MOOD, ["I'm not angry about it"]) == "Calm"
    assert value(MOOD, ["I'm not angry about it"], ReaderSkill("x", negation=False)) == "Cross"


def test_a_negation_does_not_cross_a_comma() -> None:
    assert value(WISH, ["No, I want to cancel"]) == "End"


def test_a_change_of_mind_counts_only_for_who_takes_it_up() -> None:
    text = ["Please cancel it", "Actually, advise me first"]
    assert value(WISH, text) == "Ask"
    assert value(WISH, text, ReaderSkill("x", revision=False)) == "End"


def test_early_facts_are_forgotten_in_a_long_dialogue() -> None:
    text = ["Please cancel it", "Well", "Hm", "Go on"]
    assert value(WISH, text) == "End"
    assert value(WISH, text, ReaderSkill("x", memory=2)) == "Ask"


def test_hostility_unsettles_a_sensitive_reader() -> None:
    text = ["This is RIDICULOUS! The fee is fine by me! Do your job!"]
    assert value(MOOD, text) == "Calm"
    assert value(MOOD, text, ReaderSkill("x", hostility=0.4)) == "Cross"


def test_indirect_wordings_need_to_be_known() -> None:
    assert value(WISH, ["Let's call it a day"]) == "End"
    assert value(WISH, ["Let's call it a day"], ReaderSkill("x", indirect=0.0)) == "Ask"


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=30))
def test_what_a_reader_knows_is_fixed_and_grows_with_its_share(reader: str, wording: str) -> None:
    shares = [i / 20 for i in range(21)]
    facts = [knows(reader, wording, share) for share in shares]
    assert facts == sorted(facts)
    assert not facts[0]
    assert facts[-1]
    assert facts == [knows(reader, wording, share) for share in shares]


@given(st.lists(st.text(max_size=200), min_size=1, max_size=4))
def test_any_text_can_be_read(messages: list[str]) -> None:
    found = read([MOOD, WISH], messages, ReaderSkill("x", 0.7, 0.3, False, False, 2, 0.4))
    assert found["Mood"][0] in ("Calm", "Cross")
    assert found["Wish"][0] in ("Ask", "End")


def test_heat_counts_shouting_and_fighting_words() -> None:
    assert heat("Thank you, that is clear.") == 0
    assert heat("LISTEN! This is ridiculous.") >= 3


PARTS = [
    "not",
    "angry",
    "outrage",
    "outraged",
    "bad",
    "taste",
    "cancelled",
    "call it a",
    "day",
    "e-mail",
    "x",
    ", ",
    " ",
]
SOME = FieldSignals(
    "Some", "a", False, (("a", ("not angry", "outrag*", "e-mail"), ()), ("b", ("angry", "bad taste"), ()))
)


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.sampled_from([MOOD, WISH, SOME]))
def test_beginnings_looked_at_first_find_the_same_wordings(parts: list[str], guide: FieldSignals) -> None:
    """As trying every wording at every place does, the longest first."""
    text = " ".join(parts)
    wordings = sorted((w for _, plain, subtle in guide.options for w in (*plain, *subtle)), key=len, reverse=True)
    slow = re.compile("|".join(rf"(\b{signal_reader._parts(w)})" for w in wordings))
    quick = signal_reader._compile(guide, "all", 1.0, 1.0, True)
    assert quick.pattern is not None
    found = [(m.start(), m.group(), quick.owners[m.lastindex or 0][0]) for m in quick.pattern.finditer(text)]
    assert found == [(m.start(), m.group(), wordings[(m.lastindex or 0) - 1]) for m in slow.finditer(text)]
