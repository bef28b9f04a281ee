"""SAGE against a real server that misbehaves: every attempt is retried or recorded as what it is."""

import asyncio
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.sage.benchmark import BENCHMARK
from cxlab.benchmarks.sage.score import rescore
from cxlab.benchmarks.sage.simulated.customer import go_by_card
from cxlab.benchmarks.sage.verdict import judge_attempt
from cxlab.llm import load
from cxlab.llm.base import Completion, ProviderFault, Request
from cxlab.records import Sample, Usage
from tests.llm.fault_server import FaultServer
from tests.runner.shell import Shell

KEY = "sk-very-secret-0123456789"
REPLY = json.dumps(
    {
        "fields": {
            "ConsumptionType": "Cancel",
            "ApplicationTendency": "Hesitate",
            "ConsumptionProfile": "Data",
            "EmotionTag": "Calm",
        },
        "path": ["stage1", "stage2", "stage5"],
        "action": "ChangeOrder",
        "reasoning": "**bold** <script>alert(1)</script>",
        "chat": "I will cancel it.",
    }
)
# Scene → how its settings differ, and what every attempt against it must be recorded as.
SCENES = {
    "ok": ({}, "ok"),
    "rate_limited": ({"times": 1}, "ok"),
    "rate_limited_with_hint": ({"mode": "rate_limited", "times": 1, "retry_after": "0.05"}, "ok"),
    "rate_limited_always": ({"mode": "rate_limited"}, "provider"),
    "server_error": ({}, "provider"),
    "hang": ({}, "provider"),
    "close": ({}, "provider"),
    "close_mid_reply": ({}, "provider"),
    "empty": ({}, "format"),
    "null": ({}, "format"),
    "refusal": ({}, "format"),
    "bad_utf8": ({}, None),
    "truncated": ({}, "format"),
    "no_usage": ({}, "ok"),
    "no_schema_500": ({}, "ok"),
    "ignores_schema": ({"reply": f"Sure! Here it is:\n```json\n{REPLY}\n```\nAnything else?"}, "ok"),
    "unauthorised": ({"mode": "status", "status": 401, "message": f"bad key {KEY}"}, "provider"),
    "oov": ({"mode": "ok", "reply": REPLY.replace('"Cancel"', '"Cancellation"')}, "format"),
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory):
    """One command, one run a scene: the summary line, the store's folder, what was printed."""
    home = tmp_path_factory.mktemp("home")
    with FaultServer() as server:
        lines, scenes = [], {}
        for name, (settings, _) in SCENES.items():
            scenes[name] = server.scene(
                settings.get("mode", name), **{"reply": REPLY, **{k: v for k, v in settings.items() if k != "mode"}}
            )
            lines.append(
                f'[endpoints.{name}]\nbase_url = "{scenes[name].url}"\nmodel = "tiny"\n'
                'key_variable = "CXLAB_TEST_KEY"\n'
                # Whoever answers may take its time on a busy machine.
                f"read_timeout_s = {0.6 if name == 'hang' else 60}\n"
                "attempts = 2\nlongest_wait_s = 0.1\nprompt_usd = 1.0\ncompletion_usd = 2.0\n"
            )
        models = home / "models.toml"
        models.write_text("\n".join(lines), encoding="utf-8")
        command = ["run", "sage", "--scenario", "telecom_package", "--limit", "3", "--workers", "1"]
        command += ["--turns", "2", "--judge", "simulated:judge-fair", "--json", "--quiet"]
        for name in SCENES:
            command += ["--model", f"endpoint:{name}"]
        shell = Shell(home)
        shell.environment |= {"CXLAB_MODELS": str(models), "CXLAB_TEST_KEY": KEY}
        done = shell.call(*command)
    assert done.stdout, done.stderr
    summary = json.loads(done.stdout.strip().splitlines()[-1])
    runs = {run["model"].removeprefix("endpoint:"): run for run in summary["runs"]}
    return runs, home, done.stdout + done.stderr, scenes, shell


