"""CRMArena as a benchmark: a run of stand-ins and a floor from the command line to its table."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks import get
from cxlab.benchmarks.crmarena.evaluation.results import find_floor, list_figures
from cxlab.benchmarks.crmarena.run import open_sandbox
from cxlab.benchmarks.crmarena.score import grade, share_recovered
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.cli import app
from cxlab.errors import BadFile, UnknownName
from cxlab.records import Sample
from cxlab.runner.loaded_run import open_run
from cxlab.store import connect, load, write
from tests.benchmarks.crmarena.crm_play import play
from tests.benchmarks.crmarena.small_tasks import DATASET

MODELS = ("strong", "weak", "floor-none")


@pytest.fixture(scope="module")
def runs(small_store: tuple[Path, list[Sample]]) -> Iterator[dict[str, str]]:
    """Model → its run, two trials of the questions of some tasks."""
    home, _ = small_store
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(home))
        named = [word for model in MODELS for word in ("--model", f"simulated:{model}")]
        words = ["run", "crmarena", "--dataset", DATASET, *named, "--trials", "2", "--quiet", "--workers", "1"]
        tasks = ("transfer_count", "policy_violation_identification", "knowledge_qa")
        words += [word for task in tasks for word in ("--where", f"task={task}")]
        said = CliRunner().invoke(app, words)
        assert said.exit_code == 0, said.output
        yield {run.model.removeprefix("simulated:"): run.id for run in write.list_runs()}


def test_the_table_has_a_row_a_task_and_their_mean(runs: dict[str, str]) -> None:
    tables = {model: {row["task"]: row for row in list_figures(run, {})} for model, run in runs.items()}
    for rows in tables.values():
        assert list(rows) == ["TCU", "PVI", "KQA", "ALL"]
        tasks = [row for name, row in rows.items() if name != "ALL"]
        assert rows["ALL"]["score"] == pytest.approx(fmean(row["score"] for row in tasks))
        assert rows["ALL"]["attempts"] == sum(row["attempts"] for row in tasks) == 2 * rows["ALL"]["questions"]
        assert rows["KQA"]["pass^1"] is None
        for row in tasks:
            assert row["low"] <= row["score"] <= row["high"]
            assert row["pass^1"] is None or row["pass^2"] <= row["pass^1"] == pytest.approx(row["score"] / 100)
    assert tables["strong"]["ALL"]["score"] > tables["weak"]["ALL"]["score"] > tables["floor-none"]["ALL"]["score"]
    floor = tables["floor-none"]["PVI"]
    assert (floor["score"], floor["constant"], floor["no answer"], floor["turns"]) == (50, 50, 100, 1)
    with pytest.raises(UnknownName, match="by"):
        list_figures(runs["weak"], {"by": "task"})


def test_attempts_are_told_apart_by_framework_and_scored_again_alike(runs: dict[str, str]) -> None:
    loaded = open_run(runs["weak"])
    assert {sample.facets["framework"] for sample in loaded.samples.values()} == {"function_calling"}
    benchmark = get("crmarena")
    assert benchmark.rescore is not None
    failed = 0
    for attempt, stored in load.load_attempts(runs["weak"]):
        sample = loaded.samples[attempt.sample_id]
        again = benchmark.rescore(sample, attempt, stored, None)
        assert {s.metric: s.value for s in again.scores} == {s.metric: s.value for s in stored.scores}
        assert again.verdict == stored.verdict
        assert again.verdict is not None
        failed += again.verdict.value == "failed"
    assert failed > 2


@pytest.mark.parametrize("framework", ["function_calling", "react"])
def test_stand_ins_never_see_the_gold(small_store: tuple[Path, list[Sample]], framework: str, runs: Any) -> None:
    """With other gold answers they do the very same."""
    samples = {sample.task: sample for sample in small_store[1]}
    assert len(samples) == len(TASKS)
    for sample in samples.values():
        other = sample.model_copy(update={"expected": {"answer": "another"}, "facets": {}})
        done = [play(each, "simulated:base", {"framework": framework}) for each in (sample, other)]
        said = [[(m.text, m.tool_calls) for m in each.messages] for each in done]
        assert said[0] == said[1]


def test_gold_is_checked_by_its_score_and_by_the_solver(small_store: tuple[Path, list[Sample]], runs: Any) -> None:
    check = get("crmarena").check
    samples = small_store[1]
    # The small organisation writes one state in small letters, which is no state's code.
    odd = [complaint for sample in samples for complaint in check(sample)]
    assert [complaint.partition(": ")[2] for complaint in odd] == [
        "the gold answer scores 0.0 in exact_extracted, not 1"
    ]
    handled = next(each for each in samples if each.task == "handle_time" and each.expected["answer"])
    wrong = handled.model_copy(update={"expected": {**handled.expected, "answer": None}})
    assert "not None" in next(iter(check(wrong)))
    empty = next(each for each in samples if each.task == "knowledge_qa")
    blank = empty.model_copy(update={"expected": {"answer": ""}})
    assert "the gold answer scores 0" in next(iter(check(blank)))
    # Tasks that came without their organisation can be scored, not solved or run.
    lost = handled.model_copy(update={"dataset_id": "crmarena-lost"})
    write.save_dataset(write.load_dataset(DATASET).model_copy(update={"id": "crmarena-lost"}), [lost])
    assert list(check(lost)) == []
    with pytest.raises(BadFile, match="no organisation"):
        open_sandbox(lost)


def test_scores_of_an_answer() -> None:
    def of(task: str, gold: str | None, answer: str | None) -> dict[str, float]:
        expected = {"answer": gold}
        sample = Sample(id="s", dataset_id="d", benchmark="crmarena", task=task, inputs={}, expected=expected)
        return grade(sample, answer)

    region = "best_region_identification"
    assert of(region, "GA", "GA") == {"score": 1, "exact": 1, "exact_extracted": 1}
    assert of(region, "GA", "It is GA.") == {"score": 0, "exact": 0, "exact_extracted": 1}
    assert of(region, "GA", None) == {"score": 0, "exact": 0, "exact_extracted": 0}
    assert of("handle_time", None, "None")["score"] == 1
    assert of("knowledge_qa", "30 days", "within 30 days")["score"] == pytest.approx(0.8)
    assert share_recovered([]) is None
    assert share_recovered([False, False]) is None
    assert share_recovered([True, True, False, True]) == 0.5
    assert share_recovered([True]) == 0
    assert find_floor("monthly_trend_analysis", ["May", "June", "May", "July"]) == 50
    assert find_floor("knowledge_qa", ["30 days", "45 days"]) == 75


def test_each_reply_is_a_turn_of_the_store(runs: dict[str, str]) -> None:
    con = connect.open_store()
    rows = connect.query(
        con,
        "SELECT a.turns, s.value FROM attempts a JOIN scores s USING (run_id, attempt_id) WHERE s.metric = 'turns'",
        {},
    ).rows()
    con.close()
    assert len(rows) > 50
    assert [turns for turns, _ in rows] == [int(value) for _, value in rows]
