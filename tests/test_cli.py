"""The command line: what it says, what it leaves behind, and with which exit code."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from llm.fault_server import FaultServer
from runner.shell import Shell, make_shell

from cxlab.benchmarks.contract import Demo, DemoRun
from cxlab.benchmarks.generation.stages import Progress, finish
from cxlab.benchmarks.scores import gold_check
from cxlab.errors import NotConfigured
from cxlab.runner import demo, workers
from cxlab.runner import launch as launching
from cxlab.runner.display.runs import NoDisplay
from cxlab.runner.estimate import estimate
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.loaded_run import open_run
from cxlab.runner.plan import SampleFilter, find_benchmark
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import write

Call = Callable[..., subprocess.CompletedProcess[str]]
LAMP = "runner.lamp:BENCHMARK"
ALL = 24


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return make_shell(tmp_path / "home", monkeypatch)


@pytest.fixture
def call(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Call:
    for name in ("PYTHONPATH", "CXLAB_TEST_KEY"):  # for what these tests do beside the command line
        monkeypatch.setenv(name, shell.environment[name])
    return shell.call


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def test_help_loads_nothing_heavy(shell: Shell) -> None:
    heavy = ["polars", "duckdb", "openai", "langchain", "numpy", "pydantic", "rich", "streamlit", "asyncio"]
    code = f"import sys, cxlab.cli; print([name for name in {heavy} if name in sys.modules])"
    said = shell.python("-c", code)
    assert said.stdout.strip() == "[]", said.stderr


@pytest.mark.parametrize(
    "command",
    [
        "demo",
        "generate",
        "run",
        "score",
        "rejudge",
        "patch",
        "check",
        "convert",
        "export",
        "models",
        "bench",
        "app",
        "runs",
    ],
)
def test_every_command_has_help(shell: Shell, call: Call, command: str) -> None:
    said = call(command, "--help")
    assert said.returncode == 0
    assert f"cxlab {command}" in said.stdout


MISTAKES = {
    "benchmark": (
        ["run", "nonsense", "--model", "simulated:strong"],
        "unknown benchmark 'nonsense'; known: cdr, crmarena, cxmarena, mmtaup2, sage",
    ),
    "model": (["run", LAMP, "--model", "simulated:nobody"], "unknown simulated model 'nobody'; known: base, "),
    "no model": (["run", LAMP], "--model"),
    "judge": (["run", LAMP, "--model", "simulated:weak", "--judge", "judge"], "unknown model 'judge'; known: "),
    "scenario": (["run", LAMP, "--model", "simulated:weak", "--scenario", "attic"], "known: hall, kitchen"),
    "level": (["run", LAMP, "--model", "simulated:weak", "--level", "none"], "known: weak, zero"),
    "option": (["run", LAMP, "--model", "simulated:weak", "--option", "x=1"], "unknown option 'x'; known: crash_on, "),
    "flag": (
        ["run", LAMP, "--model", "simulated:weak", "--x=1"],
        f"unknown setting of {LAMP} '--x'; known: --crash-on",
    ),
    "flag first": (["run", "--turns", "3", "sage"], "'--turns': name the benchmark before its own switches"),
    "flag of a run": (
        ["run", "sage", "--model", "simulated:weak", "--turns=x"],
        "turns=x: give a whole number from 1 to 200",
    ),
    "option form": (["run", LAMP, "--model", "simulated:weak", "--option", "x"], "must be key=value"),
    "dataset": (["run", LAMP, "--model", "simulated:weak", "--dataset", "d"], "unknown dataset 'd'"),
    "limit": (["run", LAMP, "--model", "simulated:weak", "--limit", "0"], "--limit 0: must be a whole number"),
    "budget": (["run", LAMP, "--model", "simulated:weak", "--budget", "0"], "--budget 0.0: must be an"),
    "run": (["run", "--resume", "run-1"], "unknown run 'run-1'; known: none yet"),
    "shard": (["run", "--resume", "run-1", "--shard", "5/4"], "--shard '5/4': must be I/N"),
    "shard of nothing": (["run", LAMP, "--model", "simulated:weak", "--shard", "1/4"], "--plan"),
    "engine": (["run", LAMP, "--model", "simulated:weak", "--engine", "dask"], "known are local, ray"),
    "score": (["score", "run-1", "--judge", "simulated:judge-fair"], "unknown run 'run-1'"),
    "check": (["check", "nonsense"], "unknown benchmark or dataset 'nonsense'; known: cdr, crmarena"),
    "convert": (["convert", "missing.txt"], "missing.txt: does not exist"),
    "bench": (["bench", "nonsense"], "known are runner, pages, sessions, storage"),
    "delete": (["runs", "delete", "run-1"], "unknown run 'run-1'"),
    "restore": (["runs", "restore", "run-1"], "unknown deleted run 'run-1'"),
    "export": (["export", "run-1", "--to", "out"], "unknown run 'run-1'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(shell: Shell, call: Call, name: str) -> None:
    words, expected = MISTAKES[name]
    said = call(*words)
    assert said.returncode == 2, said.stderr
    assert len(said.stderr.splitlines()) == 1
    assert expected in said.stderr
    assert not list((shell.home / "runs").glob("run-*"))  # nothing is left behind


def test_outcomes_add_up_whatever_the_server_does(shell: Shell, call: Call, server: FaultServer) -> None:
    def reply(body: dict[str, Any]) -> str:
        number = int(body["messages"][-1]["content"].split()[1].rstrip(":"))
        return "It is on." if number % 7 == 3 else '{"intent": "on"}'

    scene = server.scene("status", status=401, message="who are you", times=5, reply=reply)
    shell.endpoint(scene.url)
    words = ("--model", "endpoint:test", "--concurrency", "1", "--json", "--customer", "simulated:customer")
    said = call("run", LAMP, *words)
    assert said.returncode == 0, said.stderr
    (entry,) = json.loads(said.stdout.splitlines()[-1])["runs"]
    fields = ["run", "model", "planned", "done", "ok", "format", "provider", "mean", "cost_usd", "unstored_usd"]
    fields += ["known_usd", "unanswered", "unanswered_usd", "cost_by_role", "tokens_by_role", "seconds", "state"]
    assert list(entry) == fields
    # Who was refused was answered.
    assert (entry["known_usd"], entry["unanswered"]) == (entry["cost_usd"], 0)
    assert entry["provider"] == 5
    assert entry["format"] >= 1
    assert entry["ok"] + entry["format"] + entry["provider"] == entry["planned"] == entry["done"] == ALL
    attempts = shell.read(entry["run"])
    assert attempts.filter(outcome="provider")["failure"].to_list() == ["provider:auth"] * 5
    # 100 and 20 tokens at these prices are one cent a call that was answered.
    assert entry["cost_usd"] == pytest.approx(0.01 * (ALL - 5))
    # Nothing is unknown: a fault delivers nothing, and lamps have customers that are never asked.
    assert entry["cost_by_role"] == {"agent": pytest.approx(entry["cost_usd"]), "customer": 0.0, "judge": 0.0}
    assert entry["tokens_by_role"]["customer"] == entry["tokens_by_role"]["judge"] == 0


def test_provider_faults_are_tried_again_in_a_new_run(shell: Shell, call: Call, server: FaultServer) -> None:
    scene = server.scene("status", status=401, times=7, reply='{"intent": "on"}')
    shell.endpoint(scene.url)
    words = ("--model", "endpoint:test", "--concurrency", "3", "--json", "--judge", "simulated:judge-fair")
    (old,) = json.loads(call("run", LAMP, *words).stdout.splitlines()[-1])["runs"]
    assert old["provider"] == 7
    said = call("run", "--retry-failed", old["run"], "--json")
    assert said.returncode == 0, said.stderr
    (new,) = json.loads(said.stdout.splitlines()[-1])["runs"]
    assert (new["state"], new["ok"], new["provider"]) == ("done", ALL, 0)
    assert scene.calls == ALL + 7
    # What was paid for in the old run is not counted again, and the old run is as it was.
    assert new["cost_usd"] == pytest.approx(0.07)
    assert shell.read(old["run"]).filter(outcome="provider").height == 7
    assert shell.pairs(new["run"]) == shell.pairs(old["run"])
    for table in ("scores", "votes"):
        rows = shell.read(new["run"], table)
        assert rows.height == rows["attempt_id"].n_unique() == ALL
    assert shell.read(new["run"], "scores")["value"].null_count() == 0
    said = call("run", "--retry-failed", new["run"])
    assert said.returncode == 2
    assert "holds no provider faults" in said.stderr


def test_budget_stops_and_a_larger_one_goes_on(shell: Shell, call: Call, server: FaultServer) -> None:
    scene = server.scene("ok", reply='{"intent": "on"}')
    shell.endpoint(scene.url)
    said = call("run", LAMP, "--model", "endpoint:test", "--concurrency", "2", "--budget", "0.1", "--json")
    assert said.returncode == 3
    (entry,) = json.loads(said.stdout.splitlines()[-1])["runs"]
    assert (entry["state"], entry["provider"]) == ("stopped", 0)
    assert 9 <= entry["done"] == len(shell.pairs(entry["run"])) <= 11
    assert scene.calls <= 11
    said = call("run", "--resume", entry["run"], "--budget", "5", "--quiet", "--json")
    assert said.returncode == 0, said.stderr
    (entry,) = json.loads(said.stdout.splitlines()[-1])["runs"]
    assert (entry["state"], entry["ok"]) == ("done", ALL)
    assert entry["cost_usd"] == pytest.approx(0.01 * ALL)
    assert scene.calls == ALL


def test_concurrency_is_reached_at_the_server(shell: Shell, call: Call, server: FaultServer) -> None:
    scene = server.scene("ok", reply='{"intent": "on"}', latency_s=0.3)
    shell.endpoint(scene.url)
    # Each model of its own kind is first asked alone to find out what the server can do; trials make up for it.
    said = call("run", LAMP, "--model", "endpoint:test", "--concurrency", "20", "--trials", "3", "--quiet")
    assert said.returncode == 0, said.stderr
    assert scene.peak == 20


def test_cached_replies_are_not_asked_for_again(shell: Shell, call: Call, server: FaultServer) -> None:
    scene = server.scene("ok", reply='{"intent": "on"}')
    shell.endpoint(scene.url)
    words = ("run", LAMP, "--model", "endpoint:test", "--cache", "--json")
    first, second = (json.loads(call(*words).stdout.splitlines()[-1])["runs"][0] for _ in range(2))
    assert scene.calls == ALL
    assert (first["ok"], second["ok"]) == (ALL, ALL)
    assert (first["cost_usd"], second["cost_usd"]) == (pytest.approx(0.01 * ALL), 0.0)


def test_generated_dataset_is_run_by_its_id(shell: Shell, call: Call) -> None:
    said = call("generate", LAMP, "--option", "copies=1", "--seed", "3")
    assert said.returncode == 0, said.stderr
    dataset = said.stdout.partition(":")[0]
    words = ("--dataset", dataset, "--json", "--level", "zero", "--trials", "2")
    (entry,) = json.loads(call("run", LAMP, "--model", "simulated:weak", *words).stdout)["runs"]
    assert entry["planned"] == 12
    assert call("generate", LAMP, "--option", "copies=1", "--seed", "3").stdout == said.stdout


def test_plain_lines_where_there_is_no_terminal(shell: Shell, call: Call) -> None:
    said = call("run", LAMP, "--model", "simulated:strong")
    assert "\x1b" not in said.stderr + said.stdout
    assert f"simulated:strong: done {ALL}/{ALL}" in said.stderr
    assert f"done, {ALL} of {ALL} (" in said.stdout
    assert call("run", LAMP, "--model", "simulated:strong", "--quiet").stderr == ""


def test_runs_are_listed_deleted_and_restored(shell: Shell, call: Call) -> None:
    assert "python -m cxlab demo" in call("runs", "list").stdout
    run_id = json.loads(call("run", LAMP, "--model", "simulated:strong", "--json").stdout)["runs"][0]["run"]
    planned = shell.plan("--model", "simulated:weak")
    rows = {row["run"]: row for row in json.loads(call("runs", "list", "--json").stdout)}
    assert (rows[run_id]["state"], rows[run_id]["done"]) == ("done", ALL)
    assert (rows[planned]["state"], rows[planned]["done"]) == ("planned", 0)
    assert call("runs", "delete", run_id).returncode == 0
    assert run_id not in call("runs", "list").stdout
    assert call("runs", "restore", run_id).returncode == 0
    assert run_id in call("runs", "list").stdout
    assert len(shell.pairs(run_id)) == ALL


def test_check_names_file_and_line(shell: Shell, call: Call, tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("id: broken\nstages: [\n")
    said = call("check", "sage", str(path))
    assert said.returncode == 1
    assert re.fullmatch(r"\S*broken\.yaml:\d+: .+; .+\n", said.stdout)


def test_demo_is_built_once_resumed_and_rebuilt(shell: Shell, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", shell.environment["PYTHONPATH"])
    lamps = Demo({}, (DemoRun(("simulated:strong", "simulated:weak"), None, ("simulated:judge-fair",)),))

    def prepare(force: bool = False) -> tuple[list[str], int]:
        return finish(demo.prepare_slice(LAMP, lamps, force))

    ids, left = prepare()
    assert (len(ids), left) == (2, 2 * ALL)
    (shell.folder(ids[0]) / "CANCEL").touch()
    launch(ids[1:], ExecutionOptions(quiet=True, workers=2))
    # Half of it is there: the same runs go on.
    assert prepare() == (ids, ALL)
    outcomes = launch(ids, ExecutionOptions(quiet=True, workers=2))
    assert [each.status.state for each in outcomes] == ["done", "done"]
    assert prepare() == (ids, 0)
    again, left = prepare(force=True)
    assert left == 2 * ALL
    assert not set(again) & set(ids)
    assert {run.id for run in write.list_runs()} == set(again)


def test_slices_are_prepared_beside_the_work_on_the_first(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", shell.environment["PYTHONPATH"])
    one, other = (Demo({}, (DemoRun((f"simulated:{name}",), None, ()),)) for name in ("strong", "weak"))
    with demo.prepare_beside([(LAMP, one), (LAMP, other)]) as prepared:
        ids, left = prepared.result(60)
    assert [run.model for run in map(write.load_run, ids)] == ["simulated:strong", "simulated:weak"]
    assert left == 2 * ALL
    assert gold_check.load(write.load_run(ids[0]).dataset_id) is not None
    # Work that was stopped leaves the rest unmade: at most the step under way is finished.
    began, stopped = threading.Event(), threading.Event()

    def steps(*given: Any) -> Iterator[Progress]:
        began.set()
        assert stopped.wait(60)
        yield Progress("samples", 0, 1)
        raise AssertionError("it went on")

    monkeypatch.setattr(demo, "prepare_slice", steps)
    with demo.prepare_beside([(LAMP, one)]) as prepared:
        assert began.wait(60)
        threading.Timer(0.1, stopped.set).start()
    assert prepared.result(60) == ([], 0)


def test_simulated_runs_get_processes_whatever_else_is_worked_on(
    shell: Shell, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = RunRequest(LAMP, ("simulated:strong", "simulated:weak"), choice=SampleFilter(limit=4))
    ids = [run.id for run in create_runs(order)]
    monkeypatch.setattr(launching, "is_simulated", lambda run: run.model != "simulated:weak")
    split: list[str] = []

    def work(opened: Any, *told: Any, **more: Any) -> list[Any]:
        split.extend(each.run.model for each in opened)
        return launching.work_alone(opened, NoDisplay())

    monkeypatch.setattr(workers, "work_in_processes", work)
    outcomes = launch(ids, ExecutionOptions(quiet=True, workers=2))
    assert split == ["simulated:strong"]
    assert {each.run_id: each.status.state for each in outcomes} == dict.fromkeys(ids, "done")


def test_every_benchmark_brings_a_slice_of_the_demo(shell: Shell) -> None:
    slices = demo.list_slices()
    assert [name for name, _ in slices] == ["sage", "mmtaup2", "cxmarena", "cdr", "crmarena"]
    for name, each in slices:
        assert not find_benchmark(name).own_data or finish(demo.prepare_slice(name, each))[1] > 100
        assert find_benchmark(name).GenerateOptions.read(each.generate)
        models = [model for run in each.runs for model in (*run.models, *run.judges)]
        assert {model.partition(":")[0] for model in models} <= {"simulated", "retriever"}


def test_estimate_is_stated_as_assumed_then_measured(
    shell: Shell, call: Call, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = server.scene("ok", reply='{"intent": "on"}')
    shell.endpoint(scene.url)
    monkeypatch.setenv("CXLAB_TEST_KEY", "none")
    order = RunRequest(LAMP, ("endpoint:test",), choice=SampleFilter(limit=10), trials=2)
    (before,) = estimate(order)
    # Where no customer takes part there is no dialogue to assume.
    assert (before.attempts, before.calls) == (20, 20)
    assert before.basis.startswith("assumed: 1 question a sample")
    assert before.cost_usd == pytest.approx(20 * (1200 * 50 + 200 * 250) / 1e6)
    assert call("run", LAMP, "--model", "endpoint:test", "--quiet").returncode == 0
    (after,) = estimate(order)
    (agent,) = after.roles
    assert (agent.role, agent.calls, agent.prompt_tokens, agent.completion_tokens) == ("agent", 20, 2000, 400)
    assert after.cost_usd == pytest.approx(0.2)
    assert after.basis == "means of earlier runs of this model"
    assert "20 attempts, about 20 calls, 2,400 tokens, $0.20" in after.describe()


def test_ray_absent_is_said_with_the_remedy(shell: Shell, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(NotConfigured, match="pip install ray"):
        workers.work_on_ray([], 2, NoDisplay())


def test_ray_gets_the_same_shards(shell: Shell, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a stand-in with Ray's calls, for Ray is no requirement; the test below asks Ray itself."""
    sent: list[tuple[Any, ...]] = []

    def remote(**options: Any) -> Any:
        def wrap(function: Any) -> Any:
            def call(*words: Any) -> Any:
                sent.append(words)
                return SimpleNamespace(value=function(*words))

            return SimpleNamespace(remote=call)

        return wrap

    ray = SimpleNamespace(
        init=lambda **options: None,
        remote=remote,
        wait=lambda futures, timeout: (futures[:1], futures[1:]),
        get=lambda futures: [future.value for future in futures],
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    (run,) = create_runs(RunRequest(LAMP, ("simulated:strong",), judges=("simulated:judge-fair",)))
    (outcome,) = workers.work_on_ray([open_run(run.id)], 3, NoDisplay())
    assert [words[1] for words in sent] == [(1, 3), (2, 3), (3, 3)]
    assert (outcome.status.state, outcome.status.done) == ("done", ALL)
    assert len(shell.pairs(run.id)) == len(set(shell.pairs(run.id))) == ALL
    assert os.environ["CXLAB_HOME"] == str(shell.home)


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install ray")
def test_ray_itself_comes_to_the_same_as_processes_here(shell: Shell) -> None:
    for engine in ("local", "ray"):
        done = shell.run("run", LAMP, "--model", "simulated:strong", "--workers", "2", "--engine", engine)
        assert done.returncode == 0, done.stderr
    one, other = (shell.read(run.id, "scores").drop("run_id", "attempt_id").sort(pl.all()) for run in write.list_runs())
    assert one.height >= ALL
    assert one.equals(other)


FAILING = (
    ("generate", "nothing-of-that-name"),
    ("generate", "cdr", "--size", "-1"),
    ("run", "sage", "--model", "nobody:nothing"),
    ("run", "--resume", "nowhere"),
    ("run", "sage", "--model"),
    ("score", "nowhere", "--judge", "simulated:judge-fair"),
    ("rescore", "nowhere"),
    ("rejudge", "nowhere"),
    ("runs", "show", "nowhere"),
    ("compare", "sage", "--dataset", "nowhere"),
    ("check", "nowhere"),
    ("prompts", "nothing-of-that-name"),
    ("answers", "nowhere"),
)


@pytest.mark.parametrize("words", FAILING, ids=" ".join)
def test_with_json_a_failure_is_the_last_line_with_its_reason(shell: Shell, call: Call, words: tuple[str, ...]) -> None:
    said = call(*words, "--json")
    assert said.returncode in (1, 2, 3)
    (line,) = said.stdout.splitlines()
    told = json.loads(line)
    assert told["state"] == "failed"
    assert f"cxlab: {told['reason']}" in said.stderr or "error output" in told["reason"]
    assert told.get("dataset", "") == (None if words[0] == "generate" else "")
    assert told.get("runs", "") == ([] if words[0] == "run" else "")
