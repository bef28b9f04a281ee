"""The reranker that ships: what it was trained on, and what it does where it was never trained."""

import numpy as np
import pytest

from cxlab import llm
from cxlab.benchmarks.cdr.relevance.classifier import FEATURES
from cxlab.benchmarks.cdr.relevance.reranker import load_reranker, order_by, train
from tests.data.real_conversations import load_by_hand
from tests.data.relevance_classifier import measure_rerankers


def test_the_file_is_what_training_gives() -> None:
    shipped = load_reranker().weights
    again = train(llm.load("simulated:strong"))
    assert (again.pairs, again.queries) == (shipped.pairs, shipped.queries)
    assert again.average_precision == pytest.approx(shipped.average_precision, abs=0.005)
    for name, row in again.features.items():
        assert row.weight == pytest.approx(shipped.features[name].weight, abs=0.01), name
    assert shipped.average_precision > 0.8


def test_by_hand_it_orders_better_than_what_comes_before_it() -> None:
    before, after = (figures for _, figures in measure_rerankers(load_by_hand()))
    for name in ("nDCG@10", "one to three: average precision", "all pairs: average precision"):
        assert after[name] > before[name] + 0.04, name


def test_its_score_is_the_logistic_of_its_weighed_features() -> None:
    reranker = load_reranker()
    rows = np.random.default_rng(1).normal(size=(20, len(FEATURES)))
    weights = reranker.weights
    by_hand = [
        weights.intercept
        + sum((x - one.mean) / one.spread * one.weight for x, one in zip(row, weights.features.values(), strict=True))
        for row in rows
    ]
    assert reranker.score(rows) == pytest.approx(1 / (1 + np.exp(-np.array(by_hand))))
    assert order_by(np.array([0.1, 0.7, 0.7]), ["a", "b", "c"], 2) == ["b", "c"]
