"""A mean and how sure of it one can be: the one policy of intervals, 95 % where no other level is asked for.

* What several turns, trials and runs say of one sample is alike, and so is what samples share (records/cluster.py), so
  values are clustered by it.
* A mean that cannot leave a scale (`bounds`) has Wilson's score interval with the clustered variance in the place of
  p (1 - p) / n (`find_bounds`): it never leaves the scale, and where nothing varied it is as wide as for one
  observation a cluster (0 errors tell less than 1 error does, never more). Without bounds it is Student's t.
* Intervals beside verdicts that are corrected for several comparisons are corrected alike (metrics/paired.py).

Everywhere: NaN = not scored; such values are left out (they are not zeros) and `n` counts the rest.
Fewer than two observations (or clusters) say nothing about spread: low and high are nan.
"""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cxlab.errors import BadOption
from cxlab.metrics.labels import is_missing

_EXACT_UP_TO = 200  # degrees of freedom; beyond, four terms of the expansion are exact to 1e-10
_DRAWS_AT_ONCE = 1 << 17  # indices drawn at a time: 1 MB stays in the processor's cache, 1.4 times as fast as 32 MB
Bounds = tuple[float, float]
"""The two ends of a scale, in either order; None for what has no end."""


class Interval(NamedTuple):
    """A mean with its interval, from `n` values in `clusters` independent groups."""

    mean: float
    low: float
    high: float
    n: int
    clusters: int


def mean_interval(values: ArrayLike, bounds: Bounds | None = None, level: float = 0.95) -> Interval:
    """Mean of independent values."""
    return clustered_interval(values, None, bounds, level)


def clustered_interval(
    values: ArrayLike, clusters: ArrayLike | None = None, bounds: Bounds | None = None, level: float = 0.95
) -> Interval:
    """Mean of values that come in clusters; every value its own cluster when none are given. See `find_bounds`."""
    kept, codes, groups = number_clusters(values, clusters)
    if kept.size == 0:
        return _empty()
    return pooled_interval(*sum_clusters(kept, codes, groups), bounds, level)


def pooled_interval(sums: ArrayLike, sizes: ArrayLike, bounds: Bounds | None = None, level: float = 0.95) -> Interval:
    """`clustered_interval` of values of which only each cluster's sum and number are known; empty ones do not count."""
    totals, numbers = np.asarray(sums, dtype=np.float64).ravel(), np.asarray(sizes, dtype=np.float64).ravel()
    totals, numbers = totals[numbers > 0], numbers[numbers > 0]
    n = int(numbers.sum())
    if n == 0:
        return _empty()
    mean = float(totals.sum()) / n
    residuals = totals - mean * numbers
    spread = math.sqrt(float(residuals @ residuals)) / n
    weight = n * n / float(numbers @ numbers)
    edge = 0.0
    if bounds is not None:
        edge = float(np.isin(totals / numbers, bounds).mean())
    return Interval(mean, *find_bounds(mean, spread, len(totals), weight, edge, bounds, level), n, len(totals))


def change_of_mean(
    sums: ArrayLike, sizes: ArrayLike, new_sums: ArrayLike, new_sizes: ArrayLike, level: float = 0.95
) -> Interval:
    """How a pooled mean moves when some of its values are corrected: new mean minus old one, paired by cluster.

    Each cluster's sum and number before and after, in the same order; `n` counts the new values. The spread is that of
    each cluster's own share in the move, (s' - m' k') / N' - (s - m k) / N.
    """
    old, counts, new, new_counts = (
        np.asarray(each, dtype=np.float64).ravel() for each in (sums, sizes, new_sums, new_sizes)
    )
    if not counts.sum() or not new_counts.sum():
        return _empty()
    mean, new_mean = old.sum() / counts.sum(), new.sum() / new_counts.sum()
    shares = (new - new_mean * new_counts) / new_counts.sum() - (old - mean * counts) / counts.sum()
    clusters = int(((counts > 0) | (new_counts > 0)).sum())
    change = float(new_mean - mean)
    bounds = find_bounds(change, math.sqrt(float(shares @ shares)), clusters, level=level)
    return Interval(change, *bounds, int(new_counts.sum()), clusters)


