"""Two systems on the same samples: is the difference real?"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cxlab.errors import BadOption
from cxlab.metrics.intervals import Bounds, number_clusters, sum_clusters

_EXACT_UP_TO = 16  # clusters: their 65,536 sign patterns are quickly looked at one by one
LEAST_CLUSTERS = 8
"""No slice with fewer clusters is tested at all: even when nothing is corrected, all but one must point one way."""


class Paired(NamedTuple):
    """`a` against `b` on `n` pairs in `clusters` groups; `difference` = mean of a - b.

    `wins`, `ties` and `losses` count the pairs where a is above, equal to and below b. `sd` is the spread of the
    clusters' mean differences (nan below two), as `minimum_detectable` wants it.
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
    sd: float = math.nan


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    seed: int,
    resamples: int = 10_000,
    closed_form_from: int | None = None,
    level: float = 0.95,
    bounds: Bounds | None = None,
) -> Paired:
    """Mean difference of paired values with an interval and a two-sided p that never contradict each other.

    Position i of both is the same sample; a pair with a NaN is left out, samples that only one system has are for the
    caller to count. p: sign-flip permutation of whole clusters' sums, exact up to 16 clusters, else
    (1 + hits) / (1 + resamples); assumes that without a difference a cluster's sum is as likely + as -. Interval: all
    differences that the same test, with the same patterns, does not reject at 1 - level; so 0 lies outside of it where
    p < 1 - level and nowhere else. Its ends are quantiles of the means of random subsets (Hartigan 1969). Few clusters
    reject nothing (5 at 95 %): then it has no end, or those of `bounds`, the least and the most that a difference can
    be. Where all pairs are tied it reaches as far as Wilson's interval of 0 among as many clusters. nan below two
    clusters. From `closed_form_from` clusters on both come from the clustered standard error and the normal
    distribution instead: with thousands of clusters all agree, and nothing has to be drawn.
    Wins are counted by pair, not by cluster. Same seed, same result. No pair: nan. BadOption for unlike lengths.
    """
    ours, theirs = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    if ours.size != theirs.size:
        raise BadOption(f"{ours.size} values against {theirs.size}; pair them by sample first")
    if not 0 < level < 1:
        raise BadOption(f"level = {level}; it lies between 0 and 1")
    differences, codes, groups = number_clusters(ours - theirs, clusters)
    if groups == 0:
        return Paired(0, 0, math.nan, math.nan, math.nan, math.nan, 0, 0, 0)
    sums, sizes = sum_clusters(differences, codes, groups)
    mean = float(differences.mean())
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    if groups > 1 and closed_form_from is not None and groups >= closed_form_from:
        low, high, p = _normal_test(sums, sizes, level)
    else:
        low, high, p = _flip_test(sums, sizes, seed, resamples, level)
        if groups == 1:
            low = high = math.nan
    if bounds is not None and groups > 1:
        least, most = min(bounds), max(bounds)
        if wins == losses == 0:
            square = NormalDist().inv_cdf((1 + level) / 2) ** 2
            low, high = (end * square / (groups + square) for end in (least, most))
        low, high = max(low, least), min(high, most)
    sd = float(np.std(sums / sizes, ddof=1)) if groups > 1 else math.nan
    ties = differences.size - wins - losses
    return Paired(differences.size, groups, mean, low, high, p, wins, ties, losses, sd)


def _flip_test(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], seed: int, resamples: int, level: float
) -> tuple[float, float, float]:
    """Low, high and p by flipping the signs of clusters; the ends are infinite where nothing can be rejected.

    A pattern is at least as extreme as what was seen, once a difference d is taken off, where d is at least the mean
    of those that it flips, or of those that it leaves. So the ends are order statistics of these means.
    """
    patterns, exact = _keep_patterns(len(sums), seed, resamples)
    total, weight = float(sums.sum()), float(sizes.sum())
    flipped, flipped_weight = _flipped_sums(sums, patterns), _flipped_sizes(sizes, patterns)
    slack = 1e-10 * float(np.abs(sums).sum())
    hits = int((np.abs(flipped) >= abs(total) - slack).sum())
    p = hits / len(patterns) if exact else (1 + hits) / (1 + resamples)
    # What rounding alone sets apart is a tie, here as in p.
    sides = [(total - flipped, weight - flipped_weight), (total + flipped, weight + flipped_weight)]
    means = np.concatenate([
        np.where(np.abs(above) <= slack, 0.0, above)[below > 0] / below[below > 0] for above, below in sides
    ])  # fmt: skip
    # All are flipped or none: such a pattern is as extreme whatever is taken off.
    always = 2 * len(patterns) - len(means)
    # p(d) = (always + those below d) / patterns; not rejected from 1 - level on.
    enough = (1 - level) * (len(patterns) if exact else 1 + resamples) - 1e-9
    place = math.ceil(enough) - always - (0 if exact else 1)
    if place < 1:
        return -math.inf, math.inf, p
    if place > len(means):
        return math.nan, math.nan, p
    low = float(np.partition(means, place - 1)[place - 1])
    high = float(np.partition(means, len(means) - place)[len(means) - place])
    return low, high, p


