"""Measured against judged, metric by metric: both values on one scale, and beside them how far they are apart."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.matrix import draw_matrix, name_judge
from cxlab.charts.numbers import format_change, format_changes, format_count, format_ratio, format_share, largest
from cxlab.charts.theme import palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX, _FRAME_PX = 34, 84


def draw_gaps(frame: pl.DataFrame, names: Mapping[str, str], dark: bool, *, unit: str, scale: float | None) -> "Figure":
    """One row a metric, first on top: measured (dot) and judged (diamond) with a line between, and to the right judged
    minus measured with its interval. `frame` is `read.judged.compare`; customdata is [metric].

    `scale` is the end of the left axis, None for as far as the values go. A difference whose interval leaves out zero
    is drawn in full, any other open.
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.to_dicts()
    places = [len(rows) - place for place in range(len(rows))]
    keys = [[row["metric"]] for row in rows]
    hovers = [f"<b>{plain(names[row['metric']])}</b><br>{_say(row)}" for row in rows]
    figure = LazyFigure()
    xs: list[float | None] = []
    ys: list[float | None] = []
    for row, place in zip(rows, places, strict=True):
        xs += [row["measured"], row["judged"], None]
        ys += [place, place, None]
    figure.add_scatter(
        x=xs, y=ys, mode="lines", line={"color": colours.muted, "width": 2}, hoverinfo="skip", showlegend=False
    )
    for side, symbol, colour, words in (
        ("measured", "circle", colours.ink, "measured from the log"),
        ("judged", "diamond", colours.accent, "judged"),
    ):
        figure.add_scatter(
            x=[row[side] for row in rows],
            y=places,
            mode="markers",
            name=words,
            marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 1, "color": colours.surface}},
            customdata=keys,
            hovertext=hovers,
            hovertemplate="%{hovertext}<extra></extra>",
        )
    real = [_is_real(row) for row in rows]
    figure.add_scatter(
        x=[row["mean"] for row in rows],
        y=places,
        xaxis="x2",
        mode="markers",
        showlegend=False,
        marker={
            "symbol": "square", "size": 9,
            "color": [colours.bad if one else colours.surface for one in real],
            "line": {"width": 2, "color": [colours.bad if one else colours.muted for one in real]},
        },
        error_x={
            "type": "data", "symmetric": False, "thickness": 1.5, "width": 0, "color": colours.muted,
            "array": [0 if row["high"] is None else row["high"] - row["mean"] for row in rows],
            "arrayminus": [0 if row["low"] is None else row["mean"] - row["low"] for row in rows],
        },
        customdata=keys,
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip
    bounds = [abs(value) for row in rows for name in ("mean", "low", "high") if (value := row[name]) is not None]
    far = max([*bounds, 0.01]) * 1.1
    top = scale or max([*(row[side] for row in rows for side in ("measured", "judged")), 0.01]) * 1.1
    figure.update_yaxes(
        tickvals=places,
        ticktext=[f"{plain(names[row['metric']])}  " for row in rows],
        range=[0.4, len(rows) + 0.6],
        tickfont={"color": colours.ink, "size": 12},
    )
    style_figure(figure, dark, height=_FRAME_PX + _ROW_PX * max(len(rows), 2))
    axis: dict[str, Any] = {"showgrid": True, "automargin": True}
    figure.update_layout(
        xaxis={**axis, "domain": [0, 0.6], "range": [-0.02 * top, 1.02 * top], "title": {"text": unit}},
        xaxis2={
            **axis, "domain": [0.66, 1], "range": [-far, far], "anchor": "y", "zeroline": True,
            "zerolinecolor": colours.muted, "title": {"text": f"judged − measured, {unit}"}, "nticks": 5,
        },
        legend={"traceorder": "normal"},
    )  # fmt: skip
    return figure


def draw_fields(frame: pl.DataFrame, names: Mapping[str, str], dark: bool) -> "Figure":
    """How often each judge's verdict is another than the log's: fields down, the most troubled on top, judges across.

    `frame` is `queries_fields.fields`; customdata is [field, judge].
    """
    order = frame.group_by("field").agg(pl.col("mean").mean()).sort("mean", "field", descending=[True, False])["field"]
    judges = sorted(set(frame["judge"]))
    found = {(row["field"], row["judge"]): row for row in frame.iter_rows(named=True)}
    at = [[found.get((field, judge)) for judge in judges] for field in order]
    return draw_matrix(
        [names[field] for field in order],
        [name_judge(judge) for judge in judges],
        [[cell["mean"] if cell else None for cell in line] for line in at],
        [[format_share(cell["mean"]) if cell else "" for cell in line] for line in at],
        [[_say_field(cell, names) if cell else "" for cell in line] for line in at],
        [[[cell["field"], cell["judge"]] if cell else None for cell in line] for line in at],
        dark,
        low=0.0,
        high=max(0.2, largest(frame["mean"], 0.0)),
    )


def _is_real(row: Mapping[str, Any]) -> bool:
    return row["low"] is not None and not row["low"] <= 0 <= row["high"]


def _say(row: Mapping[str, Any]) -> str:
    interval = (
        "no interval: fewer than two samples"
        if row["low"] is None
        else f"95 % interval {format_changes(row['low'], row['high'], 2)}"
    )
    return (
        f"measured {row['measured']:.2f}, judged {row['judged']:.2f}<br>"
        f"difference {format_change(row['mean'], 2)}, {interval}<br>"
        f"differ in {format_share(row['differ'])} of conversations, correlation {format_ratio(row['r'])}<br>"
        f"n {format_count(row['n'])} conversations"
    )


def _say_field(row: Mapping[str, Any], names: Mapping[str, str]) -> str:
    told = f"<b>{plain(names[row['field']])}</b><br>{plain(name_judge(row['judge']))}: another verdict than the log"
    told += f" in {format_share(row['mean'])}"
    if row["low"] is not None:
        told += f"<br>95 % interval {format_share(row['low'])} to {format_share(row['high'])}"
    return told + f"<br>correlation with it (MCC) {format_ratio(row['mcc'])}<br>n {format_count(row['n'])} verdicts"
