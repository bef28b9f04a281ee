"""Vectors from an OpenAI-compatible `/v1/embeddings`: batches, retries, usage and cost as for chat models."""

import asyncio
import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption
from cxlab.llm import registry
from cxlab.llm.base import ProviderFault
from cxlab.llm.faults import FaultKind, RetryFault, read_json
from cxlab.llm.metering import Budget, Prices
from cxlab.llm.openai_model import OpenAIModel
from cxlab.llm.retries import retrying, with_retries
from cxlab.records import Usage

# OpenAI takes 2,048 texts and 300,000 tokens a request; a character is at most about one token.
_MOST_TEXTS, _MOST_CHARACTERS = 256, 200_000
_IN_FLIGHT = 8

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbeddingReply:
    """One row a text, as the server sent it (not scaled), and what it took; `cost_usd` None: not known."""

    vectors: Vectors
    usage: Usage
    cost_usd: float | None
    latency_s: float
    """Sum over the requests."""


class EmbeddingModel:
    """`openai:MODEL` or `endpoint:NAME/MODEL`, asked for vectors; raises ProviderFault, never the SDK's exceptions."""

    def __init__(self, name: str, server: OpenAIModel, prices: Prices | None = None) -> None:
        self.name = name
        self.server = server
        self.prices = prices

    async def embed(self, texts: Sequence[str], budget: Budget | None = None) -> EmbeddingReply:
        """The vectors of the texts, in their order, asked for in batches, some at a time.

        A batch that the server finds too large is halved. Blank texts are refused by most servers: leave
        them out. The first batch that fails for good ends the others and is raised.
        """
        room = asyncio.Semaphore(_IN_FLIGHT)

        async def one(batch: list[str]) -> EmbeddingReply:
            async with room:
                return await self._embed(batch, budget)

        tasks = [asyncio.ensure_future(one(batch)) for batch in _batches(texts)]
        try:
            parts = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return self._join(parts)

    async def _embed(self, batch: list[str], budget: Budget | None) -> EmbeddingReply:
        if budget is not None and not budget.open_call():
            raise ProviderFault("budget", budget.describe())

        async def once() -> tuple[Vectors, Usage, float]:
            asked = {"input": batch, "encoding_format": "float"}
            content, latency_s = await self.server.post(
                "/embeddings", lambda: {**self.server.options.extra_body, **asked, "model": self.server.model}
            )
            vectors, usage = _read(content, len(batch))
            return vectors, usage, latency_s

        options = self.server.options
        try:
            try:
                (vectors, usage, latency_s), retries = await retrying(
                    once,
                    options.attempts,
                    options.longest_wait_s,
                    options.first_wait_s,
                    whom=self.name,
                    limiter=self.server.limiter(),
                )
            finally:
                if budget is not None:
                    budget.close_call()
        except RetryFault as fault:
            if fault.status in (400, 413, 422) and len(batch) > 1:
                half = len(batch) // 2
                return self._join([await self._embed(part, budget) for part in (batch[:half], batch[half:])])
            failure = fault.failure
            raise ProviderFault(failure.type, failure.message, failure.retryable, fault.usage) from None
        cost_usd = self.prices.cost(usage) if self.prices else None
        if budget is not None:
            budget.charge(cost_usd)
        return EmbeddingReply(vectors, with_retries(usage, retries), cost_usd, latency_s)

    def _join(self, parts: Sequence[EmbeddingReply]) -> EmbeddingReply:
        if len({part.vectors.shape[1] for part in parts}) > 1:
            raise ProviderFault("bad_reply", f"model {self.name!r} sent vectors of different lengths")
        if not parts:
            return EmbeddingReply(np.zeros((0, 0), dtype=np.float32), Usage(), 0.0, 0.0)
        costs = [part.cost_usd for part in parts]
        return EmbeddingReply(
            np.concatenate([part.vectors for part in parts]),
            sum((part.usage for part in parts), Usage()),
            None if None in costs else sum(cost for cost in costs if cost is not None),
            sum(part.latency_s for part in parts),
        )

    async def aclose(self) -> None:
        """Give the shared client back, inside the event loop in which it was used."""
        await self.server.aclose()


def load_embedding(name: str) -> EmbeddingModel:
    """The embedding model `openai:MODEL` or `endpoint:NAME/MODEL`; BadOption for another form; calls nothing."""
    kind, _, rest = name.partition(":")
    if kind not in ("openai", "endpoint") or not rest or (kind == "endpoint" and not rest.partition("/")[2]):
        raise BadOption(f"embedding model {name!r}: write openai:MODEL or endpoint:NAME/MODEL")
    registry.refuse_damaged(("embeddings", name))
    server = registry.load(name)
    if not isinstance(server, OpenAIModel):
        raise BadOption(f"model {name!r} has no embeddings; write openai:MODEL or endpoint:NAME/MODEL")
    return EmbeddingModel(name, server, registry.embedding_prices(name))


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == _MOST_TEXTS or characters + len(text) > _MOST_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _read(content: bytes, count: int) -> tuple[Vectors, Usage]:
    """The vectors by the index each was sent with; a reply that lacks one is worth a second try."""
    body = read_json(content)
    data = body.get("data")
    rows: list[Vectors | None] = [None] * count
    for place, entry in enumerate(data if isinstance(data, list) else []):
        index = entry.get("index", place) if isinstance(entry, dict) else None
        if isinstance(index, int) and 0 <= index < count and rows[index] is None:
            rows[index] = _vector(entry.get("embedding"))
    whole = [row for row in rows if row is not None]
    if len(whole) != count or len({row.size for row in whole}) != 1:
        raise RetryFault(FaultKind("bad_reply", True), f"the server sent {len(whole)} usable vectors for {count} texts")
    return np.stack(whole), _usage(body.get("usage"))


def _vector(sent: Any) -> Vectors | None:
    """A vector as numbers, or as the base64 of little-endian float32 that some servers always send."""
    try:
        if isinstance(sent, str):
            vector = np.frombuffer(base64.b64decode(sent, validate=True), dtype="<f4").astype(np.float32)
        else:
            vector = np.asarray(sent, dtype=np.float32)
    except (ValueError, TypeError, binascii.Error):
        return None
    return vector if vector.ndim == 1 and vector.size and bool(np.isfinite(vector).all()) else None


def _usage(reported: Any) -> Usage:
    tokens = reported.get("prompt_tokens") if isinstance(reported, dict) else None
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
        return Usage(calls=1)
    return Usage(prompt_tokens=tokens, completion_tokens=0, calls=1)
