"""A disk that is full, a home that cannot be written: one line, exit code 2, and no run that says `running` for ever.

The fault is the kernel's own: a limit of file sizes (EFBIG) for parts, and /dev/full (ENOSPC) where one file is
written; both come out of the same system call as a full disk. A read-only home is stood in for by a file in its place,
because root may write to whatever is only marked read-only.
"""

import errno
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from typer.testing import CliRunner

from cxlab import cli, jobs
from cxlab.errors import FileFault, explain
from cxlab.runner.display.runs import NoDisplay
from cxlab.runner.loaded_run import open_run
from cxlab.runner.session import work_alone
from cxlab.store import frames, layout, write
from cxlab.store import run_status as statuses
from cxlab.store.catalogue import read

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
from cxlab.cli import main
main()
"""
RUN = ("run", "sage", "--model", "simulated:strong", "--judge", "simulated:judge-fair", "--quiet", "--limit")
ADVICE = "File too large; raise the limit of file sizes"


def limited(size: int, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, of whose files none may grow beyond `size` bytes.

    Of its own, because the limit would hold for whatever else this process writes.
    """
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), *words],
        # Python itself takes a file that such a limit cut short for compiled code, and would keep it.
        env={**os.environ, "CXLAB_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_the_disk_ends_is_failed_and_can_be_resumed(empty_home: Path, workers: int) -> None:
    assert CliRunner().invoke(cli.app, [*RUN, "4", "--plan"]).exit_code == 0
    (run_id,) = (run.id for run in write.list_runs())
    said = limited(6_000, empty_home, "run", "--resume", run_id, "--quiet", "--workers", str(workers))
    assert said.returncode == 2, said.stderr
    assert ADVICE in said.stderr
    assert len(said.stderr.splitlines()) == 1
    folder = empty_home / "runs" / run_id
    status = statuses.read(folder / "status.json")
    assert status is not None
    assert (status.state, status.done) == ("failed", 0)
    assert ADVICE in status.message
    assert [path.name for path in folder.iterdir() if path.name.startswith(".tmp")] == []
    assert not read(empty_home).set_aside
    assert CliRunner().invoke(cli.app, ["run", "--resume", run_id, "--quiet"]).exit_code == 0
    last = statuses.read(folder / "status.json")
    assert last is not None
    assert (last.state, last.done) == ("done", 4)


def test_an_end_is_told_with_what_is_stored_and_never_more(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches a run takes the first ended status for the last."""
    told: list[statuses.Status] = []

    class Watched(NoDisplay):
        def update(self, name: str, status: statuses.Status) -> None:
            told.append(status)

    def refuse(writer: write.PartWriter, parts: dict[str, pl.DataFrame]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    assert CliRunner().invoke(cli.app, [*RUN, "2", "--plan"]).exit_code == 0
    monkeypatch.setattr(write.PartWriter, "_publish", refuse)
    with pytest.raises(OSError, match="No space left"):
        work_alone([open_run(write.list_runs()[0].id)], Watched())
    ended = [status for status in told if status.state != "running"]
    assert {(status.state, status.done, status.ok) for status in ended} == {("failed", 0, 0)}


def test_exports_on_a_full_disk_leave_nothing_behind(own_judged_home: Path, tmp_path_factory: Any) -> None:
    out = tmp_path_factory.mktemp("out")
    for format, name in (("duckdb", "all.duckdb"), ("parquet", "tables")):
        said = limited(600, own_judged_home, "export", "--format", format, "--to", str(out / name))
        assert said.returncode == 2, said.stderr
        assert len(said.stderr.splitlines()) == 1
        assert ADVICE in said.stderr
    assert [path for path in out.rglob("*") if path.is_file()] == []


WORDS = [("runs", "list"), ("doctor",), (*RUN, "2"), ("export", "--to", "out"), ("generate", "sage"), ("demo",)]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0])
@pytest.mark.parametrize("below", ["", "home"])
def test_a_file_in_place_of_the_home_is_one_line(
    words: tuple[str, ...], below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "file" / below))
    monkeypatch.setattr(sys, "argv", ["cxlab", *words])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        cli.main()
    told = capsys.readouterr()
    assert left.value.code == 2, told
    # Before it there may be what had been done by then.
    (said,) = (line for line in told.err.splitlines() if line.startswith("cxlab: "))
    assert told.err.endswith(f"{said}\n")
    assert "CXLAB_HOME" in said


TARGETS = [
    ("parquet", "file", "is a file"),
    ("duckdb", "folder", "is a folder"),
    ("events", "folder", "is a folder"),
    ("duckdb", "file", "no earlier export"),
    ("events", "file", "no earlier export"),
    ("csv", "file/below", "Not a directory"),
    ("duckdb", "file/below.duckdb", "lies there already"),
]


@pytest.mark.parametrize(("format", "to", "said"), TARGETS)
def test_a_target_that_cannot_be_written_is_one_line_and_stays_as_it_is(
    format: str, to: str, said: str, judged_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(sys, "argv", ["cxlab", "export", "--format", format, "--to", str(tmp_path / to)])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_an_export_may_replace_an_export(judged_home: Path, tmp_path: Path) -> None:
    from cxlab.store.exports.export import export_runs

    for format in ("duckdb", "events"):
        (path,) = export_runs(None, format, tmp_path / format)
        assert export_runs(None, format, tmp_path / format) == [path]


def test_the_next_export_removes_what_a_killed_one_left(judged_home: Path, tmp_path: Path) -> None:
    from cxlab.store.exports.export import export_runs

    gone, living = 2**22 + 1, os.getpid()
    left = [tmp_path / f".all.duckdb.{gone}.1.unfinished{ending}" for ending in ("", ".wal")]
    (tmp_path / f".all.duckdb.{gone}.1.unfinished.parts").mkdir()
    others = [tmp_path / f".all.duckdb.{living}.1.unfinished", tmp_path / f".other.duckdb.{gone}.1.unfinished"]
    for path in (*left, *others):
        path.write_text("half")
    export_runs(None, "duckdb", tmp_path / "all.duckdb")
    assert {path.name for path in tmp_path.iterdir()} == {"all.duckdb", *(path.name for path in others)}


def test_a_status_is_written_over_when_there_is_no_room_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "status.json"
    statuses.write(path, statuses.begin(8))

    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    statuses.write(path, statuses.Status("failed", 8, message="full"))
    assert statuses.read(path) == statuses.Status("failed", 8, message="full")
    monkeypatch.undo()
    assert [each.name for each in tmp_path.iterdir()] == ["status.json"]


def test_the_count_of_swaps_becomes_even_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with layout.swapping(tmp_path):
        pass

    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "write_bytes", full)
    with layout.swapping(tmp_path):
        assert layout.swap_count(tmp_path) == 3
    assert layout.swap_count(tmp_path) == 4


def catch(call: Any) -> BaseException:
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


def test_every_library_s_word_for_a_full_disk_is_understood(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": list(range(9))})
    calls = [
        lambda: frames.write_parquet(frame, Path("/dev/full")),
        lambda: frame.write_csv("/dev/full"),
        lambda: duckdb.sql("COPY (FROM range(9)) TO '/dev/full' (FORMAT csv)"),
    ]
    for call in calls:
        assert "No space left on device; free some space" in str(explain(catch(call)))
    (tmp_path / "file").write_text("x")
    for call in (
        lambda: (tmp_path / "file" / "x").read_bytes(),
        lambda: duckdb.connect(str(tmp_path / "file" / "x")),
        lambda: sqlite3.connect(tmp_path / "file" / "x"),
        lambda: frame.write_parquet(tmp_path / "file" / "x"),
        lambda: (tmp_path / "none").read_bytes(),
    ):
        assert explain(catch(call)) is not None


NO_FAULTS = [ValueError("x"), ConnectionRefusedError(errno.ECONNREFUSED, "x"), TimeoutError(), OSError("a bug"),
             ProcessLookupError(errno.ESRCH, "x"), KeyError("os error 28")]  # fmt: skip


@pytest.mark.parametrize("fault", NO_FAULTS)
def test_what_is_no_fault_of_a_file_is_left_alone(fault: BaseException) -> None:
    assert explain(fault) is None


def test_json_of_a_status_stays_readable_after_blanks(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    path.write_text(json.dumps({"state": "done", "planned": 3}) + " " * 40)
    assert statuses.read(path) == statuses.Status("done", 3)


def test_jobs_are_listed_on_a_home_that_cannot_be_written(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only home lets SQLite make neither its table nor the files of its journal; root needs a stand-in."""
    job = jobs.start(["models", "--help"])
    while jobs.find_job(job.id).state == "running":
        time.sleep(0.05)

    def refuse() -> sqlite3.Connection:
        return sqlite3.connect(empty_home / "nowhere" / "jobs.sqlite")

    monkeypatch.setattr(jobs, "_connect", lambda: refuse().execute("pragma journal_mode = wal"))
    with pytest.raises(FileFault, match="CXLAB_HOME"):
        jobs.start(["models", "--help"])
    assert [each.id for each in jobs.list_jobs()] == [job.id]
    (empty_home / "jobs.sqlite").unlink()
    assert jobs.list_jobs() == []
