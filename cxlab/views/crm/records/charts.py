"""The objects of an organisation as a map: which refers to which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING

from cxlab.benchmarks.crmarena.organisation.schema import Schema
from cxlab.charts.numbers import format_count
from cxlab.charts.theme import palette, plain, style_figure
from cxlab.views.crm.organisation import count_records

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX = 58
_FRAME_PX = 40
_SWEEPS = 6
# Widths in pixels: of a letter of a box's bold title, of its padding on both sides, and of the room between columns.
_LETTER_PX, _PADDING_PX, _GAP_PX = 7.4, 14.0, 54.0
# How much of a row a line takes that passes through a column.
_PASSING = 0.4
_STEPS = 12

Point = tuple[float, float]


@dataclass(frozen=True)
class ObjectMap:
    """Where boxes stand and how lines run between them: x in pixels from the left, y in rows from the top.

    `places`: object → middle of its box, `widths` its width; `ways`: (what is referred to, what refers) → the points
    of the line, from the middle of the one box to that of the other, for a wide window draws columns further apart.
    """

    places: Mapping[str, Point]
    widths: Mapping[str, float]
    ways: Mapping[tuple[str, str], Sequence[Point]]


@dataclass(frozen=True)
class _Node:
    """An object's box, or, with `way`, the place where a line passes through a column."""

    name: str
    column: int
    way: tuple[str, str] | None = None

    @property
    def size(self) -> float:
        return _PASSING if self.way else 1.0


def lay_out(schema: Schema) -> ObjectMap:
    """What others refer to stands left of them, with few lines crossing and none through a box.

    A line that leads over a column has a place of its own in it, as in Sugiyama's layered drawings.
    """
    leads = {
        name: {each.reference.to for each in info.references if each.reference and each.reference.to != name}
        for name, info in schema.objects.items()
    }
    columns: dict[str, int] = {}
    for name in TopologicalSorter(leads).static_order():
        columns[name] = max((columns[to] + 1 for to in leads[name]), default=0)
    boxes = {name: _Node(name, columns[name]) for name in schema.objects}
    chains = {
        (to, name): [
            boxes[to], *(_Node("", column, (to, name)) for column in range(columns[to] + 1, columns[name])), boxes[name]
        ]
        for name, targets in leads.items() for to in sorted(targets)
    }  # fmt: skip
    near: dict[_Node, set[_Node]] = {node: set() for node in boxes.values()}
    for chain in chains.values():
        for left, right in pairwise(chain):
            near.setdefault(left, set()).add(right)
            near.setdefault(right, set()).add(left)
    rows = _order(near)
    widths = {name: len(name) * _LETTER_PX + _PADDING_PX for name in boxes}
    broad = [
        max(widths[name] for name in boxes if columns[name] == column) for column in range(max(columns.values()) + 1)
    ]
    lefts = [round(sum(broad[:column]) + column * _GAP_PX, 3) for column in range(len(broad))]
    places = {name: (lefts[node.column] + broad[node.column] / 2, rows[node]) for name, node in boxes.items()}
    ways = {key: _run(chain, rows, places, lefts) for key, chain in chains.items()}
    return ObjectMap(places, widths, ways)


def _order(near: Mapping[_Node, set[_Node]]) -> dict[_Node, float]:
    """The row of each node: by the mean row of its neighbours, again and again; what has none comes last."""
    layers: dict[int, list[_Node]] = {}
    for node in sorted(near, key=lambda each: not near[each]):
        layers.setdefault(node.column, []).append(node)
    most = max(sum(node.size for node in layer) for layer in layers.values())
    rows: dict[_Node, float] = {}
    for sweep in range(_SWEEPS + 1):
        for _, layer in sorted(layers.items(), reverse=sweep % 2 == 1):
            room = most - sum(node.size for node in layer)
            top = room / 2
            if sweep:
                layer.sort(key=lambda each: (not near[each], _mean_row(near[each], rows)))
                # As a whole at the height of its neighbours, so that lines are as level as they can be.
                middle = _mean_row(set().union(*(near[each] for each in layer)), rows)
                top = min(max(middle - (most - room) / 2, 0.0), room)
            for node in layer:
                rows[node] = top + node.size / 2
                top += node.size
    first = min(rows.values())
    return {node: round(row - first, 3) for node, row in rows.items()}


