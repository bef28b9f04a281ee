"""The review of disagreements: what is grouped, what comes first, and that no two alike follow each other."""

import math
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab import read
from cxlab.read import View, decisions
from cxlab.records.correction import PASSED, Corrections, Effect, changed
from cxlab.records.metric_names import head_metric
from cxlab.ui.annotations import annotate
from cxlab.views.benchmarks import declared
from cxlab.views.judges import corrected_scores, corrections, queries_review, raters
from tests.stores.judged import JUDGES, make_judged_store

LENIENT, PARTIAL, STRICT = JUDGES
FIELD = "ecommerce_refund.CoreIntention"
SPLIT = ("run-0", "run-0-a1", 1, "CoreIntention")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_judged_store(tmp_path)
    return tmp_path


def states() -> pl.DataFrame:
    return decisions.outcomes(decisions.decisions())


def test_splits_say_who_stands_against_whom_and_what_it_is_worth(home: Path) -> None:
    found = queries_review.splits(View(), ("scenario", "level"))
    assert found["level"].unique().to_list() == ["weak"]
    fields = found.filter(pl.col("kind") == "field")
    first, second = fields.iter_rows(named=True)
    assert (first["attempt_id"], first["name"], first["telling"], first["stake"]) == ("run-0-a1", FIELD, True, 80.0)
    assert first["entropy"] == pytest.approx(-(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3)))
    assert queries_review.read_sides(first["sides"]) == [[LENIENT], [PARTIAL, STRICT]]
    assert (second["attempt_id"], second["telling"], second["stake"]) == ("run-1-a3", False, 0.0)
    # Grades 9 9 3, 9 9 3 and 9 6 6: from end to end of the scale where a 9 meets a 3.
    grades = found.filter(pl.col("kind") == "dimension")
    assert grades.select("attempt_id", "telling").rows() == [
        ("run-0-a0", True), ("run-0-a1", True), ("run-1-a2", False),
    ]  # fmt: skip
    table = queries_review.groups(found)
    assert table.select("kind", "n", "telling").rows()[0] == ("field", 1, 1)
    assert table["n"].sum() == found.height
    assert queries_review.splits(View(models=("simulated:strong",)), ()).height == 2
    assert queries_review.splits(View().narrow(level=("strong",)), ("level",)).is_empty()


def test_an_empty_store_has_nothing_to_review(empty_home: Path) -> None:
    assert queries_review.benchmarks() == []
    assert queries_review.splits(View(), ("level",)).is_empty()
    assert queries_review.order(queries_review.splits(View())).is_empty()


@given(st.lists(st.tuples(st.sampled_from(["Af", "Bf", "Cg"]), st.sampled_from("stuv")), max_size=30))
def test_no_two_alike_follow_each_other_while_others_are_left(drawn: list[tuple[str, str]]) -> None:
    rows = [(group, group[1], sample) for group, sample in drawn]
    schema = {"group": pl.String, "name": pl.String, "sample_id": pl.String}
    found = pl.DataFrame(rows, schema=schema, orient="row").with_columns(id=pl.int_range(pl.len()))
    got = queries_review.order(found)
    assert sorted(got["id"]) == list(range(len(rows)))  # each once, none lost
    fields = len({name for _, name, _ in rows}) > 1
    seen = got.select("name", "sample_id").rows()
    for place, (before, after) in enumerate(pairwise(seen), start=1):
        if (fields and before[0] == after[0]) or before[1] == after[1]:
            # Then only alike ones are left.
            assert all((fields and name == before[0]) or sample == before[1] for name, sample in seen[place:])


def test_a_decision_corrects_the_score_by_the_rules_of_the_benchmark(home: Path) -> None:
    assert corrected_scores.compare(View(), corrected_scores.correct(states())).is_empty()
    # The panel read a refund, the agent an exchange: its logic was 40. It was an exchange: 100, and it passes.
    annotate("adjudication", *SPLIT[:2], "Exchange", 1, "CoreIntention")
    found = corrected_scores.correct(states())
    effect = found.effects[SPLIT[:2]]
    assert (effect.before["logic", False], effect.after["logic", False]) == ((1, 40.0), (1, 100.0))
    assert (effect.verdict, effect.corrected) == ("failed", "passed")
    frame = corrected_scores.compare(View(), found)
    row = frame.filter(pl.col("metric") == PASSED).row(0, named=True)
    assert (row["model"], row["attempts"]) == ("simulated:eloquent", 1)
    assert row["change"] == pytest.approx(row["corrected"] - row["mean"])
    assert row["change"] == pytest.approx(50.0)
    told = corrections.say_finding(frame, found, 1)
    assert told.startswith("1 decision changes 1 attempt, 1 of them in its verdict; success rate of the model ")


def test_an_item_and_all_decisions_speak_of_the_same_measures(home: Path) -> None:
    annotate("adjudication", *SPLIT[:2], "Exchange", 1, "CoreIntention")
    found = corrected_scores.correct(states())
    table = corrected_scores.metrics_of("sage", found.effects.values())
    told = corrections.list_moves("sage", found.effects[SPLIT[:2]])
    assert told[0] == "failed → passed"
    assert [each.rpartition(" → ")[0].rpartition(" ")[0] for each in told[1:]] == [
        head_metric(metric) for metric in table if metric != PASSED
    ]
    assert "Action 0.0 → 100.0" in told


