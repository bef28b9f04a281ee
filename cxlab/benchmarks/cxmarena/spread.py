"""Stages of CPU work over all cores: shards of a stage's items, each done by a process of its own.

    yield from fill("conversations", cases, lambda c: c.id, work, folder, workers)
    found = yield from write_conversations(..., folder)        # finds all its rows made

`work(items, folder)` is a function of a module that leaves FOLDER/STAGE.jsonl, as `stages.run` does. A row depends
on its item alone, so neither the number of processes nor who does what changes anything. Shards that were cut short
are gathered by the next try.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import TypeVar

from cxlab.benchmarks.cxmarena.stages import Progress, Stopped, load
from cxlab.errors import CxError

Item = TypeVar("Item")
POLL_S = 0.25
PRELOAD = "cxlab.benchmarks.cxmarena.generate"


def count_workers(asked: int | None, items: int, worth: int) -> int:
    """How many processes: as asked, else one a core that this process may use; each with `worth` items at least."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores if asked is None else asked, items // worth))


@contextmanager
def open_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with this block, at once where it is left by an exception, and with this process.

    A worker that dies breaks the pool with an error of its own instead of being waited for in vain.
    """
    # Forked off a server that has imported everything once: cheaper than fresh interpreters, and safe where a fork of
    # this process would copy locks that its threads hold.
    server = "forkserver" in get_all_start_methods()
    context = get_context("forkserver" if server else "spawn")
    if server:
        context.set_forkserver_preload([PRELOAD])
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_follow)
    try:
        yield pool
    except BrokenProcessPool as broken:
        raise Stopped(
            "a worker process died; what was made is kept, so the same command goes on from there"
        ) from broken
    except BaseException:
        # Cancelled: nobody waits for shards that are half done, they are gathered by the next try. (From Python 3.14
        # on the pool has `terminate_workers` for this.)
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _follow() -> None:
    """In a worker: leave an interrupt to the parent, and go when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="follow-parent").start()


def fill(
    stage: str,
    items: Sequence[Item],
    key: Callable[[Item], str],
    work: Callable[[Sequence[Item], Path], object],
    folder: Path,
    workers: int | None,
    worth: int = 40,
) -> Generator[Progress, None, None]:
    """Do what is left of a stage in processes; nothing where it is too little to be worth them."""
    gather(stage, folder)
    known = load(folder / f"{stage}.jsonl")
    todo = [item for item in items if key(item) not in known]
    many = count_workers(workers, len(todo), worth)
    if many < 2:
        return
    before = len(items) - len(todo)
    del known
    yield Progress(stage, before, len(items))
    shards = [folder / f"{stage}.shards" / str(number) for number in range(many)]
    with open_pool(many) as pool:
        asked = [pool.submit(_guard, work, todo[n::many], shard) for n, shard in enumerate(shards)]
        done = 0
        while wait(asked, POLL_S).not_done:
            now = sum(_count_lines(shard / f"{stage}.jsonl") for shard in shards)
            # The stage itself tells of its end, when it has all rows.
            if done < now < len(todo):
                done = now
                yield Progress(stage, before + done, len(items))
        mistakes = [said for each in asked if (said := each.result())]
    gather(stage, folder)
    if mistakes:
        raise Stopped(mistakes[0])


def _guard(work: Callable[[Sequence[Item], Path], object], items: Sequence[Item], shard: Path) -> str:
    """The shard's work; a mistake comes back as its text, because not every exception survives the way."""
    try:
        work(items, shard)
    except CxError as mistake:
        return str(mistake)
    return ""


def gather(stage: str, folder: Path) -> None:
    """Rows of finished or broken shards into the stage's own file."""
    shards = folder / f"{stage}.shards"
    paths = sorted(shards.glob(f"*/{stage}.jsonl"))
    for path in paths:
        load(path)  # cuts off a torn last line
        load(folder / f"{stage}.jsonl")
        with (folder / f"{stage}.jsonl").open("ab") as file:
            file.write(path.read_bytes())
        # Killed between these two lines, rows stand twice; they are equal.
        path.unlink()


def _count_lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0
