"""The best k of many scores, exactly, with one rule for ties: (score rounded to 6 places, then position).

Rounding is what makes a ranking repeatable: the last bits of a matrix product depend on how many threads made
it. Positions stand for ids in rising order, so "by position" is "by id".
"""

import numpy as np
from numpy.typing import NDArray

PLACES = 6
# How much below the k-th best a score may lie and still round to the same six places.
_MARGIN = 10.0**-PLACES
# Up to here sorting everything is as fast as looking for a bound first.
_FEW = 512

# One block of scores: small enough to be read again from a cache, large enough for a fast product.
_BLOCK_BYTES = 24 << 20
_ROWS = (16, 512)

Ranked = list[tuple[NDArray[np.int64], NDArray[np.float64]]]


def best(scores: NDArray[np.float32], k: int, above: float | None = None) -> Ranked:
    """For each row of `scores` the positions and rounded scores of its best k, best first.

    With `above`, only scores greater than it. The rows are read twice and never sorted: the k-th largest
    maximum of many groups of columns is a lower bound for the k-th best score, which few others reach.
    """
    rows, columns = scores.shape
    if not rows or not columns or k < 1:
        nothing = (np.zeros(0, dtype=np.int64), np.zeros(0))
        return [nothing] * rows
    groups = max(8 * k, 1024)
    if columns <= max(_FEW, k) or columns < 2 * groups:
        bounds = _kth(scores, k) if k < columns else scores.min(axis=1)
    else:
        # Neighbours often score alike (pieces of one document), so a group takes every groups-th column.
        width = columns // groups
        peaks = scores[:, : groups * width].reshape(rows, width, groups).max(axis=1)
        bounds = _kth(peaks, k)
    least = bounds - np.float32(_MARGIN)
    if above is not None:
        # The next number up: `>=` then means `>`.
        least = np.maximum(least, np.nextafter(np.float32(above), np.float32(np.inf)))
    at = np.flatnonzero((scores >= least[:, None]).ravel())
    row = at // columns
    column = at - row * columns
    value: NDArray[np.float64] = scores.ravel()[at].astype(np.float64).round(PLACES)
    order = np.lexsort((column, -value, row))
    column, value = column[order], value[order]
    ends = np.cumsum(np.bincount(row, minlength=rows))
    starts = np.concatenate(([0], ends[:-1]))
    return [
        (column[start : min(end, start + k)], value[start : min(end, start + k)])
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def rows_a_block(columns: int) -> int:
    """How many rows of float32 scores make one block."""
    return min(max(_BLOCK_BYTES // (4 * max(columns, 1)), _ROWS[0]), _ROWS[1])


def _kth(scores: NDArray[np.float32], k: int) -> NDArray[np.float32]:
    """The k-th largest of each row."""
    place = scores.shape[1] - k
    kth: NDArray[np.float32] = np.partition(scores, place, axis=1)[:, place]
    return kth
