"""Which articles have passages that lie near each other: the candidates that need no figure and no name.

A passage is a sentence under its article's title, so that what it says and what the article is about both count; those
under one topic are a little nearer. Two articles that contradict or repeat each other in one sentence are far apart as
wholes; those sentences are near.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.cxmarena.evaluation.claims import title
from cxlab.benchmarks.cxmarena.evaluation.cosines import cosine_rows
from cxlab.benchmarks.cxmarena.text import sentences

# Words of the shortest sentence that is compared.
SHORTEST = 4
# Most contradictions are about figures, so two sentences that hold some are that much nearer. Of .1, .2 and .3 it found
# most on a written and a generated brand, with words and with an embedder.
FIGURES = 0.2
# And a little nearer where both articles stand under one topic. Of 294 contradicting pairs among a generated brand's
# 1,915 articles it brings 128 instead of 115 among the 5 nearest, and 190 instead of 185 among 10. The written brand
# loses none of its 11 there, 6 of which lie between topics; with .2 it does.
TOPIC = 0.06
# Pairs of sentences that stand for a pair of articles.
SHOWN = 3


class NearPair(NamedTuple):
    """Two articles, the smaller id first; their nearest sentences; the better of the two ranks that one has among the
    other's neighbours, from 1; and the cosine of their nearest sentences, raised where both hold figures and where the
    articles share a topic.
    """

    first: str
    second: str
    passages: tuple[tuple[str, str], ...]
    rank: int
    nearness: float


def find_near_pairs(
    texts: Mapping[str, str], similarity: str = "words", k: int = 10, topics: Mapping[str, str] | None = None
) -> list[NearPair]:
    """The pairs in which one article is among the other's `k` nearest, nearest ranks first.

    `topics`: the topic or collection that articles stand under, of those that have one. Sentences that are word for
    word the same are not compared: they cannot contradict each other.
    """
    best: dict[tuple[str, str], NearPair] = {}
    for pair in _neighbours(texts, similarity, k, topics or {}):
        known = best.get(pair[:2])
        if known is None or pair.rank < known.rank:
            best[pair[:2]] = pair
    return sorted(best.values(), key=lambda one: (one.rank, -one.nearness, one.first, one.second))


def _neighbours(texts: Mapping[str, str], similarity: str, k: int, topics: Mapping[str, str]) -> Iterator[NearPair]:
    ids = list(texts)
    said = [[s for s in dict.fromkeys(sentences(text)[1:]) if len(s.split()) >= SHORTEST] for text in texts.values()]
    flat = [sentence for own in said for sentence in own]
    if not flat:
        return
    ends = np.cumsum([len(own) for own in said])
    starts = ends - [len(own) for own in said]
    full = [n for n, own in enumerate(said) if own]
    row_of = {article: row for row, article in enumerate(full)}
    titles = map(title, texts.values())
    rows = cosine_rows([f"{head}. {s}" for head, own in zip(titles, said, strict=True) for s in own], similarity)
    figured = np.array([any(map(str.isdigit, sentence)) for sentence in flat])
    codes = {topic: n for n, topic in enumerate(dict.fromkeys(topics.values()))}
    # Whoever stands under no topic shares none.
    under = np.array([codes.get(topics.get(one, ""), -1 - n) for n, one in enumerate(ids)])
    topic_of = np.repeat(under, [len(own) for own in said])
    numbers = {sentence: n for n, sentence in enumerate(dict.fromkeys(flat))}
    same = np.array([numbers[sentence] for sentence in flat])
    for place in full:
        own = slice(int(starts[place]), int(ends[place]))
        block = rows(own.start, own.stop)
        block[block <= 0] = -1.0
        block += FIGURES * (figured[own, None] & figured[None, :])
        block += TOPIC * (topic_of[None, :] == under[place])
        block[same[own, None] == same[None, :]] = -1.0
        nearest: NDArray[np.float32] = np.maximum.reduceat(block, starts[full], axis=1).max(axis=0)
        nearest[row_of[place]] = -1.0
        for rank, other in enumerate(np.argsort(-nearest, kind="stable")[:k].tolist(), start=1):
            if nearest[other] <= 0:
                break
            theirs = slice(int(starts[full[other]]), int(ends[full[other]]))
            shown = _pick(block[:, theirs], said[place], said[full[other]])
            if ids[place] > ids[full[other]]:
                shown = tuple((b, a) for a, b in shown)
            first, second = sorted((ids[place], ids[full[other]]))
            yield NearPair(first, second, shown, rank, float(nearest[other]))


def _pick(block: NDArray[np.float32], ours: list[str], theirs: list[str]) -> tuple[tuple[str, str], ...]:
    """The nearest pairs of sentences of two articles, nearest first."""
    order = np.argsort(-block, axis=None, kind="stable")[:SHOWN]
    return tuple((ours[n // len(theirs)], theirs[n % len(theirs)]) for n in order.tolist() if block.flat[n] > 0)
