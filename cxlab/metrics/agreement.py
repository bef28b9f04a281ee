"""How far raters agree, who favours whom, and whether a ranking hangs on one of them.

Agreement beyond chance is undefined (nan) where chance alone would agree always: every rater gave
every item one and the same label. Kappa is unstable when one label dominates, so show the plain
agreement and n beside it. Missing ratings are None or NaN.
"""

import math
from collections.abc import Hashable, Sequence
from itertools import permutations as orders
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cxlab.errors import BadOption
from cxlab.metrics.intervals import student_quantile
from cxlab.metrics.labels import check_equal_length, encode_labels, order_labels

Weights = Literal["linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


class SelfPreference(NamedTuple):
    """`difference`: mean residual where judge and agent are family, minus the mean of the rest."""

    difference: float
    p: float
    own_cells: int


class LeaveOneOut(NamedTuple):
    """Rank of each agent (1 = highest mean): by the whole panel, and the best and worst without one judge."""

    ranks: NDArray[np.float64]
    best: NDArray[np.float64]
    worst: NDArray[np.float64]


def percent_agreement(a: Sequence[Any] | NDArray[Any], b: Sequence[Any] | NDArray[Any]) -> float:
    """Share (0..1) of the items on which two raters gave the same label, of those that both rated; none: nan."""
    first, second, _ = _paired_codes(a, b, None)
    return float((first == second).mean()) if first.size else math.nan


def cohen_kappa(
    a: Sequence[Any] | NDArray[Any],
    b: Sequence[Any] | NDArray[Any],
    weights: Weights | None = None,
    labels: Sequence[Hashable] | None = None,
) -> float:
    """Cohen's kappa of two raters, one label an item; items that one of them did not rate are left out.

    Weighted: the disagreement of labels i and j is |i - j| (linear) or (i - j)^2 (quadratic) in the order
    of `labels`, i.e. by position, not by value; without `labels` those that occur, sorted. nan where no
    disagreement is expected (both gave one label throughout) and where no item was rated by both.
    """
    first, second, known = _paired_codes(a, b, labels)
    size = len(known)
    if first.size == 0:
        return math.nan
    return kappa_of_table(np.bincount(first * size + second, minlength=size * size).reshape(size, size), weights)


def kappa_of_table(table: ArrayLike, weights: Weights | None = None) -> float:
    """Cohen's kappa of a square table: how many items the first rater put into row i and the second into column j.

    BadOption for a table that is not square.
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise BadOption(f"a square table of counts is needed, not an array of shape {counts.shape}")
    return float(kappas_of_tables(counts[None], weights)[0])


def kappas_of_tables(tables: ArrayLike, weights: Weights | None = None) -> NDArray[np.float64]:
    """`kappa_of_table` of each table of a stack (tables x size x size), as for the draws of a bootstrap.

    BadOption for another shape, negative counts or unknown weights.
    """
    counts = np.asarray(tables, dtype=np.float64)
    if counts.ndim != 3 or counts.shape[1] != counts.shape[2] or (counts < 0).any():
        raise BadOption(f"a stack of square tables of counts is needed, not an array of shape {counts.shape}")
    size = counts.shape[1]
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    cost = {None: (steps > 0).astype(np.float64), "linear": steps, "quadratic": steps**2}.get(weights)
    if cost is None:
        raise BadOption(f"weights {weights!r} are unknown; use None, 'linear' or 'quadratic'")
    totals = counts.sum(axis=(1, 2))
    seen = counts / np.where(totals > 0, totals, 1.0)[:, None, None]
    chance = seen.sum(axis=2)[:, :, None] * seen.sum(axis=1)[:, None, :]
    observed, expected = ((cost * share).sum(axis=(1, 2)) for share in (seen, chance))
    # Where no disagreement is expected (up to rounding), or nothing was counted, there is no kappa.
    known = expected > 1e-12
    return np.where(known, 1.0 - observed / np.where(known, expected, 1.0), math.nan)


def fleiss_kappa(counts: ArrayLike, times: ArrayLike | None = None) -> float:
    """Fleiss' kappa of a table items x categories: how many raters put the item into the category.

    `times`: how many items each row stands for; without it one each. Every item needs the same number of raters
    (BadOption otherwise: krippendorff_alpha takes gaps). nan for no items, for fewer than two raters, and where all
    ratings fall into one category. Fleiss 1971.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.size == 0:
        return math.nan
    if table.ndim != 2 or (table < 0).any():
        raise BadOption("counts must be a table items x categories of numbers from 0 on")
    raters = table.sum(axis=1)
    if (raters != raters[0]).any():
        raise BadOption(
            f"items have {int(raters.min())} to {int(raters.max())} ratings; Fleiss' kappa needs the same number "
            "for each, krippendorff_alpha does not"
        )
    often = _as_times(times, table)
    if raters[0] < 2 or not often.any():
        return math.nan
    agreeing = often @ (table * (table - 1)).sum(axis=1) / (often.sum() * raters[0] * (raters[0] - 1))
    totals = often @ table
    chance = float(((totals / totals.sum()) ** 2).sum())
    return _beyond_chance(1.0 - float(agreeing), 1.0 - chance)


def krippendorff_alpha(
    data: Sequence[Sequence[Any]] | NDArray[Any], level: Level = "nominal", labels: Sequence[Hashable] | None = None
) -> float:
    """Krippendorff's alpha of a table raters x items with gaps: 1 - observed / expected disagreement.

    Disagreement of two values: `nominal` 1 if they differ; `ordinal` by the number of ratings from one
    rank to the other, squared, ranks in the order of `labels` (else sorted); `interval` the squared
    difference of the numbers. Items with fewer than two ratings do not count. nan where no item has two,
    or where only one value occurs. BadOption for rows of unlike length.
    Krippendorff, Computing Krippendorff's alpha-reliability, 2011.
    """
    raters = [list(row) for row in data]
    if any(len(row) != len(raters[0]) for row in raters):
        raise BadOption("every rater needs one entry for each item, None where there is no rating")
    known = order_labels((value for row in raters for value in row), labels)
    if not known or not raters[0]:
        return math.nan
    codes = np.stack([encode_labels(row, known) for row in raters])
    counts = np.zeros((codes.shape[1], len(known)))
    _, items = np.nonzero(codes >= 0)
    np.add.at(counts, (items, codes[codes >= 0]), 1.0)
    return alpha_of_counts(counts, level, known)


def alpha_of_counts(
    counts: ArrayLike,
    level: Level = "nominal",
    labels: Sequence[Hashable] | None = None,
    times: ArrayLike | None = None,
) -> float:
    """Krippendorff's alpha of a table items x labels: how many raters gave the item the label, 0 and up.

    `labels` are the columns' labels in order (needed as numbers for `interval`), `times` how many items each row
    stands for, without it one each. BadOption for another shape or negative counts.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.size == 0:
        return math.nan
    if table.ndim != 2 or (table < 0).any():
        raise BadOption("counts must be a table items x labels of numbers from 0 on")
    known = list(labels) if labels is not None else list(range(table.shape[1]))
    rated = table.sum(axis=1) >= 2
    table, often = table[rated], _as_times(times, table)[rated]
    if not often.any():
        return math.nan

    # Coincidences: each item's ordered pairs of ratings weigh 1 / (its ratings - 1), so an item counts as
    # many times as it was rated.
    shares = often[:, None] * table / (table.sum(axis=1, keepdims=True) - 1)
    coincidences = table.T @ shares - np.diag(shares.sum(axis=0))
    totals = coincidences.sum(axis=0)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    distance = _squared_distances(known, totals, level)
    return _beyond_chance(float((coincidences * distance).sum()), float((expected * distance).sum()))


def double_centred(matrix: ArrayLike) -> NDArray[np.float64]:
    """Residuals r_ij - r_i. - r_.j + r_.. : what is left once rows are equally lenient and columns equally good.

    With gaps (NaN) the row and column effects are fitted by least squares to the cells there are, which
    is the same thing for a full table; a gap's residual stays NaN.
    """
    table = _as_table(matrix)
    present = ~np.isnan(table)
    if present.all():
        rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
        return np.asarray(table - rows - columns + table.mean())
    row, column = np.nonzero(present)
    design = np.zeros((row.size, sum(table.shape)))
    design[np.arange(row.size), row] = 1.0
    design[np.arange(row.size), table.shape[0] + column] = 1.0
    effects, *_ = np.linalg.lstsq(design, table[present], rcond=None)
    residuals = np.full(table.shape, np.nan)
    residuals[present] = table[present] - design @ effects
    return residuals


def double_centred_reach(sums: ArrayLike, sizes: ArrayLike, level: float = 0.95) -> NDArray[np.float64]:
    """How far the intervals of `double_centred` reach to either side, for cells that are means of many ratings.

    `sums` and `sizes`: samples x judges x agents, the sum and the number of ratings. Clustered by sample: a residual is
    linear in the cells' means, so its spread is that of each sample's own share in it. All corrected alike (Bonferroni)
    for the number of cells. nan for a table with gaps, and for fewer than two samples.
    """
    totals, numbers = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    whole = numbers.sum(axis=0)
    if len(totals) < 2 or not (whole > 0).all():
        return np.full(whole.shape, np.nan)
    shares = (totals - totals.sum(axis=0) / whole * numbers) / whole
    left = (
        shares
        - shares.mean(axis=1, keepdims=True)
        - shares.mean(axis=2, keepdims=True)
        + shares.mean(axis=(1, 2), keepdims=True)
    )
    spread = np.sqrt((left**2).sum(axis=0) * len(totals) / (len(totals) - 1))
    return np.asarray(student_quantile(len(totals) - 1, 1 - (1 - level) / whole.size) * spread)


def self_preference(matrix: ArrayLike, own: ArrayLike, seed: int, permutations: int = 10_000) -> SelfPreference:
    """Do judges grade their own family above what leniency and quality explain?

    `matrix`: judges x agents, mean grades, NaN = none; `own`: same shape, true where judge and agent are
    one family. Two-sided p by reassigning agents to families: columns of `own` are permuted against the
    residuals; all orders when there are no more than `permutations`, else that many seeded draws and
    (1 + hits) / (1 + draws). nan where there is no own cell or nothing but own cells. BadOption for unlike
    shapes.
    """
    residuals = double_centred(matrix)
    family = np.asarray(own, dtype=bool)
    if family.shape != residuals.shape:
        raise BadOption(f"own is {family.shape}, the matrix {residuals.shape}; both are judges x agents")
    if permutations < 1:
        raise BadOption(f"{permutations} permutations; take at least 1")
    present = ~np.isnan(residuals)
    values = np.where(present, residuals, 0.0)
    own_cells = int((present & family).sum())
    if own_cells in (0, int(present.sum())):
        return SelfPreference(math.nan, math.nan, own_cells)

    agents = residuals.shape[1]
    exact = math.factorial(agents) <= permutations
    if exact:
        order = np.array(list(orders(range(agents))))
    else:
        rng = np.random.default_rng(seed)
        order = rng.permuted(np.tile(np.arange(agents), (permutations, 1)), axis=1)
    # sums[j, k]: residuals of agent j where its judge is family of agent k; a permutation picks one k a j.
    sums, cells = values.T @ family, present.T.astype(np.float64) @ family
    place = np.arange(agents)
    own_sum, own_n = sums[place, order].sum(axis=1), cells[place, order].sum(axis=1)

    def contrast(total: Any, n: Any) -> Any:
        return total / n - (values.sum() - total) / (present.sum() - n)

    observed = float(contrast(sums.trace(), cells.trace()))
    # With gaps a reassignment may leave no own cell, or no other one: it has no contrast and is left out.
    usable = (own_n > 0) & (own_n < present.sum())
    drawn = np.abs(contrast(own_sum[usable], own_n[usable]))
    hits = int((drawn >= abs(observed) - 1e-10 * float(np.abs(values).sum())).sum())
    p = hits / drawn.size if exact else (1 + hits) / (1 + drawn.size)
    return SelfPreference(observed, p, own_cells)


def kendall_tau_b(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b of two rankings or score lists, ties allowed; positions with a NaN are left out.

    (concordant - discordant) / sqrt(pairs not tied in a * pairs not tied in b); nan where one of them is
    all ties. O(n^2) memory: for leaderboards, not for long columns.
    """
    first, second = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    check_equal_length(first, second)
    both = ~(np.isnan(first) | np.isnan(second))
    ours = np.sign(np.subtract.outer(first[both], first[both]))
    theirs = np.sign(np.subtract.outer(second[both], second[both]))
    untied = math.sqrt(float(np.abs(ours).sum()) * float(np.abs(theirs).sum()))
    return float((ours * theirs).sum()) / untied if untied else math.nan


def leave_one_out_ranks(matrix: ArrayLike) -> LeaveOneOut:
    """How far each agent's rank moves when one judge is left out; `matrix`: judges x agents, higher = better.

    Rank = 1 + number of agents with a higher mean grade, so equal means share the better rank; a difference
    within rounding (1e-9 of the largest mean) is a tie. An agent without a grade has rank nan. One judge:
    best and worst are nan. With gaps, means of different judges are compared: leniency then shows as rank.
    """
    table = _as_table(matrix)
    ranks = _rank_means(table)
    if len(table) < 2:
        nothing = np.full(table.shape[1], np.nan)
        return LeaveOneOut(ranks, nothing, nothing.copy())
    left = np.stack([_rank_means(np.delete(table, judge, axis=0)) for judge in range(len(table))])
    absent = np.isnan(left).all(axis=0)
    best = np.where(absent, np.nan, np.nanmin(np.where(np.isnan(left), np.inf, left), axis=0))
    worst = np.where(absent, np.nan, np.nanmax(np.where(np.isnan(left), -np.inf, left), axis=0))
    return LeaveOneOut(ranks, best, worst)


def _as_times(times: ArrayLike | None, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many items each row of counts stands for. BadOption for another number of them, or negative ones."""
    often = np.ones(len(table)) if times is None else np.asarray(times, dtype=np.float64)
    if often.shape != (len(table),) or (often < 0).any():
        raise BadOption(f"{len(table)} rows of counts need as many numbers from 0 on, not an array of {often.shape}")
    return often


def _rank_means(table: NDArray[np.float64]) -> NDArray[np.float64]:
    graded = (~np.isnan(table)).sum(axis=0)
    means = np.where(graded > 0, np.nansum(table, axis=0) / np.maximum(graded, 1), np.nan)
    slack = 1e-9 * float(np.nanmax(np.abs(means), initial=0.0))
    above = (means[None, :] > means[:, None] + slack).sum(axis=1)
    return np.where(np.isnan(means), np.nan, 1.0 + above)


def _squared_distances(known: list[Any], totals: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    if level == "nominal":
        return 1.0 - np.eye(len(known))
    if level == "interval":
        try:
            numbers = np.array([float(value) for value in known])
        except (TypeError, ValueError) as problem:
            raise BadOption(f"level 'interval' needs numbers, not {known!r}; use 'ordinal' with labels") from problem
        return np.asarray(np.subtract.outer(numbers, numbers) ** 2)
    if level == "ordinal":
        # Ratings up to the middle of each rank: their difference is the sum over the ranks between, with
        # half of both ends.
        middles = np.cumsum(totals) - totals / 2
        return np.asarray(np.subtract.outer(middles, middles) ** 2)
    raise BadOption(f"level {level!r} is unknown; use 'nominal', 'ordinal' or 'interval'")


def _beyond_chance(observed: float, expected: float) -> float:
    """1 - observed / expected disagreement; nan where none is expected (up to rounding)."""
    return 1.0 - observed / expected if expected > 1e-12 else math.nan


def _paired_codes(
    a: Sequence[Any] | NDArray[Any], b: Sequence[Any] | NDArray[Any], labels: Sequence[Hashable] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any]]:
    check_equal_length(a, b)
    known = order_labels((value for side in (a, b) for value in side), labels)
    first, second = encode_labels(a, known), encode_labels(b, known)
    both = (first >= 0) & (second >= 0)
    return first[both], second[both], known


def _as_table(matrix: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(matrix, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise BadOption(f"a table judges x agents is needed, not an array of shape {table.shape}")
    return table
