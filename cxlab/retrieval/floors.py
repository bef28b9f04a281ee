"""What needs no search: an order by chance, and one and the same order for every query."""

import hashlib
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


class RandomOrder:
    """Scores drawn anew for each query; the same query over as many texts always gets the same ones."""

    description: dict[str, Any] = {"retriever": "random", "kind": "floor"}

    def __init__(self) -> None:
        self._count = 0

    def count_cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than it reads: it reads none."""
        return 0

    def fit(self, texts: Sequence[str]) -> Self:
        """Count the texts."""
        self._count = len(texts)
        return self

    def scores(self, query: str) -> NDArray[np.float64]:
        """A number from 0 to 1 a text."""
        seed = int.from_bytes(hashlib.blake2b(query.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        return np.random.default_rng(seed).random(self._count)


class HubOrder:
    """The texts that are most like all others first, whatever is asked: cosine with the mean of all TF-IDF vectors.

    What a crowded vector space does to a query that it cannot place; no retriever should come near it.
    """

    description: dict[str, Any] = {"retriever": "hub", "kind": "floor"}

    def __init__(self) -> None:
        self._scores: NDArray[np.float64] = np.zeros(0)

    def count_cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than it reads: none."""
        return 0

    def fit(self, texts: Sequence[str]) -> Self:
        """Find the middle of the texts."""
        from sklearn.feature_extraction.text import TfidfVectorizer  # late: 0.5 s

        self._scores = np.zeros(len(texts))
        if any(any(map(str.isalnum, text)) for text in texts):
            rows = TfidfVectorizer(token_pattern=r"\w+").fit_transform(texts)
            self._scores = np.asarray(rows @ np.asarray(rows.mean(axis=0)).ravel(), dtype=np.float64)
        return self

    def scores(self, query: str) -> NDArray[np.float64]:
        """The same numbers for every query."""
        return self._scores
