"""The Persona lab's results as a script sees them."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

from cxlab.benchmarks.mmtaup2.evaluation.results import TOGETHER, load
from cxlab.views.benchmarks import published_tables
from cxlab.views.persona.queries import list_runs
from cxlab.views.persona.results import labels as terms
from cxlab.views.persona.results.runs import count_alike
from tests.benchmarks.mmtaup2.mm_runs import write_runs
from tests.conftest import use
from tests.pages.app_script import codes, words

pytestmark = pytest.mark.xdist_group("persona")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("played")
    write_runs(home)
    return home


def results(**query: Any) -> AppTest:
    def script() -> None:
        from cxlab.views.persona.results.page import show_results

        show_results()

    app = AppTest.from_function(script, default_timeout=300)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def cell(app: AppTest, figure: str, level: str) -> str | None:
    """What the table of all figures says."""
    table = next(each.value for each in app.dataframe if {"figure", "n"} <= set(each.value.columns))
    return table.set_index("figure")[level][figure]


def test_the_figures_are_those_of_the_runs(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(played, monkeypatch)
    app = results(figure="mm_tap")
    # As counted by hand in tests/benchmarks/mmtaup2/evaluation/test_mm_results.py.
    assert cell(app, "mm-tap", "none").startswith("0.788 (")
    assert cell(app, "mm-tap", "hard").startswith("0.525 (")
    assert cell(app, "pass^2", "hard").startswith("0.750 (")
    assert cell(app, "Turn overhead", "all").startswith("0.250 (")
    said = words(app)
    assert "strong: mm-tap 0.656; persona: none of the differences below is sure" in said
    assert "Broken lines are floors: an agent that always hands over" in said
    assert "0 of 1 differences are sure" in said
    gaps = next(each.value for each in app.dataframe if "p_corrected" in each.value.columns)
    assert gaps["difference"].round(4).to_list() == [-0.2625]
    # Without a word the figure is what every page calls passed, and of which conversations stands beside it.
    said = words(results())
    assert "strong: passed 87.5 %; persona: none of the differences below is sure" in said
    assert "Of all conversations of these runs" in said
    assert "Of those that the filters leave" in words(results(**{"only-modality": "text"}))
    # Other weights: only safety counts, half of it was asked for.
    app = results(weights="0,0,0,2", by="domain")
    assert cell(app, "mm-tap", "telecom") == "0.500 (0.50 to 0.50)"
    assert "They add up to 2.00; used are 0.000, 0.000, 0.000, 1.000." in words(app)
    app.button(key="results-weights-paper").click().run()
    assert "weights" not in app.query_params
    assert cell(app, "mm-tap", "telecom").startswith("0.656 (")


def test_choices_live_in_the_address(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(played, monkeypatch)
    app = results(figure="mm_tap")
    app.number_input(key="results-weight-a").set_value(0.85).run()
    assert app.query_params["weights"] == "0.85,0.35,0.2,0.1"
    app.button_group(key="results-by").set_value("modality").run()
    assert app.query_params["by"] == "modality"
    assert "sets voice against text" in app.info[0].value.replace("\\", "")
    app.selectbox(key="figure").set_value("pass").run()
    assert "figure" not in app.query_params
    assert not app.info
    app.selectbox(key="only-persona").set_value("hard").run()
    assert app.query_params["only-persona"] == "hard"
    assert cell(app, "pass^1", "voice").startswith("0.500")
    app.selectbox(key="source").set_value("judged_").run()
    assert cell(app, "pass^1", "voice").startswith("0.500")
    app.selectbox(key="source").set_value("").run()
    app.multiselect(key="results-runs").set_value(["floor"]).run()
    assert app.query_params["of"] == "floor"
    assert not app.exception
    assert cell(app, "pass^1", "text") == "0.000 (0.00 to 0.66)"


def test_runs_taken_for_one_have_the_conversations_of_both(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(played, monkeypatch)
    runs = list_runs()["run_id"].to_list()[:2]
    apart = load(runs)
    (whole,) = load([TOGETHER.join(runs)]).values()
    assert whole.cases == (*apart[runs[0]].cases, *apart[runs[1]].cases)
    assert whole.exact == all(one.exact for one in apart.values())
    turns = results(figure="turns")
    assert "turns" in turns.selectbox(key="figure").value
    assert "adaptation" in results(figure="adaptation").selectbox(key="figure").value


def test_what_all_counts_and_its_parts_do_not_stands_above_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = [("none", "text"), ("easy", "text"), ("hard", "text"), ("hard", "voice")]
    cases = [SimpleNamespace(persona=one, modality=way, exposure=0, domain="telecom") for one, way in terms]
    runs_of = {"run": SimpleNamespace(cases=cases)}
    monkeypatch.setattr("cxlab.views.persona.results.runs.results.load", lambda *_: runs_of)
    found = count_alike(("run",), "persona", {}, "", "pass")
    assert (found.kept, found.every, found.all) == (3, 4, "All 4<br>below: 3 of them")
    assert found.told.startswith("“All” is of all 4 conversations; the personas are of the 3 (text) that were played")
    assert count_alike(("run",), "persona", {"modality": "text"}, "", "pass").told == ""


def test_an_address_that_makes_no_sense_shows_the_usual(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(played, monkeypatch)
    query = {"by": "colour", "figure": "y", "weights": "1,nan,-3,e", "only-domain": "space"}
    assert cell(results(**query), "mm-tap", "none").startswith("0.788 (")


def test_a_run_that_is_not_there_is_named(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(played, monkeypatch)
    app = results(of=["x"])
    assert "no run “x”" in words(app)
    assert "mm-tap" not in words(app)
    app.button(key="cx-unknown").click().run()
    assert cell(app, "mm-tap", "none").startswith("0.788 (")


def test_without_runs_it_says_how_to_get_some(empty_home: Path) -> None:
    app = results()
    assert "mm-tap" in words(app)
    assert "run mmtaup2 --model simulated:strong" in codes(app)[0]


def test_published_cells_are_the_papers() -> None:
    two = next(table for table in published_tables("mmtaup2") if table.id == "table2").frame
    told = terms.published_cells("user_effort", "exposure", {"domain": "telecom"})
    rows = two.filter(domain="telecom")
    assert told["value"].to_list() == rows["user_effort_score"].to_list()
    assert set(told["grp"]) == {"0", "1", "2"}
    assert terms.published_cells("mm_tap", "domain", {"exposure": 2}).filter(grp="retail")["value"][0] == 0.481
    assert terms.published_cells("mm_tap", "persona", {}).is_empty()
    assert terms.published_cells("mm_tap", "domain", {"persona": "hard"}).is_empty()
    assert terms.published_cells("escalation", "domain", {}).is_empty()


def test_going_back_from_a_chart_lands_where_one_left() -> None:
    def script() -> None:
        import streamlit as st

        from cxlab.read import View
        from cxlab.ui.address import come_back, open_page

        def switch(page: str, query_params: dict[str, str | list[str]]) -> None:
            # As Streamlit does it: the other page's parameters are written into the history beneath this page.
            st.query_params.from_dict(query_params)

        st.session_state["cx_routed"] = "persona_lab"
        come_back()
        if st.button("Open"):
            usual, st.switch_page = st.switch_page, switch
            try:
                open_page("failures", View(benchmark="mmtaup2", runs=("r1", "r2")))
            finally:
                st.switch_page = usual

    app = AppTest.from_function(script, default_timeout=300)
    app.query_params["tab"], app.query_params["by"] = "results", "exposure"
    app.run()
    app.button[0].click().run()
    assert set(app.query_params) == {"benchmark", "run"}
    app.run()
    assert set(app.query_params) == {"tab", "by"}


def test_where_floors_are_missing_the_way_to_run_them_is_offered(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(played, home)
    use(home, monkeypatch)
    offer = "Run the constant agents on the same"
    assert offer not in words(results())
    runs = list_runs()
    for run_id in runs.filter(pl.col("model").str.contains("floor"))["run_id"]:
        shutil.rmtree(home / "runs" / run_id)
    said = words(results())
    assert "were not run on this data" in said
    assert offer in said
    assert "python -m" not in said
