from pathlib import Path

import polars as pl
import pytest

from cxlab import read
from cxlab.errors import UnknownName
from cxlab.read import View


def test_pages_are_cut_in_sql_and_hold_every_attempt_once(home: Path) -> None:
    pages = [read.attempts(View(), limit=20, offset=start) for start in range(0, 100, 20)]
    assert [page.frame.height for page in pages] == [20, 20, 20, 20, 10]
    assert {page.total for page in pages} == {90}
    keys = pl.concat(page.frame for page in pages).select("run_id", "attempt_id")
    assert keys.unique().height == 90


def test_worst_first_respects_the_direction_of_the_metric(home: Path) -> None:
    low = read.attempts(View(metric="overall"), order="worst").frame["score"]
    assert low.to_list() == sorted(low)
    errors = read.attempts(View(metric="format_error"), order="worst", less_is_better=True).frame["score"]
    assert errors.to_list() == sorted(errors, reverse=True)
    assert errors[0] > 0


def test_an_unknown_order_is_refused(home: Path) -> None:
    with pytest.raises(UnknownName, match="cheapest"):
        read.attempts(View(order="cheapest"))


def test_words_are_found_wherever_they_were_said(home: Path) -> None:
    first = read.attempts(View(), limit=1).frame
    said = read.attempt(first["run_id"][0], first["attempt_id"][0]).messages["text"][3]
    found = read.attempts(View(search=said.upper())).frame
    assert first["attempt_id"][0] in found["attempt_id"]
    assert read.attempts(View(search="nobody says this")).total == 0


def test_an_attempt_is_found_by_its_id(home: Path) -> None:
    wanted = read.attempts(View(), limit=1).frame["attempt_id"][0]
    assert read.attempts(View(search=wanted)).frame["attempt_id"].to_list() == [wanted]


def test_a_whole_attempt_is_whole(home: Path) -> None:
    row = read.attempts(View(), limit=1).frame.row(0, named=True)
    whole = read.attempt(row["run_id"], row["attempt_id"])
    assert whole.messages["seq"].to_list() == list(range(8))
    assert whole.messages["role"].to_list() == ["customer", "agent"] * 4
    assert whole.sample["expected"]["action"]
    assert whole.run["setup"]["customer"] == "simulated:customer"
    assert whole.votes.height == 12
    # Of each of four turns three judges read a field and give a grade.
    assert sorted(whole.judgements["kind"].value_counts()["count"]) == [12, 12]
    assert whole.traces.height == 4
    assert whole.attempt["output"] == {}


def test_an_attempt_that_is_not_there_is_named(home: Path) -> None:
    with pytest.raises(UnknownName, match="run-x/a-x"):
        read.attempt("run-x", "a-x")


def test_neighbours_follow_the_order_of_the_list(home: Path) -> None:
    view = View(metric="overall", order="worst", models=("simulated:weak",))
    listed = [f"{run}/{key}" for run, key in read.attempts(view).frame.select("run_id", "attempt_id").iter_rows()]
    middle = view.change(attempt=listed[5])
    assert read.neighbours(middle) == (listed[4], listed[6])
    assert read.neighbours(view.change(attempt=listed[0])) == ("", listed[1])
    assert read.neighbours(view.change(attempt=listed[-1])) == (listed[-2], "")
    assert read.neighbours(view) == ("", "")


def test_facets_count_attempts(home: Path) -> None:
    found = read.facets(View(models=("simulated:weak",)))
    models = found.filter(pl.col("name") == "models")
    assert models.select("value", "n").rows() == [("simulated:weak", 18)]
    assert found.filter(pl.col("name") == "level")["n"].sum() == 18


def test_models_are_known_in_the_order_of_their_first_runs(home: Path) -> None:
    names = ["strong", "base", "weak", "eloquent", "curt"]
    assert read.known_models()["model"].to_list() == [f"simulated:{name}" for name in names]
