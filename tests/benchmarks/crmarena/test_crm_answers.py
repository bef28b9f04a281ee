"""Scores beside their definition: written out by hand, and by a second implementation."""

import math
import re
import string
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.crmarena.answers import (
    STATES,
    best_constant,
    exact,
    exact_extracted,
    extract,
    f1,
    pass_k,
    tokens,
)
from cxlab.benchmarks.crmarena.organisation.ids import make_id
from cxlab.benchmarks.crmarena.tasks import QUERIES_PER_TASK, TASKS

AGENT, OTHER = make_id("005", 7), make_id("005", 8)


@pytest.mark.parametrize(
    ("predicted", "gold", "value"),
    [
        ("GA", "GA", 1),
        ("ga", "GA", 0),
        (" GA", "GA", 0),
        ("None", None, 1),
        ("none", None, 0),
        ("", None, 0),
        (None, None, 0),
        (None, "None", 0),
        (None, "GA", 0),
        ("GA", None, 0),
        ("None", "None", 1),
    ],
)
def test_exact_match_is_equality(predicted: str | None, gold: str | None, value: int) -> None:
    assert exact(predicted, gold) == value


@pytest.mark.parametrize(
    ("predicted", "gold", "value"),
    [
        ("Within 30 days.", "within 30 days", 1),
        ("The return_policy, an hour", "return policy hour", 1),
        ("30 days", "within 30 days", 0.8),
        ("no no yes", "no yes yes", 2 / 3),
        ("don't", "don t", 1),
        ("", "", 0),
        ("the", "a", 0),
        (None, "x", 0),
        ("None", None, 1),
    ],
)
def test_f1_by_hand(predicted: str | None, gold: str | None, value: float) -> None:
    assert f1(predicted, gold) == pytest.approx(value)


TEXTS = st.lists(st.sampled_from(["a", "The", "x_y", "don't", "30", "days,", "‘q’", "be—fore", "É"]), max_size=8).map(
    " ".join
)


@given(TEXTS, TEXTS)
def test_f1_beside_a_second_implementation(one: str, other: str) -> None:
    def split(text: str) -> list[str]:
        text = "".join(" " if c in string.punctuation + "‘’´`" else c for c in text.replace("_", " ").lower())
        return [word for word in re.split(r"\s+", text) if word and word not in ("a", "an", "the")]

    left, right = split(one), split(other)
    assert tokens(one) == left
    rest, common = list(right), 0
    for word in left:
        if word in rest:
            rest.remove(word)
            common += 1
    wanted = 2 * common / (len(left) + len(right)) if common else 0
    assert f1(one, other) == pytest.approx(wanted)
    assert f1(one, other) == pytest.approx(f1(other, one))


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        (AGENT, "user", AGENT),
        (f"The agent is **{AGENT}**.", "user", AGENT),
        (f"'{AGENT[:15]}'", "user", AGENT),
        (f"['{AGENT}']", "user", AGENT),
        (f"{AGENT}, that is {AGENT}", "user", AGENT),
        (f"{AGENT} or {OTHER}", "user", None),
        (AGENT, "product", None),
        (f"Case {make_id('500', 1)} goes to {AGENT}", "user", AGENT),
        ("None", "user", "None"),
        ("none", "user", "None"),
        ("`None`", "user", "None"),
        ("The answer is None.", "user", "None"),
        ("none of them was there", "user", None),
        ("", "user", None),
        (None, "user", None),
        ("I could not find it", "user", None),
        ("in march", "month", "March"),
        ("It may be June", "month", "June"),
        ("May", "month", "May"),
        ("May or June", "month", None),
        ("Sept. 2021", "month", "September"),
        ("Sep, with 12 cases", "month", "September"),
        ("2021-09", "month", "September"),
        ("2021-09-01", "month", "September"),
        ("Mar or Apr", "month", None),
        ("mar", "month", None),
        ("Case 2021-13", "month", None),
        ("GA", "state", "GA"),
        ("The state is Georgia (GA).", "state", "GA"),
        ("It is in west virginia", "state", "WV"),
        ("OR", "state", "OR"),
        ("GA or TX", "state", None),
        ("me", "state", None),
        (" Within 30 days. ", "text", "Within 30 days."),
    ],
)
def test_answers_are_taken_out(text: str | None, kind: str, found: str | None) -> None:
    assert extract(text, kind) == found


def test_the_extracted_answer_is_scored() -> None:
    assert exact_extracted(f"Agent {AGENT}", AGENT, "user") == 1
    assert exact_extracted("The answer is None.", None, "user") == 1
    assert exact_extracted(None, None, "user") == 0
    assert exact_extracted("", None, "user") == 0
    assert exact_extracted(f"{AGENT} or {OTHER}", AGENT, "user") == 0


@given(st.text(max_size=40), st.sampled_from(sorted({task.answer for task in TASKS.values()})))
def test_what_is_extracted_is_extracted_again(text: str, kind: str) -> None:
    found = extract(text, kind)
    assert found is None or extract(found, kind) == found or kind == "text"


def test_fifty_states_and_the_capital() -> None:
    assert len(STATES) == len(set(STATES.values())) == 51


@given(st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=1, max_size=3), st.integers(1, 7))
def test_pass_k_is_the_share_of_draws_that_all_pass(trials: list[list[bool]], k: int) -> None:
    draws = [[all(chosen) for chosen in combinations(each, k)] for each in trials]
    wanted = sum(sum(each) / len(each) for each in draws) / len(draws)
    assert pass_k({str(n): each for n, each in enumerate(trials)}, k) == pytest.approx(wanted)


def test_constant_answers() -> None:
    assert best_constant(["GA", None, None, "TX"]) == ("None", 0.5)
    assert math.isnan(best_constant([])[1])


def test_the_tasks_are_the_papers() -> None:
    assert [task.short for task in TASKS.values()] == ["NCR", "HTU", "TCU", "NED", "PVI", "KQA", "TII", "MTA", "BRI"]
    assert sorted(task.first for task in TASKS.values()) == [n * QUERIES_PER_TASK for n in range(9)]
    assert {task.short for task in TASKS.values() if task.unanswerable} == {"HTU", "TCU", "NED", "PVI", "TII"}
