"""Which runs are compared where nobody picked them all: the largest complete set, and why the others are not."""

from pathlib import Path

import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.read import View
from cxlab.read.comparison.run_choice import MOST_RUNS, choose_runs
from tests.pages.app_script import open_page, words
from tests.read.comparison.test_comparison_sets import FLOOR, steady
from tests.stores.runs import write_run

ABOUT = REGISTRY["sage"].declaration
VIEW = View("sage")
WHOLE = steady(0)
FEW = {key: value for key, value in WHOLE.items() if int(key[0][1:]) < 5}


@pytest.fixture
def runs(empty_home: Path) -> list[str]:
    """Of a and b a whole run each, a constant agent, and then of a a small one."""
    write_run(empty_home, 4, FLOOR, WHOLE)
    return [write_run(empty_home, number, model, values)
            for number, model, values in ((1, "a", WHOLE), (2, "b", WHOLE), (5, "a", FEW))]  # fmt: skip


def test_a_small_run_shrinks_nobody_else_and_is_named(runs: list[str]) -> None:
    found = choose_runs(ABOUT, VIEW)
    assert set(found.runs) == set(runs[:2])
    assert found.left_out == ((runs[2], "tried 5, not all of these 30"),)
    app = open_page("compare", benchmark="sage", sides="runs")
    assert "30 samples that both runs have" in words(app)
    assert "Not among these runs: **a, 5 dialogues**: tried 5, not all of these 30." in words(app).replace("\\", "")


def test_a_small_run_that_was_picked_is_compared_on_what_it_has(runs: list[str]) -> None:
    found = choose_runs(ABOUT, VIEW.change(runs=(runs[2],)))
    assert found.runs == (runs[2], runs[0], runs[1])
    assert found.left_out == ()
    # And a whole one is not shrunk to the small one.
    assert choose_runs(ABOUT, VIEW.change(runs=(runs[0],))).runs == (runs[0], runs[1])


def test_of_many_runs_the_newest_of_the_picked_models_come_first(empty_home: Path) -> None:
    every = [write_run(empty_home, number, "abcdefgh"[number % 8], WHOLE) for number in range(1, 17)]
    own = every[3]  # of e, whose newest is every[11]
    found = choose_runs(ABOUT, VIEW.change(runs=(own,)))
    assert found.runs[:2] == (own, every[11])
    assert len(found.runs) == MOST_RUNS
    assert len({every.index(run) % 8 for run in found.runs}) == MOST_RUNS - 1
    assert {why for _, why in found.left_out} == {"older"}
    assert len(found.left_out) == len(every) - MOST_RUNS
    picked = tuple(every[:8])
    assert choose_runs(ABOUT, VIEW.change(runs=picked)).runs == picked


def test_runs_of_another_dataset_and_of_other_models_are_not_set_beside(runs: list[str], empty_home: Path) -> None:
    other = write_run(empty_home, 9, "a", WHOLE, dataset="d2")
    assert choose_runs(ABOUT, VIEW).runs == (other,)
    assert choose_runs(ABOUT, VIEW.change(runs=(runs[0],), models=("a",))).runs == (runs[0], runs[2])
    assert choose_runs(ABOUT, VIEW.change(models=("nobody",))).runs == ()
