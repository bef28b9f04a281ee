"""A retriever by name: fitted to texts it scores each of them for a query.

    found = cxlab.retrieval.load("fastembed:intfloat/multilingual-e5-large").fit(texts).scores("wo ist mein Paket?")

Names are those of indexes and embedders: bm25, lexical, hashing, minilm, fastembed:NAME, st:NAME, openai:MODEL,
endpoint:NAME/MODEL, hybrid or hybrid:EMBEDDER; conversation, made for texts with speakers in front of messages; and
the floors random and hub.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption
from cxlab.retrieval.documents import Scorer, readable
from cxlab.retrieval.embedders.embeddings import default_embedder, load_embedder
from cxlab.retrieval.floors import HubOrder, RandomOrder
from cxlab.retrieval.hybrid import RRF_K
from cxlab.retrieval.rankers import KINDS, make_ranker, split_kind

if TYPE_CHECKING:
    from cxlab.retrieval.conversation import ConversationRetriever

FLOORS: dict[str, type[RandomOrder] | type[HubOrder]] = {"random": RandomOrder, "hub": HubOrder}


class Retriever:
    """`fit` takes the texts, `scores` gives each of them a number, higher is nearer; 0 where nothing speaks for it."""

    def __init__(self, name: str, kind: str, embedder: Any, language: str = "") -> None:
        self.name, self._kind, self._embedder, self._language = name, kind, embedder, language
        self._parts: list[Scorer] = []
        self._count = 0
        self._rows: dict[str, int] = {}
        self._encoded: list[Any] = []

    @property
    def embedder(self) -> Any:
        """What makes its vectors; None where it has none."""
        return self._embedder

    @property
    def description(self) -> dict[str, Any]:
        """What it is made of, as results keep it; the settings of its parts once it was fitted."""
        about: dict[str, Any] = {"retriever": self.name, "kind": self._kind}
        if self._embedder is not None:
            about["embedder"] = self._embedder.name
        if self._parts:
            about["parts"] = [part.description for part in self._parts]
        return about

    def count_cut(self, texts: Sequence[str]) -> int | None:
        """How many of the texts are longer than it reads; None where an embedder does not say."""
        if self._embedder is None:
            return 0
        count = getattr(self._embedder, "count_cut", None)
        return None if count is None else count(readable(texts))

    def fit(self, texts: Sequence[str]) -> Self:
        """Take the texts that are to be found."""
        kinds = ("bm25", "exact") if self._kind == "hybrid" else (self._kind,)
        self._parts = [make_ranker(kind, list(texts), self._embedder, self._language) for kind in kinds]
        self._count = len(texts)
        self._rows, self._encoded = {}, []
        return self

    def prepare(self, queries: Sequence[str]) -> None:
        """Read many queries at once before they are asked one by one: a server embeds them in few calls."""
        texts = list(dict.fromkeys(queries))
        self._rows = {text: row for row, text in enumerate(texts)}
        self._encoded = [part.encode(readable(texts)) for part in self._parts]

    def scores(self, query: str) -> NDArray[np.floating[Any]]:
        """One number a text, in the order in which they were fitted."""
        if not self._parts:
            raise BadOption(f"retriever {self.name!r} was not fitted to any texts yet")
        parts = [self._score(place, query) for place in range(len(self._parts))]
        return parts[0] if len(parts) == 1 else fuse(parts)

    def _score(self, place: int, query: str) -> NDArray[np.float32]:
        part, row = self._parts[place], self._rows.get(query)
        if not self._count:
            return np.zeros(0, dtype=np.float32)
        return part.score(*((part.encode(readable([query])), 0) if row is None else (self._encoded[place], row)))


class ConversationHybrid:
    """BM25 and the retriever made for conversations, fused by rank."""

    name = "hybrid:conversation"

    def __init__(self, language: str = "") -> None:
        from cxlab.retrieval.conversation import ConversationRetriever

        self._words = Retriever("bm25", "bm25", None, language)
        self._conversation = ConversationRetriever(language=language)
        self.description = {"retriever": self.name, "kind": "hybrid", "parts": ["bm25", "conversation"]}

    def count_cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than it reads: none."""
        return 0

    def fit(self, texts: Sequence[str]) -> Self:
        """Take the texts that are to be found."""
        self._words.fit(texts)
        self._conversation.fit(texts)
        return self

    def scores(self, query: str) -> NDArray[np.floating[Any]]:
        """One number a text, in the order in which they were fitted."""
        return fuse([self._words.scores(query), np.asarray(self._conversation.scores(query))])


def fuse(parts: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """The sum over several scorings of 1 / (60 + rank), of texts that score above 0.

    Equal scores share a rank, so that the order in which the texts came decides nothing.
    """
    from scipy.stats import rankdata  # late: 0.5 s

    ranks = [rankdata(-found, method="min") for found in parts]
    fused: NDArray[np.float64] = np.sum(
        [np.where(found > 0, 1.0 / (RRF_K + rank), 0.0) for found, rank in zip(parts, ranks, strict=True)], axis=0
    )
    return fused


def load_retriever(
    name: str, language: str = ""
) -> "Retriever | ConversationRetriever | ConversationHybrid | RandomOrder | HubOrder":
    """The retriever of that name; raises UnknownName, BadOption or NotConfigured before anything is computed.

    `language`: whose forms of a word BM25 joins, alone and within others ("promised", "promise"); none as evaluated."""
    if name in FLOORS:
        return FLOORS[name]()
    if name == "conversation":
        from cxlab.retrieval.conversation import ConversationRetriever

        return ConversationRetriever(language=language)
    if name == ConversationHybrid.name:
        return ConversationHybrid(language)
    kind, vectors = split_kind(name)
    if kind == "chroma":
        raise BadOption(f"retriever {name!r}: Chroma ranks pieces approximately; take exact vectors by their own name")
    if kind == "exact" and name in KINDS:
        raise BadOption("retriever 'exact' needs an embedder: name that, as hashing or minilm")
    if kind == "hybrid" and not vectors:
        vectors = default_embedder()
    return Retriever(name, kind, load_embedder(vectors) if vectors else None, language)
