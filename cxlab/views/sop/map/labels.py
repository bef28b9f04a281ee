"""Where the labels of a map go: each at the first good place that no node, label or thick edge needs."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxlab.records.procedure import Procedure
from cxlab.views.sop.map.layout import LINE_PX, Layout, Point, Step, lay_out
from cxlab.views.sop.map.lines import SAMPLES, PointGrid, bend_around, curve, dense

NODE_PX, ACTION_PX = 13.0, 9.0
FONT_PX = 12
# Mean advance of a letter at 12 px in the widest of the system fonts (DejaVu Sans), plain and bold.
_LETTER_PX, _BOLD_PX = 6.9, 8.0
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
_AT_ONCE = 40


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
    layout = lay_out(procedure, flat=flat)
    lines = {step: curve(points) for step, points in layout.edges.items()}
    nodes = np.array([(x, y, 2 * NODE_PX + 2, 2 * NODE_PX + 2) for x, y in layout.nodes.values()])
    options: dict[Key, _Options] = {}
    for stage, shapes in stages:
        options["stage", stage] = _around(layout.nodes[stage], shapes)
    # Short edges have the fewest places to go, so they choose first.
    for step, offered in sorted(edges, key=lambda edge: (len(lines[edge[0]]), edge[0])):
        options["edge", step] = _beside(lines[step], [measure(text) for text in offered])
    standing = {key: _standing_cost(each, nodes, layout) for key, each in options.items()}
    straight = np.concatenate([dense(line) for line in lines.values()])
    placed, least = _settle(options, standing, straight)
    bent: dict[Step, list[Point]] = {}
    for _ in range(_ROUNDS if arcs else 0):
        taken = np.array([label.box for key, label in placed.items() if key[0] != "arc"]).reshape(-1, 4)
        now = {step: bend_around(layout, step, taken) for step, _ in arcs}
        beside: dict[Key, _Options] = {("arc", step): _beside(now[step], [measure([text])]) for step, text in arcs}
        standing |= {key: _standing_cost(each, nodes, layout) for key, each in beside.items()}
        points = np.concatenate([straight, *(dense(line) for line in now.values())])
        found, cost = _settle({**options, **beside}, standing, points)
        if not bent or cost < least:
            placed, least, bent = found, cost, now

    def of(kind: str) -> dict[Any, Label]:
        return {name: label for (which, name), label in placed.items() if which == kind}

    return Places(of("stage"), of("edge"), bent, of("arc"))


def _settle(
    options: Mapping[Key, "_Options"], standing: Mapping[Key, NDArray[np.float64]], points: NDArray[np.float64]
) -> tuple[dict[Key, Label], float]:
    """The place that each label takes, and what speaks against all: the best of two orders of choosing. First each
    label takes the best place in turn, then each looks again, knowing all others. `standing` is `_standing_cost`."""
    grid = PointGrid(points)
    fixed = {key: standing[key] + _ON_LINE * grid.count(each.boxes, _NEAR_PX) for key, each in options.items()}
    # The places that are worth a look: hundreds of others are worse than any of these can become.
    worth = {key: np.argsort(cost, kind="stable")[:_MOST_PLACES] for key, cost in fixed.items()}
    options = {key: each.only(worth[key]) for key, each in options.items()}
    fixed = {key: cost[worth[key]] for key, cost in fixed.items()}
    turns = list(options)
    best: tuple[dict[Key, int], float] = ({}, math.inf)
    for order in (turns, sorted(turns, key=lambda key: -float(fixed[key][0]))):
        found = _choose([(options[key], fixed[key]) for key in order])
        if found[1] < best[1]:
            best = dict(zip(order, found[0], strict=True)), found[1]
    return {key: options[key].label(place) for key, place in best[0].items()}, best[1]


def _choose(labels: Sequence[tuple["_Options", NDArray[np.float64]]]) -> tuple[list[int], float]:
    """The places that labels take in this order, and what speaks against all. Of each its places in the order of their
    fixed cost, and that cost."""
    at, costs = [-1] * len(labels), [0.0] * len(labels)
    boxes, leads = np.full((len(labels), 4), np.nan), np.full((len(labels), 4), np.nan)
    # When each label last looked, and when one last moved: what no other has moved since stays.
    looked, moved, now = [-1] * len(labels), 0, 0
    for _ in range(5):
        before = list(at)
        for own, (options, fixed) in enumerate(labels):
            now += 1
            if moved <= looked[own]:
                continue
            others = ~np.isnan(boxes[:, 0])
            others[own] = False
            led = others & ~np.isnan(leads[:, 0])
            place, costs[own] = _take_place(options, fixed, boxes[others], leads[led])
            looked[own] = now
            if place != at[own]:
                at[own], moved = place, now
                boxes[own], leads[own] = options.boxes[place], options.leads[place]
        if at == before:
            break
    return at, sum(costs)


def _take_place(
    options: "_Options", fixed: NDArray[np.float64], boxes: NDArray[np.float64], leads: NDArray[np.float64]
) -> tuple[int, float]:
    """The best place beside labels in these boxes and hairlines that lead to them, and what speaks against it. The
    places are in the order of their `fixed` cost."""
    # Others can only add to a cost, so where none is in the way the first place is the best one, as it mostly is; and
    # no place is whose fixed cost alone is as high as the best whole one.
    best, least = 0, float(fixed[0] + _cost_of_first(options, boxes.tolist(), leads.tolist()))
    seen, end = 1, int(np.searchsorted(fixed, least))
    while seen < end:
        part = slice(seen, min(end, seen + _AT_ONCE))
        cost = fixed[part] + 12 * _overlaps(options.boxes[part], boxes).sum(axis=1)
        cost += _LED * _cross(leads, options.boxes[part]).sum(axis=0)
        cost += _LED * _count_crossed(options.leads[part], boxes)
        place = int(np.argmin(cost))
        if cost[place] < least:
            best, least = seen + place, float(cost[place])
        seen, end = part.stop, int(np.searchsorted(fixed, least))
    return best, least


def _cost_of_first(options: "_Options", boxes: Sequence[list[float]], leads: Sequence[list[float]]) -> float:
    """What other labels and hairlines add to the cost of the first place: of a single one numpy would take longer."""
    box, lead = options.boxes[0].tolist(), options.leads[0].tolist()
    found = 12 * sum([_overlap(box, other) for other in boxes]) + _LED * sum([_crosses(other, box) for other in leads])
    return found if math.isnan(lead[0]) else found + _LED * sum([_crosses(lead, other) for other in boxes])


def _overlap(box: Sequence[float], other: Sequence[float]) -> float:
    """`_overlaps` of two boxes."""
    across = (box[2] + other[2]) / 2 + 2 - abs(box[0] - other[0])
    along = (box[3] + other[3]) / 2 + 2 - abs(box[1] - other[1])
    return across * along if across > 0 and along > 0 else 0.0


def _crosses(lead: Sequence[float], box: Sequence[float]) -> bool:
    """`_cross` of one line and one box."""
    first, last = 0.0, 1.0
    for axis in (0, 1):
        start, half = lead[axis], box[2 + axis] / 2
        way = lead[2 + axis] - start
        near, far = box[axis] - half - start, box[axis] + half - start
        if way:
            near, far = near / way, far / way
            first, last = max(first, min(near, far)), min(last, max(near, far))
        elif near > 0 or far < 0:
            return False
    return first < last


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


# Places around a node: above it (1) or below, so far away and so far aside.
_SIDES, _AWAY, _ASIDE = np.array(
    [
        (side, away, aside)
        for side in (1, -1)
        for away in (0, 10, 22, 36, 52, 75, 100, 130, 165)
        for aside in (0, -12, 12, -24, 24, -36, 36, -48, 48, -60, 60, -72, 72, -90, 90, -110, 110)
    ],
    dtype=np.float64,
).T


def _around(node: Point, shapes: Sequence[tuple[tuple[str, ...], int]]) -> _Options:
    """Places for a stage's label in each of its shapes: above or below its node, rather close by."""
    boxes, against = [], []
    for shape, (text, bold) in enumerate(shapes):
        width, height = measure(text, bold)
        left = width / 2 - 38  # the first stage's label may reach into the margin, no further
        box = np.empty((len(_SIDES), 4))
        box[:, 0] = np.maximum(node[0] + _ASIDE, left)
        box[:, 1] = node[1] + _SIDES * (NODE_PX + 2 + _AWAY + height / 2)
        box[:, 2:] = width, height
        boxes.append(box)
        below = np.where(_SIDES > 0, 0.0, 2.0)
        aside = np.abs(_ASIDE) * 0.4
        against.append(9 * shape + below + aside + 1.5 * np.minimum(_AWAY, 36) + 0.4 * np.maximum(_AWAY - 36, 0))
    every = np.concatenate(boxes)
    leads = np.column_stack((np.full_like(every[:, :2], node), every[:, :2]))
    leads[~_stand_apart(node, every)] = np.nan
    return _Options(
        np.concatenate(against), every, np.repeat(np.arange(len(shapes)), len(_SIDES)), np.full(len(every), node[1]),
        leads,
    )  # fmt: skip


