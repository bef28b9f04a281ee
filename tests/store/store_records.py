"""Records for the tests of the store, and programs that child processes run."""

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cxlab.records import (
    Attempt,
    Dataset,
    Failure,
    Judgement,
    Message,
    Run,
    Sample,
    Score,
    SingleJudgeTrace,
    ToolCall,
    Trace,
    Usage,
    Vote,
)

ROOT = Path(__file__).parents[2]
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
MESSAGES, SCORES, SAMPLES = 4, 6, 40


@dataclass(frozen=True)
class Scored:
    scores: tuple[Score, ...] = ()
    votes: tuple[Vote, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    traces: tuple[Trace, ...] = ()
    verdict: None = None


def make_dataset(id: str = "d1") -> Dataset:
    return Dataset(
        id=id,
        benchmark="sage",
        name="tiny",
        source="generated",
        config={"n": SAMPLES},
        seed=3,
        licence="CC0",
        created=NOON,
    )


def make_samples(dataset_id: str = "d1") -> list[Sample]:
    return [
        Sample(
            id=f"s{i}",
            dataset_id=dataset_id,
            benchmark="sage",
            task="dialogue",
            inputs={"n": i, "text": "ä"},
            expected={"path": ["stage1"], "deep": {"x": None}},
            facets={"scenario": ("telecom_package", "airline_refund")[i % 2], "level": "weak", "leaf": f"leaf{i % 3}"},
        )
        for i in range(SAMPLES)
    ]


def samples_by_id() -> dict[str, Sample]:
    return {sample.id: sample for sample in make_samples()}


def make_run(id: str = "r1", simulated: bool = True) -> Run:
    return Run(
        id=id,
        benchmark="sage",
        model="simulated:strong" if simulated else "openai:gpt-4.1",
        simulated=simulated,
        setup={"turns": 3, "rescored_from": None},
        judges=("j1", "j2"),
        dataset_id="d1",
        seed=7,
        trials=2,
        planned=80,
        prompts={"agent": "abc"},
        code="0.1.0",
        group="pair",
        created=NOON,
    )


def make_attempt(number: int, run_id: str = "r1", text: str = "My parcel is lost") -> tuple[Attempt, Scored]:
    """Attempt `number` of sample number % 40 with rows in every table."""
    key = f"{run_id}-a{number:05d}"
    call = ToolCall(id="c1", name="look_up", arguments='{"order": "O\'1"}')
    messages = tuple(
        Message(
            role="agent" if i % 2 else "customer",
            text=f"{text} {number}.{i}",
            turn=i // 2 + 1,
            tool_calls=(call,) if i == 1 else (),
            data={"mood": "calm"} if i == 2 else {},
        )
        for i in range(MESSAGES)
    )
    failures = (
        Failure(where="format", type="no_json", message="the reply has no object", turn=2),
        Failure(where="judge", type="timeout", message="no answer", retryable=True),
    )
    attempt = Attempt(
        id=key,
        run_id=run_id,
        sample_id=f"s{number % SAMPLES}",
        trial=number // SAMPLES,
        messages=messages,
        output={"action": "Refund", "n": number},
        outcome="format",
        ended_by="max_turns",
        failures=failures,
        usage=Usage(prompt_tokens=10, completion_tokens=None, calls=3, retries=1, cached_calls=2),
        latency_s=1.25,
        cost_usd=0.002,
        started=NOON + timedelta(seconds=number),
    )
    scores = tuple(
        Score(
            attempt_id=key,
            turn=i // 2 + 1 if i < 4 else None,
            metric=("overall", "logic")[i % 2],
            value=float(number % 10 * 10 + i) if i != 3 else None,
            reason="unparsed" if i == 3 else None,
        )
        for i in range(SCORES)
    )
    votes = (
        Vote(
            attempt_id=key,
            turn=1,
            judge="j1",
            valid=True,
            raw='{"a": 1}',
            rationale="so",
            usage=Usage(prompt_tokens=5, completion_tokens=6, calls=1),
            latency_s=0.5,
            cost_usd=None,
        ),
        Vote(attempt_id=key, turn=1, judge="j2", valid=False, raw="", failure="provider:timeout"),
    )
    judgements = (
        Judgement(attempt_id=key, turn=1, judge="j1", kind="field", field="Intent", verdict="Cancel"),
        Judgement(
            attempt_id=key, turn=1, judge="j2", kind="dimension", field="empathy", verdict=None, status="missing"
        ),
    )
    traces = (
        Trace(
            attempt_id=key,
            turn=1,
            last=False,
            parsed=True,
            predicted_fields={"Intent": "Cancel"},
            panel_fields={"Intent": "Keep"},
            gold_fields={},
            predicted_path=("stage1", "stage3"),
            reference_path=("stage1", "stage2"),
            own_path=("stage1",),
            gold_path=(),
            predicted_action=None,
            moves=(("sync", "stage1"), ("inserted", "stage3"), ("skipped", "stage2")),
            error="execution",
            single_judges=(
                SingleJudgeTrace(
                    judge="j1", path=("stage1", "stage2"), action="Refund", scores={"kept": 60.0, "tone": 66.0}
                ),
                SingleJudgeTrace(judge="j2"),
            ),
        ),
        Trace(
            attempt_id=key,
            turn=2,
            last=True,
            parsed=True,
            predicted_path=("stage1", "stage2"),
            predicted_action="Refund",
            reference_action="Refund",
            error="none",
        ),
    )
    return attempt, Scored(scores, votes, judgements, traces)


def start_child(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Run a Python program in a process of its own, with cxlab and this module importable."""
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
