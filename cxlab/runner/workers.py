"""Simulated models are CPU work: one process a core, each working on its shard of every run in turn.

The coordinator holds the locks of the runs and hands their descriptors down, so that the locks live
until the last worker is gone. Workers watch a pipe whose other end only the coordinator holds: when it
dies, even by kill -9, they exit at once, and `--resume` cannot meet a worker that still writes.
"""

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import IO, Any

from cxlab.errors import CxError, NotConfigured
from cxlab.runner.display.runs import ProgressDisplay
from cxlab.runner.loaded_run import LoadedRun
from cxlab.runner.plan import WHOLE
from cxlab.runner.session import SessionResult, begin, count_stored, prepare, settle, take_over
from cxlab.store import home
from cxlab.store import run_status as statuses
from cxlab.store.run_status import Status

LEADER = "CXLAB_LEADER_PIPE"
"""Environment variable that tells a worker the descriptor of the pipe to watch."""
PAIRS_A_WORKER = 24
"""Below this many attempts a process costs more to start than it saves."""
POLL_S = 0.2
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
STOPPED = (0, 3, 130)
"""Exit codes of a worker that ended in good order: done, stopped early, interrupted."""
MISTAKE = 2
"""Exit code of a worker that met a mistake of the user's and has said so in one line."""


def count_workers(pairs: int, asked: int | None) -> int:
    """How many processes: as asked, else one a core as far as there is work for them."""
    if asked is not None:
        return max(1, min(asked, pairs))
    return max(1, min(count_cores(), pairs // PAIRS_A_WORKER))


def count_cores() -> int:
    """The cores that this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def follow_leader() -> bool:
    """In a worker: exit at once when the coordinator dies. False when this process is nobody's worker."""
    text = os.environ.get(LEADER)
    if text is None:
        return False

    def watch(descriptor: int) -> None:
        os.read(descriptor, 1)  # returns only at end of file: nobody ever writes
        os._exit(1)

    threading.Thread(target=watch, args=(int(text),), daemon=True, name="follow-leader").start()
    return True


def work_in_processes(
    opened: Sequence[LoadedRun], workers: int, show: ProgressDisplay, *, concurrency: int | None = None
) -> list[SessionResult]:
    """Split every run into as many shards as there are workers and see them through."""
    with ExitStack() as held:
        descriptors = take_over(opened, held)
        before = [_announce(each, show) for each in opened]
        for each, status in zip(opened, before, strict=True):
            prepare(each, status, show)
        reading, writing = os.pipe()
        held.callback(os.close, writing)
        words = [word for each in opened for word in ("--resume", each.run.id)]
        words += [] if concurrency is None else ["--concurrency", str(concurrency)]
        logs = [held.enter_context(tempfile.TemporaryFile()) for _ in range(workers)]
        processes = [
            _start(words, (index, workers), (reading, *descriptors), logs[index - 1]) for index in range(1, workers + 1)
        ]
        os.close(reading)

        def stop(first: bool) -> None:
            for process in processes:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM if first else signal.SIGKILL)

        with _heeding_signals(stop) as signals:
            ended = _watch(opened, workers, processes, before, show, signals)
        crashed = None if signals else _read_crash(processes, logs)
        said = str(crashed or "").partition("\n")[0]
        last = _settle_rest(opened, workers, ended, before, "failed" if crashed else "stopped", said)
        for each, status in zip(opened, last, strict=True):
            show.update(each.run.model, status)
        if crashed:
            raise crashed
        return [SessionResult(each.run.id, status, bool(signals)) for each, status in zip(opened, last, strict=True)]


class WorkerCrashed(Exception):
    """A bug, or a kill, ended a worker; what it had finished is stored. The text ends with its own traceback."""


def work_on_ray(
    opened: Sequence[LoadedRun],
    workers: int,
    show: ProgressDisplay,
    *,
    concurrency: int | None = None,
    budget_usd: float | None = None,
) -> list[SessionResult]:
    """The same shards as tasks of a Ray cluster; the store must lie on a folder that every node shares.

    Ray ends a driver's tasks when the driver dies, which is what the pipe does for local workers.
    """
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise NotConfigured("--engine ray needs Ray, which is not installed: pip install ray") from error
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster of our own making tells nobody that it runs
    address = os.environ.get("RAY_ADDRESS")
    own = {} if address else {"include_dashboard": False}  # only what starts a cluster may say what is in it
    ray.init(address=address, ignore_reinit_error=True, log_to_driver=False, **own)
    ids, root = [each.run.id for each in opened], str(home())
    task = ray.remote(num_cpus=1)(work_as_ray_task)
    with ExitStack() as held:
        take_over(opened, held)
        before = [_announce(each, show) for each in opened]
        for each, status in zip(opened, before, strict=True):
            prepare(each, status, show)
        ended: list[Status | None] = [None] * len(opened)
        futures = [task.remote(ids, (index, workers), root, concurrency, budget_usd) for index in range(1, workers + 1)]

        def stop(first: bool) -> None:
            for each in opened:
                (each.folder / statuses.CANCEL).touch()  # no signal reaches another node; the shared folder does
            for future in () if first else futures:
                ray.cancel(future, force=True)

        try:
            with _heeding_signals(stop) as signals:
                while futures:
                    ready, futures = ray.wait(futures, timeout=POLL_S)
                    ray.get(ready)  # a bug in a task comes out here
                    _look(opened, workers, ended, before, show)
        finally:
            last = _settle_rest(opened, workers, ended, before, "failed", "a task ended before its work did")
        return [SessionResult(each.run.id, status, bool(signals)) for each, status in zip(opened, last, strict=True)]


def work_as_ray_task(
    ids: list[str], shard: tuple[int, int], root: str, concurrency: int | None, budget_usd: float | None
) -> None:
    """One shard of each run, on whatever node Ray chose; the coordinator holds the locks."""
    os.environ["CXLAB_HOME"] = root
    from cxlab.runner.display.runs import NoDisplay
    from cxlab.runner.loaded_run import open_run
    from cxlab.runner.session import work_on_shard

    opened = [open_run(run_id) for run_id in ids]
    work_on_shard(opened, shard, NoDisplay(), led=True, concurrency=concurrency, budget_usd=budget_usd)


def _announce(each: LoadedRun, show: ProgressDisplay) -> Status:
    """Write and show what earlier sessions finished, before the first worker has said anything."""
    _, status = begin(each, (1, 1))
    statuses.write(each.folder / "status.json", status)
    show.update(each.run.model, status)
    return status


def _start(
    words: Sequence[str], shard: tuple[int, int], passed: tuple[int, ...], log: IO[bytes]
) -> subprocess.Popen[bytes]:
    # One thread of arithmetic a process: with a process a core, more would only get in each other's way.
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "CXLAB_HOME": str(home()), LEADER: str(passed[0])}
    return subprocess.Popen(
        [sys.executable, "-m", "cxlab", "run", *words, "--shard", f"{shard[0]}/{shard[1]}", "--quiet"],
        env=environment,
        pass_fds=passed,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        process_group=0,  # Ctrl-C reaches the coordinator alone, which passes it on
    )