@pytest.mark.parametrize("name", SCENES)
def test_each_attempt_is_recorded_as_what_it_is(outcome, name: str) -> None:
    run, wanted = outcome[0][name], SCENES[name][1]
    assert run["planned"] == 3
    assert run["ok"] + run["format"] + run["provider"] == 3
    assert run["done"] == 3
    if wanted:
        assert run[wanted] == 3, run
    else:
        assert run["ok"] == 0, run


def test_retries_really_ask_again(outcome) -> None:
    scenes = outcome[3]
    assert scenes["rate_limited_always"].calls == 3 * 2
    assert scenes["rate_limited"].calls == scenes["ok"].calls + 1


def test_the_cost_follows_from_the_reported_usage(outcome) -> None:
    runs = outcome[0]
    assert runs["ok"]["cost_usd"] > 0
    assert runs["no_usage"]["cost_usd"] in (None, 0)


def test_no_key_anywhere(outcome, tmp_path: Path) -> None:
    runs, home, printed, _, shell = outcome
    assert KEY not in printed
    ids = [run["run"] for run in runs.values()]
    for form in ("parquet", "csv", "jsonl"):
        said = shell.call("export", *ids, "--format", form, "--to", str(tmp_path / form))
        assert said.returncode == 0, said.stderr
        assert KEY not in said.stdout + said.stderr
    import polars as pl

    files = [*home.rglob("*"), *tmp_path.rglob("*")]
    assert len(files) > 20
    for path in files:
        if path.suffix == ".parquet":
            frame = pl.read_parquet(path)
            text = frame.select(pl.col(pl.String)).write_json()
            assert KEY not in text, path
        elif path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


class Customer:
    """A customer's model that goes by its card and whose replies cannot be used in the turns that are named."""

    name, simulated, prices = "customer", False, None

    def __init__(self, bad: Collection[int], fault: bool) -> None:
        self.bad, self.fault = bad, fault

    async def complete(self, request: Request) -> Completion:
        card: Any = request.inputs
        if 1 + len(card.history) // 2 not in self.bad:
            line = go_by_card(card)
            said = {"message": line.text, "told": line.told, "taken_back": line.taken_back, "done": line.done}
            return Completion(json.dumps(said), usage=Usage(calls=1))
        if self.fault:
            raise ProviderFault("bad_request", "the prompt was filtered")
        return Completion("Well, you see,", usage=Usage(calls=1))

    async def aclose(self) -> None: ...


@pytest.mark.parametrize(
    ("bad", "fault", "reason"),
    [
        ((2,), True, "customer's provider: request refused"),
        ((2, 3, 4), False, "unreadable customer"),
        ((1,), False, None),
        ((), False, None),
    ],
)
def test_a_customer_that_fails_moves_no_mean_of_the_agent(
    samples: list[Sample], bad: tuple[int, ...], fault: bool, reason: str | None
) -> None:
    sample = next(each for each in samples if len(each.inputs["facts"]) > 3)
    judges = (load("simulated:judge-fair"),)
    setup = Setup(load("simulated:strong"), Customer(bad, fault), judges, "r", 0, BENCHMARK.Options())
    attempt = asyncio.run(BENCHMARK.run(sample, setup, 0))
    scored = asyncio.run(BENCHMARK.score(sample, attempt, setup))
    own = {score.metric: score for score in scored.scores if score.turn is None}
    for metric in ("overall", "logic", "chat", "told", "truth", "skill", "overall_zero", "format_error_rate"):
        assert (own[metric].value is None) == (reason is not None), metric
        assert own[metric].reason == reason
    verdict = judge_attempt(sample.task, attempt, scored)
    if bad:
        assert (verdict.value, verdict.owner) == ("unscored", "provider" if fault else "customer")
    # What the dialogue outlived empties the turn that it befell, and no other.
    empty = {score.turn for score in scored.scores if score.metric == "logic_zero" and score.value is None}
    evaluated = {score.turn for score in scored.scores if score.turn is not None}
    assert empty == (evaluated if reason else set(bad))
    again = rescore(sample, attempt, scored, setup)
    assert [row.value for row in again.scores] == [row.value for row in scored.scores]
