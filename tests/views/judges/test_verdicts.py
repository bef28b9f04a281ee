"""The verdicts behind the figures of the page Judges: as many as the figures count, each as it was given."""

from pathlib import Path

import polars as pl
import pytest

from cxlab.read import View
from cxlab.read.query import ask, where
from cxlab.views.judges import queries_agreement, queries_leave_out
from cxlab.views.judges.verdicts.queries import list_verdicts
from tests.pages.app_script import open_page, words
from tests.stores import judged

VIEW = View(benchmark="sage")
JUDGES = [f"simulated:judge-{name}" for name in ("lenient", "partial", "strict")]


@pytest.mark.parametrize("judge", JUDGES)
def test_they_are_as_many_as_leaving_the_judge_out_counts(judged_home: Path, judge: str) -> None:
    votes = queries_leave_out.votes_with_truth(VIEW, JUDGES)
    row = queries_leave_out.without_each(votes, JUDGES).row(by_predicate=pl.col("judge") == judge, named=True)
    counts = list_verdicts(VIEW, judge).counts
    assert counts["known"] == row["n"] > 0
    assert 1 - counts["wrong"] / counts["known"] == pytest.approx(row["alone"])


@pytest.mark.parametrize("judge", JUDGES)
def test_they_are_those_that_were_given(judged_home: Path, judge: str) -> None:
    given = ask(
        "SELECT run_id, attempt_id, turn, field, verdict, status FROM judgements WHERE judge = $j", {"j": judge}
    )
    valid = given.filter(pl.col("status") == "ok")
    found = list_verdicts(VIEW, judge)
    assert found.counts["all"] == valid.height == found.rows.height
    assert found.counts["unused"] == given.height - valid.height
    assert sorted(found.rows.select("run_id", "attempt_id", "turn", "said").rows()) == sorted(
        valid.select("run_id", "attempt_id", "turn", "verdict").rows()
    )
    for row in list_verdicts(VIEW, judge, kept="alone").rows.iter_rows(named=True):
        assert row["others"]
        assert row["said"] not in row["others"]
    assert list_verdicts(VIEW, judge, kept="wrong").rows.height == found.counts["wrong"]


def test_filters_leave_those_of_their_attempts(judged_home: Path) -> None:
    model, scenario = "simulated:weak", "ecommerce_refund"
    whole = list_verdicts(VIEW, JUDGES[0], facets=("scenario",))
    for view in (VIEW.change(models=(model,)), VIEW.narrow(scenario=(scenario,)), VIEW.narrow(scenario=("none",))):
        sql = f"""SELECT count(*) AS n FROM judgements j WHERE judge = $judge AND status = 'ok'
            AND run_id || attempt_id IN (SELECT run_id || attempt_id FROM attempts WHERE {where(view)[0]})"""
        n = ask(sql, {**where(view)[1], "judge": JUDGES[0]})["n"].item()
        found = list_verdicts(view, JUDGES[0], facets=("scenario",))
        assert found.counts["all"] == found.rows.height == n <= whole.counts["all"]


def test_of_two_judges_they_are_those_of_their_agreement(judged_home: Path) -> None:
    pairs = queries_agreement.pairs(queries_agreement.patterns(VIEW, JUDGES, None, ()), JUDGES)
    assert pairs.height
    for row in pairs.iter_rows(named=True):
        found = list_verdicts(VIEW, row["a"], row["b"], row["name"])
        assert found.counts["all"] == row["n"], row
        same = found.rows.filter(pl.col("said") == pl.col("beside")).height
        assert same / row["n"] == pytest.approx(row["agree"]), row


def test_figures_lead_to_verdicts_and_a_verdict_to_its_turn(judged_home: Path) -> None:
    app = open_page("judges", tab="agreement")
    app.button(key="judges-to-verdicts").click().run()
    assert not app.exception
    assert app.query_params["tab"] == "verdicts"
    assert "where lenient and partial have both judged" in words(app)
    listed = next(each.value for each in app.dataframe if "said" in each.value)
    assert len(listed) == 4
    app.button(key="verdicts-widen").click().run()
    assert "have both judged" not in words(app)
    assert f"Lenient gave {list_verdicts(VIEW, JUDGES[0]).counts['all']} verdicts" in words(app)
    wrong = open_page("judges", tab="verdicts", judge=[JUDGES[2]], **{"verdicts-shown": "unused"})
    assert not wrong.exception


def test_a_panel_of_one_has_its_verdicts_too(own_judged_home: Path) -> None:
    judged.add_run_of_one_judge(own_judged_home, "simulated:weak")
    app = open_page("judges", tab="verdicts", **{"judges-panel": "ada"})
    assert "Ada gave 1 verdict" in [each.value for each in app.subheader]
