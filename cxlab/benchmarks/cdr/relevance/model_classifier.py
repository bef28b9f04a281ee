"""A chat model in the place of a model that is trained here: it reads each pair and tells its chance."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Protocol

import numpy as np

from cxlab.benchmarks.cdr.relevance.classifier import Array, PairLabel, TrainingReport, measure_chances
from cxlab.benchmarks.generation.stages import Progress
from cxlab.llm import ChatModel

BLOCK = 10
"""Conversations that are read on in the order of their ranks, until none of so many may fit."""
Pair = tuple[str, str]


class Rates(Protocol):
    """Asks a model for the chances of pairs: None where its reply could not be read."""

    def __call__(
        self, stage: str, model: ChatModel, pairs: Sequence[Pair]
    ) -> Generator[Progress, None, dict[Pair, float | None]]: ...


def hold_against(
    rate: Rates, model: ChatModel, labels: Sequence[PairLabel], by: str, seed: int, stage: str = "rated"
) -> Generator[Progress, None, TrainingReport | None]:
    """How its chances agree with the labels of the annotator `by`, in both ways; None where it told of no pair, or all
    labels are alike. A pair without a readable reply counts as one that it thinks does not fit."""
    pairs = [(each.query_id, each.conversation_id) for each in labels]
    told = yield from rate(stage, model, pairs)
    if not any(chance is not None for chance in told.values()):
        return None
    return hold_scores(told, labels, model.name, by, seed)


def hold_scores(
    told: Mapping[Pair, float | None], labels: Sequence[PairLabel], name: str, by: str, seed: int
) -> TrainingReport | None:
    """The same of scores from 0 to 1 that are known; None where all labels are alike."""
    wanted = np.array([each.fits for each in labels], dtype=bool)
    if wanted.all() or not wanted.any():
        return None
    queries = sorted({each.query_id for each in labels})
    scores: Array = np.array([told[each.query_id, each.conversation_id] or 0.0 for each in labels])
    weights = np.array([each.stands_for for each in labels])
    groups = np.array([queries.index(each.query_id) for each in labels])
    return measure_chances(scores, wanted, weights, groups, seed)._replace(by=name, against=by)


def read_on(
    rate: Rates, model: ChatModel, ranked: Mapping[str, Sequence[str]], unsure: float
) -> Generator[Progress, None, dict[str, dict[str, float | None]]]:
    """Query → the chances of its conversations in their order, as far as was read: on after each block with one that
    may fit (from `unsure` on)."""
    found: dict[str, dict[str, float | None]] = {query: {} for query in ranked}
    going, start = [query for query, names in ranked.items() if names], 0
    while going:
        pairs = [(query, name) for query in going for name in ranked[query][start : start + BLOCK]]
        told = yield from rate(f"classifier-{start // BLOCK + 1}", model, pairs)
        for (query, name), chance in told.items():
            found[query][name] = chance
        start += BLOCK
        going = [
            query
            for query in going
            if len(ranked[query]) > start
            and any((found[query][name] or 0.0) >= unsure for name in ranked[query][start - BLOCK : start])
        ]
    return found
