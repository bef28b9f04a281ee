"""Jobs: detached work that is watched, cancelled, and told apart from what has died."""

import os
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from runner.shell import Shell, make_shell, wait_for

from cxlab import jobs
from cxlab.errors import BadOption, UnknownName
from cxlab.runner.loaded_run import folder_of
from cxlab.store.run_status import Status, read_run

LAMP = ("run", "runner.lamp:BENCHMARK", "--model", "simulated:strong", "--workers", "1")
SLOW = ("--option", "sleep_s=0.3", "--concurrency", "2")
ALL = 24


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    made = make_shell(tmp_path / "home", monkeypatch)
    monkeypatch.setenv("PYTHONPATH", made.environment["PYTHONPATH"])
    return made


def ended(job_id: str) -> bool:
    return jobs.find_job(job_id).state != "running"


def progress(job: jobs.Job) -> dict[str, Status]:
    """How far each run of a job has come; one that has not begun is left out."""
    found = {run_id: read_run(folder_of(run_id), ALL) for run_id in job.runs}
    return {run_id: status for run_id, status in found.items() if status is not None}


def started(job_id: str) -> bool:
    return any(status.done > 0 for status in progress(jobs.find_job(job_id)).values())


def test_a_job_runs_by_itself_and_names_its_runs(shell: Shell) -> None:
    job = jobs.start(LAMP)
    assert (job.state, job.kind, job.args) == ("running", "run", LAMP)
    wait_for(lambda: ended(job.id))
    job = jobs.find_job(job.id)
    assert (job.state, job.code) == ("done", 0), job.log.read_text()
    (run_id,) = job.runs
    assert {name: status.done for name, status in progress(job).items()} == {run_id: ALL}
    assert f"{run_id}: done" in job.log.read_text()
    assert [each.id for each in jobs.list_jobs()] == [job.id]


def test_what_no_process_can_be_given_is_refused_and_leaves_nothing(shell: Shell) -> None:
    with pytest.raises(BadOption, match="NUL"):
        jobs.start(["generate", "cxmarena", "--brief=We sell\0lamps"])
    assert jobs.list_jobs() == []


def test_what_a_page_starts_is_quiet_once_and_keeps_every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(jobs, "start", lambda args: started.append(list(args)))
    jobs.start_quietly(("run", "--option", "a=1", "--option", "b=1"))
    jobs.start_quietly(started[0])
    assert started == [["run", "--option", "a=1", "--option", "b=1", "--quiet"]] * 2


def test_a_mistake_is_a_failed_job_with_its_line_in_the_log(shell: Shell) -> None:
    job = jobs.start(("run", "runner.lamp:BENCHMARK", "--model", "simulated:nobody"))
    wait_for(lambda: ended(job.id))
    job = jobs.find_job(job.id)
    assert (job.state, job.code, job.runs) == ("failed", 2, ())
    assert job.log.read_text().startswith("cxlab: unknown simulated model 'nobody'")


def test_a_bug_is_a_failed_job_with_its_traceback_in_the_log(shell: Shell) -> None:
    job = jobs.start((*LAMP, "--option", "crash_on=5"))
    wait_for(lambda: ended(job.id))
    job = jobs.find_job(job.id)
    assert (job.state, job.code) == ("failed", 1)
    assert "ZeroDivisionError: lamp 5 is a bug" in job.log.read_text()
    assert [status.state for status in progress(job).values()] == ["failed"]


def test_cancel_keeps_what_is_finished(shell: Shell) -> None:
    # Two workers hear of it through the run's folder, as one does in its own process.
    job = jobs.start((*LAMP[:-1], "2", *SLOW))
    wait_for(lambda: started(job.id))
    jobs.cancel(job.id)
    wait_for(lambda: ended(job.id))
    job = jobs.find_job(job.id)
    assert job.state == "stopped"
    (status,) = progress(job).values()
    assert status.state == "stopped"
    # A worker may still be writing what it has told.
    wait_for(lambda: len(shell.pairs(job.runs[0])) == status.done)
    assert 0 < status.done < ALL
    jobs.cancel(job.id)  # of what has ended: nothing to do


def test_a_killed_job_is_stalled(shell: Shell) -> None:
    job = jobs.start((*LAMP, *SLOW))
    wait_for(lambda: started(job.id))
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    wait_for(lambda: ended(job.id))
    job = jobs.find_job(job.id)
    assert (job.state, job.code) == ("stalled", None)
    # Another job takes its run to the end.
    job = jobs.start(("run", "--resume", job.runs[0], "--concurrency", "24"))
    wait_for(lambda: ended(job.id))
    assert jobs.find_job(job.id).state == "done"
    assert len(set(shell.pairs(job.runs[0] if job.runs else jobs.find_job(job.id).runs[0]))) == ALL


def test_sessions_that_open_at_once_start_the_demo_once(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "DEMO", ("models",))
    with ThreadPoolExecutor(8) as sessions:
        begun = [job for job in sessions.map(lambda _: jobs.ensure_demo(), range(8)) if job]
    assert len(begun) == 1 == len(jobs.list_jobs())
    wait_for(lambda: ended(begun[0].id))
    # Even though it left no run behind: a demo that fails must not be started for ever.
    assert jobs.ensure_demo() is None
    assert len(list((shell.home / "jobs").glob("*.lock"))) == 1


def test_no_demo_in_a_store_that_has_runs_or_where_it_is_not_wanted(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(jobs.NO_AUTOSTART, "1")
    assert jobs.ensure_demo() is None
    monkeypatch.delenv(jobs.NO_AUTOSTART)
    shell.plan("--model", "simulated:strong")
    assert jobs.ensure_demo() is None
    assert jobs.list_jobs() == []


def test_environment_is_inherited_and_not_stored(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sesame-open")
    job = jobs.start(("models",))
    wait_for(lambda: ended(job.id))
    # The child has the key (the model counts as ready), and neither the table nor the log holds it.
    assert "endpoint:openrouter  [ready]" in job.log.read_text()
    with sqlite3.connect(shell.home / "jobs.sqlite") as table:
        assert "sesame-open" not in "\n".join(table.iterdump())
    assert "sesame-open" not in job.log.read_text()


def test_unknown_job_is_named(shell: Shell) -> None:
    with pytest.raises(UnknownName, match="unknown job 'job-1'; known: none yet"):
        jobs.find_job("job-1")
