"""How well a retriever finds the conversations that a query asks for."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.cdr.ranking import ConversationIndex, Retriever, Units
from cxlab.benchmarks.cdr.units import Granularity, Unit, UnitText
from cxlab.errors import BadOption
from cxlab.metrics.intervals import Interval, mean_interval
from cxlab.metrics.retrieval import CUTOFFS, evaluate_each
from cxlab.records import Conversation
from cxlab.retrieval import load as load_retriever

# Conversations of a ranking that are kept: more than any cut-off, for looking at misses.
DEPTH = 100
# A unit is a hub when it comes first, wrongly, for this share of the queries, and at least so often.
HUB_SHARE, HUB_LEAST = 0.05, 3
_TITLES = {"p": "precision", "r": "recall"}
_AS_USUAL = UnitText()


class Hub(NamedTuple):
    """A unit that comes first for queries that have nothing to do with it."""

    unit: Unit
    first: int
    """Queries for which its conversation comes first because of it."""
    wrong: int
    """Those among them for which that conversation is not relevant."""


@dataclass(frozen=True)
class Result:
    """What `evaluate` comes to.

    `rankings`: query id → conversation ids, best first, at most 100. `matched`: for each of them the unit that it was
    found by. `metrics`: means over all queries of "acc@k", "precision@k", "recall@k", "ndcg@k" and "mrr@k"; `each`: the
    same figures, one value a query in the order of `rankings`.
    """

    rankings: dict[str, list[str]]
    matched: dict[str, list[Unit]]
    metrics: dict[str, float]
    each: dict[str, NDArray[np.float64]]
    units: Units
    hubs: tuple[Hub, ...]
    ingestion_s: float
    inference_s: float
    undecided: tuple[str, ...]
    """Queries for which all conversations score alike: their ranking is the order of the ids, nothing was found."""
    without_relevant: tuple[str, ...]
    """Queries that nothing is relevant to; they count 0 in each mean."""
    dangling: int
    """Relevant ids that are not in the corpus; they count as not found."""
    settings: dict[str, Any]

    def interval(self, metric: str, queries: Iterable[str] | None = None) -> Interval:
        """A metric's mean and 95 % interval, over some of the queries (None: all)."""
        if metric not in self.each:
            raise BadOption(f"metric {metric!r}; known: {', '.join(self.each)}")
        values = self.each[metric]
        if queries is not None:
            wanted = set(queries)
            values = values[[place for place, name in enumerate(self.rankings) if name in wanted]]
        return mean_interval(values, bounds=(0.0, 1.0))

    def by(self, groups: Mapping[str, str], metric: str) -> dict[str, Interval]:
        """A metric for each group of queries (query id → its area, say); queries without a group are left out."""
        members: dict[str, list[str]] = {}
        for query in self.rankings:
            if query in groups:
                members.setdefault(groups[query], []).append(query)
        return {group: self.interval(metric, queries) for group, queries in sorted(members.items())}


def evaluate(
    corpus: Mapping[str, Conversation],
    queries: Mapping[str, str],
    relevant: Mapping[str, Iterable[str]],
    retriever: Retriever | str,
    granularity: Granularity,
    text: UnitText = _AS_USUAL,
    cutoffs: Sequence[int] = CUTOFFS,
) -> Result:
    """Rank the corpus for each query and compare with what is relevant to it; `retriever` is one, or its name.

    How conversations are ordered: `ranking.ConversationIndex`. The mean is over all queries; relevant ids that come
    twice count once. BadOption for a retriever that gives anything but one finite number a text.
    """
    if isinstance(retriever, str):
        retriever = load_retriever(retriever)
    index = ConversationIndex(corpus, retriever, granularity, text)
    gold = {query: frozenset(_ids(relevant.get(query, ()), query)) for query in queries}
    began = time.perf_counter()
    index.prepare(list(queries.values()))
    rankings: dict[str, list[str]] = {}
    matched: dict[str, list[Unit]] = {}
    undecided = []
    for query, asked in queries.items():
        found, alike = index.rank(asked, DEPTH, query)
        rankings[query], matched[query] = [each.id for each in found], [each.unit for each in found]
        if alike and len(index.ids) > 1:
            undecided.append(query)
    inference_s = time.perf_counter() - began
    each = _measure(rankings, gold, cutoffs)
    settings = {
        "granularity": granularity,
        "text": text.to_record(),
        "conversation_score": "the best of its units",
        "ties": "by id",
        "retriever": getattr(retriever, "description", None) or type(retriever).__name__,
    }
    return Result(
        rankings=rankings,
        matched=matched,
        metrics={name: float(values.mean()) if values.size else float("nan") for name, values in each.items()},
        each=each,
        units=index.describe_units(),
        hubs=_find_hubs(rankings, matched, gold, set(undecided)),
        ingestion_s=index.build_s,
        inference_s=inference_s,
        undecided=tuple(undecided),
        without_relevant=tuple(query for query, wanted in gold.items() if not wanted),
        dangling=sum(len(wanted - corpus.keys()) for wanted in gold.values()),
        settings=settings,
    )


def _ids(given: Any, query: str) -> list[str]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise BadOption(f"relevant[{query!r}] is {str(given)[:60]!r}; give a list or set of conversation ids")
    return list(given)


def _measure(
    rankings: dict[str, list[str]], gold: dict[str, frozenset[str]], cutoffs: Sequence[int]
) -> dict[str, NDArray[np.float64]]:
    """One value a query; 0 where nothing is relevant, as the mean is over all queries."""
    found = evaluate_each(rankings, gold, cutoffs)
    each = {}
    for name, values in found.items():
        kind, _, k = name.partition("@")
        each[f"{_TITLES.get(kind, kind)}@{k}"] = np.nan_to_num(values, nan=0.0)
    return each


def _find_hubs(
    rankings: dict[str, list[str]],
    matched: dict[str, list[Unit]],
    gold: dict[str, frozenset[str]],
    undecided: set[str],
) -> tuple[Hub, ...]:
    """Most often wrong first. A retriever that embeds an empty text badly puts that one before all others."""
    first: dict[Unit, int] = {}
    wrong: dict[Unit, int] = {}
    for query, ranking in rankings.items():
        if ranking and query not in undecided:
            unit = matched[query][0]
            first[unit] = first.get(unit, 0) + 1
            wrong[unit] = wrong.get(unit, 0) + (ranking[0] not in gold[query])
    least = max(HUB_LEAST, HUB_SHARE * len(rankings))
    hubs = [Hub(unit, first[unit], times) for unit, times in wrong.items() if times >= least]
    return tuple(sorted(hubs, key=lambda hub: (-hub.wrong, hub.unit.conversation_id, hub.unit.first)))
