"""Results of stored runs: the same as of the conversations themselves, and as counted by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from cxlab.benchmarks.mmtaup2.evaluation import measured_metrics, paired_differences, results, summary
from cxlab.cli import app
from cxlab.commands.results import find_rows, show_tables
from cxlab.errors import BadOption, UnknownName
from cxlab.runner.request import RunRequest, check
from cxlab.store.attempt_metrics import load_figures
from tests.benchmarks.mmtaup2.mm_runs import FLOOR, make_run, write_runs

Made = tuple[Path, dict[str, list[summary.ConversationResult]]]
# By hand, as in test_mm_score: by voice CFA 2/3, TE .8, UES .4, IAS .5; TO .25 over text's four turns. Of its two
# errors the wrong purchase is put right only where the goal was reached.
REST = 0.2 * (0.8 + 1 / 1.4 + 1 / 1.25) / 3 + 0.1 * 0.5


def tap(passed: float) -> float:
    """mm-tap where this share of the voice conversations passed, and all of those by text: MRS = ARGA = passed."""
    return 0.35 * 2 / 3 * passed + 0.35 * (passed + passed + (1 + passed) / 2) / 3 + REST


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    home = tmp_path_factory.mktemp("results")
    return home, write_runs(home)


@pytest.fixture(autouse=True)
def here(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(made[0]))


@pytest.mark.parametrize("by", [(), ("persona",), ("domain", "modality")])
def test_what_is_stored_pools_as_what_was_said(made: Made, by: tuple[str, ...]) -> None:
    for run, cases in made[1].items():
        told = results.load((run,))[run]
        assert told.exact
        assert told.trials == (2 if run == "able" else 1)
        for one, other in zip(
            summary.table(told.cases, by, k=told.trials), summary.table(cases, by, k=told.trials), strict=True
        ):
            assert (one.keys, one.metric) == (other.keys, other.metric)
            assert vars(one.estimate) == pytest.approx(vars(other.estimate), abs=1e-12), one.metric
    assert results.load(("able",), "judged_")["able"].cases[0].figures["user_effort"].value is not None


def test_cells_by_hand() -> None:
    table = results.make_table(["able"], ["persona"])
    cell = {(row["persona"], row["metric"]): row for row in table.iter_rows(named=True)}
    assert cell["none", "mm_tap"]["value"] == pytest.approx(tap(1))
    assert cell["hard", "mm_tap"]["value"] == pytest.approx(tap(0.5))
    assert cell["hard", "modality_robustness"]["value"] == pytest.approx(0.5)
    # Three of four settings of the hard persona pass, each of them in both trials.
    assert [cell["hard", f"pass^{k}"]["value"] for k in (1, 2)] == [0.75, 0.75]
    # 3 of 3 fields by text, 2 of 3 by voice.
    assert cell["hard", "critical_field_accuracy"]["value"] == pytest.approx(5 / 6)
    assert cell["none", "pass^1"]["n"] == 4
    lone = results.make_table(["floor"]).filter(metric="mm_tap").row(0, named=True)
    assert (lone["value"], lone["partial"] is None) == (None, False)


def test_differences_on_the_same_tasks(made: Made) -> None:
    found = results.make_differences(["able"], ["mm_tap", "pass"])
    rows = {(row["factor"], row["metric"]): row for row in found.iter_rows(named=True)}
    assert set(rows) == {("persona", "mm_tap"), ("persona", "pass"), ("modality", "pass")}
    assert rows["persona", "mm_tap"]["difference"] == pytest.approx(tap(0.5) - tap(1))
    assert rows["persona", "pass"]["difference"] == pytest.approx(-0.25)
    assert rows["modality", "pass"]["difference"] == pytest.approx(-0.25)
    # Two tasks can prove nothing.
    assert found["verdict"].unique().to_list() == ["cannot tell"]
    assert (
        paired_differences.subtract_tap(paired_differences.match_levels(made[1]["able"], "modality", "voice", "text"))
        is None
    )


def test_many_tasks_that_all_lose_are_really_worse(made: Made) -> None:
    lost = {"pass": (0.0,), "arga": (0.0,), "error_recovery_rate": (1.0, 0.0)}
    cases = []
    for one in made[1]["able"]:
        if one.task == "T1" and one.trial == 1:
            fails = one.persona == "hard" and one.modality == "voice"
            figures = {
                **one.figures,
                **({name: measured_metrics.Figure(seen) for name, seen in lost.items()} if fails else {}),
            }
            cases += [replace(one, task=f"T{n}", figures=figures) for n in range(12)]
    gap = paired_differences.subtract_tap(paired_differences.match_levels(cases, "persona", "hard", "none"))
    assert gap is not None
    assert (gap.n, gap.clusters, gap.difference) == (12, 12, pytest.approx(tap(0) - tap(1)))
    assert gap.low == pytest.approx(gap.high) == pytest.approx(gap.difference)
    assert gap.p == pytest.approx(2 / 2001)
    verdict = {"metric": "mm_tap", "difference": gap.difference, "p_corrected": gap.p}
    assert results._decide(verdict) == "worse"
    assert results._decide(verdict | {"metric": "user_effort"}) == "better"
    assert results._decide(verdict | {"p_corrected": 0.2}) == "cannot tell"


def test_runs_of_before_counts_were_kept_say_so() -> None:
    told, figures = load_figures(["able"], list(results.METRICS), results.TERMS)
    cases, exact = results.cases_of(told, figures)
    assert exact == {}
    old = figures.with_columns(n=pl.col("value").is_not_null().cast(pl.Int32), counted=pl.lit(False))
    alike, exact = results.cases_of(told, old)
    assert exact == {"able": False}
    assert summary.pass_k(alike["able"]) == summary.pass_k(cases["able"])
    single = old.filter(pl.col("metric").is_in(["pass", "turns"]))
    assert results.cases_of(told, single)[1] == {}


def test_the_terminal_shows_the_same(made: Made) -> None:
    said = CliRunner().invoke(app, ["runs", "show", "able", "floor", "--json"])
    able, floor = json.loads(said.stdout)
    assert [(row["persona"], row["exposure"]) for row in able["rows"]] == [("all", "all"), ("none", "0"), ("hard", "0")]
    hard = able["rows"][-1]
    assert hard["mm_tap"] == pytest.approx(tap(0.5))
    assert (hard["pass^2 text"], hard["pass^2 voice"], hard["robustness"]) == (1, 0.5, 0.5)
    assert floor["rows"][0]["of parts"] > 0
    text = CliRunner().invoke(app, ["runs", "show", "able", "--option", "by=domain"]).stdout.splitlines()
    # The run was stored without a record of its work, so it counts as planned.
    assert text[0] == "able: simulated:strong on mmtaup2 (simulated), planned, 0 of 16"
    assert text[1].split()[:3] == ["domain", "n", "mm_tap"]
    assert text[2].split()[:3] == ["all", "16", f"{tap(0.75):.3f}"]


def test_the_table_stands_at_the_end_of_a_run_of_a_benchmark_that_has_one(capsys: pytest.CaptureFixture[str]) -> None:
    show_tables(["able"])
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("able: simulated:strong")
    assert len(said) == 5
    with pytest.raises(BadOption, match="no table"):
        find_rows(make_run("x", "m", 1, 1).model_copy(update={"benchmark": "sage"}), {"by": "persona"})


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"by": "modality"}, UnknownName),
        ({"colour": 1}, UnknownName),
        ({"weights": "a,b"}, BadOption),
        ({"weights": ".5,.5,.5,.5"}, BadOption),
    ],
)
def test_a_table_that_is_asked_for_wrongly(options: dict[str, Any], fault: type[Exception]) -> None:
    with pytest.raises(fault):
        results.list_figures("able", options)


def test_floors_are_refused_where_they_mean_nothing() -> None:
    check(RunRequest("mmtaup2", (FLOOR,)))
    check(RunRequest("sage", ("simulated:floor",)))
    with pytest.raises(BadOption, match="made for mmtaup2"):
        check(RunRequest("sage", (f"{FLOOR}?latency=0.1",)))


def test_levels_are_compared_on_the_terms_that_all_were_played_under(made: Made) -> None:
    cases = [replace(case, modality="text") for case in made[1]["able"][:1]]
    one = cases[0]
    played = [
        replace(one, persona=persona, exposure=exposure, modality=modality)
        for persona, exposure, modality in (
            ("none", 0, "text"), ("easy", 0, "text"), ("hard", 0, "text"), ("hard", 0, "voice"), ("hard", 1, "text"),
        )
    ]  # fmt: skip
    assert results.keep_alike(played, "persona") == played[:3]
    assert results.keep_alike(played, "modality") == played[2:4]
    assert results.keep_alike(played, "domain") == played
    # No terms have both: nothing is left out, as nothing would be left.
    apart = [played[0], played[3]]
    assert results.keep_alike(apart, "persona") == apart
