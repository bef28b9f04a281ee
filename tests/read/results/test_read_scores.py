from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from cxlab import read
from cxlab.errors import UnknownName
from cxlab.metrics.intervals import clustered_interval
from cxlab.read import View
from cxlab.records import Run
from cxlab.store import tables, write

STRONG = View(metric="overall", models=("simulated:strong",))


def rows(home: Path, table: str = "scores") -> pl.DataFrame:
    """What the parts hold, read without the code under test; each row with the facets of its attempt."""

    def everything(name: str) -> pl.DataFrame:
        return pl.concat(pl.read_parquet(path) for path in home.glob(f"runs/run-*/parts/*/{name}.parquet"))

    attempts = everything("attempts")
    facets = attempts.select("run_id", "attempt_id", "facets").explode("facets").unnest("facets")
    wide = facets.pivot("key", index=["run_id", "attempt_id"], values="value")
    return (attempts if table == "attempts" else everything(table)).join(wide, on=["run_id", "attempt_id"])


def test_the_sql_interval_is_the_one_of_metrics(home: Path) -> None:
    found = read.score_table(STRONG, by=("model", "scenario")).sort("scenario")
    assert found.height == 6
    for row in found.iter_rows(named=True):
        part = rows(home).filter(
            (pl.col("model") == row["model"]) & (pl.col("scenario") == row["scenario"])
            & (pl.col("metric") == "overall") & pl.col("turn").is_not_null()
        )  # fmt: skip
        wanted = clustered_interval(part["value"].to_numpy(), part["sample_id"].to_list())
        assert (row["mean"], row["low"], row["high"]) == pytest.approx(wanted[:3])
        assert (row["n"], row["clusters"]) == wanted[3:]


@pytest.mark.parametrize("scale", [(0.0, 100.0), (100.0, 0.0), (0.0, 10**9)])
def test_on_a_scale_it_is_the_one_of_metrics_as_well(home: Path, scale: tuple[float, float]) -> None:
    metric = "format_error"
    found = read.score_table(View(metric="overall"), by=("model", "level"), metrics=(metric,), scales={metric: scale})
    for row in found.iter_rows(named=True):
        part = rows(home).filter(
            pl.col("metric") == metric, pl.col("model") == row["model"], pl.col("level") == row["level"]
        )
        wanted = clustered_interval(part["value"].to_numpy(), part["sample_id"].to_list(), scale)
        assert (row["mean"], row["low"], row["high"]) == pytest.approx(wanted[:3])


def test_leaderboard_is_best_first_and_counts_what_there_is(home: Path) -> None:
    board = read.leaderboard(View(metric="overall"))
    assert board["overall"].to_list() == sorted(board["overall"], reverse=True)
    assert board["attempts"].to_list() == [18] * 5
    assert board["turns"].to_list() == [72] * 5
    assert (board["ok"] + board["format"] + board["provider"] == board["attempts"]).all()
    assert board["simulated"].all()
    assert (board["overall_low"] < board["overall"]).all()


def test_a_group_that_only_attempts_have_needs_the_join(home: Path) -> None:
    found = read.score_table(View(metric="overall").narrow(persona=("persona 1",)), by=("persona",))
    assert found["persona"].to_list() == ["persona 1"]
    people = rows(home, "attempts").filter(pl.col("persona") == "persona 1").height
    assert found["n"].to_list() == [people * 4]


def test_a_metric_of_whole_attempts_only_is_found(home: Path) -> None:
    whole = read.score_table(STRONG, grain="attempt")
    assert whole["n"].to_list() == [18]
    part = rows(home).filter((pl.col("model") == "simulated:strong") & pl.col("turn").is_null())
    assert whole["mean"].to_list() == pytest.approx([part["value"].mean()])


def test_by_turn_has_a_row_a_turn(home: Path) -> None:
    assert read.score_table(STRONG, by=("turn",))["turn"].to_list() == [1, 2, 3, 4]