def find_bounds(
    mean: float,
    spread: float,
    clusters: int,
    weight: float | None = None,
    edge: float = 0.0,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """Low and high of a clustered mean from what a query can sum up; nan for fewer than two clusters.

    With G clusters of sums s and sizes k, N = sum(k), m = sum(s) / N: `spread` = sqrt(sum((s - m k)^2)) / N,
    `weight` = N^2 / sum(k^2) clusters of equal size that weigh as much (G when None), `edge` the share of clusters
    whose own mean is at an end of the scale.

    Without bounds: m +- t sqrt(G / (G - 1)) spread, Student's t with G - 1 degrees of freedom (the cluster-robust
    estimate with its small-sample factor). On a scale, with p = m brought to 0..1 and W = weight: Wilson's score
    interval of p with W / f observations. f is the dispersion: the variance of the mean over p (1 - p) / W, both
    with edge * q^2 / 2 pseudo-events added, q the quantile. So clusters of one hit or miss each have Wilson's own
    interval; values in the middle of a scale have nearly Student's; and where all clusters stand at one end, where
    their spread cannot be known, each counts as one observation. The quantile's degrees of freedom are
    (G - 1) / (1 - edge): hits and misses have no variance of their own to estimate.
    """
    if clusters < 2 or not math.isfinite(mean):
        return math.nan, math.nan
    low, high = (min(bounds), max(bounds)) if bounds is not None else (math.nan, math.nan)
    # Values that are off the scale (of an import, say) show that it is none.
    if not low <= mean <= high or not high > low:
        reach = student_quantile(clusters - 1, level) * math.sqrt(clusters / (clusters - 1)) * spread
        return mean - reach, mean + reach
    size = float(clusters if weight is None else weight)
    share = (mean - low) / (high - low)
    if spread <= 1e-12 * (high - low):
        spread, edge = 0.0, 1.0
    quantile = student_quantile(round((clusters - 1) / (1 - edge)) if edge < 1 else 10**9, level)
    pseudo, plain = edge * quantile * quantile / 2, size * share * (1 - share)
    variance = (spread / (high - low)) ** 2 * (clusters - edge) / (clusters - 1)
    dispersion = (variance * size * size + pseudo) / (plain + pseudo)
    least, most = _wilson(share, size / dispersion, quantile)
    return low + (high - low) * least, low + (high - low) * most


def _wilson(share: float, size: float, quantile: float) -> tuple[float, float]:
    square = quantile * quantile
    middle = (share + square / (2 * size)) / (1 + square / size)
    reach = quantile / (1 + square / size) * math.sqrt(share * (1 - share) / size + square / (4 * size * size))
    # At 0 and at 1 one bound is the end by algebra; rounding must not say otherwise.
    return (max(0.0, middle - reach) if share > 0 else 0.0), (min(1.0, middle + reach) if share < 1 else 1.0)


def proportion_interval(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share of independent trials (normal quantile, as its derivation asks); none: nan.

    BadOption unless successes lie between 0 and the trials.
    """
    if trials < 0 or not 0 <= successes <= trials:
        raise BadOption(f"{successes} successes in {trials} trials; successes must lie between 0 and the trials")
    if trials == 0:
        return _empty()
    share = successes / trials
    return Interval(share, *_wilson(share, trials, NormalDist().inv_cdf((1 + level) / 2)), trials, trials)


def clustered_proportion(hits: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95) -> Interval:
    """A share whose observations come in clusters: `clustered_interval` on the scale from 0 to 1.

    One cluster alone counts as one observation. BadOption for a value that is neither 0 nor 1.
    """
    kept, codes, groups = number_clusters(hits, clusters)
    if kept.size == 0:
        return _empty()
    if not np.isin(kept, (0.0, 1.0)).all():
        raise BadOption("a share is taken of hits and misses: 1 and 0")
    if groups > 1:
        return pooled_interval(*sum_clusters(kept, codes, groups), (0.0, 1.0), level)
    share = float(kept.mean())
    return Interval(share, *_wilson(share, 1.0, NormalDist().inv_cdf((1 + level) / 2)), int(kept.size), 1)


def bootstrap_interval(
    values: ArrayLike, clusters: ArrayLike | None = None, *, seed: int, resamples: int = 10_000
) -> Interval:
    """Percentile bootstrap of the mean (2.5 and 97.5 %): whole clusters are drawn with replacement.

    The mean of a resample is the sum of its values / their number, so clusters of unequal size weigh as
    they do in the mean itself. Same seed, same interval.
    """
    kept, codes, groups = number_clusters(values, clusters)
    if kept.size == 0:
        return _empty()
    mean = float(kept.mean())
    if groups < 2:
        return Interval(mean, math.nan, math.nan, kept.size, groups)
    sums, sizes = sum_clusters(kept, codes, groups)
    means = resample_means(sums, sizes, np.random.default_rng(seed), resamples)
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(mean, float(low), float(high), kept.size, groups)


def resample_means(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], rng: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """Means of `resamples` draws of as many clusters as there are, given each cluster's sum and size.

    BadOption for less than one resample.
    """
    if resamples < 1:
        raise BadOption(f"{resamples} resamples; take at least 1, and 1,000 or more for an interval")
    groups, step = len(sums), max(1, _DRAWS_AT_ONCE // len(sums))
    even = bool((sizes == sizes[0]).all())
    means = np.empty(resamples)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = rng.integers(0, groups, size=(stop - start, groups))
        weight = groups * sizes[0] if even else sizes.take(drawn).sum(axis=1)
        means[start:stop] = sums.take(drawn).sum(axis=1) / weight
    return means


def number_clusters(
    values: ArrayLike, clusters: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """The scored values, the number (from 0) of each one's cluster, and how many clusters there are.

    BadOption for an infinite value, or one without a cluster.
    """
    given = np.asarray(values, dtype=np.float64).ravel()
    scored = ~np.isnan(given)
    kept = given[scored]
    if not np.isfinite(kept).all():
        raise BadOption("a value is infinite; scores are finite, or NaN where there is none")
    if clusters is None:
        return kept, np.arange(kept.size), kept.size
    names: NDArray[Any] = np.asarray(clusters).ravel()
    if names.size != given.size:
        raise BadOption(f"{given.size} values but {names.size} cluster names; give one name for each value")
    if names.dtype.kind in "iu":
        return kept, *_number_in_order(names[scored])
    position: dict[Any, int] = {}
    codes = np.array([position.setdefault(name, len(position)) for name in names[scored].tolist()], dtype=np.int64)
    if any(map(is_missing, position)):
        raise BadOption("a scored value has no cluster name; name its cluster or leave the value out")
    return kept, codes, len(position)


def _number_in_order(names: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Numbers for names that are whole numbers, in the order in which they come, as for all others."""
    known, first, places = np.unique(names, return_index=True, return_inverse=True)
    order = np.empty(known.size, dtype=np.int64)
    order[np.argsort(first)] = np.arange(known.size)
    return order[places], known.size


def sum_clusters(
    values: NDArray[np.float64], codes: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and size of each cluster."""
    sums = np.bincount(codes, weights=values, minlength=groups).astype(np.float64)
    return sums, np.bincount(codes, minlength=groups).astype(np.float64)


@lru_cache(maxsize=4096)
def student_quantile(degrees: int, level: float = 0.95) -> float:
    """How far Student's t reaches to either side with that probability; degrees of freedom: whole, from 1 on.

    BadOption unless `level` lies between 0 and 1.
    """
    if not 0 < level < 1:
        raise BadOption(f"level = {level}; it lies between 0 and 1")
    normal = NormalDist().inv_cdf((1 + level) / 2)
    if degrees > _EXACT_UP_TO:
        return _expanded_quantile(degrees, normal)
    # The integral over -t..t is a finite sum (Abramowitz and Stegun 26.7.3-4): halve until the level is met.
    low, high = normal, math.tan(math.pi * level / 2) + 1  # t(1) is the largest
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_within(middle, degrees) < level else (low, middle)
    return (low + high) / 2


def _student_within(t: float, degrees: int) -> float:
    angle = math.atan(t / math.sqrt(degrees))
    odd = degrees % 2
    term = total = math.cos(angle) if odd else 1.0
    for power in range(2 + odd, degrees - 1, 2):
        term *= math.cos(angle) ** 2 * (power - 1) / power
        total += term
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + (math.sin(angle) * total if degrees > 1 else 0.0))


def _expanded_quantile(degrees: int, z: float) -> float:
    """Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun 26.7.5)."""
    square = z * z
    terms = (
        z * (square + 1) / 4,
        z * ((5 * square + 16) * square + 3) / 96,
        z * (((3 * square + 19) * square + 17) * square - 15) / 384,
        z * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return z + sum(term / float(degrees) ** (index + 1) for index, term in enumerate(terms))


def _empty() -> Interval:
    return Interval(math.nan, math.nan, math.nan, 0, 0)
