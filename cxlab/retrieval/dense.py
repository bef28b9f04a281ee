"""Pieces by meaning: an embedder's vectors in an exact index."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.retrieval.documents import readable
from cxlab.retrieval.embedders.embedder import Embedder, embed_queries
from cxlab.retrieval.exact import ExactIndex, check_finite
from cxlab.retrieval.top_k import Ranked


class DenseRanker:
    """Cosine between the query's vector and each piece's; every piece has a score, from -1 to 1."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self.embedder = embedder
        # Numbered so that rising ids are rising positions.
        names = [f"{place:09d}" for place in range(len(texts))]
        self.index = ExactIndex(names, embedder.embed(readable(texts)))
        self.description = {"embedder": embedder.name, "dim": embedder.dim, "search": "exact cosine"}

    def encode(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """One vector a query."""
        return embed_queries(self.embedder, list(queries))

    def rank(self, encoded: Any, rows: NDArray[np.int64], n: int) -> Ranked:
        """The best n pieces; none for a query that the embedder made nothing of (a vector of zeros)."""
        asked = encoded[rows]
        found = self.index.rank(asked, n)
        for row in np.flatnonzero(~asked.any(axis=1)).tolist():
            found[row] = (np.zeros(0, dtype=np.int64), np.zeros(0))
        return found

    def score(self, encoded: Any, row: int) -> NDArray[np.float32]:
        """The cosines of all pieces for one of the encoded queries."""
        check_finite(encoded[row : row + 1])
        scores: NDArray[np.float32] = self.index.vectors @ encoded[row]
        return scores
