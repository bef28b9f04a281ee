"""Ask every judge the same question and count what they say.

A value outside the options is recorded and never counts; a tie has no winner and is recorded as a tie. A panel
decides only with its quorum: an answer, valid or not, of more than half of the judges that were asked.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel

from cxlab.llm import Prompt, ask
from cxlab.llm.base import ChatModel, Reply
from cxlab.llm.parsing import parse, without_thinking
from cxlab.llm.prompts import RenderedMessages
from cxlab.records import Vote
from cxlab.records.evaluation import Owner
from cxlab.records.fault_words import name_fault_type

Out = TypeVar("Out", bound=BaseModel)
In = TypeVar("In", bound=BaseModel)


@dataclass(frozen=True)
class JudgeAnswer(Generic[Out]):
    """One judge's reply, readable or not."""

    judge: str
    reply: Reply[Out]


@dataclass(frozen=True)
class Tally:
    """The count for one field: the winner (None for a tie, no valid vote or no quorum), and how the votes split."""

    winner: Any
    votes: dict[Any, int]
    split: str


async def poll(
    judges: Sequence[ChatModel],
    prompt: Prompt[In, Out],
    inputs: In,
    seed: int = 0,
    said: Sequence[Vote] = (),
    **options: Any,
) -> list[JudgeAnswer[Out]]:
    """Put one question to all judges at once; a judge that fails leaves a ballot that says so.

    `said` are votes on this very question: whose vote is among them and can be read is not asked, and paid, again.
    """
    messages = RenderedMessages(prompt, inputs)

    async def answer(judge: ChatModel) -> Reply[Out]:
        for vote in said:
            if vote.judge == judge.name and vote.valid:
                output = parse(without_thinking(vote.raw), prompt.Output, inputs)[0]
                if output is not None:
                    return Reply(cast("Out", output), vote.raw, vote.usage, vote.latency_s, vote.cost_usd)
        return await ask(judge, prompt, inputs, seed=seed, messages=messages, **options)

    replies = await asyncio.gather(*map(answer, judges))
    return [JudgeAnswer(judge.name, reply) for judge, reply in zip(judges, replies, strict=True)]


def find_silence(votes: Iterable[Vote]) -> tuple[str, Owner] | None:
    """Why a panel without its quorum decided nothing, and whose doing that was; None where each turn had one.

    The provider's where judges were not delivered, else the judges' own, whose replies could not be read.
    """
    by_turn: dict[int, list[Vote]] = {}
    for vote in votes:
        by_turn.setdefault(vote.turn, []).append(vote)
    for asked in by_turn.values():
        lost = [vote for vote in asked if not vote.valid and vote.failure]
        if lost and len(asked) - len(lost) < quorum(len(asked)):
            kinds = [str(vote.failure).partition(":") for vote in lost]
            faults = [kind for where, _, kind in kinds if where == "provider"]
            words = f"no quorum: {len(lost)} of {len(asked)} judges gave no verdict"
            return (f"{words} ({name_fault_type(faults[0])})", "provider") if faults else (words, "judge")
    return None


def majority(values: Sequence[Any]) -> Any:
    """The value with most votes; None for a tie or without votes. Values are told apart by type too."""
    return tally(values).winner


def quorum(asked: int) -> int:
    """How many answers a panel of so many judges needs to decide anything."""
    return asked // 2 + 1


def tally(values: Sequence[Any], asked: int = 0, unread: int = 0) -> Tally:
    """Count valid votes. `split`: `unanimous`, `majority`, `tie`, `none`, or `no quorum`.

    `asked` judges, of whom `unread` gave no answer at all.
    """
    counts = Counter((type(v).__name__, v) for v in values)
    if not counts:
        return Tally(None, {}, "none")
    ranked = counts.most_common()
    votes = {key[1]: n for key, n in ranked}
    if asked - unread < quorum(asked) and asked:
        return Tally(None, votes, "no quorum")
    if len(ranked) == 1:
        return Tally(ranked[0][0][1], votes, "unanimous")
    if ranked[0][1] == ranked[1][1]:
        return Tally(None, votes, "tie")
    return Tally(ranked[0][0][1], votes, "majority")
