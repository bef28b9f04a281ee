"""Corrected means beside those as judged: only decided attempts move, and only by what the benchmark's rules give."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cxlab.read import View, decisions
from cxlab.records import Annotation, new_id
from cxlab.store import write
from cxlab.ui.annotations import annotate
from cxlab.views.compare import corrected, queries
from cxlab.views.judges.corrected_scores import Corrections, Effect, compare, correct
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
    monkeypatch.setattr(corrected, "correct", lambda states: Corrections(effects, states, {"run-x": "it is old"}))
    return tmp_path


def test_only_decided_attempts_move_and_by_what_the_decision_gives(home: Path) -> None:
    found, judged = corrected.correct_ranking(VIEW, "model"), queries.ranked(VIEW)
    assert found is not None
    assert judged is not None
    before, after = (dict(each.table.select("side", "value").iter_rows()) for each in (judged, found.ranking))
    assert (after["b"], after["a"]) == (before["b"], pytest.approx(before["a"] + 20 / 20))
    assert (found.decided, found.values, found.verdicts) == (2, 1, 1)
    # a passes from 50 on: samples 10 to 19; of b from 5 on.
    assert sorted(found.passed.rows()) == [("a", 0.5, 0.55), ("b", 0.75, 0.75)]


def test_the_page_shows_them_when_the_address_asks_for_it(home: Path) -> None:
    off = open_page("compare", benchmark="sage")
    assert next(each for each in off.toggle if each.key == "compare-reviewed").label.endswith(": 2 decisions")
    assert "decisions change" not in words(off)
    app = open_page("compare", benchmark="sage", reviewed="yes")
    assert not app.exception
    assert "2 decisions change the value of 1 and the verdict of 1 of these dialogues" in words(app)
    assert "Run run-x is not corrected: it is old" in words(app)
    (table,) = [each.value for each in app.dataframe if "passed_corrected" in each.value]
    assert table["corrected"].to_list() == pytest.approx([54.5, 50.5])


def test_without_a_decision_there_is_no_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for number, model in enumerate("ab", 1):
        write_run(tmp_path, number, model, {(f"s{i}", 1): 40.0 + i for i in range(9)})
    app = open_page("compare", benchmark="sage", reviewed="yes")
    assert not app.exception
    assert not [each for each in app.toggle if each.key == "compare-reviewed"]


def test_a_decision_on_the_store_is_scored_by_the_benchmark_itself(own_judged_home: Path) -> None:
    annotate("adjudication", "run-0", "run-0-a1", "Exchange", 1, "CoreIntention")
    found = corrected.correct_ranking(View("sage", models=("simulated:eloquent",), metric="overall"), "model")
    assert found is not None
    # The judges give no grades, so that the decision turns the verdict and leaves the overall score unknown as it was.
    assert (found.decided, found.values, found.verdicts) == (1, 0, 1)
    assert found.passed.rows() == [("simulated:eloquent", 0.5, 1.0)]
    assert found.ranking.table["value"].to_list() == [70.0]
    every = correct(decisions.outcomes(decisions.decisions()))
    assert compare(View("sage"), every).height
    assert compare(View("mmtaup2"), every).is_empty()
