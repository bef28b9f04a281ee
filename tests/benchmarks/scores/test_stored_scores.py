"""Stored attempts scored anew with people's decisions: what they change, and what they leave alone."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.scores.stored import FieldDecision, correct_attempts, overrule, why_uncorrected
from cxlab.records import Judgement
from cxlab.store import load, write
from tests.stores.judged_mm import ADA, BOB, LOG

SPLIT = "run-0-a1"


def test_a_decision_is_scored_by_the_benchmark_and_touches_its_attempt_alone(judged_home: Path) -> None:
    run = write.load_run("run-0")
    stored = {attempt.id: found for attempt, found in load.load_attempts("run-0")}
    (found,) = correct_attempts(REGISTRY["sage"], run, {SPLIT: [FieldDecision(1, "CoreIntention", "Exchange")]})
    assert found.attempt.id == SPLIT
    logic = [[s.value for s in side.scores if s.metric == "logic"] for side in (found.before, found.after)]
    assert logic == [[40.0, 40.0], [100.0, 100.0]]
    assert [side.verdict.value for side in (found.before, found.after) if side.verdict] == ["failed", "passed"]
    assert found.before.judgements == stored[SPLIT].judgements  # what the judges said is kept
    assert list(correct_attempts(REGISTRY["sage"], run, {})) == []


def test_what_cannot_be_corrected_says_why(judged_home: Path) -> None:
    run = write.load_run("run-0")
    assert why_uncorrected(REGISTRY["sage"], run) == ""
    imported = run.model_copy(update={"setup": {**run.setup, "imported_from": "x"}})
    assert why_uncorrected(REGISTRY["sage"], imported) == "it was imported with its scores"
    assert "without asking its judges" in why_uncorrected(REGISTRY["cdr"], run) or REGISTRY["cdr"].rescore


@given(st.lists(st.tuples(st.sampled_from([ADA, BOB, LOG]), st.integers(1, 3), st.sampled_from("fg")), max_size=12))
def test_only_judges_are_overruled_and_only_on_what_was_decided(said: list[tuple[str, int, str]]) -> None:
    given_ = [
        Judgement(attempt_id="a", turn=turn, judge=judge, kind="field", field=field, verdict=None, status="missing")
        for judge, turn, field in said
    ]
    found = list(overrule(given_, [FieldDecision(2, "f", "yes")], (ADA, BOB)))
    for before, after in zip(given_, found, strict=True):
        decided = before.turn == 2 and before.field == "f" and before.judge != LOG
        assert (after.verdict, after.status) == (("yes", "ok") if decided else (None, "missing"))
