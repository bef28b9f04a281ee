"""Runs end to end through the command line: killed, interrupted, resumed, shared out."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab.errors import Busy
from cxlab.runner import lock
from cxlab.store import run_status as statuses

from .shell import Shell, wait_for

SLOW = ("--option", "sleep_s=0.4", "--concurrency", "4")
BRISK = ("--option", "sleep_s=0.1", "--concurrency", "4")
ALL = 24


def parts(shell: Shell, run_id: str) -> int:
    return len(list((shell.folder(run_id) / "parts").glob("*/attempts.parquet")))


def result(said: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    (entry,) = json.loads(said.stdout.splitlines()[-1])["runs"]
    return dict(entry)


# With one worker there is nobody to be in the way: what is left and gone on with is the same, and a job that is killed
# (test_jobs.py) has one.
@pytest.mark.parametrize("workers", ["2"])
def test_kill_and_resume_gives_each_attempt_once(shell: Shell, workers: str) -> None:
    run_id = shell.plan("--model", "simulated:strong", "--trials", "2", *SLOW)
    process = shell.start("run", "--resume", run_id, "--workers", workers, "--quiet")
    wait_for(lambda: parts(shell, run_id) > 0)
    process.kill()
    process.communicate()
    # Resumed at once: workers of the killed coordinator must be out of the way by themselves.
    said = shell.call("run", "--resume", run_id, "--workers", workers, "--json", "--quiet", "--concurrency", "48")
    assert said.returncode == 0, said.stderr
    found = shell.pairs(run_id)
    assert len(found) == len(set(found)) == 2 * ALL
    entry = result(said)
    assert (entry["state"], entry["done"], entry["planned"]) == ("done", 2 * ALL, 2 * ALL)
    assert entry["ok"] + entry["format"] + entry["provider"] == 2 * ALL
    assert parts(shell, run_id) == 1  # compacted
    for table in ("scores", "messages"):
        assert shell.read(run_id, table)["attempt_id"].n_unique() == 2 * ALL


def test_workers_exit_at_once_when_the_coordinator_dies(shell: Shell) -> None:
    run_id = shell.plan("--model", "simulated:strong", "--option", "sleep_s=600")
    process = shell.start("run", "--resume", run_id, "--workers", "2", "--quiet")
    wait_for(lambda: len(statuses.read_shards(shell.folder(run_id), led=True)) == 2)
    assert lock.is_held(shell.folder(run_id) / "run.lock")
    process.kill()
    process.communicate()
    # Their lock is the coordinator's own: it is free when the last of them is gone, ten minutes before their work is.
    wait_for(lambda: not lock.is_held(shell.folder(run_id) / "run.lock"))


@pytest.mark.parametrize(("number", "workers"), [(signal.SIGINT, "1"), (signal.SIGTERM, "2")])
def test_a_signal_stops_cleanly(shell: Shell, number: int, workers: str) -> None:
    run_id = shell.plan("--model", "simulated:strong", *SLOW)
    process = shell.start("run", "--resume", run_id, "--workers", workers, "--quiet", "--json")
    wait_for(lambda: (found := statuses.read_run(shell.folder(run_id), ALL)) is not None and found.done > 0)
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    status = statuses.read(shell.folder(run_id) / "status.json")
    assert status is not None
    assert status.state == "stopped"
    assert 0 < status.done == len(shell.pairs(run_id)) < ALL
    assert json.loads(out)["runs"][0]["state"] == "stopped"


def test_cancel_file_stops_workers_and_resume_forgets_it(shell: Shell) -> None:
    run_id = shell.plan("--model", "simulated:strong", *SLOW)
    process = shell.start("run", "--resume", run_id, "--workers", "2", "--quiet")
    wait_for(lambda: len(statuses.read_shards(shell.folder(run_id), led=True)) == 2)
    (shell.folder(run_id) / "CANCEL").touch()
    process.communicate(timeout=300)
    assert process.returncode == 3
    status = statuses.read(shell.folder(run_id) / "status.json")
    assert status is not None
    assert status.state == "stopped"
    assert status.done == len(shell.pairs(run_id)) < ALL
    assert shell.call("run", "--resume", run_id, "--concurrency", "24", "--quiet").returncode == 0
    assert len(shell.pairs(run_id)) == ALL


def content(shell: Shell, run_id: str, table: str) -> pl.DataFrame:
    """A table without what must differ between two runs: ids, times, durations."""
    frame = shell.read(run_id, table)
    attempts = shell.read(run_id).select("attempt_id", "sample_id", "trial")
    if "sample_id" not in frame.columns:
        frame = frame.join(attempts, on="attempt_id")
    kept = [name for name in frame.columns if name not in ("run_id", "attempt_id", "started", "latency_s")]
    return frame.select(kept).sort(kept)


def test_sharded_equals_unsharded(shell: Shell) -> None:
    made = {}
    for workers in ("1", "2"):
        words = ("--model", "simulated:base", "--trials", "2", "--workers", workers, "--seed", "5")
        said = shell.call("run", "runner.lamp:BENCHMARK", *words, "--json")
        assert said.returncode == 0, said.stderr
        made[workers] = result(said)
    one, two = (each["run"] for each in made.values())
    for table in ("attempts", "messages", "scores", "votes", "failures"):
        left = content(shell, one, table)
        assert left.height >= 4, table
        assert left.equals(content(shell, two, table)), table
    assert made["1"]["mean"] == made["2"]["mean"]
    assert made["1"]["format"] == made["2"]["format"] > 0


def test_manual_shards_make_one_run_together(shell: Shell) -> None:
    run_id = shell.plan("--model", "simulated:strong")
    assert shell.call("run", "--resume", run_id, "--shard", "2/3", "--quiet").returncode == 0
    folder = shell.folder(run_id)
    merged = statuses.read_run(folder, ALL)
    assert merged is not None
    assert merged.state == "running"
    assert 0 < merged.done < ALL
    other = shell.start("run", "--resume", run_id, "--shard", "1/3", "--quiet")
    assert shell.call("run", "--resume", run_id, "--shard", "3/3", "--quiet").returncode == 0
    _, err = other.communicate(timeout=300)
    assert other.returncode == 0, err
    assert len(shell.pairs(run_id)) == len(set(shell.pairs(run_id))) == ALL
    whole = statuses.read(folder / "status.json")
    assert whole is not None
    assert (whole.state, whole.done) == ("done", ALL)
    assert parts(shell, run_id) == 1
    assert not statuses.read_shards(folder)


def test_two_runs_at_once_on_one_store(shell: Shell) -> None:
    words = ("run", "runner.lamp:BENCHMARK", "--json", "--quiet", "--trials", "3", "--workers", "1", *BRISK, "--model")
    other = shell.start(*words, "simulated:strong")
    wait_for(lambda: any(parts(shell, path.name) for path in (shell.home / "runs").glob("run-*")))
    ours = shell.call(*words, "simulated:weak")
    out, err = other.communicate(timeout=300)
    for code, told, fault in ((ours.returncode, ours.stdout, ours.stderr), (other.returncode, out, err)):
        assert code == 0, fault
        (entry,) = json.loads(told.splitlines()[-1])["runs"]
        assert entry["done"] == 3 * ALL == len(set(shell.pairs(entry["run"])))


def test_several_models_share_a_group(shell: Shell) -> None:
    words = ("--model", "simulated:strong", "--model", "simulated:weak", "--json", "--limit", "5")
    said = shell.call("run", "runner.lamp:BENCHMARK", *words)
    entries = json.loads(said.stdout.splitlines()[-1])["runs"]
    assert [entry["model"] for entry in entries] == ["simulated:strong", "simulated:weak"]
    runs = [json.loads((shell.folder(entry["run"]) / "run.json").read_text()) for entry in entries]
    assert runs[0]["group"] == runs[1]["group"] is not None
    assert shell.pairs(runs[0]["id"]) == shell.pairs(runs[1]["id"])


def test_a_bug_in_a_worker_is_shown_and_the_rest_kept(shell: Shell) -> None:
    words = ("--model", "simulated:strong", "--trials", "2", "--option", "crash_on=5", "--workers", "2")
    said = shell.run("run", "runner.lamp:BENCHMARK", *words, "--concurrency", "1")
    assert said.returncode == 1
    assert "ZeroDivisionError: lamp 5 is a bug" in said.stderr
    (folder,) = (path.parent for path in (shell.home / "runs").glob("*/run.json"))
    status = statuses.read(folder / "status.json")
    assert status is not None
    assert status.state == "failed"
    assert status.done == len(shell.pairs(folder.name)) < 2 * ALL


def test_a_worker_that_is_killed_leaves_a_run_to_resume(shell: Shell) -> None:
    run_id = shell.plan("--model", "simulated:strong", "--option", "die_on=5")
    said = shell.run("run", "--resume", run_id, "--workers", "2")
    assert said.returncode == 1
    assert "died (exit code 9); finish with --resume" in said.stderr
    status = statuses.read(shell.folder(run_id) / "status.json")
    assert status is not None
    assert status.state == "failed"
    assert "worker" in status.message


def test_a_run_is_worked_on_by_one_process(shell: Shell) -> None:
    run_id = shell.plan("--model", "simulated:strong")
    with lock.hold_run(shell.folder(run_id)):
        # It waits for its turn, and finds the run done by others or gives up with one line.
        said = shell.call("run", "--resume", run_id)
    assert said.returncode == 2
    assert said.stderr.strip() == (
        f"cxlab: run {run_id} is being worked on by another process (pid {os.getpid()}); wait for it or cancel it"
    )


def test_shards_of_two_splits_do_not_meet(tmp_path: Path) -> None:
    with lock.hold_shard(tmp_path, (1, 3)):
        with lock.hold_shard(tmp_path, (2, 3), 0):
            pass
        with pytest.raises(Busy, match=r"shard 1/3 of run .* is being worked on"), lock.hold_shard(tmp_path, (1, 3), 0):
            pass
        with pytest.raises(Busy, match="another split"), lock.hold_shard(tmp_path, (2, 4), 0):
            pass
        with pytest.raises(Busy, match="is being worked on by"), lock.hold_run(tmp_path, 0):
            pass
    with lock.hold_run(tmp_path, 0), pytest.raises(Busy, match="as a whole"), lock.hold_shard(tmp_path, (1, 3), 0):
        pass


def test_scoring_again_keeps_the_dialogues(shell: Shell) -> None:
    said = shell.call(
        "run", "runner.lamp:BENCHMARK", "--model", "simulated:base", "--trials", "2", "--workers", "1", "--json"
    )
    source = result(said)["run"]
    said = shell.call("score", source, "--judge", "simulated:judge-fair", "--json")
    assert said.returncode == 0, said.stderr
    again = result(said)
    assert (again["state"], again["done"], again["mean"]) == ("done", 2 * ALL, result(said)["mean"])
    record = json.loads((shell.folder(again["run"]) / "run.json").read_text())
    assert (record["setup"]["rescored_from"], record["judges"]) == (source, ["simulated:judge-fair"])
    assert content(shell, again["run"], "messages").equals(content(shell, source, "messages"))
    assert content(shell, again["run"], "failures").equals(content(shell, source, "failures"))
    assert set(shell.read(again["run"], "votes")["judge"]) == {"simulated:judge-fair"}
    # What was paid for once is counted once.
    attempts = shell.read(again["run"])
    assert attempts["calls"].sum() == 0
    assert attempts["cached_calls"].sum() == 2 * ALL


def test_scoring_again_is_resumed_like_any_run(shell: Shell) -> None:
    source = result(shell.call("run", "runner.lamp:BENCHMARK", "--model", "simulated:base", "--json"))["run"]
    again = result(shell.call("score", source, "--judge", "simulated:judge-fair", "--json"))["run"]
    whole = shell.pairs(again)
    part = next((shell.folder(again) / "parts").glob("*/attempts.parquet"))
    pl.read_parquet(part).filter(pl.int_range(pl.len()) % 3 == 0).write_parquet(part)
    assert len(shell.pairs(again)) == 8
    assert shell.call("run", "--resume", again, "--quiet").returncode == 0
    assert shell.pairs(again) == whole
