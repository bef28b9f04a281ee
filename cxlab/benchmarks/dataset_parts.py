"""What a benchmark declares about its datasets, beside `generate` and `check`: all of it may be left out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cxlab import resources
from cxlab.benchmarks.dataset_figures import DatasetFigures
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.budget import CostEstimate
from cxlab.benchmarks.generation.stages import Progress
from cxlab.benchmarks.unlabelled import ConversationTask
from cxlab.benchmarks.upload import Uploader
from cxlab.files import Complaint
from cxlab.importers.importer import Importer
from cxlab.llm.base import ChatModel
from cxlab.records import Dataset
from cxlab.records.settings import Settings


@dataclass(frozen=True)
class Indexing:
    """An approximate index that is kept over what a stored dataset holds: `update(dataset_id, options)` brings it up to
    date with progress; what it has done stays when it is stopped."""

    Options: type[Settings]
    update: Callable[[str, Any], Generator[Progress, None, None]]


@dataclass(frozen=True)
class Correction:
    """One thing that was understood, for a person to put right: the setting that says so, its title, its value as text,
    a hint. With `choices` one of them, with a `separator` several values, one a line, which it joins in the setting;
    `none` is what the setting says where there are none, and an empty field without it leaves what was understood.
    """

    setting: str
    title: str
    value: str
    hint: str = ""
    choices: tuple[str, ...] = ()
    separator: str = ""
    none: str = ""


@dataclass(frozen=True)
class Excerpt:
    """A text of a dataset that is still to be made: what kind of text it is, its title, and it."""

    kind: str
    title: str
    text: str


class Understanding(Protocol):
    """What a generator understands of a person's words before it makes anything; `asks` are questions that must be
    answered first. `model_dump` is what `generate --plan --json` prints."""

    asks: list[str]

    def corrections(self) -> Sequence[Correction]: ...
    def correct(self, settings: Mapping[str, Any]) -> Understanding: ...
    def describe(self) -> str: ...
    def model_dump(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Files:
    """What `check` and `convert` know about this benchmark's hand-written files.

    `title`: what such a file is called, as "scenario files". `check(paths)` complains of the given files, of those that
    ship when it is None; `convert(text, model)` makes one from prose through a model, where that is possible.
    `simulated`: "package.module:function" that complains of the files of stand-ins.
    """

    title: str
    check: Callable[[Sequence[Path] | None], Sequence[Complaint]]
    convert: Callable[[str, ChatModel], str] | None = None
    simulated: str = ""

    def complain(self, paths: Sequence[Path] | None) -> list[Complaint]:
        """Complaints of the files given; without any of those that ship, and of those of stand-ins."""
        found = list(self.check(paths))
        of_stand_ins = resources.find_object(self.simulated) if paths is None and self.simulated else None
        return found + of_stand_ins() if of_stand_ins else found


@dataclass(frozen=True)
class DemoRun:
    """Runs of the demo: these models on the demo's dataset, narrowed by facets, with these switches."""

    models: tuple[str, ...]
    customer: str | None = None
    judges: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    where: tuple[tuple[str, str], ...] = ()
    limit: int | None = None


@dataclass(frozen=True)
class Demo:
    """A benchmark's slice of the demo: a small dataset and its runs. `order`: when it is built, the smallest first."""

    generate: Mapping[str, Any]
    runs: tuple[DemoRun, ...]
    seed: int = 0
    order: int = 10


@dataclass(frozen=True, kw_only=True)
class DatasetParts:
    """The parts of a benchmark that make, read, describe and pass on its datasets; each has a default."""

    plan: Callable[[Any, GenerationContext], CostEstimate | None] | None = None
    """plan(options, context): what generating will take, None where it costs nothing; refuses settings that do not go
    together."""
    amount: Callable[[Any], str] | None = None
    """amount(options): how much these settings make, in words, samples first; a bound where making alone will tell."""
    told_by: str = ""
    """The setting that holds a person's own words, which a page has understood and confirmed first; "" without one."""
    understand: Callable[[Any, GenerationContext], Understanding | None] | None = None
    """understand(options, context): what those words say; None where the settings hold none."""
    excerpts: Callable[[Any, GenerationContext], Generator[Progress, None, Sequence[Excerpt]]] | None = None
    """excerpts(options, context): a little of what would be made of those words, to be looked at first."""
    describe: Callable[[Dataset], Sequence[str]] | None = None
    """Lines about a dataset for a terminal."""
    dataset_figures: Callable[[Dataset], Sequence[DatasetFigures]] | None = None
    """A dataset's figures beside published ones for the page Datasets; also of a dataset that is no benchmark's, if it
    has a word on it."""
    published: tuple[Path, ...] = ()
    """Files of published tables, in the form of read/results/published.py."""
    document: Callable[[str, str, str], str] | None = None
    """document(dataset_id, corpus, id): the text of what a task ranks, as it was indexed; UnknownName without it."""
    indexing: Indexing | None = None
    """For `python -m cxlab index DATASET`, which takes the first that a benchmark declares: it serves any dataset."""
    importers: tuple[Importer, ...] = ()
    uploader: Uploader | None = None
    conversation_tasks: tuple[ConversationTask, ...] = ()
    """What it can find out about anybody's conversations, which nobody has labelled: `python -m cxlab send`."""
    files: Files | None = None
    demo: Demo | None = None
