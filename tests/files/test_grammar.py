"""The phrase grammar: everything it can say is among its variants, and bad lines are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.files import grammar

words = st.text(alphabet="abc ", min_size=1, max_size=6)
lines = st.recursive(
    words,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda a: "(" + "|".join(a) + ")")
        | st.lists(inner, min_size=1, max_size=3).map("".join)
    ),
    max_leaves=8,
)


@given(lines, st.integers(0, 1000))
def test_what_is_said_is_one_of_all_wordings(line: str, seed: int) -> None:
    everything = grammar.every(line, 100_000)
    assert len(everything) == grammar.variants(line)
    if any(text.strip() for text in everything):
        said = grammar.say(line, np.random.default_rng(seed), {})
        assert said in {grammar.tidy(text) for text in everything}


def test_slots_multiply_and_are_filled() -> None:
    line = "(my|the) <plan> (now|)"
    assert grammar.variants(line, {"plan": 5}) == 20
    assert "Flex" in grammar.say(line, np.random.default_rng(1), {"plan": "Flex"})
    assert grammar.slot_names(line) == {"plan"}


@pytest.mark.parametrize("line", ["(a|b", "a)", "a|b", "((a)"])
def test_brackets_must_close(line: str) -> None:
    with pytest.raises(grammar.BadPhrase):
        grammar.parse(line)


def test_an_unknown_slot_is_named() -> None:
    with pytest.raises(grammar.BadPhrase, match="<plan>"):
        grammar.say("my <plan>", np.random.default_rng(0), {"price": "3"})


def test_tidy_mends_what_choices_leave() -> None:
    assert grammar.tidy("  well ,  so  it is .") == "Well, so it is."