# Several metrics of the same samples are tested by the same patterns.
@lru_cache(maxsize=4)
def _keep_patterns(groups: int, seed: int, resamples: int) -> tuple[NDArray[np.uint8], bool]:
    patterns, exact = _draw_patterns(groups, np.random.default_rng(seed), resamples)
    patterns = np.asfortranarray(patterns)  # they are gone through by eight clusters at a time
    patterns.flags.writeable = False
    return patterns, exact


def _draw_patterns(groups: int, rng: np.random.Generator, resamples: int) -> tuple[NDArray[np.uint8], bool]:
    """Patterns of signs, a bit a cluster; whether they are all there are."""
    if groups <= _EXACT_UP_TO:
        codes = np.arange(1 << groups, dtype=np.uint16)
        return np.stack((codes & 0xFF, codes >> 8), axis=1).astype(np.uint8), True
    return rng.integers(0, 256, size=(resamples, -(-groups // 8)), dtype=np.uint8), False


def sign_flip_p(sums: NDArray[np.float64], rng: np.random.Generator, resamples: int = 10_000) -> float:
    """Two-sided p of the sum when each entry could as well have had the other sign; exact up to 16 entries."""
    patterns, exact = _draw_patterns(len(sums), rng, resamples)
    # Sums that differ only by rounding are equal; without the slack p would hang on summation order.
    extreme = abs(float(sums.sum())) - 1e-10 * float(np.abs(sums).sum())
    hits = int((np.abs(_flipped_sums(sums, patterns)) >= extreme).sum())
    return hits / len(patterns) if exact else (1 + hits) / (1 + resamples)


def _normal_test(sums: NDArray[np.float64], sizes: NDArray[np.float64], level: float) -> tuple[float, float, float]:
    """Low, high and p by the clustered standard error and the normal distribution."""
    n, groups = float(sizes.sum()), len(sums)
    mean = float(sums.sum()) / n
    error = math.sqrt(groups / (groups - 1) * float(((sums - sizes * mean) ** 2).sum())) / n
    if error == 0.0:
        return mean, mean, 1.0 if mean == 0.0 else 0.0
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    return mean - reach, mean + reach, math.erfc(abs(mean) / error / math.sqrt(2))


def _flipped_sizes(sizes: NDArray[np.float64], patterns: NDArray[np.uint8]) -> NDArray[np.float64]:
    """`_flipped_sums` of sizes; of equal ones it is enough to count bits."""
    if (sizes != sizes[0]).any():
        return _flipped_sums(sizes, patterns)
    # The last byte has bits of no cluster.
    spare = -len(sizes) % 8
    bits = np.bitwise_count(patterns).sum(axis=1, dtype=np.int64)
    bits -= np.bitwise_count(patterns[:, -(-len(sizes) // 8) - 1] >> np.uint8(8 - spare)) if spare else 0
    bits -= np.bitwise_count(patterns[:, -(-len(sizes) // 8) :]).sum(axis=1, dtype=np.int64)
    weights: NDArray[np.float64] = sizes[0] * (len(sizes) - 2.0 * bits)
    return weights


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
    """Holm's step-down correction, in the order given; a NaN stays NaN and does not count as a comparison.

    BadOption for a p outside 0..1.
    """
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
    pair: 1.0. BadOption for a negative count.
    """
    if b < 0 or c < 0:
        raise BadOption(f"discordant pairs {b} and {c}; counts cannot be negative")
    pairs, term, tail = b + c, 1, 0
    for drawn in range(min(b, c) + 1):
        tail += term
        term = term * (pairs - drawn) // (drawn + 1)
    return min(1.0, 2 * tail / (1 << pairs))


def clusters_to_reject(comparisons: int, *, alpha: float = 0.05) -> int:
    """The fewest clusters with which a sign flip can reject anything at all once corrected for so many comparisons.

    With all G clusters on one side p is 2 / 2**G; below alpha / comparisons from G > 1 + log2(comparisons / alpha) on.
    """
    return math.floor(math.log2(max(1, comparisons) / alpha)) + 2


def least_clusters(sizes: Iterable[int], times: int = 1) -> int:
    """How many clusters a slice must have to be worth a test, where slices of these sizes are tested together.

    Each slice is tested `times` times (against so many others). The fewest, from LEAST_CLUSTERS on, with which those
    slices that have as many can each reject something: so no slice is counted in the correction that could never be
    told apart, and none is called large enough that is not. It depends on sizes alone, never on what was found.
    """
    sizes = list(sizes)
    least = LEAST_CLUSTERS
    while least < clusters_to_reject(times * sum(size >= least for size in sizes)):
        least += 1
    return least


def minimum_detectable(sd: float, n: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Smallest mean difference that a paired test of n pairs finds with that power, two-sided.

    (z(1 - alpha/2) + z(power)) * sd / sqrt(n); `sd` is the spread of the differences, `n` the number of
    independent pairs (of clusters, where pairs come in clusters). No pair: nan. BadOption for a negative
    number, or alpha or power outside 0..1.
    """
    if sd < 0 or n < 0:
        raise BadOption(f"sd = {sd}, n = {n}; neither can be negative")
    if not (0 < alpha < 1 and 0 < power < 1):
        raise BadOption(f"alpha = {alpha}, power = {power}; both lie between 0 and 1")
    if n == 0:
        return math.nan
    normal = NormalDist()
    return (normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) * sd / math.sqrt(n)


def samples_needed(sd: float, difference: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """How many pairs find a difference of that size with that power, the other way round; inf for a difference of 0."""
    if difference == 0:
        return math.inf
    return math.ceil((minimum_detectable(sd, 1, alpha=alpha, power=power) / difference) ** 2)


class CorrectedDifference(NamedTuple):
    """One of several paired differences, with all that is said about it corrected for their number."""

    found: Paired
    p: float
    """Corrected: at most 0.05 where the difference is real; nan without a pair."""
    verdict: str
    """One of above, below and cannot tell."""
    detectable: float
    """The smallest difference that as many pairs find with 80 % power; nan where the spread is unknown."""
    needed: float
    """Pairs, as many a cluster as these, that would find the difference seen, if it is the true one, with 80 % power;
    nan or inf where unknown."""


def compare_pairs(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    clusters: Sequence[ArrayLike] | None = None,
    *,
    seed: int,
    resamples: int = 4_000,
    closed_form_from: int | None = None,
    bounds: Bounds | None = None,
    alpha: float = 0.05,
    among: int = 0,
) -> list[CorrectedDifference]:
    """Several paired differences at once, each as (a, b) by sample: Bonferroni's correction of p and intervals alike.

    `clusters`: of each pair of lists the cluster of each sample; without them samples are independent.
    `among`: of so many that were looked at these are the ones of interest; the correction counts all of them.

    Single-step on purpose: the intervals hold simultaneously, and one is clear of 0 exactly where the corrected p is
    below alpha and the verdict certain. (Holm's steps find a little more, but no interval of theirs does both.)
    Pairs without a common sample are no comparison and do not count.
    """
    usable = [bool(np.isfinite(np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)).any())
              for a, b in pairs]  # fmt: skip
    count = max(1, among, sum(usable))
    each = alpha / count
    # Enough patterns for some 20 beyond each end.
    draws = max(resamples, math.ceil(40 / each))
    told = []
    for place, (a, b) in enumerate(pairs):
        groups = clusters[place] if clusters else None
        found = paired_difference(
            a, b, groups, seed=seed, resamples=draws, closed_form_from=closed_form_from, level=1 - each, bounds=bounds
        )
        p = found.p if math.isnan(found.p) else min(1.0, found.p * count)
        sure = not math.isnan(p) and found.p < each
        verdict = "cannot tell" if not sure else "above" if found.difference > 0 else "below"
        known = found.clusters > 1 and found.sd > 0
        size = found.n / found.clusters if known else math.nan
        told.append(
            CorrectedDifference(
                found,
                p,
                verdict,
                minimum_detectable(found.sd, found.clusters, alpha=each) if known else math.nan,
                _of_samples(samples_needed(found.sd, found.difference, alpha=each), size) if known else math.nan,
            )
        )
    return told


def _of_samples(clusters: float, size: float) -> float:
    """So many clusters in samples, of which each has `size` on average."""
    return float(math.ceil(clusters * size - 1e-9)) if math.isfinite(clusters) else clusters
