"""Models over benchmarks: who leads where, and that nothing is averaged."""

from pathlib import Path

import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.read import View
from cxlab.read.comparison.across import stand_across
from cxlab.read.comparison.ranking import Ranking, rank
from cxlab.views.overview.across import say_across, say_standing
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

TASKS = {"sage": "dialogue", "mmtaup2": "telecom"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def fill(home: Path, *ran: tuple[str, str, float]) -> None:
    for place, (benchmark, model, gain) in enumerate(ran, 1):
        values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 50.0 + i % 3 + gain for i in range(20)}
        write_run(home, place, model, values, benchmark=benchmark, task=TASKS[benchmark])


def rankings() -> dict[str, tuple[Ranking, ...]]:
    return {name: rank(REGISTRY[name].declaration, View(benchmark=name)).tasks for name in TASKS}


def test_each_model_stands_where_it_ran_and_a_lead_must_be_sure(home: Path) -> None:
    fill(home, ("sage", "a", 9.0), ("sage", "b", 0.0), ("sage", "only", 5.0), ("mmtaup2", "a", 0.0),
         ("mmtaup2", "b", 0.0))  # fmt: skip
    found = stand_across(rankings())
    assert found is not None
    assert found.models == ("a", "b")
    assert found.tasks == {"sage": 1, "mmtaup2": 1}
    assert say_across(found) == "Over 2 tasks of 2 benchmarks: a leads for sure in 1; in 1 nobody is ahead for sure"
    told = {(model, name): say_standing(found.standing[model][name], 1) for model in found.models for name in TASKS}
    assert told == {("a", "sage"): "✓ leads", ("b", "sage"): "behind", ("a", "mmtaup2"): "level",
                    ("b", "mmtaup2"): "level"}  # fmt: skip
    page = open_page()
    assert not page.exception
    assert say_across(found) in words(page)
    table = next(each.value for each in page.dataframe if "mmtaup2" in each.value.columns)
    assert table["sage"].to_list() == ["✓ leads", "behind"]


def test_the_same_order_everywhere_is_said_in_a_sentence(home: Path) -> None:
    fill(home, *((name, model, gain) for name in TASKS for model, gain in (("a", 0.0), ("b", 9.0))))
    found = stand_across(rankings())
    assert found is not None
    assert say_across(found) == "b leads for sure in all 2 tasks of 2 benchmarks"


def test_models_of_one_benchmark_alone_are_not_compared_over_several(home: Path) -> None:
    fill(home, ("sage", "a", 9.0), ("sage", "b", 0.0), ("mmtaup2", "a", 0.0), ("mmtaup2", "c", 9.0))
    assert stand_across(rankings()) is None
    assert "of 2 benchmarks" not in words(open_page())
