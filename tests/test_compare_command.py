"""`compare` says what the page Compare says, as text and as JSON."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks import REGISTRY
from cxlab.cli import app
from cxlab.errors import CxError
from cxlab.read import View
from cxlab.read.comparison.decision import decide
from cxlab.read.comparison.ranking import describe_sides, rank
from cxlab.read.comparison.words import say_leader
from cxlab.report.decision_figures import list_figures
from cxlab.ui.annotations import annotate
from tests.read.comparison.test_comparison_sets import FLOOR, steady
from tests.stores.runs import write_run


@pytest.fixture
def home(empty_home: Path) -> Path:
    write_run(empty_home, 1, "a", steady(0, seed=1))
    write_run(empty_home, 2, "b", steady(0.3, seed=2))
    write_run(empty_home, 3, "c", steady(20, seed=3), openings={("s0", 1): "evening"})
    write_run(empty_home, 4, "late", steady(40, 6))
    write_run(empty_home, 5, "other", steady(40), options={"turns": 5})
    write_run(empty_home, 6, FLOOR, dict.fromkeys(steady(0), 20.0))
    return empty_home


def call(*words: str) -> str:
    done = CliRunner().invoke(app, ["compare", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def read(*words: str) -> dict[str, Any]:
    lines = call(*words, "--json").splitlines()
    assert len(lines) == 1
    found: dict[str, Any] = json.loads(lines[0])
    return found


def test_it_says_what_the_page_says(home: Path) -> None:
    found = read()
    (task,) = found["tasks"]
    (ranked,) = rank(REGISTRY["sage"].declaration, View(benchmark="sage")).tasks
    assert task["verdict"] == say_leader(ranked) == "c leads, ahead of all 2 others for sure"
    assert (task["leader"], task["baseline"], task["samples"], task["of"]) == ("c", "c", 30, 30)
    assert [row["model"] for row in task["models"]] == ranked.table["side"].to_list()
    assert [row["mean"] for row in task["models"]] == ranked.table["value"].to_list()
    assert [row["p_corrected"] for row in task["differences"]] == ranked.gaps["p_corrected"].to_list()
    assert task["floors"] == [{"model": FLOOR, "name": "Floor", "mean": 20.0, "n": 30}]
    reasons = {row["model"]: row["reason"] for row in task["left_out"]}
    assert reasons == {
        "late": "has 6 of the 30 results that the others have",
        "other": "run under other conditions: Turns 5, not 15",
    }
    assert task["customers"]["same"] == 29
    assert found["set"]["conditions"]["Turns"] == "15"
    assert [each["models"] for each in found["set"]["others"]] == [1]
    text = call()
    for words in ("c leads, ahead of all 2 others", "30 samples that all 3 models have", "Not ranked: late has 6 of",
                  "Floor, not ranked", "began with other words", "has 30 of 30"):  # fmt: skip
        assert words in text


def test_it_tells_of_the_two_first_what_the_card_of_the_page_tells(home: Path) -> None:
    about, view = REGISTRY["sage"].declaration, View(benchmark="sage")
    (ranked,) = rank(about, view).tasks
    between = decide(about, ranked)
    assert between is not None
    figures = list_figures(about, ranked, between, describe_sides(ranked), "decidable score", str)
    labels = [each.label.partition(" ")[0] for each in figures]
    assert labels == ["c", "Dialogues", "Cost", "More", "Where", "Other"]
    (task,) = read()["tasks"]
    assert task["decision"]["told"] == [asdict(each) for each in figures]
    assert set(task["decision"]["cost_usd"]) == {"a", "b", "c"}
    text = call()
    assert all(f"  {each}\n" in text for each in figures)


def test_runs_are_called_as_somebody_named_them(home: Path) -> None:
    runs = [f"run-260101-{number:06d}-aaaaaaaa" for number in (1, 3)]
    annotate("name", runs[1], "", "new prompt")
    (task,) = read(*runs)["tasks"]
    assert [(row["model"], row["name"]) for row in task["models"]] == [(runs[1], "new prompt"), (runs[0], "a")]
    assert task["verdict"] == "new prompt leads for sure"
    text = call(*runs)
    assert "new prompt ahead of a, decidable score" in text
    assert not any(run in text for run in runs)


def test_models_a_baseline_and_samples_can_be_picked(home: Path) -> None:
    (task,) = read("a", "b", "--baseline", "b")["tasks"]
    assert task["verdict"].startswith("cannot tell yet who leads: ")
    assert task["leader"] is None
    told = {each["label"]: each["value"] for each in task["decision"]["told"]}
    assert told["Cost and time of one dialogue"] == "not measured: stand-ins"
    assert task["decision"]["slices_looked_at"] == 0
    assert [(row["model"], row["verdict"]) for row in task["differences"]] == [("a", "cannot tell")]
    assert task["differences"][0]["low"] < 0 < task["differences"][0]["high"]
    (late,) = read("a", "late")["tasks"]
    assert (late["samples"], late["of"], late["left_out"]) == (6, 30, [])


def test_other_conditions_can_be_picked(home: Path) -> None:
    other = read()["set"]["others"][0]["id"]
    (task,) = read("--set", other)["tasks"]
    assert task["verdict"] == "only other has been evaluated, so nobody leads"
    assert read("--dataset", "d1")["set"]["dataset"] == "d1"


def test_runs_are_compared_and_what_else_differs_is_said(home: Path) -> None:
    runs = [f"run-260101-{number:06d}-aaaaaaaa" for number in (1, 5)]
    found = read(*runs)
    assert found["set"] is None
    assert found["differ_in"] == {"Turns": dict(zip(runs, ("15", "5"), strict=True))}
    assert found["tasks"][0]["leader"] == runs[1]
    assert "may be due to them" in call(*runs)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nobody"], "unknown run or model 'nobody'"),
        (["sage"], "sage is a benchmark: compare --benchmark sage"),
        (["a", "run-260101-000001-aaaaaaaa"], "name runs, or models"),
        (["--benchmark", "nothing"], "unknown benchmark"),
        (["--task", "x"], "unknown task 'x'"),
        (["--dataset", "x"], "dataset with results"),
        (["--set", "x"], "unknown set 'x'"),
        (["--baseline", "late"], "unknown side 'late'"),
        (["--where", "colour=red"], "unknown facet 'colour'"),
    ],
)
def test_a_mistake_is_named(home: Path, words: list[str], told: str) -> None:
    with pytest.raises(CxError, match=told):
        CliRunner().invoke(app, ["compare", *words], catch_exceptions=False)


def test_an_empty_store_says_what_to_do(empty_home: Path) -> None:
    with pytest.raises(CxError, match="nothing has been run yet"):
        CliRunner().invoke(app, ["compare"], catch_exceptions=False)


def test_one_model_that_ran_twice_does_not_lead_over_itself(empty_home: Path) -> None:
    runs = [write_run(empty_home, number, "a", steady(20 * number, seed=number)) for number in (1, 2)]
    (task,) = read(*runs)["tasks"]
    assert (
        task["verdict"] == "the same model twice, under the same settings: 20.0 points apart, more than chance explains"
    )
    assert (task["leader"], task["same_model"]) == (None, True)
    assert not {"More samples to settle it", "Where a wins"} & {each["label"] for each in task["decision"]["told"]}
    text = call(*runs)
    assert "who leads" not in text
    assert "  run  " in text
