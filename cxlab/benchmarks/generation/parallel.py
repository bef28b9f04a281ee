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
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import wait as wait_for_processes
from pathlib import Path
from typing import Any, TypeVar

from cxlab.benchmarks.generation.stages import GenerationStopped, Progress, load
from cxlab.errors import CxError

Item = TypeVar("Item")
POLL_S = 0.25
MISTAKE = "mistake.txt"
DIED = "a worker process died; what was made is kept: run the same command again"
_preloaded: list[str] = []


def count_workers(asked: int | None, items: int, worth: int) -> int:
    """How many processes: as asked, else one a core that this process may use; each with `worth` items at least."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores if asked is None else asked, items // worth))


def preload(module: str) -> None:
    """Name a module that the server of processes imports once, so that no process has to; before the first of them."""
    if module not in _preloaded:
        _preloaded.append(module)


def choose_context() -> Any:
    """How processes begin: forked off a server that has imported everything once.

    Cheaper than fresh interpreters, and safe where a fork of this process would copy locks that its threads hold.
    """
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(_preloaded)
    return context


@contextmanager
def open_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with this block, and with this process however it ends."""
    with ProcessPoolExecutor(workers, mp_context=choose_context(), initializer=_follow) as pool:
        try:
            yield pool
        except BrokenProcessPool as broken:
            raise GenerationStopped(DIED) from broken


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
    context = choose_context()
    # A process a shard: unlike a pool's, its end is seen however it comes.
    started = [
        context.Process(target=_work_on, args=(work, todo[n::many], shard), daemon=True)
        for n, shard in enumerate(shards)
    ]
    for each in started:
        each.start()
    try:
        done = 0
        while any(each.exitcode is None for each in started):
            wait_for_processes([each.sentinel for each in started if each.exitcode is None], POLL_S)
            now = sum(_count_lines(shard / f"{stage}.jsonl") for shard in shards)
            # The stage itself tells of its end, when it has all rows.
            if done < now < len(todo):
                done = now
                yield Progress(stage, before + done, len(items))
    finally:
        # Cancelled: nobody waits for shards that are half done; the next try gathers them.
        for each in started:
            each.kill()
            each.join()
    mistakes = [path.read_text(encoding="utf-8") for shard in shards if (path := shard / MISTAKE).is_file()]
    for shard in shards:
        (shard / MISTAKE).unlink(missing_ok=True)
    gather(stage, folder)
    if mistakes:
        raise GenerationStopped(mistakes[0])
    if any(each.exitcode for each in started):
        raise GenerationStopped(DIED)


def _work_on(work: Callable[[Sequence[Item], Path], object], items: Sequence[Item], shard: Path) -> None:
    """In a worker: the shard's work; a user's mistake is left as its text."""
    _follow()
    try:
        work(items, shard)
    except CxError as mistake:
        shard.mkdir(parents=True, exist_ok=True)
        (shard / MISTAKE).write_text(str(mistake), encoding="utf-8")


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
