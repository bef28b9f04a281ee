"""Start, watch and cancel work from a page: a job is a detached process of the command line.

A job outlives reruns, reloads and the server. It holds a lock on `jobs/ID.lock` from before it is
started until it is gone, so whether it lives is the kernel's word and not a guess from a process id.
Keys reach it through the environment only; its arguments are stored and shown.
"""

import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from cxlab import resources
from cxlab.errors import UnknownName
from cxlab.records import new_id
from cxlab.runner import status as statuses
from cxlab.runner.loaded_run import folder_of
from cxlab.runner.lock import is_held
from cxlab.runner.request import JOB
from cxlab.runner.status import Status
from cxlab.store import home, write

JobState = Literal["running", "done", "failed", "stopped", "interrupted", "died"]
_STATES: dict[int, JobState] = {0: "done", 3: "stopped", 130: "interrupted"}
NO_AUTOSTART = "CXLAB_NO_AUTOSTART"
"""Set to anything, this environment variable keeps `ensure_demo` from starting the demo."""
DEMO = ("demo",)
_SCHEMA = """
create table if not exists jobs (
    id text primary key, kind text not null, args text not null, started text not null,
    pid integer, ended text, code integer
)
"""


@dataclass(frozen=True)
class Job:
    """One piece of work. `runs` fills as the process names them; `code` is its exit code once it has ended.

    `died`: it neither lives nor left an exit code, so it was killed; its runs can be resumed.
    """

    id: str
    kind: str
    args: tuple[str, ...]
    started: datetime
    pid: int | None
    state: JobState
    code: int | None
    runs: tuple[str, ...]
    log: Path


def start(args: Sequence[str]) -> Job:
    """Start `python -m cxlab ARGS` as a process of its own and remember it."""
    job_id = new_id("job")
    with _reserved(job_id) as lock, closing(_open()) as table:
        _insert(table, job_id, args)
        return _spawn(job_id, args, lock, table)


def ensure_demo() -> Job | None:
    """Start the demo if the store has no runs and nobody has started one before; None when there is no need.

    Of several sessions that ask at once exactly one starts it.
    """
    if os.environ.get(NO_AUTOSTART) or write.list_runs():
        return None
    job_id, args = new_id("job"), DEMO
    with _reserved(job_id) as lock, closing(_open()) as table:
        table.execute("begin immediate")
        if table.execute("select 1 from jobs where kind = ?", DEMO[:1]).fetchone():
            table.execute("rollback")
            (home() / "jobs" / f"{job_id}.lock").unlink()
            return None
        _insert(table, job_id, args)
        table.execute("commit")
        return _spawn(job_id, args, lock, table)


def list_jobs() -> list[Job]:
    """All jobs, newest first."""
    with closing(_open()) as table:
        rows = table.execute(f"select {_COLUMNS} from jobs order by started desc, id desc").fetchall()
    return [_read(row) for row in rows]


def find_job(job_id: str) -> Job:
    """The job of that id."""
    with closing(_open()) as table:
        row = table.execute(f"select {_COLUMNS} from jobs where id = ?", (job_id,)).fetchone()
    if row is None:
        raise UnknownName("job", job_id, (job.id for job in list_jobs()))
    return _read(row)


def progress(job: Job) -> dict[str, Status]:
    """How far each run of a job has come; a run that was created but not begun is left out."""
    found = {}
    for run_id in job.runs:
        try:
            status = statuses.read_run(folder_of(run_id), write.load_run(run_id).planned)
        except UnknownName:
            continue  # deleted meanwhile
        if status is not None:
            found[run_id] = status
    return found


@dataclass(frozen=True)
class StageProgress:
    """How far one stage of a generation is."""

    name: str
    done: int
    total: int


