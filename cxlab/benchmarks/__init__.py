"""The benchmarks, by name. Each is imported when it is first asked for; a broken one fails with its own error."""

import importlib
from collections.abc import Iterator, Mapping

from cxlab.benchmarks.contract import Benchmark
from cxlab.errors import UnknownName


class Registry(Mapping[str, Benchmark]):
    """Name → benchmark; the names are known without importing anything."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = dict(modules)

    def __getitem__(self, name: str) -> Benchmark:
        found: Benchmark = importlib.import_module(self.modules[name]).BENCHMARK
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.modules

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)


REGISTRY = Registry(
    {
        "sage": "cxlab.benchmarks.sage.benchmark",
        "cxmarena": "cxlab.benchmarks.cxmarena.benchmark",
        "mmtaup2": "cxlab.benchmarks.mmtaup2.benchmark",
    }
)


def get(name: str) -> Benchmark:
    """The benchmark of that name; raises UnknownName."""
    if name not in REGISTRY:
        raise UnknownName("benchmark", name, REGISTRY)
    return REGISTRY[name]
