"""Ask every judge the same question and count what they say.

A value outside the options is recorded and never counts; a tie has no winner and is recorded as a tie.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from cxlab.llm import Prompt, ask
from cxlab.llm.base import ChatModel, Reply

Out = TypeVar("Out", bound=BaseModel)
In = TypeVar("In", bound=BaseModel)


@dataclass(frozen=True)
class JudgeAnswer(Generic[Out]):
    """One judge's reply, readable or not."""

    judge: str
    reply: Reply[Out]


@dataclass(frozen=True)
class Tally:
    """The count for one field: the winner (None for a tie or no valid vote), and how the votes split."""

    winner: Any
    votes: dict[Any, int]
    split: str

    @property
    def tie(self) -> bool:
        return self.split == "tie"


async def poll(
    judges: Sequence[ChatModel], prompt: Prompt[In, Out], inputs: In, seed: int = 0, **options: Any
) -> list[JudgeAnswer[Out]]:
    """Put one question to all judges at once; a judge that fails leaves a ballot that says so."""
    replies = await asyncio.gather(*(ask(judge, prompt, inputs, seed=seed, **options) for judge in judges))
    return [JudgeAnswer(judge.name, reply) for judge, reply in zip(judges, replies, strict=True)]


def majority(values: Sequence[Any]) -> Any:
    """The value with most votes; None for a tie or without votes. Values are told apart by type too."""
    return tally(values).winner


def tally(values: Sequence[Any]) -> Tally:
    """Count valid votes. `split`: `unanimous`, `majority`, `tie` or `none`."""
    counts = Counter((type(v).__name__, v) for v in values)
    if not counts:
        return Tally(None, {}, "none")
    ranked = counts.most_common()
    votes = {key[1]: n for key, n in ranked}
    if len(ranked) == 1:
        return Tally(ranked[0][0][1], votes, "unanimous")
    if ranked[0][1] == ranked[1][1]:
        return Tally(None, votes, "tie")
    return Tally(ranked[0][0][1], votes, "majority")
