"""Which articles of a knowledge base say the same, and which contradict each other.

Similar: cosine of whole articles, all pairs above a threshold (the paper's and the public way); or, when asked for, in
two stages, too: the pairs above a lower one are put to a model. Contradictory: in two stages, first the pairs with
passages that state something of the same thing (or the nearest whole articles), then each by a model or by the
difference of the facts that the texts state. Beside both stands the public
evaluator's way: five nearest neighbours with the article itself among them, a pair kept where the article
that stands first in the file lists the other and their cosine is 0.9 or more, one list beside both kinds of gold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cxlab.benchmarks.cxmarena.evaluation.contradiction_candidates import ArticleContrast, excerpt
from cxlab.benchmarks.cxmarena.evaluation.corpus import Corpus
from cxlab.benchmarks.cxmarena.evaluation.cosines import cosine_rows
from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import (
    PairInputs,
    PairReply,
    Passage,
    SimilarReply,
)
from cxlab.benchmarks.cxmarena.evaluation.property_alignment import SURE
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
CANDIDATES = ("passages", "articles")
SIMILAR = ("embedding", "model")
# How far below the threshold pairs are still put to a model: an inserted passage leaves two articles less alike.
WIDER = 0.25
_BLOCK = 512
_AT_ONCE = 16


class SimilarPair(NamedTuple):
    """Two articles, the smaller id first, and their cosine."""

    first: str
    second: str
    similarity: float


@dataclass(frozen=True)
class Neighbours:
    """The most similar pairs, best first; each article's nearest; the public evaluator's list; and the cosines that
    were asked for.
    """

    pairs: list[SimilarPair]
    nearest: list[SimilarPair]
    public: list[SimilarPair]
    asked: dict[tuple[str, str], float]


class ContradictionCandidate(NamedTuple):
    """A pair to be checked, the passages of it that may contradict, and whether those made it a candidate."""

    pair: SimilarPair
    contrast: ArticleContrast | None
    by_passages: bool


@dataclass
class ContradictionCheck:
    """The contradictions found, with the words that show them, and the replies it took."""

    found: list[dict[str, Any]] = field(default_factory=list)
    unread: int = 0


def compare(
    corpus: Corpus,
    similarity: str = "words",
    k: int = 10,
    floor: float = FLOOR,
    asked: Sequence[tuple[str, str]] = (),
) -> Neighbours:
    """Every article against every other, a block of rows at a time; pairs below `floor` are forgotten unless `asked`
    for.
    """
    # In the order of the file, which decides what the public evaluator keeps.
    ids = list(corpus.texts)
    places = {one: place for place, one in enumerate(ids)}
    wanted: dict[int, list[tuple[str, str]]] = {}
    for pair in asked:
        wanted.setdefault(places[pair[0]], []).append(pair)
    cosines: dict[tuple[str, str], float] = {}
    rows = cosine_rows([corpus.texts[one] for one in ids], similarity)
    count = len(ids)
    pairs: list[tuple[int, int, float]] = []
    nearest: dict[tuple[int, int], float] = {}
    public: dict[tuple[int, int], float] = {}
    for start in range(0, count, _BLOCK):
        block = rows(start, min(start + _BLOCK, count))
        for offset, scores in enumerate(block):
            place = start + offset
            cosines.update((pair, round(float(scores[places[pair[1]]]), 6)) for pair in wanted.get(place, ()))
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
            pairs = sorted(pairs, key=lambda p: (-p[2], *sorted((ids[p[0]], ids[p[1]]))))[:MOST_PAIRS]

    def named(found: Sequence[tuple[int, int, float]], most: int) -> list[SimilarPair]:
        pairs = (SimilarPair(min(ids[i], ids[j]), max(ids[i], ids[j]), round(value, 6)) for i, j, value in found)
        return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first, pair.second))[:most]

    return Neighbours(
        named(pairs, MOST_PAIRS),
        named([(i, j, v) for (i, j), v in nearest.items()], len(nearest)),
        named([(i, j, v) for (i, j), v in public.items()], len(public)),
        cosines,
    )


def choose(found: Neighbours, contrasts: Sequence[ArticleContrast], by: str, most: int) -> list[ContradictionCandidate]:
    """The pairs to be checked for contradictions, the likeliest first: by their passages, or by whole articles."""
    if by not in CANDIDATES:
        raise BadOption(f"candidates={by!r}; known: {', '.join(CANDIDATES)}")
    if by == "passages":
        chosen = [SimilarPair(c.first, c.second, found.asked[c.first, c.second]) for c in contrasts[:most]]
    else:
        chosen = found.nearest[:most]
    shown = {contrast[:2]: contrast for contrast in contrasts}
    return [ContradictionCandidate(pair, shown.get(pair[:2]), by == "passages") for pair in chosen]


async def repetitions(
    corpus: Corpus,
    pairs: Sequence[SimilarPair],
    ask_model: Callable[[PairInputs], Awaitable[Reply[SimilarReply]]],
) -> tuple[list[list[str]], int]:
    """The pairs that a model takes for copies or for sharing a passage, and how many replies could not be read."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask_about(pair: SimilarPair) -> Reply[SimilarReply]:
        async with gate:
            return await ask_model(_inputs(corpus, ContradictionCandidate(pair, None, False)))

    replies = await asyncio.gather(*map(ask_about, pairs))
    found = [list(p[:2]) for p, r in zip(pairs, replies, strict=True) if r.output is not None and r.output.similar]
    return found, sum(reply.output is None for reply in replies)


