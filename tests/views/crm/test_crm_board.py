"""The board's figures, beside the same counted by hand."""

import math
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from cxlab.benchmarks.crmarena.answers import f1
from cxlab.metrics.intervals import clustered_interval
from cxlab.records import Sample
from cxlab.views.crm import board_figures, queries_board
from cxlab.views.crm.board_figures import Agent
from tests.conftest import use
from tests.stores.crm import CALLING, DATASET, REACT, make_crm, make_runs


def attempts(rows: list[tuple[str, str, str, float | None]]) -> pl.DataFrame:
    """Rows of (run, sample, task, score)."""
    frame = pl.DataFrame(
        rows, schema={"run_id": pl.String, "sample_id": pl.String, "task": pl.String, "score": pl.Float64}, orient="row"
    )
    return frame.with_columns(
        passed=pl.col("score") == 100, turns=pl.int_range(pl.len()).cast(pl.Float64), answerable=pl.lit(True),
        prompt_tokens=pl.lit(10), completion_tokens=pl.lit(None, pl.Int64), cost_usd=pl.lit(0.5), latency_s=pl.lit(1.0),
    )  # fmt: skip


SCORES = attempts(
    [("r", f"h{n}", "handle_time", 100.0 * (n < 3)) for n in range(4)]
    + [("r", f"k{n}", "knowledge_qa", 20.0 * n) for n in range(3)]
    + [("r", "h9", "handle_time", None)]
)


def test_a_task_is_the_mean_of_its_attempts_and_all_the_mean_of_the_tasks() -> None:
    found = board_figures.by_task(SCORES)
    assert list(found) == ["handle_time", "knowledge_qa", "all"]
    handled, known, whole = found.values()
    assert (handled.mean, handled.n, handled.unscored) == (75.0, 4, 1)
    assert (known.mean, known.n) == (20.0, 3)
    assert whole.mean == 47.5
    assert whole.n == 7
    assert whole.high == pytest.approx(47.5 + math.hypot(handled.high - 75, known.high - 20) / 2)
    got = clustered_interval([100, 100, 100, 0], ["h0", "h1", "h2", "h3"], (0, 100))
    assert (handled.low, handled.high) == (got.low, got.high)
    assert board_figures.by_task(SCORES.clear()) == {}


def test_agents_are_models_in_frameworks_and_floors_are_left_out() -> None:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [
        ("a", "m", '{"options": {"framework": "react"}}'), ("b", "m", '{"options": {}}'),
        ("c", "m", '{"options": {"framework": "act", "aided": true}}'), ("d", "m", None), ("e", "floor", "{}"),
        ("f", "m", '{"options": {"toolset": "ablation", "removed": "query_dependent"}}'),
    ]  # fmt: skip
    runs = pl.DataFrame(rows, schema=["run_id", "model", "setup"], orient="row").with_columns(created=pl.lit(when))
    found = board_figures.agents_of(runs, ["floor"])
    assert found == {
        Agent("m", "act", True): ("c",), Agent("m", "react"): ("a",), Agent("m", "function_calling"): ("b", "d"),
        Agent("m", "function_calling", False, "query_dependent"): ("f",),
    }  # fmt: skip
    assert [agent.name for agent in found][:2] == ["m, Act, aided", "m, ReAct"]


def test_floors_are_the_best_constant_answers() -> None:
    def sample(number: int, task: str, answer: str | None) -> Sample:
        return Sample(
            id=f"s{number}", dataset_id="d", benchmark="crmarena", task=task, inputs={}, expected={"answer": answer}
        )

    states = [sample(n, "best_region_identification", state) for n, state in enumerate(["GA", "TX", "GA", "NY"])]
    texts = ["30 days", "within 30 days", "same day"]
    found = board_figures.find_floors([*states, *(sample(n + 9, "knowledge_qa", text) for n, text in enumerate(texts))])
    assert found["best_region_identification"].mean == 50
    best = max(sum(f1(one, other) for other in texts) / 3 for one in texts)
    assert found["knowledge_qa"].mean == pytest.approx(100 * best)
    assert found["all"].mean == pytest.approx((50 + 100 * best) / 2)
    assert board_figures.find_floors([]) == {}


def test_what_an_attempt_takes() -> None:
    found = board_figures.spend(SCORES)
    assert found.passed == (1.0, 0.0, 2.0)
    assert (found.prompt_tokens, found.completion_tokens, found.cost_usd) == (10, None, 0.5)
    assert found.turns is not None
    assert found.turns.mean == 3.5


def test_tools_are_taken_away_on_the_tasks_that_lose_some_by_question() -> None:
    without, base = Agent("m", "function_calling", removed="query_dependent"), Agent("m", "function_calling")
    rows = [("w", f"h{n}", "handle_time", 100.0 * (n == 0)) for n in range(3)]
    rows += [("b", f"h{n}", "handle_time", 100.0) for n in range(3)]
    rows += [("w", "t", "transfer_count", 0.0), ("b", "t", "transfer_count", 100.0), ("b", "h7", "handle_time", 0.0)]
    found = board_figures.ablate(attempts(rows), {without: ("w",), base: ("b",)})
    # Transfer counts lose no tool of that kind.
    assert list(found) == [without]
    assert (found[without].difference, found[without].n) == (pytest.approx(-200 / 3), 3)
    assert board_figures.ablate(attempts(rows), {without: ("w",)}) == {}


def test_stored_attempts_are_read_with_their_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    make_crm(tmp_path)
    make_runs(tmp_path)
    found = queries_board.scored((CALLING, REACT))
    region, question = "best_region_identification", "knowledge_qa"
    assert found.select("run_id", "task", "score", "turns", "answerable", "passed").rows() == [
        (CALLING, region, 100.0, 3.0, True, True), (CALLING, question, 100.0, 2.0, True, True),
        (REACT, region, 0.0, 3.0, True, False), (REACT, question, 100.0, 2.0, True, True),
    ]  # fmt: skip
    assert queries_board.runs(DATASET).height == 2
    assert queries_board.scored(()).is_empty()
