"""A benchmark that the pages do not know by name is scored, shown with its failures, compared, and can be run."""

from pathlib import Path

import pytest

from cxlab.read import failures
from cxlab.read.view import View
from cxlab.ui import label
from cxlab.views.benchmarks import declared
from tests.conftest import use
from tests.pages.app_script import card_of, codes, open_page, words
from tests.stores import toy

pytestmark = pytest.mark.xdist_group("pages")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("stranger")
    with pytest.MonkeyPatch.context() as patch:
        toy.register(patch)
        toy.fill(home)
    return home


@pytest.fixture(autouse=True)
def _home(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.register(monkeypatch)
    use(store, monkeypatch)


def test_overview_scores_it_by_its_own_metric_and_keeps_the_floor_out_of_the_ranking() -> None:
    app = open_page()
    assert not app.exception
    assert app.subheader[0].value == "Parcels: strong leads for sure"
    board = app.dataframe[0].value
    assert board["name"].tolist() == ["strong · simulated", "weak · simulated", "Lost (floor)"]
    assert board["delay"].tolist() == [pytest.approx(4.4, abs=0.1), 23.5, 400.0]
    assert board["success"].tolist() == [87.5, 0.0, 0.0]
    assert app.metric[0].label == "Parcels"
    assert "Lost: Loses every parcel" in words(app)


def test_failures_groups_it_by_its_reasons_and_filters_it_by_its_facets() -> None:
    app = open_page("failures", benchmark=toy.NAME)
    assert not app.exception
    assert {m.label: m.value for m in app.metric} == {
        "Parcels": "16",
        "Passed, in all runs": "43.8 %",
        "No verdict": "0",
    }
    assert "Most often: took the wrong road" in words(app)
    constant = {label(floor) for floor in declared(toy.NAME).floor_models}
    assert not constant & set(app.multiselect(key="cx-filter-models").options)
    app.toggle(key="failures-floors").set_value(True).run()
    assert constant <= set(app.multiselect(key="cx-filter-models").options)
    assert (app.query_params["floors"], app.metric[0].value) == ("shown", "24")
    app.toggle(key="failures-floors").set_value(False).run()
    assert "floors" not in app.query_params
    shown = app.dataframe[-1].value
    # What all rows share is said once above them.
    assert "reason" not in shown.columns
    assert toy.WRONG_ROAD in words(app)
    assert set(shown["town"]) == {"Northtown", "Southtown"}
    assert shown["score"].tolist() == sorted(shown["score"], reverse=True)  # the latest first: less is better
    assert app.multiselect(key="cx-filter-town").options == ["Southtown", "Northtown"]
    app.multiselect(key="cx-filter-town").set_value(["n"]).run()
    assert app.query_params["town"] in ("n", ["n"])
    assert app.metric[0].value == "8"
    assert open_page("failures", model=toy.FLOOR).metric[0].value == "8"
    assert open_page("failures", owner="agent").metric[0].value == "9"


def test_one_attempt_of_it_is_drawn() -> None:
    app = open_page("failures", attempt="round-1/round-1-parcel-0")
    assert not app.exception
    assert app.title[0].value.startswith("Southtown")
    assert "Took the wrong road." in words(app)
    assert "Whose doing: the agent's" in words(app)
    assert failures.groups(View(benchmark=toy.NAME))["owner"].to_list() == ["agent"]


def test_compare_knows_its_direction_its_facets_and_its_settings() -> None:
    app = open_page("compare", benchmark=toy.NAME, field="town")
    assert not app.exception
    assert app.selectbox(key="cx-filter-metric").value == "delay"
    assert app.selectbox(key="cx-choose-baseline").value == toy.FAST
    assert app.selectbox(key="cx-choose-baseline").options == ["strong · simulated", "weak · simulated"]
    gaps = next(each.value for each in app.dataframe if "group" in each.value and "verdict" in each.value)
    assert gaps["group"].tolist() == ["Southtown", "Northtown"]
    assert "Speed: slow" in words(app)
    assert "strong · simulated ahead of weak · simulated, delay" in card_of(app)
    whole = open_page("compare", benchmark=toy.NAME)
    first, row = next(each.value for each in whole.dataframe if "verdict" in each.value).to_dict("records")
    assert (first["name"], first["verdict"]) == ("strong · simulated", "leads")
    assert (row["name"], row["verdict"]) == ("weak · simulated", "✕ behind")


def test_run_offers_its_switch_as_a_widget_and_its_facets_as_filters() -> None:
    app = open_page("run", bench=toy.NAME, **{"option-speed": "fast"})
    assert not app.exception
    switch = app.selectbox(key="option-speed")
    assert (switch.value, switch.options) == ("fast", ["slow", "fast"])
    assert app.multiselect(key="only-town").options == ["Southtown", "Northtown"]
    app.multiselect(key="only-town").set_value(["n"]).run()
    command = codes(app)[0]
    assert "--option=speed=fast" in command
    assert "--where=town=n" in command


def test_datasets_makes_it_from_the_types_of_its_settings() -> None:
    app = open_page("datasets", tab="generate", bench=toy.NAME, **{"set-count": "12"})
    assert not app.exception
    assert app.number_input(key="set-count").value == 12
    assert f"generate {toy.NAME} --seed=0 --count=12" in codes(app)[0]
    app.number_input(key="set-count").set_value(8).run()
    assert "--count" not in codes(app)[0]
