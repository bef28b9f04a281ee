"""The lines of a map: how they run, how they bend around what is written, and what lies under them."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cxlab.views.sop.map.layout import Layout, Point, Step

SAMPLES = 16
"""Points of a smooth line from one of the points that it runs through to the next."""


def curve(points: Sequence[Point], samples: int = SAMPLES) -> list[Point]:
    """A smooth line through the points, level at both ends."""
    if len(points) < 2:
        return list(points)
    slopes = [0.0]
    for (x0, y0), (x1, y1) in zip(points[:-2], points[2:], strict=True):
        slopes.append((y1 - y0) / (x1 - x0) if x1 != x0 else 0.0)
    slopes.append(0.0)
    line: list[Point] = []
    for (a, b), (m, k) in zip(pairwise(points), pairwise(slopes), strict=True):
        width = b[0] - a[0]
        for step in range(samples):
            t = step / samples
            h00, h10 = (1 + 2 * t) * (1 - t) ** 2, t * (1 - t) ** 2
            h01, h11 = t * t * (3 - 2 * t), t * t * (t - 1)
            line.append((a[0] + width * t, h00 * a[1] + h10 * width * m + h01 * b[1] + h11 * width * k))
    return [*line, points[-1]]


def dense(line: Sequence[Point]) -> NDArray[np.float64]:
    """Points of a line, no further apart than 2 px: none passes under a text unseen."""
    points = np.array(line, dtype=np.float64)
    return _resample(points, _lengths(points))


def _lengths(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far along its line each point lies, from 0; lines along the last axis but one, x and y along the last."""
    steps = np.diff(lines, axis=-2)
    along = np.hypot(steps[..., 0], steps[..., 1]).cumsum(axis=-1)
    return np.concatenate((np.zeros((*along.shape[:-1], 1)), along), axis=-1)


def _count_dense(lengths: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many points lines of these lengths need."""
    return np.maximum((lengths / 2).astype(np.int64) + 2, 2)


def _resample(points: NDArray[np.float64], along: NDArray[np.float64]) -> NDArray[np.float64]:
    wanted = np.linspace(0.0, along[-1], int(_count_dense(along[-1:])[0]))
    return np.column_stack([np.interp(wanted, along, points[:, axis]) for axis in (0, 1)])


# How far an arc leaves its straight line (to one side or the other), and whether it does so sooner or later than
# halfway: each way to bend.
_BULGES, _LEANS = np.array(
    [
        (side * bulge, lean)
        for bulge in (16, 26, 44, 66, 90, 120, 155, 190)
        for side in (1, -1)
        for lean in (1.0, 0.6, 1.7)
    ]
).T


def bend_around(layout: Layout, step: Step, taken: NDArray[np.float64]) -> list[Point]:
    """A line for a transition that the procedure does not know: the arc that hides fewest nodes and texts."""
    start, end = layout.nodes[step[0]], layout.nodes[step[1]]
    others = np.array([point for name, point in layout.nodes.items() if name not in step]).reshape(-1, 2)
    arcs = _bend(start, end)
    x, y = arcs[:, :, 0], arcs[:, :, 1]
    apart = np.maximum(np.abs(x[:, :, None] - others[:, 0]) * 0.8, np.abs(y[:, :, None] - others[:, 1]))
    near = np.maximum(0.0, 26 - apart).reshape(len(arcs), -1).sum(axis=1)
    # The names of actions stand beyond the last column.
    out = np.maximum(0.0, 8 - y) + np.maximum(0.0, y - layout.height + 8) + 4 * np.maximum(0.0, x - layout.width)
    crowd = near + 3 * out.sum(axis=1)
    along = _lengths(arcs)
    # Of two that hide nothing, the shorter one.
    length = 0.1 * _count_dense(along[:, -1])
    best, least = 0, math.inf
    # Hidden texts can only add to what speaks against an arc, so most need not be laid over them.
    for place in map(int, np.argsort(crowd + length, kind="stable")):
        if crowd[place] + length[place] > least:
            break
        hidden = int(count_points(taken, _resample(arcs[place], along[place])).sum()) if len(taken) else 0
        cost = float(crowd[place] + 12 * hidden + length[place])
        if (cost, place) < (least, best):
            best, least = place, cost
    return [(float(x), float(y)) for x, y in arcs[best]]


def _bend(start: Point, end: Point) -> NDArray[np.float64]:
    """Arcs from one point to another: each way to bend, 33 points a way, x and y of each. Each leaves the straight line
    at right angles by its bulge in pixels, halfway, or with a lean sooner (below 1) or later."""
    across, along = end[0] - start[0], end[1] - start[1]
    length = math.hypot(across, along) or 1.0
    t = np.arange(33) / 32
    lean = t ** _LEANS[:, None]
    bent = 4 * _BULGES[:, None] * lean * (1 - lean)
    return np.stack((start[0] + across * t - along / length * bent, start[1] + along * t + across / length * bent), 2)


class PointGrid:
    """Points of lines in cells of 2 px, summed from the corner on, so that counting those in a box takes four looks."""

    def __init__(self, points: NDArray[np.float64]) -> None:
        self._corner = np.floor(points.min(axis=0))
        cells = self._cell(points)
        counted = np.zeros(cells.max(axis=0) + 2, dtype=np.int64)
        np.add.at(counted, (cells[:, 0] + 1, cells[:, 1] + 1), 1)
        self._sums = counted.cumsum(axis=0).cumsum(axis=1)

    def _cell(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = np.floor((points - self._corner) / 2).astype(np.int64)
        return found

    def count(self, boxes: NDArray[np.float64], away: float) -> NDArray[np.int64]:
        """How many points lie under each box (x, y, width, height), or less than so many pixels away from it."""
        half = boxes[:, 2:] / 2 + away
        most = np.array(self._sums.shape) - 1
        x0, y0 = np.clip(self._cell(boxes[:, :2] - half), 0, most).T
        x1, y1 = np.clip(self._cell(boxes[:, :2] + half) + 1, 0, most).T
        sums = self._sums
        found: NDArray[np.int64] = sums[x1, y1] - sums[x0, y1] - sums[x1, y0] + sums[x0, y0]
        return found


def count_points(boxes: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many points of lines lie under each box (x, y, width, height)."""
    # An axis at a time: a last axis of two is what numpy is slowest at.
    across, along = (
        np.abs(points[None, :, axis] - boxes[:, axis, None]) <= boxes[:, 2 + axis, None] / 2 for axis in (0, 1)
    )
    counted: NDArray[np.int64] = (across & along).sum(axis=1)
    return counted
