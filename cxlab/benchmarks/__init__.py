"""The benchmarks, by name: reading beats scanning, and a broken import fails at once."""

from cxlab.benchmarks.base import Benchmark
from cxlab.benchmarks.cxmarena.benchmark import assemble as assemble_cxmarena
from cxlab.benchmarks.cxmarena.generate import generate as generate_cxmarena
from cxlab.benchmarks.sage.benchmark import BENCHMARK as SAGE
from cxlab.errors import UnknownName

REGISTRY: dict[str, Benchmark] = {b.card.id: b for b in (SAGE, assemble_cxmarena(generate_cxmarena))}


def get(name: str) -> Benchmark:
    """The benchmark of that name; raises UnknownName."""
    if name not in REGISTRY:
        raise UnknownName("benchmark", name, REGISTRY)
    return REGISTRY[name]
