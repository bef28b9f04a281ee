"""Opening: from anywhere, by many, from older and newer versions; and the macros."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np
import pytest

from cxlab.errors import BadStore, Busy
from cxlab.store import connect, trash, version, write
from cxlab.store.compact import compact

from .store_records import NOON, make_attempt, make_dataset, make_run, make_samples, samples_by_id, start_child

pytestmark = pytest.mark.usefixtures("views_made_anew")
HOLDER = """
import sys, duckdb
con = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "read")
print("open", flush=True)
sys.stdin.read() if sys.stdin else None
import time; time.sleep(30)
"""
OPENER = """
import sys
from cxlab.store import connect
con = connect.open_store(sys.argv[1])
print(connect.query(con, "SELECT count(*) FROM attempts").item())
"""


def test_an_empty_store_opens_and_every_view_is_empty(tmp_path: Path) -> None:
    con = connect.open_store(tmp_path / "new")
    for view in (
        "runs",
        "samples",
        "attempts",
        "messages",
        "scores",
        "judgements",
        "votes",
        "traces",
        "failures",
        "annotations",
        "turn_sums",
    ):
        assert connect.query(con, f"FROM {view}").height == 0, view
    assert connect.query(con, "FROM turn_means('overall')").height == 0
    assert write.list_runs(tmp_path / "new") == []
    assert write.list_datasets(tmp_path / "new") == []


def test_nothing_is_written_through_an_open_store(filled: Path) -> None:
    con = connect.open_store(filled)
    with pytest.raises(duckdb.Error, match="read-only"):
        connect.query(con, "CREATE TABLE x AS SELECT 1 AS a")


def test_the_folder_can_be_moved(filled: Path) -> None:
    con = connect.open_store(filled)
    wanted = connect.query(con, "FROM attempts ORDER BY attempt_id")
    con.close()
    moved = filled.parent / "else where" / "it's moved"
    moved.parent.mkdir()
    filled.rename(moved)
    con = connect.open_store(moved)
    assert connect.query(con, "FROM attempts ORDER BY attempt_id").equals(wanted)
    assert compact("r1", moved) == 3
    assert connect.query(con, "FROM attempts ORDER BY attempt_id").equals(wanted)


def test_many_processes_make_and_open_one_store_at_once(filled: Path) -> None:
    children = [start_child(OPENER, filled) for _ in range(4)]
    answers = [child.communicate(timeout=300) for child in children]
    assert [out.strip() for out, _ in answers] == ["60"] * 4, answers


def old_file(home: Path) -> Path:
    """A database from before versions were kept, with a view that lacks columns and a table of somebody's own."""
    with duckdb.connect(str(home / connect.DATABASE), config={"file_search_path": str(home)}) as con:
        con.execute("CREATE VIEW attempts AS SELECT 1 AS attempt_id; CREATE TABLE mine AS SELECT 42 AS answer")
    return home / connect.DATABASE


def test_a_file_of_version_0_is_migrated_and_keeps_what_is_not_ours(filled: Path) -> None:
    old_file(filled)
    con = connect.open_store(filled)
    assert connect.query(con, "SELECT count(*), any_value(model) FROM attempts").row(0) == (60, "simulated:strong")
    assert connect.query(con, "SELECT number FROM store_version").item() == len(connect.MIGRATIONS)
    assert connect.query(con, "FROM mine").item() == 42
    con.close()
    stamp = (filled / connect.DATABASE).stat().st_mtime_ns
    connect.open_store(filled).close()
    assert (filled / connect.DATABASE).stat().st_mtime_ns == stamp, "migrated although it was up to date"


def test_threads_that_come_at_once_find_it_upgraded(filled: Path) -> None:
    """The sessions of a server; without waiting for each other they write the same views."""
    old_file(filled)
    ready = threading.Barrier(8)

    def look(_: int) -> int:
        ready.wait()
        found: int = connect.query(connect.open_store(filled), "SELECT count(*) FROM runs").item()
        return found

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(look, range(8)))) == 1


