"""Where the labels of a map go: each at the first good place that no node, label or thick edge needs."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxlab.records.procedure import Procedure
from cxlab.views.sop.map.layout import LINE_PX, Layout, Point, Step, lay_out

NODE_PX, ACTION_PX = 13.0, 9.0
FONT_PX = 12
# Mean advance of a letter at 12 px in the widest of the system fonts (DejaVu Sans), plain and bold.
_LETTER_PX, _BOLD_PX = 6.9, 8.0
_SAMPLES = 16
_CLEAR_PX = 7.0
"""From the middle of a line to a text beside it: half of the widest line."""
_NEAR_PX = 4.0
# From here on a stage's text stands apart from it.
_APART_PX = 26.0
_LED = 160.0
"""What it costs that a hairline to a text runs through another one."""
_ON_LINE = 14.0
"""What each point of a line under a text costs; there is one every second pixel."""
_ROUNDS = 2
_MOST_PLACES = 420
_NO_LEAD = (math.nan,) * 4


Key = tuple[str, str | Step]
"""Whose label: "stage", "edge" or "arc", and which."""


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


class Places(NamedTuple):
    """Where the labels of a map stand, and the lines of those of its `arcs` that bend around them: the transitions
    that are no edges."""

    stages: dict[str, Label]
    edges: dict[Step, Label]
    arcs: dict[Step, list[Point]]
    beside: dict[Step, Label]


def place_labels(
    procedure: Procedure,
    stages: Mapping[str, Sequence[tuple[Sequence[str], int]]],
    edges: Mapping[Step, Sequence[Sequence[str]]],
    arcs: Mapping[Step, str] | None = None,
    flat: bool = False,
) -> Places:
    """Places for the texts of stages (above or below their node), of edges (beside their line) and of arcs.

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
        tuple((step, _blank(text)) for step, text in (arcs or {}).items()),
        flat,
    )


def _blank(text: str) -> str:
    """The text with each number as wide as numbers of its size get: 88 up to two digits, 888, else 88,888."""
    return re.sub(r"\d[\d,]*", lambda found: "8" * max(len(found[0]), 2) if len(found[0]) <= 3 else "88,888", text)


@lru_cache(maxsize=64)
def _place(
    procedure: Procedure,
    stages: tuple[tuple[str, tuple[tuple[tuple[str, ...], int], ...]], ...],
    edges: tuple[tuple[Step, tuple[tuple[str, ...], ...]], ...],
    arcs: tuple[tuple[Step, str], ...],
    flat: bool,
) -> Places:
    """Labels first, then arcs around them, then labels again around the arcs, and once more; the best round is kept."""
    layout = lay_out(procedure, flat)
    lines = {step: curve(points) for step, points in layout.edges.items()}
    nodes = np.array([(x, y, 2 * NODE_PX + 2, 2 * NODE_PX + 2) for x, y in layout.nodes.values()])
    options: dict[Key, _Options] = {}
    for stage, shapes in stages:
        options["stage", stage] = _around(layout.nodes[stage], shapes)
    # Short edges have the fewest places to go, so they choose first.
    for step, offered in sorted(edges, key=lambda edge: (len(lines[edge[0]]), edge[0])):
        options["edge", step] = _beside(lines[step], [measure(text) for text in offered])
    straight = np.concatenate([dense(line) for line in lines.values()])
    placed, least = _settle(options, nodes, straight, layout)
    bent: dict[Step, list[Point]] = {}
    for _ in range(_ROUNDS if arcs else 0):
        taken = np.array([label.box for key, label in placed.items() if key[0] != "arc"]).reshape(-1, 4)
        now = {step: bend_around(layout, step, taken) for step, _ in arcs}
        beside: dict[Key, _Options] = {("arc", step): _beside(now[step], [measure([text])]) for step, text in arcs}
        points = np.concatenate([straight, *(dense(line) for line in now.values())])
        found, cost = _settle({**options, **beside}, nodes, points, layout)
        if not bent or cost < least:
            placed, least, bent = found, cost, now

    def of(kind: str) -> dict[Any, Label]:
        return {name: label for (which, name), label in placed.items() if which == kind}

    return Places(of("stage"), of("edge"), bent, of("arc"))


