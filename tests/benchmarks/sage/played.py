"""Whole dialogues of stand-ins, without a panel."""

import asyncio
from collections.abc import Iterable
from typing import Any

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.sage.benchmark import BENCHMARK
from cxlab.llm import load
from cxlab.records import Attempt, Sample

MODELS = ("strong", "weak", "curt")
EVERY = 4
"""Of the samples every fourth is played: a way through each procedure has three levels, so that all levels are met."""


def setup_of(model: str, seed: int = 0, options: Any = None) -> Setup:
    return Setup(load(f"simulated:{model}"), load("simulated:customer"), (), "r", seed, options or BENCHMARK.Options())


def play(model: str, samples: Iterable[Sample], options: Any = None, trial: int = 0, seed: int = 0) -> list[Attempt]:
    setup = setup_of(model, seed, options)

    async def go() -> list[Attempt]:
        return [await BENCHMARK.run(sample, setup, trial) for sample in samples]

    return asyncio.run(go())
