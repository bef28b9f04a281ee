"""The decision without one judge: on the samples that are left for all, and whether it is another one."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks.scores import without_judge as scoring
from cxlab.cli import app as commands
from cxlab.read import View
from cxlab.records.correction import Corrections, Effect
from cxlab.views.compare import queries, without_judge
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

VIEW = View(benchmark="sage", metric="overall", lead="overall")
JUDGES = ("j1", "j2")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two models on 20 samples, of which b is first by 5 points; j1 alone had held a down by 12 points, and without j2
    two samples of b have no score."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    runs = [
        write_run(
            tmp_path, place, model, {(f"s{i}", 1): base + i + (i % 2) * place for i in range(20)}, metric="overall"
        )
        for place, model, base in ((1, "a", 40.0), (2, "b", 44.5))
    ]
    key = ("overall", False)

    def leave_out(judge: str, attempts: Mapping[str, Collection[str]]) -> Corrections:
        assert set(attempts) == set(runs)
        if judge == "j1":
            effects = {(runs[0], attempt): Effect({key: (1, 50.0)}, {key: (1, 62.0)}, "failed", "failed")
                       for attempt in attempts[runs[0]]}  # fmt: skip
        else:
            effects = {(runs[1], f"a2-s{i}-1"): Effect({key: (1, 50.0)}, {key: (0, 0.0)}, "failed", "unscored")
                       for i in range(2)}  # fmt: skip
        return Corrections(effects, {}, {})

    for room in (without_judge, scoring):
        monkeypatch.setattr(room, "judges_of", lambda runs: JUDGES)
        monkeypatch.setattr(room, "leave_out", leave_out)
    return tmp_path


def test_a_judge_that_turns_the_order_changes_the_decision(home: Path) -> None:
    found, judged = without_judge.ranked_without(VIEW, "model", "j1"), queries.ranked(VIEW)
    assert found is not None
    assert judged is not None
    assert (judged.leader, judged.decided) == ("b", True)
    assert (found.ranking.leader, found.ranking.decided, found.changes(judged)) == ("a", True, True)
    rows = {side: (value, without) for side, value, without in
            found.beside.select("side", "value", "without").iter_rows()}  # fmt: skip
    assert rows["a"] == pytest.approx((50.0, 62.0))
    assert rows["b"] == pytest.approx((55.0, 55.0))
    assert (found.values, found.lost) == (20, 0)


def test_a_sample_without_a_score_is_left_out_for_all(home: Path) -> None:
    found, judged = without_judge.ranked_without(VIEW, "model", "j2"), queries.ranked(VIEW)
    assert found is not None
    assert judged is not None
    assert (found.lost, found.values, found.changes(judged)) == (2, 0, False)
    assert found.ranking.table["samples"].to_list() == [18, 18]


def test_the_page_says_whether_the_decision_changes(home: Path) -> None:
    off = open_page("compare", benchmark="sage", lead="overall")
    assert "Without j" not in words(off)
    (choice,) = (each for each in off.selectbox if each.label == "Without judge")
    choice.set_value("j1").run()
    assert off.query_params["dropped"] == "j1"
    app = open_page("compare", benchmark="sage", lead="overall", dropped="j1")
    assert not app.exception
    assert "Without j1 the decision changes: a leads for sure" in words(app)
    assert "Without j2 the decision stays: b leads for sure" in words(
        open_page("compare", benchmark="sage", lead="overall", dropped="j2")
    )
    (table,) = [each.value for each in app.dataframe if "without" in each.value]
    assert table["without"].to_list() == pytest.approx([55.0, 62.0])


def test_where_no_judge_has_a_say_nothing_is_scored_anew(home: Path) -> None:
    for place, model in enumerate("ab", 3):
        write_run(home, place, model, {(f"s{i}", 1): 50.0 + i for i in range(9)})
    app = open_page("compare", benchmark="sage", dropped="j1")
    assert not app.exception
    assert "No judge has a say in the decidable score" in words(app)
    assert "Without judge" not in [each.label for each in app.selectbox]


def test_the_command_says_the_same_and_names_a_judge_that_nobody_asked(home: Path) -> None:
    def call(*words: str) -> str:
        found = CliRunner().invoke(commands, ["compare", "--benchmark", "sage", "--lead", "overall", *words])
        return found.output or str(found.exception)

    (task,) = json.loads(call("--without-judge", "j1", "--json"))["tasks"]
    left = task["without_judge"]
    assert (left["changes"], left["leader"], left["values"]) == (True, "a", 20)
    assert [row["without"] for row in left["models"]] == pytest.approx([55.0, 62.0])
    text = call("--without-judge", "j2")
    assert "Without j2 the decision stays: b leads for sure." in text
    assert "2 samples have no score without it" in text
    assert "without_judge" not in json.loads(call("--json"))["tasks"][0]
    assert "j3" in call("--without-judge", "j3")


def test_without_a_panel_there_is_nothing_to_choose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for place, model in enumerate("ab", 1):
        write_run(tmp_path, place, model, {(f"s{i}", 1): 50.0 + i for i in range(9)}, judges=("j1",))
    app = open_page("compare", benchmark="sage")
    assert not app.exception
    assert "Without judge" not in [each.label for each in app.selectbox]
