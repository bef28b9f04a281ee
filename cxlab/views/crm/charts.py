"""The objects of an organisation as a map: which refers to which."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter
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
# How a line bends between two objects, as shares of the way across and up.
_BENDS = ((0.0, 0.0), (0.35, 0.04), (0.5, 0.5), (0.65, 0.96), (1.0, 1.0))


def lay_out(schema: Schema) -> dict[str, tuple[float, float]]:
    """Object → (column, row) from the top left: what others refer to stands left of them, with few lines crossing."""
    leads = {
        name: {each.reference.to for each in info.references if each.reference and each.reference.to != name}
        for name, info in schema.objects.items()
    }
    columns: dict[str, int] = {}
    for name in TopologicalSorter(leads).static_order():
        columns[name] = max((columns[to] + 1 for to in leads[name]), default=0)
    near = {name: leads[name] | {other for other, to in leads.items() if name in to} for name in leads}
    # What nothing leads to and from comes last; the rest by the mean row of their neighbours, again and again.
    layers: dict[int, list[str]] = {}
    for name in sorted(columns, key=lambda each: (not near[each], list(schema.objects).index(each))):
        layers.setdefault(columns[name], []).append(name)
    places: dict[str, tuple[float, float]] = {}
    for sweep in range(_SWEEPS + 1):
        for column, names in sorted(layers.items(), reverse=sweep % 2 == 1):
            room = max(map(len, layers.values())) - len(names)
            top = room / 2
            if sweep:
                names.sort(key=lambda each: (not near[each], _mean_row(near[each], places)))
                # As a whole at the height of its neighbours, so that lines to the next column do not run through it.
                middle = _mean_row(set().union(*(near[each] for each in names)), places)
                top = min(max(middle - (len(names) - 1) / 2, 0.0), float(room))
            places |= {name: (float(column), top + row) for row, name in enumerate(names)}
    return places


def _mean_row(names: set[str], places: Mapping[str, tuple[float, float]]) -> float:
    rows = [places[name][1] for name in names if name in places]
    return sum(rows) / len(rows) if rows else 0.0


def draw_objects(schema: Schema, counts: Mapping[str, int], dark: bool) -> Figure:
    """Objects as boxes with their records, a line for each reference, dotted where the metadata declares none.

    customdata of each box is [object].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours, places = palette(dark), lay_out(schema)
    figure = LazyFigure()
    for declared in (True, False):
        x: list[float | None] = []
        y: list[float | None] = []
        for name, info in schema.objects.items():
            for field in info.references:
                if field.reference is None or field.reference.declared != declared:
                    continue
                (left, up), (right, down) = places[field.reference.to], places[name]
                x += [*(left + (right - left) * across for across, _ in _BENDS), None]
                y += [*(up + (down - up) * share for _, share in _BENDS), None]
        figure.add_scatter(
            x=x, y=y, mode="lines", hoverinfo="skip", showlegend=False,
            line={"color": colours.muted, "width": 1.2, "shape": "spline", "dash": "solid" if declared else "dot"},
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
        column, row = places[name]
        figure.add_annotation(
            x=column, y=row, text=f"<b>{plain(name)}</b><br>{format_count(counts[name])}", showarrow=False,
            font={"size": 12, "color": colours.ink if counts[name] else colours.muted}, bgcolor=colours.raised,
            bordercolor=colours.accent if counts[name] else colours.hairline, borderwidth=1, borderpad=4,
        )  # fmt: skip
    last = max(column for column, _ in places.values())
    rows = max(row for _, row in places.values())
    figure.update_xaxes(visible=False, range=[-0.5, last + 0.5])
    figure.update_yaxes(visible=False, range=[rows + 0.6, -0.6])
    return style_figure(figure, dark, height=_FRAME_PX + int(_ROW_PX * (rows + 1)), values="none")


def _hover(schema: Schema, name: str, count: int) -> str:
    info = schema.objects[name]
    leads = [f"{each.name} → {each.reference.to}" for each in info.references if each.reference]
    told = [f"<b>{plain(name)}</b>, {count_records(count)}", plain(info.about), *map(plain, leads)]
    return "<br>".join(told)
