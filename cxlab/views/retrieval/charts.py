"""Indexes side by side: figures with floors, curves by cut-off, quality against time, areas, kinds of misses."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.matrix import draw_matrix
from cxlab.charts.numbers import (
    format_change,
    format_count,
    format_p,
    format_points,
    format_seconds,
    format_share,
    format_usd,
)
from cxlab.charts.theme import Mark, mark_of, palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX, _FRAME_PX, _LINE_PX = 34, 64, 16
_MOST_NAMES = 6
_SHORTEST_S = 1e-6
_LINES = ("solid", "dash", "dot", "dashdot")


def _reach(row: Mapping[str, Any], key: str = "mean") -> tuple[float, float]:
    """How far the interval goes up and down from the figure; 0 where there is none."""
    mean, low, high = row[key] or 0.0, row["low"], row["high"]
    return (0.0 if high is None else max(high - mean, 0.0)), (0.0 if low is None else max(mean - low, 0.0))


def _interval(row: Mapping[str, float | None]) -> str:
    if row["low"] is None or row["high"] is None:
        return "<br>no interval: fewer than two queries"
    return f"<br>95 % interval {row['low']:.1f} to {row['high']:.1f}"


def draw_indexes(
    frame: pl.DataFrame,
    title: str,
    names: Mapping[str, str],
    marks: Mapping[str, Mark],
    dark: bool,
    floors: Sequence[float] = (),
) -> "Figure":
    """One dot an index with its interval, best on top; floors dotted and dashed. `frame`: run_id, mean, low, high, n.

    customdata: [run].
    """
    import plotly.graph_objects as go

    rows = frame.filter(pl.col("mean").is_not_null()).sort("mean", "run_id").to_dicts()
    figure = go.Figure()
    for row in rows:
        hover = f"{plain(title)} {row['mean']:.1f}{_interval(row)}<br>n {format_count(row['n'])} queries"
        _add_dot(figure, row, "mean", names, marks, dark, hover)
    figure.update_traces(
        mode="markers+text",
        texttemplate="  %{x:.1f}",
        textposition="top center",
        textfont={"color": palette(dark).ink, "size": 12},
        cliponaxis=False,
    )
    for place, value in enumerate(floors):
        figure.add_vline(
            x=value, line={"color": palette(dark).muted, "width": 1.5, "dash": _LINES[2 - place % 2]}, layer="below"
        )
    figure.update_xaxes(range=[0, 101], title=f"{plain(title)}, points of 100")
    return _dress_rows(figure, [row["run_id"] for row in rows], names, dark)


def draw_curves(
    frame: pl.DataFrame,
    title: str,
    names: Mapping[str, str],
    marks: Mapping[str, Mark],
    dark: bool,
    cut: int,
    things: str,
) -> "Figure":
    """A line an index over the cut-offs. `frame`: run_id, k, mean, low, high, n. customdata: [run, k].

    `things`: what is ranked.

    Which of the same method differ only in chunk size can be told by the line's dashes too.
    """
    import plotly.graph_objects as go

    colours = palette(dark)
    figure = go.Figure()
    runs = list(dict.fromkeys(frame["run_id"]))
    last = frame.group_by("run_id").agg(pl.col("mean").last())
    for run in last.sort("mean", "run_id", descending=[True, False])["run_id"].to_list():
        rows, mark = frame.filter(pl.col("run_id") == run).sort("k").to_dicts(), mark_of(marks, run)
        figure.add_scatter(
            x=[row["k"] for row in rows],
            y=[row["mean"] for row in rows],
            mode="lines+markers",
            name=plain(names[run]),
            line={"color": mark.colour, "width": 2, "dash": _LINES[runs.index(run) // 8 % 4]},
            marker={**mark.marker, "size": 6, "line": {"width": 1, "color": mark.colour}},
            customdata=[[run, row["k"]] for row in rows],
            hovertext=[
                f"<b>{plain(names[run])}</b><br>{plain(title)} at {row['k']}: {format_points(row['mean'])}"
                f"{_interval(row)}<br>n {format_count(row['n'])} queries"
                for row in rows
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.add_vline(x=cut, line={"color": colours.muted, "width": 1, "dash": "dot"}, layer="below")
    figure.update_xaxes(title=f"{plain(things)} looked at (k)", tickvals=[1, 5, 10, 15, 20], range=[0.5, 20.5])
    figure.update_yaxes(title=plain(title), range=[0, 101])
    style_figure(figure, dark, height=380, values="both")
    # A legend of many long names above the chart would take more room than the chart.
    many = len(runs) > 4
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top"} if many else {"traceorder": "normal"},
    )
    return figure


def draw_chunks(
    frame: pl.DataFrame, title: str, names: Mapping[str, str], marks: Mapping[str, Mark], dark: bool
) -> "Figure":
    """Quality by chunk size, a line a method. `frame`: run_id, method, chunk, mean, low, high, n. customdata: [run]."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for (method,), part in frame.sort("chunk").group_by("method", maintain_order=True):
        rows = part.to_dicts()
        mark = mark_of(marks, rows[0]["run_id"])
        reaches = [_reach(row) for row in rows]
        figure.add_scatter(
            x=[row["chunk"] for row in rows],
            y=[row["mean"] for row in rows],
            mode="lines+markers",
            name=plain(method),
            line={"color": mark.colour, "width": 2},
            marker={**mark.marker, "size": 9},
            error_y={
                "type": "data", "symmetric": False, "array": [up for up, _ in reaches],
                "arrayminus": [down for _, down in reaches], "thickness": 1.5, "width": 0, "color": mark.colour,
            },
            customdata=[[row["run_id"]] for row in rows],
            hovertext=[
                f"<b>{plain(names[row['run_id']])}</b><br>{plain(title)} {format_points(row['mean'])}{_interval(row)}"
                f"<br>n {format_count(row['n'])} queries"
                for row in rows
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    sizes = sorted(set(frame["chunk"]))
    figure.update_xaxes(title="characters a chunk", tickvals=sizes, type="log")
    figure.update_yaxes(title=plain(title), range=[0, 101])
    style_figure(figure, dark, height=340, values="y")
    figure.update_layout(showlegend=True)
    return figure


def draw_price(
    frame: pl.DataFrame, price: str, title: str, front: Sequence[str], names: Mapping[str, str],
    marks: Mapping[str, Mark], dark: bool,
) -> "Figure":  # fmt: skip
    """Quality against `search_s` (logarithmic) or `cost_usd`; runs in `front` are beaten by none on both.

    `frame`: run_id, mean, low, high, n, search_s, slow_s, cost_usd. customdata: [run].
    """
    import plotly.graph_objects as go

    colours = palette(dark)
    if price == "search_s":
        # A search can take less than the clock tells; a logarithmic axis has no place for nothing.
        frame = frame.with_columns(pl.col(price).clip(lower_bound=_SHORTEST_S))
    rows = frame.filter(pl.col(price).is_not_null() & pl.col("mean").is_not_null()).sort(price, "run_id").to_dicts()
    tell = format_usd if price == "cost_usd" else format_seconds
    factor = 1.0 if price == "cost_usd" else 1000.0
    figure = go.Figure()
    best = [row for row in rows if row["run_id"] in front]
    figure.add_scatter(
        x=[row[price] * factor for row in best], y=[row["mean"] for row in best], mode="lines", hoverinfo="skip",
        showlegend=False, line={"color": colours.muted, "width": 1.2, "dash": "dot", "shape": "hv"},
    )  # fmt: skip
    for place, row in enumerate(rows):
        mark, (up, down) = mark_of(marks, row["run_id"]), _reach(row)
        slow = f" (95 % under {format_seconds(row['slow_s'])})" if price == "search_s" else ""
        figure.add_scatter(
            x=[row[price] * factor],
            y=[row["mean"]],
            mode="markers+text",
            marker=mark.marker,
            # Of many, only those on the front are named: the others would write over each other.
            text=[plain(names[row["run_id"]]) if len(rows) <= _MOST_NAMES or row["run_id"] in front else ""],
            textposition=_label_place(rows, place),
            textfont={"color": colours.ink, "size": 12},
            error_y={
                "type": "data", "symmetric": False, "array": [up], "arrayminus": [down], "thickness": 1.5, "width": 0,
                "color": mark.colour,
            },
            customdata=[[row["run_id"]]],
            hovertext=f"<b>{plain(names[row['run_id']])}</b><br>{plain(title)} {format_points(row['mean'])}"
            f"{_interval(row)}<br>{tell(row[price])} a query{slow}<br>n {format_count(row['n'])}"
            + ("<br>on the front" if row["run_id"] in front else ""),
            hovertemplate="%{hovertext}<extra></extra>",
            cliponaxis=False,
            showlegend=False,
        )  # fmt: skip
    if price == "cost_usd":
        top = max((row[price] for row in rows), default=0.0)
        # What costs nothing stands clear of the axis, so that it and its name are whole.
        reach = [-0.04 * top, top * 1.25] if top else [-0.1, 1]
        figure.update_xaxes(title="cost of a query, USD", range=reach, tickprefix="$", exponentformat="none")
    else:
        times = [row[price] * factor for row in rows] or [1.0]
        low, high = min(times) / 1.5, max(times) * 1.5
        steps = [step * 10.0**power for power in range(-4, 6) for step in (1, 2, 5)]
        shown = [step for step in steps if low <= step <= high]
        figure.update_xaxes(
            title="search of one query, ms (median, logarithmic)", type="log", tickvals=shown,
            ticktext=[f"{step:g}" for step in shown], range=[math.log10(low), math.log10(high)],
        )  # fmt: skip
    figure.update_yaxes(title=plain(title), range=[0, 104])
    return style_figure(figure, dark, height=380, values="both")


def _label_place(rows: Sequence[Mapping[str, float]], place: int) -> str:
    """Above where a point is the higher one of two neighbours, else below: so their names part."""
    near = rows[place + 1] if place + 1 < len(rows) else rows[place - 1]
    # The first one has the axis at its left.
    side = "right" if place == 0 and len(rows) > 1 else "center"
    if near["mean"] == rows[place]["mean"]:
        return f"{('top', 'bottom')[place % 2]} {side}"
    return f"top {side}" if rows[place]["mean"] > near["mean"] else f"bottom {side}"


def draw_areas(
    frame: pl.DataFrame, areas: Sequence[str], runs: Sequence[str], names: Mapping[str, str], title: str, dark: bool
) -> "Figure":
    """Area against index, hardest area on top. `frame`: run_id, area, mean, low, high, n. customdata: [area, run]."""
    found = {(row["area"], row["run_id"]): row for row in frame.iter_rows(named=True)}
    cells = [[found.get((area, run)) for run in runs] for area in areas]
    most = {area: max(cell["n"] for cell in line if cell) for area, line in zip(areas, cells, strict=True)}
    figure = draw_matrix(
        [f"{area if len(area) <= 34 else f'{area[:33]}…'} ({format_count(most[area])})" for area in areas],
        [names[run] for run in runs],
        [[cell["mean"] if cell else None for cell in line] for line in cells],
        [[format_points(cell["mean"]) if cell else "" for cell in line] for line in cells],
        [
            [
                f"<b>{plain(cell['area'])}</b><br>{plain(names[cell['run_id']])}: {plain(title)} "
                f"{format_points(cell['mean'])}{_interval(cell)}<br>n {format_count(cell['n'])} queries"
                if cell
                else ""
                for cell in line
            ]
            for line in cells
        ],
        [[[cell["area"], cell["run_id"]] if cell else None for cell in line] for line in cells],
        dark,
        low=0.0,
        high=100.0,
    )
    # Method and sizes on lines of their own, word by word where columns are narrow.
    words = [names[run].replace("/", "/ ").split() if len(runs) > 5 else names[run].rsplit(" ", 1) for run in runs]
    figure.update_xaxes(ticktext=["<br>".join(map(plain, each)) for each in words])
    figure.update_layout(height=figure.layout.height + _LINE_PX * (max(map(len, words), default=1) - 1))
    return figure


def draw_kinds(
    frame: pl.DataFrame, where: Mapping[str, str], first: Mapping[str, str], run: str, dark: bool
) -> "Figure":
    """What went wrong in one index: how far (down) against what stood first (across), as counts.

    `frame`: where, first, n, queries. customdata: [where, first, run].
    """
    found = {(row["where"], row["first"]): row for row in frame.iter_rows(named=True)}
    down = [name for name in where if any(key[0] == name for key in found)]
    across = [name for name in first if any(key[1] == name for key in found)]
    top = max((row["n"] for row in found.values()), default=1)
    cells = [[found.get((name, other)) for other in across] for name in down]
    figure = draw_matrix(
        [where[name] for name in down],
        [first[name] for name in across],
        [[cell["n"] if cell else None for cell in line] for line in cells],
        [[format_count(cell["n"]) if cell else "" for cell in line] for line in cells],
        [
            [
                f"{plain(where[cell['where']])}, {plain(first[cell['first']])}<br>{format_count(cell['n'])} of "
                f"{format_count(cell['queries'])} queries, {format_share(cell['n'] / cell['queries'])}"
                if cell
                else ""
                for cell in line
            ]
            for line in cells
        ],
        [[[cell["where"], cell["first"], run] if cell else None for cell in line] for line in cells],
        dark,
        low=0.0,
        high=float(top),
        x_title="what stands first",
        row_px=44,
    )
    figure.update_xaxes(ticktext=[_halve(first[name]) for name in across])
    figure.update_layout(height=figure.layout.height + _LINE_PX)
    return figure


def _halve(name: str) -> str:
    """A label on two lines, broken at the space nearest to its middle."""
    spaces = [place for place, sign in enumerate(name) if sign == " "]
    if len(name) < 12 or not spaces:
        return plain(name)
    cut = min(spaces, key=lambda place: abs(place - len(name) / 2))
    return f"{plain(name[:cut])}<br>{plain(name[cut + 1 :])}"


def draw_gaps(
    frame: pl.DataFrame, title: str, baseline: str, names: Mapping[str, str], marks: Mapping[str, Mark], dark: bool
) -> "Figure":
    """Paired differences from the baseline with intervals and a zero line. `frame` is `read.retrieval.differences`.

    customdata: [run].
    """
    import plotly.graph_objects as go

    rows = frame.filter(pl.col("difference").is_not_null()).sort("difference", "run_id").to_dicts()
    figure = go.Figure()
    for row in rows:
        hover = (
            f"{format_change(row['difference'])} against {plain(baseline)}: {row['verdict']}{_interval(row)}"
            f"<br>{format_count(row['n'])} queries, p {format_p(row['p_corrected'])}, corrected"
            f"<br>{row['wins']} won, {row['ties']} tied, {row['losses']} lost"
        )
        _add_dot(figure, row, "difference", names, marks, dark, hover)
    figure.add_vline(x=0, line={"color": palette(dark).muted, "width": 1.5})
    figure.update_xaxes(title=f"{plain(title)}: difference from {plain(baseline)}")
    return _dress_rows(figure, [row["run_id"] for row in rows], names, dark)


def _add_dot(
    figure: "Figure", row: Mapping[str, Any], key: str, names: Mapping[str, str], marks: Mapping[str, Mark], dark: bool,
    hover: str,
) -> None:  # fmt: skip
    """An index's figure with its interval, on a line of its own."""
    mark = mark_of(marks, row["run_id"])
    up, down = _reach(row, key)
    figure.add_scatter(
        x=[row[key]],
        y=[plain(names[row["run_id"]])],
        mode="markers",
        marker=mark.dot(palette(dark).surface),
        error_x={
            "type": "data", "symmetric": False, "array": [up], "arrayminus": [down], "thickness": 1.5, "width": 4,
            "color": mark.colour,
        },
        customdata=[[row["run_id"]]],
        hovertemplate=f"<b>{plain(names[row['run_id']])}</b><br>{hover}<extra></extra>",
        showlegend=False,
    )  # fmt: skip


def _dress_rows(figure: "Figure", runs: Sequence[str], names: Mapping[str, str], dark: bool) -> "Figure":
    """A row an index, the last on top."""
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=[plain(names[run]) for run in runs],
        tickfont={"color": palette(dark).ink},
        range=[-0.6, len(runs) - 0.3],
    )
    return style_figure(figure, dark, height=_FRAME_PX + _ROW_PX * max(len(runs), 2))
