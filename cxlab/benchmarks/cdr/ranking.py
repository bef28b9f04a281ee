"""Conversations in the order in which a retriever finds them: cut into units, fitted once, asked as often as needed."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.cdr.units import Granularity, Unit, UnitText, split
from cxlab.errors import BadOption
from cxlab.records import Conversation

# Scores that differ by less, as parts of the query's largest, are equal: the last bits of a matrix product in float32
# depend on how many threads made it.
FLOAT32_PLACES, PLACES = 6, 12
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


@dataclass(frozen=True)
class Units:
    """What the corpus was cut into. `empty` units have no text and are not searched; `cut` ones are longer than the
    retriever reads (None: it does not say)."""

    count: int
    empty: int
    cut: int | None
    without: tuple[str, ...]
    """Conversations without a unit that could be found."""


class RankedConversation(NamedTuple):
    """A conversation that was found: its score is that of its best unit."""

    id: str
    score: float
    unit: Unit


class ConversationRanking(NamedTuple):
    """Conversations, best first. `alike`: all of the corpus score the same, so their order is that of the ids."""

    found: list[RankedConversation]
    alike: bool


class ConversationIndex:
    """A corpus cut into units and fitted; `rank` orders its conversations for a query.

    A conversation scores as the best of its units does, so it comes once, before anything is cut. Equal scores (to six
    places of the query's largest where they are float32, to twelve else) are ordered by id. `build_s`: seconds that
    fitting took.
    """

    def __init__(
        self,
        corpus: Mapping[str, Conversation],
        retriever: Retriever,
        granularity: Granularity,
        text: UnitText = _AS_USUAL,
    ) -> None:
        self.retriever = retriever
        self.ids: list[str] = []
        self.units: list[Unit] = []
        starts: list[int] = []
        count = 0
        for name in sorted(corpus):
            cut = split(corpus[name], granularity, text)
            count += len(cut)
            if full := [unit._replace(conversation_id=name) for unit in cut if unit.text]:
                starts.append(len(self.units))
                self.ids.append(name)
                self.units += full
        self.texts = [unit.text for unit in self.units]
        began = time.perf_counter()
        if self.texts:
            retriever.fit(self.texts)
        self.build_s = time.perf_counter() - began
        self._starts = np.asarray(starts, dtype=np.int64)
        self._ends = np.append(self._starts[1:], len(self.units)).astype(np.int64)
        self._count, self._without = count, tuple(sorted(corpus.keys() - set(self.ids)))

    def describe_units(self) -> Units:
        """What the corpus was cut into."""
        count_cut = getattr(self.retriever, "count_cut", None)
        cut = None if count_cut is None else count_cut(self.texts)
        return Units(self._count, self._count - len(self.units), cut, self._without)

    def prepare(self, queries: Sequence[str]) -> None:
        """Let the retriever read many queries at once, if it can."""
        if self.texts and (prepare := getattr(self.retriever, "prepare", None)) is not None:
            prepare(list(queries))

    def rank(self, query: str, depth: int, name: str = "") -> ConversationRanking:
        """The best `depth` conversations; BadOption, with the query's `name`, for a retriever that gives anything but
        one finite number a text."""
        if not self.texts:
            return ConversationRanking([], True)
        scores = _check(self.retriever.scores(query), len(self.units), name or query)
        raw = np.maximum.reduceat(scores, self._starts)
        peaks = _round(raw, scores.dtype)
        if depth < len(peaks):
            least = np.partition(peaks, len(peaks) - depth)[len(peaks) - depth]
            near = np.flatnonzero(peaks >= least)
        else:
            near = np.arange(len(peaks))
        # Places rise as ids do, and a stable sort keeps them so among equals.
        places = near[np.argsort(-peaks[near], kind="stable")][:depth].tolist()
        best = [int(self._starts[at] + scores[self._starts[at] : self._ends[at]].argmax()) for at in places]
        found = [
            RankedConversation(self.ids[at], float(raw[at]), self.units[unit])
            for at, unit in zip(places, best, strict=True)
        ]
        return ConversationRanking(found, bool(peaks.min() == peaks.max()))


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
