"""Exports: complete, marked, safe to open; deletion that can be undone."""

import csv
import json
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from cxlab.errors import BadOption, Busy, UnknownName
from cxlab.store import connect, trash, write
from cxlab.store.exports.export import export_runs
from tests.store.store_records import make_attempt, make_run, samples_by_id, start_child

TABLES = {
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
}


@pytest.fixture
def two_runs(filled: Path) -> Path:
    """r1 is simulated with 60 attempts, r2 is not and has 10."""
    run = make_run("r2", simulated=False)
    write.create_run(run, filled)
    with write.PartWriter(run, samples_by_id(), home=filled) as writer:
        for number in range(10):
            writer.add(*make_attempt(number, "r2"))
    return filled


@pytest.mark.parametrize("format", ["parquet", "csv", "jsonl"])
def test_each_table_is_exported_and_marked(two_runs: Path, tmp_path: Path, format: str) -> None:
    out = tmp_path / "out put's"
    files = export_runs(["r1", "r2"], format, out, two_runs)
    assert {path.stem for path in files} == TABLES
    assert {path.name for path in out.iterdir()} == {f"{table}.{format}" for table in TABLES}
    read = {"parquet": pl.read_parquet, "csv": pl.read_csv, "jsonl": pl.read_ndjson}[format]
    for table, each in {
        "attempts": 1,
        "messages": 4,
        "scores": 6,
        "judgements": 2,
        "votes": 2,
        "traces": 2,
        "failures": 2,
    }.items():
        frame = read(out / f"{table}.{format}")
        marks = dict(frame.group_by("run_id").agg(pl.col("simulated").unique().first()).iter_rows())
        assert marks == {"r1": True, "r2": False}, table
        assert frame.height == 70 * each, table


def test_only_the_chosen_runs_are_exported(two_runs: Path, tmp_path: Path) -> None:
    export_runs(["r2"], "parquet", tmp_path / "out", two_runs)
    for table in ("runs", "attempts", "scores", "messages"):
        assert pl.read_parquet(tmp_path / "out" / f"{table}.parquet")["run_id"].unique().to_list() == ["r2"]
    with pytest.raises(UnknownName, match="r3"):
        export_runs(["r3"], "parquet", tmp_path / "none", two_runs)
    with pytest.raises(BadOption, match="xlsx"):
        export_runs(None, "xlsx", tmp_path / "none", two_runs)
    assert not (tmp_path / "none").exists()


def test_json_lines_nest_what_is_json(two_runs: Path, tmp_path: Path) -> None:
    export_runs(None, "jsonl", tmp_path, two_runs)
    attempts = [json.loads(line) for line in (tmp_path / "attempts.jsonl").read_text().splitlines()]
    assert len(attempts) == 70
    assert {a["attempt_id"]: a["output"] for a in attempts}["r2-a00003"] == {"action": "Refund", "n": 3}
    trace = json.loads((tmp_path / "traces.jsonl").read_text().splitlines()[0])
    assert trace["moves"][0] == {"move": "sync", "stage": "stage1"}
    assert trace["predicted_path"] == ["stage1", "stage3"]


DANGEROUS = ["=1+1", "+SUM(A1)", "-2+3+cmd|' /C calc'!A0", "@x", "\t=1", "\r=1", " =1", "\n=1", "＝1+1", "- a list"]
HARMLESS = ["-5", "+3.25", "-1e-5", "plain", "a=b", "", "'=quoted", "5-3"]


def test_no_cell_of_a_csv_runs_as_a_formula(home: Path, tmp_path: Path) -> None:
    texts = DANGEROUS + HARMLESS
    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        for number, text in enumerate(texts):
            attempt, scored = make_attempt(number)
            said = attempt.messages[0].model_copy(update={"text": text})
            writer.add(attempt.model_copy(update={"messages": (said,)}), scored)
    export_runs(None, "csv", tmp_path, home)
    with (tmp_path / "messages.csv").open(newline="") as handle:
        found = {row["attempt_id"]: row["text"] for row in csv.DictReader(handle)}
    got = [found[make_attempt(number)[0].id] for number in range(len(texts))]
    assert got == ["'" + text for text in DANGEROUS] + HARMLESS
    with (tmp_path / "attempts.csv").open(newline="") as handle:
        assert next(csv.DictReader(handle))["opening"] == "'=1+1"
    export_runs(None, "parquet", tmp_path, home)  # other formats keep the text as it was
    assert sorted(pl.read_parquet(tmp_path / "messages.parquet")["text"].to_list()) == sorted(texts)


