"""Where the labels of a map go: each at the first good place that no node, label or thick edge needs."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxlab.records.procedure import Procedure
from cxlab.views.sop.charts_map_layout import Layout, Point, Step, lay_out

NODE_PX, ACTION_PX = 13.0, 9.0
FONT_PX = 11
LINE_PX = 14.3
# Mean advance of a letter at 11 px in the widest of the system fonts (DejaVu Sans), plain and bold.
_LETTER_PX, _BOLD_PX = 6.3, 7.3
_SAMPLES = 16


class Box(NamedTuple):
    """A rectangle around its middle."""

    x: float
    y: float
    width: float
    height: float


class Label(NamedTuple):
    """Where a text stands, and in which of the shapes that were offered for it."""

    box: Box
    shape: int


def measure(lines: Sequence[str], bold: int = 0) -> tuple[float, float]:
    """Width and height of some lines of text in pixels, estimated; the first `bold` lines are bold."""
    widths = [len(line) * (_BOLD_PX if place < bold else _LETTER_PX) for place, line in enumerate(lines)]
    return max(widths, default=0.0) + 4, len(lines) * LINE_PX + 2


def wrap(text: str, letters: int, lines: int) -> list[str]:
    """Text in at most so many lines of about so many letters; words too long for one break at + and at capitals."""
    pieces: list[str] = []
    for word in re.split(r"(?<=\s)", text):
        parts = re.split(r"(?<=\+)|(?<=[a-z])(?=[A-Z])", word) if len(word.strip()) > letters else [word]
        pieces += [part for part in parts if part]
    wrapped: list[str] = [""]
    for piece in pieces:
        if wrapped[-1] and len((wrapped[-1] + piece).rstrip()) > letters:
            wrapped.append("")
        wrapped[-1] += piece
    wrapped = [line.strip() for line in wrapped if line.strip()]
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], wrapped[lines - 1][: letters - 1].rstrip(" ,/·") + "…"]
    return wrapped


def name_action(action: str) -> list[str]:
    """An action in two lines; of a pair the second half is whole, because that is what tells pairs apart."""
    head, plus, tail = action.partition("+")
    return [*wrap(head, 13, 1), f"+ {tail}"] if plus else wrap(action, 13, 2)


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
    procedure: Procedure, stages: Mapping[str, Sequence[str]], edges: Mapping[Step, Sequence[Sequence[str]]]
) -> tuple[dict[str, Label], dict[Step, Label]]:
    """Places for the texts of stages (above or below their node) and of edges (on or beside their line).

    Each edge offers its text in several shapes (lines of text), the first one preferred; a stage has one.
    """
    # Other numbers of the same length need the same places, so those are found once and kept.
    return _place(
        procedure,
        tuple((stage, tuple(map(_blank, text))) for stage, text in stages.items()),
        tuple((step, tuple(tuple(map(_blank, shape)) for shape in shapes)) for step, shapes in edges.items()),
    )


def _blank(text: str) -> str:
    """The text with each number as wide as numbers of its size get: 888 up to three digits, else 88,888."""
    return re.sub(r"\d[\d,]*", lambda found: "888" if len(found[0]) <= 3 else "88,888", text)


@lru_cache(maxsize=64)
def _place(
    procedure: Procedure,
    stages: tuple[tuple[str, tuple[str, ...]], ...],
    edges: tuple[tuple[Step, tuple[tuple[str, ...], ...]], ...],
) -> tuple[dict[str, Label], dict[Step, Label]]:
    """First each label takes the best place in turn, then each looks again, knowing all others."""
    layout = lay_out(procedure)
    lines = {step: curve(points) for step, points in layout.edges.items()}
    nodes = np.array([(x, y, 2 * NODE_PX + 2, 2 * NODE_PX + 2) for x, y in layout.nodes.values()])
    options: dict[str | Step, _Options] = {stage: _around(layout.nodes[stage], text) for stage, text in stages}
    # Short edges have the fewest places to go, so they choose first.
    for step, shapes in sorted(edges, key=lambda edge: (len(lines[edge[0]]), edge[0])):
        options[step] = _beside(lines[step], [measure(text) for text in shapes])
    points = {step: np.array(line[::3]) for step, line in lines.items()}
    fixed = {key: _fixed_cost(each, nodes, points, key, layout) for key, each in options.items()}
    at: dict[str | Step, int] = {}
    for _ in range(5):
        before = dict(at)
        for key, each in options.items():
            others = np.array([options[other].boxes[place] for other, place in at.items() if other != key])
            at[key] = int(np.argmin(fixed[key] + 9 * _overlaps(each.boxes, others.reshape(-1, 4)).sum(axis=1)))
        if at == before:
            break
    found = {key: options[key].label(place) for key, place in at.items()}
    return (
        {key: label for key, label in found.items() if isinstance(key, str)},
        {key: label for key, label in found.items() if not isinstance(key, str)},
    )


class _Options(NamedTuple):
    """The places that a label can take: what speaks against each, its box (x, y, width, height) and its shape."""

    against: NDArray[np.float64]
    boxes: NDArray[np.float64]
    shapes: NDArray[np.int64]

    def label(self, place: int) -> Label:
        return Label(Box(*map(float, self.boxes[place])), int(self.shapes[place]))


def _around(node: Point, text: tuple[str, ...]) -> _Options:
    width, height = measure(text, len(text) - 1)
    away = NODE_PX + 1 + height / 2
    left = width / 2 - 38  # the first stage's label may reach into the margin, no further
    found = [
        (cost + abs(shift) * 0.6, (max(node[0] + shift, left), node[1] + side * away, width, height))
        for side, cost in ((1, 0.0), (-1, 2.0))
        for shift in (0, -12, 12, -24, 24, -36, 36)
    ]
    boxes = np.array([box for _, box in found])
    return _Options(np.array([cost for cost, _ in found]), boxes, np.zeros(len(found), dtype=np.int64))


def _beside(line: Sequence[Point], sizes: Sequence[tuple[float, float]]) -> _Options:
    """Places for an edge's label in each of its sizes: rather on its line than beside, and near its start."""
    count = len(line)
    places = np.arange(3, count - 2, max(1, count // 36))
    x, y = np.array(line, dtype=np.float64)[places].T
    # A third of the first piece is where the ways out have parted and the label still reads as the stage's own.
    far = np.abs(places - 0.42 * _SAMPLES) * 0.9
    shifts = np.array([0.0, 0.6, -0.6, 1.0, -1.0, 1.4, -1.4])
    against = (far[:, None] + 26 * np.abs(shifts)).ravel()
    boxes = []
    for width, height in sizes:
        box = np.empty((len(places), len(shifts), 4))
        box[..., 0], box[..., 1] = x[:, None], y[:, None] + shifts * height
        box[..., 2], box[..., 3] = width, height
        boxes.append(box.reshape(-1, 4))
    shapes = np.repeat(np.arange(len(sizes)), len(against))
    return _Options(np.tile(against, len(sizes)) + 9 * shapes, np.concatenate(boxes), shapes)


def _fixed_cost(
    options: _Options,
    nodes: NDArray[np.float64],
    points: Mapping[Step, NDArray[np.float64]],
    key: str | Step,
    layout: Layout,
) -> NDArray[np.float64]:
    """What speaks against each place whatever the other labels do: nodes, hidden lines, the chart's rim."""
    boxes = options.boxes
    top, low = boxes[:, 1] + boxes[:, 3] / 2, boxes[:, 1] - boxes[:, 3] / 2
    right = boxes[:, 0] + boxes[:, 2] / 2
    rim = np.maximum(0, top - layout.height) + np.maximum(0, -low) + np.maximum(0, right - layout.width + 8)
    passing = np.concatenate([line for step, line in points.items() if step != key])
    inside = (np.abs(passing[None, :, 0] - boxes[:, None, 0]) <= boxes[:, None, 2] / 2) & (
        np.abs(passing[None, :, 1] - boxes[:, None, 1]) <= boxes[:, None, 3] / 2
    )
    hidden = inside.sum(axis=1)
    found: NDArray[np.float64] = options.against + 40 * rim + 7 * hidden + 20 * _overlaps(boxes, nodes).sum(axis=1)
    return found


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
