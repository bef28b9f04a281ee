"""Leaderboards as dots with whiskers."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from cxlab.charts.numbers import format_count, format_interval, format_value
from cxlab.charts.theme import BUTTON_PX, PUBLISHED, Mark, mark_of, palette, plain, short_model, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX = 34
_FRAME_PX = 60
_LONGEST_NAME = 48
_NAME_PX = 13
_NEAR = 0.2
"""Of the scale: floors nearer than this have names that would touch."""


Floor = tuple[str, float]
"""What a constant agent is called, and its value."""


def draw_board(
    frame: pl.DataFrame,
    metric: str,
    marks: Mapping[str, Mark],
    dark: bool,
    title: str = "",
    floors: Sequence[Floor] = (),
    scale: tuple[float, float] | None = (0.0, 100.0),
    names: Mapping[str, str] | None = None,
) -> "Figure":
    """One dot a model on the metric's scale with its 95 % interval, in the frame's order from the top down.

    `frame`: model, simulated, METRIC, METRIC_low, METRIC_high, samples; `floors` are dotted lines; `names` says how
    rows are called that are no models; customdata of each dot is [model].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    rows = [row for row in frame.rows(named=True) if row[metric] is not None][::-1]
    colours = palette(dark)
    figure = LazyFigure()
    labels = [
        plain(_shorten(names[model])) if names and model in names else _label(model, simulated)
        for model, simulated in ((row["model"], row["simulated"]) for row in rows)
    ]
    for label, row in zip(labels, rows, strict=True):
        mark = mark_of(marks, row["model"])
        low, high = row[f"{metric}_low"], row[f"{metric}_high"]
        value = row[metric]
        figure.add_scatter(
            x=[value],
            y=[label],
            mode="markers+text",
            marker=mark.dot(colours.surface),
            customdata=[[row["model"]]],
            text=[f"  {value:.1f}"],
            textposition="top center",
            cliponaxis=False,
            textfont={"color": colours.ink, "size": 12},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [0 if high is None else high - value],
                "arrayminus": [0 if low is None else value - low],
                "thickness": 1.5,
                "width": 4,
                "color": mark.colour,
            },
            hovertemplate=f"<b>{plain((names or {}).get(row['model'], row['model']))}</b><br>"
            f"{plain(title or metric)} {value:.1f}<br>"
            f"95 % interval {format_interval(low, high)}<br>n {format_count(row['samples'])} samples<extra></extra>",
            showlegend=False,
        )
    low, high = scale or (None, None)
    span = 100.0 if low is None or high is None else abs(high - low)
    raised, before = [0], -math.inf
    for name, value in sorted(floors, key=lambda each: each[1]):
        # Names of floors that are near each other stand above each other.
        raised.append(raised[-1] + 1 if value - before < _NEAR * span else 0)
        before = value
        sort = "" if "floor" in name.lower() else " (floor)"
        figure.add_scatter(
            x=[value, value], y=[labels[0], labels[-1]] if labels else [], mode="lines", showlegend=False,
            line={"color": colours.muted, "width": 1.5, "dash": "dot"},
            hovertext=f"{plain(name)}{sort}: {value:.1f}", hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
        figure.add_annotation(
            x=value, y=len(rows) - 0.5, yanchor="bottom", yshift=_NAME_PX * raised[-1], showarrow=False,
            text=f"{plain(name)} {value:.1f}",
            font={"size": 12, "color": colours.muted},
        )  # fmt: skip
    top = len(rows) + 0.2 if floors else len(rows) - 0.3
    figure.update_xaxes(
        range=None if low is None or high is None else [low, high + (high - low) / 100],
        title=plain(title or metric) + ("" if high != 100 else ", points of 100" if low == 0 else ", points"),
    )
    top += max(raised) * _NAME_PX / _ROW_PX
    figure.update_yaxes(categoryorder="array", categoryarray=labels, tickfont={"color": colours.ink}, range=[-0.6, top])
    height = _FRAME_PX + _ROW_PX * max(len(rows) + (top > len(rows)), 2) + _NAME_PX * max(raised)
    # The button that saves the picture stands in the upper right corner, where a value of 100 would lie under it.
    figure.update_layout(margin={"r": BUTTON_PX})
    return style_figure(figure, dark, height=height)


def draw_published(frame: pl.DataFrame, dark: bool, limit: int = 12) -> "Figure":
    """The best rows of one published leaderboard (of `read.published_board`) as grey diamonds; no interval is known."""
    from cxlab.charts.lazy_figure import LazyFigure

    rows = frame[:limit][::-1]
    unit = rows["unit"][0] if rows.height else None
    texts = [format_value(value, unit) for value in rows["value"]]
    names = [plain(name) for name in rows["entity"]]
    hovers = [
        f"<b>{name}</b><br>{plain(metric)} {text}<br>published: {plain(source)}"
        for name, metric, text, source in zip(names, rows["metric"], texts, rows["source"], strict=True)
    ]
    colours = palette(dark)
    marker = {**PUBLISHED.marker, "size": 9, "color": colours.muted, "line": {"width": 0}}
    figure = LazyFigure()
    figure.add_scatter(
        x=rows["value"].to_list(),
        y=names,
        mode="markers+text",
        marker=marker,
        text=[f" {t}" for t in texts],
        textposition="middle right",
        textfont={"color": colours.ink, "size": 12},
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        customdata=[[name] for name in rows["entity"]],
        cliponaxis=False,
        showlegend=False,
    )
    top = 100 if unit in ("points", "percent") else 1 if unit == "ratio" else None
    figure.update_xaxes(range=[0, top * 1.08] if top else None, title=plain(rows["metric"][0]) if rows.height else "")
    figure.update_yaxes(tickfont={"color": colours.ink})
    return style_figure(figure, dark, height=_FRAME_PX + 24 * max(rows.height, 2))


def _label(model: str, simulated: bool) -> str:
    return plain(_shorten(short_model(model))) + (" · simulated" if simulated else "")


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
