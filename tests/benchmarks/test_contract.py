"""The contract: facets with usable names, and one verdict for every attempt whatever its benchmark declares."""

from datetime import UTC, datetime

import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import RESERVED, Facet, Scored, Task, default_verdict
from cxlab.errors import BadOption
from cxlab.read import view
from cxlab.records import Attempt, Failure, Score, Verdict, Vote
from cxlab.store import tables

TASK = Task("talk", "Talk", "points")


def attempt(outcome: str = "ok", *failures: Failure) -> Attempt:
    return Attempt.model_validate(
        {"id": "a", "run_id": "r", "sample_id": "s", "trial": 1, "outcome": outcome, "failures": failures,
         "started": datetime(2026, 1, 1, tzinfo=UTC)}
    )  # fmt: skip


def scores(*values: float | None, metric: str = "points", turn: int | None = None, reason: str | None = None) -> Scored:
    rows = (Score(attempt_id="a", turn=turn, metric=metric, value=value, reason=reason) for value in values)
    return Scored(tuple(rows))


@pytest.mark.parametrize("name", ["run", "model", "verdict", "page", "q", "a-b", "1st", "", "two words"])
def test_a_facet_takes_no_name_that_addresses_or_tables_use(name: str) -> None:
    with pytest.raises(BadOption, match="take a plain word"):
        Facet(name, "Title")


def test_all_keys_of_addresses_and_columns_of_attempts_are_reserved() -> None:
    kept = {"stage", "turn"} | {name for name in tables.ATTEMPTS if name in ("model", "task", "outcome", "benchmark")}
    assert kept <= RESERVED
    assert view.KEYS <= RESERVED
    for room in REGISTRY.values():
        assert len({facet.id for facet in room.facets}) == len(room.facets)


@pytest.mark.parametrize(
    ("task", "given", "value", "reason"),
    [
        (TASK, scores(100.0), "passed", ""),
        (TASK, scores(99.0), "failed", "points 99, 100 needed"),
        (TASK, scores(99.0, reason="one slip"), "failed", "one slip"),
        (Task("talk", "", "points", pass_from=60.0), scores(60.0), "passed", ""),
        (Task("talk", "", "points", higher_is_better=False), scores(0.0), "passed", ""),
        (Task("talk", "", "points", higher_is_better=False), scores(0.5), "failed", "points 0.5, 0 needed"),
        (Task("talk", "", "points", higher_is_better=False, pass_from=2.0), scores(1.0), "passed", ""),
        (Task("talk", "", "shown", decided_by="points"), scores(100.0), "passed", ""),
        # The mean over turns counts only where nothing is said of the whole.
        (Task("talk", "", "points", pass_from=70.0), scores(60.0, 80.0, turn=1), "passed", ""),
    ],
)
def test_the_threshold_decides(task: Task, given: Scored, value: str, reason: str) -> None:
    found = default_verdict(task, attempt(), given)
    assert (found.value, found.reason, found.attempt_id) == (value, reason, "a")
    assert found.owner == ("" if value == "passed" else "agent")


FAULT = Failure(where="provider", type="timeout", message="late")
UNREAD = Failure(where="format", type="invalid", message="no JSON")
VOTED = Scored(votes=(Vote(attempt_id="a", turn=1, judge="j", valid=False, raw=""),))


@pytest.mark.parametrize(
    ("task", "tried", "given", "wanted"),
    [
        (TASK, attempt("format", UNREAD), Scored(), ("failed", "unreadable reply", "agent")),
        (TASK, attempt("provider", FAULT), Scored(), ("unscored", "provider: no answer in time", "provider")),
        (TASK, attempt("provider"), scores(None), ("unscored", "provider fault", "provider")),
        (TASK, attempt(), scores(None, reason="no gold"), ("unscored", "no gold", "label")),
        (TASK, attempt(), VOTED, ("unscored", "no points", "judge")),
        (TASK, attempt(), scores(100.0, metric="other"), ("unscored", "no points", "label")),
        (None, attempt(), scores(100.0), ("unscored", "the task is not declared", "label")),
    ],
)
def test_without_a_value_the_reason_and_its_owner_are_told(
    task: Task | None, tried: Attempt, given: Scored, wanted: tuple[str, str, str]
) -> None:
    found = default_verdict(task, tried, given)
    assert (found.value, found.reason, found.owner) == wanted


def test_an_unreadable_turn_is_not_an_unreadable_reply() -> None:
    slip = UNREAD.model_copy(update={"turn": 2})
    assert default_verdict(TASK, attempt("format", slip), Scored()).value == "unscored"


def test_what_scoring_said_comes_first() -> None:
    said = Verdict(attempt_id="a", value="passed", reason="as told")
    room = REGISTRY["sage"]
    task = room.card.tasks[0].id
    assert room.judge_attempt(task, attempt(), Scored(verdict=said)) is said
    assert room.judge_attempt(task, attempt(), Scored()).value == "unscored"
