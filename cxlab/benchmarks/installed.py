"""Benchmarks of other installed packages, which name them in the entry points of the group `cxlab.benchmarks`."""

from collections.abc import Container
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from cxlab.benchmarks.contract import Benchmark

GROUP = "cxlab.benchmarks"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry point that is no benchmark here: its name, the package that brings it, and why."""

    name: str
    package: str
    why: str

    def describe(self) -> str:
        return f"benchmark {self.name!r} of the package {self.package!r} is left out: {self.why}"


def find_installed(taken: Container[str]) -> tuple[dict[str, Benchmark], list[LeftOut]]:
    """(name → benchmark, what is left out), each imported; a name in `taken`, or of an earlier package, is refused.

    An entry point leads to a module with a `BENCHMARK`, or to the object itself. Raises nothing.
    """
    found: dict[str, Benchmark] = {}
    left_out: list[LeftOut] = []
    for point in sorted(entry_points(group=GROUP), key=lambda each: (each.name, _package(each))):
        try:
            if point.name in taken or point.name in found:
                raise ValueError("another benchmark has that name")
            found[point.name] = _load(point)
        except (Exception, SystemExit) as fault:  # a stranger's code may raise anything
            why = " ".join(str(fault).split()) or "no reason given"
            told = why if type(fault) is ValueError else f"{type(fault).__name__}: {why}"
            left_out.append(LeftOut(point.name, _package(point), told))
    return found, left_out


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "?"


def _load(point: EntryPoint) -> Benchmark:
    loaded = point.load()
    benchmark = loaded if isinstance(loaded, Benchmark) else getattr(loaded, "BENCHMARK", None)
    if not isinstance(benchmark, Benchmark):
        raise ValueError(f"{point.value} is no Benchmark and has no BENCHMARK")
    if benchmark.card.id != point.name:
        raise ValueError(f"its card calls it {benchmark.card.id!r}")
    return benchmark
