"""What can be found out about conversations that nobody has labelled: anybody's own, sent to a task of a benchmark.

A benchmark declares such tasks (`Benchmark.conversation_tasks`); `sending.py` makes a dataset of samples without gold
of the conversations, which is run like any other. What needs gold stays None, with NO_GOLD as its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from cxlab.records import Attempt, Conversation, Judgement, Sample
from cxlab.records.progress import Progress
from cxlab.records.settings import Settings

if TYPE_CHECKING:
    from cxlab.benchmarks.generation import GenerationContext
    from cxlab.benchmarks.generation.budget import CostEstimate

NO_GOLD = "nobody has said what is right here"


class UnlabelledSample(NamedTuple):
    """A sample about one conversation, without anything expected; the dataset gives it its id."""

    conversation_id: str
    inputs: Mapping[str, Any]
    facets: Mapping[str, str] = {}


@dataclass(frozen=True)
class UnlabelledDataset:
    """What a task makes of conversations: samples, tables that they refer to, and what the dataset's record keeps."""

    samples: Sequence[UnlabelledSample]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)


class ConversationAnswer(NamedTuple):
    """What a model said of one conversation: `asked` is the same text for the same question in all conversations.

    `said` None: no answer that could be read. `lines`: places of the messages that it names, from 0.
    """

    asked: str
    said: str | None
    reason: str = ""
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class ConversationTask:
    """Something that a benchmark can find out about conversations that nobody has labelled.

    `id` is a task of its card. `make(conversations, settings, context)` yields Progress and returns what the samples
    hold; `read(sample, attempt, judgements)` says what was answered, one for each thing asked. `plan(how many,
    settings)`: what making the samples asks of a real model; what answering them takes, the run estimates.
    """

    id: str
    title: str
    finds: str
    Settings: type[Settings]
    make: Callable[[Mapping[str, Conversation], Any, GenerationContext], Generator[Progress, None, UnlabelledDataset]]
    read: Callable[[Sample, Attempt, Sequence[Judgement]], Sequence[ConversationAnswer]]
    plan: Callable[[int, Any], CostEstimate | None] | None = None
