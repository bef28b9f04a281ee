"""Verdicts on hand-overs under versions of the rule: counted by hand, and flips by brute force."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cxlab.metrics.paired import mcnemar_exact
from cxlab.read import View
from cxlab.views.escalation import queries as queries_escalation
from tests.conftest import use
from tests.stores.judged_mm import ADA, BOB, SAID, SOURCE, TRUTH


@pytest.fixture
def found(mm_store: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    use(mm_store, monkeypatch)
    return queries_escalation.verdicts(View())


def row(frame: pl.DataFrame, **wanted: Any) -> dict[str, Any]:
    return frame.row(
        by_predicate=pl.all_horizontal(pl.col(name) == value for name, value in wanted.items()), named=True
    )


def test_what_was_said_is_found_with_the_conversation_that_it_is_about(found: pl.DataFrame) -> None:
    assert found.height == 6 * 2 * 2
    assert set(found["source"]) == {SOURCE}
    for (judge, version), said in SAID.items():
        mine = found.filter((pl.col("judge") == judge) & (pl.col("version") == version)).sort("sample_id")
        # What could not be read was asked again; what was read at first stays.
        assert mine["said"].to_list() == ["none" if verdict is None else verdict for verdict in said]
        assert mine["truth"].to_list() == list(TRUTH)
        assert mine["attempt_id"].to_list() == [f"{SOURCE}-c{place}" for place in range(6)]
    assert queries_escalation.reason("mm-patch", "mm-patch-c0", ADA) == f"{ADA} says so"


def test_only_the_texts_that_are_wanted_and_the_filters_count(found: pl.DataFrame) -> None:
    first, second = queries_escalation.questions()
    assert (first.version, second.version) == (1, 2)
    assert set(queries_escalation.verdicts(View(), (second.question,))["version"]) == {2}
    assert queries_escalation.verdicts(View(), ("another",)).is_empty()
    assert queries_escalation.verdicts(View(models=("simulated:strong",))).is_empty()
    assert queries_escalation.verdicts(View(runs=(SOURCE,))).height == found.height
    assert queries_escalation.sources(View()).select("run_id", "n").rows() == [(SOURCE, 6)]


def test_false_alarms_and_misses_are_told_apart(found: pl.DataFrame) -> None:
    rates = queries_escalation.rates(found)
    counts = {
        (judge, version): tuple(
            row(rates, judge=judge, version=version)[k] for k in ("wrong", "alarm", "miss", "confused")
        )
        for judge, version in SAID
    }
    assert counts == {(ADA, 1): (5, 1, 3, 1), (ADA, 2): (1, 0, 1, 0), (BOB, 1): (2, 1, 1, 0), (BOB, 2): (2, 0, 2, 0)}
    one = row(rates, judge=ADA, version=1)
    assert (one["n"], one["alarm_n"], one["miss_n"], one["unread"]) == (6, 3, 3, 0)
    assert one["miss_share"] == 1.0
    assert one["wrong_low"] < 5 / 6 < one["wrong_high"]
    # Never a person where one was needed, and one where none was: all of them the wrong way but two.
    assert one["mcc"] < 0
    assert row(rates, judge=ADA, version=2)["mcc"] > 0.7


def test_a_judge_that_knows_is_never_wrong_and_one_that_is_not_read_has_no_rate(found: pl.DataFrame) -> None:
    gold = queries_escalation.rates(found.with_columns(said="truth"))
    assert gold["wrong"].sum() == gold["alarm"].sum() == gold["miss"].sum() == gold["confused"].sum() == 0
    assert gold["wrong_high"].to_list() == pytest.approx([0.39] * 4, abs=0.01)
    assert set(gold["mcc"]) == {1.0}
    silent = queries_escalation.rates(found.with_columns(said=pl.lit(None, pl.String)))
    assert (silent["n"].sum(), silent["unread"].sum()) == (0, 24)
    assert silent["wrong_share"].null_count() == 4


def test_the_floors_are_what_a_constant_scores(found: pl.DataFrame) -> None:
    baseline = queries_escalation.baseline(found)
    assert baseline is not None
    assert (baseline.n, baseline.answer) == (6, "right")
    wrong = [sum(name != truth for truth in TRUTH) / 6 for name in queries_escalation.OPTIONS]
    assert baseline.constant == pytest.approx(min(wrong))
    constant = queries_escalation.rates(found.with_columns(said=pl.lit(baseline.answer)))
    assert constant["wrong_share"].to_list() == pytest.approx([baseline.constant] * 4)
    looking = {True: "right", False: "none"}
    assert baseline.by_event == looking
    assert baseline.looking == pytest.approx(sum(looking[t in ("right", "wrong")] != t for t in TRUTH) / 6)
    assert queries_escalation.baseline(found.clear()) is None


def test_flips_equal_a_walk_over_all_pairs(found: pl.DataFrame) -> None:
    rng = np.random.default_rng(7)
    options = [*queries_escalation.OPTIONS, None]
    mixed = found.with_columns(said=pl.Series([options[i] for i in rng.integers(0, 5, found.height)], dtype=pl.String))
    told = {(r["judge"], r["sample_id"], r["version"]): (r["said"], r["truth"]) for r in mixed.iter_rows(named=True)}
    expected = set()
    for judge, sample in {(judge, sample) for judge, sample, _ in told}:
        (was, truth), (now, _) = told[judge, sample, 1], told[judge, sample, 2]
        if was is not None and now is not None and was != now:
            became = "mended" if now == truth else "broken" if was == truth else "moved"
            expected.add((judge, sample, was, now, became))
    flips = queries_escalation.flips(mixed, 1, 2)
    assert set(flips.select("judge", "sample_id", "was", "now", "became").iter_rows()) == expected
    for step in queries_escalation.steps(mixed).iter_rows(named=True):
        mine = [became for judge, *_, became in expected if judge == step["judge"]]
        assert [step[name] for name in ("mended", "broken", "moved")] == [
            mine.count(name) for name in ("mended", "broken", "moved")
        ]
        assert step["n"] - step["kept"] == len(mine)


def test_steps_are_tested_by_sample_and_corrected(found: pl.DataFrame) -> None:
    steps = queries_escalation.steps(found)
    ada, bob = row(steps, judge=ADA), row(steps, judge=BOB)
    assert (ada["mended"], ada["broken"], bob["mended"], bob["broken"]) == (4, 0, 1, 1)
    assert (ada["p"], bob["p"]) == (mcnemar_exact(4, 0), 1.0)
    assert ada["p_holm"] == pytest.approx(2 * ada["p"])
    # Played three times, a sample is still one: its trials go the same way.
    thrice = pl.concat([found.with_columns(trial=pl.lit(t, pl.Int32)) for t in (1, 2, 3)])
    again = row(queries_escalation.steps(thrice), judge=ADA)
    assert (again["mended"], again["p"]) == (12, ada["p"])
    wide, narrow = (row(queries_escalation.rates(frame), judge=ADA, version=2) for frame in (found, thrice))
    assert narrow["wrong_high"] - narrow["wrong_low"] == pytest.approx(wide["wrong_high"] - wide["wrong_low"], rel=0.25)