async def contradictions(
    corpus: Corpus,
    candidates: Sequence[ContradictionCandidate],
    method: str,
    ask_model: Callable[[PairInputs], Awaitable[Reply[PairReply]]] | None = None,
) -> ContradictionCheck:
    """The candidate pairs that contradict each other, in the order of the candidates.

    `model`: each pair is put to the model, as the passages that made it a candidate or as whole articles. `facts`:
    sentences that surely state one property of one thing with other values. `similar`: every candidate, as the public
    baseline does.
    """
    if method not in METHODS:
        raise BadOption(f"contradictions={method!r}; known: {', '.join(METHODS)}")
    checked = ContradictionCheck()
    if method == "similar":
        checked.found = [_found(one.pair, "", "") for one in candidates]
    elif method == "facts":
        for one in candidates:
            if one.contrast is not None and one.contrast.same >= SURE:
                checked.found.append(_found(one.pair, *one.contrast.passages[0]))
    elif ask_model is None:
        raise BadOption("contradictions=model needs a model")
    else:
        gate = asyncio.Semaphore(_AT_ONCE)

        async def ask_about(one: ContradictionCandidate) -> tuple[SimilarPair, Reply[PairReply]]:
            async with gate:
                return one.pair, await ask_model(_inputs(corpus, one))

        for pair, reply in await asyncio.gather(*map(ask_about, candidates)):
            if reply.output is None:
                checked.unread += 1
            elif reply.output.contradicts:
                checked.found.append(_found(pair, reply.output.first, reply.output.second))
    return checked


def _inputs(corpus: Corpus, one: ContradictionCandidate) -> PairInputs:
    texts = [corpus.texts[i] for i in one.pair[:2]]
    if one.by_passages and one.contrast is not None:
        sides = zip(*one.contrast.passages, strict=True)
        texts = [excerpt(text, side) for text, side in zip(texts, sides, strict=True)]
    first, second = (Passage(id=i, text=text) for i, text in zip(one.pair[:2], texts, strict=True))
    return PairInputs(first=first, second=second)


def _found(pair: SimilarPair, first: str, second: str) -> dict[str, Any]:
    return {"pair": [pair.first, pair.second], "similarity": pair.similarity, "first": first, "second": second}