def stages(job_id: str) -> tuple[list[StageProgress], str]:
    """The stages that a generating job has told of, in their order, and the dataset it has made ("" before)."""
    try:
        told = json.loads((home() / "jobs" / f"{job_id}.stages").read_bytes())
    except FileNotFoundError:
        return [], ""
    return [StageProgress(each["stage"], each["done"], each["total"]) for each in told["stages"]], told.get(
        "dataset"
    ) or ""


def spending(job_id: str) -> tuple[dict[str, Any], str]:
    """What a generating job's calls took so far (empty for simulated models), and why it stopped ("" if it did not)."""
    try:
        told = json.loads((home() / "jobs" / f"{job_id}.stages").read_bytes())
    except FileNotFoundError:
        return {}, ""
    return told.get("spent") or {}, told.get("stopped") or ""


def cancel(job_id: str) -> None:
    """Ask a job to stop in good order: what is finished stays, and `run --resume` can go on from there."""
    job = find_job(job_id)
    if job.state != "running":
        return
    for run_id in job.runs:
        folder = folder_of(run_id)
        if folder.exists():
            (folder / "CANCEL").touch()
    # The file does it for runs at work; the signal for whatever the process does before or between them.
    if job.pid is not None:
        try:
            os.kill(job.pid, signal.SIGTERM)
        except ProcessLookupError:
            return  # it ended between the look and the signal


_COLUMNS = "id, kind, args, started, pid, code"


def _read(row: tuple[str, str, str, str, int | None, int | None]) -> Job:
    job_id, kind, args, started, pid, code = row
    folder = home() / "jobs"
    if code is not None:
        state: JobState = _STATES.get(code, "failed")
    else:
        state = "running" if is_held(folder / f"{job_id}.lock") else "died"
    try:
        runs = tuple(dict.fromkeys((folder / f"{job_id}.runs").read_text().split()))
    except FileNotFoundError:
        runs = ()
    log = folder / f"{job_id}.log"
    return Job(job_id, kind, tuple(json.loads(args)), datetime.fromisoformat(started), pid, state, code, runs, log)


def _open() -> sqlite3.Connection:
    home().mkdir(parents=True, exist_ok=True)
    table = sqlite3.connect(home() / "jobs.sqlite", timeout=10, isolation_level=None)
    table.execute("pragma journal_mode = wal")
    table.execute(_SCHEMA)
    return table


@contextmanager
def _reserved(job_id: str) -> Iterator[int]:
    """Hold the job's lock until its process has inherited it."""
    path = home() / "jobs" / f"{job_id}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _insert(table: sqlite3.Connection, job_id: str, args: Sequence[str]) -> None:
    started = datetime.now(UTC).isoformat()
    kind = args[0] if args else ""
    row = (job_id, kind, json.dumps(list(args)), started)
    table.execute("insert into jobs (id, kind, args, started) values (?, ?, ?, ?)", row)


def _spawn(job_id: str, args: Sequence[str], lock: int, table: sqlite3.Connection) -> Job:
    with (home() / "jobs" / f"{job_id}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "cxlab.jobs", job_id, *args],
            cwd=resources.site(),
            env={**os.environ, "CXLAB_HOME": str(home()), JOB: job_id},
            pass_fds=(lock,),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    table.execute("update jobs set pid = ? where id = ?", (process.pid, job_id))
    # Somebody must take its exit code in the end, or it would stay behind as a zombie of the server.
    threading.Thread(target=process.wait, name=f"reap-{job_id}", daemon=True).start()
    return find_job(job_id)


def _work(job_id: str, args: Sequence[str]) -> int:
    """In the job's process: the command line, and its exit code into the table."""
    from cxlab.cli import main

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    sys.argv = ["cxlab", *args]
    code = 1  # what a bug leaves behind, with its traceback in the log
    try:
        main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    finally:
        with closing(_open()) as table:
            table.execute("update jobs set ended = ?, code = ? where id = ?", (statuses.now(), code, job_id))
    return code


if __name__ == "__main__":
    sys.exit(_work(sys.argv[1], sys.argv[2:]))