def test_a_value_with_sql_in_it_is_a_value(home: Path) -> None:
    evil = "x') OR true; DROP VIEW scores; --"
    for view in (
        View(metric="overall", models=(evil,)),
        View(metric="overall", search=evil),
        View(metric="overall").narrow(persona=(evil,)),
        View(metric="overall", benchmark=evil),
        View(metric="overall", runs=(evil,)),
    ):
        assert read.leaderboard(view).is_empty()
        assert read.attempts(view).total == 0
    assert read.score_table(View(metric=evil)).is_empty()
    assert read.leaderboard(View(metric="overall")).height == 5


def test_an_unknown_group_is_refused(home: Path) -> None:
    with pytest.raises(UnknownName, match="1; DROP"):
        read.score_table(View(metric="overall"), by=("1; DROP VIEW scores",))


def test_an_empty_store_has_empty_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "none"))
    assert read.leaderboard(View(metric="overall")).is_empty()
    assert read.score_table(View(metric="overall"), by=("model",)).columns == [
        "model", "metric", "n", "clusters", "mean", "low", "high", "unscored"
    ]  # fmt: skip
    assert read.health()["attempts"] == 0
    assert read.latest_runs().is_empty()
    assert read.facets(View(metric="overall")).is_empty()


def write_run(home: Path, run_id: str, values: list[float | None], **setup: str) -> None:
    """A run whose one attempt a sample has one turn with the given score; samples are named s0, s1, ..."""
    run = Run(
        id=run_id, benchmark="sage", model="m", simulated=False, setup=dict(setup), judges=(), dataset_id="d", seed=0,
        trials=1, planned=len(values), prompts={}, code="", created=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    part = write.create_run(run, home) / "parts" / "001-1-000000"
    part.mkdir(parents=True)
    ids = {"run_id": run_id, "benchmark": "sage", "model": "m", "trial": 1, "simulated": False, "outcome": "ok"}
    attempts = [{**ids, "attempt_id": f"a{i}", "sample_id": f"s{i}", "turns": 1} for i in range(len(values))]
    scores = [
        {**each, "turn": 1, "metric": "overall", "value": value} for each, value in zip(attempts, values, strict=True)
    ]
    for name, schema, found in (("attempts", tables.ATTEMPTS, attempts), ("scores", tables.SCORES, scores)):
        full = [{column: row.get(column) for column in schema} for row in found]
        pl.DataFrame(full, schema=schema).write_parquet(part / f"{name}.parquet")


def test_unscored_is_not_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    write_run(tmp_path, "run-a", [80.0, None, 60.0])
    row = read.score_table(View(metric="overall"), by=("model",)).row(0, named=True)
    assert (row["mean"], row["n"], row["unscored"], row["clusters"]) == (70.0, 2, 1, 2)


def test_one_sample_has_no_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    write_run(tmp_path, "run-a", [80.0])
    row = read.score_table(View(metric="overall"), by=("model",)).row(0, named=True)
    assert (row["mean"], row["low"], row["high"]) == (80.0, None, None)


def test_a_repeated_run_makes_no_interval_narrower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    values: list[float | None] = [80.0, 60.0, 75.0, 50.0]
    write_run(tmp_path, "run-a", values)
    once = read.score_table(View(metric="overall")).row(0, named=True)
    write_run(tmp_path, "run-b", values)
    twice = read.score_table(View(metric="overall")).row(0, named=True)
    assert (twice["n"], twice["clusters"]) == (8, 4)
    assert (twice["low"], twice["high"]) == pytest.approx((once["low"], once["high"]))


def test_scoring_again_does_not_count_attempts_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    write_run(tmp_path, "run-a", [80.0, 60.0])
    write_run(tmp_path, "run-b", [10.0, 20.0], rescored_from="run-a")
    assert read.health()["attempts"] == 2  # what is judged again is no further dialogue
    board = read.leaderboard(View(metric="overall"))
    assert (board["attempts"].to_list(), board["overall"].to_list()) == ([2], [70.0])
    assert read.leaderboard(View(metric="overall", runs=("run-b",)))["overall"].to_list() == [15.0]
