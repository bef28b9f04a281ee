"""Batches appear whole and soon; a kill loses nothing that was finished and doubles nothing."""

import asyncio
import random
import threading
import time
from pathlib import Path

import polars as pl
import pytest

from cxlab.errors import BadOption, Busy
from cxlab.store import connect, layout, write

from .store_records import MESSAGES, SCORES, make_attempt, make_run, samples_by_id, start_child

# Writes attempts 0 to N - 1 that the parts do not hold yet, telling after each how many are on disk.
WRITER = """
import sys, time
from cxlab.store import write
from store_records import *
home, count, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
done = write.finished("r1", home)
with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
    for number in range(count):
        attempt, scored = make_attempt(number)
        if (attempt.sample_id, attempt.trial) not in done:
            writer.add(attempt, scored)
            time.sleep(pause)
            print(writer.written, flush=True)
"""


def count_batches(home: Path) -> int:
    return len(layout.batches(home / "runs" / "r1"))


def wait_until(true, seconds: float = 120.0) -> float:
    started = time.monotonic()
    while not true():
        assert time.monotonic() - started < seconds, "waited in vain"
        time.sleep(0.01)
    return time.monotonic() - started


def test_a_batch_is_written_at_50_attempts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "FLUSH_S", 600.0)
    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        for number in range(50):
            writer.add(*make_attempt(number))
        wait_until(lambda: writer.written == 50)
        writer.add(*make_attempt(50))
        time.sleep(0.05)
        assert count_batches(home) == 1
    assert writer.written == 51
    assert count_batches(home) == 2
    assert len(write.finished("r1", home)) == 51
    assert not list((home / "runs" / "r1").glob(".tmp-*"))


def test_a_single_attempt_is_written_after_a_second(home: Path) -> None:
    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        writer.add(*make_attempt(0))
        assert wait_until(lambda: writer.written == 1) > 0.9
        assert write.finished("r1", home) == {("s0", 0)}


async def test_a_slow_disk_does_not_hold_up_the_event_loop(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = write.PartWriter._publish
    begun, go_on = threading.Event(), threading.Event()
    went_on = []

    def slow(self, frames) -> None:
        begun.set()
        went_on.append(go_on.wait(120))
        real(self, frames)

    monkeypatch.setattr(write.PartWriter, "_publish", slow)
    writer = write.PartWriter(make_run(), samples_by_id(), home=home)
    # A loop that waited for the disk would not come to the line that lets the disk go on.
    for number in range(120):
        writer.add(*make_attempt(number))
        await asyncio.sleep(0)
    while not begun.is_set():
        await asyncio.sleep(0.01)
    go_on.set()
    await asyncio.to_thread(writer.close)
    assert set(went_on) == {True}
    assert len(write.finished("r1", home)) == 120


def test_what_goes_wrong_in_the_thread_is_raised_by_the_next_call(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self, *_, **__) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    writer = write.PartWriter(make_run(), samples_by_id(), home=home)
    for number in range(50):
        writer.add(*make_attempt(number))
    wait_until(lambda: writer._fault is not None)
    with pytest.raises(OSError, match="No space left"):
        writer.add(*make_attempt(50))
    with pytest.raises(OSError, match="No space left"):
        writer.close()
    monkeypatch.undo()
    assert write.finished("r1", home) == set()
    with write.PartWriter(make_run(), samples_by_id(), home=home) as again:  # the shard is free again
        again.add(*make_attempt(0))
    assert write.finished("r1", home) == {("s0", 0)}


def test_a_closed_writer_takes_nothing(home: Path) -> None:
    writer = write.PartWriter(make_run(), samples_by_id(), home=home)
    writer.close()
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer.add(*make_attempt(0))


def test_one_process_writes_a_shard(home: Path) -> None:
    with write.PartWriter(make_run(), samples_by_id(), (1, 2), home):
        with pytest.raises(Busy, match="shard 1/2"):
            write.PartWriter(make_run(), samples_by_id(), (1, 2), home)
        write.PartWriter(make_run(), samples_by_id(), (2, 2), home).close()
    for bad in ((0, 1), (3, 2), (1, 1000)):
        with pytest.raises(BadOption, match="I/N"):
            write.PartWriter(make_run(), samples_by_id(), bad, home)


def test_a_number_that_is_taken_is_passed_over(home: Path) -> None:
    for number in range(3):  # the same process, so the same names, as in containers where every process is number 1
        with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
            writer.add(*make_attempt(number))
    assert count_batches(home) == 3


def test_killing_a_run_again_and_again_loses_and_doubles_nothing(home: Path) -> None:
    rng = random.Random(1)
    total, kept = 500, set()
    for _ in range(3):
        child = start_child(WRITER, home, total, 0.0005)
        told = 0
        assert child.stdout is not None
        for wanted in (1, rng.randrange(1, 120)):  # the first line says that it is under way
            for line in child.stdout:
                told = int(line)
                wanted -= 1
                if wanted <= 0:
                    break
        time.sleep(rng.random() * 0.05)
        child.kill()
        child.communicate()
        now = write.finished("r1", home)
        assert kept <= now
        assert len(now) - len(kept) >= told  # what it said is on disk is on disk
        kept = now
    last = start_child(WRITER, home, total, 0)
    _, errors = last.communicate(timeout=300)
    assert last.returncode == 0, errors
    con = connect.open_store(home)
    row = connect.query(
        con,
        """
        SELECT (SELECT count(*) FROM attempts), (SELECT count(DISTINCT (sample_id, trial)) FROM attempts),
            (SELECT count(*) FROM messages), (SELECT count(DISTINCT (attempt_id, seq)) FROM messages),
            (SELECT count(*) FROM scores), (SELECT count(*) FROM traces), (SELECT count(*) FROM failures)""",
    ).row(0)
    assert row == (total, total, MESSAGES * total, MESSAGES * total, SCORES * total, 2 * total, 2 * total)


def test_a_reader_sees_a_growing_and_whole_count_while_another_process_writes(home: Path) -> None:
    con = connect.open_store(home)
    child = start_child(WRITER, home, 600, 0.002)
    seen = [0]
    while child.poll() is None:
        counts = connect.query(con, "SELECT attempt_id, count(*) AS n FROM messages GROUP BY attempt_id")
        assert set(counts["n"].to_list()) <= {MESSAGES}
        seen.append(counts.height)
        time.sleep(0.01)
    _, errors = child.communicate()
    assert child.returncode == 0, errors
    assert seen == sorted(seen)
    assert len(set(seen)) >= 4, "the reader saw no growth"
    assert connect.query(con, "SELECT count(*) FROM attempts").item() == 600