def test_views_are_made_anew_when_the_schema_has_changed(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect.open_store(filled).close()
    grown = {**connect.tables.TABLES["attempts"], "mood": connect.tables.TEXT}
    monkeypatch.setitem(connect.tables.TABLES, "attempts", grown)
    monkeypatch.setitem(connect.tables.PARTS, "attempts", grown)
    con = connect.open_store(filled)  # parts of the version before lack the column: it reads as NULL
    assert connect.query(con, "SELECT count(*), count(mood) FROM attempts").row(0) == (60, 0)


def test_a_migration_that_fails_changes_nothing(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = old_file(filled)

    def bad(con: duckdb.DuckDBPyConnection) -> None:
        con.execute("SELECT * FROM there_is_no_such_table")

    monkeypatch.setattr(connect, "MIGRATIONS", (*connect.MIGRATIONS, bad))
    with pytest.raises(duckdb.Error, match="there_is_no_such_table"):
        connect.open_store(filled)
    with duckdb.connect(str(path), read_only=True) as con:
        assert con.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("mine",)]
    monkeypatch.undo()
    con = connect.open_store(filled)
    assert connect.query(con, "SELECT count(*) FROM attempts").item() == 60


def test_a_store_of_the_future_is_refused(filled: Path) -> None:
    connect.open_store(filled).close()
    with duckdb.connect(str(filled / connect.DATABASE)) as con:
        con.execute("UPDATE store_version SET number = 99")
    with pytest.raises(BadStore, match="version 99"):
        connect.open_store(filled)


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_migration_that_cannot_get_the_lock_says_so(filled: Path, mode: str) -> None:
    path = old_file(filled)
    child = start_child(HOLDER, path, mode)
    assert child.stdout is not None
    assert child.stdout.readline() == "open\n"
    try:
        with pytest.raises(Busy, match="another process"):
            connect.open_store(filled)
    finally:
        child.kill()
        child.communicate()
    connect.open_store(filled).close()


def test_a_file_of_views_that_is_no_database_is_named_and_does_without(filled: Path) -> None:
    (filled / connect.DATABASE).write_bytes(b"not a database" * 1000)
    with pytest.raises(BadStore, match="makes it anew"):
        connect.check_database(filled)
    con = connect.open_store(filled)
    assert connect.query(con, "SELECT count(*) FROM attempts").item() == 60


def test_the_version_changes_with_everything_that_comes_or_goes(home: Path) -> None:
    from .test_store_records import make_annotation

    seen = [version(home)]

    def changed() -> bool:
        seen.append(version(home))
        return len(set(seen)) == len(seen)

    assert version(home) == seen[0]
    for number in range(3):
        with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
            writer.add(*make_attempt(number))
        assert changed()
    compact("r1", home)
    assert changed()
    write.annotate(make_annotation("n1", "x"), home)
    assert changed()
    write.save_dataset(make_dataset("d2"), make_samples("d2"), home)
    assert changed()
    write.create_run(make_run("r2"), home)
    assert changed()
    trash.delete("run", "r1", home)
    assert changed()
    trash.restore("run", "r1", home)
    assert changed()


def test_filters_and_columns_are_pushed_into_the_files(filled: Path) -> None:
    con = connect.open_store(filled)
    asked = "SELECT avg(value) FROM scores WHERE metric = 'overall' AND run_id = 'r1'"
    plan = con.execute(f"EXPLAIN {asked}").fetchall()[0][1]
    scan = plan[plan.index("READ_PARQUET") :]
    assert "metric = 'overall'" in " ".join(scan.replace("│", " ").split())
    assert "reason" not in scan
    assert "attempt_id" not in scan


def test_the_clustered_error_is_that_of_the_formula(home: Path) -> None:
    from cxlab.records import Score

    from .store_records import Scored

    rng = np.random.default_rng(5)
    # Trials of one sample are one cluster.
    clusters: dict[str, list[float]] = {}
    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        for number in range(70):
            attempt, _ = make_attempt(number)
            values = (rng.normal(60, 10) + rng.normal(0, 5, rng.integers(0, 6))).tolist()
            clusters.setdefault(attempt.sample_id, []).extend(values)
            scores = [Score(attempt_id=attempt.id, turn=i + 1, metric="overall", value=v) for i, v in enumerate(values)]
            scores += [
                Score(attempt_id=attempt.id, turn=9, metric="overall", value=None, reason="unparsed"),
                Score(attempt_id=attempt.id, turn=None, metric="overall", value=1e6),
            ]
            writer.add(attempt, Scored(tuple(scores)))
    con = connect.open_store(home)
    (row,) = connect.query(con, "FROM turn_means('overall')").rows(named=True)
    groups = [np.array(values) for values in clusters.values() if values]
    flat = np.concatenate(groups)
    residuals = np.array([(group - flat.mean()).sum() for group in groups])
    error = np.sqrt(len(groups) / (len(groups) - 1) * (residuals**2).sum()) / len(flat)
    assert (row["n"], row["clusters"], row["unscored"]) == (len(flat), len(groups), 70)
    assert row["mean"] == pytest.approx(flat.mean(), rel=1e-12)
    assert row["error"] == pytest.approx(error, rel=1e-9)


def test_a_mean_over_one_conversation_or_over_equal_values_has_no_false_error(home: Path) -> None:
    from cxlab.records import Score

    from .store_records import Scored

    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        for number in (0, 1, 2, 4):  # of metric m: two conversations with values and one without; of metric one: one
            attempt, _ = make_attempt(number)
            if number != 4:
                turns = range(1, 4 + number)
                name = "one" if number == 1 else "m"
                scores = tuple(Score(attempt_id=attempt.id, turn=i, metric=name, value=70.1) for i in turns)
            else:
                scores = (Score(attempt_id=attempt.id, turn=1, metric="m", value=None, reason="none"),)
            writer.add(attempt, Scored(scores))
    con = connect.open_store(home)
    rows = {name: connect.query(con, f"FROM turn_means('{name}')").row(0, named=True) for name in ("one", "m")}
    assert rows["one"]["error"] is None
    assert rows["m"]["clusters"] == 2
    assert rows["m"]["error"] == pytest.approx(0.0, abs=1e-5)


def test_times_come_back_in_utc(filled: Path) -> None:
    frame = connect.query(connect.open_store(filled), "SELECT min(started) AS first FROM attempts")
    assert frame["first"].dtype.time_zone == "UTC"
    assert frame.item() == NOON
