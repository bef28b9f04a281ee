"""A Chroma index over a dataset's units, kept below the store, and how much of the exact search it finds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cxlab.benchmarks.cdr.retrievers.fitted import open_index
from cxlab.benchmarks.cdr.units import Granularity
from cxlab.errors import BadOption
from cxlab.records import content_id
from cxlab.retrieval import chroma
from cxlab.retrieval.embedder import embed_queries
from cxlab.retrieval.embeddings import load_embedder
from cxlab.store import home


class IndexRecall(NamedTuple):
    """`recall`: of the k units with the largest exact scores the share that the index returns, over `questions`; units
    that score like the k-th count as among them. Milliseconds a question of either search, without its embedding for
    the index; `built_s`: seconds that bringing the index up to date took, of `units`."""

    recall: float
    k: int
    questions: int
    units: int
    exact_ms: float
    index_ms: float
    built_s: float


def measure_index(
    dataset_id: str, embedder: str, granularity: Granularity, questions: Sequence[str], k: int = 10
) -> IndexRecall:
    """Bring the index of this embedder up to date and compare it with exact search on these questions."""
    if not questions:
        raise BadOption("to measure an index takes one question or more")
    exact = open_index(dataset_id, embedder, granularity).index
    model = load_embedder(embedder)
    ids = [f"{place}-{content_id(text)}" for place, text in enumerate(exact.texts)]
    folder = home() / "indexes" / dataset_id / content_id(model.name, granularity)
    began = time.perf_counter()
    collection = chroma.update(dict(zip(ids, exact.texts, strict=True)), model, folder, "units")
    built_s = time.perf_counter() - began
    most = min(k, len(ids))
    vectors = embed_queries(model, list(questions))
    shares, exact_s, index_s = [], 0.0, 0.0
    for question, vector in zip(questions, vectors, strict=True):
        began = time.perf_counter()
        scores = np.asarray(exact.retriever.scores(question), dtype=np.float64)
        least = np.partition(scores, len(scores) - most)[len(scores) - most]
        exact_s += time.perf_counter() - began
        began = time.perf_counter()
        found = collection.query(query_embeddings=vector[None], n_results=most, include=["distances"])["ids"][0]
        index_s += time.perf_counter() - began
        # To six places: the same cosine comes out of two libraries.
        right = sum(scores[int(each.partition("-")[0])] >= least - 1e-6 for each in found)
        shares.append(right / most)
    return IndexRecall(
        float(np.mean(shares)), most, len(questions), len(ids), 1000 * exact_s / len(questions),
        1000 * index_s / len(questions), built_s,
    )  # fmt: skip
