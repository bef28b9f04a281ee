"""The catalogue: what it opens and when, what it finds later, what the doctor finds besides."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from cxlab import jobs, read
from cxlab.errors import BadStore, UnknownName
from cxlab.runner import lock
from cxlab.runner.stored import health as run_health
from cxlab.store import (
    catalogue,
    connect,
    folder_contents,
    health,
    layout,
    load,
    soundness,
    tables_in_memory,
    trash,
    write,
)
from cxlab.store import run_status as statuses
from cxlab.store.compact import compact
from cxlab.store.exports.export import export_runs
from tests.conftest import use

from .damage import batch, change, cut, make_two_runs, record, rewrite, zero
from .store_records import make_attempt, make_dataset, make_run, make_samples, samples_by_id


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = make_two_runs(tmp_path / "store")
    use(home, monkeypatch)
    return home


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The Parquet files that the catalogue opens from now on."""
    seen: list[Path] = []
    real = soundness.find_fault

    def find_fault(path: Path, schema: Any = None) -> str | None:
        seen.append(path)
        return real(path, schema)

    monkeypatch.setattr(folder_contents, "find_fault", find_fault)
    return seen


def rot(path: Path) -> None:
    """Damage values in the middle and keep footer, size and time, as a bad disk does."""
    stat = path.stat()
    zero(path, stat.st_size // 8, stat.st_size // 3)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_only_what_is_new_is_opened(store: Path, opened: list[Path]) -> None:
    first = catalogue.read(store)
    assert len(opened) == 2 * 2 * 7 + 2 + 1  # parts of two runs, two datasets, one annotation
    opened.clear()
    assert catalogue.read(store) is first
    assert catalogue.version(store) == first.version
    with write.PartWriter(make_run(), samples_by_id(), home=store) as writer:
        writer.add(*make_attempt(30))
    assert catalogue.version(store) != first.version
    assert len(opened) == 7
    opened.clear()
    change(record(store), seed=8)
    assert catalogue.read(store).runs["r1"].seed == 8
    assert catalogue.read(store, closely=True).set_aside == ()
    assert opened == []


def test_one_run_is_found_without_opening_the_others(store: Path, opened: list[Path]) -> None:
    assert catalogue.find_run("r2", store).id == "r2"
    assert {path.parents[2].name for path in opened} == {"r2"}
    with pytest.raises(UnknownName, match="unknown run 'r3'; known: r1, r2"):
        catalogue.find_run("r3", store)
    cut(record(store))
    with pytest.raises(BadStore, match=r"run 'r1' is set aside: run.json is no whole JSON.*doctor"):
        catalogue.find_run("r1", store)


def test_a_part_that_rots_is_found_by_the_query_that_meets_it(store: Path) -> None:
    assert read.health()["attempts"] == 16
    con = connect.open_store(store)
    version = catalogue.version(store)
    rot(batch(store) / "scores.parquet")
    assert catalogue.read(store, closely=True).set_aside == ()  # nothing tells it from what it was
    assert connect.query(con, "SELECT run_id, count(value) FROM scores GROUP BY 1").rows() == [("r2", 40)]
    (one,) = catalogue.read(store).set_aside
    assert "cannot be read to its end" in one.reason
    assert catalogue.version(store) != version
    assert read.health()["attempts"] == 8
    assert export_runs(None, "csv", store.parent / "out")[0].name == "runs.csv"


def test_a_part_that_is_changed_in_its_place_is_found_by_the_query_that_meets_it(store: Path) -> None:
    assert read.health()["attempts"] == 16
    rewrite(batch(store) / "scores.parquet", value=pl.lit("much"))
    assert read.ask("SELECT sum(value) > 0 FROM scores").item()
    assert [one[1] for one in read.set_aside()] == ["r1"]


def test_what_is_read_without_a_query_is_named_as_damaged(store: Path) -> None:
    catalogue.read(store)
    rot(batch(store) / "messages.parquet")
    with pytest.raises(BadStore, match="run 'r1' is set aside: part"):
        list(load.load_attempts("r1", store))
    rot(store / "datasets/d2/samples.parquet")
    with pytest.raises(BadStore, match="dataset 'd2' is set aside: samples"):
        write.load_samples("d2", store)
    assert len(write.load_samples("d1", store)) == 40


def test_a_fault_in_the_question_sets_nothing_aside(store: Path) -> None:
    con = connect.open_store(store)
    with pytest.raises(duckdb.BinderException):
        connect.query(con, "SELECT nonsense FROM attempts")
    with pytest.raises(duckdb.ConversionException):
        connect.query(con, "SELECT attempt_id::INTEGER FROM attempts")
    assert catalogue.read(store).set_aside == ()


def test_a_run_that_is_mended_counts_again(store: Path) -> None:
    kept = record(store).read_bytes()
    cut(record(store))
    assert read.health()["attempts"] == 8
    record(store).write_bytes(kept)
    assert read.health()["attempts"] == 16
    part = batch(store) / "attempts.parquet"
    kept = part.read_bytes()
    cut(part)
    assert [one[1] for one in read.set_aside()] == ["r1"]
    part.write_bytes(kept)
    assert read.set_aside() == []


def test_new_runs_come_in_while_another_is_set_aside(store: Path) -> None:
    cut(record(store))
    run = make_run("r3")
    write.create_run(run, store)
    assert set(read.latest_runs()["run_id"]) == {"r2", "r3"}
    with write.PartWriter(run, samples_by_id(), home=store) as writer:
        writer.add(*make_attempt(1, "r3"))
    assert read.health()["attempts"] == 9
    assert read.ask("SELECT count(*) FROM traces WHERE run_id = 'r3'").item() == 2
    trash.delete("run", "r1", store)
    assert read.set_aside() == []
    assert read.health()["attempts"] == 9


def test_a_damaged_dataset_is_made_anew_by_saving_it_again(store: Path) -> None:
    cut(store / "datasets/d1/samples.parquet")
    write.save_dataset(make_dataset("d1"), make_samples("d1"), store)
    assert len(write.load_samples("d1", store)) == 40
    assert [entry.id for entry in trash.list_deleted("dataset", store)] == ["d1"]


def test_parts_that_were_dropped_are_made_again(store: Path) -> None:
    cut(batch(store) / "votes.parquet")
    assert [one.repair is not None for one in health.examine(store)] == [True]
    (one,) = health.examine(store)
    assert one.repair is not None
    assert "run --resume r1" in one.repair()
    assert len(write.finished("r1", store)) == 4
    assert len(list((store / "trash/files").iterdir())) == 1


def test_what_killed_processes_left_is_removed(store: Path) -> None:
    gone, old = 2**22 + 7, time.time() - 3600
    left = [
        store / "tmp" / f"cxlab.duckdb.{gone}.5", store / "tmp" / f"d9-{gone}-5", store / f".swaps.{gone}.5.tmp",
        store / "runs/r1" / f".tmp-001-{gone}-000000", store / "runs/r1" / ".sort-x",
        store / "annotations" / ".a-1.tmp", store / "runs/r1" / f".status.json.{gone}",
        store / f".all.duckdb.{gone}.5.unfinished",
    ]  # fmt: skip
    living = [store / "tmp" / f"d8-{os.getpid()}-5", store / "runs/r2" / ".status-1-of-2.json", store / ".gitignore"]
    for path in (*left, *living):
        path.parent.mkdir(exist_ok=True)
        path.write_text("half")
        os.utime(path, (old, old))
    found = health.examine(store)
    assert {one.problem.partition(" ")[0] for one in found} == {str(path.relative_to(store)) for path in left}
    for one in found:
        assert one.repair is not None
        one.repair()
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in living)


