"""Rankers of texts by name: which kinds there are, and how one is made."""

from collections.abc import Sequence
from typing import Any

from cxlab.errors import BadOption
from cxlab.retrieval.embedders.embedder import Embedder

KINDS = ("bm25", "lexical", "exact", "hybrid", "chroma")


def split_kind(name: str) -> tuple[str, str]:
    """(kind of index, embedder) of a choice as a person makes it; "" for an embedder that is not named or not needed.

    "hybrid:minilm" and "chroma:openai:MODEL" name both, "bm25" a kind alone; any other name is an embedder's and
    means an exact index of it.
    """
    kind, _, embedder = name.partition(":")
    return (kind, embedder) if kind in ("hybrid", "chroma") else (name, "") if name in KINDS else ("exact", name)


def find_embedder(embedder: Embedder | str | None) -> Embedder:
    """The embedder itself, or the one of that name; BadOption for none."""
    from cxlab.retrieval.embedders.embeddings import load_embedder

    if embedder is None:
        raise BadOption("an embedder is needed, for example 'hashing' or 'minilm'")
    return load_embedder(embedder) if isinstance(embedder, str) else embedder


def make_ranker(kind: str, texts: Sequence[str], embedder: Embedder | str | None, language: str = "") -> Any:
    """A `documents.Ranker` over texts: bm25 (which joins the forms of a word where a `language` is given), lexical, or
    exact with an embedder; `description` tells its settings."""
    if kind == "bm25":
        from cxlab.retrieval.bm25 import BM25Ranker

        return BM25Ranker(texts, language=language)
    if kind == "lexical":
        from cxlab.retrieval.lexical import LexicalRanker

        return LexicalRanker(texts)
    from cxlab.retrieval.dense import DenseRanker

    return DenseRanker(texts, find_embedder(embedder))
