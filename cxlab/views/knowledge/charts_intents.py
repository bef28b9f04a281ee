"""Labels as bars, confusions as a matrix, and shares with their intervals."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.dots import draw_dots
from cxlab.charts.matrix import draw_matrix
from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import Mark, mark_of, palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_BAR_PX, _FRAME_PX, _ROW_PX = 24, 60, 44


def draw_labels(rows: pl.DataFrame, dark: bool) -> "Figure":
    """Conversations by label, first on top, split into those told right and those told wrong.

    `rows`: label, n and, where a run is looked at, right and wrong (null elsewhere). customdata: [label].
    """
    import plotly.graph_objects as go

    colours = palette(dark)
    labels = rows["label"].to_list()
    figure = go.Figure()
    judged = rows["right"].is_not_null().any()
    parts = (("right", "told right", colours.accent), ("wrong", "told wrong", colours.bad)) if judged else ()
    for column, name, colour in parts or (("n", "conversations", colours.accent),):
        figure.add_bar(
            y=list(range(len(labels))),
            x=[value or 0 for value in rows[column]],
            orientation="h",
            name=name,
            marker={
                "color": colour,
                "line": {"width": 0},
                # Wrong is told by a hatch as well as by its colour.
                "pattern": {"shape": "/" if column == "wrong" else "", "solidity": 0.35, "size": 6},
            },
            customdata=[[label] for label in labels],
            hovertext=[_label_hover(row) for row in rows.iter_rows(named=True)],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=[plain(textwrap.shorten(label, 44, placeholder="…")) + "  " for label in labels],
        range=[len(labels) - 0.5, -0.5],
        tickfont={"color": colours.ink},
    )
    figure.update_xaxes(title="conversations", rangemode="tozero")
    figure = style_figure(figure, dark, height=_FRAME_PX + 24 + _BAR_PX * len(labels), values="x")
    return figure.update_layout(barmode="stack", showlegend=bool(parts), legend={"traceorder": "normal"})


def draw_confused(found: pl.DataFrame, labels: Sequence[str], dark: bool) -> "Figure":
    """What (down) was taken for what (across), as counts; colours are shares of the row. customdata: [gold, said].

    Columns carry the rows' numbers, because intents have long names.
    """
    counts = {(gold, said): (n, of) for gold, said, n, of in found.select("gold", "said", "n", "of").iter_rows()}
    size = range(len(labels))

    def cell(y: int, x: int) -> tuple[int, float]:
        n, of = counts.get((labels[y], labels[x]), (0, 0))
        return n, n / of if of else 0.0

    return draw_matrix(
        [f"{y + 1} · {textwrap.shorten(labels[y], 40, placeholder='…')}" for y in size],
        [str(x + 1) for x in size],
        [[cell(y, x)[1] for x in size] for y in size],
        [[format_count(cell(y, x)[0]) if cell(y, x)[0] else "" for x in size] for y in size],
        [
            [
                f"is: {plain(labels[y])}<br>called: {plain(labels[x])}<br>{format_count(cell(y, x)[0])} conversations, "
                f"{format_share(cell(y, x)[1])} of this intent"
                for x in size
            ]
            for y in size
        ],
        [[[labels[y], labels[x]] if cell(y, x)[0] else None for x in size] for y in size],
        dark,
        low=0.0,
        high=1.0,
        x_title="called",
        y_title="",
        outlined=[(y, y) for y in size],
    )


def draw_ways(rows: pl.DataFrame, marks: Mapping[str, Mark], dark: bool) -> "Figure":
    """Share right by way of looking (raw, fuzzy, ...) and model, with intervals; 0 to 100 %."""
    order = [way for way in ("raw", "fuzzy", "verified", "level one") if way in set(rows["way"])]
    models = rows["model"].unique(maintain_order=True).to_list()
    points = [
        {
            "model": row["model"],
            "group": row["way"],
            "value": 100 * row["share"],
            "low": 100 * row["low"],
            "high": 100 * row["high"],
            "hover": f"{row['way']}: {format_share(row['share'])}, n {format_count(row['n'])} conversations",
        }
        for row in rows.iter_rows(named=True)
    ]
    figure = draw_dots(points, order, models, {way: way for way in order}, marks, dark)
    return figure.update_xaxes(range=[-1, 101], ticksuffix=" %", dtick=25)


def draw_standards(rows: pl.DataFrame, model: str, marks: Mapping[str, Mark], dark: bool) -> "Figure":
    """Share right by question, worst on top, with intervals; a bar marks what the commonest answer would get.

    customdata: [question].
    """
    import plotly.graph_objects as go

    colours, mark = palette(dark), mark_of(marks, model)
    places = list(range(rows.height))
    figure = go.Figure()
    figure.add_scatter(
        x=[100 * value for value in rows["floor"]],
        y=places,
        mode="markers",
        name="always the commonest answer",
        marker={"symbol": "line-ns", "size": 16, "line": {"color": colours.muted, "width": 2.5}},
        hovertext=[f"always the commonest answer: {format_share(value)}" for value in rows["floor"]],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    figure.add_scatter(
        x=[100 * value for value in rows["share"]],
        y=places,
        mode="markers",
        name="right",
        marker=mark.dot(colours.surface),
        error_x={
            "type": "data", "symmetric": False, "thickness": 1.5, "width": 0, "color": mark.colour,
            "array": [100 * (row["high"] - row["share"]) for row in rows.iter_rows(named=True)],
            "arrayminus": [100 * (row["share"] - row["low"]) for row in rows.iter_rows(named=True)],
        },
        customdata=[[question] for question in rows["question"]],
        hovertext=[_standard_hover(row) for row in rows.iter_rows(named=True)],
        hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=places,
        ticktext=["<br>".join(map(plain, _two_lines(question))) + "  " for question in rows["question"]],
        range=[rows.height - 0.5, -0.5],
        tickfont={"color": colours.ink, "size": 12},
    )
    figure.update_xaxes(range=[-1, 101], ticksuffix=" %", dtick=25)
    return style_figure(figure, dark, height=_FRAME_PX + 24 + _ROW_PX * rows.height)


def _two_lines(text: str) -> list[str]:
    lines = textwrap.wrap(text, 44) or [""]
    return lines if len(lines) <= 2 else [lines[0], f"{lines[1][:42]}…"]


def _label_hover(row: Mapping[str, Any]) -> str:
    lines = [f"<b>{plain(row['label'])}</b>", f"{format_count(row['n'])} conversations"]
    if row["right"] is not None:
        lines.append(f"{format_count(row['right'])} told right, {format_count(row['wrong'])} wrong")
    return "<br>".join(lines)


def _standard_hover(row: Mapping[str, Any]) -> str:
    question = "<br>".join(map(plain, textwrap.wrap(row["question"], 60)))
    return (
        f"<b>{question}</b><br>{format_share(row['share'])} right, {format_count(row['right'])} of "
        f"{format_count(row['n'])}<br>95 % interval {format_share(row['low'])} to {format_share(row['high'])}"
    )
