"""Making a dataset, the same for every benchmark: named stages with progress, a budget, resume and processes.

A benchmark's `generate(options, context)` is a generator: it yields `Progress(stage, done, total)` as it goes and
returns what it `Generated`. Long stages use `stages.run` (rows kept as they come, so that a second try goes
on where the first was stopped) and `parallel.fill` (CPU work over all cores); calls of real models go through
`context.budget`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cxlab.benchmarks.generation.budget import GenerationBudget
from cxlab.benchmarks.generation.stages import Progress
from cxlab.llm.base import ChatModel
from cxlab.records import Dataset, Sample, content_id
from cxlab.store import layout, write

if TYPE_CHECKING:
    import polars as pl


def rng_for(*parts: object) -> np.random.Generator:
    """A generator that depends on these parts alone, such as a seed, a stage and an id."""
    return np.random.Generator(np.random.PCG64(int(content_id(*parts, length=16), 16)))


@dataclass(frozen=True)
class GenerationContext:
    """How a dataset is made, as opposed to which: the seed, the store, processes (None: one a core), the budget, and
    the model that writes it (None: the one that the options name), as a run's Setup holds its models.
    """

    seed: int = 0
    home: Path | None = None
    workers: int | None = None
    budget: GenerationBudget = field(default_factory=GenerationBudget)
    writer: ChatModel | None = None


@dataclass(frozen=True)
class Generated:
    """A dataset that was made. `folder` None: nothing is stored yet; else it lies there, and `samples` may be empty.

    `tables` are what the samples are about (articles, conversations, …), `counts` samples a task.
    """

    dataset: Dataset
    samples: tuple[Sample, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    folder: Path | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def tasks(self) -> dict[str, int]:
        """Samples a task."""
        return dict(self.counts) or dict(Counter(sample.task for sample in self.samples))


Generation = Generator[Progress, None, Generated]


def make_at_once(dataset: Dataset, samples: list[Sample]) -> Generation:
    """The generation of a benchmark whose data take no time: one stage."""
    yield Progress("samples", 0, len(samples))
    yield Progress("samples", len(samples), len(samples))
    return Generated(dataset, tuple(samples))


@dataclass
class Work:
    """The folder in which one dataset is being made, or `made`, where an earlier try came to its end."""

    folder: Path
    made: Generated | None = None
    stored: Generated | None = None

    def end(self, dataset: Dataset, folder: Path, samples: Sequence[Sample]) -> Generated:
        """What was made and stored: the work folder goes, and the next try finds it."""
        self.stored = Generated(dataset, folder=folder, counts=dict(Counter(sample.task for sample in samples)))
        return self.stored


@contextmanager
def make_once(home: Path, key: str) -> Iterator[Work]:
    """Making the dataset of one `key`, which holds all that decides it: by one process at a time, and only once.

    A try that was stopped leaves its folder to the next one. Raises Busy while another process is at it.
    """
    folder = home / "work" / key
    marker = folder.with_suffix(".done")
    busy = "another process makes this dataset at the moment; wait for it, or take another seed"
    with layout.lock(folder.with_suffix(".lock"), busy=busy):
        work = Work(folder)
        name = marker.read_text(encoding="utf-8").strip() if marker.is_file() else ""
        if name and (home / "datasets" / name / "dataset.json").is_file():
            found = write.load_samples(name, home, only_facets=True)
            counts = dict(Counter(sample.task for sample in found))
            work.made = Generated(write.load_dataset(name, home), folder=home / "datasets" / name, counts=counts)
        else:
            folder.mkdir(parents=True, exist_ok=True)
        yield work
        if work.stored is not None:
            layout.write_whole(marker, work.stored.dataset.id.encode())
            shutil.rmtree(folder)


def store(made: Generated, home: Path | None = None) -> Path:
    """The folder of what was made, stored if it is not yet."""
    if made.folder is not None:
        return made.folder
    return write.save_dataset(made.dataset, made.samples, home, tables=made.tables)
