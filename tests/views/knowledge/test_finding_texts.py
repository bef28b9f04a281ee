"""How a finding of two passages reads in one cell of a table."""

from hypothesis import given
from hypothesis import strategies as st

from cxlab.views.knowledge.suspicions import cut_to_difference

WORDS = st.lists(st.sampled_from(["check", "in", "closes", "60", "40", "minutes", "x" * 70]), max_size=25).map(" ".join)


def test_passages_are_cut_to_where_they_differ() -> None:
    one = "Check-in closes on Harwich–Cuxhaven 60 minutes before departure for vehicles, and on foot 20 minutes before."
    other = "Check-in closes on Harwich–Cuxhaven 45 minutes before departure."
    assert cut_to_difference(one, other) == (
        "… closes on Harwich–Cuxhaven 60 minutes before …",
        "… closes on Harwich–Cuxhaven 45 minutes before …",
    )
    assert cut_to_difference("It has 8 points.", "It has 4 points.") == ("It has 8 points.", "It has 4 points.")
    # Where the figures differ, they are seen, however far into the sentence they stand.
    early, late = (
        "Points can be claimed within 30 days.",
        "If it was forgotten, points can still be claimed by anybody within 90 days.",
    )
    assert cut_to_difference(early, late) == ("… be claimed within 30 days.", "… by anybody within 90 days.")
    assert cut_to_difference("Open", "Open on Sundays") == ("Open", "Open on Sundays")


@given(WORDS, WORDS)
def test_no_side_is_longer_than_a_cell_and_what_differs_is_in_it(one: str, other: str) -> None:
    for text, whole in zip(cut_to_difference(one, other), (one, other), strict=True):
        assert len(text) <= 2 + 48 + 2
        assert text.removeprefix("… ").removesuffix(" …") in whole
