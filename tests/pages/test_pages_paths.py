"""The pages SOP paths and Compare as a script sees them."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from cxlab.read import View, procedures
from cxlab.views.compare import queries
from tests.pages.app_script import open_page

# One worker opens these pages, so that what they show is read once.
pytestmark = pytest.mark.xdist_group("pages")


def titles(app: AppTest) -> list[str]:
    return [each.value for each in app.subheader]


@pytest.mark.parametrize("tab", ["", "branches", "variants", "actions", "coverage", "turns", "levels", "nonsense"])
def test_sop_paths_draws_every_closer_look(made_home: Path, tab: str) -> None:
    app = open_page("sop_paths", scenario="telecom_package", tab=tab)
    assert not app.exception
    assert not app.error
    assert len(titles(app)) == 4
    assert titles(app)[0].startswith("Turns leave most often at")
    assert any("tried, under the same conditions" in each.value for each in app.caption)


@pytest.mark.parametrize(
    "pick", ["stage2", "stage1>stage2", "error=field", "left=stage2", "<b>", "cell=stage2>a>b", "result=right>wrong"]
)
def test_a_pick_in_the_address_opens_its_turns_or_nothing(made_home: Path, pick: str) -> None:
    app = open_page("sop_paths", scenario="telecom_package", stage=pick)
    assert not app.exception
    shown = any("wrong ones first" in each.value for each in app.markdown)
    assert shown == (pick not in ("cell=stage2>a>b",))
    if shown:
        next(button for button in app.button if button.label == "Close").click().run()
        assert "stage" not in app.query_params


def test_a_stage_says_why_turns_took_another_way_out(made_home: Path) -> None:
    app = open_page("sop_paths", scenario="telecom_package", stage="stage2")
    said = " ".join(each.value for each in app.markdown).replace("\\", "")
    out = re.search(r": ([\d.]+) % of ([\d,]+) turns took the expected way out", said)
    told = re.search(r"Why ([\d,]+) turns? took another: (\d+) ", said)
    assert out
    assert told
    assert int(told[1]) == round(int(out[2]) * (100 - float(out[1])) / 100) >= int(told[2]) > 0


@pytest.mark.parametrize(
    ("data", "stage"),
    [(["stage", "stage2"], "stage2"), (["step", "stage1", "stage2"], "stage1>stage2"), (["action", "x"], "")],
)
def test_a_click_on_the_map_goes_into_the_address(made_home: Path, data: list[str], stage: str) -> None:
    clicked = {"sop-map": {"selection": {"points": [{"customdata": data}]}}}
    app = open_page("sop_paths", state=clicked, scenario="telecom_package")
    assert not app.exception
    assert app.query_params.get("stage", "") in (stage, [stage])


def test_all_procedures_stand_beside_each_other_first_and_lead_to_their_maps(made_home: Path) -> None:
    app = open_page("sop_paths")
    assert not app.exception
    worst = re.match(r"(.+) is kept least: ([\d.]+) % of ([\d,]+) turns keep it", titles(app)[0])
    assert worst
    shown = app.dataframe[-1].value
    assert worst[1].replace("\\", "") == shown["title"].iloc[0]
    assert shown["share"].is_monotonic_increasing
    assert len(shown) > 1
    assert app.selectbox(key="cx-choose-scenario").value == ""
    clicked = {"sop-procedures": {"selection": {"points": [{"customdata": ["telecom_package", "simulated:weak"]}]}}}
    app = open_page("sop_paths", state=clicked)
    assert app.query_params["scenario"] == "telecom_package"
    assert app.query_params["model"] == "simulated:weak"
    assert titles(app)[0].startswith("Turns leave most often at")


def test_two_models_can_be_subtracted(made_home: Path) -> None:
    app = open_page("sop_paths", scenario="telecom_package", baseline="simulated:weak", model="simulated:strong")
    assert not app.exception
    # What is found stands in the title: how many steps differ for sure, or that none does.
    sure = re.search(r" in \d+ % of turns, ", titles(app)[0])
    assert sure or re.match(r"No step of \d+ tells .+ apart for sure", titles(app)[0])


def test_which_two_are_compared_is_said_where_no_model_is_chosen(made_home: Path) -> None:
    app = open_page("sop_paths", scenario="telecom_package", baseline="simulated:weak")
    assert not app.exception
    told = [each.value for each in app.sidebar.caption if each.value.startswith("Compared: ")]
    assert len(told) == 1
    assert "minus weak" in told[0]
    large = open_page("sop_paths", scenario="telecom_package", baseline="simulated:weak", show="large")
    assert not large.exception
    sure = re.search(r" in \d+ % of turns, ", titles(large)[0])
    # An audience reads what is sure, or the one sentence that nothing is: no map without a number on it.
    assert len(large.get("plotly_chart")) == (1 if sure else 0)


def test_no_other_procedure_is_shown_in_the_place_of_an_unknown_one(made_home: Path) -> None:
    app = open_page("sop_paths", scenario="nowhere")
    assert "There is no procedure “nowhere”" in app.error[0].value
    assert not titles(app)
    app.button(key="cx-unknown").click().run()
    assert len(titles(app)) == 1
    assert "is kept least" in titles(app)[0]


def test_without_grades_there_is_nothing_to_correlate(made_home: Path) -> None:
    app = open_page("sop_paths", scenario="telecom_package", tab="parts")
    assert not app.exception
    assert any("nothing can be correlated" in each.value for each in app.info)


def test_an_unknown_turn_falls_back(made_home: Path) -> None:
    app = open_page("sop_paths", scenario="telecom_package", at="99", tab="nothing", stage="nowhere")
    assert not app.exception
    assert not app.error
    assert len(titles(app)) == 4


@pytest.mark.parametrize(
    ("by", "tab"), [("", ""), ("scenario", "profile"), ("level", "front"), ("", "trials"), ("level", "")]
)
def test_compare_draws_every_look(made_home: Path, by: str, tab: str) -> None:
    app = open_page("compare", field=by, tab=tab)
    assert not app.exception
    assert not app.error
    assert (
        titles(app)[0]
        == r"Cannot tell yet who leads\: strong · simulated is first, but curt · simulated is not behind for sure"
    )


def test_where_the_loser_is_ahead_leads_to_the_procedure_itself(made_home: Path) -> None:
    links = {
        each.proto.label.replace("\\", ""): each.proto.query_string for each in open_page("compare").get("page_link")
    }
    (way,) = [query for words, query in links.items() if words.endswith("stage by stage on SOP paths")]
    scenario = next((words for words in links if "samples of Scenario: " in words), "")
    assert ("scenario=" in way) == bool(scenario)
    assert "benchmark=sage" in way


def test_a_sample_opens_both_dialogues(made_home: Path) -> None:
    pair = queries.sample_pairs(
        View(benchmark="sage", metric="overall"), "simulated:weak", "simulated:strong", limit=1
    ).row(0, named=True)
    opened = f"{pair['first_run']}/{pair['first_attempt']}"
    app = open_page("compare", attempt=opened, baseline="simulated:strong")
    assert not app.exception
    assert any("on the same customer" in each for each in titles(app))
    named = {each.value for each in app.markdown}
    assert {"**strong · simulated**", "**weak · simulated**"} <= named  # each side is named


def test_one_model_alone_cannot_be_compared(made_home: Path) -> None:
    app = open_page("compare", model="simulated:strong")
    assert not app.exception
    assert any("nobody leads over nobody" in each.value for each in app.markdown)


def test_the_metric_explains_itself_and_published_figures_are_marked(made_home: Path) -> None:
    app = open_page("compare", metric="overall")
    assert any("0\\.8 logic" in each.value for each in app.markdown)
    app.toggle(key="compare-published").set_value(True).run()
    assert not app.exception
    assert not any("print no figure" in each.value for each in app.caption)
    assert any("published" in str(each.value) or "grey diamonds" in str(each.value) for each in app.markdown)


def test_an_audience_sees_the_map_of_the_procedure_that_is_kept_least_first(made_home: Path) -> None:
    # The overview names it, and leads with it.
    name = titles(open_page("sop_paths"))[0].partition(" is kept least")[0]
    app = open_page("sop_paths", show="large")
    assert not app.exception
    assert titles(app)[0].startswith("Turns leave most often at")
    (shown,) = [each for each in app.selectbox if each.key == "sop-for-audience"]
    assert procedures.get(shown.value).title == name
    assert any(each.value.startswith("Kept least of ") for each in app.caption)
    shown.set_value("").run()
    assert titles(app)[0].startswith(f"{name} is kept least")
    assert app.query_params["tab"] == "procedures"
    # One that is chosen needs no rule.
    app.selectbox(key="sop-for-audience").set_value("telecom_package").run()
    assert app.query_params["scenario"] == "telecom_package"
    assert "tab" not in app.query_params
    assert not any(each.value.startswith("Kept least of ") for each in app.caption)


def test_for_an_audience_the_procedures_are_a_finding_and_a_picture(made_home: Path) -> None:
    whole, large = open_page("sop_paths"), open_page("sop_paths", show="large", tab="procedures")
    assert not large.exception
    # The map that an audience sees first tells where most leave.
    assert titles(whole)[0].startswith(f"{titles(large)[0]}, the others leave most often at ")
    assert (len(large.get("plotly_chart")), len(large.dataframe)) == (1, 0)
    assert any("Procedures differ in length" in each.value for each in whole.caption)
    assert not any("Procedures differ in length" in each.value for each in large.caption)


def test_for_an_audience_the_map_stands_alone_and_what_is_clicked_below_it(made_home: Path) -> None:
    app = open_page("sop_paths", scenario="telecom_package", show="large")
    assert not app.exception
    assert len(titles(app)) == 1
    assert titles(app)[0].startswith("Turns leave most often at")
    assert not any("to zoom" in each.value for each in app.caption)
    app = open_page("sop_paths", scenario="telecom_package", show="large", stage="stage2")
    assert any("wrong ones first" in each.value for each in app.markdown)
    app.toggle(key="large").set_value(False).run()
    assert "show" not in app.query_params
    assert app.query_params["stage"] == "stage2"
    assert len(titles(app)) > 1
