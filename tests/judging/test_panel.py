"""A panel decides with a quorum, and says whose doing it was where it had none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.judging import find_silence, quorum, tally
from cxlab.records import Vote


def vote(judge: str, failure: str | None = None, turn: int = 1) -> Vote:
    return Vote(attempt_id="a", turn=turn, judge=judge, valid=failure is None, raw="", failure=failure)


@pytest.mark.parametrize(
    ("values", "asked", "unread", "winner", "split"),
    [
        (["x", "x", "y"], 3, 0, "x", "majority"),
        (["x", "x"], 3, 1, "x", "unanimous"),
        (["x"], 3, 2, None, "no quorum"),
        (["x"], 2, 1, None, "no quorum"),
        (["x"], 1, 0, "x", "unanimous"),
        ([], 3, 3, None, "none"),
        (["x"], 3, 0, "x", "unanimous"),  # two answered outside the options: that is no silence
    ],
)
def test_a_decision_needs_an_answer_of_most_of_those_asked(
    values: list[str], asked: int, unread: int, winner: str | None, split: str
) -> None:
    found = tally(values, asked, unread)
    assert (found.winner, found.split) == (winner, split)


@given(st.lists(st.sampled_from("abc"), max_size=9), st.integers(0, 9))
def test_a_panel_has_a_winner_only_with_more_than_half(values: list[str], unread: int) -> None:
    asked = len(values) + unread
    if tally(values, asked, unread).winner is not None:
        assert 2 * len(values) > asked
        assert len(values) >= quorum(asked)


def test_silence_is_the_providers_or_the_judges_own() -> None:
    assert find_silence([vote("a"), vote("b"), vote("c", "provider:connection")]) is None
    said = find_silence([vote("a"), vote("b", "provider:auth"), vote("c", "format:invalid")])
    assert said == ("no quorum: 2 of 3 judges gave no verdict (key refused)", "provider")
    assert find_silence([vote("a", "format:invalid")]) == ("no quorum: 1 of 1 judges gave no verdict", "judge")
    assert find_silence([vote("a"), vote("a", "provider:timeout", turn=2)]) is not None
    assert find_silence([]) is None
