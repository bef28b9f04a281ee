"""Compaction changes nothing but the files, wherever it breaks off and whoever looks on."""

import itertools
import os
import shutil
import threading
import time
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from cxlab.errors import BadStore, Busy
from cxlab.store import compact as compaction
from cxlab.store import connect, layout, load, write
from cxlab.store.compact import compact, recover

from .store_records import make_attempt, make_run, samples_by_id, start_child

COUNTS = """SELECT (SELECT count(*) FROM attempts), (SELECT count(DISTINCT attempt_id) FROM attempts),
    (SELECT count(*) FROM messages), (SELECT count(*) FROM scores), (SELECT count(*) FROM votes),
    (SELECT count(*) FROM judgements), (SELECT count(*) FROM traces), (SELECT count(*) FROM failures)"""
PARTS = ("attempts", "messages", "scores", "votes", "judgements", "traces", "failures")
SIXTY = (60, 60, 240, 360, 120, 120, 120, 120)

# For each home and number n: compacts r1 and dies, as by a kill, before the n-th time that it would rename or remove
# something. One process that has imported everything has a child for each.
CRASHER = """
import os, sys
from cxlab.store.compact import compact
import duckdb, polars
def die(event, _):
    global left
    if event in ("os.rename", "os.remove", "os.rmdir", "shutil.rmtree"):
        left -= 1
        if left == 0:
            os._exit(9)
for home, left in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
    child = os.fork()
    if child == 0:
        sys.addaudithook(die)
        compact("r1", home)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def without_waiting(lock, path: Path, wait_s: float = 0.0, busy: str = ""):
    return lock(path, 0.0, busy)


def append(home: Path, numbers: range) -> None:
    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        for number in numbers:
            writer.add(*make_attempt(number))


def assert_at_rest(home: Path) -> None:
    names = {path.name for path in (home / "runs" / "r1").iterdir() if not path.name.startswith(".lock")}
    assert names == {"run.json", "parts"}
    assert layout.swap_count(home) % 2 == 0


def test_a_compacted_run_is_one_sorted_file_a_table_with_the_same_rows(filled: Path) -> None:
    con = connect.open_store(filled)
    before = {table: connect.query(con, f"FROM {table} ORDER BY ALL") for table in PARTS}
    assert compact("r1", filled) == 3
    assert [batch.name for batch in layout.batches(filled / "runs" / "r1")] == ["compacted"]
    for table, frame in before.items():
        assert connect.query(con, f"FROM {table} ORDER BY ALL").equals(frame), table
    keys = connect.query(con, "SELECT metric, model, attempt_id FROM scores").rows()
    assert keys == sorted(keys)
    assert compact("r1", filled) == 0
    assert_at_rest(filled)


def test_more_batches_than_are_read_at_once_come_to_the_same(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60, 66):
        append(filled, range(number, number + 1))
    con = connect.open_store(filled)
    before = {table: connect.query(con, f"FROM {table} ORDER BY ALL") for table in PARTS}
    read = []
    copy = compaction._copy

    def note(con: object, table: str, files: list[str], *rest: object) -> None:
        read.append(len(files))
        copy(con, table, files, *rest)

    monkeypatch.setattr(compaction, "_copy", note)
    monkeypatch.setattr(compaction, "_FILES_AT_ONCE", 3)
    assert compact("r1", filled) == 9
    assert max(read) == 3
    for table, frame in before.items():
        assert connect.query(con, f"FROM {table} ORDER BY ALL").equals(frame), table
    keys = connect.query(con, "SELECT metric, model, attempt_id FROM scores").rows()
    assert keys == sorted(keys)
    assert_at_rest(filled)


def test_a_compacted_run_is_resumed_and_compacted_again(filled: Path) -> None:
    compact("r1", filled)
    assert len(write.finished("r1", filled)) == 60
    append(filled, range(60, 70))
    assert compact("r1", filled) == 2
    assert len(layout.batches(filled / "runs" / "r1")) == 1
    assert write.finished("r1", filled) == {(f"s{n % 40}", n // 40) for n in range(70)}


BEFORE, BETWEEN, AFTER = {"parts", "parts.new"}, {"parts.new", "parts.old"}, {"parts", "parts.old"}
# step -> which folders a kill before that step leaves, and whether the swap count is left odd
LEFT = {
    1: (BEFORE, False),
    3: (BEFORE, False),
    4: (BEFORE, False),
    5: (BEFORE, True),
    6: (BETWEEN, True),
    7: (AFTER, True),
    8: (AFTER, False),
    12: (AFTER, False),
    25: (AFTER, False),
}


def crash(homes: dict[int, Path]) -> None:
    """Kill a compaction of each home before its step, and see that it left what the test means to mend."""
    child = start_child(CRASHER, *(word for step, home in homes.items() for word in (home, step)))
    out, errors = child.communicate(timeout=300)
    assert out.split() == ["9"] * len(homes), errors or "compaction has fewer steps than the test thinks"
    for step, home in homes.items():
        folders = {path.name for path in (home / "runs" / "r1").iterdir() if path.name.startswith("parts")}
        assert (folders, bool(layout.swap_count(home) % 2)) == LEFT[step], "the steps of compaction have changed"


@pytest.fixture(scope="module")
def crashes(full_run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Step → a store whose compaction was killed before it; to be copied."""
    base = tmp_path_factory.mktemp("crashed")
    homes = {step: shutil.copytree(full_run, base / str(step)) for step in LEFT}
    crash(homes)
    return homes


