"""Where the nodes and edges of a procedure's map lie: layers by longest path, few crossings, straight long edges.

Lengths are pixels at the narrowest width that the map must be read at; a wider chart only stretches x, so what does
not collide here collides nowhere. A procedure of many layers is wider than the window: the map opens at its left end.
y grows upwards.
"""

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from cxlab.charts.names import begin, name_id
from cxlab.records.procedure import Procedure

Point = tuple[float, float]
Step = tuple[str, str]
WIDTH = 582.0
"""Of the plotting area, from the first stage to the actions, in a window of 1024 px."""
_LAYER_PX = 72.0
LINE_PX = 15.6
_RUN_BELOW = 46.0


@dataclass(frozen=True)
class Spacing:
    """How far things stand apart: the width of the whole; between rows of stages, actions and bends; the rim."""

    width: float
    stages: float
    actions: float
    bends: float
    margin: float


FULL = Spacing(WIDTH, 118.0, 50.0, 50.0, 64.0)
"""With a text at each line and three below each stage, beside the sidebar of a window of 1024 px."""
FLAT = Spacing(790.0, 88.0, 30.0, 32.0, 52.0)
"""With few texts and the whole window, all of it to be seen at once in one of 1024 × 768 px."""


@dataclass(frozen=True)
class Layout:
    """Positions of the nodes and, for each edge, the points it runs through (its ends included).

    `flat`: all of it is seen at once; else a wide one opens at its left end.
    """

    width: float
    height: float
    nodes: dict[str, Point]
    edges: dict[Step, tuple[Point, ...]]
    flat: bool


@lru_cache(maxsize=32)
def lay_out(procedure: Procedure, flat: bool = False) -> Layout:
    """The map of a procedure; the same for the same procedure, whatever is drawn on it. `flat` for an audience."""
    spacing = FLAT if flat else FULL
    layer = _layers(procedure)
    last = max(layer.values())
    chains: dict[Step, list[str]] = {}
    rows: list[list[str]] = [[] for _ in range(last + 1)]
    for node, place in layer.items():
        rows[place].append(node)
    for edge in procedure.edges:
        step = (edge.source, edge.target)
        if layer[edge.target] <= layer[edge.source]:
            continue  # runs back: drawn below, in the way of nothing
        bends = [f"{edge.source}>{edge.target}@{place}" for place in range(layer[edge.source] + 1, layer[edge.target])]
        for place, bend in enumerate(bends, layer[edge.source] + 1):
            rows[place].append(bend)
        chains[step] = [edge.source, *bends, edge.target]
    links = [pair for chain in chains.values() for pair in pairwise(chain)]
    rows = _order(rows, links)
    gaps = {name: _gap(name, procedure, spacing) for row in rows for name in row}
    y = _heights(rows, links, gaps)
    x = _columns(last, spacing.width)
    low = min(y.values())
    height = max(y.values()) - low + 2 * spacing.margin
    place_of = {name: (x[depth], y[name] - low + spacing.margin) for depth, row in enumerate(rows) for name in row}
    nodes = {node: place_of[node] for node in layer}
    edges = {step: tuple(place_of[name] for name in chain) for step, chain in chains.items()}
    for edge in procedure.edges:
        step = (edge.source, edge.target)
        if step not in edges:
            edges[step] = _run_back(nodes[edge.source], nodes[edge.target], nodes)
    return Layout(x[-1], height, nodes, edges, flat)


def _run_back(source: Point, target: Point, nodes: dict[str, Point]) -> tuple[Point, ...]:
    between = [y for x, y in nodes.values() if target[0] <= x <= source[0]]
    low = max(min(between) - _RUN_BELOW, 14.0)
    third = (source[0] - target[0]) / 3
    return (source, (source[0] - third, low), (target[0] + third, low), target)


def _layers(procedure: Procedure) -> dict[str, int]:
    """Longest path from the start; all actions in the column after the last stage.

    No customer goes in a circle, but the ways of two together may: the transition that closes a circle, stages taken
    in the order of the file, runs back and does not count.
    """
    following: dict[str, list[str]] = {stage: [] for stage in procedure.stages}
    order = list(procedure.stages)
    for edge in procedure.edges:
        if not edge.ends:
            following[edge.source].append(edge.target)
    layer = dict.fromkeys(procedure.stages, 0)
    sorted_back: list[str] = []

    def visit(stage: str, above: tuple[str, ...]) -> None:
        ahead = [to for to in following[stage] if to not in (*above, stage)]
        following[stage] = sorted(ahead, key=order.index)
        for to in following[stage]:
            if to not in sorted_back:
                visit(to, (*above, stage))
        if stage not in sorted_back:
            sorted_back.append(stage)

    for stage in procedure.stages:
        if stage not in sorted_back:
            visit(stage, ())
    for stage in reversed(sorted_back):
        for to in following[stage]:
            layer[to] = max(layer[to], layer[stage] + 1)
    ends = max(layer.values()) + 1
    used = {edge.target for edge in procedure.edges if edge.ends}
    return {**layer, **{action: ends for action in procedure.actions if action in used}}


def _gap(name: str, procedure: Procedure, spacing: Spacing) -> float:
    if "@" in name:
        return spacing.bends
    if name in procedure.stages:
        return spacing.stages
    # The lines of its name, one for its count where that is told, and air.
    counted = 0 if spacing is FLAT else 1
    return max(spacing.actions, (len(name_action(name)) + counted) * LINE_PX + 6)


