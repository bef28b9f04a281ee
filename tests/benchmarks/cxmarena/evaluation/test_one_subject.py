"""Pairs that are of two subjects are no finding, however alike they are."""

import pytest

from cxlab.benchmarks.cxmarena.evaluation.one_subject import Subjects, state_one_property
from cxlab.benchmarks.cxmarena.evaluation.unnamed_contrasts import find_unnamed


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # Cancelling and moving: a share that is paid until a day, and a change until a day.
        ("Classic: 70 % until 14 days before departure.", "A change of Classic is possible until 2 days before."),
        ("The closing time of the desk is given as 21:00.", "For the desk, the opening time is 9:00."),
        ("We waive the cost of Night Post at £45.00.", "The delivery charge of Night Post is £24.95."),
        ("The monthly instalment for Alba is £3.42.", "Alba costs £40.99 at present."),
        # Of one French brand 11 of 17 suspected contradictions were these two properties; now all 6 of 6 are planted.
        ("Le délai de retour selon la Règle Libre est de 69 jours.", "Selon elle, le remboursement prend 5 jours."),
        ("Points are posted 5 days after the trip.", "Points can be claimed within 90 days of the trip."),
        ("Ring us within 2 hours after departure.", "The refund is 40 % until 48 hours before departure."),
        ("delivery time is 3 working days in towns.", "For Night Post, the delivery time is 11 working days."),
    ],
)  # fmt: skip
def test_two_properties_of_one_thing_do_not_contradict(first: str, second: str) -> None:
    assert not state_one_property(first, second)
    assert not state_one_property(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The ship has 8 charging points on deck.", "The ship has 4 charging points on deck."),
        ("Points can be claimed within 90 days of the trip.", "You can claim points within 30 days after it."),
        ("It is kept for 60 days and then given away.", "All things found are kept for 90 days."),
        ("A voucher lasts 24 months.", "The voucher is valid for 12 months."),
        ("The delivery charge of Night Post is £4.95.", "Postage is £5.95 for Night Post."),
        ("The desk opens at 9:00 and closes at 17:00.", "The desk is open from 8:00 on every day."),
    ],
)
def test_values_of_one_property_may_contradict(first: str, second: str) -> None:
    assert state_one_property(first, second)


TEXTS = {
    "A_1": "Night Post arrived damaged\n\nA part of Night Post is bent. Photograph the crate of Night Post.",
    "A_2": "Day Post arrived damaged\n\nA part of Day Post is bent. Photograph the crate of Day Post.",
    "A_3": "Night Post: complaints\n\nIf the crate of Night Post is bent, Night Post is sent once more.",
    "A_4": "Which post is right?\n\nOf Night Post and Day Post the crate of Day Post is the safer one.",
}


def test_articles_of_one_pattern_are_of_two_things() -> None:
    subjects = Subjects(TEXTS)
    assert subjects.differ("A_1", "A_2")
    assert subjects.are_apart("A_1", "A_2")
    assert not subjects.differ("A_1", "A_3")
    assert not subjects.differ("A_1", "A_4")


def test_a_word_of_the_property_is_shared_beside_names_and_units() -> None:
    filler = {f"B_{n}": f"Note {n}\n\nNothing about number {n} is said." for n in range(20)}
    subjects = Subjects({**TEXTS, **filler})
    assert not subjects.share_words("The load of Night Post is 140 kg.", "The weight of Night Post is 34 kg.")
    assert subjects.share_words("The load of Night Post is 140 kg.", "Night Post has a load of 90 kg.")


def test_names_that_open_a_sentence_tell_two_things_apart() -> None:
    texts = {
        "A_1": "Terms\n\nUltor comes with a long warranty of 30 months. We sell Ultor and Yorva here.",
        "A_2": "More terms\n\nYorva comes with a long warranty of 24 months. People like Yorva and Ultor.",
    }
    assert find_unnamed(texts) == []
    same = {
        id: text.replace("Ultor comes", "It comes").replace("Yorva comes", "It comes") for id, text in texts.items()
    }
    assert len(find_unnamed(same)) == 1
