"""Conversations that are there already: to the letter, nearly, or in meaning. The first one of each group is kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

# MinHash: of pairs that have 0.8 in common all but one in a million share one of so many bands; what shares one is
# compared exactly.
HASHES, BANDS = 128, 32
# Earlier texts of one band that a text is compared with: a band that hundreds share would take the square of them.
_MOST = 20
SHINGLE = 5
"""Words in a row that are compared."""
_WORD = re.compile(r"\w+")
_PLACE = np.uint64(0x9E3779B97F4A7C15)
# From so many on vectors are compared within clusters of about so many, as comparing all with all grows by the square.
_ALL_PAIRS, _CLUSTER = 20_000, 2_000
_BLOCK = 1_024

Pairs = dict[str, str]
"""What is left out → what it repeats."""


def find_exact(texts: Mapping[str, str]) -> Pairs:
    """The same letters, blanks and capitals aside."""
    first: dict[bytes, str] = {}
    found: Pairs = {}
    for name, text in texts.items():
        key = hashlib.blake2b(" ".join(text.casefold().split()).encode("utf-8", "replace"), digest_size=16).digest()
        if (before := first.setdefault(key, name)) != name:
            found[name] = before
    return found


def find_near(texts: Mapping[str, str], least: float) -> Pairs:
    """A Jaccard similarity of at least `least` between the sets of five words in a row."""
    names = list(texts)
    # Only signatures are kept of all texts; the few that share a band are taken apart again.
    shingle = lru_cache(maxsize=1_000)(lambda place: _shingle(texts[names[place]]))
    found: Pairs = {}
    for later, earlier in sorted(_find_candidates(texts.values())):
        if names[later] in found or names[earlier] in found:
            continue
        a, b = shingle(later), shingle(earlier)
        if len(np.intersect1d(a, b, assume_unique=True)) >= least * len(np.union1d(a, b)):
            found[names[later]] = names[earlier]
    return found


def find_alike(names: Sequence[str], vectors: NDArray[np.float32], least: float) -> Pairs:
    """A cosine of at least `least`; `vectors` have length 1, or are zeros where nothing was embedded.

    From 20,000 on only what falls into one cluster is compared, so that a pair at the edge of two may stay.
    """
    found: Pairs = {}
    for members in _cluster(vectors):
        for start in range(0, len(members), _BLOCK):
            block = members[start : start + _BLOCK]
            scores = vectors[block] @ vectors[members[: start + len(block)]].T
            for row, place in enumerate(block.tolist()):
                if names[place] in found:
                    continue
                before = np.flatnonzero(scores[row, : start + row] >= least)
                kept = next((names[members[at]] for at in before.tolist() if names[members[at]] not in found), None)
                if kept is not None:
                    found[names[place]] = kept
    return found


@lru_cache(maxsize=100_000)
def _hash_word(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def _shingle(text: str) -> NDArray[np.uint64]:
    """The hashes of its runs of words, each once: sums of the words' hashes, weighed by their places."""
    words = np.array([_hash_word(word) for word in _WORD.findall(text.casefold())], dtype=np.uint64)
    length = min(SHINGLE, len(words))
    # What overflows 64 bits is meant to. A text shorter than a run is told from the end of a longer one by its length.
    found = np.full(len(words) - length + 1, length, dtype=np.uint64)
    for place in range(length):
        found = found * _PLACE + words[place : place + len(found)]
    return np.unique(found ^ (found >> np.uint64(29)))


def _find_candidates(texts: Collection[str]) -> set[tuple[int, int]]:
    """(later, earlier) places that share a band."""
    rng = np.random.default_rng(20251002)
    # Multiply-shift hashing: what overflows 64 bits is meant to.
    factors = rng.integers(0, 1 << 63, HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    offsets = rng.integers(0, 1 << 63, HASHES, dtype=np.uint64)
    signatures = np.zeros((len(texts), HASHES), dtype=np.uint32)
    for place, text in enumerate(texts):
        pieces = _shingle(text)
        signatures[place] = ((pieces[:, None] * factors + offsets) >> np.uint64(32)).min(axis=0)
    rows = HASHES // BANDS
    found: set[tuple[int, int]] = set()
    for band in range(BANDS):
        keys = np.ascontiguousarray(signatures[:, band * rows : (band + 1) * rows])
        order = np.lexsort(keys.T)  # stable, so that places rise among equals
        same = (keys[order[1:]] == keys[order[:-1]]).all(axis=1)
        start = 0
        for at in range(1, len(order)):
            if not same[at - 1]:
                start = at
                continue
            found.update((int(order[at]), int(order[before])) for before in range(start, min(at, start + _MOST)))
    return found


def _cluster(vectors: NDArray[np.float32]) -> list[Any]:
    """Places of vectors that are compared with each other, in their order; those of zeros with none."""
    full = np.flatnonzero(vectors.any(axis=1))
    if len(full) <= _ALL_PAIRS:
        return [full]
    from sklearn.cluster import MiniBatchKMeans  # late: 0.5 s

    count = len(full) // _CLUSTER
    labels = MiniBatchKMeans(count, random_state=0, n_init=1, batch_size=4096).fit_predict(vectors[full])
    return [full[labels == label] for label in range(count)]
