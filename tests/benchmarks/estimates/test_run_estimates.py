"""What an estimate says before a run is what a server then counts, by role, with every role a real model."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from runner.shell import Shell, make_shell

from cxlab.read.runs import cost_by_role
from cxlab.runner.estimate import estimate
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest
from tests.benchmarks.strong_server import ROLES, StrongServer

FACTOR = 1.5
UNJUDGED = {"crmarena", "cdr"}  # answers are held against the gold, and no model is asked
# Benchmark, how many samples, whether it has a customer, its run's options.
RUNS: list[tuple[str, int, bool, dict[str, Any]]] = [
    ("sage", 8, True, {}),
    ("sage", 4, True, {}),
    ("sage", 2, True, {}),
    ("cxmarena", 20, False, {}),
    ("mmtaup2", 6, True, {}),
    ("mmtaup2", 6, True, {"judge_groups": ["adaptation"]}),
    ("crmarena", 3, False, {}),
    ("cdr", 4, False, {}),
]


@pytest.fixture(scope="module")
def server() -> Iterator[StrongServer]:
    with StrongServer() as running:
        yield running


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: StrongServer) -> Shell:
    made = make_shell(tmp_path / "home", monkeypatch)
    for counter in (server.calls, server.prompt, server.completion):
        counter.clear()
    return made


def close(expected: float, counted: float) -> bool:
    return counted / FACTOR <= expected <= counted * FACTOR


@pytest.mark.parametrize(
    ("benchmark", "limit", "talks", "options"), RUNS, ids=["-".join((run[0], str(run[1]), *run[3])) for run in RUNS]
)
def test_what_was_told_is_what_the_server_counts(
    shell: Shell,
    server: StrongServer,
    generated: Callable[[str, Path], str],
    benchmark: str,
    limit: int,
    talks: bool,
    options: dict[str, Any],
) -> None:
    dataset = generated(benchmark, shell.home)
    (shell.home / "models.toml").write_text(server.settings())
    customer = "endpoint:customer" if talks else None
    choice = SampleFilter(limit)
    judges = () if benchmark in UNJUDGED else ("endpoint:judge",)
    order = RunRequest(benchmark, ("endpoint:agent",), customer, judges, dataset, choice, trials=2, options=options)
    (told,) = estimate(order)
    words = ["run", benchmark, "--dataset", dataset, "--model", "endpoint:agent"]
    words += [word for judge in judges for word in ("--judge", judge)]
    words += ["--limit", str(limit), "--trials", "2", "--json", "--quiet"]
    words += [word for name, values in options.items() for word in ("--option", f"{name}={','.join(values)}")]
    said = shell.call(*words, *(("--customer", customer) if customer else ()))
    assert said.returncode == 0, said.stderr
    found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
    assert found["state"] == "done"
    rows = {row.role: row for row in told.roles}
    for role in ROLES[:3]:
        if (role == "customer" and not talks) or (role == "judge" and benchmark in UNJUDGED):
            assert role not in rows
            assert not server.calls[role]
            continue
        row, calls = rows[role], server.calls[role]
        assert calls > 0, role
        assert close(row.calls, calls), (role, row.calls, calls)
        assert close(row.prompt_tokens or 0, server.prompt[role]), (role, row.prompt_tokens, server.prompt[role])
        spoken = server.completion[role]
        assert close(row.completion_tokens or 0, spoken), (role, row.completion_tokens, spoken)
        # A dollar per million tokens: what the run says that it cost is what the server counted.
        paid = (server.prompt[role] + server.completion[role]) / 1e6
        assert found["cost_by_role"][role] == pytest.approx(paid)
        (spent,) = cost_by_role(found["runs"][0]["run"]).filter(role=role).iter_rows(named=True)
        assert (spent["calls"], spent["cost_usd"]) == (calls, pytest.approx(paid))
        assert (spent["prompt_tokens"], spent["completion_tokens"]) == (server.prompt[role], server.completion[role])
    # What was measured goes before what was rehearsed.
    (again,) = estimate(order)
    measured = {row.role: row for row in again.roles}
    assert again.basis == "means of earlier runs of this model"
    # So is the time: all that sound attempts waited for, judges side by side with the rest one after the other.
    run = found["runs"][0]["run"]
    sound = shell.read(run).filter(pl.col("outcome") == "ok")
    asked = [sound, *(shell.read(run, "votes") for _ in judges)]
    if talks:
        asked.append(shell.read(run, "messages").filter(pl.col("role") == "customer"))
    waited = sum(each.join(sound, on="attempt_id", how="semi")["latency_s"].sum() for each in asked)
    assert again.seconds is not None
    at_once = min(order.concurrency, again.attempts)
    assert again.seconds == pytest.approx(waited / sound.height * again.attempts / at_once)
    assert all(measured[role].calls == pytest.approx(server.calls[role], rel=0.15) for role in rows)
