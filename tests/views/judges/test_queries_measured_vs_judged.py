"""Measured beside judged, against what can be counted by hand."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cxlab.benchmarks.mmtaup2.benchmark import BENCHMARK
from cxlab.metrics.intervals import clustered_interval
from cxlab.read import View
from cxlab.views.judges.measured import queries, queries_fields
from tests.conftest import use
from tests.stores.judged_mm import ADA, BOB, JUDGED_PASSED, PASSED, SOURCE, make_mm_store

assert BENCHMARK.judged is not None
assert BENCHMARK.judged.contrast is not None
CONTRAST = BENCHMARK.judged.contrast
PANEL = queries.PANEL


@pytest.fixture(autouse=True)
def mm_home(mm_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(mm_store, monkeypatch)


def test_runs_that_have_both_are_found_and_patches_are_none() -> None:
    assert queries.runs(View(), "pass") == (SOURCE,)
    assert queries.runs(View(runs=("mm-patch",)), "pass") == ()
    assert queries.runs(View(models=("simulated:strong",)), "pass") == ()
    assert queries.judges((SOURCE,)) == [ADA, BOB]
    assert queries.judges(()) == []


def test_metrics_are_compared_over_the_conversations_that_have_both() -> None:
    found = {row["metric"]: row for row in queries.compare(queries.pairs(View(), (SOURCE,))).iter_rows(named=True)}
    # Turns are counted from the same messages; the page leaves out what the benchmark says so of.
    assert set(found) - BENCHMARK.judged.same == {"pass", "user_effort"}
    passed, effort = found["pass"], found["user_effort"]
    gaps = 100.0 * (np.array(JUDGED_PASSED) - np.array(PASSED))
    # Each interval is corrected for all metrics that are compared.
    about = clustered_interval(gaps, level=1 - 0.05 / len(found))
    assert (passed["n"], passed["mean"], passed["differ"]) == (6, pytest.approx(about.mean), pytest.approx(1 / 6))
    assert (passed["low"], passed["high"]) == (pytest.approx(about.low), pytest.approx(about.high))
    assert (effort["n"], effort["only_measured"], effort["only_judged"]) == (5, 1, 0)
    assert (effort["measured"], effort["judged"], effort["off"]) == (30.0, pytest.approx(26.8), pytest.approx(3.2))
    assert (effort["differ"], effort["r"]) == (0.8, None)  # too few pairs to correlate


def test_correlation_is_numpys_and_none_for_a_constant() -> None:
    rng = np.random.default_rng(3)
    one = rng.normal(size=40)
    other = one + rng.normal(size=40)
    rows = {
        "run_id": ["r"] * 40,
        "attempt_id": [str(i) for i in range(40)],
        "sample_id": [str(i % 9) for i in range(40)],
    }
    both = pl.DataFrame({**rows, "metric": ["m"] * 40, "measured": one, "judged": other})
    found = queries.compare(both).row(0, named=True)
    assert found["r"] == pytest.approx(float(np.corrcoef(one, other)[0, 1]))
    about = clustered_interval(other - one, rows["sample_id"])
    assert (found["low"], found["high"]) == (pytest.approx(about.low), pytest.approx(about.high))
    assert queries.compare(both.with_columns(judged=pl.lit(1.0)))["r"][0] is None
    same = queries.compare(both.with_columns(judged="measured")).row(0, named=True)
    assert (same["mean"], same["differ"], same["off"]) == (0.0, 0.0, 0.0)


def test_the_furthest_apart_come_first() -> None:
    both = queries.pairs(View(), (SOURCE,))
    far = queries.apart(both, "pass")
    assert far.select("attempt_id", "difference").rows() == [(f"{SOURCE}-c1", 100.0)]
    assert set(far["model"]) == {"simulated:base"}
    assert queries.apart(both, "user_effort")["difference"].to_list() == [-4.0] * 4
    assert queries.apart(both, "unknown").is_empty()


def test_one_judge_alone_takes_the_panels_place() -> None:
    def values(verdicts: Mapping[int, Mapping[str, str]], turns: int) -> dict[str, float | None]:
        return {"pass": 100.0 * (verdicts[turns]["solved"] == "yes"), "user_effort": None}

    ada, bob = (queries.compare(queries.pairs_of(View(), (SOURCE,), judge, values)) for judge in (ADA, BOB))
    assert ada.select("metric", "n", "mean").rows() == [("pass", 6, pytest.approx(100 / 6))]
    assert bob.select("metric", "mean", "differ").rows() == [("pass", 0.0, 0.0)]


def test_robustness_compares_voice_with_text_on_the_same_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def values(verdicts: Mapping[int, Mapping[str, str]], turns: int) -> dict[str, float | None]:
        return {"pass": 100.0 * (verdicts[turns]["solved"] == "yes")}

    assert queries.contrast(View(), (SOURCE,), PANEL, values, CONTRAST) is None
    make_mm_store(tmp_path, voice=(3, 4, 5))
    use(tmp_path, monkeypatch)
    found = queries.contrast(View(), (SOURCE,), PANEL, values, CONTRAST)
    assert found is not None
    # Tasks t0, t1, t2 by text are c0, c1, c2 and by voice c3, c4, c5.
    assert found.measured == pytest.approx(sum(PASSED[3:]) / sum(PASSED[:3]))
    assert found.judged == pytest.approx(sum(JUDGED_PASSED[3:]) / sum(JUDGED_PASSED[:3]))
    assert (found.tasks, found.difference) == (3, pytest.approx(1 / 3 - 1 / 2))
    right = queries.contrast(View(), (SOURCE,), BOB, values, CONTRAST)
    assert right is not None
    assert right.difference == 0.0


def test_each_field_is_held_against_the_log() -> None:
    found = {row["judge"]: row for row in queries_fields.fields(View(), (SOURCE,)).iter_rows(named=True)}
    assert (found[ADA]["n"], found[ADA]["mean"]) == (6, pytest.approx(1 / 6))
    assert (found[BOB]["mean"], found[BOB]["mcc"], found[BOB]["yes_no"]) == (0.0, pytest.approx(1.0), True)
    table = queries_fields.verdicts(View(), (SOURCE,), ADA, "solved")
    assert table.rows() == [("no", "no", 2), ("no", "yes", 1), ("yes", "yes", 3)]
    assert queries_fields.fields(View(), ()).is_empty()


def test_a_judge_that_is_right_needs_no_correction() -> None:
    found = {row["judge"]: row for row in queries_fields.prevalence(View(), (SOURCE,), "solved").iter_rows(named=True)}
    assert (found[BOB]["observed"], found[BOB]["corrected"], found[BOB]["log"]) == (0.5, pytest.approx(0.5), 0.5)
    assert (found[ADA]["observed"], found[ADA]["tpr"], found[ADA]["tnr"]) == (
        pytest.approx(4 / 6),
        1.0,
        pytest.approx(2 / 3),
    )
