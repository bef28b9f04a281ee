"""A Chroma index over a dataset's units, kept below the store: brought up to date, asked, and measured.

Datasets of one benchmark with one name are versions of the same conversations and share an index, so that a file that
is imported once more with new conversations costs what is new in it. It holds the version that it was last brought to.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.ranking import RankedConversation
from cxlab.benchmarks.cdr.retrievers.fitted import open_index
from cxlab.benchmarks.cdr.units import Granularity, Unit, UnitText, split
from cxlab.benchmarks.generation.stages import Progress
from cxlab.errors import BadOption
from cxlab.records import content_id
from cxlab.records.settings import Settings
from cxlab.retrieval import kept_index
from cxlab.retrieval.embedders.embedder import embed_queries
from cxlab.retrieval.embedders.embeddings import default_embedder, load_embedder
from cxlab.retrieval.kept_index import NearestPiece, Piece
from cxlab.store import home, write

# Pieces that are asked for beside each conversation that is wanted, at first; more where filters leave too few.
_MORE = 4
_TEXT = UnitText()


class IndexRecall(NamedTuple):
    """`recall`: of the k units with the largest exact scores the share that the index returns, over `questions`; units
    that score like the k-th count as among them. Milliseconds a question of either search, without its embedding for
    the index."""

    recall: float
    k: int
    questions: int
    units: int
    exact_ms: float
    index_ms: float


class IndexOptions(Settings):
    """Which index of a dataset's conversations."""

    embedder: str = Field("", description="Whose vectors; MiniLM's where it is installed, else hashing.")
    granularity: Granularity = Field("session", description="What is searched, as for a run.")


def update_index(dataset_id: str, options: IndexOptions) -> Generator[Progress, None, None]:
    """Bring the index of an embedder and a granularity up to date with a dataset, with progress.

    Only units of new and of changed conversations are embedded and added; those of others are taken out.
    """
    embedder, granularity = options.embedder or default_embedder(), options.granularity
    model = load_embedder(embedder)
    corpus = load_corpus(dataset_id)
    pieces: dict[str, Piece] = {}
    for done, (name, talk) in enumerate(corpus.items()):
        if done % 1000 == 0:
            yield Progress("read", done, len(corpus))
        for unit in split(talk, granularity, _TEXT):
            if unit.text:
                note: dict[str, str | int] = {"conversation": name, "first": unit.first, "last": unit.last}
                pieces[_identify(unit)] = Piece(unit.text, note)
    yield Progress("read", len(corpus), len(corpus))
    for done, of in kept_index.update(_folder(dataset_id, embedder, granularity), pieces, model, dataset_id):
        yield Progress("index", done, of)


def is_current(dataset_id: str, embedder: str, granularity: Granularity) -> bool:
    """Whether the index is built and holds this very dataset."""
    state = kept_index.read_state(_folder(dataset_id, embedder, granularity))
    return state is not None and state.holds == dataset_id


def search_index(
    dataset_id: str, embedder: str, granularity: Granularity, question: str, among: Collection[str], k: int
) -> list[RankedConversation]:
    """The k best conversations of `among` as the index finds them, each by its best unit; units without text.

    Where it leaves conversations out, the index is asked for more, and for all it has in the end. BadOption where it
    does not hold this dataset.
    """
    if not is_current(dataset_id, embedder, granularity):
        raise BadOption("the index does not hold these conversations as they are; bring it up to date")
    folder = _folder(dataset_id, embedder, granularity)
    (vector,) = embed_queries(load_embedder(embedder), [question])
    count = (kept_index.read_state(folder) or kept_index.State("", "", 0, "")).pieces
    asked = min(k * _MORE, count)
    while True:
        found = _keep_best(kept_index.find_near(folder, vector, asked), among)
        if len(found) >= min(k, len(among)) or asked >= count:
            return found[:k]
        asked = min(asked * 8, count)


def _keep_best(near: Sequence[NearestPiece], among: Collection[str]) -> list[RankedConversation]:
    """Each conversation once, by its best unit; equal scores go by id."""
    best: dict[str, RankedConversation] = {}
    for note, score in near:
        name = str(note["conversation"])
        if name in among and name not in best:
            best[name] = RankedConversation(name, score, Unit(name, "", int(note["first"]), int(note["last"])))
    return sorted(best.values(), key=lambda each: (-round(each.score, 6), each.id))


def measure_index(
    dataset_id: str, embedder: str, granularity: Granularity, questions: Sequence[str], k: int = 10
) -> IndexRecall:
    """Compare the index as it stands with exact search on these questions; BadOption where it is not up to date."""
    if not questions:
        raise BadOption("to measure an index takes one question or more")
    if not is_current(dataset_id, embedder, granularity):
        raise BadOption("the index does not hold these conversations as they are; bring it up to date")
    exact = open_index(dataset_id, embedder, granularity).index
    places: dict[Any, int] = {
        (unit.conversation_id, unit.first, unit.last): place for place, unit in enumerate(exact.units)
    }
    folder = _folder(dataset_id, embedder, granularity)
    most = min(k, len(places))
    vectors = embed_queries(load_embedder(embedder), list(questions))
    kept_index.find_near(folder, vectors[0], most)  # opens it, which takes longer than a question
    shares, exact_s, index_s = [], 0.0, 0.0
    for question, vector in zip(questions, vectors, strict=True):
        began = time.perf_counter()
        scores = np.asarray(exact.retriever.scores(question), dtype=np.float64)
        least = np.partition(scores, len(scores) - most)[len(scores) - most]
        exact_s += time.perf_counter() - began
        began = time.perf_counter()
        found = kept_index.find_near(folder, vector, most)
        index_s += time.perf_counter() - began
        # To six places: the same cosine comes out of two libraries.
        right = sum(
            scores[places[note["conversation"], note["first"], note["last"]]] >= least - 1e-6 for note, _ in found
        )
        shares.append(right / most)
    count = len(questions)
    return IndexRecall(
        float(np.mean(shares)), most, count, len(places), 1000 * exact_s / count, 1000 * index_s / count
    )  # fmt: skip


def _folder(dataset_id: str, embedder: str, granularity: Granularity) -> Path:
    dataset = write.load_dataset(dataset_id)
    same = content_id(dataset.benchmark, dataset.name, load_embedder(embedder).name, granularity)
    return home() / "indexes" / same


def _identify(unit: Unit) -> str:
    return content_id(unit.conversation_id, unit.first, unit.last, unit.text, length=24)
