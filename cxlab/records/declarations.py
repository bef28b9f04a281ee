"""What benchmarks declare of one kind, for rooms that know no benchmark."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Of = TypeVar("Of")


class Declarations(Generic[Of]):
    """Benchmark → what it declares; `told` completes "import cxlab.benchmarks first: it says …"."""

    def __init__(self, told: str) -> None:
        self.told = told
        self.sources: list[Callable[[], Iterable[tuple[str, Of]]]] = []

    def add_source(self, source: Callable[[], Iterable[tuple[str, Of]]]) -> None:
        """Who knows (benchmark, what it declares): asked each time, as benchmarks can be added."""
        self.sources.append(source)

    def read(self) -> dict[str, Of]:
        """Benchmark → what it declares, of those that do; RuntimeError where nobody was named who knows."""
        if not self.sources:
            raise RuntimeError(f"import cxlab.benchmarks first: it says {self.told}")
        return {name: found for source in self.sources for name, found in source()}
