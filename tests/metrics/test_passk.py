"""pass^k and pass@k against counting every draw of k trials."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from cxlab.errors import BadOption
from cxlab.metrics.passk import pass_at_k, pass_hat_k

CASES = [(c, n, k) for n in range(1, 7) for c in range(n + 1) for k in range(1, n + 1)]


@pytest.mark.parametrize(("successes", "trials", "k"), CASES)
def test_counting_every_draw(successes, trials, k):
    outcomes = [True] * successes + [False] * (trials - successes)
    draws = list(combinations(outcomes, k))
    assert pass_hat_k(successes, trials, k) == pytest.approx(sum(map(all, draws)) / len(draws))
    assert pass_at_k(successes, trials, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_closed_form_of_large_counts():
    assert pass_hat_k(700, 1000, 50) == pytest.approx(comb(700, 50) / comb(1000, 50))
    assert pass_at_k(3, 1000, 400) == pytest.approx(1 - comb(997, 400) / comb(1000, 400))


def test_arrays_give_one_value_a_task():
    assert pass_hat_k(np.array([4, 2, 0]), np.array([4, 4, 4]), 2) == pytest.approx([1, 1 / 6, 0])
    assert pass_at_k([4, 2, 0], 4, 2) == pytest.approx([1, 5 / 6, 0])
    assert pass_hat_k([3, 3], [3, 6], 3) == pytest.approx([1, 1 / 20])
    assert isinstance(pass_hat_k(1, 2, 1), float)
    assert str(pass_hat_k(2, 6, 4)) == "0.0"  # not -0.0


@pytest.mark.parametrize("metric", [pass_hat_k, pass_at_k])
@pytest.mark.parametrize(
    ("successes", "trials", "k", "said"),
    [
        (1, 3, 4, "only 3 trials"),
        ([1, 1], [5, 2], 3, "only 2 trials"),
        (1, 3, 0, "k = 0"),
        (4, 3, 1, "between 0"),
        (-1, 3, 1, "between 0"),
        (0.5, 3, 1, "whole"),
    ],
)
def test_impossible_counts_are_refused(metric, successes, trials, k, said):
    with pytest.raises(BadOption, match=said):
        metric(successes, trials, k)
