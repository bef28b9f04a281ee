"""A retriever in the place of a model under test: `retriever:NAME`, with the names of `retriever.load_retriever`."""

from typing import Any

from cxlab.llm.base import Completion, ProviderFault, Request
from cxlab.llm.metering import Prices
from cxlab.llm.registry import KnownModel, ModelKind, embedding_prices

PREFIX, ROLE = "retriever", "retriever"
LOCAL = Prices(0.0, 0.0, source="runs on this machine")
_WORDS = {
    "bm25": "BM25: words, weighted by how rare they are",
    "lexical": "TF-IDF cosine of words and spelling",
    "conversation": "made for conversations: who says it, in what mood, early or late",
    "hybrid:conversation": "BM25 and the one made for conversations, fused by rank",
    "hybrid": "BM25 and the best vectors there are, fused by rank",
    "random": "an order by chance (floor)",
    "hub": "the same order for every query (floor)",
}


class RetrieverModel:
    """The name of a retriever, known to be one that can be loaded; a benchmark fits it to its own texts.

    Nobody can talk to it: `complete` is always a provider's fault.
    """

    simulated = False

    def __init__(self, name: str) -> None:
        self.name, self.retriever = name, name.partition(":")[2]
        load(self.retriever)
        self.prices = find_prices(name)

    async def complete(self, request: Request) -> Completion:
        """A fault: it orders texts and answers no prompt."""
        raise ProviderFault("bad_request", f"{self.name} orders texts and answers no prompt")

    async def reach(self) -> ProviderFault | None:
        """The fault of a server that does not embed a word; None where none is needed."""
        import asyncio

        server = getattr(getattr(load(self.retriever), "embedder", None), "inner", None)
        if server is None or not hasattr(server, "usage"):
            return None
        try:
            await asyncio.to_thread(server.embed, ["word"])
        except ProviderFault as fault:
            return fault
        return None

    async def aclose(self) -> None:
        """Nothing is open."""


def load(name: str) -> Any:
    """A retriever that is fitted to nothing yet; UnknownName or NotConfigured where there is none of that name."""
    from cxlab.retrieval.retriever import load_retriever  # late: numpy

    return load_retriever(name)


def find_prices(name: str) -> Prices | None:
    """What its vectors cost: nothing on this machine, else the server's price; None where that is not noted."""
    vectors = name.partition(":")[2].removeprefix("hybrid:")
    return embedding_prices(vectors) if vectors.startswith(("openai:", "endpoint:")) else LOCAL


def list_known() -> list[KnownModel]:
    """What can be chosen on this machine, and what the others need; calls nothing."""
    from cxlab.retrieval.embedders.embeddings import known_embedders

    rows = [(name, "", words) for name, words in _WORDS.items()]
    rows[2:2] = [(each.name, each.needs, each.description) for each in known_embedders()]
    return [
        KnownModel(f"{PREFIX}:{name}", PREFIX, False, not needs, needs, find_prices(f"{PREFIX}:{name}"), words, ROLE)
        for name, needs, words in rows
    ]


KIND = ModelKind(PREFIX, ROLE, RetrieverModel, list_known, find_prices)
