"""Correlations against SciPy, and their intervals against drawing samples one by one."""

import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.metrics.correlation import clustered_correlation, correlation_of_sums


@given(st.lists(st.tuples(st.integers(3, 9), st.integers(0, 100), st.integers(0, 8)), min_size=2, max_size=40))
@settings(max_examples=60, deadline=None)
def test_r_is_pearsons(rows: list[tuple[int, int, int]]) -> None:
    x, y, clusters = (list(side) for side in zip(*rows, strict=True))
    found = clustered_correlation(x, y, clusters, seed=1, resamples=100)
    assert (found.n, found.clusters) == (len(rows), len(set(clusters)))
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(found.r)
        return
    assert found.r == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-9)
    assert math.isnan(found.low) == (found.clusters < 3) or found.low <= found.high


def test_the_interval_draws_whole_samples() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(40), 5)
    shared = np.repeat(rng.normal(size=40), 5)
    x, y = shared + rng.normal(size=200) * 0.2, shared + rng.normal(size=200) * 0.8
    found = clustered_correlation(x, y, clusters, seed=2)
    drawn = []
    for _ in range(2_000):
        chosen = np.concatenate([np.flatnonzero(clusters == each) for each in rng.integers(0, 40, 40)])
        drawn.append(np.corrcoef(x[chosen], y[chosen])[0, 1])
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, (0.025, 0.975))), abs=0.02)
    # Five turns of one dialogue tell less than five dialogues: taken one by one they would seem surer.
    alone = clustered_correlation(x, y, np.arange(200), seed=2)
    assert found.high - found.low > alone.high - alone.low


def test_a_side_that_never_varies_has_no_correlation() -> None:
    assert math.isnan(clustered_correlation([0.1] * 9, range(9), range(9), seed=1).r)
    assert math.isnan(clustered_correlation([], [], [], seed=1).r)
    perfect = clustered_correlation(range(9), range(0, 18, 2), range(9), seed=1)
    assert (perfect.r, perfect.low, perfect.high) == pytest.approx((1.0, 1.0, 1.0))


def sums_of(x: np.ndarray, y: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    terms = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    return np.stack([np.bincount(clusters, weights=term) for term in terms], axis=1)


def test_from_sums_it_is_the_same_without_drawing() -> None:
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(120), 4)
    shared = np.repeat(rng.normal(size=120), 4)
    x, y = 70 + shared + rng.normal(size=480) * 0.5, shared - rng.normal(size=480)
    drawn, found = clustered_correlation(x, y, clusters, seed=1), correlation_of_sums(sums_of(x, y, clusters))
    assert found.r == pytest.approx(drawn.r)
    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.02)
    wider = correlation_of_sums(sums_of(x, y, clusters), level=0.99)
    assert wider.low < found.low < found.high < wider.high
    # A pair a cluster: Fisher's own interval.
    alone = correlation_of_sums(sums_of(x, y, np.arange(480)))
    fisher = scipy.stats.pearsonr(x, y).confidence_interval()
    assert (alone.low, alone.high) == pytest.approx((fisher.low, fisher.high), abs=0.01)


def test_sums_of_nothing_and_of_a_constant_have_none() -> None:
    assert math.isnan(correlation_of_sums([]).r)
    nine = np.arange(9)
    assert math.isnan(correlation_of_sums(sums_of(nine * 0.0 + 0.1, nine * 1.0, nine)).r)
    assert math.isnan(correlation_of_sums(sums_of(nine * 1.0, nine * 2.0, nine)).low)
