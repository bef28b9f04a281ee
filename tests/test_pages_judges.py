"""The page Judges as a script sees it."""

from pathlib import Path

import pytest

from cxlab.read import annotations
from tests.judged import judge_again
from tests.pages import open_page, words

# One worker opens these pages, so that what they show is read once.
pytestmark = pytest.mark.xdist_group("pages")
TABS = ["agreement", "matters", "strict", "gold", "twice", "queue"]


def test_an_empty_store_says_what_would_be_here(empty_home: Path) -> None:
    app = open_page("judges")
    assert not app.exception
    assert "No judge has voted in this store yet" in words(app)


@pytest.mark.parametrize("tab", TABS)
def test_every_question_is_answered(judged_home: Path, tab: str) -> None:
    app = open_page("judges", tab=tab)
    assert not app.exception
    assert not app.error
    assert {m.label: m.value for m in app.metric}["Splits that matter"] == "33.3 %"
    assert app.query_params.get("tab") == tab


@pytest.mark.parametrize("tab", TABS[::2])
def test_filters_that_leave_nothing_are_told(judged_home: Path, tab: str) -> None:
    app = open_page("judges", tab=tab, run=["run-1"], model=["simulated:eloquent"])
    assert not app.exception
    assert "No judge has voted under these filters" in words(app)


def test_titles_say_the_finding(judged_home: Path) -> None:
    assert "Lenient and partial agree least: 50.0 %" in words(open_page("judges"))
    assert "On 33.3 % of turns the split changes the way that is right" in words(open_page("judges", tab="matters"))
    assert "Strict grades 3.75 lower than lenient" in words(open_page("judges", tab="strict"))
    assert "The panel is right most often: 66.7 %" in words(open_page("judges", tab="gold"))


def test_a_clicked_cell_is_kept_in_the_address(judged_home: Path) -> None:
    point = {"customdata": ["ecommerce_refund.CoreIntention", "simulated:judge-lenient", "simulated:judge-strict"]}
    app = open_page("judges", state={"judges-items-field-agree": {"selection": {"points": [point]}}})
    assert app.query_params["field"] == "ecommerce_refund.CoreIntention"
    assert app.query_params["judge"] == ["simulated:judge-lenient", "simulated:judge-strict"]
    assert "lenient and strict agree on 75.0 %" in words(app)


def test_twice_the_same_shows_the_command_until_there_is_something(own_judged_home: Path) -> None:
    app = open_page("judges", tab="twice")
    assert app.code[0].value.startswith("python -m cxlab score run-")
    judge_again(own_judged_home, "simulated:judge-strict")
    assert not open_page("judges", tab="twice").code


def test_a_decision_is_kept_with_its_author_and_can_be_taken_back(own_judged_home: Path) -> None:
    app = open_page("judges", tab="queue")
    assert "CoreIntention at turn 1" in words(app)
    app.button(key="docket-say-Exchange").click().run()
    found = annotations.adjudications()
    assert found.select("attempt_id", "turn", "field", "value").row(0) == ("run-0-a1", 1, "CoreIntention", "Exchange")
    assert f"**{found['author'][0]}** decided: Exchange" in words(app)
    app.button(key="docket-undo").click().run()
    assert annotations.adjudications().is_empty()


def test_blind_hides_judges_models_and_verdicts_until_decided(own_judged_home: Path) -> None:
    app = open_page("judges", tab="queue", **{"docket-blind": "true"})
    assert not app.exception
    table = app.dataframe[0].value
    assert not {"model", "verdicts", "judges"} & set(table.columns)
    assert "run_id" not in table.columns
    for name in ("lenient", "partial", "eloquent"):
        assert name not in words(app)
    app.button(key="docket-say-Exchange").click().run()
    assert "**lenient** says Exchange" in words(app)
