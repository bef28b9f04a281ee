"""Shares behind a judge that errs: against the formula, and against their own promise."""

import math

import numpy as np
import pytest

from cxlab.errors import BadOption
from cxlab.metrics.classification import rogan_gladen
from cxlab.metrics.prevalence import corrected_prevalence


def judge(rng, share, tpr, tnr, clusters, size=6):
    """Counts by cluster of a judge with these rates on things of which this share is yes."""
    is_yes = rng.random((clusters, size)) < share
    says = np.where(is_yes, rng.random((clusters, size)) < tpr, rng.random((clusters, size)) > tnr)
    cells = (is_yes & says, is_yes & ~says, ~is_yes & says, ~is_yes & ~says)
    return np.stack([cell.sum(axis=1) for cell in cells], axis=1)


def test_each_half_is_corrected_by_the_other():
    counts = judge(np.random.default_rng(1), 0.4, 0.8, 0.7, 50)
    found = corrected_prevalence(counts, seed=0)
    one, other = counts[::2].sum(axis=0), counts[1::2].sum(axis=0)

    def by(half, checked):
        said = (half[0] + half[2]) / half.sum()
        return rogan_gladen(said, checked[0] / (checked[0] + checked[1]), checked[3] / (checked[2] + checked[3]))

    expected = (by(one, other) * one.sum() + by(other, one) * other.sum()) / counts.sum()
    assert found.value == pytest.approx(expected)
    assert (found.n, found.clusters) == (300, 50)
    assert found.observed == pytest.approx((counts[:, 0] + counts[:, 2]).sum() / 300)
    assert corrected_prevalence(counts, seed=0) == found


def test_it_finds_the_truth_where_the_judges_own_share_does_not():
    rng = np.random.default_rng(2)
    covered = naive = 0
    for _ in range(120):
        found = corrected_prevalence(judge(rng, 0.2, 0.75, 0.8, 80), seed=3, resamples=300)
        covered += found.low <= 0.2 <= found.high
        naive += abs(found.observed - 0.2) < 0.05
    assert covered / 120 > 0.88
    assert naive / 120 < 0.2


def test_a_perfect_judge_is_left_alone_and_a_guessing_one_says_nothing():
    counts = judge(np.random.default_rng(4), 0.3, 1.0, 1.0, 30)
    found = corrected_prevalence(counts, seed=0)
    assert found.value == pytest.approx(found.observed)
    assert (found.tpr, found.tnr) == (1.0, 1.0)
    guessing = np.tile([1, 1, 1, 1], (10, 1))
    assert math.isnan(corrected_prevalence(guessing, seed=0).value)
    assert math.isnan(corrected_prevalence([[3, 0, 1, 5]], seed=0).low)
    assert corrected_prevalence(np.zeros((0, 4)), seed=0).n == 0
    with pytest.raises(BadOption, match="negative"):
        corrected_prevalence([[-1, 0, 0, 0]], seed=0)
