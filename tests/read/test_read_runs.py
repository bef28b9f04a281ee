import json
import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cxlab import read
from cxlab.errors import BadOption


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    run = tmp_path / "runs" / "run-1"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"planned": 100, "model": "simulated:strong"}))
    return run


def put(folder: Path, name: str, silent_s: float = 0.0, **status: Any) -> None:
    updated = (datetime.now(UTC) - timedelta(seconds=silent_s)).isoformat()
    (folder / name).write_text(json.dumps({"state": "running", "planned": 100, "updated": updated, **status}))


def test_a_run_without_status_waits(folder: Path) -> None:
    found = read.progress("run-1")
    assert (found.state, found.planned, found.model, found.live) == ("planned", 100, "simulated:strong", False)


def test_a_run_that_says_it_runs_and_is_silent_has_stalled(folder: Path) -> None:
    put(folder, "status.json", done=40)
    assert read.progress("run-1").live
    put(folder, "status.json", silent_s=60, done=40)
    assert (read.progress("run-1").state, read.progress("run-1").share) == ("stalled", 0.4)


def test_shards_add_up_and_run_until_all_have_ended(folder: Path) -> None:
    put(folder, "status-1-of-2.json", state="done", planned=50, done=50, ok=49, format=1, cost_usd=0.5)
    put(folder, "status-2-of-2.json", planned=50, done=10, ok=10, cost_usd=0.25, rate_per_s=4.0)
    found = read.progress("run-1")
    assert (found.state, found.done, found.ok, found.format) == ("running", 60, 59, 1)
    assert (found.cost_usd, found.eta_s) == (0.75, 10.0)
    put(folder, "status-2-of-2.json", planned=50, done=10, ok=10)
    assert read.progress("run-1").cost_usd is None, "what is unknown of one shard is unknown of the run"


def test_a_shard_that_has_not_begun_is_still_to_come(folder: Path) -> None:
    put(folder, "status-1-of-2.json", state="done", planned=50, done=50, ok=50)
    assert read.progress("run-1").state == "running"


def test_a_failed_shard_fails_the_run(folder: Path) -> None:
    put(folder, "status-1-of-2.json", state="failed", done=5, message="disk full")
    put(folder, "status-2-of-2.json", done=5)
    assert read.progress("run-1").state == "running", "the other shard is at work"
    put(folder, "status-2-of-2.json", state="stopped", done=5)
    assert (read.progress("run-1").state, read.progress("run-1").message) == ("failed", "disk full")


@pytest.mark.parametrize("text", ["", "{", "[1]", "null"])
def test_a_status_that_cannot_be_read_yet_is_none_yet(folder: Path, text: str) -> None:
    (folder / "status.json").write_text(text)
    assert read.progress("run-1").state == "planned"


def test_an_id_is_never_a_path(folder: Path) -> None:
    with pytest.raises(BadOption):
        read.progress("../../etc")


def test_latest_runs_are_newest_first(home: Path) -> None:
    runs = read.latest_runs(2)
    assert runs["model"].to_list() == ["simulated:curt", "simulated:eloquent"]
    assert runs["state"].to_list() == ["done", "done"]


def test_health_adds_up(home: Path) -> None:
    found = read.health()
    assert found["ok"] + found["format"] + found["provider"] == found["attempts"] == 90
    assert (found["runs"], found["turns"], found["votes"]) == (5, 360, 1080)


@pytest.mark.parametrize(
    ("status", "state", "left", "again"),
    [
        ({"state": "done", "done": 100, "ok": 100}, "done", 0, 0),
        ({"state": "done", "done": 100, "ok": 97, "provider": 3}, "partly", 0, 3),
        ({"state": "done", "done": 100, "ok": 100, "faulted": 2}, "partly", 0, 2),
        ({"state": "done", "done": 100, "provider": 100}, "failed", 0, 100),
        ({"state": "cancelled", "done": 40, "ok": 40}, "stopped", 60, 0),
        ({"state": "budget", "done": 40, "ok": 40}, "stopped", 60, 0),
        ({"state": "failed", "done": 40, "ok": 30, "provider": 10}, "failed", 60, 10),
    ],
)
def test_a_run_is_told_in_one_set_of_words(
    folder: Path, status: dict[str, Any], state: str, left: int, again: int
) -> None:
    put(folder, "status.json", **status)
    found = read.progress("run-1")
    assert (found.state, found.left, found.again) == (state, left, again)


def test_a_run_whose_process_is_gone_has_stalled_at_once(folder: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    put(folder, "status.json", done=40, pid=gone.pid, host=socket.gethostname())
    assert (read.progress("run-1").state, read.progress("run-1").left) == ("stalled", 60)
    put(folder, "status.json", done=40, pid=os.getpid(), host=socket.gethostname())
    assert read.progress("run-1").state == "running"
    put(folder, "status.json", done=40, pid=gone.pid, host="another machine")
    assert read.progress("run-1").state == "running", "nobody here can tell"
