"""The reader of dialogue acts on conversations that were written by hand for other rooms.

How they were labelled and what the first runs gave: tests/data/tau_bench_acts.md. Parts A and C were mended by, B was
measured once and then mended by, too, D was measured once and nothing mended after it but one wording.
"""

import pytest

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from tests.benchmarks.mmtaup2.acts_table import count, of_writers


@pytest.mark.parametrize(
    ("act", "due", "found", "open_share"),
    # What is labelled plainly, how much of that is found at least, and how much of all may be left open.
    [
        ("request", 15, 9, 0.28), ("clarification", 110, 62, 0.33), ("correction", 20, 13, 0.30),
        ("frustration", 64, 26, 0.45),
    ],
)  # fmt: skip
def test_what_is_decided_is_right(act: str, due: int, found: int, open_share: float) -> None:
    seen = count(one for one in of_writers("ABCD") if one.act == act)[act]
    right, wrong, missed, undecided = (seen[one] for one in ((True, True), (True, False), (False, True), (None, True)))
    assert right + missed + undecided == due
    assert right >= found
    assert wrong <= 0.05 * (right + wrong), seen
    assert missed <= 0.08 * (right + missed), seen
    assert undecided + seen[None, False] <= open_share * seen.total(), seen


@pytest.mark.parametrize(
    "text",
    [
        "The price is 40. No, sorry, 45.",
        "We come on Monday... no, tell a lie, Tuesday.",
        "I asked for the blue one, not the red one.",
        "There's no such street in this town.",
    ],
)
def test_what_is_taken_up_again_in_the_same_breath_is_a_correction(text: str) -> None:
    assert dialogue_acts.correction(text, "Noted. Where shall it go?") is True


def test_what_is_put_right_in_the_same_breath_costs_no_message() -> None:
    assert dialogue_acts.repairs_itself("The price is 40. No, sorry, 45.")
    assert not dialogue_acts.repairs_itself("No, sorry, I meant 45.")
    assert not dialogue_acts.repairs_itself("That is wrong.")


def test_a_code_put_right_in_a_later_message_costs_one() -> None:
    assert not dialogue_acts.repairs_itself("Oh, let me find my glasses. No, it is 555-221-6727.")
    assert dialogue_acts.repairs_itself("It is 555-221-6772. No, wait, it is 555-221-6727.")


def test_a_no_to_what_was_stated_corrects_and_to_what_was_asked_answers() -> None:
    assert dialogue_acts.correction("It was not a parcel.", "Your parcel came back to us.") is True
    assert dialogue_acts.correction("It was not a parcel.", "Was it a parcel or a letter?") is not True
    assert dialogue_acts.correction("Even if it is not a parcel.", "Your parcel came back to us.") is not True


@pytest.mark.parametrize("text", ["no", "I did not understand that.", "Sorry, I don't know."])
def test_who_is_lost_corrects_nothing(text: str) -> None:
    assert dialogue_acts.correction(text, "What is the number of your order?") is False


@pytest.mark.parametrize(
    ("text", "annoyed"),
    [
        ("Your service is awful.", True),
        ("That photograph of mine is an awful photograph.", None),
        ("Are you even reading this?", True),
        ("Two weeks and not one word.", None),
        ("Great job, the third one is broken as well.", None),
        ("ALL of them?", None),
        ("Thank you, that is all.", False),
        ("The number is 4711.", False),
    ],
)
def test_only_what_shows_no_sign_of_annoyance_is_calm(text: str, annoyed: bool | None) -> None:
    assert dialogue_acts.frustration(text) is annoyed


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Please tell me your name.", True),
        ("Please tell your neighbour that the parcel is here.", False),
        ("Shall I repeat the number?", False),
        ("Then choose your seat with care.", None),
    ],
)
def test_an_instruction_asks_for_no_fact(text: str, asks: bool | None) -> None:
    found = dialogue_acts.clarification(text)
    assert found is True if asks else found is not True
