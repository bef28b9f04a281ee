"""What a question is, and what it is drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

import numpy as np
import polars as pl

from cxlab.benchmarks.crmarena.generation.records import CaseEntities
from cxlab.benchmarks.crmarena.organisation.incoming import NewCase
from cxlab.benchmarks.crmarena.questions.truth import Truth
from cxlab.benchmarks.crmarena.questions.wording import Meaning, Seed, fill
from cxlab.benchmarks.crmarena.tasks import TASKS

UNANSWERABLE = 0.3
Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Question:
    """One question. `slots` fill its seed's wordings, `plain` is one without a seed; `meaning` is what other words must
    keep. `arguments` are the solver's. `answers` are those that follow from how it was drawn, None where only the
    solver tells. `hidden` is kept with the sample's gold. `block` stands below the question as it is.
    """

    task: str
    seed: Seed | None
    slots: Mapping[str, str]
    meaning: Meaning
    arguments: Mapping[str, Any]
    answerable: bool
    today: date | None = None
    contact_id: str | None = None
    case_id: str | None = None
    answers: tuple[str, ...] | None = None
    hidden: Mapping[str, Any] = field(default_factory=dict)
    block: str = ""
    plain: str = ""

    def word(self, number: int) -> str:
        """The question in the wording of that number, counted round."""
        if self.seed is None:
            return self.plain
        return fill(self.seed.wordings[number % len(self.seed.wordings)], dict(self.slots))

    @property
    def key(self) -> tuple[Any, ...]:
        """What no two questions have in common."""
        return (
            self.task,
            self.plain,
            self.today if self.task != "case_routing" else None,
            repr(sorted(self.arguments.items())),
            self.case_id,
        )


@dataclass(frozen=True)
class Source:
    """What questions are drawn from."""

    entities: CaseEntities
    truth: Truth
    tables: Mapping[str, pl.DataFrame]
    incoming: Sequence[NewCase]
    end: date
    seed: int


def count_unanswerable(task: str, count: int) -> int:
    """How many of a task's questions have no answer."""
    return round(UNANSWERABLE * count) if TASKS[task].unanswerable else 0


def pick(things: Sequence[Thing], rng: np.random.Generator) -> Thing:
    """One of some things."""
    return things[int(rng.integers(len(things)))]
