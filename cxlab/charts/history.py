"""A headline over time: a dot a run with its interval, joined where the runs are alike."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from cxlab.charts.compare import Scale, range_of
from cxlab.charts.numbers import format_count, format_interval, format_points, format_time
from cxlab.charts.theme import Mark, mark_of, palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_NEAR = 0.06
"""Of the scale: last dots nearer than this have names that would touch."""


def draw_history(
    frame: pl.DataFrame, scale: Scale, title: str, marks: Mapping[str, Mark], names: Mapping[str, str], dark: bool
) -> "Figure":
    """`frame` is `read.comparison.history.HISTORY` with `side` for the mark; `names`: run → what stands beside its dot.

    Runs of one model under the same conditions are joined. customdata: [run].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    figure, colours = LazyFigure(), palette(dark)
    lines = [
        list(part.iter_rows(named=True))
        for _, part in frame.sort("created").group_by("model", "conditions", maintain_order=True)
    ]
    places = _place_names([rows[-1]["value"] for rows in lines], scale)
    for rows, place in zip(lines, places, strict=True):
        mark = mark_of(marks, rows[0]["side"])
        figure.add_scatter(
            x=[row["created"] for row in rows],
            y=[row["value"] for row in rows],
            mode="lines+markers+text",
            line={"color": mark.colour, "width": 1.5},
            marker=mark.dot(colours.surface),
            text=[""] * (len(rows) - 1) + [f"  {plain(names[rows[-1]['run_id']])}"],
            textposition=place,
            textfont={"color": colours.ink, "size": 12},
            cliponaxis=False,
            error_y={
                "type": "data", "symmetric": False, "thickness": 1.5, "width": 0, "color": mark.colour,
                "array": [0 if row["high"] is None else row["high"] - row["value"] for row in rows],
                "arrayminus": [0 if row["low"] is None else row["value"] - row["low"] for row in rows],
            },
            customdata=[[row["run_id"]] for row in rows],
            hovertext=[
                f"<b>{plain(names[row['run_id']])}</b><br>{format_time(row['created'])}<br>"
                f"{plain(title)} {format_points(row['value'])}<br>"
                f"95 % interval {format_interval(row['low'], row['high'])}"
                f"<br>n {format_count(row['samples'])} of {format_count(row['of'])} samples"
                + (f"<br>{row['runs']} identical runs" if row["runs"] > 1 else "")
                for row in rows
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )  # fmt: skip
    times = frame["created"].to_list()
    if times:
        # Names stand to the right of the last dots, and one moment alone has no width.
        room = max((max(times) - min(times)) / 3, timedelta(hours=1))
        figure.update_xaxes(range=[min(times) - room / 6, max(times) + room])
    shown = range_of(scale)
    figure.update_yaxes(title=plain(title), range=list(shown) if shown else None)
    return style_figure(figure, dark, height=320, values="y")


def _place_names(values: Sequence[float], scale: Scale) -> list[str]:
    """Where the name of each line stands: beside its last dot, and of two near each other one above and one below."""
    places = ["middle right"] * len(values)
    order = sorted(range(len(values)), key=lambda place: -values[place])
    near = _NEAR * (abs(scale[1] - scale[0]) if scale else max(values, default=0) - min(values, default=0))
    for upper, lower in pairwise(order):
        if values[upper] - values[lower] < near:
            places[upper] = "top right" if places[upper] == "middle right" else places[upper]
            places[lower] = "bottom right"
    return places
