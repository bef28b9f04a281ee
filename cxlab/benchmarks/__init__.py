"""The benchmarks, by name. Each is imported when it is first asked for; a broken one fails with its own error."""

import importlib
import sys
import threading
from collections.abc import Callable, Container, Iterator, Mapping

from cxlab import llm
from cxlab.benchmarks.contract import Benchmark
from cxlab.benchmarks.installed import LeftOut, find_installed
from cxlab.errors import UnknownName
from cxlab.llm import KnownModel
from cxlab.llm.registry import add_kind, add_simulated
from cxlab.records import cluster, metric_names, procedure
from cxlab.retrieval.retriever_model import KIND

Find = Callable[[Container[str]], tuple[dict[str, Benchmark], list[LeftOut]]]
"""Names that are taken → what else is there, and what of it is left out."""


class Registry(Mapping[str, Benchmark]):
    """Name → benchmark. Those of `modules` are known without importing anything; what other packages bring is imported
    when names are asked for that are not among them, and what is wrong with one is said and kept in `left_out`."""

    def __init__(self, modules: Mapping[str, str], find: Find | None = None) -> None:
        self.modules = dict(modules)
        self._find = find
        self._installed: dict[str, Benchmark] = {}
        self._left_out: list[LeftOut] = []
        # Pages are threads; a package that asks for names while it is imported is answered without itself.
        self._lock = threading.RLock()

    def _look(self) -> dict[str, Benchmark]:
        with self._lock:
            if (find := self._find) is not None:
                self._find = None
                self._installed, self._left_out = find(self.modules)
                for each in self._left_out:
                    print(f"cxlab: {each.describe()}", file=sys.stderr)
            return self._installed

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What other packages bring that is no benchmark here."""
        self._look()
        return tuple(self._left_out)

    def __getitem__(self, name: str) -> Benchmark:
        if name not in self.modules:
            return self._look()[name]
        # Pages ask thousands of times a rerun; of a module that is there, `import_module` still goes through its locks.
        module = sys.modules.get(self.modules[name])
        if module is None or not hasattr(module, "BENCHMARK"):  # not imported yet, or not to its end
            module = importlib.import_module(self.modules[name])
        found: Benchmark = module.BENCHMARK
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.modules or name in self._look()

    def __iter__(self) -> Iterator[str]:
        return iter([*self.modules, *self._look()])

    def __len__(self) -> int:
        return len(self.modules) + len(self._look())


REGISTRY = Registry(
    {
        "sage": "cxlab.benchmarks.sage.benchmark",
        "cxmarena": "cxlab.benchmarks.cxmarena.benchmark",
        "mmtaup2": "cxlab.benchmarks.mmtaup2.benchmark",
        "crmarena": "cxlab.benchmarks.crmarena.benchmark",
        "cdr": "cxlab.benchmarks.cdr.benchmark",
    },
    find_installed,
)


# Models under test that answer no prompts.
add_kind(KIND)
# Simulated models that one benchmark brings: asked for only when a name is not among those that fit all.
add_simulated(lambda: (declared for name in REGISTRY if (declared := REGISTRY[name].simulated)))

# Procedures, for the queries, which know no benchmark.
procedure.add_source(lambda: ((name, found) for name in REGISTRY if (found := REGISTRY[name].procedures) is not None))
# What metrics are called, and what samples share, likewise.
metric_names.add_source(lambda: (each.card.titles for each in REGISTRY.values()))
cluster.add_source(lambda: ((name, found) for name in REGISTRY if (found := REGISTRY[name].cluster) is not None))


def list_models() -> list[KnownModel]:
    """Every model that has a name here, with those that a benchmark brings; calls nothing."""
    return llm.known()


def get(name: str) -> Benchmark:
    """The benchmark of that name; raises UnknownName."""
    if name not in REGISTRY:
        raise UnknownName("benchmark", name, REGISTRY)
    return REGISTRY[name]
