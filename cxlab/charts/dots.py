"""Dots with whiskers in bands: several models side by side, group by group."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cxlab.charts.theme import PUBLISHED, Mark, mark_of, palette, plain, short_model, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Below the last the legend and the title of the axis would come upon the ticks.
_ROW_PX, _FRAME_PX, _LEAST_PX, _LEAST_ALL_PX = 15, 74, 36, 54


def draw_dots(
    rows: Sequence[Mapping[str, Any]],
    groups: Sequence[str],
    models: Sequence[str],
    names: Mapping[str, str],
    marks: Mapping[str, Mark],
    dark: bool,
    digits: int = 1,
) -> "Figure":
    """One band a group, first on top, and one line a model in it. Each row has model, group, value, low, high, hover.

    `names` of groups may hold <br>; `digits` of the intervals in hovers; customdata: [group, model].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    figure = LazyFigure()
    middle = {group: len(groups) - place for place, group in enumerate(groups)}
    step = 0.8 / max(len(models), 1)
    for place, model in enumerate(models):
        mark = mark_of(marks, model)
        own = [row for row in rows if row["model"] == model and row["group"] in middle]
        figure.add_scatter(
            x=[row["value"] for row in own],
            y=[middle[row["group"]] + 0.4 - step * (place + 0.5) for row in own],
            mode="markers",
            name=name_of(model),
            marker={**mark.marker, "size": 9},
            error_x={
                "type": "data", "symmetric": False, "thickness": 1.5, "width": 0, "color": mark.colour,
                "array": [0 if row["high"] is None else row["high"] - row["value"] for row in own],
                "arrayminus": [0 if row["low"] is None else row["value"] - row["low"] for row in own],
            },
            customdata=[[row["group"], model] for row in own],
            hovertext=[f"<b>{name_of(model)}</b><br>{row['hover']}{interval_words(row, digits)}" for row in own],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(middle.values()),
        ticktext=["<br>".join(map(plain, names[group].split("<br>"))) for group in groups],
        range=[0.45, len(groups) + 0.55],
        tickfont={"color": colours.ink, "size": 12},
        ticks="outside",
        ticklen=8,
        tickcolor="rgba(0,0,0,0)",
    )
    rules = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": line + 0.5, "y1": line + 0.5, "layer": "below",
         "line": {"color": colours.hairline, "width": 1}}
        for line in range(1, len(groups))
    ]  # fmt: skip
    style_figure(
        figure, dark, height=_FRAME_PX + max(_LEAST_ALL_PX, len(groups) * max(_LEAST_PX, 8 + _ROW_PX * len(models)))
    )
    figure.update_layout(showlegend=len(models) > 1, legend={"traceorder": "normal"}, shapes=rules)
    return figure


def add_published(figure: "Figure", x: Sequence[float], y: Sequence[float], hovers: Sequence[str], dark: bool) -> None:
    """Published figures as small diamonds at `y`: beside our own, never taken for them."""
    figure.add_scatter(
        x=list(x),
        y=list(y),
        mode="markers",
        name="published",
        marker={**PUBLISHED.marker, "size": 7, "opacity": 0.6, "color": palette(dark).muted, "line": {"width": 0}},
        hovertext=list(hovers),
        hovertemplate="%{hovertext}<extra></extra>",
    )


def interval_words(row: Mapping[str, Any], digits: int = 1) -> str:
    """The interval of a row for its hover; says so where there is none."""
    if row["low"] is None:
        return "<br>no interval: fewer than two samples"
    return f"<br>95 % interval {row['low']:.{digits}f} to {row['high']:.{digits}f}"


def name_of(model: str) -> str:
    """A model's short name, safe for a label of a chart."""
    return plain(short_model(model))
