"""A knowledge base in Chroma, for people who search it and as an approximate index to hold against the exact one.

Made once for fixed pieces and never changed; what grows and is brought up to date is kept_index.py's.
Chroma loses vectors without a word when several processes write one folder, so a folder is written under a
lock, by one process at a time. Vectors come from our embedders: Chroma's own default would fetch a model.
"""

import json
import logging
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption, BadStore, CxError, NotConfigured
from cxlab.records import content_id, new_id
from cxlab.retrieval.documents import Chunk, DocumentIndex, readable
from cxlab.retrieval.embedders.embedder import Embedder, embed_queries
from cxlab.retrieval.embedders.embeddings import load_embedder
from cxlab.retrieval.top_k import PLACES, Ranked
from cxlab.store import layout

WAIT_S = 600.0
"""How long one process waits for another that makes the same index."""
_LOG = logging.getLogger(__name__)
_FUNCTION = "cxlab"
_ARTICLES = "articles"
# Embedders at hand, by name: Chroma keeps only the name, and asks for the rest when a folder is opened again.
_EMBEDDERS: dict[str, Embedder] = {}
# How widely the graph is searched; below k Chroma would miss results, its default of 100 misses more on hard data.
_SEARCH_WIDTH = 400


@lru_cache(maxsize=1)
def _function_class() -> Any:
    """Our embedders in the form Chroma takes, registered with it under one name."""
    from chromadb.api.types import EmbeddingFunction
    from chromadb.utils.embedding_functions import register_embedding_function

    class CxEmbedding(EmbeddingFunction[Any]):
        def __init__(self, embedder: str) -> None:
            self.embedder = embedder

        def __call__(self, input: Any) -> Any:
            return list(_embedder(self.embedder).embed(readable(input)))

        @staticmethod
        def name() -> str:
            return _FUNCTION

        @staticmethod
        def build_from_config(config: dict[str, Any]) -> "CxEmbedding":
            return CxEmbedding(str(config["embedder"]))

        def get_config(self) -> dict[str, Any]:
            return {"embedder": self.embedder}

        def embed_query(self, input: Any) -> Any:
            return list(embed_queries(_embedder(self.embedder), readable(input)))

        def default_space(self) -> Any:
            return "cosine"

    # Chroma gives it no types.
    register: Any = register_embedding_function
    register(CxEmbedding)
    return CxEmbedding


def _embedder(name: str) -> Embedder:
    if name not in _EMBEDDERS:
        loadable = {"hashing-1024": "hashing", "all-minilm-l6-v2": "minilm"}.get(name, name.partition("@")[0])
        found = load_embedder(loadable)
        if found.name != name:
            raise NotConfigured(f"the knowledge base was made with embedder {name!r}, which {loadable!r} no longer is")
        _EMBEDDERS[name] = found
    return _EMBEDDERS[name]


class ChromaIndex(DocumentIndex):
    """An `Index` over one Chroma collection.

    Approximate: compare it with the exact index before trusting a figure of it. Scores are cosines.
    """

    def __init__(
        self, collection: Any, chunks: Sequence[Chunk], embedder: Embedder, description: dict[str, Any]
    ) -> None:
        super().__init__(chunks, _ChromaRanker(collection, len(chunks), embedder), description)
        self.collection = collection


def open_or_build(
    chunks: Sequence[Chunk], embedder: Embedder, description: dict[str, Any], folder: Path
) -> ChromaIndex:
    """The knowledge base below a folder if it was made of these very pieces with this embedder, else made anew there.

    Waits while another process makes it; Busy after WAIT_S. One that was never finished or that Chroma cannot read
    is made anew.
    """
    pieces = [(each.document, each.start, each.end) for each in chunks]
    content = content_id(embedder.name, pieces, readable(each.text for each in chunks))
    current = folder / "current"
    with layout.lock(folder / ".lock", WAIT_S, _busy(folder)):
        name = current.read_text(encoding="utf-8") if current.is_file() else ""
        if name.startswith(f"{content}-"):
            try:
                collection, about = _open(folder / name, _ARTICLES)
                if collection.count() == len(chunks):
                    _EMBEDDERS[embedder.name] = embedder
                    return ChromaIndex(collection, chunks, embedder, about)
            except CxError as fault:
                _LOG.warning("%s", fault)
        # Never a folder that was there before: a process keeps what Chroma has opened, also when its files are gone.
        name = new_id(content)
        made = build(chunks, embedder, description, folder / name)
        layout.write_whole(current, name.encode())
        for old in folder.glob("*/chroma.sqlite3"):
            if old.parent.name != name:
                shutil.rmtree(old.parent, ignore_errors=True)
    return made


