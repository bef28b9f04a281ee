"""How common something is, from a judge that errs and of which a part was checked."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cxlab.errors import BadOption


class Corrected(NamedTuple):
    """`observed`: what the judge reports; `tpr`, `tnr`: how often it is right about yes and about no; `value`: the
    share that it is corrected to, with `low` and `high`; all 0..1, nan where nothing can be said."""

    n: int
    clusters: int
    observed: float
    tpr: float
    tnr: float
    value: float
    low: float
    high: float


def corrected_prevalence(counts: ArrayLike, *, seed: int, resamples: int = 1_000) -> Corrected:
    """The share of yes behind a judge's word, had only one half of the clusters been checked (two-fold cross-fitting).

    `counts`: one row a cluster: said yes and is, said no but is, said yes but is not, said no and is not. The halves
    are every other row; each is corrected by the rates of the other (Rogan and Gladen 1978), and both are pooled by n,
    so that the truth of a row is never used to correct that row. Interval: percentile bootstrap of whole clusters. nan
    where the judge is no better than chance on a half, or was so in more than a twentieth of the draws. BadOption for
    a negative or infinite count.
    """
    table = np.asarray(counts, dtype=np.float64).reshape(-1, 4)
    if (table < 0).any() or not np.isfinite(table).all():
        raise BadOption("counts cannot be negative or infinite")
    table = table[table.sum(axis=1) > 0]
    total = table.sum(axis=0)
    n, clusters = int(total.sum()), len(table)
    if n == 0:
        return Corrected(0, 0, *[math.nan] * 6)
    halves = (table[::2], table[1::2])
    value = float(_correct(*(half.sum(axis=0)[None] for half in halves))[0])
    rng = np.random.default_rng(seed)
    low = high = math.nan
    if min(len(half) for half in halves) > 1:
        drawn = [
            rng.multinomial(len(half), np.full(len(half), 1 / len(half)), size=resamples) @ half for half in halves
        ]
        values = _correct(drawn[0], drawn[1])
        known = values[~np.isnan(values)]
        if known.size >= 0.95 * resamples:
            low, high = map(float, np.quantile(known, (0.025, 0.975)))
    yes, no = total[0] + total[1], total[2] + total[3]
    observed = float(total[0] + total[2]) / n
    return Corrected(
        n,
        clusters,
        observed,
        float(total[0] / yes) if yes else math.nan,
        float(total[3] / no) if no else math.nan,
        value,
        low,
        high,
    )


def _correct(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """The pooled share of both halves, each corrected by the other; one row a draw."""
    parts = [_by(one, other), _by(other, one)]
    sizes = [half.sum(axis=1) for half in (one, other)]
    pooled: NDArray[np.float64] = (parts[0] * sizes[0] + parts[1] * sizes[1]) / (sizes[0] + sizes[1])
    return pooled


def _by(half: NDArray[np.float64], checked: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr = checked[:, 0] / (checked[:, 0] + checked[:, 1])
        tnr = checked[:, 3] / (checked[:, 2] + checked[:, 3])
        said = (half[:, 0] + half[:, 2]) / half.sum(axis=1)
        informed = tpr + tnr - 1
        # 1e-12: rates such as 0.7 and 0.3 do not sum to exactly 1 in floating point.
        return np.where(informed < 1e-12, np.nan, np.clip((said + tnr - 1) / informed, 0.0, 1.0))
