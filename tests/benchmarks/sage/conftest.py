"""What tests of SAGE look at together."""

import pytest

from cxlab.benchmarks.sage.benchmark import BENCHMARK
from cxlab.records import Attempt, Sample
from tests.benchmarks.sage.played import EVERY, MODELS, play


@pytest.fixture(scope="session")
def samples() -> list[Sample]:
    return list(BENCHMARK.generate_now({}, 0)[1])


@pytest.fixture(scope="session")
def dialogues(samples: list[Sample]) -> dict[str, list[Attempt]]:
    """Model → its attempts at every fourth sample."""
    return {model: play(model, samples[::EVERY]) for model in MODELS}