OPENER = """
import sys, duckdb
with duckdb.connect(sys.argv[1], read_only=True) as con:
    print(con.execute("SELECT count(*), sum(simulated::INT) FROM scores").fetchall()[0])
    print(con.execute("SELECT moves[2].stage FROM traces ORDER BY run_id, attempt_id, turn").fetchall()[0][0])
    print(sorted(row[0] for row in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()))
"""


def test_an_exported_database_opens_by_itself(two_runs: Path, tmp_path: Path) -> None:
    made = tmp_path / "out" / "cx'lab.duckdb"
    for _ in range(2):  # the second replaces the first
        assert export_runs(None, "duckdb", made, two_runs) == [made]
    assert [path.name for path in made.parent.iterdir()] == [made.name]
    two_runs.rename(tmp_path / "gone")
    out, errors = start_child(OPENER, made).communicate(timeout=300)
    assert out.splitlines() == ["(420, 360)", "stage3", str(sorted({*TABLES, "files"}))], errors


def test_events_are_those_of_process_mining_tools(two_runs: Path, tmp_path: Path) -> None:
    with write.PartWriter(make_run(), samples_by_id(), home=two_runs) as writer:
        attempt, scored = make_attempt(70)
        odd = scored.traces[1].model_copy(update={"predicted_path": ("=cmd",), "predicted_action": None})
        unparsed = scored.traces[0].model_copy(update={"parsed": False})
        writer.add(attempt, type(scored)(traces=(unparsed, odd)))
    (path,) = export_runs(None, "events", tmp_path / "log" / "events.csv", two_runs)
    with path.open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert list(rows[0])[:3] == ["case:concept:name", "concept:name", "time:timestamp"]
    case = [row for row in rows if row["attempt_id"] == "r2-a00004"]
    columns = ("case:concept:name", "concept:name", "kind", "inserted", "last")
    assert [tuple(row[column] for column in columns) for row in case] == [
        ("r2-a00004/1", "stage1", "stage", "false", "false"),
        ("r2-a00004/1", "stage3", "stage", "true", "false"),
        ("r2-a00004/2", "stage1", "stage", "false", "true"),
        ("r2-a00004/2", "stage2", "stage", "false", "true"),
        ("r2-a00004/2", "Refund", "action", "", "true"),
    ]
    times = [datetime.fromisoformat(row["time:timestamp"]) for row in case]
    assert times == sorted(set(times))
    assert times[0].isoformat() == "2026-03-01T12:00:04.124000+00:00"
    assert {(row["run_id"], row["simulated"]) for row in rows} == {("r1", "true"), ("r2", "false")}
    assert [row["concept:name"] for row in rows if row["attempt_id"] == "r1-a00070"] == ["'=cmd"]


def test_a_deleted_run_is_out_of_sight_and_comes_back(two_runs: Path) -> None:
    con = connect.open_store(two_runs)
    count = "SELECT count(*) FROM attempts"
    gone = trash.delete("run", "r1", two_runs)
    assert gone.id == "r1"
    assert connect.query(con, count).item() == 10
    assert [run.id for run in write.list_runs(two_runs)] == ["r2"]
    with pytest.raises(UnknownName, match="r1"):
        trash.delete("run", "r1", two_runs)
    assert [entry.id for entry in trash.list_deleted("run", two_runs)] == ["r1"]
    trash.restore("run", "r1", two_runs)
    assert connect.query(con, count).item() == 70
    assert trash.list_deleted("run", two_runs) == []
    assert write.load_run("r1", two_runs) == make_run()


def test_the_last_deleted_comes_back_and_never_over_another(two_runs: Path) -> None:
    trash.delete("run", "r1", two_runs)
    write.create_run(make_run(), two_runs)
    with pytest.raises(BadOption, match="exists again"):
        trash.restore("run", "r1", two_runs)
    trash.delete("run", "r1", two_runs)
    trash.restore("run", "r1", two_runs)
    assert write.finished("r1", two_runs) == set()  # the later one, without attempts
    assert trash.purge("run", "r1", two_runs) == 1
    with pytest.raises(UnknownName, match="r1"):
        trash.purge("run", "r1", two_runs)
    trash.delete("run", "r2", two_runs)
    assert trash.purge("run", home=two_runs) == 1
    assert list((two_runs / "trash").iterdir()) == []


def test_a_run_that_is_being_written_is_not_deleted(home: Path) -> None:
    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        writer.add(*make_attempt(0))
        with pytest.raises(Busy, match="cancel it"):
            trash.delete("run", "r1", home)
    trash.delete("run", "r1", home)