def _mean_row(nodes: set[_Node], rows: Mapping[_Node, float]) -> float:
    known = [rows[node] for node in nodes if node in rows]
    return sum(known) / len(known) if known else 0.0


def _run(
    chain: Sequence[_Node], rows: Mapping[_Node, float], places: Mapping[str, Point], lefts: Sequence[float]
) -> list[Point]:
    """The points of a line: level through a column and behind its own boxes, bent in the room between two."""
    first, last = chain[0].name, chain[-1].name
    points: list[Point] = [(places[first][0], rows[chain[0]])]
    for left, right in pairwise(chain):
        begin, end = round(lefts[right.column] - _GAP_PX, 3), lefts[right.column]
        up, down = rows[left], rows[right]
        for step in range(_STEPS + 1):
            share = step / _STEPS
            points.append((round(begin + (end - begin) * share, 3), up + (down - up) * share * share * (3 - 2 * share)))
    return [*points, (places[last][0], rows[chain[-1]])]


def draw_objects(schema: Schema, counts: Mapping[str, int], dark: bool) -> Figure:
    """Objects as boxes with their records, a line for each reference, dotted where the metadata declares none.

    customdata of each box is [object].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours, drawn = palette(dark), lay_out(schema)
    places = drawn.places
    figure = LazyFigure()
    for declared in (True, False):
        x: list[float | None] = []
        y: list[float | None] = []
        for name, info in schema.objects.items():
            for field in info.references:
                if field.reference is None or field.reference.declared != declared:
                    continue
                way = drawn.ways[field.reference.to, name]
                x += [*(across for across, _ in way), None]
                y += [*(row for _, row in way), None]
        figure.add_scatter(
            x=x, y=y, mode="lines", hoverinfo="skip", showlegend=False,
            line={"color": colours.muted, "width": 1.2, "dash": "solid" if declared else "dot"},
        )  # fmt: skip
    names = list(schema.objects)
    figure.add_scatter(
        x=[places[name][0] for name in names],
        y=[places[name][1] for name in names],
        mode="markers",
        marker={"symbol": "square", "size": 44, "opacity": 0.01, "color": colours.surface},
        customdata=[[name] for name in names],
        hovertext=[_hover(schema, name, counts[name]) for name in names],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    for name in names:
        x_px, row = places[name]
        figure.add_annotation(
            x=x_px, y=row, text=f"<b>{plain(name)}</b><br>{format_count(counts[name])}", showarrow=False,
            font={"size": 12, "color": colours.ink if counts[name] else colours.muted}, bgcolor=colours.raised,
            bordercolor=colours.accent if counts[name] else colours.hairline, borderwidth=1, borderpad=4,
        )  # fmt: skip
    ends = [(x - drawn.widths[name] / 2, x + drawn.widths[name] / 2) for name, (x, _) in places.items()]
    rows = max(row for way in [list(places.values()), *drawn.ways.values()] for _, row in way)
    figure.update_xaxes(visible=False, range=[min(left for left, _ in ends) - 4, max(right for _, right in ends) + 4])
    figure.update_yaxes(visible=False, range=[rows + 0.6, -0.6])
    return style_figure(figure, dark, height=_FRAME_PX + int(_ROW_PX * (rows + 1)), values="none")


def _hover(schema: Schema, name: str, count: int) -> str:
    info = schema.objects[name]
    leads = [f"{each.name} → {each.reference.to}" for each in info.references if each.reference]
    told = [f"<b>{plain(name)}</b>, {count_records(count)}", plain(info.about), *map(plain, leads)]
    return "<br>".join(told)
