"""Finding documents: pieces of texts, indexes over them, and embedders.

    hits = index("hybrid", 1000, 100, "minilm", articles).search(["how do I reset it?"], k=10)
    hits[0][0].id, hits[0][0].score, hits[0][0].chunk.text

Kinds of index: `bm25` and `lexical` (no model), `exact` (an embedder's vectors, exact cosine), `hybrid` (BM25
and exact, fused), `chroma` (the same vectors, approximate, may lie in a folder). A ranking is made of tuples
that begin with (id, score), which is what `cxlab.metrics.retrieval.evaluate` reads.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxlab.errors import BadOption, UnknownName
from cxlab.records import Article
from cxlab.retrieval.chunking import chunk, spans
from cxlab.retrieval.documents import Chunk, DocumentIndex, Hit, Index, Ranker, article_text, cut
from cxlab.retrieval.rankers import KINDS, find_embedder, make_ranker, split_kind

if TYPE_CHECKING:
    from cxlab.retrieval.conversation import ConversationRetriever
    from cxlab.retrieval.embedders.embedder import Embedder
    from cxlab.retrieval.floors import HubOrder, RandomOrder
    from cxlab.retrieval.retriever import ConversationHybrid, Retriever

_NEEDS_EMBEDDER = ("exact", "hybrid", "chroma")

__all__ = ["KINDS", "Chunk", "Hit", "Index", "chunk", "cut", "index", "index_documents", "load", "spans", "split_kind"]


def index(
    kind: str,
    chunk_size: int,
    overlap: int,
    embedder: "Embedder | str | None",
    articles: Iterable[Article],
    folder: Path | None = None,
) -> Index:
    """An index over articles, each as its title, a blank line and its body, cut into pieces of `chunk_size` characters.

    `embedder`: a name or an Embedder; ignored by `bm25` and `lexical`. `folder`: only for `chroma`, where it is kept
    and opened again as long as articles, pieces and embedder are the same (None: in memory).
    """
    documents = ((article.id, article_text(article)) for article in articles)
    return index_documents(kind, chunk_size, overlap, embedder, documents, folder)


def index_documents(
    kind: str,
    chunk_size: int,
    overlap: int,
    embedder: "Embedder | str | None",
    documents: Iterable[tuple[str, str]],
    folder: Path | None = None,
) -> Index:
    """The same over any (id, text); UnknownName for the kind, BadOption without the embedder that it needs."""
    if kind not in KINDS:
        raise UnknownName("kind of index", kind, KINDS)
    if kind in _NEEDS_EMBEDDER and not embedder:
        raise BadOption(f"an index of kind {kind!r} needs an embedder, for example 'hashing' or 'minilm'")
    if folder is not None and kind != "chroma":
        raise BadOption(f"an index of kind {kind!r} is not kept in a folder; leave folder out")
    chunks = cut(documents, chunk_size, overlap)
    about: dict[str, Any] = {"chunk_size": chunk_size, "overlap": overlap}
    if kind == "chroma":
        from cxlab.retrieval import chroma

        if folder is None:
            return chroma.build(chunks, find_embedder(embedder), {"kind": kind, **about})
        return chroma.open_or_build(chunks, find_embedder(embedder), {"kind": kind, **about}, folder)
    if kind == "hybrid":
        from cxlab.retrieval.hybrid import HybridIndex

        parts = [_ranked(part, chunks, embedder, {"kind": part, **about}) for part in ("bm25", "exact")]
        return HybridIndex(parts)
    return _ranked(kind, chunks, embedder, {"kind": kind, **about})


def _ranked(kind: str, chunks: list[Chunk], embedder: "Embedder | str | None", about: dict[str, Any]) -> Index:
    made = make_ranker(kind, [each.text for each in chunks], embedder)
    ranker: Ranker = made
    return DocumentIndex(chunks, ranker, {**about, **made.description})


def load(
    name: str, language: str = ""
) -> "Retriever | ConversationRetriever | ConversationHybrid | RandomOrder | HubOrder":
    """A retriever by name, to be fitted to texts: `load("bm25").fit(texts).scores(query)` is a number a text.

    Names: bm25, lexical, hashing, minilm, fastembed:NAME, st:NAME, openai:MODEL, endpoint:NAME/MODEL, hybrid:EMBEDDER,
    conversation, hybrid:conversation, random, hub. `language` ("en", "fr", "de"): whose forms of a word BM25 joins.
    """
    from cxlab.retrieval.retriever import load_retriever

    return load_retriever(name, language)
