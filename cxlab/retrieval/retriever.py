"""A retriever by name: fitted to texts it scores each of them for a query.

    found = cxlab.retrieval.load("fastembed:intfloat/multilingual-e5-large").fit(texts).scores("wo ist mein Paket?")

Names are those of indexes and embedders: bm25, lexical, hashing, minilm, fastembed:NAME, st:NAME, openai:MODEL,
endpoint:NAME/MODEL, and hybrid or hybrid:EMBEDDER.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption
from cxlab.retrieval.documents import Ranker
from cxlab.retrieval.embeddings import default_embedder, load_embedder
from cxlab.retrieval.hybrid import RRF_K
from cxlab.retrieval.rankers import KINDS, make_ranker, split_kind


class Retriever:
    """`fit` takes the texts, `scores` gives each of them a number, higher is nearer; 0 where nothing speaks for it."""

    def __init__(self, name: str, kind: str, embedder: Any) -> None:
        self.name, self._kind, self._embedder = name, kind, embedder
        self._parts: list[Ranker] = []
        self._count = 0

    @property
    def description(self) -> dict[str, Any]:
        """What it is made of, as results keep it."""
        about: dict[str, Any] = {"retriever": self.name, "kind": self._kind}
        if self._embedder is not None:
            about["embedder"] = self._embedder.name
        return about

    def fit(self, texts: Sequence[str]) -> Self:
        """Take the texts that are to be found."""
        kinds = ("bm25", "exact") if self._kind == "hybrid" else (self._kind,)
        self._parts = [make_ranker(kind, list(texts), self._embedder) for kind in kinds]
        self._count = len(texts)
        return self

    def scores(self, query: str) -> NDArray[np.float64]:
        """One number a text, in the order in which they were fitted."""
        if not self._parts:
            raise BadOption(f"retriever {self.name!r} was not fitted to any texts yet")
        if len(self._parts) == 1:
            return self._score(self._parts[0], query)
        fused = np.zeros(self._count)
        for part in self._parts:
            found = self._score(part, query)
            order = np.argsort(-found, kind="stable")
            ranks = np.empty(self._count)
            ranks[order] = np.arange(1, self._count + 1)
            fused += np.where(found > 0, 1.0 / (RRF_K + ranks), 0.0)
        return fused

    def _score(self, part: Ranker, query: str) -> NDArray[np.float64]:
        found = np.zeros(self._count)
        if self._count:
            ((places, values),) = part.rank(part.encode([query]), np.array([0], dtype=np.int64), self._count)
            found[places] = values
        return found


def load_retriever(name: str) -> Retriever:
    """The retriever of that name; raises UnknownName or NotConfigured before anything is computed."""
    kind, vectors = split_kind(name)
    if kind == "chroma":
        raise BadOption(f"retriever {name!r}: Chroma ranks pieces approximately; take exact vectors by their own name")
    if kind == "exact" and name in KINDS:
        raise BadOption("retriever 'exact' needs an embedder: name that, as hashing or minilm")
    if kind == "hybrid" and not vectors:
        vectors = default_embedder()
    return Retriever(name, kind, load_embedder(vectors) if vectors else None)
