"""A retriever by name, an embedding endpoint say, in the place of the reranker or of what the classifier reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from cxlab import retrieval
from cxlab.benchmarks.cdr.relevance.classifier import Array, spread
from cxlab.benchmarks.cdr.units import UnitText
from cxlab.benchmarks.generation.stages import GenerationStopped
from cxlab.llm import role_of
from cxlab.llm.base import ProviderFault
from cxlab.records import Conversation, Usage
from cxlab.retrieval.embedders.embeddings import metered

ROLE = "retriever"
Book = Callable[[Usage, float | None], None]
"""Takes what a server's vectors came to."""


def is_retriever(model: str) -> bool:
    """Whether the model of that name orders texts and answers no prompt."""
    return role_of(model) == ROLE


class RetrieverFeatures:
    """What one retriever, `model` as `retriever:NAME`, says of each pair of a query and a whole conversation; the
    vectors of all queries are made at once. GenerationStopped where a server does not deliver them."""

    def __init__(
        self, corpus: Mapping[str, Conversation], model: str, queries: Iterable[str], book: Book | None = None
    ) -> None:
        self.ids = sorted(corpus)
        self.place = {name: place for place, name in enumerate(self.ids)}
        self._retriever: Any = retrieval.load(model.partition(":")[2])
        text = UnitText()
        with metered() as paid:
            try:
                self._retriever.fit([text.write(corpus[name].messages) for name in self.ids])
                if hasattr(self._retriever, "prepare"):
                    self._retriever.prepare(list(queries))
            except ProviderFault as fault:
                raise GenerationStopped(f"{model} did not deliver ({fault.failure.type}: {fault})") from None
        if book is not None:
            for each in paid:
                book(each.usage, each.cost_usd)

    def score(self, query: str) -> Array:
        """The retriever's own numbers, in the order of `ids`."""
        return np.asarray(self._retriever.scores(query), dtype=np.float64)

    def read(self, query: str) -> Array:
        """(conversations, 3): the score, in the query's standard deviations, and 1 / rank."""
        scores = self.score(query)
        ranks = np.empty(len(scores))
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        return np.column_stack([scores, spread(scores[:, None]), 1 / ranks])
