"""The pages as a script sees them: AppTest runs app.py with a store of made-up runs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from cxlab import jobs, read, ui
from cxlab.store import trash, write
from tests.pages.app_script import ROOT, catch_orders, codes, open_page, picked, words

# One worker opens these pages, so that what they show is read once.
pytestmark = pytest.mark.xdist_group("pages")
PAGES = ["overview", "run", "models"]
# What a page offers to whoever comes before there is anything to see.
FIRST_STEPS = {
    "overview": "python -m cxlab demo",
    "compare": "python -m cxlab demo",
    "failures": "python -m cxlab demo",
    "sop_paths": "python -m cxlab demo",
    "judges": "python -m cxlab demo",
    "run": "Run evaluation",
    "models": "Test connection",
}
# What else is said there.
FIRST_WORDS = {"compare": "this page", "sop_paths": "this page", "failures": "no dialogues in this store yet"}
HOSTILE = "![x](http://evil.example/a.png) <img src=x> $a$ **b** :material/home: [l](http://evil.example) a@b.example"


@pytest.mark.parametrize("page", FIRST_STEPS)
def test_every_page_of_an_empty_store_says_what_to_do(empty_home: Path, page: str) -> None:
    app = open_page(page)
    assert not app.exception
    assert not app.error
    assert app.title[0].value.lower() == page.replace("_", " ")
    offered = [*codes(app), *(each.label for each in app.button)]
    assert FIRST_STEPS[page] in offered
    assert FIRST_WORDS.get(page, "") in words(app)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_runs_by_itself(made_home: Path, page: str) -> None:
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=300).run()
    assert not app.exception
    assert app.title[0].value


@pytest.mark.parametrize("page", PAGES)
def test_nonsense_in_the_address_is_ignored(made_home: Path, page: str) -> None:
    app = open_page(page, model=["no such model"], page="-1", turn="x", attempt="///", job="job-none", metric="'; --")
    assert not app.exception
    assert not app.error


def test_an_empty_overview_starts_the_demo_and_shows_what_papers_report(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def ensure_demo() -> None:
        asked.append(1)

    monkeypatch.setattr(jobs, "ensure_demo", ensure_demo)
    app = open_page()
    assert asked
    assert "What the papers report" in [each.value for each in app.subheader]
    assert len(app.dataframe) == 1
    assert app.dataframe[0].value["model"][0] == "Claude-Sonnet-4.5"


def test_overview_leads_with_the_leaderboard(made_home: Path) -> None:
    app = open_page()
    assert not app.exception
    assert (
        app.subheader[0].value == r"SAGE: cannot tell yet who leads\: strong is first, but curt is not behind for sure"
    )
    board = app.dataframe[0].value
    assert board["name"][0] == "strong · simulated"
    # What is the same of all five is said once.
    assert "attempts" not in board
    assert "of 36 dialogues of each" in words(app)
    assert [metric.label for metric in app.metric] == ["Dialogues", "Models", "Ran soundly", "Spent"]
    assert app.metric[0].value == "180"


def test_a_cold_deep_link_is_sent_where_it_was_meant_to_go(made_home: Path) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app.query_params["goto"] = "models"
    app.query_params["role"] = "judge"
    app.run()
    assert not app.exception
    assert app.title[0].value == "Models"
    assert "goto" not in app.query_params


def test_run_estimates_before_it_starts(empty_home: Path) -> None:
    app = open_page("run", limit="6", agents=["simulated:weak", "simulated:curt"])
    assert not app.exception
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Dialogues"] == "12"
    assert shown["Cost"] == "$0"
    assert not app.button(key="start").disabled


def test_run_says_what_is_missing_and_starts_nothing(empty_home: Path) -> None:
    app = open_page("run", agents=["openai:gpt-4.1"])
    assert "OPENAI\\_API\\_KEY" in app.warning[0].value
    assert app.button(key="start").disabled
    # What it would take is told all the same: prices are known, and no model is asked for an estimate.
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Cost"].startswith("$")
    assert float(shown["Cost"].lstrip("$").replace(",", "")) > 1


def test_run_tells_the_time_of_real_models_where_that_of_stand_ins_is_unknown(empty_home: Path) -> None:
    app = open_page("run", agents=["openai:gpt-4.1", "simulated:weak"])
    shown = {metric.label: metric.value for metric in app.metric}
    # The seconds a call below are theirs, and no estimate is told to the last token.
    assert "Time" not in shown
    assert shown["Time of real models"] not in ("", "unknown")
    (basis,) = [each.value.replace("\\", "") for each in app.caption if "s a call" in each.value]
    assert re.match(r"About \d+(\.\d)? million tokens\. ", basis)


def test_run_tells_no_price_of_what_is_wrong(empty_home: Path) -> None:
    app = open_page("run", agents=["openai:gpt-4.1", "nobody:knows"])
    assert app.warning
    assert not app.metric


def test_run_starts_what_was_ordered(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = catch_orders(monkeypatch)
    app = open_page(
        "run", limit="6", agents=["simulated:weak"], budget="2.5", **{"only-level": ["strong"], "option-turns": "4"}
    )
    app.button(key="start").click().run()
    assert not app.exception
    args = started[0]
    assert args[:2] == ["run", "sage"]
    assert {"--model=simulated:weak", "--where=level=strong", "--limit=6", "--option=turns=4", "--budget=2.5"} <= set(
        args
    )
    assert app.query_params["job"]


def test_a_deleted_run_can_be_brought_back(own_made_home: Path) -> None:
    app = open_page("run")
    before = ui.table_key("history", read.latest_runs(100))
    app.session_state[before] = picked(0)
    app.run()
    app.button(key="delete").click().run()
    assert not app.exception
    (gone,) = trash.list_deleted("run")
    assert gone.id not in {run.id for run in write.list_runs()}
    # The tick must not stand on the run that moved up into the place of the deleted one.
    assert ui.table_key("history", read.latest_runs(100)) != before
    assert app.button(key="delete").disabled
    assert "simulated" in next(each.value for each in app.text if ", deleted " in each.value), "by its model"
    undo = next(button for button in app.button if button.label == "Undo")
    undo.click().run()
    assert gone.id in {run.id for run in write.list_runs()}
    assert trash.list_deleted("run") == []


@pytest.mark.parametrize("text", ["[endpoints.x]\nprompt_usd = 'free'\n", "endpoints = 5\n", "[endpoints.x\n"])
def test_a_damaged_models_file_is_told_and_takes_no_page_down(empty_home: Path, text: str) -> None:
    (empty_home / "models.toml").write_text(text)
    app = open_page("models")
    assert not app.exception
    assert "toml" in app.warning[0].value  # its signs are escaped
    assert "simulated:strong" in app.dataframe[0].value["name"].tolist()
    assert not open_page("run").exception


def test_models_lists_what_each_one_needs_and_a_connection_test_says_what_was_found(empty_home: Path) -> None:
    app = open_page("models")
    rows = app.dataframe[0].value.set_index("name")
    assert rows.loc["simulated:strong", "ready"] == "✓ ready"
    assert "OPENAI_API_KEY" in rows.loc["openai:gpt-4.1", "ready"]
    # Nothing is promised of real models where none is set up.
    assert app.subheader[0].value.startswith("No real model is set up here yet, only ")
    assert "Real models first" not in words(app)
    app.button(key="test").click().run()
    assert not app.exception
    assert "simulated" in app.success[0].value
    # Of nonsense it says what to do.
    next(each for each in app.text_input if each.label == "Model").set_value("nonsense").run()
    app.button(key="test").click().run()
    assert not app.exception
    assert "KIND" in app.error[0].value


# --- furniture -----------------------------------------------------------------------------------------------------


def furniture(script: Callable[[], None]) -> AppTest:
    app = AppTest.from_function(script, default_timeout=300).run()
    assert not app.exception
    return app


def test_what_was_said_is_shown_and_never_rendered() -> None:
    def script() -> None:
        from cxlab import ui

        said = (
            "![x](http://evil.example/a.png) <img src=x> $a$ **b** :material/home: [l](http://evil.example) a@b.example"
        )
        call = {"name": said, "arguments": said}
        rows = [
            {"role": role, "text": said, "turn": 1, "tool_calls": [call], "data": {"grounding": [said]}}
            for role in ("customer", "agent", "tool", "stranger")
        ]
        ui.transcript(rows)
        ui.error(said, said)
        ui.header("Title", "Question")

    app = furniture(script)
    assert [each.value for each in app.text] == [HOSTILE] * 4
    rendered = [str(each.value) for each in (*app.markdown, *app.caption, *app.error)]
    assert any("evil" in value for value in rendered)
    for value in rendered:
        # None of the signs that Markdown acts on stands there unescaped.
        assert not re.search(r"(?<!\\)(!\[|<img|\$a|\*\*b)|http://|:material/|\w@\w", value), value


def test_filters_are_kept_in_the_address_and_between_pages(made_home: Path) -> None:
    def script() -> None:
        import streamlit as st

        from cxlab import ui
        from cxlab.views.benchmarks import declared

        st.session_state["cx_routed"] = st.session_state.get("page", "one")
        view = ui.sidebar_filters(ui.view(), ["models", "level"], declared("sage"), metric=True)
        st.text("|".join(view.models) + "/" + view.metric)

    app = furniture(script)
    app.multiselect(key="cx-filter-models").select("simulated:weak").run()
    app.selectbox(key="cx-filter-metric").select("logic").run()
    assert app.text[0].value == "simulated:weak/logic"
    assert app.query_params["model"] in ("simulated:weak", ["simulated:weak"])
    app.session_state["page"] = "two"
    for key in list(app.query_params):
        del app.query_params[key]
    app.run()
    assert app.text[0].value == "simulated:weak/logic"
    assert app.query_params["model"] in ("simulated:weak", ["simulated:weak"])
    app.button(key="cx-filter-clear").click().run()
    assert app.text[0].value == "/logic"


def test_values_that_the_store_does_not_have_are_dropped(made_home: Path) -> None:
    def script() -> None:
        import streamlit as st

        from cxlab import ui
        from cxlab.views.benchmarks import declared

        view = ui.sidebar_filters(ui.view(), ["level"], declared("sage"))
        st.text("|".join(view.values("level")))

    app = AppTest.from_function(script, default_timeout=300)
    app.query_params["level"] = ["gone", "weak"]
    app.run()
    assert not app.exception
    assert app.text[0].value == "weak"
    assert "adversarial level “gone”" in app.warning[0].value


def test_cached_asks_again_when_the_store_changes(own_made_home: Path) -> None:
    from cxlab import read, ui

    before = ui.cached(read.health)["attempts"]
    trash.delete("run", write.list_runs()[0].id)
    assert (before, ui.cached(read.health)["attempts"]) == (180, 144)


def test_a_mistake_is_one_box_and_a_bug_is_not_hidden() -> None:
    def script() -> None:
        from cxlab import ui
        from cxlab.errors import BadOption

        with ui.guarded():
            raise BadOption("--limit 0: must be at least 1")

    assert "must be at least 1" in furniture(script).error[0].value

    def bug() -> None:
        from cxlab import ui

        with ui.guarded():
            raise RuntimeError("a bug")

    assert AppTest.from_function(bug).run().exception