def stands_apart(node: Point, box: Box) -> bool:
    """Whether a stage's text is so far from it that a hairline must lead to it."""
    return bool(_stand_apart(node, np.array([box]))[0])


def _stand_apart(node: Point, boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
    near = np.abs(boxes[:, 1] - node[1]) - boxes[:, 3] / 2 - NODE_PX < _APART_PX
    apart: NDArray[np.bool_] = ~(near & (np.abs(boxes[:, 0] - node[0]) < boxes[:, 2] / 2 + 8))
    return apart


def _beside(line: Sequence[Point], sizes: Sequence[tuple[float, float]]) -> _Options:
    """Places for an edge's label in each of its sizes: above, below or beside its line, near its start.

    On the line itself only where nothing else is free.
    """
    places = np.arange(3, max(min(len(line) - 2, 4 * SAMPLES), 4), 3)
    points = np.array(line, dtype=np.float64)[np.minimum(places, len(line) - 1)]
    # A third of the first piece is where the ways out have parted and the label still reads as the stage's own.
    far = np.abs(places - 0.42 * SAMPLES) * 0.9
    boxes, against = [], []
    for shape, (width, height) in enumerate(sizes):
        up, aside = height / 2 + _CLEAR_PX, width / 2 + _CLEAR_PX
        ways = np.array([
            (0, 0, up), (2, 0, -up), (4, aside, 0), (4, -aside, 0), (3, aside - 8, up - 6), (3, aside - 8, 6 - up),
            (5, 8 - aside, up - 6), (5, 8 - aside, 6 - up), (30, 0, 0),
        ])  # fmt: skip
        box = np.empty((len(ways), len(places), 4))
        box[:, :, :2] = points + ways[:, None, 1:]
        box[:, :, 2:] = width, height
        boxes.append(box.reshape(-1, 4))
        against.append((far + ways[:, :1] + 9 * shape).ravel())
    every, each = np.concatenate(boxes), len(boxes[0])
    return _Options(
        np.concatenate(against), every, np.repeat(np.arange(len(sizes)), each),
        np.tile(points[:, 1], len(every) // len(places)), np.full((len(every), 4), np.nan),
    )  # fmt: skip


def _standing_cost(options: _Options, nodes: NDArray[np.float64], layout: Layout) -> NDArray[np.float64]:
    """What speaks against each place whatever lines and other labels do: nodes, the chart's rim."""
    boxes = options.boxes
    top, low = boxes[:, 1] + boxes[:, 3] / 2, boxes[:, 1] - boxes[:, 3] / 2
    right = boxes[:, 0] + boxes[:, 2] / 2
    rim = np.maximum(0, top - layout.height) + np.maximum(0, -low) + np.maximum(0, right - layout.width + 8)
    found: NDArray[np.float64] = options.against + 200 * rim + 20 * _overlaps(boxes, nodes).sum(axis=1)
    return found + _LED * _count_crossed(options.leads, nodes)


def _count_crossed(leads: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many of the boxes each straight line runs through; most places have no line."""
    crossed = np.zeros(len(leads), dtype=np.int64)
    led = ~np.isnan(leads[:, 0])
    if led.any():
        crossed[led] = _cross(leads[led], boxes).sum(axis=1)
    return crossed


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
