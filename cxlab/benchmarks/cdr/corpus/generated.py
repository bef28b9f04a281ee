"""Conversations made for size: what happens in each is planned first, so what a query finds is known by construction.

    plans = plan(1_000, seed=1)                        # topic, domain, what happens
    talks = yield from write(plans, model, 1, folder)  # the conversations that the writer delivered
    made = ask_for(plans, talks, seed=1)               # queries and what is relevant to them

A query asks for one happening on one topic. Relevant is a conversation that was planned with both; beside it stand
others on that topic in which something else happens, or the same words are said the other way round or by the other
side. A query that nothing or more than 50 conversations answer is dropped, as in the paper.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cxlab.benchmarks.cdr.corpus.happenings import load_happenings
from cxlab.benchmarks.cdr.prompts.writing import WRITE, WriteInputs, WrittenMessage
from cxlab.benchmarks.cdr.queries.templates import AREA_SHARES
from cxlab.benchmarks.generation import stages
from cxlab.benchmarks.generation.stages import Progress
from cxlab.llm import ChatModel, ask
from cxlab.records import Conversation, Message, content_id

QUERIES_A_CONVERSATION = 1_583 / 9_146
"""As in the paper."""
MOST_RELEVANT, FEWEST_QUERIES = 50, 20
GIVEN_UP = 10
"""Conversations of which a writer's replies could not be read, and none could, after which it is asked no more."""
# Conversations a topic has on average: with the paper's size about 20 are relevant to a query on it.
_A_TOPIC = 240
_SECOND = 0.3
"""Share of the conversations in which two things happen."""


class PlannedConversation(NamedTuple):
    """One conversation before it is written."""

    id: str
    domain: str
    topic: str
    happenings: tuple[str, ...]


def count_queries(conversations: int) -> int:
    """How many queries so many conversations are asked, where they have enough to ask for."""
    return max(FEWEST_QUERIES, round(conversations * QUERIES_A_CONVERSATION))


@dataclass(frozen=True)
class GeneratedCorpus:
    """What `evaluate` takes; `areas`: query id → area."""

    conversations: dict[str, Conversation]
    queries: dict[str, str]
    relevant: dict[str, frozenset[str]]
    areas: dict[str, str]


def plan(size: int, seed: int) -> list[PlannedConversation]:
    """What happens in each of `size` conversations; the same seed gives the same plans."""
    known = load_happenings()
    rng = random.Random(f"plan {seed}")
    topics = [(domain, topic) for domain, listed in sorted(known.topics.items()) for topic in listed]
    rng.shuffle(topics)
    used = topics[: max(4, min(len(topics), round(size / _A_TOPIC)))]
    by_area: dict[str, list[str]] = {}
    for name, one in known.happenings.items():
        by_area.setdefault(one.area, []).append(name)
    areas, weights = list(AREA_SHARES), list(AREA_SHARES.values())
    plans = []
    for number in range(size):
        domain, topic = used[number % len(used)]
        first, second = rng.choices(areas, weights, k=2)
        chosen = [rng.choice(by_area[first])]
        if second != first and rng.random() < _SECOND:
            chosen.append(rng.choice(by_area[second]))
        plans.append(PlannedConversation(f"made_{number:06d}", domain, topic, tuple(chosen)))
    return plans


def write(
    plans: Sequence[PlannedConversation], model: ChatModel, seed: int, folder: Path | None = None
) -> Generator[Progress, None, dict[str, Conversation]]:
    """The conversations as the writer delivers them; one whose reply could not be read twice is left out.

    GenerationStopped for a writer of whom nothing can be read: what it says would all be paid for and dropped.
    """
    known = load_happenings().happenings
    read, unread = 0, 0

    async def make(one: PlannedConversation) -> dict[str, Any]:
        nonlocal read, unread
        means = tuple(known[name].means for name in one.happenings)
        inputs = WriteInputs(topic=one.topic, happenings=means, script=one.happenings)
        number = int(content_id("write", one.id, seed), 16) % 2**31
        reply = await ask(model, WRITE, inputs, seed=number)
        if reply.output is None:
            reply = await ask(model, WRITE, inputs, seed=number + 1)
        if reply.output is not None:
            read += 1
            return {"messages": [each.model_dump() for each in reply.output.messages]}
        unread += 1
        why = reply.failure.message if reply.failure else ""
        if not read and unread >= GIVEN_UP:
            raise stages.GenerationStopped(f"{model.name} wrote nothing that can be read, {unread} times: {why}")
        return {"messages": None, "why": why}

    # Of a writer of whom nothing can be read yet, nothing is settled: with more room it is asked again.
    rows = yield from stages.run("conversations", plans, lambda one: one.id, make, folder, lambda row: read > 0)
    return {
        one.id: to_conversation(one.id, row["messages"], describe(one))
        for one, row in zip(plans, rows, strict=True)
        if row["messages"]
    }


def to_conversation(
    id: str, messages: Sequence[Mapping[str, Any] | WrittenMessage], labels: Mapping[str, Any]
) -> Conversation:
    """What a writer delivered as a conversation."""
    said, turn = [], 0
    for each in messages:
        one = WrittenMessage.model_validate(each)
        turn += one.role == "user" or not turn
        said.append(Message(role="customer" if one.role == "user" else "agent", text=one.text, turn=turn))
    return Conversation(id=id, messages=tuple(said), labels=dict(labels))


def describe(one: PlannedConversation) -> dict[str, Any]:
    """What is known of a conversation before it is written, as its labels."""
    area = load_happenings().happenings[one.happenings[0]].area
    return {"domain": one.domain, "area": area, "topic": one.topic, "happenings": list(one.happenings)}


def ask_for(
    plans: Sequence[PlannedConversation], conversations: Mapping[str, Conversation], seed: int
) -> GeneratedCorpus:
    """The queries, by area as in the paper, and the conversations that answer them."""
    known = load_happenings()
    rng = random.Random(f"queries {seed}")
    found: dict[tuple[str, str], set[str]] = {}
    for one in plans:
        for name in one.happenings if one.id in conversations else ():
            found.setdefault((name, one.topic), set()).add(one.id)
    cells: dict[str, list[tuple[str, str]]] = {area: [] for area in AREA_SHARES}
    for name, topic in sorted(found):
        if len(found[name, topic]) <= MOST_RELEVANT:
            cells[known.happenings[name].area].append((name, topic))
    total, whole = count_queries(len(plans)), sum(AREA_SHARES.values())
    queries: dict[str, str] = {}
    areas: dict[str, str] = {}
    relevant: dict[str, frozenset[str]] = {}
    for area, share in AREA_SHARES.items():
        wordings = [(cell, text) for cell in cells[area] for text in known.happenings[cell[0]].queries]
        rng.shuffle(wordings)
        for (name, topic), text in wordings[: round(total * share / whole)]:
            query = f"q_{len(queries):05d}"
            queries[query], areas[query] = text.format(topic=topic), area
            relevant[query] = frozenset(found[name, topic])
    return GeneratedCorpus(dict(conversations), queries, relevant, areas)
