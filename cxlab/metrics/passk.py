"""Repeated trials of one task: does it always work (pass^k), does it ever (pass@k)?

Both are unbiased estimates from n trials with c successes, n >= k. Scalars give a float, arrays (one
entry a task) an array; the figure of a benchmark is the mean over its tasks.
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cxlab.errors import BadOption


@overload
def pass_hat_k(successes: int, trials: int, k: int) -> float: ...
@overload
def pass_hat_k(successes: ArrayLike, trials: ArrayLike, k: int) -> float | NDArray[np.float64]: ...
def pass_hat_k(successes: ArrayLike, trials: ArrayLike, k: int) -> float | NDArray[np.float64]:
    """Chance that k trials drawn without replacement all succeed: C(c, k) / C(n, k), tau-bench's pass^k."""
    hits, tries = _check_counts(successes, trials, k)
    return _as_given(_all_of_one_kind(hits, tries, k))


@overload
def pass_at_k(successes: int, trials: int, k: int) -> float: ...
@overload
def pass_at_k(successes: ArrayLike, trials: ArrayLike, k: int) -> float | NDArray[np.float64]: ...
def pass_at_k(successes: ArrayLike, trials: ArrayLike, k: int) -> float | NDArray[np.float64]:
    """Chance that at least one of k trials drawn without replacement succeeds: 1 - C(n - c, k) / C(n, k)."""
    hits, tries = _check_counts(successes, trials, k)
    return _as_given(1.0 - _all_of_one_kind(tries - hits, tries, k))


def _all_of_one_kind(kind: NDArray[np.float64], trials: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """C(kind, k) / C(trials, k) as a product of k ratios, which neither overflows nor needs a factorial."""
    drawn = np.arange(k, dtype=np.float64)
    ratios = np.maximum(kind[..., None] - drawn, 0.0) / (trials[..., None] - drawn)
    return np.asarray(ratios.prod(axis=-1), dtype=np.float64)


def _check_counts(successes: ArrayLike, trials: ArrayLike, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    hits, tries = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    if k < 1 or k != int(k):
        raise BadOption(f"k = {k}: k counts trials, so it must be a whole number from 1 on")
    if tries.size and k > tries.min():
        raise BadOption(f"k = {k} but a task has only {int(tries.min())} trials; take a smaller k or run more trials")
    if not ((hits >= 0) & (hits <= tries) & (hits == np.floor(hits)) & (tries == np.floor(tries))).all():
        raise BadOption("successes must be whole numbers between 0 and the number of trials")
    return hits, tries


def _as_given(values: NDArray[np.float64]) -> float | NDArray[np.float64]:
    return float(values) if values.ndim == 0 else values