def test_a_cache_that_is_damaged_goes_to_the_trash(store: Path) -> None:
    with closing(sqlite3.connect(store / "cache.sqlite")) as table:
        table.execute("create table replies (x)")
    assert health.examine(store) == []
    (store / "cache.sqlite").write_bytes(b"no database" * 500)
    (one,) = health.examine(store)
    assert one.repair is not None
    one.repair()
    assert not (store / "cache.sqlite").exists()


def test_views_of_a_newer_version_are_named_and_left_alone(store: Path) -> None:
    with duckdb.connect(str(store / connect.DATABASE)) as con:
        con.execute("UPDATE store_version SET number = 99")
    (one,) = health.examine(store)
    assert "version 99" in one.problem
    assert one.repair is None


@pytest.mark.parametrize("manual_shards", [False, True])
def test_a_run_whose_process_is_gone_is_marked_as_stopped(store: Path, manual_shards: bool) -> None:
    folder = store / "runs/r1"
    long_ago = statuses.Status("running", 80, 70, ok=70, started=statuses.now(), updated="2026-01-01T00:00:00+00:00")
    statuses.write(folder / ("status-1-of-2.json" if manual_shards else "status.json"), long_ago)
    with lock.hold_run(folder):
        assert list(run_health.examine()) == []  # silent, but somebody is at work
    (one,) = run_health.examine()
    assert one.repair is not None
    assert "8 of 80" in one.repair()
    status = statuses.read_run(folder, 80)
    assert status is not None
    assert (status.state, status.done, status.format) == ("stopped", 8, 8)
    assert list(run_health.examine()) == []


