"""What a page that shows several benchmarks asks the store once, and not once for each."""

from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.read import annotations, conditions
from cxlab.read.annotations import WRONG_LABEL, marked_samples
from cxlab.read.conditions import of_runs
from cxlab.read.results import headlines
from cxlab.read.results.headlines import with_scored_headlines
from cxlab.ui.annotations import annotate
from tests.stores.runs import write_run


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A store with a run of each benchmark; what these rooms ask of it."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for number, name in enumerate(REGISTRY, 1):
        write_run(tmp_path, number, "m", {("s1", 1): 50.0}, benchmark=name)
    found: list[str] = []
    for room in (annotations, conditions, headlines):
        ask = room.ask

        def noted(sql: str, *more: Any, ask: Any = ask) -> Any:
            found.append(sql)
            return ask(sql, *more)

        monkeypatch.setattr(room, "ask", noted)
    return found


def test_runs_headlines_and_marks_of_all_benchmarks_are_read_at_once(asked: list[str]) -> None:
    for name, benchmark in REGISTRY.items():
        about = benchmark.declaration
        (run,) = of_runs(name, about.switches).values()
        assert run.conditions.benchmark == name
        assert with_scored_headlines(about).card.headline == about.card.headline
        assert marked_samples(name).is_empty()
    # The runs and their scorers, what is scored, and whether anything is marked.
    assert len(asked) == 4


def test_a_mark_is_seen_as_soon_as_it_is_given(asked: list[str]) -> None:
    assert marked_samples("sage").is_empty()
    (run,) = of_runs("sage", REGISTRY["sage"].declaration.switches)
    annotate("tag", run, "a1-s1-1", WRONG_LABEL)
    assert marked_samples("sage")["sample_id"].to_list() == ["s1"]
    assert marked_samples("cdr").is_empty()
