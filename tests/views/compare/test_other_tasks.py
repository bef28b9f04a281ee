"""What all tasks of a benchmark come to on Compare is of what the page compares: its runs, its filters."""

import json
from pathlib import Path

import pytest

from cxlab.read import View
from cxlab.read.comparison.together import pass_together
from cxlab.views.compare.other_tasks import list_tasks, rank_tasks
from cxlab.views.comparison_sets import ranked
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

TASKS = {f"s{i:02d}": "case_routing" if i < 12 else "handle_time" for i in range(24)}


def score(*failed: int) -> dict[tuple[str, int], float | None]:
    return {(sample, 1): 0.0 if place in failed else 100.0 for place, sample in enumerate(TASKS)}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """One model under two frameworks, and another one that fails everything."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))

    def run(number: int, model: str, framework: str, *failed: int) -> str:
        return write_run(tmp_path, number, model, score(*failed), benchmark="crmarena", tasks=TASKS,
                         options={"framework": framework}, facets={each: {"level": str(place % 2)}
                                  for place, each in enumerate(TASKS)})  # fmt: skip

    run(3, "weak", "react", *range(24))
    return run(1, "strong", "react", 0, 1, *range(14, 24)), run(2, "strong", "function_calling", 0)


def test_runs_get_an_answer_over_all_tasks(runs: tuple[str, str]) -> None:
    react, calls = runs
    found = rank_tasks(View("crmarena", runs=runs), "run_id")
    rows = list_tasks(found, runs, "").rows(named=True)
    assert [(row["task"], row[react], row[calls]) for row in rows] == [
        ("case_routing", pytest.approx(1000 / 12), pytest.approx(1100 / 12)),
        ("handle_time", pytest.approx(200 / 12), 100.0),
    ]
    together = pass_together(found)
    assert together.passed == {calls: pytest.approx(23 / 24), react: pytest.approx(12 / 24)}
    assert together.gap is not None
    assert (together.gap["side"], together.gap["n"], together.gap["verdict"]) == (react, 24, "worse")
    assert together.gap["difference"] == pytest.approx(-1100 / 24)
    alone = pass_together(ranked(View("crmarena", runs=(react,)), "run_id").tasks)
    assert (alone.passed, alone.gap) == ({react: pytest.approx(12 / 24)}, None)
    app = open_page("compare", benchmark="crmarena", model="strong", sides="runs")
    assert not app.exception
    heading = next(str(each.value) for each in app.subheader if str(each.value).startswith("All 2 tasks"))
    assert "unction" in heading
    assert "weak" not in heading
    (table,) = [each for each in app.dataframe if "All tasks together" in each.value.to_string()]
    assert "weak" not in table.value.to_string()
    # Beside long names of runs the difference would be out of sight.
    heads = [each["label"] for each in json.loads(table.proto.columns).values() if each.get("label")]
    assert {"framework ReAct", "framework function calling"} <= set(heads)


def test_all_tasks_are_told_under_the_filters_of_the_page(runs: tuple[str, str]) -> None:
    every, half = (rank_tasks(View("crmarena", runs=runs).narrow(**facets), "run_id")
                   for facets in ({}, {"level": ["1"]}))  # fmt: skip
    assert [each.compared.samples for each in every] == [12, 12]
    assert [each.compared.samples for each in half] == [6, 6]
    first = list_tasks(half, runs, "").row(0, named=True)
    # Of six samples one differs: half of all that a difference can be is no interval to read.
    assert (first["interval"], first["verdict"]) == ("too few", "? cannot tell")
    assert "too few" not in list_tasks(every, runs, "").row(1, named=True)["interval"]


def test_passing_is_explained_for_the_tasks_that_are_shown(runs: tuple[str, str]) -> None:
    told = words(open_page("compare", benchmark="crmarena", model="strong", sides="runs"))
    line = next(each for each in told.splitlines() if each.startswith("Each task by its own main figure"))
    assert "What passing is" in line
    assert "Named entity disambiguation" not in line