def _columns(last: int, width: float) -> list[float]:
    # The first step is without conditions and needs no label; the last one gathers the most edges.
    weights = [0.75, *[1.0] * (last - 2), 1.25] if last > 1 else [1.0] * last
    scale = max(width / max(sum(weights), 1.0), _LAYER_PX)
    xs = [0.0]
    for weight in weights:
        xs.append(xs[-1] + weight * scale)
    return xs


def _order(rows: list[list[str]], links: list[Step]) -> list[list[str]]:
    """Rows sorted by their neighbours' mean place, downwards and upwards in turn; the round with fewest crossings."""
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for a, b in links:
        after.setdefault(a, []).append(b)
        before.setdefault(b, []).append(a)
    best, fewest = [list(row) for row in rows], _crossings(rows, after)
    seen: set[tuple[int, tuple[tuple[str, ...], ...]]] = set()
    for turn in range(40):
        # The turns go through four kinds: what the same kind began with before goes round from here on.
        begun = turn % 4, tuple(map(tuple, rows))
        if begun in seen:
            break
        seen.add(begun)
        down = turn % 2 == 0
        near = before if down else after
        for depth in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            fixed = {name: place for place, name in enumerate(rows[depth - 1 if down else depth + 1])}
            here = {name: place for place, name in enumerate(rows[depth])}
            # Alternating the tie rule lets equal neighbours swap sides and gets out of poor arrangements.
            lean = -1 if turn % 4 < 2 else 1
            wanted = {name: _mean([fixed[n] for n in near.get(name, ())], here[name]) for name in rows[depth]}
            rows[depth] = sorted(rows[depth], key=lambda name: (wanted[name], lean * here[name]))
        rows = _swap_neighbours(rows, before, after)
        crossings = _crossings(rows, after)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _swap_neighbours(
    rows: list[list[str]], before: dict[str, list[str]], after: dict[str, list[str]]
) -> list[list[str]]:
    """Rows in which two neighbours change places wherever that saves a crossing; only their own lines can tell."""
    for depth, row in enumerate(rows):
        ends: dict[str, list[list[int]]] = {name: [] for name in row}
        for near, beside in ((before, depth - 1), (after, depth + 1)):
            if 0 <= beside < len(rows):
                place = {name: at for at, name in enumerate(rows[beside])}
                for name, found in ends.items():
                    found.append(sorted(place[other] for other in near.get(name, ()) if other in place))
        for at in range(len(row) - 1):
            left, right = ends[row[at]], ends[row[at + 1]]
            now = sum(map(_count_pairs, left, right))
            if now and sum(map(_count_pairs, right, left)) < now:
                row[at], row[at + 1] = row[at + 1], row[at]
    return rows


def _count_pairs(left: list[int], right: list[int]) -> int:
    """Pairs of lines that cross: one of the left name ends beyond one of the right name. Both lists are sorted."""
    return sum(bisect_left(right, end) for end in left)


def _crossings(rows: list[list[str]], after: dict[str, list[str]]) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        place = {name: at for at, name in enumerate(lower)}
        passed: list[int] = []
        for name in upper:
            ends = [place[other] for other in after.get(name, ()) if other in place]
            total += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


def _heights(rows: list[list[str]], links: list[Step], gaps: dict[str, float]) -> dict[str, float]:
    """y of each name: near the mean of its neighbours, in the order of its row and far enough from the next one."""
    near: dict[str, list[tuple[str, float]]] = {}
    for a, b in links:
        # Pulling harder between bends keeps a long edge straight.
        pull = 8.0 if "@" in a and "@" in b else 3.0 if "@" in a or "@" in b else 1.0
        near.setdefault(a, []).append((b, pull))
        near.setdefault(b, []).append((a, pull))
    y: dict[str, float] = {}
    for row in rows:
        for place, name in enumerate(row):
            y[name] = (place - (len(row) - 1) / 2) * FULL.stages
    whole = {name: sum(pull for _, pull in pulls) for name, pulls in near.items()}
    spaced = [(row, _offsets((gaps[a] + gaps[b]) / 2 for a, b in pairwise(row))) for row in rows]
    for turn in range(120):
        for row, offsets in spaced if turn % 2 == 0 else reversed(spaced):
            wanted = [
                sum([y[n] * pull for n, pull in near[name]]) / whole[name] if name in near else y[name] for name in row
            ]
            y.update(zip(row, _spread(wanted, offsets), strict=True))
    return y


def _offsets(gaps: Iterable[float]) -> list[float]:
    """How far names with these gaps between them stand from the first."""
    return list(accumulate(gaps, initial=0.0))


def _spread(wanted: list[float], offsets: list[float]) -> list[float]:
    """The values nearest to the wanted ones (least squares) that keep their order and distances: pooled neighbours."""
    blocks: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        blocks.append((value - offset, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, k) = blocks[-2:]
            blocks[-2:] = [((a * m + b * k) / (m + k), m + k)]
    means = [mean for mean, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _mean(values: list[int], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


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
    wrapped = [_cut(line.strip(), letters + 6) for line in wrapped if line.strip()]
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], wrapped[lines - 1][: letters - 1].rstrip(" ,/·") + "…"]
    return wrapped


def _cut(line: str, letters: int) -> str:
    return line if len(line) <= letters else f"{line[: letters - 1].rstrip()}…"


def name_whole(procedure: Procedure, step: str) -> str:
    """A step for people, a plan with what it is: its id alone says nothing."""
    return f"{name_id(step)} ({procedure.plans[step]})" if step in procedure.plans else procedure.name(step)


def name_action(action: str) -> list[str]:
    """An action in words, each of a pair in lines of its own, as both tell pairs apart."""
    first, *rest = name_id(action).split(" + ")
    lines = wrap(begin(first), 14, 2)
    for other in rest:
        lines += wrap(f"+ {other}", 16, 2)
    return lines
