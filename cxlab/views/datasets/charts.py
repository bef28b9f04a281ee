"""A dataset beside the published one: figures as multiples of a reference, and shares with their intervals."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import PUBLISHED, palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX, _FRAME_PX = 30, 84
# A figure this many times below the reference is drawn at the edge: its number stands beside it.
_FARTHEST = 1 / 256
# The mode bar, which comes with the mouse, has a strip of its own above the heads of the columns.
_BAR_PX = 30
# Width of a column of figures right of the chart.
_COLUMN_PX = 72


def format_figure(value: float | None, kind: str = "count") -> str:
    """A figure of table 8 or 9: whole numbers whole, ratios with three places, means with one."""
    if value is None:
        return "–"
    if kind == "ratio":
        return f"{value:.3f}"
    return format_count(value) if float(value).is_integer() or abs(value) >= 10_000 else f"{value:,.1f}"


def draw_multiples(rows: Sequence[Mapping[str, Any]], reference: str, names: Mapping[str, str], dark: bool) -> "Figure":
    """One line a figure, the first on top: each as a multiple of a published reference, on a logarithmic axis.

    Each row has label, kind, and the columns of `names` (column → its name), "ours" among them; the reference is the
    line at × 1. The figures themselves stand in columns on the right. One that is missing or nought has no mark.
    """
    import plotly.graph_objects as go

    colours = palette(dark)
    figure = go.Figure()
    heights = {place: len(rows) - place for place in range(len(rows))}
    low, high = -1.0, 1.0
    for column, title in names.items():
        if column == reference:
            continue
        drawn = [
            (place, row, max(float(row[column]) / float(row[reference]), _FARTHEST))
            for place, row in enumerate(rows)
            if row.get(column) and row.get(reference)
        ]
        powers = [math.log2(x) for _, _, x in drawn]
        low, high = min([low, *powers]), max([high, *powers])
        own = column == "ours"
        figure.add_scatter(
            x=[x for _, _, x in drawn],
            y=[heights[place] for place, _, _ in drawn],
            mode="markers",
            name=title,
            marker={"size": 11, "color": colours.accent}
            if own
            else {"size": 10, "color": PUBLISHED.colour, "symbol": PUBLISHED.symbol},
            hovertext=[
                f"<b>{plain(row['label'])}</b><br>{plain(title)}: {format_figure(row[column], row['kind'])}<br>"
                f"{plain(names[reference])}: {format_figure(row[reference], row['kind'])}<br>× {x:.2f}"
                for _, row, x in drawn
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            cliponaxis=False,
        )
    steps = range(math.floor(low), math.ceil(high) + 1)
    ticks = [step for step in steps if len(steps) <= 7 or step % 2 == 0]
    figure.update_xaxes(
        type="log",
        range=[(steps[0] - 0.2) * math.log10(2), (steps[-1] + 0.2) * math.log10(2)],
        tickvals=[2.0**step for step in ticks],
        ticktext=[f"× {2**step}" if step >= 0 else f"× 1/{2**-step}" for step in ticks],
    )
    figure.update_yaxes(
        tickvals=list(heights.values()),
        ticktext=[plain(row["label"]) for row in rows],
        range=[0.4, len(rows) + 0.6],
        tickfont={"color": colours.ink, "size": 12},
    )
    figure.add_vline(x=1, line_width=1.5, line_color=colours.muted)
    cells = []
    for place, (column, title) in enumerate(names.items()):
        edge = _COLUMN_PX * (place + 1)
        ink = colours.ink if column == "ours" else colours.muted
        cells.append({**_cell(edge, title, ink), "y": 1, "yref": "paper", "yanchor": "bottom"})
        for at, row in enumerate(rows):
            words = format_figure(row.get(column), row["kind"])
            cells.append({**_cell(edge, words, ink), "y": heights[at], "yref": "y", "yanchor": "middle"})
    # All at once: added one by one, each would check all before it.
    figure.update_layout(annotations=cells)
    style_figure(figure, dark, height=_FRAME_PX + _BAR_PX + _ROW_PX * len(rows))
    figure.update_layout(
        margin={"t": 44 + _BAR_PX, "r": 8 + _COLUMN_PX * len(names)}, showlegend=len(names) > 2, legend={"y": 1.03}
    )
    return figure


def _cell(edge: float, text: str, colour: str) -> dict[str, Any]:
    """Words that end `edge` pixels right of the chart."""
    font = {"size": 12, "color": colour}
    words = plain(text).replace(" ", "<br>")
    return {
        "x": 1,
        "xref": "paper",
        "xanchor": "right",
        "xshift": edge,
        "showarrow": False,
        "text": words,
        "font": font,
    }


def draw_shares(rows: Sequence[Mapping[str, Any]], dark: bool, zero: bool = True) -> "Figure":
    """Shares as dots with 95 % whiskers, first on top; rows have label, n, share, low, high and `own` (else published).

    `zero`: the axis begins at 0; without, a little below the lowest bound, for shares that are all high.
    """
    import plotly.graph_objects as go

    colours = palette(dark)
    figure = go.Figure()
    labels = list(dict.fromkeys(row["label"] for row in rows))
    both = len(labels) < len(rows)
    for own in (True, False):
        # Where ours and a published one are of the same thing, they share its line.
        shift = (0.16 if own else -0.16) if both else 0.0
        drawn = [(len(labels) - labels.index(row["label"]) + shift, row) for row in rows if row["own"] is own]
        if not drawn:
            continue
        colour = colours.accent if own else PUBLISHED.colour
        bounds = [(row["share"], row["share"]) if row["low"] is None else (row["low"], row["high"]) for _, row in drawn]
        figure.add_scatter(
            x=[row["share"] for _, row in drawn],
            y=[place for place, _ in drawn],
            mode="markers+text",
            name="This store" if own else "Published",
            text=[f"{format_share(row['share'])}" for _, row in drawn],
            textposition="top center" if own or not both else "bottom center",
            textfont={"color": colours.ink, "size": 11},
            marker={"size": 10, "color": colour, "symbol": "circle" if own else PUBLISHED.symbol},
            error_x={
                "type": "data", "symmetric": False, "thickness": 1.5, "width": 0, "color": colour,
                "array": [high - row["share"] for (_, row), (_, high) in zip(drawn, bounds, strict=True)],
                "arrayminus": [row["share"] - low for (_, row), (low, _) in zip(drawn, bounds, strict=True)],
            },
            hovertext=[
                f"<b>{plain(row['label'])}</b><br>{format_share(row['share'])}"
                + (f" of {format_count(row['n'])}" if row["n"] else "")
                + _say_interval(row)
                for _, row in drawn
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            cliponaxis=False,
        )  # fmt: skip
    lowest = min((row["low"] if row["low"] is not None else row["share"] for row in rows), default=0.0)
    figure.update_xaxes(range=[0 if zero else max(0.0, math.floor(lowest * 20 - 1) / 20), 1.02], tickformat=".0%")
    figure.update_yaxes(
        tickvals=[len(labels) - place for place in range(len(labels))],
        ticktext=[plain(each) for each in labels],
        range=[0.4, len(labels) + 0.7],
        tickfont={"color": colours.ink, "size": 12},
        # A dot at 0 reaches over the axis.
        ticklabelstandoff=8,
    )
    figure.update_layout(showlegend=len({row["own"] for row in rows}) > 1)
    return style_figure(figure, dark, height=_FRAME_PX + (52 if both else 38) * len(labels))


def _say_interval(row: Mapping[str, Any]) -> str:
    low, high = row["low"], row["high"]
    return "" if low is None else f"<br>95 % interval {format_share(low)} to {format_share(high)}"
