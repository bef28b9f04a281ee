"""A table of coloured cells that can be clicked, and the names that stand beside it."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cxlab.charts.names import name_id
from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import Palette, channels, palette, plain, readable_on, short_model, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


_ROW_PX = 32


_FRAME_PX = 76


# Pale enough for the theme's ink on the deepest cell: dark text on slate, white beside it, is hard to read.
_OPACITY = 0.55


def name_judge(judge: str) -> str:
    """A judge as people read it: "strict" of "simulated:judge-strict"."""
    return short_model(judge).removeprefix("judge-")


def name_item(name: str) -> str:
    """A field with its scenario ("core demand · airline refund"), a grade as words."""
    scenario, _, field = name.rpartition(".")
    return f"{name_id(field)} · {scenario.replace('_', ' ')}" if scenario else name_id(name)


def _wrap(name: str, longest: int = 12) -> str:
    """A label on two lines where it is long and has a seam: `RescheduleOrRefund`, `lenient / partial`."""
    if len(name) <= longest:
        return plain(name)
    seams = [m.start() for m in re.finditer(r"(?<=[a-z0-9])(?=[A-Z])| / |(?<=_)|(?<=\w )(?=\w)", name)]
    if not seams:
        return plain(name)
    cut = min(seams, key=lambda at: abs(at - len(name) / 2))
    return f"{plain(name[:cut])}<br>{plain(name[cut:].removeprefix(' / '))}"


def _cell_colour(scale: Sequence[tuple[float, str]], depth: float, surface: str) -> tuple[float, float, float]:
    """What a cell looks like: its place on the scale, laid over the surface."""
    (start, one), (end, two) = next(pair for pair in pairwise(scale) if depth <= pair[1][0])
    share = (depth - start) / (end - start)
    mixed = (a + (b - a) * share for a, b in zip(channels(one), channels(two), strict=True))
    red, green, blue = (
        _OPACITY * seen + (1 - _OPACITY) * below for seen, below in zip(mixed, channels(surface), strict=True)
    )
    return red, green, blue


def _depth(value: float | None, low: float, high: float) -> float | None:
    """Where a value lies between the two ends of the colours, 0 to 1; None where there is none."""
    if value is None or math.isnan(value):
        return None
    return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.0


def _ink(depth: float | None, scale: Sequence[tuple[float, str]], colours: Palette) -> str:
    """The colour in which a cell's number is read."""
    return colours.ink if depth is None else readable_on(_cell_colour(scale, depth, colours.surface), colours)


def draw_matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    hovers: Sequence[Sequence[str]],
    keys: Sequence[Sequence[list[Any] | None]],
    dark: bool,
    *,
    low: float,
    high: float,
    diverging: bool = False,
    outlined: Sequence[tuple[int, int]] = (),
    x_title: str = "",
    y_title: str = "",
    row_px: int = _ROW_PX,
) -> "Figure":
    """A table of coloured cells with their numbers, first row on top. A heatmap colours, a scatter on top is clicked:
    heatmaps send no clicks. `keys` become customdata; cells without a key cannot be clicked."""
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    scale = (
        [(0.0, colours.bad), (0.5, colours.surface), (1.0, colours.accent)]
        if diverging
        else [(0.0, colours.surface), (1.0, colours.accent)]
    )
    across, down = list(range(len(columns))), list(range(len(rows)))
    figure = LazyFigure()
    figure.add_heatmap(
        x=across,
        y=down,
        z=[[None if value is None or math.isnan(value) else value for value in line] for line in values],
        zmin=low,
        zmax=high,
        colorscale=scale,
        showscale=False,
        hoverinfo="skip",
        xgap=2,
        ygap=2,
        opacity=_OPACITY,
    )
    cells = [(y, x) for y in down for x in across if texts[y][x]]
    depths = [_depth(values[y][x], low, high) for y, x in cells]
    figure.add_scatter(
        x=[x for _, x in cells],
        y=[y for y, _ in cells],
        mode="text",
        text=[texts[y][x] for y, x in cells],
        textfont={"size": 12, "color": [_ink(depth, scale, colours) for depth in depths]},
        textposition="middle center",
        hoverinfo="skip",
        showlegend=False,
    )
    # The numbers are a trace of their own: a selection fades the trace that is clicked.
    figure.add_scatter(
        x=[x for _, x in cells],
        y=[y for y, _ in cells],
        mode="markers",
        marker={"symbol": "square", "size": 26, "color": "rgba(0,0,0,0)", "line": {"width": 0}},
        customdata=[keys[y][x] or [] for y, x in cells],
        hovertext=[hovers[y][x] for y, x in cells],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    for y, x in outlined:
        figure.add_shape(
            type="rect", x0=x - 0.48, x1=x + 0.48, y0=y - 0.46, y1=y + 0.46, line={"color": colours.ink, "width": 2}
        )
    _name_sides(figure, rows, columns, (x_title, y_title), row_px, colours)
    return style_figure(figure, dark, height=_FRAME_PX + row_px * len(rows), values="none")


def _name_sides(
    figure: "Figure",
    rows: Sequence[str],
    columns: Sequence[str],
    titles: tuple[str, str],
    row_px: int,
    colours: Palette,
) -> None:
    """Columns above and rows on the left, in full ink and broken where they are long."""
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[_wrap(name) for name in columns],
        side="top",
        showgrid=False,
        title=plain(titles[0]),
        tickfont={"color": colours.ink},
        range=[-0.5, len(columns) - 0.5],
        tickangle=0,
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[(_wrap(name, 16) if row_px >= 44 else plain(name)) + "  " for name in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
        tickfont={"color": colours.ink},
        title=plain(titles[1]),
    )


def draw_confusion(labels: Sequence[str], table: Any, across: str, down: str, dark: bool, key: str = "") -> "Figure":
    """What one side said (down) against the other (across) as counts; colours are shares of the row."""
    counts = np.asarray(table, dtype=float)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    size = range(len(labels))
    names = [name_id(label) for label in labels]
    return draw_matrix(
        names,
        names,
        shares.tolist(),
        [[format_count(counts[y][x]) for x in size] for y in size],
        [
            [
                f"{plain(down)}: {plain(names[y])}<br>{plain(across)}: {plain(names[x])}<br>"
                f"{format_count(counts[y][x])} turns, {format_share(shares[y][x])} of the row"
                for x in size
            ]
            for y in size
        ],
        [[[key, labels[y], labels[x]] for x in size] for y in size],
        dark,
        low=0.0,
        high=1.0,
        x_title=across,
        y_title=down,
        row_px=44,
    )
