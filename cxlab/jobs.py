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
from typing import Any, Literal
from urllib.parse import quote

from cxlab import resources
from cxlab.errors import BadOption, CxError, FileFault, UnknownName, explain
from cxlab.llm.waits import Waiting
from cxlab.records import new_id
from cxlab.runner.loaded_run import folder_of
from cxlab.runner.lock import is_held
from cxlab.runner.request import JOB
from cxlab.store import catalogue, home, layout, trash, write
from cxlab.store import run_status as statuses

JobState = Literal["running", "done", "failed", "stopped", "stalled"]
"""In the words of `cxlab.store.run_status`."""
_STATES: dict[int, JobState] = {0: "done", 130: "stopped"}
_NOT_ALL = 3
"""Exit code of work that did not come to its end."""
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

    `stalled`: it neither lives nor left an exit code, so it was killed; its runs can be resumed.
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
    """Start `python -m cxlab ARGS` as a process of its own and remember it; BadOption where none can have them."""
    if any("\0" in arg for arg in args):
        raise BadOption("a text has a character in it (NUL) that no command can be given")
    job_id = new_id("job")
    with _reserved(job_id) as lock, closing(_open()) as table:
        _insert(table, job_id, args)
        return _spawn(job_id, args, lock, table)


def start_quietly(args: Sequence[str]) -> Job:
    """`start` without bars of progress, which nobody sees; also again what was started so before."""
    return start(args if "--quiet" in args else [*args, "--quiet"])


def is_building_demo() -> bool:
    """Whether the demo is being built at this moment, so that an empty page fills before long."""
    return any(job.kind == DEMO[0] and job.state == "running" for job in list_jobs())


def ensure_demo() -> Job | None:
    """Start the demo if the store has no runs and nobody has started one before; None when there is no need.

    Of several sessions that ask at once exactly one starts it.
    """
    if os.environ.get(NO_AUTOSTART) or write.list_runs() or catalogue.read().set_aside:
        return None  # a store whose runs are all damaged is no fresh one
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


def list_jobs(most: int = -1) -> list[Job]:
    """All jobs, or this many of them, newest first."""
    if not (home() / "jobs.sqlite").exists():
        return []  # every page looks: that makes no file
    with closing(_open_to_read()) as table:
        listed = f"select {_COLUMNS} from jobs order by started desc, id desc limit ?"
        rows = table.execute(listed, (most,)).fetchall()
    return [job for row in rows if (job := _read(row)) is not None]


def find_job(job_id: str) -> Job:
    """The job of that id."""
    with closing(_open_to_read()) as table:
        row = table.execute(f"select {_COLUMNS} from jobs where id = ?", (job_id,)).fetchone()
    job = _read(row) if row is not None else None
    if job is None:
        raise UnknownName("job", job_id, (job.id for job in list_jobs()))
    return job


@dataclass(frozen=True)
class StageProgress:
    """How far one stage of a generation is."""

    name: str
    done: int
    total: int


def stages(job_id: str) -> tuple[list[StageProgress], str]:
    """The stages that a generating job has told of, in their order, and the dataset it has made ("" before)."""
    told = _read_stages(job_id)
    found = [StageProgress(each["stage"], each["done"], each["total"]) for each in told.get("stages", ())]
    return found, told.get("dataset") or ""


def spending(job_id: str) -> tuple[dict[str, Any], str]:
    """What a generating job's calls took so far (empty for simulated models), and why it stopped ("" if it did not)."""
    told = _read_stages(job_id)
    return told.get("spent") or {}, told.get("stopped") or ""


def waiting(job_id: str) -> str:
    """For which server a generating job waits at the moment, how long still and why; "" where it waits for none."""
    told = _read_stages(job_id).get("waiting")
    return Waiting(**told).describe() if told else ""


def sample(job_id: str) -> list[dict[str, str]]:
    """The texts that a job wrote to be looked at before a dataset is made: kind, title and text of each."""
    return list(_read_stages(job_id).get("sample") or ())


def _read_stages(job_id: str) -> dict[str, Any]:
    try:
        told = json.loads((home() / "jobs" / f"{job_id}.stages").read_bytes())
    except (FileNotFoundError, ValueError):
        return {}  # not begun, or damaged
    return told if isinstance(told, dict) else {}


