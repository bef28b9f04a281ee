"""Ask one query of the corpus: a retriever orders the conversations, or a chat model orders anew what one found.

Nothing here looks at what is expected.
"""

from __future__ import annotations

import asyncio
import functools
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cxlab import llm
from cxlab.benchmarks.cdr.corpus import domains
from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.options import CdrOptions
from cxlab.benchmarks.cdr.prompts import RERANK, Candidate, RerankInputs
from cxlab.benchmarks.cdr.ranking import ConversationRanking, RankedConversation
from cxlab.benchmarks.cdr.retrievers.fitted import FittedIndex, fill_vectors, is_quick, open_index, take_owed
from cxlab.benchmarks.cdr.units import GRANULARITIES, UnitText, cut_middle
from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.single_answer import make_attempt
from cxlab.errors import UnknownName
from cxlab.llm import ask
from cxlab.records import Attempt, Failure, Message, Sample, Usage, content_id
from cxlab.retrieval.embedders.embeddings import metered
from cxlab.store import home

DEPTH = 50
"""Conversations of a ranking that are kept."""
RETRIEVER = "retriever"


@dataclass
class _Spent:
    usage: Usage = field(default_factory=Usage)
    latency_s: float = 0.0
    cost_usd: float | None = 0.0
    failures: list[Failure] = field(default_factory=list)

    def add(self, usage: Usage, latency_s: float, cost_usd: float | None) -> None:
        self.usage, self.latency_s = self.usage + usage, self.latency_s + latency_s
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd


def find_retriever(model: str, options: CdrOptions) -> str:
    """The retriever that a run searches with: the one under test, else the first stage of a chat model."""
    return model.partition(":")[2] if llm.role_of(model) == RETRIEVER else options.first


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """One attempt at one query; faults of the provider and unreadable replies are recorded, not raised."""
    if sample.task == domains.TASK:
        return await domains.run(sample, setup, trial)
    if sample.task not in GRANULARITIES:
        raise UnknownName("granularity", sample.task, GRANULARITIES)
    options = CdrOptions.of(setup.options)
    started, spent = datetime.now(UTC), _Spent()
    name, query = find_retriever(setup.model.name, options), str(sample.inputs["query"])
    reranks = llm.role_of(setup.model.name) != RETRIEVER
    fitted, ranking, search = await _search(sample, setup, name, options, spent)
    output: dict[str, Any] = {"alike": ranking.alike, "index": _describe(fitted, name, setup, options)}
    found = ranking.found
    if reranks:
        found, output["reranked"] = await _rerank(sample, setup, found, options, trial, spent)
    output |= {
        "ranked": [each.id for each in found],
        # A chat model gives an order and no scores.
        "scores": [] if reranks else [round(each.score, 6) for each in found],
        "units": [[each.unit.first, each.unit.last] for each in found],
        "spans": _list_spans(sample.dataset_id, found),
        "steps": {"search": {**search, "build_s": fitted.index.build_s}},
    }
    return make_attempt(
        sample,
        setup,
        trial,
        output=output,
        failures=spent.failures,
        usage=spent.usage,
        latency_s=spent.latency_s,
        cost_usd=spent.cost_usd,
        started=started,
        messages=(Message(role="customer", text=query, turn=1),),
        ended_by=sample.task,
    )


async def _search(
    sample: Sample, setup: Setup, name: str, options: CdrOptions, spent: _Spent
) -> tuple[FittedIndex, ConversationRanking, dict[str, Any]]:
    query, granularity = str(sample.inputs["query"]), sample.inputs["granularity"]

    def find() -> tuple[FittedIndex, ConversationRanking, float]:
        fitted = open_index(sample.dataset_id, name, granularity, options.text)
        began = time.perf_counter()
        return fitted, fitted.index.rank(query, DEPTH), time.perf_counter() - began

    with metered() as paid:
        # A model or a server must not hold up the other attempts; what takes milliseconds needs no thread.
        fitted, ranking, seconds = find() if is_quick(name) else await asyncio.to_thread(find)
    paid += take_owed(name)
    costs = [each.cost_usd for each in paid]
    cost = None if None in costs else sum(each for each in costs if each is not None)
    usage = sum((each.usage for each in paid), Usage())
    spent.add(usage, seconds, cost)
    if paid and (budget := getattr(setup.model, "budget", None)) is not None:
        budget.charge(cost)
    return fitted, ranking, {"calls": usage.calls, "latency_s": seconds, "cost_usd": cost}


