"""Where the labels of a map go: each at the first good place that no node, label or thick edge needs."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxlab.records.procedure import Procedure
from cxlab.views.sop.charts_map_layout import LINE_PX, Layout, Point, Step, lay_out

NODE_PX, ACTION_PX = 13.0, 9.0
FONT_PX = 12
# Mean advance of a letter at 12 px in the widest of the system fonts (DejaVu Sans), plain and bold.
_LETTER_PX, _BOLD_PX = 6.9, 8.0
_SAMPLES = 16
_CLEAR_PX = 7.0
"""From the middle of a line to a text beside it: half of the widest line."""
_NEAR_PX = 4.0
_CUT = 60.0
"""What a cut title costs: more than a place further off, with a hairline to its stage."""


class Box(NamedTuple):
    """A rectangle around its middle."""

    x: float
    y: float
    width: float
    height: float


class Label(NamedTuple):
    """Where a text stands, in which of the shapes that were offered for it, and the height of what it belongs to."""

    box: Box
    shape: int
    along: float


def measure(lines: Sequence[str], bold: int = 0) -> tuple[float, float]:
    """Width and height of some lines of text in pixels, estimated; the first `bold` lines are bold."""
    widths = [len(line) * (_BOLD_PX if place < bold else _LETTER_PX) for place, line in enumerate(lines)]
    return max(widths, default=0.0) + 2, len(lines) * LINE_PX


def curve(points: Sequence[Point], samples: int = _SAMPLES) -> list[Point]:
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


def place_labels(
    procedure: Procedure,
    stages: Mapping[str, Sequence[tuple[Sequence[str], int]]],
    edges: Mapping[Step, Sequence[Sequence[str]]],
) -> tuple[dict[str, Label], dict[Step, Label]]:
    """Places for the texts of stages (above or below their node) and of edges (beside their line).

    Each offers its text in several shapes (lines of text), the first one preferred; of a stage's with how many of the
    lines are bold.
    """
    # Other numbers of the same length need the same places, so those are found once and kept.
    return _place(
        procedure,
        tuple(
            (stage, tuple((tuple(map(_blank, text)), bold) for text, bold in each)) for stage, each in stages.items()
        ),
        tuple((step, tuple(tuple(map(_blank, shape)) for shape in shapes)) for step, shapes in edges.items()),
    )


def _blank(text: str) -> str:
    """The text with each number as wide as numbers of its size get: 888 up to three digits, else 88,888."""
    return re.sub(r"\d[\d,]*", lambda found: "888" if len(found[0]) <= 3 else "88,888", text)


@lru_cache(maxsize=64)
def _place(
    procedure: Procedure,
    stages: tuple[tuple[str, tuple[tuple[tuple[str, ...], int], ...]], ...],
    edges: tuple[tuple[Step, tuple[tuple[str, ...], ...]], ...],
) -> tuple[dict[str, Label], dict[Step, Label]]:
    """First each label takes the best place in turn, then each looks again, knowing all others."""
    layout = lay_out(procedure)
    lines = {step: curve(points) for step, points in layout.edges.items()}
    nodes = np.array([(x, y, 2 * NODE_PX + 2, 2 * NODE_PX + 2) for x, y in layout.nodes.values()])
    options: dict[str | Step, _Options] = {stage: _around(layout.nodes[stage], shapes) for stage, shapes in stages}
    # Short edges have the fewest places to go, so they choose first.
    for step, shapes in sorted(edges, key=lambda edge: (len(lines[edge[0]]), edge[0])):
        options[step] = _beside(lines[step], [measure(text) for text in shapes])
    grid = _PointGrid(np.array([point for line in lines.values() for point in line]))
    fixed = {key: _fixed_cost(each, nodes, grid, layout) for key, each in options.items()}
    at: dict[str | Step, int] = {}
    for _ in range(5):
        before = dict(at)
        for key, each in options.items():
            others = np.array([options[other].boxes[place] for other, place in at.items() if other != key])
            at[key] = int(np.argmin(fixed[key] + 12 * _overlaps(each.boxes, others.reshape(-1, 4)).sum(axis=1)))
        if at == before:
            break
    found = {key: options[key].label(place) for key, place in at.items()}
    return (
        {key: label for key, label in found.items() if isinstance(key, str)},
        {key: label for key, label in found.items() if not isinstance(key, str)},
    )


def place_more(
    procedure: Procedure, lines: Mapping[Step, Sequence[Point]], texts: Mapping[Step, str], taken: Sequence[Box]
) -> dict[Step, Label]:
    """Places for short texts beside further lines, one after the other, where labels are taken already."""
    layout = lay_out(procedure)
    nodes = np.array([(x, y, 2 * NODE_PX + 2, 2 * NODE_PX + 2) for x, y in layout.nodes.values()])
    every = [*(curve(points) for points in layout.edges.values()), *lines.values()]
    grid = _PointGrid(np.array([point for line in every for point in line]))
    boxes = [*taken]
    found: dict[Step, Label] = {}
    for step, line in lines.items():
        options = _beside(line, [measure([_blank(texts[step])])])
        cost = _fixed_cost(options, nodes, grid, layout)
        cost = cost + 12 * _overlaps(options.boxes, np.array(boxes).reshape(-1, 4)).sum(axis=1)
        found[step] = options.label(int(np.argmin(cost)))
        boxes.append(found[step].box)
    return found


class _Options(NamedTuple):
    """The places that a label can take: what speaks against each, its box (x, y, width, height), its shape, and how
    high its node or the point of its line is.
    """

    against: NDArray[np.float64]
    boxes: NDArray[np.float64]
    shapes: NDArray[np.int64]
    along: NDArray[np.float64]

    def label(self, place: int) -> Label:
        return Label(Box(*map(float, self.boxes[place])), int(self.shapes[place]), float(self.along[place]))


def _around(node: Point, shapes: Sequence[tuple[tuple[str, ...], int]]) -> _Options:
    """Places for a stage's label in each of its shapes: above or below its node, rather close by."""
    found = []
    for shape, (text, bold) in enumerate(shapes):
        width, height = measure(text, bold)
        left = width / 2 - 38  # the first stage's label may reach into the margin, no further
        cut = _CUT if any("…" in line for line in text[:bold]) else 0
        found += [
            (9 * shape + cut + cost + abs(shift) * 0.4 + 1.5 * min(away, 36) + 0.4 * max(away - 36, 0), shape,
             (max(node[0] + shift, left), node[1] + side * (NODE_PX + 2 + away + height / 2), width, height))
            for side, cost in ((1, 0.0), (-1, 2.0))
            for away in (0, 10, 22, 36, 52, 75, 100, 130)
            for shift in (0, -12, 12, -24, 24, -36, 36, -48, 48, -60, 60, -72, 72, -90, 90)
        ]  # fmt: skip
    return _Options(
        np.array([cost for cost, _, _ in found]), np.array([box for _, _, box in found]),
        np.array([shape for _, shape, _ in found]), np.full(len(found), node[1]),
    )  # fmt: skip


