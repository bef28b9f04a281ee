"""Judges: every figure worked out by hand on four turns (the table is in tests/stores/judged.py)."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cxlab.read import View
from cxlab.read.query import AttemptSet
from cxlab.views.judges import (
    agreement,
    bias,
    queries_agreement,
    queries_bias,
    queries_leave_out,
    queries_materiality,
)
from tests.stores.judged import JUDGES, judge_again, make_judged_store
from tests.stores.judged_mm import ADA, BOB, make_mm_store

LENIENT, PARTIAL, STRICT = JUDGES
FIELD = "ecommerce_refund.CoreIntention"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_judged_store(tmp_path)
    return tmp_path


def of(frame: pl.DataFrame, **wanted: object) -> dict:
    return frame.filter(*(pl.col(name) == value for name, value in wanted.items())).row(0, named=True)


def test_judges_that_were_asked_of_the_same_runs_are_a_panel(home: Path) -> None:
    assert queries_agreement.panels(View()) == [(JUDGES, ("run-0", "run-1"), 4)]
    make_mm_store(home)
    found = queries_agreement.panels(View())
    assert [each.judges for each in found] == [(ADA, BOB), JUDGES]
    assert found[0].attempts == 6
    assert queries_agreement.panels(View(benchmark="sage", runs=("run-1",))) == [(JUDGES, ("run-1",), 2)]


def test_the_log_is_no_judge_that_kept_silent(home: Path) -> None:
    make_mm_store(home)
    found = queries_agreement.patterns(View(benchmark="mmtaup2"), JUDGES)
    # None of these three was asked there: what two others and the log said is no turn without their vote.
    assert found.filter(pl.any_horizontal(pl.col("^v[0-9]$").is_not_null())).is_empty()
    asked = queries_agreement.patterns(View(benchmark="mmtaup2"), (ADA, BOB))
    assert set(queries_agreement.splits(asked, 2)["split"]).isdisjoint({"no verdict"})


def test_the_lowest_cell_is_the_one_that_is_opened(home: Path) -> None:
    pairs = queries_agreement.pairs(queries_agreement.patterns(View(), JUDGES), JUDGES)
    fields = pairs.filter(pl.col("kind") == "field")
    low = queries_agreement.lowest(fields, "agree")
    assert (low["name"], low["a"], low["b"], low["agree"]) == (FIELD, LENIENT, PARTIAL, 0.5)
    assert agreement.find_cell(fields, "", (), "agree") == (FIELD, LENIENT, PARTIAL)
    assert agreement.find_cell(fields, FIELD, (STRICT, LENIENT), "agree") == (FIELD, LENIENT, STRICT)
    assert agreement.find_cell(fields, "gone", (LENIENT, STRICT), "agree") == (FIELD, LENIENT, STRICT)
    assert agreement.find_cell(fields, "gone", ("nobody", STRICT), "kappa")[1:] == (LENIENT, PARTIAL)
    opened = queries_agreement.pair(View(), FIELD, LENIENT, PARTIAL)
    assert opened is not None
    assert (opened.share, opened.n) == (low["agree"], low["n"])
    assert agreement.say_lowest(low, "agree") == (
        "The lowest, core intention · ecommerce refund: lenient and partial agree on 50.0 %, n 4"
    )
    assert agreement.say_lowest(low, "kappa").endswith("have a kappa of 0.200, n 4")


def test_filters_and_what_is_left_out_are_cut_from_one_reading(home: Path) -> None:
    eloquent = View(models=("simulated:eloquent",))
    without = View().change(without=("simulated:strong",))
    for each in (queries_bias.against_gold, queries_bias.favour, queries_agreement.panel):
        assert str(each(without)) == str(each(eloquent))
    assert queries_leave_out.votes_with_truth(without, JUDGES)["n"].sum() == 2
    lengths = {"sage": "chat_words"}
    assert queries_bias.severity(without, lengths).equals(queries_bias.severity(eloquent, lengths))
    # Compared attempts are picked from the same reading.
    made = queries_materiality.alone(View())
    among = AttemptSet.of(pl.DataFrame({"run_id": ["run-0", "run-0"], "attempt_id": ["run-0-a0", "run-0-a1"]})).keep()
    picked = queries_materiality.alone(View().change(among=among))
    assert set(picked["model"]) == {"simulated:eloquent"}
    assert of(picked, judge=LENIENT)["mean"] == of(made, judge=LENIENT, model="simulated:eloquent")["mean"]


def test_the_panel(home: Path) -> None:
    found = queries_agreement.panel(View())
    assert found["judge"].to_list() == list(JUDGES)
    assert found["turns"].to_list() == [4, 4, 4]
    assert found["verdicts"].to_list() == [8, 8, 8]


def test_pairs_agree_as_counted_by_hand(home: Path) -> None:
    found = queries_agreement.pairs(queries_agreement.patterns(View(), JUDGES), JUDGES)
    pair = of(found, name=FIELD, a=LENIENT, b=STRICT)
    # 3 of 4 alike; chance: R 1/4 x 2/4, E 3/4 x 2/4 = 1/2.
    assert (pair["n"], pair["agree"], pair["kappa"]) == (4, 0.75, pytest.approx(0.5))
    grades = of(found, name="content_utility", a=LENIENT, b=STRICT)
    # (9,3) twice, (9,6), (6,6): squared steps 4 4 1 0, seen 9/4; by chance: 9 (3/4) and 6 (1/4) against 3 and 6 (1/2).
    expected = 3 / 4 * (1 / 2 * 4 + 1 / 2 * 1) + 1 / 4 * (1 / 2 * 1)
    assert grades["kappa"] == pytest.approx(1 - (9 / 4) / expected)
    pooled = queries_agreement.summarise(found.filter(pl.col("kind") == "field"), ("kind", "a", "b"))
    assert of(pooled, a=LENIENT, b=STRICT)["agree"] == 0.75


def test_one_pair_in_full(home: Path) -> None:
    pair = queries_agreement.pair(View(), FIELD, LENIENT, STRICT)
    assert pair is not None
    assert pair.labels == ("Exchange", "ReturnOrRefund")
    assert pair.table.tolist() == [[2, 1], [0, 1]]
    assert pair.n == 4
    assert 0 <= pair.share_low <= pair.share == 0.75 <= pair.share_high <= 1
    assert queries_agreement.pair(View(), FIELD, LENIENT, STRICT) is not pair
    assert queries_agreement.pair(View(), "ecommerce_refund.NoSuchField", LENIENT, STRICT) is None


def test_reliability_and_splits(home: Path) -> None:
    found = queries_agreement.patterns(View(), JUDGES)
    whole = of(queries_agreement.reliability(found, 3), kind="field")
    # Two unanimous items and two of 2-1: agreement of pairs (1 + 1/3 + 1 + 1/3) / 4; 6 R and 6 E, so chance is 1/2.
    assert (whole["n"], whole["unanimous"]) == (4, 0.5)
    assert whole["agree"] == pytest.approx(2 / 3)
    assert whole["fleiss"] == pytest.approx(1 / 3)
    shares = {
        row["split"]: row["n"]
        for row in queries_agreement.splits(found, 3).iter_rows(named=True)
        if row["name"] == FIELD
    }
    assert shares == {"unanimous": 2, "majority": 2}
    by_model = queries_agreement.reliability(queries_agreement.patterns(View(), JUDGES, "model"), 3)
    assert of(by_model, kind="field", slice="simulated:strong")["unanimous"] == 0.5
    assert set(queries_agreement.reliability(queries_agreement.patterns(View(), JUDGES, "turn"), 3)["slice"]) == {"001"}


def test_materiality_is_where_judges_alone_lead_apart(home: Path) -> None:
    found = queries_materiality.materiality(View())
    way = of(found, measure="way")
    # Three turns have a way for each judge (the fourth could not be read); on one of them lenient leads elsewhere.
    assert (way["n"], way["mean"]) == (3, pytest.approx(1 / 3))
    assert of(found, measure="action")["mean"] == pytest.approx(1 / 3)
    assert of(found, measure="range")["mean"] == pytest.approx(80 / 3)
    assert 0 <= way["low"] < 1 / 3 < way["high"] <= 1


def test_scores_with_one_judge_alone(home: Path) -> None:
    found = queries_materiality.alone(View())
    assert of(found, judge="panel", model="simulated:eloquent")["mean"] == 70.0
    assert of(found, judge=LENIENT, model="simulated:eloquent")["mean"] == 94.0
    assert of(found, judge=STRICT, model="simulated:eloquent")["mean"] == 62.0
    assert of(queries_materiality.offsets(View()), judge=STRICT)["mean"] == pytest.approx((4 - 20 - 50) / 3)
    order = queries_materiality.stability(found)
    ranks = {(row["judge"], row["model"]): row["rank"] for row in order.ranks.iter_rows(named=True)}
    assert ranks[("panel", "simulated:strong")] == 1
    assert ranks[(LENIENT, "simulated:eloquent")] == 1
    assert order.tau[LENIENT] == pytest.approx(-1)


def test_strictness_is_an_offset_from_the_panel(home: Path) -> None:
    found = queries_bias.severity(View(), {"sage": "chat_words"})
    strict = of(found, judge=STRICT)
    # Panel means 7, 7, 7, 6; strict 3, 3, 6, 6.
    assert (strict["n"], strict["mean"]) == (4, pytest.approx(-9 / 4))
    assert (strict["three"], strict["six"], strict["nine"]) == (0.5, 0.5, 0.0)
    assert sum(found["mean"]) == pytest.approx(0)
    gaps = dict(found.select("judge", "gap").iter_rows())
    assert gaps[STRICT] == 0
    assert gaps[LENIENT] == pytest.approx(of(found, judge=LENIENT)["mean"] - strict["mean"])
    assert bias.say_strictness(found) == "No judge grades lower than another beyond chance"
    sure = found.with_columns(gap_low=pl.col("gap") - 0.5, gap_high=pl.col("gap") + 0.5)
    assert bias.say_strictness(sure) == "Strict grades 3.75 lower than lenient (3.25 to 4.25)"


def test_families_and_favour(home: Path) -> None:
    assert queries_bias.family("openai:gpt-4.1") == queries_bias.family("openai:gpt-5.4") == "openai"
    assert queries_bias.family("endpoint:a") != queries_bias.family("endpoint:b")
    assert queries_bias.family("simulated:judge-partial") == queries_bias.family("simulated:eloquent")
    found = queries_bias.favour(View())
    assert found is not None
    assert found.own.sum() == 1
    assert found.own[found.judges.index(PARTIAL), found.models.index("simulated:eloquent")]
    assert found.grades[found.judges.index(STRICT)].tolist() == [3.0, 6.0]
    assert found.residuals.sum() == pytest.approx(0)
    # Two samples say next to nothing: no lean is claimed, and how many samples it would take is told.
    told = bias.say_favour(found)
    assert told == "No judge favours a model for sure: at most strict on eloquent, −1.75 ± 19.10"
    near = bias.say_favour(found._replace(reach=np.full(found.reach.shape, 3.0)))
    assert near.endswith("−1.75 ± 3.00; to be sure of that much takes some 4 samples more")
    assert "2 models: their smallest possible p is 0.50, and 20 models would be needed" in bias.say_family(found)
    sure = bias.say_favour(found._replace(reach=np.full(found.reach.shape, 0.1)))
    assert sure.startswith("Strict grades")
    assert "than strictness and quality explain" in sure
    unknown = bias.say_favour(found._replace(reach=np.full(found.reach.shape, np.nan)))
    assert unknown == "Whether a judge favours a model cannot be told from these samples"
    assert queries_bias.favour(View(models=("simulated:strong",))) is None


def test_judges_against_what_the_customer_was_made_from(home: Path) -> None:
    found = queries_bias.against_gold(View())
    # Gold is a refund on each of the three readable turns.
    assert of(found, judge=STRICT)["mean"] == pytest.approx(2 / 3)
    assert of(found, judge=LENIENT)["mean"] == pytest.approx(1 / 3)
    assert of(found, judge="panel")["mean"] == pytest.approx(2 / 3)
    table = queries_bias.gold_confusion(View(), FIELD)
    assert of(table, judge=LENIENT, verdict="Exchange")["n"] == 2


def test_twice_the_same(home: Path) -> None:
    assert queries_bias.retest(View()).is_empty()
    judge_again(home, STRICT)
    found = queries_bias.retest(View())
    assert of(found, judge=STRICT, kind="field")["mean"] == 0.5
    assert of(found, judge=LENIENT, kind="field")["mean"] == 1.0
    assert of(found, judge=STRICT, kind="dimension")["n"] == 2
    assert queries_bias.retest(View(runs=("run-1",))).is_empty()
    # The second scoring is no new evidence elsewhere.
    assert queries_agreement.panel(View())["turns"].to_list() == [4, 4, 4]


def test_an_empty_store_has_no_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    assert queries_agreement.panel(View()).is_empty()
    assert queries_agreement.pairs(queries_agreement.patterns(View(), JUDGES), JUDGES).is_empty()
    assert queries_materiality.materiality(View()).is_empty()
    assert queries_bias.severity(View(), {"sage": "chat_words"}).is_empty()
    assert queries_bias.favour(View()) is None