async def _rerank(
    sample: Sample, setup: Setup, found: Sequence[RankedConversation], options: CdrOptions, trial: int, spent: _Spent
) -> tuple[list[RankedConversation], int]:
    """The first candidates in the model's order, then those that it left out, then the rest; how many it named.

    An unreadable reply leaves the first stage's order: what is scored is then not the model's, and the attempt says so.
    """
    few, rest = list(found[: options.candidates]), list(found[options.candidates :])
    if not few:
        return list(found), 0
    corpus = load_corpus(sample.dataset_id)
    seed = int(content_id("seed", sample.id, trial, setup.seed), 16) % 2**31
    # Shuffled, so that a model that keeps the order it was given does not pass for one that knows it.
    places = list(range(len(few)))
    random.Random(seed).shuffle(places)
    shown = tuple(
        Candidate(number=number, text=cut_middle(options.text.write(corpus[few[place].id].messages)))
        for number, place in enumerate(places, 1)
    )
    inputs = RerankInputs(query=str(sample.inputs["query"]), candidates=shown)
    reply = await ask(setup.model, RERANK, inputs, seed=seed)
    spent.add(reply.usage, reply.latency_s, reply.cost_usd)
    if reply.failure is not None:
        spent.failures.append(reply.failure)
    order = [places[number - 1] for number in reply.output.order] if reply.output else []
    left = [place for place in range(len(few)) if place not in order]
    return [*(few[place] for place in (*order, *left)), *rest], len(order)


def _describe(fitted: FittedIndex, name: str, setup: Setup, options: CdrOptions) -> dict[str, Any]:
    """What decided the ranking, and what to call it."""
    about = {key: value for key, value in fitted.about.items() if key != "description"}
    kind, _, vectors = name.partition(":")
    title = {"bm25": "BM25", "minilm": "MiniLM"}.get(name, name.capitalize() if name.isalpha() else name)
    if kind == "hybrid" and vectors:
        title = f"Hybrid with {vectors}"
    if llm.role_of(setup.model.name) != RETRIEVER:
        title += f", reranked by {setup.model.name.rpartition(':')[2]}"
    usual = CdrOptions.read({})
    title += "" if options.prefix == usual.prefix else ", no speakers"
    title += "" if options.side == usual.side else f", {options.side} only"
    return {**about, "name": title}


def _list_spans(dataset_id: str, found: Sequence[RankedConversation]) -> list[list[int]]:
    """Where each unit stands in the text of its whole conversation, in characters: in that which pages show, whatever
    of it this run's units contain."""
    base = str(home())
    return [list(_find_stored_span(base, dataset_id, each.id, each.unit.first, each.unit.last)) for each in found]


@functools.lru_cache(maxsize=50_000)
def _find_stored_span(base: str, dataset_id: str, id: str, first: int, last: int) -> tuple[int, int]:
    # Kept, because queries find the same conversations again and again, and each lies packed in the corpus.
    return find_span(load_corpus(dataset_id, base)[id].messages, first, last, UnitText())


def find_span(messages: Sequence[Message], first: int, last: int, text: UnitText) -> tuple[int, int]:
    """(start, end) of the messages from `first` to `last` in what `text` writes of all of them."""
    start = end = at = 0
    begun = False
    for place, message in enumerate(messages):
        if not (said := text.write((message,))):
            continue
        at += bool(at)  # the line break before it
        if first <= place <= last:
            start, begun = (start, True) if begun else (at, True)
            end = at + len(said)
        at += len(said)
    return start, end


def prepare(samples: Sequence[Sample], options: CdrOptions, model: str) -> Iterator[tuple[int, int, str]]:
    """Vectors of all units and queries, kept in the store's cache, where making them is slow or paid for."""
    name = find_retriever(model, options)
    samples = [sample for sample in samples if sample.task in GRANULARITIES]
    if is_quick(name):
        return
    asked: dict[tuple[str, Any], list[str]] = {}
    for sample in samples:
        asked.setdefault((sample.dataset_id, sample.inputs["granularity"]), []).append(sample.inputs["query"])
    for (dataset_id, granularity), queries in sorted(asked.items()):
        for done, of in fill_vectors(dataset_id, name, granularity, options.text, list(dict.fromkeys(queries))):
            yield done, of, f"{granularity}s embedded"
