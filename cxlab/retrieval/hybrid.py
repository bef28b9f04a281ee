"""Several indexes as one: reciprocal rank fusion of documents (Cormack, Clarke and Büttcher 2009)."""

from collections.abc import Sequence
from typing import Any

from cxlab.errors import BadOption
from cxlab.retrieval.documents import Hit, Index, check_search

# The paper's constant, and how many documents of each index are fused at least.
RRF_K, DEPTH = 60, 100


class HybridIndex:
    """A document's score is the sum over the indexes of 1 / (60 + its rank there).

    Only documents with a score above 0 are ranked in an index: a keyword index that finds nothing would
    otherwise hand out good ranks by the alphabet. The best piece is that of the index where the document
    ranks highest, the first of them among equals. Equal sums are ordered by id.
    """

    def __init__(self, indexes: Sequence[Index], rrf_k: int = RRF_K, depth: int = DEPTH) -> None:
        if not indexes or rrf_k < 0 or depth < 1:
            raise BadOption("a hybrid index needs one index or more, rrf_k of at least 0 and depth of at least 1")
        self.indexes = list(indexes)
        self.rrf_k, self.depth = rrf_k, depth
        self.description: dict[str, Any] = {
            "kind": "hybrid",
            "fusion": "reciprocal rank, documents with a score above 0",
            "rrf_k": rrf_k,
            "depth": depth,
            "indexes": [index.description for index in indexes],
        }

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """For each query at most k distinct documents, best first."""
        check_search(queries, k)
        rankings = [index.search(queries, max(k, self.depth)) for index in self.indexes]
        return [self._fuse([ranking[row] for ranking in rankings], k) for row in range(len(queries))]

    def _fuse(self, rankings: list[list[Hit]], k: int) -> list[Hit]:
        sums: dict[str, float] = {}
        highest: dict[str, tuple[int, Hit]] = {}
        for ranking in rankings:
            for rank, hit in enumerate((hit for hit in ranking if hit.score > 0), 1):
                sums[hit.id] = sums.get(hit.id, 0.0) + 1 / (self.rrf_k + rank)
                if hit.id not in highest or rank < highest[hit.id][0]:
                    highest[hit.id] = (rank, hit)
        # 12 places: two orders of summing the same fractions differ only beyond them.
        order = sorted(sums, key=lambda name: (-round(sums[name], 12), name))[:k]
        return [Hit(name, sums[name], highest[name][1].chunk) for name in order]
