"""Which samples a run takes, in which order, and which shard works on which."""

import hashlib
import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cxlab.benchmarks.contract import Benchmark
from cxlab.errors import BadOption, UnknownName
from cxlab.records import Sample
from cxlab.records.bounds import check_attempts, check_whole

SampleTrial = tuple[str, int]
"""A sample's id and the number of the trial, which counts from 1."""

WHOLE = (1, 1)
"""The one shard of a run that is not split."""


@dataclass(frozen=True)
class SampleFilter:
    """Which part of a dataset a run takes; an empty filter takes everything.

    `where` holds (facet, value), task among the facets: values of one facet widen the choice, facets narrow it.
    """

    limit: int | None = None
    where: tuple[tuple[str, str], ...] = ()

    def wanted(self) -> dict[str, set[str]]:
        """Facet → the values that pass."""
        found: dict[str, set[str]] = {}
        for facet, value in self.where:
            found.setdefault(facet, set()).add(value)
        return found


def parse_where(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(facet, value) of each facet=value; `choose` says which facets there are. BadOption for another form."""
    found = []
    for word in words:
        facet, sign, value = word.partition("=")
        if not sign:
            raise BadOption(f"--where {word!r}: write it as facet=value, for example modality=voice")
        found.append((facet.strip(), value))
    return tuple(found)


def find_benchmark(name: str) -> Benchmark:
    """The benchmark of that name, or the object at `module:NAME` for one that lives outside the package.

    UnknownName where there is none, BadOption where that object is none.
    """
    if ":" in name:
        module_name, _, attribute = name.partition(":")
        try:
            found = getattr(importlib.import_module(module_name), attribute)
        except (ModuleNotFoundError, AttributeError) as error:
            raise BadOption(f"benchmark {name!r} cannot be imported: {error}") from error
        if not isinstance(found, Benchmark):
            raise BadOption(
                f"benchmark {name!r} is a {type(found).__name__}, not a cxlab.benchmarks.contract.Benchmark"
            )
        return found
    from cxlab.benchmarks import REGISTRY

    if name not in REGISTRY:
        raise UnknownName("benchmark", name, REGISTRY)
    return REGISTRY[name]


def choose(benchmark: Benchmark, samples: Sequence[Sample], choice: SampleFilter) -> list[Sample]:
    """The chosen samples, spread: neighbours in the order differ in their task, then in the benchmark's facets.

    So the first N of the order, which is what `limit` keeps, cover tasks and scenarios (and, mostly, levels and leaves)
    as evenly as N allows, and a run that is stopped early is a fair picture of the whole. UnknownName
    for a facet that there is not, BadOption where no sample is left.
    """
    check_whole("limit", choice.limit)
    wanted = choice.wanted()
    declared = {facet.id for facet in benchmark.facets}
    for facet, asked in wanted.items():
        if facet not in declared | {"task"}:
            raise UnknownName("facet", facet, declared)
        known = {value for sample in samples if (value := _value_of(sample, facet)) is not None}
        for value in sorted(asked - known):
            raise UnknownName(facet, value, known)
    kept = [sample for sample in samples if all(_value_of(sample, facet) in asked for facet, asked in wanted.items())]
    if not kept:
        raise BadOption("no sample passes the filters together; widen --where")
    return _spread(kept, ("task", *benchmark.spread))[: choice.limit]


def _value_of(sample: Sample, facet: str) -> str | None:
    """What a sample is filtered by: the value of a facet, or its task."""
    return sample.task if facet == "task" else sample.facets.get(facet)


def _spread(samples: Sequence[Sample], facets: tuple[str, ...]) -> list[Sample]:
    if not facets:
        return list(samples)
    groups: dict[str | None, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(_value_of(sample, facets[0]), []).append(sample)
    lists = []
    for place, group in enumerate(groups.values()):
        spread = _spread(group, facets[1:])
        # Each group starts elsewhere in its list, or level after level would begin with the same leaf.
        start = place * len(spread) // len(groups)
        lists.append(spread[start:] + spread[:start])
    longest = max(map(len, lists))
    return [group[row] for row in range(longest) for group in lists if row < len(group)]


def pair(samples: Sequence[Sample], trials: int) -> list[SampleTrial]:
    """All pairs, one trial of everything before the next, so that an early stop covers every sample."""
    check_whole("trials", trials)
    check_attempts(len(samples) * trials, trials)
    return [(sample.id, trial) for trial in range(1, trials + 1) for sample in samples]


def parse_shard(text: str) -> tuple[int, int]:
    """(3, 16) from "3/16"; shards count from 1. BadOption for another form."""
    first, slash, second = text.partition("/")
    whole = slash and all(re.fullmatch("[0-9]{1,3}", each) for each in (first, second))
    if not (whole and 1 <= int(first) <= int(second)):
        raise BadOption(f"--shard {text[:40]!r}: must be I/N with 1 <= I <= N <= 999, as in 3/16")
    return int(first), int(second)


def shard_of(sample_id: str, shards: int) -> int:
    """The shard (from 1) that works on a sample; the same on every machine and in every Python."""
    digest = hashlib.blake2b(sample_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % shards + 1


def take_shard(pairs: Sequence[SampleTrial], shard: tuple[int, int]) -> list[SampleTrial]:
    """The pairs of one shard; all trials of a sample stay together."""
    index, shards = shard
    if shards == 1:
        return list(pairs)
    return [(sample_id, trial) for sample_id, trial in pairs if shard_of(sample_id, shards) == index]
