"""Runs whose status is not true: one says that it is running and its process is gone, or the file is damaged."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from cxlab.errors import Busy
from cxlab.records import Run
from cxlab.runner import lock
from cxlab.runner.loaded_run import folder_of
from cxlab.runner.report import tally
from cxlab.store import run_status as statuses
from cxlab.store import trash, write
from cxlab.store.health import Finding


def examine() -> Iterator[Finding]:
    """The runs that count and are not what their status says."""
    for run in write.list_runs():
        folder = folder_of(run.id)
        status = statuses.read_run(folder, run.planned)
        path = folder / "status.json"
        if status is None:
            if path.exists():
                what = f"run {run.id!r}: status.json is damaged"
                yield Finding(what, "writes it anew from what is stored", partial(_write_anew, run, folder))
        elif statuses.is_stale(status) and not _is_at_work(folder):
            what = f"run {run.id!r} says that it is running, but its process is gone"
            yield Finding(what, "marks it as stopped; it can be resumed", partial(_write_anew, run, folder))


def _is_at_work(folder: Path) -> bool:
    try:
        with lock.try_hold_run(folder):
            return False
    except Busy:
        return True


def _write_anew(run: Run, folder: Path) -> str:
    """A status that counts what is stored; Busy when somebody has begun to work on the run meanwhile."""
    path = folder / "status.json"
    with lock.try_hold_run(folder):
        old = statuses.read_run(folder, run.planned)
        status = replace(old or statuses.begin(run.planned), **tally(run.id), eta_s=None, rate_per_s=0.0, pid=0)
        whole = status.done >= run.planned
        said = "" if whole else "its process ended without a word"
        state: statuses.State = statuses.find_end(status) if whole else "stopped"
        status = replace(status, state=state, message=said, updated=statuses.now())
        if path.exists() and old is None:
            trash.keep(path)
        statuses.drop_shards(folder)
        statuses.write(path, status)
    return f"run {run.id} is {'done' if whole else 'stopped'}: {status.done} of {run.planned} attempts are stored"
