"""The smallest benchmark: one question, one score. It measures the runner (`bench runner`), not a model."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cxlab.benchmarks.contract import Benchmark, Card, Scored, Setup, Task
from cxlab.benchmarks.generation import make_at_once
from cxlab.benchmarks.single_answer import to_attempt
from cxlab.llm import Prompt, ask
from cxlab.records import Attempt, Dataset, Sample, Score, content_id


class Inputs(BaseModel):
    number: int


PROMPT = Prompt("probe", 1, Path(__file__).parent / "probe.md", Inputs, simulate="cxlab.bench.probe:answer")


def answer(inputs: Inputs, profile: Any, rng: Any) -> str:
    """What every simulated model replies."""
    return f"word {inputs.number}"


def generate(config: dict[str, Any], seed: int) -> tuple[Dataset, list[Sample]]:
    """`config["count"]` samples (1,000 by default), which differ in their number alone."""
    count = int(config.get("count", 1000))
    dataset_id = content_id("probe", count, seed)
    samples = [
        Sample(
            id=content_id(dataset_id, number),
            dataset_id=dataset_id,
            benchmark="probe",
            task="probe",
            inputs={"number": number},
            expected={},
        )
        for number in range(count)
    ]
    return Dataset(
        id=dataset_id,
        benchmark="probe",
        name=f"{count} probes",
        source="generated",
        config={"count": count},
        seed=seed,
        licence="MIT",
        created=datetime.now(UTC),
    ), samples


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """Ask once."""
    started = datetime.now(UTC)
    number = sample.inputs["number"]
    reply = await ask(setup.model, PROMPT, Inputs(number=number), seed=setup.seed + trial)
    return to_attempt(reply, sample, setup, trial, asked=f"Question {number}.", started=started)


async def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
    """How many words the reply has; not scored when there is none."""
    if attempt.outcome != "ok":
        return Scored((Score(attempt_id=attempt.id, turn=None, metric="words", value=None, reason=attempt.outcome),))
    words = float(len(attempt.messages[-1].text.split()))
    return Scored((Score(attempt_id=attempt.id, turn=None, metric="words", value=words),))


def check(sample: Sample) -> Iterable[str]:
    """Nothing can be wrong with a number."""
    return ()


BENCHMARK = Benchmark(
    card=Card(
        id="probe",
        title="Probe",
        measures="What the runner itself costs a call",
        paper="",
        licence="MIT",
        tasks=(Task("probe", "One question", "words", unit="words"),),
        metrics={"words": "Words of the reply."},
    ),
    generate=lambda options, context: make_at_once(*generate({}, context.seed)),
    run=run,
    score=score,
    check=check,
    prompts=lambda: {PROMPT.name: PROMPT.hash},
)
