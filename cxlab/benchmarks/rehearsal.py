"""What a run will ask of models, told by rehearsing some of its samples with stand-ins.

Stand-ins answer the same rendered prompts as real models, so calls are counted and not guessed, and so are the
characters of everything that is sent and said. How many tokens a text has differs between models; a token is taken
for four characters, as English has it. What a real model thinks before it answers is not in it.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from cxlab import llm
from cxlab.benchmarks.contract import Role, RoleEstimate, Scored, Setup
from cxlab.llm.base import ChatModel, Completion, Request
from cxlab.llm.ladder import response_format
from cxlab.llm.metering import FREE
from cxlab.records import Attempt, Sample

CHARACTERS_A_TOKEN = 4
# What a server puts around each message: its role and where it begins and ends.
AROUND_A_MESSAGE = 4
EACH = 8
"""Samples of each task that are rehearsed; fewer are all rehearsed."""
AGENT = "simulated:strong"


@dataclass
class Count:
    """Calls of one role, and the tokens that went in and came out."""

    calls: float = 0
    prompt: float = 0
    completion: float = 0

    def add(self, other: Count, times: float = 1.0) -> None:
        """Add another count, so many times."""
        self.calls += other.calls * times
        self.prompt += other.prompt * times
        self.completion += other.completion * times


class CountingModel:
    """A stand-in whose calls are counted; `simulated` is False where it stands in for a real model."""

    prices = FREE

    def __init__(self, inner: ChatModel, simulated: bool = True) -> None:
        self.inner, self.name, self.count, self.simulated = inner, inner.name, Count(), simulated

    async def complete(self, request: Request) -> Completion:
        done = await self.inner.complete(request)
        self.count.add(Count(1, count_prompt(request), count_completion(done)))
        return done

    async def aclose(self) -> None:
        await self.inner.aclose()


def count_prompt(request: Request) -> float:
    """About how many tokens a request has: its messages, the form of the answer, the tools."""
    text = sum(len(json.dumps(message, ensure_ascii=False)) for message in request.messages)
    form = response_format(request.schema, "json_schema") if request.schema is not None else None
    for each in (form, request.tools):
        text += len(json.dumps(each, ensure_ascii=False)) if each else 0
    return text / CHARACTERS_A_TOKEN + AROUND_A_MESSAGE * len(request.messages)


def count_completion(done: Completion) -> float:
    """About how many tokens an answer has."""
    return (len(done.text) + sum(len(call.name) + len(call.arguments) for call in done.tool_calls)) / CHARACTERS_A_TOKEN


def rehearse(
    run: Callable[[Sample, Setup, int], Awaitable[Attempt]],
    score: Callable[[Sample, Attempt, Setup], Awaitable[Scored]],
    samples: Sequence[Sample],
    options: Any,
    roles: Mapping[Role, Sequence[str]],
    *,
    customer: str = "simulated:customer",
    judge: str = "simulated:judge-fair",
) -> list[RoleEstimate]:
    """Calls and tokens of one trial by role and model, over all samples, from some of each task.

    A simulated model that takes part is rehearsed itself; a real one is stood in for by `AGENT`, `customer` or `judge`.
    Simulated models report no tokens, so none are expected of them.
    """
    totals: dict[tuple[Role, str], Count] = defaultdict(Count)
    by_task: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_task[sample.task].append(sample)
    for alike in by_task.values():
        chosen = _spread(alike)
        for sample in chosen:
            for who, count in _rehearse_one(run, score, sample, options, roles, (customer, judge)).items():
                totals[who].add(count, len(alike) / len(chosen))
    return [_to_row(role, name, totals[role, name]) for role, names in roles.items() for name in names]


def _spread(samples: Sequence[Sample]) -> list[Sample]:
    """Some of the samples, evenly over their order, in which neighbours differ."""
    if len(samples) <= EACH:
        return list(samples)
    return [samples[(2 * place + 1) * len(samples) // (2 * EACH)] for place in range(EACH)]


def _rehearse_one(
    run: Callable[[Sample, Setup, int], Awaitable[Attempt]],
    score: Callable[[Sample, Attempt, Setup], Awaitable[Scored]],
    sample: Sample,
    options: Any,
    roles: Mapping[Role, Sequence[str]],
    stand_ins: tuple[str, str],
) -> dict[tuple[Role, str], Count]:
    customer, judge = stand_ins

    def load(name: str, stand_in: str) -> CountingModel:
        own = name.startswith("simulated:")
        return CountingModel(llm.load(name if own else stand_in), simulated=own)

    agents = {name: load(name, AGENT) for name in roles.get("agent", ())}
    customers = {name: load(name, customer) for name in roles.get("customer", ())}
    judges = {name: load(name, judge) for name in roles.get("judge", ())}
    for model in agents.values():
        setup = Setup(
            model=model,
            customer=next(iter(customers.values()), None),
            judges=tuple(judges.values()),
            run_id="rehearsal",
            options=options,
        )
        _wait_for(_attempt(run, score, sample, setup))
    parts: tuple[tuple[Role, dict[str, CountingModel]], ...] = (
        ("agent", agents), ("customer", customers), ("judge", judges),
    )  # fmt: skip
    return {(role, name): model.count for role, models in parts for name, model in models.items()}


async def _attempt(
    run: Callable[[Sample, Setup, int], Awaitable[Attempt]],
    score: Callable[[Sample, Attempt, Setup], Awaitable[Scored]],
    sample: Sample,
    setup: Setup,
) -> None:
    await score(sample, await run(sample, setup, 1), setup)


def _wait_for(work: Any) -> None:
    """Run it to its end, whether or not a loop is under way in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
    else:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, work).result()


def _to_row(role: Role, name: str, count: Count) -> RoleEstimate:
    paid = not name.startswith("simulated:")
    return RoleEstimate(role, name, round(count.calls), paid * round(count.prompt), paid * round(count.completion))
