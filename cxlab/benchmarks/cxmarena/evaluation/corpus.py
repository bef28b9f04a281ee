"""The articles of a dataset and what finds them: loaded and indexed once a process."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import Passage, TaxonomyLabel
from cxlab.benchmarks.cxmarena.options import CxmOptions
from cxlab.benchmarks.cxmarena.text import bare
from cxlab.errors import BadOption, BadStore, UnknownName
from cxlab.records import Sample, content_id
from cxlab.retrieval import Hit, Index, cut, index_documents, split_kind
from cxlab.retrieval.documents import DocumentIndex, readable
from cxlab.retrieval.embedders.embeddings import EmbeddingUsage, ServerEmbedder, metered
from cxlab.retrieval.embedders.vector_cache import CachedEmbedder
from cxlab.store import home, write

KINDS = ("bm25", "lexical", "minilm", "hashing", "hybrid", "chroma")
# Tasks that search, and the corpus in which they do unless a sample names another.
CORPORA = {"article_search": "search", "multi_turn": "multi_turn"}
# Indexes are big; a run uses one or two at a time.
_KEPT = 8
# Pieces of articles that a person searches, in characters; and how many articles are embedded while one waits.
_SIZE, _OVERLAP, _MOST_BY_MEANING = 1000, 100, 300
_BUILDING = threading.RLock()
# What `prepare` took of a server for an index: the first search in it has it in its sum, so that it is paid once.
_OWED: dict[str, list[EmbeddingUsage]] = {}


# About 3,000 tokens: more than any article that we know of, except the longest handbooks of imported folders.
LONGEST = 12_000
_END = re.compile(r"[.!?][\"')\]]*(?=\s)|\n")


def shorten(text: str, longest: int) -> str:
    """The text up to the last sentence or line that ends within `longest` characters, and "…" where something is left
    out; a reader takes half a word for a mistake."""
    if len(text) <= longest:
        return text
    ends = [match.end() for match in _END.finditer(text, 0, longest)]
    return f"{text[: ends[-1] if ends else longest].rstrip()}\n…"


@dataclass(frozen=True)
class Corpus:
    """The articles of one corpus by id, as an agent finds them: noisy text, markup taken off for searching; and the
    topic or collection that each stands under, the uppermost of its path, of those that have one.
    """

    texts: dict[str, str]
    topics: dict[str, str] = field(default_factory=dict)

    def passage(self, article_id: str, longest: int = LONGEST) -> Passage | None:
        """An article as prompts print it: of more than `longest` characters the whole sentences and lines that fit, and
        an ellipsis. None when the corpus lacks it."""
        text = self.texts.get(article_id)
        return None if text is None else Passage(id=article_id, text=shorten(text, longest))


def load(dataset_id: str, name: str) -> Corpus:
    """A corpus of a stored dataset; UnknownName when it has no such corpus."""
    return _load(str(home()), dataset_id, name)


@functools.lru_cache(maxsize=_KEPT)
def _load(base: str, dataset_id: str, name: str) -> Corpus:
    frame = write.load_table(dataset_id, "articles", Path(base))
    lacking = {"article_id", "title", "body", "corpus"} - set(frame.columns)
    if lacking:
        raise BadStore(f"dataset {dataset_id!r}: its table of articles lacks {', '.join(sorted(lacking))}")
    texts = {
        row["article_id"]: text if not row["title"] or text.startswith(row["title"]) else f"{row['title']}\n\n{text}"
        for row in frame.select("article_id", "title", "body", "corpus").iter_rows(named=True)
        if name in (row["corpus"] or ()) and (text := bare(row["body"] or ""))
    }
    if not texts:
        known = {one for corpora in frame.get_column("corpus").to_list() for one in corpora or ()}
        raise UnknownName(f"corpus of dataset {dataset_id!r}", name, known)
    topics = {
        row["article_id"]: row["topic"][0]
        for row in (frame.select("article_id", "topic") if "topic" in frame.columns else frame[:0]).iter_rows(
            named=True
        )
        if row["topic"] and row["article_id"] in texts
    }
    return Corpus(texts, topics)


@dataclass(frozen=True)
class BuiltIndex:
    """An index, what decided its rankings, and the seconds it took to build in this process."""

    index: Index
    about: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class SearchResult:
    """What a query found: documents with scores and best pieces, best first, and the documents of the best 10 chunks
    with repetitions (the public way; None for a hybrid index, which fuses documents). `seconds` is the search alone;
    `spent` what a server's embeddings took for it, with the index where this search was the first to need it.
    """

    hits: list[Hit]
    chunks: list[str] | None
    seconds: float
    built: BuiltIndex
    spent: tuple[EmbeddingUsage, ...] = ()


async def search(
    dataset_id: str, name: str, query: str, k: int, *, kind: str = "bm25", size: int = 1000, overlap: int = 100
) -> SearchResult:
    """The best k documents of a corpus for a query."""
    if kind in ("bm25", "lexical", "hashing"):
        return _search(index(dataset_id, name, kind, size, overlap), query, k)
    # A model or a server is asked here, which must not hold up the other attempts.
    with metered() as spent:
        found = await asyncio.to_thread(lambda: _search(index(dataset_id, name, kind, size, overlap), query, k))
    with _BUILDING:
        spent += _OWED.pop(kind, [])
    return replace(found, spent=tuple(spent))


def _search(built: BuiltIndex, query: str, k: int) -> SearchResult:
    import numpy as np

    found = built.index
    began = time.perf_counter()
    hits = found.search([query], k)[0]
    seconds = time.perf_counter() - began
    if not isinstance(found, DocumentIndex):
        return SearchResult(hits, None, seconds, built)
    if not query.strip() or not found.chunks:
        return SearchResult(hits, [], seconds, built)
    places, _ = found.ranker.rank(found.ranker.encode([query]), np.zeros(1, dtype=np.int64), 10)[0]
    return SearchResult(hits, [found.chunks[place].document for place in places.tolist()], seconds, built)


def index(dataset_id: str, name: str, kind: str, size: int, overlap: int) -> BuiltIndex:
    """The index of a corpus; built by the first that asks, while others wait."""
    with _BUILDING:
        return _index(str(home()), dataset_id, name, kind, size, overlap)


@functools.lru_cache(maxsize=_KEPT)
def _index(base: str, dataset_id: str, name: str, kind: str, size: int, overlap: int) -> BuiltIndex:
    documents = _load(base, dataset_id, name).texts
    began = time.perf_counter()
    embedder = _embedder_of(kind)
    how = split_kind(kind)[0]
    folder = _folder(base, dataset_id, name, size, overlap, embedder.name) if how == "chroma" else None
    made = index_documents(how, size, overlap, embedder, documents.items(), folder)
    parts = made.description.get("indexes", [made.description])
    about = {
        "retrieval": kind,
        "chunk": size,
        "overlap": overlap,
        "embedder": next((part["embedder"] for part in parts if "embedder" in part), None),
        "chunks": parts[0]["chunks"],
        "documents": len(documents),
    }
    if embedder is not None and not split_kind(kind)[1] and embedder.name.startswith("hashing"):
        about["fallback"] = "spelling (hashing), because the files of minilm are not on this machine"
    return BuiltIndex(made, about, time.perf_counter() - began)


def nearest(dataset_id: str, name: str, text: str, k: int = 30) -> list[str]:
    """The ids of the k articles of a corpus that are nearest to a text, best first, by a Chroma index kept on disk.

    Nearest in meaning where MiniLM is installed and the corpus is no larger than somebody would wait for; else in
    spelling, which also forgives other endings and slips of the pen.
    """
    few = len(load(dataset_id, name).texts) <= _MOST_BY_MEANING
    kind = f"chroma:{_default_embedder() if few else 'hashing'}"
    return [hit.id for hit in index(dataset_id, name, kind, _SIZE, _OVERLAP).index.search([text], k)[0]]


def _folder(base: str, dataset_id: str, *settings: object) -> Path | None:
    """Where an index that is kept lies, None in a store that cannot be written; those of datasets that are gone are
    removed.
    """
    if not os.access(base, os.W_OK):
        return None
    kept = Path(base) / "indexes"
    for one in kept.glob("*"):
        if not (Path(base) / "datasets" / one.name).is_dir():
            shutil.rmtree(one, ignore_errors=True)
    # A corpus is named by somebody's data, an embedder by its maker: neither is a path.
    return kept / dataset_id / content_id(*settings)


def prepare(samples: Sequence[Sample], options: CxmOptions, model: str = "") -> Iterator[tuple[int, int, str]]:
    """Vectors of the articles that the samples search in, kept in the store's cache, where an embedder is slow or paid
    for; else each process would compute them for itself. Yields (done, of, of what)."""
    kind = options.retrieval
    searched = {(s.dataset_id, s.inputs.get("corpus", CORPORA[s.task])) for s in samples if s.task in CORPORA}
    made = _embedder_of(kind) if searched else None
    if not isinstance(made, CachedEmbedder):
        return
    size, overlap = options.chunk, options.overlap
    pieces = {
        piece.text: None
        for dataset_id, name in sorted(searched)
        for piece in cut(load(dataset_id, name).texts.items(), size, overlap)
    }
    for done, of in made.fill(readable(pieces)):
        yield done, of, "pieces of articles embedded"
    if isinstance(made.inner, ServerEmbedder) and made.inner.usage.calls:
        with _BUILDING:
            _OWED.setdefault(kind, []).append(EmbeddingUsage(made.inner.usage, made.inner.cost_usd))


def _embedder_of(kind: str) -> Any:
    """The embedder that an index of this kind needs; None for indexes over words."""
    if kind in ("bm25", "lexical"):
        return None
    vectors = split_kind(kind)[1]
    # Without MiniLM's files spelling is the next best thing to meaning.
    return embedder(vectors or _default_embedder())


def _default_embedder() -> str:
    from cxlab.retrieval.embedders.embeddings import default_embedder

    return default_embedder()


def embedder(kind: str) -> Any:
    """The embedder of a name; BadOption lists what else could have been meant."""
    from cxlab.retrieval.embedders.embeddings import load_embedder

    try:
        return load_embedder(kind)
    except UnknownName as error:
        raise BadOption(f"retrieval={kind!r}; take {', '.join(KINDS)} or an embedder's name ({error})") from None


def candidates(dataset_id: str, inputs: dict[str, Any]) -> tuple[TaxonomyLabel, ...]:
    """The labels to choose from: those in the sample, else the taxonomy's of the dataset."""
    if inputs.get("candidates"):
        return tuple(
            TaxonomyLabel(label=c["label"], description=c.get("description") or "") for c in inputs["candidates"]
        )
    return _taxonomy(str(home()), dataset_id, inputs["taxonomy"])


@functools.lru_cache(maxsize=_KEPT)
def _taxonomy(base: str, dataset_id: str, name: str) -> tuple[TaxonomyLabel, ...]:
    frame = write.load_table(dataset_id, "taxonomies", Path(base))
    rows = [row for row in frame.iter_rows(named=True) if row["taxonomy"] == name]
    if not rows:
        raise UnknownName(f"taxonomy of dataset {dataset_id!r}", name, frame.get_column("taxonomy").unique().to_list())
    return tuple(
        TaxonomyLabel(label=f"{r['l1']}:{r['l2']}" if r["l2"] else r["l1"], description=r["description"] or "")
        for r in rows
    )


def tool_definitions(dataset_id: str) -> dict[str, dict[str, Any]]:
    """The tools of a dataset by name, in OpenAI's function format."""
    return _tools(str(home()), dataset_id)


@functools.lru_cache(maxsize=_KEPT)
def _tools(base: str, dataset_id: str) -> dict[str, dict[str, Any]]:
    frame = write.load_table(dataset_id, "tools", Path(base))
    found = {}
    for row in frame.iter_rows(named=True):
        definition = json.loads(row["definition"])
        found[row["name"]] = definition if "function" in definition else {"type": "function", "function": definition}
    return found
