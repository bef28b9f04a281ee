"""`bench storage`: 100,000 attempts written as parts, killed in the middle, resumed, compacted, read back."""

import argparse
import multiprocessing
import os
import random
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxlab.errors import BadOption
from cxlab.records import Attempt, Dataset, Message, Run, Sample, Score, Usage
from cxlab.store import connect, write
from cxlab.store.compact import compact
from cxlab.store.load import load_rows

if TYPE_CHECKING:
    import duckdb

RUN, DATASET = "bench", "bench"
MESSAGES, SCORES = 6, 12
# What the store promises (on 4 cores): beyond these, main returns 1.
LIMIT_S, LIMIT_MIB, LIMIT_READ_MS, LIMIT_LOST_S = 20.0, 1024.0, 10.0, 1.0
_METRICS = ("overall", "logic", "chat", "classification", "path", "action")
_TALK = (
    "I would like to change my parcel order because it has not arrived and nobody answers the phone "
    "please look at the account and tell me what happens next thank you"
)
_WORDS = _TALK.split()


@dataclass(frozen=True)
class BenchScored:
    """What scoring one attempt yields, here: twelve numbers."""

    scores: tuple[Score, ...]
    votes: tuple[()] = ()
    judgements: tuple[()] = ()
    traces: tuple[()] = ()
    verdict: None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark in a temporary store and print what was measured; 1 when a promise was not kept."""
    parser = argparse.ArgumentParser(prog="cxlab bench storage", description=__doc__)
    parser.add_argument("--attempts", type=int, default=100_000, help="how many attempts to write (default 100000)")
    parser.add_argument("--shards", type=int, default=4, help="how many processes write (default 4)")
    chosen = parser.parse_args(argv)
    if chosen.attempts < 1_000 or not 1 <= chosen.shards <= 64:
        raise BadOption("bench storage needs --attempts of at least 1000 and --shards from 1 to 64")
    folder = Path(tempfile.mkdtemp(prefix="cxlab-bench-"))
    try:
        return _measure(chosen.attempts, chosen.shards, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(attempts: int, shards: int, home: Path) -> int:
    _prepare(attempts, home)
    memory = _Memory()
    started, busy = time.perf_counter(), _processor_s()
    kept, lost = _write_and_kill(attempts, shards, home, memory)
    resumed = time.perf_counter()
    killed_s = resumed - started
    lost_s = lost / (kept / killed_s) if kept else killed_s
    _write_rest(attempts, shards, home, memory)
    written = time.perf_counter()
    merged = compact(RUN, home)
    ended, busy = time.perf_counter(), _processor_s() - busy
    memory.look()
    con = connect.open_store(home)
    try:
        counts = connect.query(
            con,
            "SELECT count(*) AS attempts, count(DISTINCT (sample_id, trial)) AS apart, "
            "(SELECT count(*) FROM messages) AS messages, "
            "(SELECT count(*) FROM scores) AS scores FROM attempts",
        ).row(0, named=True)
        group_ms = _best_ms(lambda: connect.query(con, "FROM turn_means('overall')"))
        read_ms = _read_back(
            attempts,
            {"attempts": 1, "messages": MESSAGES},
            lambda key, names: {name: rows.height for name, rows in load_rows(RUN, key, names, home).items()},
        )
        scores_ms = _read_back(attempts, {"scores": SCORES}, lambda key, names: _ask_rows(con, key, names))
    finally:
        con.close()
    size = sum(path.stat().st_size for path in home.rglob("*.parquet")) / 2**20
    whole = counts == {
        "attempts": attempts,
        "apart": attempts,
        "messages": attempts * MESSAGES,
        "scores": attempts * SCORES,
    }
    rows = [
        ("written until the kill", f"{killed_s:.2f} s", f"{kept:,} attempts kept, {shards} processes killed"),
        ("lost by the kill", f"{lost_s:.2f} s", f"{lost:,} attempts; promised: at most {LIMIT_LOST_S:.0f} s of work"),
        (
            "resumed and written to the end",
            f"{written - resumed:.2f} s",
            f"{(attempts - kept) / (written - resumed):,.0f} attempts/s",
        ),
        ("compacted", f"{ended - written:.2f} s", f"{merged:,} batches to one file a table, {size:.0f} MiB"),
        ("in all", f"{ended - started:.2f} s", f"promised: under {LIMIT_S:.0f} s"),
        ("processor time", f"{busy:.2f} s", "of all processes together, the killed ones included"),
        ("peak memory, all processes", f"{memory.peak:.0f} MiB", f"promised: under {LIMIT_MIB:.0f} MiB"),
        ("one attempt with its messages", f"{read_ms:.1f} ms", f"median of 30; promised: under {LIMIT_READ_MS:.0f} ms"),
        ("its scores", f"{scores_ms:.1f} ms", f"median of 30, among {attempts * SCORES:,}"),
        ("means and errors of one metric", f"{group_ms:.1f} ms", f"over {attempts * SCORES:,} scores"),
        ("nothing lost, nothing doubled", "yes" if whole else "NO", ", ".join(f"{v:,} {k}" for k, v in counts.items())),
    ]
    for name, value, remark in rows:
        print(f"{name:<34}{value:>12}   {remark}")
    kept_promises = (
        whole
        and lost_s <= LIMIT_LOST_S
        and ended - started < LIMIT_S
        and memory.peak < LIMIT_MIB
        and read_ms < LIMIT_READ_MS
    )
    return 0 if kept_promises else 1


def _prepare(attempts: int, home: Path) -> None:
    created = datetime(2026, 1, 1, tzinfo=UTC)
    dataset = Dataset(
        id=DATASET,
        benchmark="sage",
        name="bench",
        source="generated",
        config={},
        seed=0,
        licence="none",
        created=created,
    )
    scenarios = ("telecom_package", "ecommerce_refund", "property_service", "airline_refund")
    samples = [
        Sample(
            id=f"s{i:04d}",
            dataset_id=DATASET,
            benchmark="sage",
            task="dialogue",
            inputs={"n": i},
            expected={},
            facets={"scenario": scenarios[i % 4], "level": ("zero", "weak", "strong")[i % 3], "language": "en"},
        )
        for i in range(1_000)
    ]
    write.save_dataset(dataset, samples, home)
    write.create_run(
        Run(
            id=RUN,
            benchmark="sage",
            model="simulated:strong",
            simulated=True,
            setup={},
            judges=(),
            dataset_id=DATASET,
            seed=0,
            trials=-(-attempts // 1_000),
            planned=attempts,
            prompts={},
            code="bench",
            created=created,
        ),
        home,
    )


def _write_shard(home: Path, attempts: int, shard: tuple[int, int], added: Any) -> None:
    """What a worker process does, first time and resumed alike: write what the parts do not hold yet."""
    run = write.load_run(RUN, home)
    samples = {sample.id: sample for sample in write.load_samples(DATASET, home)}
    done = write.finished(RUN, home)
    with write.PartWriter(run, samples, shard, home) as writer:
        for attempt, scored in _make_attempts(attempts, shard, done):
            writer.add(attempt, scored)
            added.value += 1


def _make_attempts(
    attempts: int,
    shard: tuple[int, int],
    done: set[tuple[str, int]],
) -> Iterator[tuple[Attempt, BenchScored]]:
    started = datetime(2026, 1, 1, tzinfo=UTC)
    rng = random.Random(shard[0])
    said = [" ".join(rng.choices(_WORDS, k=25)) for _ in range(500)]
    for number in range(shard[0] - 1, attempts, shard[1]):
        sample, trial = f"s{number % 1_000:04d}", number // 1_000
        if (sample, trial) in done:
            continue
        key = f"a{number:07d}"
        messages = tuple(
            Message(role="agent" if i % 2 else "customer", text=f"{rng.choice(said)} {number}.{i}", turn=i // 2 + 1)
            for i in range(MESSAGES)
        )
        scores = tuple(
            Score(
                attempt_id=key,
                turn=i // len(_METRICS) + 1,
                metric=_METRICS[i % len(_METRICS)],
                value=round(rng.random() * 100, 2),
            )
            for i in range(SCORES)
        )
        usage = Usage(prompt_tokens=900, completion_tokens=120, calls=3)
        yield (
            Attempt(
                id=key,
                run_id=RUN,
                sample_id=sample,
                trial=trial,
                messages=messages,
                output={"n": number},
                usage=usage,
                latency_s=1.5,
                started=started,
            ),
            BenchScored(scores),
        )


def _start(attempts: int, shards: int, home: Path) -> list[tuple[BaseProcess, Any]]:
    context = multiprocessing.get_context("spawn")  # polars' threads do not survive a fork
    workers: list[tuple[BaseProcess, Any]] = []
    for index in range(1, shards + 1):
        added = context.Value("q", 0, lock=False)
        worker = context.Process(target=_write_shard, args=(home, attempts, (index, shards), added))
        worker.start()
        workers.append((worker, added))
    return workers


def _write_and_kill(attempts: int, shards: int, home: Path, memory: "_Memory") -> tuple[int, int]:
    """Start the writers, kill them (SIGKILL) when half is queued; how many attempts are kept, how many were lost."""
    workers = _start(attempts, shards, home)
    while sum(added.value for _, added in workers) < attempts // 2:
        memory.look(workers)
        # On few cores one may have written its share before the others have begun; then there is less to kill.
        if any(worker.exitcode for worker, _ in workers):
            raise RuntimeError("a writer of the benchmark ended before it was killed; its traceback stands above")
        time.sleep(0.02)
    for worker, _ in workers:
        worker.kill()
    for worker, _ in workers:
        worker.join()
    kept = len(write.finished(RUN, home))
    return kept, sum(added.value for _, added in workers) - kept


def _write_rest(attempts: int, shards: int, home: Path, memory: "_Memory") -> None:
    workers = _start(attempts, shards, home)
    while any(worker.is_alive() for worker, _ in workers):
        memory.look(workers)
        time.sleep(0.02)
    if any(worker.exitcode for worker, _ in workers):
        raise RuntimeError("a writer of the benchmark failed; its traceback stands above")


def _ask_rows(con: "duckdb.DuckDBPyConnection", key: str, names: Sequence[str]) -> dict[str, int]:
    params = {"run": RUN, "attempt": key}
    asked = "FROM {} WHERE run_id = $run AND attempt_id = $attempt"
    return {name: connect.query(con, asked.format(name), params).height for name in names}


def _read_back(attempts: int, wanted: dict[str, int], read: Callable[[str, Sequence[str]], dict[str, int]]) -> float:
    """Milliseconds (median of 30) for the rows of one attempt, drawn at random, in these tables: each read the way in
    which the page reads it."""
    rng = random.Random(0)
    times = []
    for _ in range(30):
        key = f"a{rng.randrange(attempts):07d}"
        started = time.perf_counter()
        rows = read(key, tuple(wanted))
        times.append((time.perf_counter() - started) * 1e3)
        if rows != wanted:
            raise RuntimeError(f"attempt {key} came back as {rows} rows, not {wanted}")
    return statistics.median(times)


def _processor_s() -> float:
    """Processor seconds of this process and of its children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _best_ms(call: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1e3)
    return min(times)


class _Memory:
    """The largest resident memory of this process and the workers together, in MiB, as Linux reports it."""

    def __init__(self) -> None:
        self.peak = 0.0

    def look(self, workers: Sequence[tuple[BaseProcess, Any]] = ()) -> None:
        # High-water marks are summed, though they need not fall together: never too small.
        marks = [_high_water(worker.pid) for worker, _ in workers]
        self.peak = max(self.peak, _high_water(os.getpid()) + sum(marks))


def _high_water(pid: int | None) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it has just ended
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found.group(1)) / 1024 if found else 0.0
