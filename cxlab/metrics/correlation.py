"""How far two values go together, where several pairs come from one sample."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cxlab.metrics.intervals import find_bounds


class Correlation(NamedTuple):
    """Pearson's r from -1 to 1 with a 95 % interval; nan where a side does not vary, or for the interval of fewer than
    three samples. `n` pairs of `clusters` samples."""

    r: float
    low: float
    high: float
    n: int
    clusters: int


def clustered_correlation(
    x: ArrayLike, y: ArrayLike, clusters: Sequence[Hashable] | NDArray[np.int64], *, seed: int, resamples: int = 2_000
) -> Correlation:
    """Pearson's r of pairs, with a percentile interval from drawing whole clusters with replacement."""
    one, other = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    names: dict[Hashable, int] = {}
    places = np.array([names.setdefault(name, len(names)) for name in clusters], dtype=np.int64)
    # From the middle of each side, so that the sums below lose no digits.
    one, other = (side - side.mean() if side.size else side for side in (one, other))
    terms = (np.ones_like(one), one, other, one * one, other * other, one * other)
    sums = np.stack([np.bincount(places, weights=term, minlength=len(names)) for term in terms], axis=1)
    r = float(_correlate(sums.sum(axis=0)[None, :])[0]) if names else np.nan
    if len(names) < 3 or np.isnan(r):
        return Correlation(r, np.nan, np.nan, one.size, len(names))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=resamples).astype(np.float64)
    found = _correlate(drawn @ sums)
    found = found[~np.isnan(found)]
    low, high = np.quantile(found, (0.025, 0.975)) if found.size else (np.nan, np.nan)
    return Correlation(r, float(low), float(high), one.size, len(names))


def correlation_of_sums(sums: ArrayLike, level: float = 0.95) -> Correlation:
    """Pearson's r of pairs of which only each cluster's (n, Σx, Σy, Σx², Σy², Σxy) is known, a row a cluster.

    The interval is that of Fisher's z, whose spread is that of the clusters' own shares in r (the delta method), so
    that no resampling is needed however many pairs there are.
    """
    rows = np.asarray(sums, dtype=np.float64).reshape(-1, 6)
    rows = rows[rows[:, 0] > 0]
    whole = rows.sum(axis=0)
    r = float(_correlate(whole[None, :])[0]) if len(rows) else np.nan
    n = int(whole[0]) if len(rows) else 0
    if len(rows) < 3 or np.isnan(r) or abs(r) >= 1:
        return Correlation(r, np.nan, np.nan, n, len(rows))
    count, x, y, xx, yy, xy = rows.T
    mean_x, mean_y = whole[1] / n, whole[2] / n
    # Sums of squares and products about the means of the whole.
    own_x = xx - 2 * mean_x * x + count * mean_x**2
    own_y = yy - 2 * mean_y * y + count * mean_y**2
    across = xy - mean_x * y - mean_y * x + count * mean_x * mean_y
    shares = across / np.sqrt(own_x.sum() * own_y.sum()) - r / 2 * (own_x / own_x.sum() + own_y / own_y.sum())
    spread = float(np.sqrt(shares @ shares)) / (1 - r * r)
    low, high = find_bounds(float(np.arctanh(r)), spread, len(rows), level=level)
    return Correlation(r, float(np.tanh(low)), float(np.tanh(high)), n, len(rows))


def _correlate(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """r of each row of (n, Σx, Σy, Σx², Σy², Σxy)."""
    n, x, y, xx, yy, xy = sums.T
    across, along = n * xx - x * x, n * yy - y * y
    # What is left of a constant after subtraction is rounding, not spread.
    known = (across > 1e-9 * np.maximum(n * xx, 1e-12)) & (along > 1e-9 * np.maximum(n * yy, 1e-12))
    found = np.full(len(sums), np.nan)
    np.divide(n * xy - x * y, np.sqrt(np.where(known, across * along, 1.0)), out=found, where=known)
    bounded: NDArray[np.float64] = np.clip(found, -1.0, 1.0)
    return bounded