def test_the_table_of_corrected_scores_stands_in_the_order_of_an_item(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotate("adjudication", *SPLIT[:2], "Exchange", 1, "CoreIntention")
    found = corrected_scores.correct(states())
    wanted = corrected_scores.metrics_of("sage", found.effects.values())
    assert wanted.index("classification") < wanted.index("action") < wanted.index("logic")
    rows = [("sage", metric, False, "simulated:eloquent", f"s{n}", 1, 50.0)
            for metric in sorted(wanted) for n in (0, 1)]  # fmt: skip
    schema = {"benchmark": pl.String, "metric": pl.String, "whole": pl.Boolean, "model": pl.String,
              "sample_id": pl.String, "n": pl.Int64, "total": pl.Float64}  # fmt: skip
    monkeypatch.setattr(corrected_scores, "sums", lambda *_: pl.DataFrame(rows, schema=schema, orient="row"))
    assert corrected_scores.compare(View(), found)["metric"].to_list() == wanted


def test_a_finding_names_what_heads_an_attempt_and_its_interval_where_the_ranking_stays() -> None:
    def row(metric: str, change: float, low: float) -> dict[str, object]:
        return {"benchmark": "sage", "metric": metric, "model": "simulated:weak", "mean": 46.0,
                "corrected": 46.0 + change, "change": change, "change_low": low, "change_high": 2 * change}  # fmt: skip

    key = ("overall", True)
    effect = Effect({key: (1, 61.3)}, {key: (1, 75.1)}, "failed", "failed")
    found = Corrections({("r", "a"): effect}, {}, {})
    # The table's order; the largest change is of another measure.
    frame = pl.DataFrame([row("overall", 0.2, 0.1), row("action", 3.0, -0.1)])
    assert corrections.say_finding(frame, found, 1) == (
        "1 decision changes 1 attempt; what models are ranked by stays; paper's overall score of the model weak goes "
        "from 46.0 to 46.2 (+0.2, +0.1 to +0.4)"
    )
    assert corrections.say_finding(frame.tail(1), found, 1).endswith("49.0 (+3.0, −0.1 to +6.0, not beyond chance)")
    small = pl.DataFrame([row("overall", 0.04, -0.04)])
    assert corrections.say_finding(small, found, 1).endswith(
        "from 46.00 to 46.04 (+0.04, −0.04 to +0.08, not beyond chance)"
    )
    ranked = pl.concat([frame, pl.DataFrame([row(declared("sage").card.headline, 1.0, 0.5)])])
    assert "; decidable score of the model weak goes from 46.0 to 47.0 (" in corrections.say_finding(ranked, found, 1)


def test_a_decision_for_the_panel_changes_nothing(home: Path) -> None:
    annotate("adjudication", *SPLIT[:2], "ReturnOrRefund", 1, "CoreIntention")
    found = corrected_scores.correct(states())
    effect = found.effects[SPLIT[:2]]
    assert effect.corrected == effect.verdict == "failed"
    # Its classification is another's: agents are held to what judges read, and they read the same.
    assert "logic" not in changed(effect)
    assert "no score changes" in corrections.say_finding(corrected_scores.compare(View(), found), found, 1)


@pytest.mark.parametrize(
    ("decided", "panel", "same"), [("true", "True", True), ("true", "False", False), ("", "True", False)]
)
def test_a_panel_that_said_the_same_is_known_however_it_was_kept(decided: str, panel: str, same: bool) -> None:
    assert corrections.agrees(decided, panel) is same


def test_a_dataset_that_is_gone_is_told(home: Path) -> None:
    import shutil

    annotate("adjudication", *SPLIT[:2], "Exchange", 1, "CoreIntention")
    shutil.rmtree(home / "datasets" / "d1")
    found = corrected_scores.correct(states())
    assert not found.effects
    assert "cannot be read" in found.left_out["run-0"]
    assert corrected_scores.compare(View(), found).is_empty()


def test_judges_are_held_against_what_people_decided(home: Path) -> None:
    assert raters.judges_with_people(View(), states()).is_empty()
    annotate("adjudication", *SPLIT[:2], "Exchange", 1, "CoreIntention")
    annotate("adjudication", "run-1", "run-1-a3", "Exchange", 1, "CoreIntention")
    found = raters.judges_with_people(View(), states())
    shares = {judge: (n, share) for judge, n, share, *_ in found.iter_rows()}
    assert shares == {LENIENT: (2, 1.0), PARTIAL: (2, 0.0), STRICT: (2, 0.5)}
    assert found["judge"][0] == LENIENT


def test_what_judges_said_of_one_field(home: Path) -> None:
    found = queries_review.said_of(read.attempt(*SPLIT[:2]), *SPLIT[2:])
    assert found["judge"].to_list() == list(JUDGES)
    assert found["verdict"].to_list() == ["Exchange", "ReturnOrRefund", "ReturnOrRefund"]
    assert found["action"].to_list() == ["Exchange", "Refund", "Refund"]
    assert queries_review.verdicts_of("sage", "dimension", "content_utility") == ["3", "6", "9"]
