"""Which metric leads: what a viewer chose, what is declared, or the next one that has scores; the same everywhere."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks import REGISTRY
from cxlab.cli import app
from cxlab.errors import UnknownName
from cxlab.read import View
from cxlab.read.results.headlines import candidates, first_scored, led_by, with_scored_headlines
from cxlab.views.compare.queries import published_points, ranked
from tests.pages.app_script import open_page, words
from tests.read.comparison.test_comparison_sets import steady
from tests.stores.runs import write_run

pytestmark = pytest.mark.xdist_group("pages")
ABOUT = REGISTRY["sage"].declaration
BETTER, WORSE = steady(20), steady(0)


@pytest.fixture
def home(empty_home: Path) -> Path:
    """By the headline "first" is ahead, by the paper's score "second"."""
    write_run(empty_home, 1, "first", BETTER, also={"overall": WORSE})
    write_run(empty_home, 2, "second", WORSE, also={"overall": BETTER})
    return empty_home


def test_only_what_is_declared_may_lead() -> None:
    task = ABOUT.card.tasks[0]
    assert task.metric == task.leads[0]
    assert led_by(ABOUT, "overall").card.headline == "overall"
    assert led_by(ABOUT, "turns") is ABOUT
    assert led_by(ABOUT, "") is ABOUT
    assert set(task.leads) <= set(ABOUT.card.metrics)
    assert task.paper == led_by(ABOUT, "skill").card.tasks[0].paper == "overall"


def test_the_next_metric_with_scores_leads_where_the_headline_has_none(home: Path) -> None:
    assert candidates(ABOUT, "dialogue", "chat")[:2] == (ABOUT.card.headline, "chat")
    assert first_scored(("x", "y"), {"y"}.__contains__) == "y"
    assert first_scored(("x", "y"), lambda metric: False) == "x"
    assert with_scored_headlines(ABOUT) is ABOUT
    assert with_scored_headlines(led_by(ABOUT, "truth")).card.headline == ABOUT.card.headline


def test_the_command_is_led_by_what_is_asked_for(home: Path) -> None:
    def leader(*asked: str) -> str:
        done = CliRunner().invoke(app, ["compare", "--json", *asked], catch_exceptions=False)
        return str(json.loads(done.stdout)["tasks"][0]["leader"])

    assert leader() == "first"
    assert leader("--lead", "overall") == "second"
    with pytest.raises(UnknownName, match="turns"):
        leader("--lead", "turns")


def test_overview_and_compare_are_led_by_the_viewers_choice_and_keep_it(home: Path) -> None:
    page = open_page()
    assert page.subheader[0].value == "SAGE: first leads for sure"
    page.selectbox(key="cx-lead-sage").set_value("overall").run()
    assert not page.exception
    assert page.query_params["lead"] in ("overall", ["overall"])
    assert page.subheader[0].value == "SAGE: second leads for sure"
    side = open_page("compare", benchmark="sage", lead="overall")
    assert not side.exception
    assert side.selectbox(key="cx-filter-metric").value == "overall"
    assert "Second" in side.subheader[0].value
    side.selectbox(key="cx-lead-sage").set_value(ABOUT.card.headline).run()
    assert side.selectbox(key="cx-filter-metric").value == ABOUT.card.headline
    assert "lead" not in side.query_params
    assert "First" in side.subheader[0].value
    assert "Ranked by" in [box.label for box in side.selectbox]
    assert "first" in words(side)


def test_figures_of_papers_stand_beside_the_papers_score_alone(home: Path) -> None:
    paper = ABOUT.card.tasks[0].paper
    assert published_points("sage", "overall", paper).height == 27
    assert published_points("sage", ABOUT.card.headline, paper).is_empty()
    assert ranked(View(benchmark="sage", metric="overall", lead="truth")) is not None