def _watch(
    opened: Sequence[LoadedRun],
    shards: int,
    processes: Sequence[subprocess.Popen[bytes]],
    before: Sequence[Status],
    show: ProgressDisplay,
    signals: Sequence[int],
) -> list[Status | None]:
    ended: list[Status | None] = [None] * len(opened)
    asked = False
    looked = time.monotonic()
    while any(process.poll() is None for process in processes):
        time.sleep(POLL_S)
        # Those that wait their turn say now and then that they do, or they would be taken for lost.
        waiting = time.monotonic() - looked > statuses.SILENT_S / 4
        looked = time.monotonic() if waiting else looked
        _look(opened, shards, ended, before, show, waiting)
        # A bug in one shard: the others flush and stop. They are asked once, and not at all where a signal has asked
        # them already: to a worker a second one means to leave at once, without what it has not yet written.
        if not (asked or signals) and any(process.poll() not in (None, *STOPPED) for process in processes):
            asked = True
            for process in processes:
                if process.poll() is None:
                    process.terminate()
    return ended


def _look(
    opened: Sequence[LoadedRun],
    shards: int,
    ended: list[Status | None],
    before: Sequence[Status],
    show: ProgressDisplay,
    waiting: bool = True,
) -> None:
    """Show how far each run has come, and settle those whose last shard has just come to an end.

    `waiting`: look at those as well that nobody has begun; shards take the runs in their order.
    """
    for place, each in enumerate(opened):
        if ended[place] is not None:
            continue
        begun = statuses.read_shards(each.folder, led=True)
        if not begun and not waiting:
            return
        status = statuses.merge(begun, shards, len(each.pairs))
        if status.state == "running":
            if status.done < before[place].done:
                status = before[place]
            first = before[place]
            # The coordinator lives, even while no shard of this run is at work.
            status = replace(status, pid=os.getpid(), host=first.host, started=first.started, updated=statuses.now())
            with suppress(OSError):  # a full disk ends the workers, and they say so
                statuses.write(each.folder / "status.json", status)
        else:
            status = settle(each, shards, led=True)
            ended[place] = status
        show.update(each.run.model, status)


def _settle_rest(
    opened: Sequence[LoadedRun],
    shards: int,
    ended: Sequence[Status | None],
    before: Sequence[Status],
    state: statuses.State,
    message: str,
) -> list[Status]:
    """The last status of each run; `state` is that of a run with a shard that never began or died without a word."""
    last = []
    for each, status, first in zip(opened, ended, before, strict=True):
        status = status or settle(each, shards, led=True)
        if status.state == "running":
            known = first if status.done < first.done else status
            # A shard that died without a word may have told of attempts that it had not yet written.
            known = replace(known, **count_stored(each, WHOLE))
            status = replace(known, state=state, eta_s=None, rate_per_s=0.0, message=message)
            statuses.write(each.folder / "status.json", status)
        last.append(status)
    return last


@contextmanager
def _heeding_signals(stop: Callable[[bool], None]) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM ask for a stop in good order, `stop(True)`; a second one for a stop at once, `stop(False)`."""
    received: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        received.append(number)
        stop(len(received) == 1)

    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    old: dict[int, Any] = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, what in old.items():
            signal.signal(number, what)


def _read_crash(processes: Sequence[subprocess.Popen[bytes]], logs: Sequence[IO[bytes]]) -> Exception | None:
    """What went wrong in the first worker that did not end in good order; None when all did."""
    for index, (process, log) in enumerate(zip(processes, logs, strict=True), start=1):
        if process.returncode in (*STOPPED, -signal.SIGTERM):
            continue
        log.seek(0)
        said = log.read().decode(errors="replace").strip()
        if process.returncode == MISTAKE:
            return CxError(said.removeprefix("cxlab: "))
        how = f"signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
        return WorkerCrashed(f"worker {index} of {len(processes)} died ({how}); finish with --resume\n{said}".strip())
    return None
