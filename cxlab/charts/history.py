"""A headline over time: a dot a run with its interval, joined where the runs are alike."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import polars as pl

from cxlab.charts.compare import Scale, range_of
from cxlab.charts.dots import add_floors, add_names
from cxlab.charts.numbers import format_count, format_interval, format_points, format_time
from cxlab.charts.theme import Mark, mark_of, palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_APART = 0.07
"""Of the scale: names of lines nearer than this would touch."""


def draw_history(
    frame: pl.DataFrame, scale: Scale, title: str, marks: Mapping[str, Mark], names: Mapping[str, str], dark: bool,
    floors: Sequence[tuple[str, float]] = (),
) -> "Figure":  # fmt: skip
    """`frame` is `read.comparison.history.HISTORY` with `side` for the mark; `names`: run → what stands beside its dot.

    Runs of one model under the same conditions are joined; `floors` (name, value) are dotted lines. customdata: [run].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    figure, colours = LazyFigure(), palette(dark)
    lines = [
        list(part.iter_rows(named=True))
        for _, part in frame.sort("created").group_by("model", "conditions", maintain_order=True)
    ]
    ends = []
    for rows in lines:
        mark = mark_of(marks, rows[0]["side"])
        ends.append((names[rows[-1]["run_id"]], mark.colour, rows[-1]["created"], rows[-1]["value"]))
        figure.add_scatter(
            x=[row["created"] for row in rows],
            y=[row["value"] for row in rows],
            mode="lines+markers",
            line={"color": mark.colour, "width": 1.5},
            marker=mark.dot(colours.surface),
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
        told = [min(times)]
        for time in sorted(times):
            if time - told[-1] >= room:
                told.append(time)
        # Only moments of runs are told: the room for names lies in no future.
        ticks = {"tickvals": told, "ticktext": [format_time(time) for time in told]}
        figure.update_xaxes(range=[min(times) - room / 6, max(times) + room], **ticks)
        values = [value for name in ("value", "low", "high") for value in frame[name].drop_nulls()]
        low, high = scale or (min(values), max(values))
        add_names(figure, ends, max(times) + room / 10, _APART * (high - low), high, dark)
    add_floors(figure, floors, dark)
    shown = range_of(scale)
    figure.update_yaxes(title=plain(title), range=list(shown) if shown else None)
    return style_figure(figure, dark, height=320, values="y")
