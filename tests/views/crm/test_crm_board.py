"""The board's figures, beside the same counted by hand."""

import math
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from cxlab.benchmarks.crmarena.answers import f1
from cxlab.metrics.intervals import clustered_interval
from cxlab.records import Sample
from cxlab.views.crm.board import ablation, figures, queries
from cxlab.views.crm.board.figures import Agent
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
    found = figures.by_task(SCORES)
    assert list(found) == ["handle_time", "knowledge_qa", "all"]
    handled, known, whole = found.values()
    assert (handled.mean, handled.n, handled.unscored) == (75.0, 4, 1)
    assert (known.mean, known.n) == (20.0, 3)
    assert whole.mean == 47.5
    assert whole.n == 7
    assert whole.high == pytest.approx(47.5 + math.hypot(handled.high - 75, known.high - 20) / 2)
    got = clustered_interval([100, 100, 100, 0], ["h0", "h1", "h2", "h3"], (0, 100))
    assert (handled.low, handled.high) == (got.low, got.high)
    assert figures.by_task(SCORES.clear()) == {}


def test_agents_are_models_in_frameworks_and_floors_are_left_out() -> None:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [
        ("a", "m", '{"options": {"framework": "react"}}'), ("b", "m", '{"options": {}}'),
        ("c", "m", '{"options": {"framework": "act", "aided": true}}'), ("d", "m", None), ("e", "floor", "{}"),
        ("f", "m", '{"options": {"toolset": "ablation", "removed": "query_dependent"}}'),
    ]  # fmt: skip
    runs = pl.DataFrame(rows, schema=["run_id", "model", "setup"], orient="row").with_columns(created=pl.lit(when))
    found = figures.agents_of(runs, ["floor"])
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
    found = figures.find_floors([*states, *(sample(n + 9, "knowledge_qa", text) for n, text in enumerate(texts))])
    assert found["best_region_identification"].mean == 50
    best = max(sum(f1(one, other) for other in texts) / 3 for one in texts)
    assert found["knowledge_qa"].mean == pytest.approx(100 * best)
    assert found["all"].mean == pytest.approx((50 + 100 * best) / 2)
    assert figures.find_floors([]) == {}


def test_what_an_attempt_takes() -> None:
    found = figures.spend(SCORES)
    assert found.passed == (1.0, 0.0, 2.0)
    assert (found.prompt_tokens, found.completion_tokens, found.cost_usd) == (10, None, 0.5)
    assert found.turns is not None
    assert found.turns.mean == 3.5


def test_a_function_is_taken_away_from_a_task_and_compared_by_question() -> None:
    base, kind = Agent("m", "function_calling"), Agent("m", "function_calling", removed="query_dependent")
    one = Agent("m", "function_calling", removed="search_products")
    both = Agent("m", "function_calling", removed="query_independent")
    ned = "named_entity_disambiguation"
    rows = [("k", f"h{n}", "handle_time", 100.0 * (n == 0)) for n in range(3)]
    rows += [("b", f"h{n}", "handle_time", 100.0) for n in range(3)] + [("b", "h7", "handle_time", 0.0)]
    rows += [("k", "c", "case_routing", 100.0), ("b", "c", "case_routing", 0.0)]
    rows += [(run, "t", "transfer_count", score) for run, score in (("k", 0.0), ("b", 100.0))]
    rows += [(run, "n", ned, score) for run, score in (("s", 0.0), ("a", 0.0), ("b", 100.0))]
    found = ablation.compare_pairs(attempts(rows), {base: ("b",), kind: ("k",), one: ("s",), both: ("a",)})
    told = {(each.pair.function, each.pair.task): (each.effect.difference, each.effect.n) for each in found}
    # A run that takes two functions away from a task measures neither; transfer counts lose none of that kind, and
    # two functions of the kind come with handle time.
    assert told == {("search_products", ned): (-100.0, 1), ("get_cases", "case_routing"): (100.0, 1)}
    alone = Agent("m", "function_calling", removed="get_cases")
    found = ablation.compare_pairs(attempts(rows), {base: ("b",), alone: ("k",)})
    differences = {each.pair.task: each.effect.difference for each in found}
    assert differences == {"case_routing": 100.0, "handle_time": pytest.approx(-200 / 3)}
    (kinds,) = ablation.sum_up_kinds(found)
    assert (kinds.kind, kinds.pairs, kinds.effect.n) == ("query_dependent", 2, 4)
    assert kinds.effect.difference == pytest.approx((100 - 200 / 3) / 2)
    assert ablation.compare_pairs(attempts(rows), {alone: ("k",)}) == []


def test_stored_attempts_are_read_with_their_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    make_crm(tmp_path)
    make_runs(tmp_path)
    found = queries.scored((CALLING, REACT))
    region, question = "best_region_identification", "knowledge_qa"
    assert found.select("run_id", "task", "score", "turns", "answerable", "passed").rows() == [
        (CALLING, region, 100.0, 3.0, True, True), (CALLING, question, 100.0, 2.0, True, True),
        (REACT, region, 0.0, 3.0, True, False), (REACT, question, 100.0, 2.0, True, True),
    ]  # fmt: skip
    assert queries.runs(DATASET).height == 2
    assert queries.scored(()).is_empty()
