"""Paired comparisons of models: what is paired, what is left over, and what is called real."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cxlab.errors import UnknownName
from cxlab.metrics.paired import paired_difference
from cxlab.read import View
from cxlab.views.compare import queries
from tests.stores.traces import RIGHT, fill

PAY = (*RIGHT, "ChangeOrder")
BYE = (*RIGHT, "GoodBye")


@pytest.fixture
def by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    rng = np.random.default_rng(1)
    good = {f"s{i:02d}": [(PAY, PAY, "none", 80.0 + rng.normal())] * 2 for i in range(20)}
    bad = {f"s{i:02d}": [(BYE, PAY, "action", 60.0 + rng.normal())] for i in range(19)} | {
        "s30": [(PAY, PAY, "none", 99.0)]
    }
    same = {name: turns[:1] for name, turns in good.items()}
    fill(tmp_path, {"good": good, "bad": bad, "same": same})
    return tmp_path


def test_pairs_are_made_by_sample_and_the_rest_is_counted(by_hand: Path) -> None:
    found = {row["side"]: row for row in queries.differences(View(), "good").iter_rows(named=True)}
    assert set(found) == {"bad", "same"}
    worse, same = found["bad"], found["same"]
    assert (worse["n"], worse["unmatched"], worse["verdict"]) == (19, 2, "worse")
    assert (worse["wins"], worse["losses"]) == (0, 19)
    assert -22 < worse["low"] < worse["difference"] < worse["high"] < -18
    assert (same["n"], same["unmatched"], same["verdict"]) == (20, 0, "cannot tell")
    assert (same["difference"], same["ties"]) == (0.0, 20)
    # Two comparisons: Holm doubles the smaller p.
    assert worse["p_holm"] == pytest.approx(2 * worse["p"])


def test_a_sample_counts_once_however_many_turns_it_has(by_hand: Path) -> None:
    means = queries.sample_means(View(), "model")
    own = means.filter(pl.col("side") == "good")
    assert own.height == 20
    assert own["n"].to_list() == [2] * 20
    other = means.filter((pl.col("side") == "bad") & (pl.col("sample_id") != "s30"))
    ours = own.filter(pl.col("sample_id").is_in(other["sample_id"].to_list()))
    expected = paired_difference(other["mean"].to_numpy(), ours["mean"].to_numpy(), seed=20260101, resamples=4000)
    found = queries.differences(View(models=("good", "bad")), "good").row(0, named=True)
    assert (found["difference"], found["low"], found["p"]) == pytest.approx(
        (expected.difference, expected.low, expected.p)
    )


def test_where_less_is_better_the_verdict_turns_round(home: Path) -> None:
    points = queries.differences(View(metric="overall"), "simulated:strong")
    words = queries.differences(View(metric="chat_words"), "simulated:strong", less_is_better=True)
    assert points.filter(pl.col("verdict") == "better").filter(pl.col("difference") < 0).is_empty()
    assert words.filter(pl.col("verdict") == "better").filter(pl.col("difference") > 0).is_empty()
    for row in words.iter_rows(named=True):
        assert row["wins"] + row["ties"] + row["losses"] == row["n"]


def test_groups_split_the_pairs_and_share_the_correction(by_hand: Path) -> None:
    found = queries.differences(View(models=("good", "bad")), "good", by="level")
    assert found["grp"].to_list() == ["strong", "weak", "zero"]
    assert found["n"].sum() == 19
    assert (found["p_holm"] >= found["p"]).all()
    with pytest.raises(UnknownName, match="colour"):
        queries.differences(View(), "good", by="colour")


def test_rows_lead_to_both_attempts(by_hand: Path) -> None:
    frame = queries.sample_pairs(View(), "bad", "good", limit=5)
    assert frame.height == 5
    assert frame["difference"].abs().is_sorted(descending=True)
    top = frame.row(0, named=True)
    assert (top["first_attempt"], top["second_attempt"]) == (f"bad-{top['sample_id']}", f"good-{top['sample_id']}")
    assert queries.counterpart(View(), top["first_run"], top["first_attempt"], "good") == (
        "run-good",
        top["second_attempt"],
    )
    assert queries.counterpart(View(), "run-bad", "bad-s30", "good") is None


def test_constant_answers_set_the_floor(by_hand: Path) -> None:
    floor = queries.floors(View(metric="action"))
    assert floor["value"].to_list() == [100.0]  # ChangeOrder is always due here
    assert queries.floors(View(metric="overall")).is_empty()


def test_pass_k_falls_with_every_trial_that_failed(
    by_hand: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert queries.trials(View()).is_empty()  # one trial a sample says nothing of reliability
    home = tmp_path_factory.mktemp("trials")
    monkeypatch.setenv("CXLAB_HOME", str(home))
    right, wrong = (PAY, PAY, "none", 90.0), (BYE, PAY, "action", 50.0)
    fill(home, {"m": {"s1": [right], "s2": [right]}}, run="first")
    fill(home, {"m": {"s1": [right], "s2": [wrong]}}, run="second")
    found = queries.trials(View()).select("k", "samples", "share").rows()
    assert found == [(1, 2, 0.75), (2, 2, 0.5)]


def test_figures_of_papers_stand_only_where_they_belong() -> None:
    whole = queries.published_points("sage", "overall", "overall")
    assert whole.height == 27
    assert whole["source"].str.contains("Table 1").all()
    one = queries.published_points("sage", "overall", "overall", narrowed=("telecom_package",))
    assert one.height == 27
    assert one["value"].to_list() != whole["value"].to_list()
    assert queries.published_points("sage", "logic", "overall").height == 27
    assert queries.published_points("sage", "logic", "overall", narrowed=("telecom_package",)).is_empty()
    assert queries.published_points("sage", "path_exact", "overall").is_empty()
    assert queries.published_points("nowhere", "overall", "overall").is_empty()
    scenarios = ("telecom_package", "airline_refund")
    grouped = queries.published_points("sage", "overall", "overall", "scenario", scenarios)
    assert grouped["grp"].unique().sort().to_list() == ["airline_refund", "telecom_package"]


def test_sides_carry_their_price(home: Path) -> None:
    found = queries.sides(View(benchmark="sage"))
    assert found["side"].n_unique() == found.height == 5
    assert (found["low"] <= found["value"]).all()
    assert found.columns == [
        "side", "model", "simulated", "attempts", "cost_usd", "latency_s", "n", "value", "low", "high"
    ]  # fmt: skip
