"""What a store that is asked often keeps in memory answers as its files do, and never for another state of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from cxlab.records import Annotation
from cxlab.store import connect, tables_in_memory, trash, write
from cxlab.store.catalogue import data_version, look_closer

from .damage import batch, cut, make_two_runs, record
from .store_records import make_attempt, make_run, samples_by_id

if TYPE_CHECKING:
    import duckdb

TABLES = ("runs", "samples", "attempts", "traces", "failures")
WORTH_IT = 12
COUNT = "SELECT run_id, count(*) AS n FROM attempts GROUP BY 1 ORDER BY 1"


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_in_memory, "_state", None)
    monkeypatch.setattr(tables_in_memory, "_WORTH_IT", WORTH_IT)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_two_runs(tmp_path / "store")


def ask_often(con: "duckdb.DuckDBPyConnection", home: Path) -> None:
    """Until the tables are kept."""
    for _ in range(WORTH_IT):
        connect.query(con, "SELECT 1")
    assert are_kept(home)


def are_kept(home: Path) -> bool:
    state = tables_in_memory._state
    return state is not None and state.version == data_version(home) and state.database is not None


def rows(con: "duckdb.DuckDBPyConnection", table: str) -> pl.DataFrame:
    return connect.query(con, f"FROM {table}")


def counts(con: "duckdb.DuckDBPyConnection") -> dict[str, int]:
    return dict(connect.query(con, COUNT).iter_rows())


def test_rows_types_and_order_are_those_of_the_files(filled: Path) -> None:
    con = connect.open_store(filled)
    others = ("scores", "votes", "turn_sums", "facetted('traces')", "turn_means('overall')")
    wanted = {table: rows(con, table) for table in TABLES}
    told = {table: rows(con, table).height for table in others}
    ask_often(con, filled)
    for table in TABLES:
        found = rows(con, table)
        assert found.schema == wanted[table].schema, table
        assert found.equals(wanted[table]), table
    assert {table: rows(con, table).height for table in others} == told
    assert wanted["attempts"].height == 60


def test_no_file_of_theirs_is_opened(home: Path) -> None:
    con = connect.open_store(home)
    ask_often(con, home)
    # In place, which no folder's time tells.
    cut(batch(home) / "attempts.parquet")
    cut(batch(home) / "scores.parquet")
    assert counts(con) == {"r1": 8, "r2": 8}
    # What is not kept is read, so that the damage is met, and all answers are without it from then on.
    assert set(rows(con, "scores")["run_id"]) == {"r2"}
    assert counts(con) == {"r2": 8}


def test_what_comes_or_goes_is_seen_at_once(home: Path) -> None:
    con = connect.open_store(home)
    ask_often(con, home)
    with write.PartWriter(make_run("r2"), samples_by_id(), home=home) as writer:
        writer.add(*make_attempt(8, "r2"))
    assert counts(con) == {"r1": 8, "r2": 9}
    ask_often(con, home)
    assert counts(con) == {"r1": 8, "r2": 9}
    trash.delete("run", "r2", home)
    assert counts(con) == {"r1": 8}
    ask_often(con, home)
    cut(record(home))
    assert counts(con) == {}


def test_annotations_are_read_from_their_files_and_throw_nothing_away(home: Path) -> None:
    con = connect.open_store(home)
    ask_often(con, home)
    before = rows(con, "annotations")
    write.annotate(Annotation.model_validate({**before.row(0, named=True), "id": "n2", "value": "y"}), home)
    assert sorted(rows(con, "annotations_in_force")["value"]) == ["x", "y"]
    assert are_kept(home)


def test_large_tables_stay_in_their_files(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_in_memory, "_MOST_ROWS", 10)
    con = connect.open_store(home)
    ask_often(con, home)
    state = tables_in_memory._state
    assert state is not None
    assert state.database is not None
    named = state.database.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert {"memory_runs", "memory_attempts"} & {name for (name,) in named} == {"memory_runs"}
    assert counts(con) == {"r1": 8, "r2": 8}


def test_few_questions_of_two_runs_and_a_store_with_something_set_aside_keep_nothing(home: Path) -> None:
    con = connect.open_store(home)
    for _ in range(WORTH_IT // 2 - 1):
        connect.query(con, "SELECT 1")
    assert not are_kept(home)
    cut(batch(home) / "attempts.parquet")
    assert look_closer(home)
    for _ in range(WORTH_IT):
        assert counts(con) == {"r2": 8}
    assert not are_kept(home)


def test_files_that_cannot_be_read_keep_nothing_and_are_told_of_as_ever(home: Path) -> None:
    con = connect.open_store(home)
    for _ in range(WORTH_IT // 2 - 1):
        connect.query(con, "SELECT 1")
    cut(batch(home) / "attempts.parquet")
    assert counts(con) == {"r2": 8}
    assert not are_kept(home)
