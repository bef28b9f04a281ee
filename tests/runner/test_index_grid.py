"""A grid of indexes: what it is made of and what it is said to take."""

from pathlib import Path

import pytest

from cxlab.errors import BadOption
from cxlab.runner import index_grid
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest
from tests.stores.searches import DATASET, make_searched_store

ALL, TURNS = SampleFilter(), SampleFilter(where=(("scenario", "multi_turn"),))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return make_searched_store(tmp_path)


def order(model: str = "simulated:strong", choice: SampleFilter = ALL, **options: object) -> RunRequest:
    return RunRequest("cxmarena", (model,), None, ("simulated:judge-strict",), DATASET, choice, options=options)


def test_each_method_meets_each_size() -> None:
    found = index_grid.expand(order(query="last"), grid(["bm25", "hybrid", "bm25"], [200, 1000], 15))
    assert [one.options for one in found] == [
        {"query": "last", "retrieval": m, "chunk": size, "overlap": size * 15 // 100}
        for m in ("bm25", "hybrid")
        for size in (200, 1000)
    ]


def grid(methods: list[str], sizes: list[int], overlap: int = 0) -> list[dict[str, object]]:
    """Each method with each size, `overlap` in per cent of it."""
    return [{"retrieval": m, "chunk": size, "overlap": size * overlap // 100} for m in methods for size in sizes]


def test_what_makes_no_grid_is_refused() -> None:
    with pytest.raises(BadOption, match="pick at least one"):
        index_grid.expand(order(), [])
    assert "chunk=0" in index_grid.validate(index_grid.expand(order(), grid(["bm25"], [0])))


def test_calls_are_counted_by_what_is_asked_of_models() -> None:
    def calls(**options: object) -> int:
        return index_grid.estimate_grid(
            index_grid.expand(order(choice=TURNS, **options), grid(["bm25"], [500, 1000])), {}
        ).calls

    # Three turns in each of two runs: a query each, an answer each, and one judge of it.
    assert calls(query="last", respond=False) == 0
    assert calls(respond=False) == 6
    assert calls() == 18


def test_time_is_known_only_for_methods_that_ran() -> None:
    both = index_grid.expand(order(respond=False), grid(["bm25", "lexical"], [500]))
    assert index_grid.estimate_grid(both, {"bm25": 2.0}).seconds is None
    seen = index_grid.estimate_grid(both, {"bm25": 2.0, "lexical": 3.0})
    assert (seen.seconds, seen.runs, seen.searches, seen.cost_usd, seen.tokens) == (5.0, 2, 14, 0.0, 0)


def test_a_model_without_a_price_has_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    priced = index_grid.estimate_grid(
        index_grid.expand(order("openai:gpt-4.1", TURNS, respond=False), grid(["bm25"], [500])), {"bm25": 1.0}
    )
    assert priced.cost_usd is not None
    assert priced.cost_usd > 0
    assert priced.tokens > 0
    unknown = index_grid.estimate_grid(
        index_grid.expand(order("openai:no-such-model", TURNS, respond=False), grid(["bm25"], [500])), {}
    )
    assert unknown.cost_usd is None


def test_what_can_be_ordered() -> None:
    light = index_grid.expand(order(), grid(["bm25"], [500]))
    assert index_grid.to_arguments(["run-1", "run-2"]) == ["run", "--resume=run-1", "--resume=run-2", "--quiet"]
    assert index_grid.validate(light) == ""
    assert "nonsense" in index_grid.validate(index_grid.expand(order(), grid(["hybrid:nonsense"], [500])))