def test_jobs_that_are_damaged_are_set_aside_once(store: Path) -> None:
    job = jobs.start(["models", "--help"])
    assert jobs.find_job(job.id).args == ("models", "--help")
    deadline = time.monotonic() + 60
    while jobs.find_job(job.id).state == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
    with closing(sqlite3.connect(store / "jobs.sqlite")) as table:
        table.execute("insert into jobs values ('../x', 'run', '[]', 'yesterday', null, null, null)")
        table.execute("insert into jobs values ('job-2', 'run', 'no json', 'now', null, null, null)")
        table.commit()
    assert [each.id for each in jobs.list_jobs()] == [job.id]
    assert jobs.find_damage() is None
    for ending in ("-wal", "-shm"):
        (store / f"jobs.sqlite{ending}").unlink(missing_ok=True)
    cut(store / "jobs.sqlite", 0.4)
    assert jobs.find_damage() is not None
    assert jobs.list_jobs() == []
    assert jobs.find_damage() is None
    assert len([path for path in (store / "trash/files").iterdir() if path.name.startswith("jobs.sqlite~")]) == 1


def test_a_status_of_any_content_is_read_or_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    sound = '{"state": "done", "planned": 3, "done": 3, "updated": "2026-01-01T00:00:00+00:00"'
    for text in ("", "[]", "{}", "null", '"x"', sound[:20], sound + ', "done": -1}', sound + ', "ok": 1e3}',
                 sound + ', "cost_usd": NaN}', sound + ', "pid": null}', sound + ', "updated": "then"}',
                 sound + ', "state": "dreaming"}', sound + ', "eta_s": 1e999}', '{"a":' * 9_000):  # fmt: skip
        path.write_text(text)
        assert statuses.read(path) is None, text
    path.write_text(sound + ', "mood": [1]}')
    found = statuses.read(path)
    assert found is not None
    assert found.done == 3
    assert not statuses.is_stale(found)


def test_names_that_are_no_text_are_named_all_the_same(store: Path) -> None:
    os.mkdir(os.fsencode(store / "runs") + b"/\xff\xfe")
    os.mkdir(store / "runs" / "it's '; DROP ** $x$ [a](b) *?[")
    told = read.set_aside()
    assert len(told) == 2
    assert all(name.encode() and "run.json" in reason for _, name, reason in told)
    assert read.health()["attempts"] == 16
    assert layout.run_ids(store) == ["r1", "r2"]
    assert pl.DataFrame(told, orient="row").height == 2


def test_a_look_that_is_fixed_counts_whatever_comes_until_one_looks_anew(store: Path) -> None:
    with catalogue.fixed():
        first = catalogue.read()
        write.create_run(make_run("r3"))
        assert catalogue.read() is first
        with catalogue.fixed():
            assert catalogue.read() is first
        catalogue.look_anew()
        assert set(catalogue.read().runs) == {"r1", "r2", "r3"}
        cut(batch(store) / "attempts.parquet")
        assert set(catalogue.read(closely=True).runs) == set(catalogue.read().runs) == {"r2", "r3"}
    trash.delete("run", "r3")
    assert set(catalogue.read().runs) == {"r2"}


@pytest.mark.parametrize("kept", [False, True])
def test_a_question_within_a_fixed_look_is_answered_of_what_is_sound(
    store: Path, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_in_memory, "_WORTH_IT", 2 if kept else 10**9)
    con = connect.open_store(store)
    runs = "SELECT DISTINCT run_id FROM {} ORDER BY 1"
    with catalogue.fixed():
        for _ in range(3):
            assert connect.query(con, runs.format("scores"))["run_id"].to_list() == ["r1", "r2"]
        cut(batch(store) / "scores.parquet")
        assert connect.query(con, runs.format("scores"))["run_id"].to_list() == ["r2"]
        assert connect.query(con, runs.format("attempts"))["run_id"].to_list() == ["r2"]
        # With something set aside each file is asked by its name.
        assert compact("r2", store) == 2
        assert connect.query(con, runs.format("attempts"))["run_id"].to_list() == ["r2"]


def test_a_look_that_is_held_counts_until_something_comes_or_goes(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    look = catalogue._Index._look
    monkeypatch.setattr(catalogue._Index, "_look", lambda self: (looks.append(""), look(self))[1])
    with catalogue.held():
        before = [catalogue.version() for _ in range(3)]
        assert (len(looks), len(set(before))) == (1, 1)
        write.create_run(make_run("r3"))
        assert set(catalogue.read().runs) == {"r1", "r2", "r3"}
        trash.delete("run", "r3")
        assert set(catalogue.read().runs) == {"r1", "r2"}
        assert len(looks) == 3
        # What changes below a run's folder is seen when the look is a second old, or at once when looked at closely.
        cut(batch(store) / "attempts.parquet")
        assert set(catalogue.read().runs) == {"r1", "r2"}
        assert set(catalogue.read(closely=True).runs) == {"r2"}
        assert set(catalogue.read().runs) == {"r2"}
        monkeypatch.setattr(catalogue, "_HELD_S", -1.0)
        looks.clear()
        assert catalogue.version() == catalogue.version()
        assert len(looks) == 2
    looks.clear()
    assert catalogue.version() == catalogue.version()
    assert len(looks) == 2
