"""What pages of turns and votes look at: the attempts behind a comparison set, scored or not, and no others."""

from pathlib import Path

import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.read import View, count_scores, failures
from cxlab.read.comparison.sets import attempts_of, find_set
from cxlab.read.query import AttemptSet, ask, where
from cxlab.views.comparison_sets import narrow_to_set
from tests.pages.app_script import open_page, words
from tests.read.comparison.test_comparison_sets import FLOOR, steady
from tests.stores.runs import write_run

pytestmark = pytest.mark.xdist_group("pages")
ABOUT = REGISTRY["sage"].declaration
VIEW = View(benchmark="sage")


@pytest.fixture
def home(empty_home: Path) -> Path:
    unscored = {**steady(0), ("s3", 1): None}
    where = {"facets": {f"s{place}": {"scenario": "telecom_package"} for place in range(40)}}
    write_run(empty_home, 1, "a", steady(0), **where)
    write_run(empty_home, 2, "a", unscored, **where)  # made again: the newest counts, also where it has no score
    write_run(empty_home, 3, "b", steady(1), **where)
    write_run(empty_home, 4, "a", steady(9, 40), options={"turns": 5}, **where)
    write_run(empty_home, 5, "late", steady(40, 6), **where)
    write_run(empty_home, 6, FLOOR, dict.fromkeys(steady(0), 20.0), **where)
    return empty_home


def test_it_is_the_newest_attempt_of_each_side_scored_or_not(home: Path) -> None:
    found = find_set(ABOUT, VIEW)
    chosen = attempts_of(ABOUT, VIEW, found, found.tasks["dialogue"])
    assert chosen.group_by("side").len().sort("side").rows() == [("a", 30), ("b", 30), (FLOOR, 30)]
    runs = chosen["run_id"].unique()
    assert sorted(int(run.split("-")[2]) for run in runs) == [2, 3, 6]
    none = ask("SELECT count(*) FROM scores WHERE value IS NULL").item()
    assert none == 1
    narrowed = VIEW.change(among=AttemptSet.of(chosen).keep())
    assert count_scores(narrowed) == {"attempts": 90, "turns": 90, "scores": 89, "unscored": 1}
    assert failures.counts(narrowed)["attempts"] == 90
    assert count_scores(VIEW)["attempts"] > 90


def test_the_same_attempts_have_one_name_whatever_their_order(home: Path) -> None:
    every = ask(f"SELECT run_id, attempt_id FROM attempts WHERE {where(VIEW)[0]}", where(VIEW)[1])
    assert AttemptSet.of(every).name == AttemptSet.of(every.reverse()).name
    assert AttemptSet.of(every).name != AttemptSet.of(every.head(3)).name
    assert "among" not in VIEW.change(among=AttemptSet.of(every).name).to_query()


def test_a_view_without_results_stays_as_it_is(home: Path) -> None:
    assert narrow_to_set(VIEW.change(models=("nobody",)), ["sage"]).among == ""


def test_sop_paths_says_what_it_looks_at_and_who_is_left_out(home: Path) -> None:
    app = open_page("sop_paths")
    assert not app.exception
    assert "30 samples that both models tried, under the same conditions" in words(app)
    assert "Not ranked: **late**: has 6 of the 30 results that the others have" in words(app)
    other = app.selectbox(key="cx-set-sage")
    other.set_value(next(each for each in other.options if "Turns 5" in each)).run()
    assert not app.exception
    assert "40 samples that one model tried" in words(app)