def build(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    description: dict[str, Any],
    folder: Path | None = None,
    name: str = _ARTICLES,
) -> ChromaIndex:
    """Put the pieces into a collection (an older one of that name is replaced) and open it.

    Busy when another process writes the folder. An interrupted build leaves a collection that `open_index`
    refuses.
    """
    vectors = embedder.embed(readable(chunk.text for chunk in chunks))
    _EMBEDDERS[embedder.name] = embedder
    about = {**description, "embedder": embedder.name, "dim": embedder.dim, "search": "Chroma HNSW, cosine"}
    # Clients in memory share one store within a process: each such collection needs a name of its own.
    name = name if folder is not None else new_id(name)
    with _writing(folder):
        client = _client(folder)
        if any(_name_of(one) == name for one in client.list_collections()):
            client.delete_collection(name)
        collection = client.create_collection(
            name,
            embedding_function=_function_class()(embedder.name),
            configuration={"hnsw": {"space": "cosine", "ef_search": _SEARCH_WIDTH}},
            metadata={"state": "building"},
        )
        step = client.get_max_batch_size()
        for start in range(0, len(chunks), step):
            some = chunks[start : start + step]
            collection.add(
                ids=[f"{start + place:09d}" for place in range(len(some))],
                embeddings=vectors[start : start + step],
                documents=readable(chunk.text for chunk in some),
                metadatas=[{"document": c.document, "start": c.start, "end": c.end} for c in some],
            )
        collection.modify(metadata={"state": "complete", "about": json.dumps(about)})
    return ChromaIndex(collection, chunks, embedder, about)


def open_index(folder: Path, name: str = _ARTICLES) -> ChromaIndex:
    """A knowledge base that `build` finished, with the embedder it was made with."""
    collection, about = _open(folder, name)
    embedder = _embedder(about["embedder"])
    kept = collection.get(include=["documents", "metadatas"])
    rows = sorted(zip(kept["ids"], kept["documents"], kept["metadatas"], strict=True), key=lambda row: row[0])
    chunks = [Chunk(str(m["document"]), int(m["start"]), int(m["end"]), text) for _, text, m in rows]
    return ChromaIndex(collection, chunks, embedder, about)


def _open(folder: Path, name: str) -> tuple[Any, dict[str, Any]]:
    """A finished collection and what was noted of it; BadOption where there is none, BadStore for a damaged one."""
    from chromadb.errors import ChromaError

    if not (folder / "chroma.sqlite3").is_file():
        raise BadOption(f"{folder} holds no knowledge base; build it first")
    try:
        client = _client(folder)
        if not any(_name_of(one) == name for one in client.list_collections()):
            raise BadOption(f"{folder} holds no collection {name!r}; build it first")
        state = client.get_collection(name, embedding_function=None).metadata or {}
        if state.get("state") != "complete":
            raise BadStore(f"{folder}: the collection {name!r} was never finished; build it again")
        about: dict[str, Any] = json.loads(state["about"])
        function = _function_class()(about["embedder"])
        return client.get_collection(name, embedding_function=function), about
    except (ChromaError, ValueError, KeyError) as error:
        raise BadStore(f"{folder}: Chroma cannot read it ({str(error)[:120]}); build it again") from None


class _ChromaRanker:
    """Pieces as Chroma ranks them; its ids are their positions."""

    def __init__(self, collection: Any, count: int, embedder: Embedder) -> None:
        self.collection = collection
        self.count = count
        self.embedder = embedder

    def encode(self, queries: Sequence[str]) -> NDArray[np.float32]:
        return embed_queries(self.embedder, list(queries))

    def rank(self, encoded: Any, rows: NDArray[np.int64], n: int) -> Ranked:
        found: Ranked = [(np.zeros(0, dtype=np.int64), np.zeros(0)) for _ in rows]
        full = np.flatnonzero(encoded[rows].any(axis=1))
        if not full.size:
            return found
        # Of pieces that score alike Chroma leaves out any; of a few it is asked for all, and ties go by id.
        answer = self.collection.query(
            query_embeddings=encoded[rows[full]],
            n_results=min(max(n, _SEARCH_WIDTH), self.count),
            include=["distances"],
        )
        for row, ids, distances in zip(full.tolist(), answer["ids"], answer["distances"], strict=True):
            places = np.array(ids, dtype=np.int64)
            scores = np.round(1 - np.array(distances, dtype=np.float64), PLACES)
            order = np.lexsort((places, -scores))[:n]
            found[row] = (places[order], scores[order])
        return found


def _client(folder: Path | None) -> Any:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    if folder is None:
        return chromadb.EphemeralClient(settings)
    folder.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(folder), settings)


def _writing(folder: Path | None) -> AbstractContextManager[None]:
    if folder is None:
        return nullcontext()
    return layout.lock(folder / ".writer.lock", busy=_busy(folder))


def _busy(folder: Path) -> str:
    return f"another process writes the knowledge base {folder}; wait for it"


def _name_of(collection: Any) -> str:
    return str(getattr(collection, "name", collection))