def _settle(
    options: Mapping[Key, "_Options"],
    nodes: NDArray[np.float64],
    points: NDArray[np.float64],
    layout: Layout,
) -> tuple[dict[Key, Label], float]:
    """The place that each label takes, and what speaks against all: the best of two orders of choosing. First each
    label takes the best place in turn, then each looks again, knowing all others."""
    grid = _PointGrid(points)
    fixed = {key: _fixed_cost(each, nodes, grid, layout) for key, each in options.items()}
    # The places that are worth a look: hundreds of others are worse than any of these can become.
    worth = {key: np.argsort(cost, kind="stable")[:_MOST_PLACES] for key, cost in fixed.items()}
    options = {key: each.only(worth[key]) for key, each in options.items()}
    fixed = {key: cost[worth[key]] for key, cost in fixed.items()}
    turns = list(options)
    best: tuple[dict[Key, int], float] = ({}, math.inf)
    for order in (turns, sorted(turns, key=lambda key: -float(fixed[key][0]))):
        at: dict[Key, int] = {}
        total = math.inf
        for _ in range(5):
            before = dict(at)
            costs = {}
            for key in order:
                each = options[key]
                others = [(options[other], place) for other, place in at.items() if other != key]
                boxes = np.array([other.boxes[place] for other, place in others]).reshape(-1, 4)
                leads = [other.leads[place] for other, place in others if not math.isnan(other.leads[place][0])]
                cost = fixed[key] + 12 * _overlaps(each.boxes, boxes).sum(axis=1)
                cost += _LED * _cross(np.array(leads).reshape(-1, 4), each.boxes).sum(axis=0)
                if key[0] == "stage":
                    cost += _LED * _cross(each.leads, boxes).sum(axis=1)
                at[key] = int(np.argmin(cost))
                costs[key] = float(cost[at[key]])
            total = sum(costs.values())
            if at == before:
                break
        if total < best[1]:
            best = at, total
    return {key: options[key].label(place) for key, place in best[0].items()}, best[1]


class _Options(NamedTuple):
    """The places that a label can take: what speaks against each, its box (x, y, width, height), its shape, how
    high its node or the point of its line is, and the hairline that leads to it (x, y, x, y; none: not a number).
    """

    against: NDArray[np.float64]
    boxes: NDArray[np.float64]
    shapes: NDArray[np.int64]
    along: NDArray[np.float64]
    leads: NDArray[np.float64]

    def only(self, places: NDArray[np.int64]) -> "_Options":
        return _Options(
            self.against[places], self.boxes[places], self.shapes[places], self.along[places], self.leads[places]
        )

    def label(self, place: int) -> Label:
        return Label(Box(*map(float, self.boxes[place])), int(self.shapes[place]), float(self.along[place]))


def _around(node: Point, shapes: Sequence[tuple[tuple[str, ...], int]]) -> _Options:
    """Places for a stage's label in each of its shapes: above or below its node, rather close by."""
    found = []
    for shape, (text, bold) in enumerate(shapes):
        width, height = measure(text, bold)
        left = width / 2 - 38  # the first stage's label may reach into the margin, no further
        found += [
            (9 * shape + cost + abs(shift) * 0.4 + 1.5 * min(away, 36) + 0.4 * max(away - 36, 0), shape,
             (max(node[0] + shift, left), node[1] + side * (NODE_PX + 2 + away + height / 2), width, height))
            for side, cost in ((1, 0.0), (-1, 2.0))
            for away in (0, 10, 22, 36, 52, 75, 100, 130, 165)
            for shift in (0, -12, 12, -24, 24, -36, 36, -48, 48, -60, 60, -72, 72, -90, 90, -110, 110)
        ]  # fmt: skip
    leads = [(*node, box[0], box[1]) if stands_apart(node, Box(*box)) else _NO_LEAD for _, _, box in found]
    return _Options(
        np.array([cost for cost, _, _ in found]), np.array([box for _, _, box in found]),
        np.array([shape for _, shape, _ in found]), np.full(len(found), node[1]), np.array(leads),
    )  # fmt: skip


