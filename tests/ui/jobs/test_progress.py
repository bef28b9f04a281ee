"""What the bar of a run says while it is under way, is asked to stop, or has just begun."""

import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from cxlab import jobs
from cxlab.read import RunProgress, progress
from cxlab.store import run_status
from cxlab.ui.jobs.progress import draw_progress
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

LIVE = RunProgress("run-1", "running", 200, "m", rate_per_s=1.0)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(st, "progress", lambda share, text: lines.append(text.replace("\\", "")))
    monkeypatch.setattr(st, "caption", lines.append)
    return lines


@pytest.mark.parametrize(
    ("done", "eta", "left"),
    [
        (1, 1127.0, "time left not known yet"),
        (19, 50.0, "time left not known yet"),
        (20, 49.2, "about 50 s left"),
        (20, None, "time left not known yet"),
        (150, 254.0, "about 4 min 10 s left"),
        (199, 1.0, "less than 10 s left"),
    ],
)
def test_time_left_is_told_from_a_tenth_on(told: list[str], done: int, eta: float | None, left: str) -> None:
    from dataclasses import replace

    draw_progress(replace(LIVE, done=done, eta_s=eta, cost_usd=0.0))
    assert told == [f"m: ▶ running · {done} of 200 · {left}"]


def test_a_run_that_was_asked_to_stop_says_so(empty_home: Path, told: list[str]) -> None:
    run = write_run(empty_home, 1, "m", {("s1", 1): 50.0})
    folder = empty_home / "runs" / run
    status = run_status.Status(
        "running", 200, 76, ok=76, updated=run_status.now(), pid=os.getpid(), host=socket.gethostname(), eta_s=31.0,
        cost_usd=0.0, message="cancelled",
    )  # fmt: skip
    run_status.write(folder / "status.json", status)
    assert not progress(run).stopping
    (folder / run_status.CANCEL).touch()
    draw_progress(progress(run))
    assert told == ["m: ■ stopping: finishing what is under way · 76 of 200"]
    run_status.write(folder / "status.json", run_status.Status("stopped", 200, 80, ok=80, updated=run_status.now()))
    assert not progress(run).stopping


def job(tmp_path: Path, state: str, args: tuple[str, ...]) -> jobs.Job:
    return jobs.Job("job-1", args[0], args, datetime.now(UTC), None, state, None, (), tmp_path / "log")  # type: ignore[arg-type]


def test_a_job_that_was_cancelled_is_not_offered_to_be_cancelled_again(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    going = job(empty_home, "running", ("run", "sage"))
    monkeypatch.setattr(jobs, "list_jobs", lambda *most: [going])
    monkeypatch.setattr(jobs, "find_job", lambda id: going)
    asked: list[str] = []
    monkeypatch.setattr(jobs, "cancel", asked.append)
    for page in ("run", "overview"):
        app = open_page(page)
        assert "At work for " in words(app)
        app.button(key="cancel-job-1").click().run()
        assert "Stopping: what is under way is finished" in words(app)
        assert not [each for each in app.button if each.key == "cancel-job-1"]
    assert asked == ["job-1", "job-1"]


def test_a_demo_that_was_cancelled_can_be_taken_up_from_the_first_page(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: Any = job(empty_home, "stopped", jobs.DEMO)
    monkeypatch.setattr(jobs, "list_jobs", lambda *most: [stopped])
    monkeypatch.setattr(jobs, "find_job", lambda id: stopped)
    monkeypatch.setattr(jobs, "ensure_demo", lambda: None)
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(jobs, "start", lambda args: started.append(tuple(args)) or SimpleNamespace(id="job-2"))
    app = open_page()
    assert "Stopped. What was finished is kept; the rest can be resumed." in words(app)
    app.button(key="overview-resume").click().run()
    assert started == [jobs.DEMO]
