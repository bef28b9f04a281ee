"""The page Judges as a script sees it."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from cxlab.read import annotations
from tests.judged import judge_again, make_judged_store

ROOT = Path(__file__).parents[1]
TABS = ["agreement", "matters", "strict", "gold", "twice", "queue"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    make_judged_store(tmp_path)
    return tmp_path


def open_page(**query: Any) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.switch_page("pages/judges.py")
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()


def words(app: AppTest) -> str:
    parts = [*app.title, *app.subheader, *app.caption, *app.markdown, *app.info, *app.error, *app.text]
    return "\n".join(str(part.value) for part in parts).replace("\\", "")


def test_an_empty_store_says_what_would_be_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    app = open_page()
    assert not app.exception
    assert "No judge has voted in this store yet" in words(app)


@pytest.mark.parametrize("tab", TABS)
def test_every_question_is_answered(home: Path, tab: str) -> None:
    app = open_page(tab=tab)
    assert not app.exception
    assert not app.error
    assert {m.label: m.value for m in app.metric}["Splits that matter"] == "33.3 %"
    assert app.query_params.get("tab") == tab


@pytest.mark.parametrize("tab", TABS[::2])
def test_filters_that_leave_nothing_are_told(home: Path, tab: str) -> None:
    app = open_page(tab=tab, run=["run-1"], model=["simulated:eloquent"])
    assert not app.exception
    assert "No judge has voted under these filters" in words(app)


def test_titles_say_the_finding(home: Path) -> None:
    assert "Lenient and partial agree least: 50.0 %" in words(open_page())
    assert "On 33.3 % of turns the split changes the way that is right" in words(open_page(tab="matters"))
    assert "Strict grades 3.75 lower than lenient" in words(open_page(tab="strict"))
    assert "The panel is right most often: 66.7 %" in words(open_page(tab="gold"))


def test_a_clicked_cell_is_kept_in_the_address(home: Path) -> None:
    point = {"customdata": ["ecommerce_refund.CoreIntention", "simulated:judge-lenient", "simulated:judge-strict"]}
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.session_state["judges-items-field-agree"] = {"selection": {"points": [point]}}
    app.switch_page("pages/judges.py").run()
    assert app.query_params["field"] == "ecommerce_refund.CoreIntention"
    assert app.query_params["judge"] == ["simulated:judge-lenient", "simulated:judge-strict"]
    assert "lenient and strict agree on 75.0 %" in words(app)


def test_twice_the_same_shows_the_command_until_there_is_something(home: Path) -> None:
    app = open_page(tab="twice")
    assert app.code[0].value.startswith("python -m cxlab score run-")
    judge_again(home, "simulated:judge-strict")
    assert not open_page(tab="twice").code


def test_a_decision_is_kept_with_its_author_and_can_be_taken_back(home: Path) -> None:
    app = open_page(tab="queue")
    assert "CoreIntention at turn 1" in words(app)
    app.button(key="docket-say-Exchange").click().run()
    found = annotations.adjudications()
    assert found.select("attempt_id", "turn", "field", "value").row(0) == ("run-0-a1", 1, "CoreIntention", "Exchange")
    assert f"**{found['author'][0]}** decided: Exchange" in words(app)
    app.button(key="docket-undo").click().run()
    assert annotations.adjudications().is_empty()


def test_blind_hides_judges_models_and_verdicts_until_decided(home: Path) -> None:
    app = open_page(tab="queue", **{"docket-blind": "true"})
    assert not app.exception
    table = app.dataframe[0].value
    assert not {"model", "verdicts", "judges"} & set(table.columns)
    assert "run_id" not in table.columns
    for name in ("lenient", "partial", "eloquent"):
        assert name not in words(app)
    app.button(key="docket-say-Exchange").click().run()
    assert "**lenient** says Exchange" in words(app)
