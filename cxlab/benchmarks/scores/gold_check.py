"""Whether the gold of a dataset holds: each sample's `check`, done once a dataset and remembered beside it."""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cxlab import __version__
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Benchmark, Uncheckable
from cxlab.errors import CxError
from cxlab.records import Sample
from cxlab.store import layout, write

FILE = "gold_check.json"
MOST_KEPT = 1000
"""Complaints that are kept word by word; beyond them only their number is."""


@dataclass(frozen=True)
class GoldCheck:
    """How the gold of `samples` samples held: `complaints` of them, the first `MOST_KEPT` in `first`.

    `unchecked`: reason → samples whose gold cannot be checked here. `version`: of the package that checked.
    """

    samples: int
    complaints: int
    first: tuple[str, ...]
    unchecked: Mapping[str, int]
    version: str = __version__

    def describe(self) -> list[str]:
        """What a person must know before relying on the dataset, in lines; [] when all gold holds."""
        if not self.samples:
            told = "it holds no gold: nothing can be checked or evaluated on it"
            return [f"{told}; what its conversations say can be read by a model: python -m cxlab send"]
        lines = [f"gold fails: {complaint}" for complaint in self.first]
        if more := self.complaints - len(self.first):
            lines.append(f"gold fails: {more:,} more")
        lines += [f"gold not checked, {count:,} samples: {why}" for why, count in self.unchecked.items()]
        return lines


def check_samples(benchmark: Benchmark, samples: Sequence[Sample]) -> GoldCheck:
    """Check each sample; calls no model. A sample that cannot be read by its benchmark is a complaint."""
    complaints: list[str] = []
    unchecked: Counter[str] = Counter()
    for sample in samples:
        try:
            complaints += benchmark.check(sample)
        except Uncheckable as why:
            unchecked[str(why)] += 1
        except CxError as fault:
            complaints.append(f"{sample.id}: {fault}")
    return GoldCheck(len(samples), len(complaints), tuple(complaints[:MOST_KEPT]), dict(unchecked))


def check_dataset(
    dataset_id: str, home: Path | None = None, *, benchmark: Benchmark | None = None, again: bool = False
) -> GoldCheck:
    """The check of a stored dataset: the one that is remembered, else made now and remembered.

    `benchmark` None: the registered one that the dataset is of; a dataset of none has no gold. `again` checks whatever
    is remembered.
    """
    if not again and (known := load(dataset_id, home)) is not None:
        return known
    owner = write.load_dataset(dataset_id, home).benchmark
    if benchmark is None and owner in REGISTRY:
        benchmark = REGISTRY[owner]
    with layout.at(home):  # a benchmark looks up what its samples name (articles) in the store at hand
        found = check_samples(benchmark, write.load_samples(dataset_id, home)) if benchmark else GoldCheck(0, 0, (), {})
    layout.write_whole(_path(dataset_id, home), json.dumps(asdict(found), ensure_ascii=False).encode())
    return found


def tell(dataset_id: str, home: Path | None = None, benchmark: Benchmark | None = None, shown: int = 5) -> None:
    """Check the gold of a dataset unless that was done, and say on standard error what does not hold."""
    lines = check_dataset(dataset_id, home, benchmark=benchmark).describe()
    for line in lines[:shown]:
        print(f"{dataset_id}: {line}", file=sys.stderr)
    if len(lines) > shown:
        print(f"{len(lines) - shown} more lines: python -m cxlab check {dataset_id}", file=sys.stderr)


def load(dataset_id: str, home: Path | None = None) -> GoldCheck | None:
    """The check that is remembered; None when there is none of this version of the package."""
    try:
        found = json.loads(_path(dataset_id, home).read_bytes())
        known = GoldCheck(**{**found, "first": tuple(found["first"])})
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None
    return known if known.version == __version__ else None


def _path(dataset_id: str, home: Path | None) -> Path:
    return layout.dataset_folder(layout.resolve_home(home), dataset_id) / FILE
