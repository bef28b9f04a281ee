"""Parts of a score against the score, on a small store, as SciPy has it."""

from pathlib import Path

import numpy as np
import pytest
import scipy

from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.sage.formulae import CHAT_WEIGHTS, chat
from cxlab.read import View
from cxlab.records import Attempt, Run, Sample, Score, Verdict
from cxlab.store import write
from cxlab.views.sop.queries_parts import part_correlations
from tests.stores.traces import NOON

VIEW = View(benchmark="sage")


@pytest.fixture
def graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Three models of 20 samples with two graded turns each, and one turn without a grade: the grades, a row a turn."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    rng = np.random.default_rng(4)
    grades = rng.choice([3.0, 6.0, 9.0], size=(120, 5))
    grades[:, 4] = 6.0  # a part that never varies
    samples = {
        f"s{n}": Sample(id=f"s{n}", dataset_id="d", benchmark="sage", task="dialogue", inputs={}, expected={})
        for n in range(20)
    }
    for place in range(3):
        run = Run(
            id=f"r{place}", benchmark="sage", model=f"m{place}", simulated=False, setup={}, judges=(), dataset_id="d",
            seed=0, trials=1, planned=20, prompts={}, code="0", created=NOON,
        )  # fmt: skip
        write.create_run(run, tmp_path)
        with write.PartWriter(run, samples, home=tmp_path) as writer:
            for n in range(20):
                key = f"{run.id}-{n}"
                scores = [Score(attempt_id=key, metric="chat", value=50.0, turn=9)]
                for turn in (1, 2):
                    row = dict(zip(CHAT_WEIGHTS, grades[40 * place + 2 * n + turn - 1], strict=True))
                    values = {**row, "chat": chat(row)}
                    scores += [Score(attempt_id=key, metric=m, value=v, turn=turn) for m, v in values.items()]
                attempt = Attempt(id=key, run_id=run.id, sample_id=f"s{n}", trial=0, started=NOON)
                writer.add(attempt, Scored(tuple(scores), verdict=Verdict(attempt_id=key, value="passed")))
    return grades


def test_parts_are_correlated_with_the_whole_and_with_the_rest_of_it(graded: np.ndarray) -> None:
    found = part_correlations(VIEW, "chat", CHAT_WEIGHTS)
    whole = graded @ np.array(list(CHAT_WEIGHTS.values()))
    assert found["part"].to_list() == list(CHAT_WEIGHTS)
    assert (set(found["n"]), set(found["clusters"]), set(found["models"])) == ({120}, {20}, {3})
    for place, (weight, row) in enumerate(zip(CHAT_WEIGHTS.values(), found.iter_rows(named=True), strict=True)):
        if place == 4:
            assert (row["r"], row["rest"], row["low"], row["r2_models"]) == (None, None, None, None)
            continue
        part = graded[:, place]
        assert row["r"] == pytest.approx(scipy.stats.pearsonr(part, whole).statistic)
        assert row["rest"] == pytest.approx(scipy.stats.pearsonr(part, whole - weight * part).statistic)
        assert row["low"] < row["r"] < row["high"]
        # Grades at random: the part shows in the whole, and says nothing of the others.
        assert row["r"] > 0.2 > row["rest"]


def test_few_models_have_no_figure_over_models(graded: np.ndarray) -> None:
    two = part_correlations(VIEW.change(models=("m0", "m1")), "chat", CHAT_WEIGHTS)
    assert (two["r2_models"].null_count(), set(two["n"])) == (5, {80})
    nobody = part_correlations(VIEW.change(models=("nobody",)), "chat", CHAT_WEIGHTS)
    assert (nobody["r"].null_count(), set(nobody["n"])) == (5, {0})