def stands_apart(node: Point, box: Box) -> bool:
    """Whether a stage's text is so far from it that a hairline must lead to it."""
    near = abs(box.y - node[1]) - box.height / 2 - NODE_PX < _APART_PX
    return not (near and abs(box.x - node[0]) < box.width / 2 + 8)


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
        np.tile(points[:, 1], len(boxes)), np.full((len(boxes) * len(places), 4), np.nan),
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
    if math.isfinite(np.nanmax(options.leads, initial=-math.inf)):
        found += _LED * _cross(options.leads, nodes).sum(axis=1)
    return found + _ON_LINE * lines.count(boxes, _NEAR_PX)


def _cross(leads: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each straight line (x, y, x, y) runs through each box (x, y, width, height); none never does."""
    first: NDArray[np.float64] | float = 0.0
    last: NDArray[np.float64] | float = 1.0
    # An axis at a time: a last axis of two is what numpy is slowest at.
    for axis in (0, 1):
        start, way = leads[:, axis, None], (leads[:, 2 + axis] - leads[:, axis])[:, None]
        middle, half = boxes[None, :, axis], boxes[None, :, 2 + axis] / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (middle - half - start) / way, (middle + half - start) / way
        first, last = np.fmax(first, np.minimum(one, other)), np.fmin(last, np.maximum(one, other))
    crossed: NDArray[np.bool_] = (first < last) & np.isfinite(leads[:, None, 0])
    return crossed


def dense(line: Sequence[Point]) -> NDArray[np.float64]:
    """Points of a line, no further apart than 2 px: none passes under a text unseen."""
    points = np.array(line, dtype=np.float64)
    along = np.concatenate(([0.0], np.hypot(*np.diff(points, axis=0).T).cumsum()))
    wanted = np.linspace(0.0, along[-1], max(int(along[-1] / 2) + 2, 2))
    return np.column_stack([np.interp(wanted, along, points[:, axis]) for axis in (0, 1)])


def bend_around(layout: Layout, step: Step, taken: NDArray[np.float64]) -> list[Point]:
    """A line for a transition that the procedure does not know: the arc that hides fewest nodes and texts."""
    start, end = layout.nodes[step[0]], layout.nodes[step[1]]
    others = np.array([point for name, point in layout.nodes.items() if name not in step]).reshape(-1, 2)
    arcs = [
        _bend(start, end, side * bulge, lean)
        for bulge in (16, 26, 44, 66, 90, 120, 155, 190)
        for side in (1, -1)
        for lean in (1.0, 0.6, 1.7)
    ]
    best = min(arcs, key=lambda arc: _crowd(arc, others, taken, layout))
    return [(float(x), float(y)) for x, y in best]


def _bend(start: Point, end: Point, bulge: float, lean: float) -> NDArray[np.float64]:
    """An arc that leaves the straight line by `bulge` pixels, at right angles to it, halfway, or with a `lean` sooner
    (below 1) or later: one row (x, y) a point."""
    across, along = end[0] - start[0], end[1] - start[1]
    length = math.hypot(across, along) or 1.0
    t = np.arange(33) / 32
    bent = 4 * bulge * t**lean * (1 - t**lean)
    return np.column_stack(
        (start[0] + across * t - along / length * bent, start[1] + along * t + across / length * bent)
    )


def _crowd(arc: NDArray[np.float64], others: NDArray[np.float64], taken: NDArray[np.float64], layout: Layout) -> float:
    x, y = arc[:, 0], arc[:, 1]
    apart = np.maximum(np.abs(x[:, None] - others[:, 0]) * 0.8, np.abs(y[:, None] - others[:, 1]))
    near = np.maximum(0.0, 26 - apart).sum()
    # The names of actions stand beyond the last column.
    out = (
        np.maximum(0.0, 8 - y) + np.maximum(0.0, y - layout.height + 8) + 4 * np.maximum(0.0, x - layout.width)
    ).sum()
    run = dense(list(zip(x, y, strict=True)))
    hidden = int(count_points(taken, run).sum()) if len(taken) else 0
    # Of two that hide nothing, the shorter one.
    return float(near + 3 * out + 12 * hidden + 0.1 * len(run))


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
    # An axis at a time: a last axis of two is what numpy is slowest at.
    across, along = (
        np.abs(points[None, :, axis] - boxes[:, axis, None]) <= boxes[:, 2 + axis, None] / 2 for axis in (0, 1)
    )
    counted: NDArray[np.int64] = (across & along).sum(axis=1)
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
