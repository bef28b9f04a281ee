"""Two systems on the same samples: is the difference real?"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cxlab.errors import BadOption
from cxlab.metrics.intervals import clustered_interval, number_clusters, resample_means, sum_clusters

_EXACT_UP_TO = 16  # clusters: their 65,536 sign patterns are quickly looked at one by one


class Paired(NamedTuple):
    """`a` against `b` on `n` pairs in `clusters` groups; `difference` = mean of a - b.

    `wins`, `ties` and `losses` count the pairs where a is above, equal to and below b.
    """

    n: int
    clusters: int
    difference: float
    low: float
    high: float
    p: float
    wins: int
    ties: int
    losses: int


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    seed: int,
    resamples: int = 10_000,
    closed_form_from: int | None = None,
) -> Paired:
    """Mean difference of paired values with a 95 % interval and a two-sided p.

    Position i of both is the same sample; a pair with a NaN is left out, samples that only one system
    has are for the caller to count. Interval: percentile bootstrap of whole clusters; nan below two
    clusters. p: sign-flip permutation of whole clusters' sums, exact up to 16 clusters, else
    (1 + hits) / (1 + resamples); assumes that without a difference a cluster's sum is as likely + as -.
    From `closed_form_from` clusters on, interval and p come from the clustered standard error and the normal
    distribution instead: with thousands of clusters both agree, and nothing has to be drawn.
    Wins are counted by pair, not by cluster. Same seed, same result. No pair: nan.
    """
    ours, theirs = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    if ours.size != theirs.size:
        raise BadOption(f"{ours.size} values against {theirs.size}; pair them by sample first")
    differences, codes, groups = number_clusters(ours - theirs, clusters)
    if groups == 0:
        return Paired(0, 0, math.nan, math.nan, math.nan, math.nan, 0, 0, 0)
    sums, sizes = sum_clusters(differences, codes, groups)
    rng = np.random.default_rng(seed)
    low = high = math.nan
    closed = closed_form_from is not None and groups >= max(2, closed_form_from)
    if closed:
        found = clustered_interval(differences, codes)
        low, high = found.low, found.high
    elif groups > 1:
        low, high = map(float, np.quantile(resample_means(sums, sizes, rng, resamples), (0.025, 0.975)))
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return Paired(
        n=differences.size,
        clusters=groups,
        difference=float(differences.mean()),
        low=low,
        high=high,
        p=_normal_p(differences, sums, sizes) if closed else sign_flip_p(sums, rng, resamples),
        wins=wins,
        ties=differences.size - wins - losses,
        losses=losses,
    )


def sign_flip_p(sums: NDArray[np.float64], rng: np.random.Generator, resamples: int = 10_000) -> float:
    """Two-sided p of the sum when each entry could as well have had the other sign; exact up to 16 entries."""
    exact = len(sums) <= _EXACT_UP_TO
    if exact:
        codes = np.arange(1 << len(sums), dtype=np.uint16)
        patterns = np.stack((codes & 0xFF, codes >> 8), axis=1).astype(np.uint8)
    else:
        patterns = rng.integers(0, 256, size=(resamples, -(-len(sums) // 8)), dtype=np.uint8)
    # Sums that differ only by rounding are equal; without the slack p would hang on summation order.
    extreme = abs(float(sums.sum())) - 1e-10 * float(np.abs(sums).sum())
    hits = int((np.abs(_flipped_sums(sums, patterns)) >= extreme).sum())
    return hits / len(patterns) if exact else (1 + hits) / (1 + resamples)


def _normal_p(differences: NDArray[np.float64], sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """Two-sided p of a mean difference of 0 by the clustered standard error."""
    residuals = sums - sizes * differences.mean()
    groups = len(sums)
    error = math.sqrt(groups / (groups - 1) * float((residuals**2).sum())) / differences.size
    if error == 0.0:
        return 1.0 if differences.mean() == 0.0 else 0.0
    return math.erfc(abs(float(differences.mean())) / error / math.sqrt(2))


def _flipped_sums(sums: NDArray[np.float64], patterns: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The total under each pattern of signs, one bit an entry.

    Eight entries have only 256 sign patterns: their sums are tabled once and looked up by byte, which is
    16 times less work than multiplying every entry by its sign.
    """
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    totals = np.zeros(len(patterns))
    for block in range(-(-len(sums) // 8)):
        eight = sums[8 * block : 8 * block + 8]
        totals += (signs[:, : len(eight)] @ eight)[patterns[:, block]]
    return totals


def holm(pvalues: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's step-down correction, in the order given; a NaN stays NaN and does not count as a comparison."""
    given = np.asarray(pvalues, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(given))
    if ((given[tested] < 0) | (given[tested] > 1)).any():
        raise BadOption("a p value lies outside 0..1")
    order = tested[np.argsort(given[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(given[order] * factors), 1.0)
    return adjusted


def mcnemar_exact(b: int, c: int) -> float:
    """Exact two-sided McNemar p from the discordant pairs: b only the first got right, c only the second.

    Under no difference b is binomial(b + c, 1/2); p = twice the smaller tail, at most 1. No discordant
    pair: 1.0.
    """
    if b < 0 or c < 0:
        raise BadOption(f"discordant pairs {b} and {c}; counts cannot be negative")
    pairs, term, tail = b + c, 1, 0
    for drawn in range(min(b, c) + 1):
        tail += term
        term = term * (pairs - drawn) // (drawn + 1)
    return min(1.0, 2 * tail / (1 << pairs))


def minimum_detectable(sd: float, n: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Smallest mean difference that a paired test of n pairs finds with that power, two-sided.

    (z(1 - alpha/2) + z(power)) * sd / sqrt(n); `sd` is the spread of the differences, `n` the number of
    independent pairs (of clusters, where pairs come in clusters). No pair: nan.
    """
    if sd < 0 or n < 0:
        raise BadOption(f"sd = {sd}, n = {n}; neither can be negative")
    if not (0 < alpha < 1 and 0 < power < 1):
        raise BadOption(f"alpha = {alpha}, power = {power}; both lie between 0 and 1")
    if n == 0:
        return math.nan
    normal = NormalDist()
    return (normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) * sd / math.sqrt(n)
