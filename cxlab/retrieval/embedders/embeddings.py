"""Embedders: texts in, vectors out; by name, behind one small protocol.

hashing              character n-grams hashed into 1,024 numbers: always there, knows no meaning
minilm               all-MiniLM-L6-v2 on this machine through onnxruntime, where its files are
openai:MODEL         OpenAI's embeddings
endpoint:NAME/MODEL  any OpenAI-compatible server's /v1/embeddings
fastembed:NAME       a model of fastembed, through onnxruntime, where its weights are (an optional extra)
st:NAME              a model of sentence-transformers, or a folder of one (an optional extra)
"""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cxlab.errors import CxError, UnknownName
from cxlab.llm.embeddings import EmbeddingReply, load_embedding
from cxlab.llm.metering import Budget
from cxlab.records import Usage
from cxlab.retrieval.embedders import local_embedders, minilm
from cxlab.retrieval.embedders.embedder import Embedder, Vectors
from cxlab.retrieval.embedders.vector_cache import CachedEmbedder

_NAMES = ("hashing", "minilm", "openai:MODEL", "endpoint:NAME/MODEL", "fastembed:NAME", "st:NAME")


class EmbeddingUsage(NamedTuple):
    """What a server's embeddings took; `cost_usd` is None where no price is known."""

    usage: Usage
    cost_usd: float | None


# By context, so that searches side by side, each in a thread of its own, pay for their own texts alone.
_METER: ContextVar[list[EmbeddingUsage] | None] = ContextVar("embeddings", default=None)


@contextmanager
def metered() -> Iterator[list[EmbeddingUsage]]:
    """What servers embed inside, as it comes; vectors that were kept from before cost nothing and are not in it."""
    spent: list[EmbeddingUsage] = []
    token = _METER.set(spent)
    try:
        yield spent
    finally:
        _METER.reset(token)


class KnownEmbedder(NamedTuple):
    """A name that can be chosen; `needs` says what is missing, "" when nothing."""

    name: str
    needs: str
    description: str


def known_embedders() -> list[KnownEmbedder]:
    """What can be chosen on this machine, and what the others need; calls nothing."""
    from cxlab.llm import registry

    rows = [
        KnownEmbedder("hashing", "", "hashed character n-grams: installed everywhere, sees spelling, not meaning"),
        KnownEmbedder("minilm", minilm.missing(), "all-MiniLM-L6-v2 on this machine: English, 384 numbers"),
    ]
    rows += [KnownEmbedder(name, local_embedders.missing(name), about) for name, about in local_embedders.KNOWN]
    rows += [KnownEmbedder(name, _needs(name), "OpenAI") for name in registry.settings()["embeddings"]]
    return rows


def _needs(name: str) -> str:
    try:
        load_embedding(name)
    except CxError as error:
        return str(error)
    return ""


def load_embedder(name: str, cache: Path | None = None) -> Embedder:
    """The embedder of that name; raises UnknownName or NotConfigured before anything is computed or called.

    MiniLM's and servers' vectors are kept by content in `cache` (default: embeddings.sqlite in the
    store's folder), so that a text is paid for once.
    """
    if name == "hashing":
        return Hashing()
    if name == "minilm":
        return CachedEmbedder(minilm.MiniLM(), cache)
    if name.startswith(("openai:", "endpoint:")):
        return CachedEmbedder(ServerEmbedder(name), cache)
    if name.partition(":")[0] in local_embedders.KINDS and name.partition(":")[2]:
        return CachedEmbedder(_open_local(name), cache)
    raise UnknownName("embedder", name, _NAMES)


@lru_cache(maxsize=4)
def _open_local(name: str) -> local_embedders.LocalEmbedder:
    """Weights are read once a process: seconds for a small model."""
    return local_embedders.LocalEmbedder(name)


def default_embedder() -> str:
    """The best embedder that is there without a network: minilm, else hashing, which knows spelling alone."""
    return "hashing" if minilm.missing() else "minilm"


def unit(vectors: Vectors) -> Vectors:
    """The rows scaled to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return scaled


class Hashing:
    """Character 3- to 5-grams within words, casefolded, hashed with signs; needs no fitting and no files."""

    def __init__(self, dim: int = 1024) -> None:
        self.dim = dim
        self.name = f"hashing-{dim}"

    def count_cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than it reads: none."""
        return 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text."""
        from sklearn.feature_extraction.text import HashingVectorizer  # late: 0.5 s

        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        vectorizer = HashingVectorizer(
            analyzer="char_wb", ngram_range=(3, 5), n_features=self.dim, lowercase=False, norm=None, dtype=np.float32
        )
        counts = vectorizer.transform([text.casefold() for text in texts])
        # A gram that comes ten times says little more than one that comes twice.
        counts.data = np.sign(counts.data) * np.log1p(np.abs(counts.data))
        return unit(counts.toarray().astype(np.float32, copy=False))


class ServerEmbedder:
    """A server's embeddings, for code that is not async; adds up what they took.

    Inside a running event loop it works in a thread of its own and holds the loop up meanwhile: call it
    through `asyncio.to_thread` there.
    """

    def __init__(self, name: str, budget: Budget | None = None) -> None:
        self.model = load_embedding(name)
        # The same name on another server is another model.
        where = hashlib.blake2b(self.model.server.base_url.encode(), digest_size=3).hexdigest()
        self.name = f"{name}@{where}" if name.startswith("endpoint:") else name
        self.budget = budget
        self.usage = Usage()
        self.cost_usd: float | None = 0.0
        self._dim = 0

    @property
    def dim(self) -> int:
        """Length of a vector; asks the server once when nothing was embedded yet."""
        if not self._dim:
            self.embed(["dimension"])
        return self._dim

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text; a blank text is not sent and is all zeros. Raises ProviderFault."""
        full = [place for place, text in enumerate(texts) if text.strip()]
        if not full:
            return np.zeros((len(texts), self.dim if texts else self._dim), dtype=np.float32)
        embedded = self._ask([texts[place] for place in full])
        self.usage += embedded.usage
        if (meter := _METER.get()) is not None:
            meter.append(EmbeddingUsage(embedded.usage, embedded.cost_usd))
        unknown = self.cost_usd is None or embedded.cost_usd is None
        self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (embedded.cost_usd or 0.0)
        self._dim = int(embedded.vectors.shape[1])
        vectors = np.zeros((len(texts), self._dim), dtype=np.float32)
        vectors[full] = unit(embedded.vectors)
        return vectors

    def _ask(self, texts: list[str]) -> EmbeddingReply:
        async def once() -> EmbeddingReply:
            try:
                return await self.model.embed(texts, self.budget)
            finally:
                await self.model.aclose()

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(once())
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(once())).result()
