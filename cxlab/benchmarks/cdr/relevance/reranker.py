"""A reranker that was trained before anything of a corpus is labelled: on made conversations, whose relevance is known.

The paper has a language model write queries for 300,000 conversations, some that fit and some that only seem to, and
tunes a reranker on these pairs. Here the pairs are those of made conversations (`corpus/generated.py`): each relevant
one beside three irrelevant ones of the same query, some of them on its topic. What it reads of a pair is what the
classifier reads; what it weighs how is data/cdr/reranker.yaml, so that nothing is trained while a corpus is labelled.
The classifier (`classifier.py`) is another model and is trained on the labels at hand.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import numpy as np

from cxlab import resources
from cxlab.benchmarks.cdr.corpus import generated
from cxlab.benchmarks.cdr.relevance.classifier import FEATURES, NEGATIVES, Array, PairFeatures, fit_weights
from cxlab.benchmarks.generation.stages import finish
from cxlab.errors import BadFile
from cxlab.files import load_model
from cxlab.llm import ChatModel
from cxlab.records.base import Record

FILE = resources.data("cdr", "reranker.yaml")
TRAINED, HELD_OUT = (101, 102, 103, 104), (201, 202)
"""Seeds of the made corpora that it was trained on, and of those that it is measured on."""
SIZE = 250
# Of one query so many relevant conversations at most, so that frequent happenings do not count for all.
_MOST = 10


class Weight(Record):
    """Of a feature: its mean and spread over the pairs that were learnt from, and what it weighs."""

    mean: float
    spread: float
    weight: float


class RerankerWeights(Record):
    """The file. `pairs`, `queries`: learnt from; `average_precision`: on made corpora of other seeds, one relevant pair
    with three that are not, where a blind order has 0.25."""

    pairs: int
    queries: int
    average_precision: float
    intercept: float
    features: dict[str, Weight]


class Reranker:
    """How likely a conversation answers a query, as far as made conversations teach it."""

    def __init__(self, weights: RerankerWeights) -> None:
        self.weights = weights
        rows = list(weights.features.values())
        self._mean = np.array([row.mean for row in rows])
        self._weight = np.array([row.weight / row.spread for row in rows])

    def score(self, rows: Array) -> Array:
        """A number from 0 to 1 for each row of `PairFeatures.read`; its order counts, as a chance it is too high, since
        it was learnt where one pair of four is relevant."""
        decisions = (rows - self._mean) @ self._weight + self.weights.intercept
        scores: Array = 1 / (1 + np.exp(-decisions))
        return scores


@functools.cache
def load_reranker() -> Reranker:
    """The one that ships; BadFile where it was trained on other features than those that are read now."""
    weights = load_model(FILE, RerankerWeights, "see the head of the file")
    if tuple(weights.features) != FEATURES:
        raise BadFile(FILE, None, "it knows other features", "train it again: see tests/data/relevance_classifier.py")
    return Reranker(weights)


def train(writer: ChatModel, trained: Iterable[int] = TRAINED, held_out: Iterable[int] = HELD_OUT) -> RerankerWeights:
    """Train on corpora that `writer` writes, one a seed, and measure on those of other seeds."""
    from sklearn.metrics import average_precision_score

    rows, fits, queries = _draw(writer, trained)
    tested, wanted, _ = _draw(writer, held_out)
    model = fit_weights(rows, fits)
    told = model.decision_function(tested)
    scaler, weighing = (step for _, step in model.steps)
    features = {
        name: Weight(mean=round(float(mean), 6), spread=round(float(spread), 6), weight=round(float(weight), 6))
        for name, mean, spread, weight in zip(FEATURES, scaler.mean_, scaler.scale_, weighing.coef_[0], strict=True)
    }
    return RerankerWeights(
        pairs=len(rows),
        queries=queries,
        average_precision=round(float(average_precision_score(wanted, told)), 4),
        intercept=round(float(weighing.intercept_[0]), 6),
        features=features,
    )


def _draw(writer: ChatModel, seeds: Iterable[int]) -> tuple[Array, np.ndarray[tuple[int], np.dtype[np.bool_]], int]:
    """The features of pairs, whether each is relevant, and of how many queries they are."""
    rows: list[Array] = []
    fits: list[bool] = []
    queries = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        plans = generated.plan(SIZE, seed)
        made = generated.ask_for(plans, finish(generated.write(plans, writer, seed)), seed)
        features = PairFeatures(made.conversations)
        for query, text in made.queries.items():
            relevant = np.array([name in made.relevant[query] for name in features.ids])
            few = np.flatnonzero(relevant)[:_MOST]
            others = rng.choice(np.flatnonzero(~relevant), NEGATIVES * len(few), replace=False)
            rows.append(features.read(text)[np.concatenate([few, others])])
            fits += [True] * len(few) + [False] * len(others)
            queries += 1
    return np.concatenate(rows), np.array(fits, dtype=bool), queries


def order_by(scores: Array, ids: Sequence[str], depth: int) -> list[str]:
    """The ids with the highest scores, ties in the order of the ids."""
    return [ids[place] for place in np.argsort(-scores, kind="stable")[:depth].tolist()]
