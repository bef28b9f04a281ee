"""Corrected means beside those as judged: only decided attempts move, and only by what the benchmark's rules give."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks.scores import corrected as corrected_scores
from cxlab.cli import app as commands
from cxlab.read import View, decisions
from cxlab.read.annotations import WRONG_LABEL
from cxlab.records import Annotation, new_id
from cxlab.records.correction import Corrections, Effect
from cxlab.store import write
from cxlab.ui.annotations import annotate
from cxlab.views.compare import corrected, queries
from cxlab.views.judges.corrected_scores import compare, correct
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

VIEW = View(benchmark="sage", metric="told")
EMPTY: dict[tuple[str, bool], tuple[int, float]] = {}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two models on 20 samples, of which b is first by 5 points; two decisions on attempts of a, one on none's."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    a = write_run(tmp_path, 1, "a", {(f"s{i}", 1): 40.0 + i for i in range(20)}, turns=2)
    write_run(tmp_path, 2, "b", {(f"s{i}", 1): 45.0 + i for i in range(20)}, turns=2)
    for run, attempt in ((a, "a1-s0-1"), (a, "a1-s1-1"), ("run-0", "gone")):
        write.annotate(Annotation(id=new_id("note"), created=datetime.now(UTC), author="Ann", kind="adjudication",
                                  run_id=run, attempt_id=attempt, turn=1, field="f", value="yes"))  # fmt: skip
    effects = {
        # By turn: the mean of two turns rises from 40 to 60; by the whole it would be another figure.
        (a, "a1-s0-1"): Effect({("told", False): (2, 80.0), ("told", True): (1, 10.0)},
                               {("told", False): (2, 120.0), ("told", True): (1, 99.0)}, "failed", "passed"),
        # It says nothing of this metric, and turns no verdict.
        (a, "a1-s1-1"): Effect(EMPTY, EMPTY, "failed", "failed"),
    }  # fmt: skip
    made = Corrections(effects, dict.fromkeys(effects, 1), {a: "it is old"})
    for room in (corrected, corrected_scores):
        monkeypatch.setattr(room, "correct", lambda settled: made)
    return tmp_path


def test_only_decided_attempts_move_and_by_what_the_decision_gives(home: Path) -> None:
    found, judged = corrected.corrected_ranking(VIEW, "model"), queries.ranked(VIEW)
    assert found is not None
    assert judged is not None
    before, after = (dict(each.table.select("side", "value").iter_rows()) for each in (judged, found.ranking))
    assert (after["b"], after["a"]) == (before["b"], pytest.approx(before["a"] + 20 / 20))
    assert (found.decided, found.values, found.verdicts) == (2, 1, 1)
    # a passes from 50 on: samples 10 to 19; of b from 5 on.
    told = found.beside.select("side", "passed", "passed_corrected").rows()
    assert sorted(told) == [("a", 0.5, 0.55), ("b", 0.75, 0.75)]


def test_the_page_shows_them_when_the_address_asks_for_it(home: Path) -> None:
    off = open_page("compare", benchmark="sage")
    assert next(each for each in off.toggle if each.key == "compare-reviewed").label.endswith(": 2 decisions")
    assert "of reviewers change" not in words(off)
    app = open_page("compare", benchmark="sage", reviewed="yes")
    assert not app.exception
    assert "2 decisions of reviewers change the value of 1 and the verdict of 1 of these dialogues" in words(app)
    assert "is not corrected: it is old" in words(app)
    (table,) = [each.value for each in app.dataframe if "passed_corrected" in each.value]
    assert table["corrected"].to_list() == pytest.approx([54.5, 50.5])
    # The card tells both, and the means stand below each other in the chart.
    card = next(each.proto.body for each in app.get("html") if "cx-decision" in each.proto.body)
    assert "corrections: b ahead of a, decidable score</div>" in card
    assert "4.0 points" in card
    (means,) = [each for each in app.get("plotly_chart") if "a, corrected" in each.proto.spec]
    assert "b, corrected" in means.proto.spec


def call(*given: str) -> str:
    done = CliRunner().invoke(commands, given, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_compare_tells_corrected_beside_as_judged(home: Path) -> None:
    (task,) = json.loads(call("compare", "--benchmark", "sage", "--with-corrections", "--json"))["tasks"]
    assert [row["mean"] for row in task["models"]] == pytest.approx([54.5, 49.5])
    told = task["corrected"]
    assert [row["model"] for row in told["models"]] == ["b", "a"]
    assert [row["mean"] for row in told["models"]] == pytest.approx([54.5, 49.5])
    assert [row["corrected"] for row in told["models"]] == pytest.approx([54.5, 50.5])
    assert [row["change"] for row in told["models"]] == pytest.approx([0.0, 1.0])
    assert [(row["passed"], row["passed_corrected"]) for row in told["models"]] == [(0.75, 0.75), (0.5, 0.55)]
    assert (told["decisions"], told["values"], told["verdicts"], len(told["left_out"])) == (2, 1, 1, 1)
    assert task["decision"]["told"][1]["value"] == "4.0 points"
    text = call("compare", "--benchmark", "sage", "--with-corrections")
    assert "2 decisions of reviewers change the value of 1 and the verdict of 1 of these dialogues." in text
    assert "is not corrected: it is old" in text
    (plainly,) = json.loads(call("compare", "--benchmark", "sage", "--json"))["tasks"]
    assert plainly["corrected"] is None
    assert len(plainly["decision"]["told"]) == len(task["decision"]["told"]) - 1


def test_a_report_tells_corrected_beside_as_judged_and_leaves_out_what_is_marked(home: Path) -> None:
    def report(*given: str) -> str:
        call("report", "--to", str(home / "r.html"), "--force", *given)
        return (home / "r.html").read_text(encoding="utf-8")

    text = report("--with-corrections")
    assert "2 decisions of reviewers change the value of 1 and the verdict of 1 of these dialogues." in text
    assert ">50.5<" in text
    assert ">+1.0<" in text
    assert "decisions of reviewers" not in report()
    annotate("tag", "run-260101-000001-aaaaaaaa", "a1-s3-1", WRONG_LABEL)
    less = report("--without-marked")
    assert "Left out: 1 sample marked as wrongly labelled: s3." in less
    assert "Compared on 19 samples" in less
    assert "Compared on 20 samples" in text


def test_without_a_decision_there_is_no_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for number, model in enumerate("ab", 1):
        write_run(tmp_path, number, model, {(f"s{i}", 1): 40.0 + i for i in range(9)})
    app = open_page("compare", benchmark="sage", reviewed="yes")
    assert not app.exception
    assert not [each for each in app.toggle if each.key == "compare-reviewed"]


def test_a_decision_on_the_store_is_scored_by_the_benchmark_itself(own_judged_home: Path) -> None:
    annotate("adjudication", "run-0", "run-0-a1", "Exchange", 1, "CoreIntention")
    found = corrected.corrected_ranking(View("sage", models=("simulated:eloquent",), metric="overall"), "model")
    assert found is not None
    # The judges give no grades, so that the decision turns the verdict and leaves the overall score unknown as it was.
    assert (found.decided, found.values, found.verdicts) == (1, 0, 1)
    assert found.beside.select("side", "passed", "passed_corrected").rows() == [("simulated:eloquent", 0.5, 1.0)]
    assert found.ranking.table["value"].to_list() == [70.0]
    every = correct(decisions.outcomes(decisions.decisions()))
    assert compare(View("sage"), every).height
    assert compare(View("mmtaup2"), every).is_empty()
