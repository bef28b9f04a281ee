"""The page Failures as a script sees it."""

from pathlib import Path

import pytest

from cxlab.read import View, annotations, failures
from cxlab.ui.tables import table_key
from tests.judged import HOSTILE
from tests.pages import open_page, picked, words

# One worker opens these pages, so that what they show is read once.
pytestmark = pytest.mark.xdist_group("pages")


def test_an_empty_store_says_what_would_be_here(empty_home: Path) -> None:
    app = open_page("failures")
    assert not app.exception
    assert "no dialogues in this store yet" in words(app)
    assert app.code[0].value == "python -m cxlab demo"


def test_the_list_counts_groups_and_dialogues(judged_home: Path) -> None:
    app = open_page("failures")
    assert not app.exception
    assert {m.label: m.value for m in app.metric} == {
        "Dialogues": "4",
        "With something wrong": "50.0 %",
        "Turns gone wrong": "50.0 %",
        "Groups of alike failures": "2",
    }
    assert "4 dialogues" in words(app)
    table = app.dataframe[-1].value
    assert table["score"].tolist()[:3] == [50.0, 80.0, 90.0]
    assert table["wrong_"].tolist() == ["1 misread field", "", "", "1 unreadable reply"]


def test_filters_come_from_the_address_and_are_drawn(judged_home: Path) -> None:
    app = open_page("failures", error=["format"], q="evil")
    assert app.multiselect(key="cx-filter-errors").value == ["format"]
    assert app.text_input(key="cx-filter-search").value == "evil"
    assert app.metric[0].value == "1"
    app.multiselect(key="cx-filter-errors").set_value([]).run()
    app.text_input(key="cx-filter-search").set_value("").run()
    assert app.metric[0].value == "4"
    assert "error" not in app.query_params


def test_a_group_can_be_entered_and_left(judged_home: Path) -> None:
    alike = failures.groups(View(errors=("field",)))["alike"][0]
    app = open_page("failures", alike=alike)
    assert "Read CoreIntention as Exchange, was ReturnOrRefund" in words(app)
    assert "1 dialogue" in [each.value for each in app.subheader]
    app.button(key="group-leave").click().run()
    assert "4 dialogues" in words(app)
    gone = open_page("failures", alike="nothing")
    assert not gone.exception
    assert "No failures of this group are left" in words(gone)


def test_a_click_on_a_row_opens_the_dialogue_at_its_turn(judged_home: Path) -> None:
    app = open_page("failures", state={table_key("attempts", failures.rows(View()).frame): picked(0)})
    assert app.query_params["attempt"] == "run-0/run-0-a1"
    assert app.query_params["turn"] == "1"


def test_one_dialogue_says_what_was_read_and_what_was_due(judged_home: Path) -> None:
    app = open_page("failures", attempt="run-0/run-0-a1", turn="1")
    assert not app.exception
    said = words(app)
    assert "Read “another one” as CoreIntention = Exchange; the panel says ReturnOrRefund" in said
    assert [expander.proto.expanded for expander in app.expander if "Turn 1" in expander.label] == [True]
    shown = " ".join(str(each.proto.body) for each in app.get("html"))
    assert "Exchange" in shown
    assert "✕ Exchange" in shown


def test_previous_and_next_follow_the_order_of_the_list(judged_home: Path) -> None:
    app = open_page("failures", attempt="run-0/run-0-a1")
    assert app.button(key="dialogue-p").disabled
    seen = []
    for _ in range(3):
        app.button(key="dialogue-n").click().run()
        seen.append(app.query_params["attempt"])
    assert seen == ["run-1/run-1-a2", "run-0/run-0-a0", "run-1/run-1-a3"]
    assert app.button(key="dialogue-n").disabled
    app.button(key="dialogue-up").click().run()
    assert "attempt" not in app.query_params
    assert app.title[0].value == "Failures"


def test_notes_are_kept_and_can_be_taken_back(own_judged_home: Path) -> None:
    app = open_page("failures", attempt="run-0/run-0-a1", turn="1")
    app.text_area[0].set_value(HOSTILE)
    next(button for button in app.button if button.label == "Add note").click().run()
    assert annotations.notes("run-0", "run-0-a1").log["value"].to_list() == [HOSTILE]
    assert HOSTILE in [each.value for each in app.text]
    next(button for button in app.button if button.label == "Undo").click().run()
    assert annotations.notes("run-0", "run-0-a1").log.is_empty()


def test_an_unknown_dialogue_is_told_and_left(judged_home: Path) -> None:
    app = open_page("failures", attempt="run-0/none")
    assert not app.exception
    assert app.error
    app.button[0].click().run()
    assert "attempt" not in app.query_params


def test_nothing_that_was_said_reaches_markdown(judged_home: Path) -> None:
    app = open_page("failures", attempt="run-1/run-1-a3", turn="1")
    assert not app.exception
    assert HOSTILE in [each.value for each in app.text]
    for part in [*app.markdown, *app.caption]:
        assert "<img" not in part.value
        assert "](http" not in part.value
    for part in app.get("html"):
        assert "<img" not in part.proto.body
        assert "evil" not in part.proto.body or "&lt;" in part.proto.body
