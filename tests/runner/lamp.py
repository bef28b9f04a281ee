"""A small benchmark for tests: `runner.lamp:BENCHMARK`, found by subprocesses through PYTHONPATH."""

import asyncio
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from cxlab.benchmarks.contract import Benchmark, Card, Facet, Scored, Setup, Task
from cxlab.benchmarks.generation import Generation, GenerationContext, make_at_once
from cxlab.benchmarks.options import GenerateOptions, Options
from cxlab.benchmarks.single_answer import to_attempt
from cxlab.llm import Prompt, ask
from cxlab.records import Attempt, Dataset, Sample, Score, Vote, content_id

NAME = "runner.lamp:BENCHMARK"


class Inputs(BaseModel):
    number: int
    again: str


class Output(BaseModel):
    intent: str


PROMPT = Prompt(
    "lamp", 1, Path(__file__).parent / "lamp.md", Inputs, Output, simulate="runner.lamp:answer", repair=False
)


def answer(inputs: Inputs, profile: Any, rng: Any) -> str:
    """Now and then no JSON; else something that depends on the seed."""
    if inputs.number % 7 == 3:
        return "It is on, I think."
    return f'{{"intent": "on {rng.integers(1000)}"}}'


class LampOptions(Options):
    sleep_s: float = Field(0.0, ge=0, description="Wait before each answer.")
    crash_on: int | None = Field(None, description="The lamp that raises a bug.")
    die_on: int | None = Field(None, description="The lamp that ends its process.")


class LampDataset(GenerateOptions):
    copies: int = Field(2, ge=1, description="Lamps of each kind.")


def generate(options: LampDataset, context: GenerationContext) -> Generation:
    copies, seed = options.copies, context.seed
    dataset_id = content_id("lamp", copies, seed)
    facets = [
        {"scenario": scenario, "level": level, "leaf": leaf}
        for scenario in ("kitchen", "hall")
        for level in ("zero", "weak")
        for leaf in ("a", "b", "c")
        for _ in range(copies)
    ]
    samples = [
        Sample(
            id=content_id(dataset_id, number),
            dataset_id=dataset_id,
            benchmark="lamp",
            task="lamp",
            inputs={"number": number},
            expected={},
            facets=each,
        )
        for number, each in enumerate(facets)
    ]
    dataset = Dataset(
        id=dataset_id,
        benchmark="lamp",
        name="lamps",
        source="generated",
        config={"copies": copies},
        seed=seed,
        licence="MIT",
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return make_at_once(dataset, samples)


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    number = sample.inputs["number"]
    options = LampOptions.of(setup.options)
    if options.sleep_s:
        await asyncio.sleep(options.sleep_s)
    if number == options.crash_on:
        raise ZeroDivisionError(f"lamp {number} is a bug")
    if number == options.die_on:
        os._exit(9)
    reply = await ask(setup.model, PROMPT, Inputs(number=number, again=""), seed=setup.seed + trial)
    return to_attempt(reply, sample, setup, trial, asked=f"Lamp {number}?", started=datetime.now(UTC))


async def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
    """The whole attempt's length, and one vote a judge."""
    votes = tuple(Vote(attempt_id=attempt.id, turn=1, judge=j.name, valid=True, raw="fine") for j in setup.judges)
    length = float(len(attempt.messages[-1].text)) if attempt.outcome == "ok" else None
    return Scored((Score(attempt_id=attempt.id, turn=None, metric="length", value=length),), votes)


def check(sample: Sample) -> Iterable[str]:
    return ()


BENCHMARK = Benchmark(
    card=Card("lamp", "Lamp", "tests", "", "MIT", (Task("lamp", "lamp", "length"),), {"length": "length"}),
    generate=generate,
    run=run,
    score=score,
    check=check,
    prompts=lambda: {PROMPT.name: PROMPT.hash},
    Options=LampOptions,
    GenerateOptions=LampDataset,
    facets=tuple(Facet(name, name.title(), spread=True) for name in ("scenario", "level", "leaf")),
)
