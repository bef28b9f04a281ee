"""Since the last run: a model's newest run beside the one before it, and nothing beside what is none."""

from dataclasses import replace
from pathlib import Path

import pytest

from cxlab.records.benchmark_card import Declaration
from cxlab.views.benchmarks import declared
from cxlab.views.overview.since import find_change, find_pairs, say_change
from tests.pages.app_script import open_page, words
from tests.read.comparison.test_comparison_sets import FLOOR, steady
from tests.stores.runs import Values, write_run


@pytest.fixture
def about() -> Declaration:
    return declared("sage")


def test_the_newest_run_of_a_model_stands_beside_the_one_before_it(empty_home: Path, about: Declaration) -> None:
    old: Values = {(f"s{i}", 1): 90.0 if i < 20 else 10.0 for i in range(30)}
    new: Values = {**old, ("s0", 1): 10.0, ("s20", 1): 80.0, ("s21", 1): 80.0, ("s99", 1): 80.0}
    write_run(empty_home, 1, "a", steady(0))
    before = write_run(empty_home, 2, "a", old)
    write_run(empty_home, 3, "b", old)
    write_run(empty_home, 4, FLOOR, old)
    write_run(empty_home, 5, FLOOR, old)
    write_run(empty_home, 6, "a", old, dataset="other")
    assert not find_pairs(about), "of another dataset, or of a constant agent, nothing is to be told"
    after = write_run(empty_home, 7, "a", new, options={"turns": 5})
    ((newest, older),) = find_pairs(about)
    assert (newest.run, older.run) == (after, before)
    change = find_change("sage", after, before)
    assert change is not None
    assert (change.samples, change.fixed, change.broken, change.apart) == (30, 2, 1, ("Turns",))
    (gap,) = change.gaps
    assert gap["difference"] == pytest.approx((70 + 70 - 80) / 30)
    assert say_change(change).startswith("2 fixed, 1 broken; decidable score +2.0 (")
    assert say_change(change).endswith("which cannot be told from chance")
    page = open_page()
    assert not page.exception
    told = words(page)
    assert "30 samples that both have. They differ in turns: what changed may be due to that." in told
    assert "2 fixed, 1 broken" in told.replace("\\", "")
    links = {each.proto.label: each.proto.query_string for each in page.get("page_link")}
    assert f"run={after}&run={before}" in links["See the 2 fixed"]
    assert "show=broken" in links["See the one broken"]
    listed = open_page("compare", benchmark="sage", run=[after, before], baseline=before, sides="runs", show="broken")
    assert not listed.exception
    assert "Broken\\: 1" in {name for each in listed.get("button_group") for name in each.options}


def test_a_repeat_and_runs_of_one_order_are_told_as_such(empty_home: Path, about: Declaration) -> None:
    first = write_run(empty_home, 1, "a", steady(0))
    again = write_run(empty_home, 2, "a", steady(0))
    change = find_change("sage", again, first)
    assert change is not None
    assert say_change(change) == "the same verdict and score on every sample"
    told = say_change(replace(change, unscored=(8, 4)))
    assert told == ("0 fixed, 0 broken, 8 without a verdict and 4 before; the same decidable score on every sample")
    assert find_change("sage", again, write_run(empty_home, 3, "a", {("other", 1): 50.0})) is None
    # A chosen few that changed for sure.
    worse = write_run(empty_home, 4, "a", steady(-40))
    fallen = find_change("sage", worse, again)
    assert fallen is not None
    assert say_change(fallen).endswith("worse for sure")