def _beside(line: Sequence[Point], sizes: Sequence[tuple[float, float]]) -> _Options:
    """Places for an edge's label in each of its sizes: above, below or beside its line, near its start.

    On the line itself only where nothing else is free.
    """
    places = np.arange(3, max(min(len(line) - 2, 4 * _SAMPLES), 4), 3)
    points = np.array(line, dtype=np.float64)[np.minimum(places, len(line) - 1)]
    # A third of the first piece is where the ways out have parted and the label still reads as the stage's own.
    far = np.abs(places - 0.42 * _SAMPLES) * 0.9
    boxes, against = [], []
    for shape, (width, height) in enumerate(sizes):
        up, aside = height / 2 + _CLEAR_PX, width / 2 + _CLEAR_PX
        for cost, dx, dy in (
            (0, 0, up), (2, 0, -up), (4, aside, 0), (4, -aside, 0), (3, aside - 8, up - 6), (3, aside - 8, 6 - up),
            (5, 8 - aside, up - 6), (5, 8 - aside, 6 - up), (30, 0, 0),
        ):  # fmt: skip
            box = np.empty((len(places), 4))
            box[:, :2] = points + np.array([dx, dy])
            box[:, 2:] = width, height
            boxes.append(box)
            against.append(far + cost + 9 * shape)
    each = len(boxes) // len(sizes) * len(places)
    return _Options(
        np.concatenate(against), np.concatenate(boxes), np.repeat(np.arange(len(sizes)), each),
        np.tile(points[:, 1], len(boxes)),
    )  # fmt: skip


def _fixed_cost(
    options: _Options, nodes: NDArray[np.float64], lines: "_PointGrid", layout: Layout
) -> NDArray[np.float64]:
    """What speaks against each place whatever the other labels do: nodes, lines under it, the chart's rim."""
    boxes = options.boxes
    top, low = boxes[:, 1] + boxes[:, 3] / 2, boxes[:, 1] - boxes[:, 3] / 2
    right = boxes[:, 0] + boxes[:, 2] / 2
    rim = np.maximum(0, top - layout.height) + np.maximum(0, -low) + np.maximum(0, right - layout.width + 8)
    found: NDArray[np.float64] = options.against + 200 * rim + 20 * _overlaps(boxes, nodes).sum(axis=1)
    return found + 40 * lines.count(boxes, _NEAR_PX)


class _PointGrid:
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
    inside = np.abs(points[None, :, :] - boxes[:, None, :2]) <= boxes[:, None, 2:] / 2
    counted: NDArray[np.int64] = inside.all(axis=2).sum(axis=1)
    return counted


def _overlaps(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shared area in square pixels of each box with each other one, with 2 px of air between them."""
    across, along = (
        np.maximum(
            (boxes[:, None, 2 + axis] + others[None, :, 2 + axis]) / 2
            + 2
            - np.abs(boxes[:, None, axis] - others[None, :, axis]),
            0,
        )
        for axis in (0, 1)
    )
    shared: NDArray[np.float64] = across * along
    return shared