@pytest.mark.parametrize("step", LEFT)
def test_a_crash_at_any_step_is_mended_by_the_next_opening(crashes: dict[int, Path], tmp_path: Path, step: int) -> None:
    home = shutil.copytree(crashes[step], tmp_path / "store")
    con = connect.open_store(home)
    assert connect.query(con, COUNTS).row(0) == SIXTY
    assert_at_rest(home)
    append(home, range(60, 65))
    compact("r1", home)
    assert connect.query(con, "SELECT count(*), count(DISTINCT attempt_id) FROM attempts").row(0) == (65, 65)
    assert_at_rest(home)


def test_a_query_on_an_open_connection_outlasts_a_compactor_that_died(
    filled: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    con = connect.open_store(filled)
    monkeypatch.setattr(connect, "_SWAP_WAIT_S", 0.05)
    crash({6: filled})
    assert connect.query(con, COUNTS).row(0) == SIXTY
    assert_at_rest(filled)


def test_a_crash_is_mended_by_whoever_comes_first(crashes: dict[int, Path], tmp_path: Path) -> None:
    home = shutil.copytree(crashes[6], tmp_path / "store")
    assert len(write.finished("r1", home)) == 60
    append(home, range(60, 62))
    assert len(write.finished("r1", home)) == 62


def test_batches_that_come_while_it_merges_are_kept(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = compaction._switch

    def late(base: Path, folder: Path) -> None:
        append(filled, range(60, 65))
        real(base, folder)

    monkeypatch.setattr(compaction, "_switch", late)
    compact("r1", filled)
    assert len(layout.batches(filled / "runs" / "r1")) == 2
    assert len(write.finished("r1", filled)) == 65
    assert_at_rest(filled)


def test_a_writer_goes_on_while_the_parts_are_switched(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled / "runs" / "r1"
    writer = write.PartWriter(make_run(), samples_by_id(), home=filled)
    with layout.lock(folder / ".lock-compact"):
        (folder / "parts").rename(folder / "parts.old")
        for number in range(60, 110):
            writer.add(*make_attempt(number))
        threading.Event().wait(0.15)
        assert writer.written == 0
        (folder / "parts.old").rename(folder / "parts")
    writer.close()
    assert len(write.finished("r1", filled)) == 110


def test_no_query_counts_half_a_compaction(filled: Path) -> None:
    con = connect.open_store(filled)
    stop, seen, faults = threading.Event(), [], []

    def look() -> None:
        try:
            while not stop.is_set():
                seen.append(connect.query(con, "SELECT count(*) FROM attempts").item())
                time.sleep(0.002)  # three of them leave no moment unseen, but the compactor some time
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for start in itertools.count(60, 5):
        append(filled, range(start, start + 5))
        compact("r1", filled)
        # Four times, and as often as it takes for somebody to have looked in between.
        if (start >= 75 and len(seen) > 20) or faults:
            break
    stop.set()
    for thread in threads:
        thread.join()
    assert not faults
    assert set(seen) <= set(range(60, start + 6, 5))


def test_two_compactions_do_not_meet_and_a_living_one_is_left_alone(
    filled: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = filled / "runs" / "r1"
    (folder / "parts.new" / "compacted").mkdir(parents=True)
    with layout.lock(folder / ".lock-compact"):
        recover("r1", filled)
        assert (folder / "parts.new").exists()
        monkeypatch.setattr(layout, "lock", partial(without_waiting, layout.lock))
        with pytest.raises(Busy, match="being compacted"):
            compact("r1", filled)
    recover("r1", filled)
    assert_at_rest(filled)


def test_what_a_killed_writer_left_is_removed_when_it_is_old(filled: Path) -> None:
    folder = filled / "runs" / "r1"
    for name, age in ((".tmp-001-1-000000", 10_000), (".tmp-001-1-000001", 0)):
        (folder / name).mkdir()
        at = (folder / name).stat().st_mtime - age
        os.utime(folder / name, (at, at))
    recover("r1", filled)
    assert [path.name for path in folder.glob(".tmp-*")] == [".tmp-001-1-000001"]


def test_parts_that_do_not_say_what_they_merged_are_not_guessed_at(filled: Path) -> None:
    folder = filled / "runs" / "r1"
    (folder / "parts.old").mkdir()
    with pytest.raises(BadStore, match=r"parts\.old"):
        recover("r1", filled)


def test_parts_of_before_a_column_read_null_and_merge_with_newer_ones(filled: Path) -> None:
    lacking = [*(filled / "runs" / "r1" / "parts").glob("*/attempts.parquet"), filled / "datasets/d1/samples.parquet"]
    for path in lacking:
        frame = pl.read_parquet(path)
        frame.drop(name for name in ("facets", "verdict_stage") if name in frame.columns).write_parquet(path)
    assert [sample.facets for sample in write.load_samples("d1", filled)] == [{}] * 40
    assert len(write.load_samples("d1", filled, only_facets=True)) == len(write.load_samples("d1", filled))
    con = connect.open_store(filled)
    wanted = "SELECT count(*) AS n, count(facets) AS told FROM attempts"
    assert connect.query(con, wanted).row(0) == (60, 0)
    assert compact("r1", filled) == 3
    assert connect.query(con, wanted).row(0) == (60, 0)
    assert sum(1 for _ in load.load_attempts("r1", filled)) == 60
