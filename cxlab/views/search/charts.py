"""Figures of what was found: how many conversations a day, week or month."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from cxlab.charts.numbers import format_count
from cxlab.charts.theme import palette, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Bars that can still be told apart.
_MOST_BARS = 40
_STEPS = (("1d", "day"), ("1w", "week"), ("1mo", "month"), ("1q", "quarter"), ("1y", "year"))
_HEIGHT_PX = 190
_WHOLE_TICKS = 5


def over_time(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """(start, found, among) by the finest step that gives few enough bars, and its name; `frame`: day, found."""
    known = frame.drop_nulls("day")
    for every, name in _STEPS:
        rows = (
            known.group_by(start=pl.col("day").dt.truncate(every))
            .agg(found=pl.col("found").sum(), among=pl.len())
            .sort("start")
        )
        if rows.height <= _MOST_BARS or name == "year":
            break
    return rows, name


def draw_time(rows: pl.DataFrame, step: str, dark: bool) -> Figure:
    """Conversations a step of time: all of them faint, what was found in front."""
    import plotly.graph_objects as go

    ink = palette(dark)
    figure = go.Figure()
    told = [
        f"<b>{step} of {start}</b><br>{format_count(found)} found of {format_count(among)}"
        for start, found, among in rows.select("start", "found", "among").iter_rows()
    ]
    for name, column, colour in (("All under the filters", "among", ink.hairline), ("Found", "found", ink.accent)):
        figure.add_bar(
            x=rows["start"].to_list(), y=rows[column].to_list(), name=name, marker={"color": colour},
            hovertext=told, hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="overlay")
    # Conversations are whole: no tick stands at a half.
    few = max(rows["among"].to_list(), default=0) <= _WHOLE_TICKS
    figure.update_yaxes(rangemode="tozero", dtick=1 if few else None)
    return style_figure(figure, dark, height=_HEIGHT_PX, values="y")
