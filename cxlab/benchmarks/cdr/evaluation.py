"""How well a retriever finds the conversations that a query asks for."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.cdr.units import Granularity, Unit, UnitText, split
from cxlab.errors import BadOption
from cxlab.metrics.intervals import Interval, mean_interval
from cxlab.metrics.retrieval import CUTOFFS, evaluate_each
from cxlab.records import Conversation

# Conversations of a ranking that are kept: more than any cut-off, for looking at misses.
DEPTH = 100
# A unit is a hub when it comes first, wrongly, for this share of the queries, and at least so often.
HUB_SHARE, HUB_LEAST = 0.05, 3
# Scores that differ by less, as parts of the query's largest, are equal: the last bits of a matrix product in float32
# depend on how many threads made it.
FLOAT32_PLACES, PLACES = 6, 12
_TITLES = {"p": "precision", "r": "recall"}
_AS_USUAL = UnitText()


class Retriever(Protocol):
    """Anything that scores texts for a query.

    What it may have beside: `prepare(queries)`, called once before the first query (an embedder asks its server for
    many at a time); `description`, its settings; `count_cut(texts)`, how many texts are longer than it reads.
    """

    def fit(self, texts: Sequence[str]) -> object:
        """Take in the texts; called once."""
        ...

    def scores(self, query: str) -> NDArray[Any]:
        """A number a text, in their order: the higher, the better; finite."""
        ...


class Hub(NamedTuple):
    """A unit that comes first for queries that have nothing to do with it."""

    unit: Unit
    first: int
    """Queries for which its conversation comes first because of it."""
    wrong: int
    """Those among them for which that conversation is not relevant."""


@dataclass(frozen=True)
class Units:
    """What the corpus was cut into. `empty` units have no text and are not searched; `cut` ones are longer than the
    retriever reads (None: it does not say)."""

    count: int
    empty: int
    cut: int | None
    without: tuple[str, ...]
    """Conversations without a unit that could be found."""


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
    retriever: Retriever,
    granularity: Granularity,
    text: UnitText = _AS_USUAL,
    cutoffs: Sequence[int] = CUTOFFS,
) -> Result:
    """Rank the corpus for each query and compare with what is relevant to it.

    A conversation scores as the best of its units does, so it comes once, before anything is cut. Equal scores (to six
    places of the query's largest where they are float32, to twelve else) are ordered by id. The mean is over all
    queries; relevant ids that come twice count once. BadOption for a retriever that gives anything but one finite
    number a text.
    """
    ids = sorted(corpus)
    units: list[Unit] = []
    starts: list[int] = []
    found: list[str] = []
    count = 0
    for name in ids:
        cut = split(corpus[name], granularity, text)
        count += len(cut)
        full = [unit for unit in cut if unit.text]
        if full:
            starts.append(len(units))
            found.append(name)
            units += [unit._replace(conversation_id=name) for unit in full]
    texts = [unit.text for unit in units]
    began = time.perf_counter()
    if texts:
        retriever.fit(texts)
    ingestion_s = time.perf_counter() - began
    gold = {query: frozenset(_ids(relevant.get(query, ()), query)) for query in queries}
    began = time.perf_counter()
    if texts and (prepare := getattr(retriever, "prepare", None)) is not None:
        prepare(list(queries.values()))
    order = _Order(starts, len(units))
    rankings: dict[str, list[str]] = {}
    matched: dict[str, list[Unit]] = {}
    undecided = []
    for query, asked in queries.items():
        if not texts:
            rankings[query], matched[query] = [], []
            continue
        places, best, alike = order.rank(_check(retriever.scores(asked), len(units), query), DEPTH)
        rankings[query] = [found[place] for place in places]
        matched[query] = [units[place] for place in best]
        if alike and len(found) > 1:
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
    count_cut = getattr(retriever, "count_cut", None)
    return Result(
        rankings=rankings,
        matched=matched,
        metrics={name: float(values.mean()) if values.size else float("nan") for name, values in each.items()},
        each=each,
        units=Units(
            count=count,
            empty=count - len(units),
            cut=None if count_cut is None else count_cut(texts),
            without=tuple(sorted(set(ids) - set(found))),
        ),
        hubs=_find_hubs(rankings, matched, gold, set(undecided)),
        ingestion_s=ingestion_s,
        inference_s=inference_s,
        undecided=tuple(undecided),
        without_relevant=tuple(query for query, wanted in gold.items() if not wanted),
        dangling=sum(len(wanted - corpus.keys()) for wanted in gold.values()),
        settings=settings,
    )


class _Order:
    """Units' scores into an order of conversations; the units of one stand side by side."""

    def __init__(self, starts: list[int], count: int) -> None:
        self.starts = np.asarray(starts, dtype=np.int64)
        self.ends = np.append(self.starts[1:], count)

    def rank(self, scores: NDArray[np.floating[Any]], depth: int) -> tuple[list[int], list[int], bool]:
        """(the best conversations' places, the place of each one's best unit, whether all score alike)."""
        peaks = _round(np.maximum.reduceat(scores, self.starts), scores.dtype)
        if depth < len(peaks):
            least = np.partition(peaks, len(peaks) - depth)[len(peaks) - depth]
            near = np.flatnonzero(peaks >= least)
        else:
            near = np.arange(len(peaks))
        # Places rise as ids do, and a stable sort keeps them so among equals.
        places = near[np.argsort(-peaks[near], kind="stable")][:depth].tolist()
        best = [int(self.starts[at] + scores[self.starts[at] : self.ends[at]].argmax()) for at in places]
        return places, best, bool(peaks.min() == peaks.max())


def _round(peaks: NDArray[Any], kind: np.dtype[Any]) -> NDArray[np.float64]:
    """As parts of the largest."""
    values = peaks.astype(np.float64)
    largest = np.abs(values).max()
    return (values / largest).round(FLOAT32_PLACES if kind.itemsize < 8 else PLACES) if largest else values


def _check(scores: Any, count: int, query: str) -> NDArray[np.floating[Any]]:
    found = np.asarray(scores)
    if found.dtype not in (np.float32, np.float64):
        found = found.astype(np.float64)
    if found.shape != (count,):
        raise BadOption(f"query {query!r}: scores of shape {found.shape} for {count} units; give one number a unit")
    # A sum is finite unless a part is not; the longer look is for who is to be told.
    if not np.isfinite(found.sum()) and not np.isfinite(found).all():
        raise BadOption(f"query {query!r}: the score of unit {int(np.argmin(np.isfinite(found)))} is not finite")
    return found


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
