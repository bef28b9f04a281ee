"""Runs on their way to another store: as a folder, as one DuckDB file, and what is refused of what others send."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest

from cxlab.errors import BadFile, BadOption
from cxlab.importers import runs as run_importer
from cxlab.records import Annotation
from cxlab.records.settings import Settings
from cxlab.store import catalogue, connect, write
from cxlab.store.exports import archive
from cxlab.store.exports.export import Format, export_runs
from tests.store.store_records import make_run

TABLES = ("runs", "samples", "attempts", "messages", "scores", "votes", "annotations")


def rows_of(home: Path) -> dict[str, pl.DataFrame]:
    con = connect.open_store(home)
    try:
        found = {table: connect.query(con, f"SELECT * FROM {table}", {}) for table in TABLES}
    finally:
        con.close()
    return {table: frame.sort(frame.columns[:3]) for table, frame in found.items()}


@pytest.fixture
def noted(filled: Path) -> Path:
    """A store with a run of 60 attempts, one of them with a note, and a sound of another."""
    note = Annotation(
        id="n1",
        run_id="r1",
        attempt_id="r1-a1",
        kind="note",
        value="=1+1 <b>says the customer</b>",
        author="Ada",
        created=datetime(2026, 3, 2, tzinfo=UTC),
    )
    write.annotate(note, filled)
    sound = filled / "runs" / "r1" / "sounds" / "r1-a2" / "001.flac"
    sound.parent.mkdir(parents=True)
    sound.write_bytes(b"fLaC")
    return filled


def given(path: Path) -> run_importer.GivenRuns:
    found = run_importer.IMPORTER.read(path, Settings())
    assert isinstance(found, run_importer.GivenRuns)
    return found


@pytest.mark.parametrize("format", ["duckdb", "folder"])
def test_another_store_holds_the_same_rows_afterwards(noted: Path, tmp_path: Path, format: Format) -> None:
    [path] = export_runs(["r1"], format, tmp_path / "sent [1]", noted)
    there = tmp_path / "there"
    brought = given(path)
    assert brought.report().lines == ("r1: can be stored (sage, simulated:strong, 60 attempts, simulated)",)
    assert not catalogue.read(there).runs  # nothing is stored before it is asked for
    brought.save(there)
    assert brought.report().record["runs"] == {"r1": "stored"}
    for table, frame in rows_of(noted).items():
        assert frame.equals(rows_of(there)[table]), table
    assert not catalogue.read(there, closely=True).set_aside
    assert (there / "runs/r1/sounds/r1-a2/001.flac").read_bytes() == b"fLaC"
    # A second time nothing changes, and nothing counts twice.
    again = given(path)
    again.save(there)
    assert again.report().record["runs"] == {"r1": "here already"}
    assert rows_of(there)["annotations"].height == 1


def test_a_folder_is_a_store_of_its_own_and_is_replaced_only_while_nobody_uses_it(noted: Path, tmp_path: Path) -> None:
    to = tmp_path / "out"
    export_runs(["r1"], "folder", to, noted)
    export_runs(["r1"], "folder", to, noted)
    assert rows_of(to)["attempts"].equals(rows_of(noted)["attempts"])
    with pytest.raises(BadOption, match="other things"):  # it has just been opened as a store
        export_runs(["r1"], "folder", to, noted)
    for taken in (noted, noted.parent):
        with pytest.raises(BadOption, match="store itself"):
            export_runs(["r1"], "folder", taken, noted)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(BadOption, match="other things"):
        export_runs(["r1"], "folder", tmp_path / "mine", noted)


def test_another_run_of_the_same_id_stays(noted: Path, tmp_path: Path) -> None:
    [path] = export_runs(["r1"], "duckdb", tmp_path / "sent.duckdb", noted)
    there = tmp_path / "there"
    other = make_run("r1", simulated=False)
    write.create_run(other, there)
    brought = given(path)
    brought.save(there)
    assert brought.report().record["runs"] == {"r1": archive.CONFLICT}
    assert brought.report().failed
    assert write.load_run("r1", there) == other
    assert rows_of(there)["annotations"].is_empty()


@pytest.mark.parametrize(("seed", "told"), [(0, "here already"), (1, archive.CONFLICT)])
def test_the_archive_of_an_older_version_is_of_the_same_run(noted: Path, tmp_path: Path, seed: int, told: str) -> None:
    """As it was exported before the store was upgraded, which tells a run's switches in today's form."""
    to, record = tmp_path / "out", noted / "runs" / "r1" / "run.json"
    export_runs(["r1"], "folder", to, noted)
    older = json.loads(record.read_text(encoding="utf-8"))
    older |= {"version": 1, "seed": older["seed"] + seed, "setup": {"choice": {"levels": ["hard"]}}}
    (to / "runs" / "r1" / "run.json").write_text(json.dumps(older), encoding="utf-8")
    brought = given(to)
    brought.save(noted)
    assert brought.report().record["runs"] == {"r1": told}


def test_a_run_whose_dataset_was_deleted_comes_without_it_and_says_so(noted: Path, tmp_path: Path) -> None:
    shutil.rmtree(noted / "datasets" / "d1")
    [path] = export_runs(["r1"], "folder", tmp_path / "out", noted)
    brought = given(path)
    assert "its dataset d1 is not in the archive" in brought.report().complaints[0]
    brought.save(tmp_path / "there")
    assert rows_of(tmp_path / "there")["attempts"].height == 60


def test_names_that_no_store_gives_are_not_taken(noted: Path, tmp_path: Path) -> None:
    [path] = export_runs(["r1"], "duckdb", tmp_path / "sent.duckdb", noted)
    hostile = [
        "../../evil.txt",
        "/etc/evil",
        "runs/../../evil",
        "runs/r1/parts/../../../evil.parquet",
        "runs/r1/evil.sh",
        "datasets/d1/files/../../../evil",
        "datasets/d1/files/a\x00b",
    ]
    with duckdb.connect(str(path)) as con:
        con.executemany("INSERT INTO files VALUES ($1, 'x'::BLOB)", [[name] for name in hostile])
    brought = given(path)
    assert len(brought.report().complaints) == len(hostile)
    brought.save(tmp_path / "a" / "there")
    assert not list(tmp_path.rglob("*evil*"))


def test_a_damaged_run_is_named_and_the_sound_one_comes(noted: Path, tmp_path: Path) -> None:
    write.create_run(make_run("r2"), noted)
    to = tmp_path / "out"
    export_runs(["r1", "r2"], "folder", to, noted)
    part = next((to / "runs" / "r1" / "parts").iterdir()) / "attempts.parquet"
    part.write_bytes(part.read_bytes()[:-40])
    brought = given(to)
    assert [line.split(":")[0] for line in brought.report().lines] == ["r2"]
    assert any("r1" in said and "cut short" in said for said in brought.report().complaints)
    brought.save(tmp_path / "there")
    assert list(catalogue.read(tmp_path / "there").runs) == ["r2"]


def test_a_file_that_is_none_or_reads_others_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("path,content\nruns/r1/run.json,x\n")
    text, empty, view = tmp_path / "a.txt", tmp_path / "empty", tmp_path / "view.duckdb"
    text.write_text(json.dumps({}))
    empty.mkdir()
    with duckdb.connect(str(view)) as con:
        con.execute(f"CREATE VIEW files AS SELECT path, content::BLOB AS content FROM read_csv('{secret}')")
    with duckdb.connect(str(tmp_path / "bare.duckdb")) as con:
        con.execute("CREATE TABLE files (path VARCHAR)")
        con.execute("INSERT INTO files VALUES ('runs/r1/run.json')")
    for path, said in {
        text: "no DuckDB file",
        empty: "holds no run",
        view: "no table 'files'",
        tmp_path / "bare.duckdb": "cannot be read",
        tmp_path / "gone": "does not exist",
    }.items():
        with pytest.raises(BadFile, match=said):
            given(path)