def cancel(job_id: str) -> None:
    """Ask a job to stop in good order: what is finished stays, and `run --resume` can go on from there."""
    job = find_job(job_id)
    if job.state != "running":
        return
    for run_id in job.runs:
        folder = folder_of(run_id)
        if folder.exists():
            (folder / statuses.CANCEL).touch()
    # The file does it for runs at work; the signal for whatever the process does before or between them.
    if job.pid is not None:
        try:
            os.kill(job.pid, signal.SIGTERM)
        except ProcessLookupError:
            return  # it ended between the look and the signal


_COLUMNS = "id, kind, args, started, pid, code"


def _read(row: tuple[Any, ...]) -> Job | None:
    """The job of a row; None when the row is damaged."""
    job_id, kind, args, started, pid, code = row
    folder = home() / "jobs"
    try:
        words, began = tuple(map(str, json.loads(args))), datetime.fromisoformat(started)
        path = folder / f"{layout.check_id('job', job_id)}.runs"
    except (TypeError, ValueError, CxError):
        return None
    if code is not None:
        state: JobState = _STATES.get(code, "failed")
    else:
        state = "running" if is_held(folder / f"{job_id}.lock") else "stalled"
    try:
        named = path.read_text(encoding="utf-8", errors="replace").split()
    except FileNotFoundError:
        named = []
    # A line that the disk cut short is no id of a run.
    runs = tuple(dict.fromkeys(run_id for run_id in named if layout.is_plain(run_id)))
    if code == _NOT_ALL:
        state = "failed" if any(_has_failed(run_id) for run_id in runs) else "stopped"
    return Job(job_id, kind, words, began, pid, state, code, runs, folder / f"{job_id}.log")


def _has_failed(run_id: str) -> bool:
    status = statuses.read_run(folder_of(run_id), 0)
    return status is not None and status.state == "failed"


def find_damage() -> str | None:
    """Why the table of jobs cannot be used; None when it can, or when there is none yet."""
    path = home() / "jobs.sqlite"
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(path, timeout=10)) as table:
            problem: str = table.execute("pragma quick_check(1)").fetchone()[0]
            if problem != "ok":
                return problem
            if table.execute("select count(*) from sqlite_master where name = 'jobs'").fetchone()[0]:
                table.execute(f"select {_COLUMNS} from jobs limit 1").fetchall()
    except sqlite3.DatabaseError as fault:
        return None if _is_passing(fault) else str(fault)
    return None


def set_damaged_aside() -> Path | None:
    """Move a table of jobs that cannot be used to the trash, so that a new one is made; where it lies now.

    Jobs are lost from the lists of the pages by that; what they made is not.
    """
    base = home()
    with layout.lock(base / ".jobs.lock", wait_s=10.0):
        if find_damage() is None:
            return None  # somebody else did it meanwhile
        for ending in ("-wal", "-shm"):
            path = base / f"jobs.sqlite{ending}"
            if path.exists():
                trash.keep(path, base)
        return trash.keep(base / "jobs.sqlite", base)


def _is_passing(fault: sqlite3.DatabaseError) -> bool:
    """Whether a fault is of the moment or of the disk, and says nothing of the file."""
    passing = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR")
    return getattr(fault, "sqlite_errorname", "").startswith(passing)


def _open() -> sqlite3.Connection:
    home().mkdir(parents=True, exist_ok=True)
    try:
        return _connect()
    except sqlite3.DatabaseError as fault:
        # Pages show jobs and start them: a damaged table must not keep them from all else.
        if _is_passing(fault) or set_damaged_aside() is None:
            raise explain(fault) or fault from fault
        return _connect()


def _open_to_read() -> sqlite3.Connection:
    """As `_open`, and on a home that cannot be written the table as it lies there, or an empty one."""
    try:
        return _open()
    except (OSError, FileFault):
        path = home() / "jobs.sqlite"
        if not path.exists():
            table = sqlite3.connect(":memory:")
            table.execute(_SCHEMA)
            return table
        return sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True)


def _connect() -> sqlite3.Connection:
    table = sqlite3.connect(home() / "jobs.sqlite", timeout=10, isolation_level=None)
    try:
        table.execute("pragma journal_mode = wal")
        table.execute(_SCHEMA)
        table.execute(f"select {_COLUMNS} from jobs limit 1").fetchall()
    except sqlite3.Error:
        table.close()
        raise
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
            [sys.executable, "-m", "cxlab.job_process", job_id, *args],
            cwd=resources.site(),
            env={**resources.own_environment(), "CXLAB_HOME": str(home()), JOB: job_id},
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


def finish(job_id: str, code: int) -> None:
    """Note with which exit code a job's process ends."""
    with closing(_open()) as table:
        table.execute("update jobs set ended = ?, code = ? where id = ?", (statuses.now(), code, job_id))
