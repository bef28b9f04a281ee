"""Stored attempts scored anew without one judge: what its votes decided, and where the others tie."""

from pathlib import Path

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.scores.without_judge import judges_of, leave_out
from tests.stores.judged import JUDGES

LENIENT, PARTIAL, STRICT = JUDGES
ATTEMPTS = {"run-0": ("run-0-a0", "run-0-a1"), "run-1": ("run-1-a2",)}
LOGIC = ("logic", False)


def test_the_others_decide_alone_and_where_they_tie_nothing_is_scored(judged_home: Path) -> None:
    assert judges_of(ATTEMPTS) == JUDGES
    # They said Exchange, Return, Return of the second attempt, and of the first all the same.
    for judge, after, verdict in (
        (LENIENT, (1, 40.0), "failed"), (PARTIAL, (0, 0.0), "unscored"), (STRICT, (0, 0.0), "unscored"),
    ):  # fmt: skip
        found = leave_out(judge, ATTEMPTS).effects
        assert set(found) == {(run, attempt) for run, own in ATTEMPTS.items() for attempt in own}
        split, alike = found["run-0", "run-0-a1"], found["run-0", "run-0-a0"]
        assert (split.before[LOGIC], split.after[LOGIC]) == ((1, 40.0), after)
        assert (split.verdict, split.corrected) == ("failed", verdict)
        assert alike.before[LOGIC] == alike.after[LOGIC] == (1, 100.0)


def test_judges_have_no_say_in_what_is_declared_so(judged_home: Path) -> None:
    card = REGISTRY["sage"].card
    assert card.unjudged <= set(card.metrics)
    assert not card.unjudged & {"overall", "logic", "chat"}
    effects = [each for judge in JUDGES for each in leave_out(judge, ATTEMPTS).effects.values()]
    for each in effects:
        for metric, whole in each.before:
            if metric in card.unjudged:
                assert each.before[metric, whole] == each.after[metric, whole], metric
    assert {metric for each in effects for metric, _ in each.before} >= card.unjudged
    # It is no test where no judge has a say in anything.
    assert any(each.before != each.after for each in effects)


def test_a_run_that_cannot_be_read_leaves_no_judge_to_leave_out(judged_home: Path) -> None:
    assert judges_of(["run-0", "run-of-nobody"]) == ()
    assert judges_of([]) == ()
    assert "cannot be read" in leave_out(LENIENT, {"run-of-nobody": ("a",)}).left_out["run-of-nobody"]
