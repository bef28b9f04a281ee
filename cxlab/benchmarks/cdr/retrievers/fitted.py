"""Retrievers fitted to the conversations of a stored dataset, once a process and not once a query."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.ranking import ConversationIndex
from cxlab.benchmarks.cdr.units import Granularity, UnitText, split
from cxlab.retrieval import load
from cxlab.retrieval.documents import readable
from cxlab.retrieval.embedders.embeddings import EmbeddingUsage
from cxlab.retrieval.embedders.vector_cache import CachedEmbedder
from cxlab.store import home

# The three granularities of one retriever, and of another one.
_KEPT = 6
_BUILDING = threading.RLock()
# Names whose vectors are made by a model or a server, which must not hold up the other attempts.
_QUICK = ("bm25", "lexical", "hashing", "hybrid:hashing", "conversation", "hybrid:conversation", "random", "hub")
# What `prepare` took of a server: the first search has it in its sum, so that it is paid once.
_OWED: dict[str, list[EmbeddingUsage]] = {}


@dataclass(frozen=True)
class FittedIndex:
    """An index, and what decided its rankings."""

    index: ConversationIndex
    about: dict[str, Any]


def is_quick(retriever: str) -> bool:
    """Whether scoring takes milliseconds of this process, and no model."""
    return retriever in _QUICK


def open_index(
    dataset_id: str, retriever: str, granularity: Granularity, text: UnitText | None = None, language: str = ""
) -> FittedIndex:
    """The index over a dataset's conversations; built by the first that asks, while others wait. `language`: whose
    forms of a word are joined, where words are compared."""
    text = text or UnitText()
    # What reads characters or vectors has one index for all.
    language = language if retriever in ("bm25", "conversation") or retriever.startswith("hybrid") else ""
    with _BUILDING:
        return _open(str(home()), dataset_id, retriever, granularity, text.prefix, text.roles, language)


@functools.lru_cache(maxsize=_KEPT)
def _open(
    base: str,
    dataset_id: str,
    retriever: str,
    granularity: Granularity,
    prefix: bool,
    roles: tuple[Any, ...],
    language: str,
) -> FittedIndex:
    made = load(retriever, language)
    corpus = load_corpus(dataset_id, base)
    index = ConversationIndex(corpus, made, granularity, UnitText(prefix=prefix, roles=roles))
    told = index.describe_units()
    embedder = getattr(made, "embedder", None)
    about = {
        "retrieval": retriever,
        "unit": granularity,
        "embedder": embedder.name if embedder is not None else None,
        "dimensions": embedder.dim if embedder is not None else None,
        "longest": getattr(getattr(embedder, "inner", embedder), "longest", None),
        "chunks": told.count - told.empty,
        "documents": len(corpus),
        "empty": told.empty,
        "cut": told.cut,
        "description": getattr(made, "description", {}),
    }
    return FittedIndex(index, about)


def fill_vectors(
    dataset_id: str, retriever: str, granularity: Granularity, text: UnitText, queries: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Make the vectors of all units and queries and keep them, where that is slow or paid for; yields (done, of)."""
    embedder = getattr(load(retriever), "embedder", None)
    if not isinstance(embedder, CachedEmbedder):
        return
    texts = {
        unit.text: None
        for talk in load_corpus(dataset_id).values()
        for unit in split(talk, granularity, text)
        if unit.text
    }
    yield from embedder.fill(readable([*texts, *queries]))
    usage = getattr(embedder.inner, "usage", None)
    if usage is not None and usage.calls:
        with _BUILDING:
            _OWED.setdefault(retriever, []).append(EmbeddingUsage(usage, getattr(embedder.inner, "cost_usd", None)))


def take_owed(retriever: str) -> list[EmbeddingUsage]:
    """What filling took of a server and nobody has paid for yet."""
    with _BUILDING:
        return _OWED.pop(retriever, [])
