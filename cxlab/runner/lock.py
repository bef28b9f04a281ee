"""Who may work on a run: one process, or one process a shard.

The whole run is an exclusive lock on `run.lock`. A manual shard holds that lock shared and an
exclusive lock of its own. Locks are the kernel's (`flock`), so a killed process leaves none behind.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from cxlab.errors import Busy

PATIENCE_S = 5.0
"""How long to wait for a lock: the workers of a killed coordinator need a moment to notice and exit."""


@contextlib.contextmanager
def hold_run(folder: Path, patience_s: float = PATIENCE_S) -> Iterator[int]:
    """The run is this process's alone; yields the file descriptor, which children may inherit."""
    with _hold(folder / "run.lock", fcntl.LOCK_EX, f"run {folder.name} is being worked on", patience_s) as descriptor:
        yield descriptor


@contextlib.contextmanager
def hold_shard(folder: Path, shard: tuple[int, int], patience_s: float = PATIENCE_S) -> Iterator[None]:
    """One shard of the run is this process's alone; other shards of the same split may work beside it."""
    index, shards = shard
    name = f"shard {index}/{shards} of run {folder.name}"
    mine = folder / f"shard-{index}-of-{shards}.lock"
    with (
        _hold(folder / "run.lock", fcntl.LOCK_SH, f"run {folder.name} is being worked on as a whole", patience_s),
        _hold(mine, fcntl.LOCK_EX, f"{name} is being worked on", patience_s),
    ):
        # Two different splits at once would share samples and double their attempts.
        for other in folder.glob("shard-*-of-*.lock"):
            if not other.stem.endswith(f"-of-{shards}") and is_held(other):
                raise Busy(f"{name}: another split of the run is at work ({other.stem}); use that N or wait for it")
        yield


def try_hold_run(folder: Path) -> contextlib.AbstractContextManager[int]:
    """As `hold_run`, without waiting: Busy when any other process has the run or a shard of it."""
    return hold_run(folder, patience_s=0.0)


def is_held(path: Path) -> bool:
    """Whether a process holds an exclusive lock on that file."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextlib.contextmanager
def _hold(path: Path, how: int, busy: str, patience_s: float) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        give_up = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(descriptor, how | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    raise Busy(f"{busy} by another process{_named(descriptor)}; wait for it or cancel it") from None
                time.sleep(0.05)
        if how == fcntl.LOCK_EX:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _named(descriptor: int) -> str:
    pid = os.pread(descriptor, 20, 0).decode()
    return f" (pid {pid})" if pid else ""
