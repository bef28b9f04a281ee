"""Which articles of a knowledge base say the same, and which contradict each other.

Similar: cosine of whole articles, all pairs above a threshold. Contradictory: in two stages, the nearest
pairs first, then each by a model or by the difference of their facts. Beside both stands the public
evaluator's way: five nearest neighbours with the article itself among them, a pair kept where the first
article lists the second and their cosine is 0.9 or more, one list held against both kinds of gold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.cxmarena.corpus import Corpus, embedder
from cxlab.benchmarks.cxmarena.prompts import PairInputs, PairReply, Passage
from cxlab.benchmarks.cxmarena.wording import content, differences
from cxlab.errors import BadOption
from cxlab.llm.base import Reply

# Where a pair of whole articles counts as similar, by what measures it; chosen by hand, to be set by the threshold
# sweep once a whole brand is generated.
THRESHOLDS = {"words": 0.6, "hashing": 0.9, "minilm": 0.9}
DEFAULT_THRESHOLD = 0.9
PUBLIC_K, PUBLIC_THRESHOLD = 5, 0.9
FLOOR = 0.3  # what lies below is never a candidate (reference 6: a prefilter of about 0.6 for embeddings)
MOST_PAIRS = 20_000
METHODS = ("model", "facts", "similar")
_BLOCK = 512
_AT_ONCE = 16


class Scored(NamedTuple):
    """Two articles, the smaller id first, and their cosine."""

    first: str
    second: str
    similarity: float


@dataclass(frozen=True)
class Neighbours:
    """The most similar pairs, best first; each article's nearest; and the public evaluator's list."""

    pairs: list[Scored]
    nearest: list[Scored]
    public: list[Scored]


@dataclass
class Checked:
    """The contradictions found, with the words that show them, and the replies it took."""

    found: list[dict[str, Any]] = field(default_factory=list)
    unread: int = 0


def compare(corpus: Corpus, similarity: str = "words", k: int = 10, floor: float = FLOOR) -> Neighbours:
    """Every article against every other, a block of rows at a time; pairs below `floor` are forgotten."""
    ids = sorted(corpus.texts)
    rows = _vectors([corpus.texts[one] for one in ids], similarity)
    count = len(ids)
    pairs: list[tuple[int, int, float]] = []
    nearest: dict[tuple[int, int], float] = {}
    public: dict[tuple[int, int], float] = {}
    for start in range(0, count, _BLOCK):
        block = rows(start, min(start + _BLOCK, count))
        for offset, scores in enumerate(block):
            place = start + offset
            above = np.flatnonzero(scores >= floor)
            pairs += [(place, int(j), float(scores[j])) for j in above if j > place]
            scores[place] = 2.0  # the article itself comes first, whatever else equals it
            top = np.argsort(-scores, kind="stable")[: max(k + 1, PUBLIC_K)]
            for rank, j in enumerate(map(int, top)):
                if j == place:
                    continue
                value = float(scores[j])
                if rank <= k and value >= floor:
                    nearest[min(place, j), max(place, j)] = value
                if rank < PUBLIC_K and place < j and value >= PUBLIC_THRESHOLD:
                    public[place, j] = value
        if len(pairs) > 4 * MOST_PAIRS:
            pairs = sorted(pairs, key=lambda p: -p[2])[:MOST_PAIRS]

    def named(found: Sequence[tuple[int, int, float]], most: int) -> list[Scored]:
        ordered = sorted(found, key=lambda p: (-round(p[2], 6), p[0], p[1]))[:most]
        return [Scored(ids[i], ids[j], round(value, 6)) for i, j, value in ordered]

    return Neighbours(
        named(pairs, MOST_PAIRS),
        named([(i, j, v) for (i, j), v in nearest.items()], len(nearest)),
        named([(i, j, v) for (i, j), v in public.items()], len(public)),
    )


def _vectors(texts: list[str], similarity: str) -> Callable[[int, int], NDArray[np.float32]]:
    """A function from a range of articles to their cosines with all articles."""
    if similarity == "words":
        from sklearn.feature_extraction.text import TfidfVectorizer

        if not any(content(text) for text in texts):
            return lambda start, end: np.zeros((end - start, len(texts)), dtype=np.float32)
        vectorizer = TfidfVectorizer(analyzer=content, sublinear_tf=True, dtype=np.float32)
        matrix = vectorizer.fit_transform(texts)
        turned = matrix.T.tocsr()
        return lambda start, end: np.asarray((matrix[start:end] @ turned).toarray(), dtype=np.float32)
    vectors: NDArray[np.float32] = embedder(similarity).embed(texts)
    return lambda start, end: vectors[start:end] @ vectors.T


async def contradictions(
    corpus: Corpus,
    candidates: Sequence[Scored],
    method: str,
    ask_model: Callable[[PairInputs], Awaitable[Reply[PairReply]]] | None = None,
) -> Checked:
    """The candidate pairs that contradict each other, in the order of the candidates.

    `model`: each pair is put to the model. `facts`: sentences on the same thing with other values. `similar`:
    every candidate, as the public baseline does.
    """
    if method not in METHODS:
        raise BadOption(f"contradictions={method!r}; known: {', '.join(METHODS)}")
    checked = Checked()
    if method == "similar":
        checked.found = [_found(pair, "", "") for pair in candidates]
    elif method == "facts":
        for number, pair in enumerate(candidates):
            shown = differences(corpus.texts[pair.first], corpus.texts[pair.second])
            if shown:
                checked.found.append(_found(pair, *shown[0]))
            if number % 100 == 99:
                await asyncio.sleep(0)
    elif ask_model is None:
        raise BadOption("contradictions=model needs a model")
    else:
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(pair: Scored) -> tuple[Scored, Reply[PairReply]]:
            first, second = (Passage(id=i, text=corpus.texts[i]) for i in pair[:2])
            async with gate:
                return pair, await ask_model(PairInputs(first=first, second=second))

        for pair, reply in await asyncio.gather(*map(one, candidates)):
            if reply.output is None:
                checked.unread += 1
            elif reply.output.contradicts:
                checked.found.append(_found(pair, reply.output.first, reply.output.second))
    return checked


def _found(pair: Scored, first: str, second: str) -> dict[str, Any]:
    return {"pair": [pair.first, pair.second], "similarity": pair.similarity, "first": first, "second": second}
