"""What a benchmark is: a card and four functions, the same for all five."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxlab.llm.base import ChatModel
from cxlab.records import Attempt, Dataset, Judgement, Sample, Score, Trace, Vote


@dataclass(frozen=True)
class Task:
    """One task of a benchmark and the metric its leaderboard shows."""

    id: str
    title: str
    metric: str
    unit: str = "points"
    higher_is_better: bool = True


@dataclass(frozen=True)
class Card:
    """What a newcomer must know of a benchmark before running it. `leading`: up to three figures of one attempt."""

    id: str
    title: str
    measures: str
    paper: str
    licence: str
    tasks: tuple[Task, ...]
    metrics: dict[str, str]
    leading: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setup:
    """Who takes part in a run: the model under test, the customer it talks to, and the switches."""

    model: ChatModel
    customer: ChatModel | None
    judges: tuple[ChatModel, ...]
    run_id: str
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scored:
    """All that scoring one attempt yields."""

    scores: tuple[Score, ...] = ()
    votes: tuple[Vote, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    traces: tuple[Trace, ...] = ()


@dataclass(frozen=True)
class Benchmark:
    """Four functions and a card.

    `generate(config, seed)` is deterministic for a seed. `run(sample, setup, trial)` is the only step
    that calls the model under test. `score(sample, attempt, setup)` calls judges only.
    `check(sample)` yields complaints and calls no model. `prompts()` maps prompt name to its hash.
    `instant`: `generate` takes no time, so a run may do without a stored dataset. `with_customer`: a model plays the
    customer. `needs_judges`: without judges nothing is scored, else only some metrics are missing.
    `spread`: the facets in which neighbours of a run differ, so that a limit takes a bit of each; within them samples
    keep their order, so a benchmark that compares terms on the same tasks can keep these together.
    `prepare(samples, options)` makes what all attempts share and what takes long, before the first of them and before
    work is split among processes; it yields (done, of, of what) as it goes and leaves its result in the store.
    `figures(run_id, options)` are the rows of a stored run's table, all with the same columns, where the means of its
    metrics do not tell all.
    """

    card: Card
    generate: Callable[[dict[str, Any], int], tuple[Dataset, list[Sample]]]
    run: Callable[[Sample, Setup, int], Awaitable[Attempt]]
    score: Callable[[Sample, Attempt, Setup], Awaitable[Scored]]
    check: Callable[[Sample], Iterable[str]]
    prompts: Callable[[], dict[str, str]]
    options: dict[str, str] = field(default_factory=dict)
    instant: bool = True
    with_customer: bool = True
    needs_judges: bool = True
    spread: tuple[str, ...] = ("scenario", "level", "leaf")
    prepare: Callable[[Sequence[Sample], Mapping[str, Any]], Iterator[tuple[int, int, str]]] | None = None
    figures: Callable[[str, Mapping[str, Any]], list[dict[str, Any]]] | None = None
