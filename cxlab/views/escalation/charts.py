"""The rule about handing over, version by version: how often judges are wrong, and which verdicts changed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.matrix import name_judge
from cxlab.charts.numbers import format_count, format_p, format_ratio, format_share
from cxlab.charts.theme import palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX, _FRAME_PX, _GAP = 24, 112, 0.6
KINDS = {"wrong": "wrong", "alarm": "false alarms", "miss": "misses"}
_UNDER = {"wrong": "of all", "alarm": "where nobody was needed", "miss": "where a person was needed"}


def draw_rates(frame: pl.DataFrame, floors: Mapping[str, float], dark: bool) -> "Figure":
    """Wrong verdicts, false alarms and misses side by side, judges as bands, their versions from top to bottom.

    `frame` is `read.escalation.rates`; the last version is drawn in full, earlier ones open. `floors` are dashed lines
    in the first panel, name -> share. customdata is [judge, version].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.sort("judge", "version").to_dicts()
    last = max((row["version"] for row in rows), default=0)
    places, place, ticks = [], 0.0, []
    for position, row in enumerate(rows):
        if position and row["judge"] != rows[position - 1]["judge"]:
            place -= _GAP
        place -= 1.0
        places.append(place)
        first = not position or row["judge"] != rows[position - 1]["judge"]
        # The name once a judge, so that the eye finds the bands.
        ticks.append((f"<b>{plain(name_judge(row['judge']))}</b>  " if first else "") + f"v{row['version']}  ")
    figure = LazyFigure()
    colour = {"wrong": colours.accent, "alarm": colours.warning, "miss": colours.bad}
    symbol = {"wrong": "circle", "alarm": "triangle-up", "miss": "triangle-down"}
    for number, kind in enumerate(KINDS, 1):
        known = [(row, at) for row, at in zip(rows, places, strict=True) if row[f"{kind}_share"] is not None]
        axis = "x" if number == 1 else f"x{number}"
        for judge in dict.fromkeys(row["judge"] for row, _ in known):
            own = [(row[f"{kind}_share"], at) for row, at in known if row["judge"] == judge]
            figure.add_scatter(
                x=[100 * value for value, _ in own], y=[at for _, at in own], xaxis=axis, mode="lines",
                line={"color": colours.hairline, "width": 2}, hoverinfo="skip", showlegend=False,
            )  # fmt: skip
        figure.add_scatter(
            x=[100 * row[f"{kind}_share"] for row, _ in known],
            y=[at for _, at in known],
            xaxis=axis,
            mode="markers",
            showlegend=False,
            marker={
                "symbol": symbol[kind], "size": 10,
                "color": [colour[kind] if row["version"] == last else colours.surface for row, _ in known],
                "line": {"width": 2, "color": colour[kind]},
            },
            error_x={
                "type": "data", "symmetric": False, "thickness": 1.5, "width": 0, "color": colour[kind],
                "array": [100 * (row[f"{kind}_high"] - row[f"{kind}_share"]) for row, _ in known],
                "arrayminus": [100 * (row[f"{kind}_share"] - row[f"{kind}_low"]) for row, _ in known],
            },
            customdata=[[row["judge"], row["version"]] for row, _ in known],
            hovertext=[_say(row, kind) for row, _ in known],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(
        tickvals=places,
        ticktext=ticks,
        range=[min(places, default=-1.0) - 0.7, -0.3],
        tickfont={"color": colours.ink, "size": 12},
    )
    style_figure(figure, dark, height=_FRAME_PX + int(_ROW_PX * -min(places, default=-1.0)))
    axes: dict[str, Any] = {}
    for number, kind in enumerate(KINDS, 1):
        highs = [row[f"{kind}_high"] for row in rows if row[f"{kind}_high"] is not None]
        lines = list(floors.values()) if kind == "wrong" else []
        top = 100 * max([*highs, *lines, 0.05])
        axes["xaxis" if number == 1 else f"xaxis{number}"] = {
            "domain": [(number - 1) * 0.345, (number - 1) * 0.345 + 0.31], "anchor": "y", "showgrid": True,
            "range": [-0.03 * top, 1.04 * top], "nticks": 6, "zeroline": True, "zerolinecolor": colours.hairline,
            "title": {"text": f"{KINDS[kind]}, %<br>{_UNDER[kind]}"},
        }  # fmt: skip
    shapes = [
        {"type": "line", "xref": "x", "yref": "paper", "x0": 100 * value, "x1": 100 * value, "y0": 0, "y1": 1,
         "layer": "below", "line": {"color": colours.muted, "width": 1.5, "dash": "dash"}}
        for value in floors.values()
    ]  # fmt: skip
    notes = [
        {"xref": "x", "yref": "paper", "x": 100 * value, "y": 1, "yanchor": "bottom", "xanchor": "center",
         "text": plain(name), "showarrow": False, "font": {"size": 11, "color": colours.muted}}
        for name, value in floors.items()
    ]  # fmt: skip
    figure.update_layout(**axes, shapes=shapes, annotations=notes, margin={"l": 8, "r": 16, "t": 28, "b": 8})
    return figure


def draw_steps(frame: pl.DataFrame, dark: bool) -> "Figure":
    """Verdicts mended (to the right) and broken (to the left) from version to version; `frame` is
    `read.escalation.steps`. customdata is [judge, before, after]."""
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.to_dicts()
    labels = [f"{plain(name_judge(row['judge']))} v{row['before']} → v{row['after']}  " for row in rows]
    figure = LazyFigure()
    for became, sign, colour, words in (
        ("broken", -1, colours.bad, "◀ broken: right before, wrong after"),
        ("mended", 1, colours.good, "mended: wrong before, right after ▶"),
    ):
        figure.add_bar(
            x=[sign * row[became] for row in rows],
            y=labels,
            orientation="h",
            name=words,
            marker={"color": colour},
            text=[str(row[became]) if row[became] else "" for row in rows],
            textposition="outside",
            cliponaxis=False,
            customdata=[[row["judge"], row["before"], row["after"]] for row in rows],
            hovertext=[_say_step(row) for row in rows],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    most = max([1, *(row[name] for row in rows for name in ("mended", "broken"))])
    figure.update_xaxes(range=[-1.18 * most, 1.18 * most], title="conversations", zeroline=True, nticks=7)
    figure.update_yaxes(categoryorder="array", categoryarray=labels[::-1], tickfont={"color": colours.ink})
    style_figure(figure, dark, height=_FRAME_PX + 28 * max(len(rows), 2))
    figure.update_layout(barmode="relative", legend={"traceorder": "normal"})
    return figure


def _say(row: Mapping[str, Any], kind: str) -> str:
    return (
        f"<b>{plain(name_judge(row['judge']))}, version {row['version']}</b><br>"
        f"{KINDS[kind]} {format_share(row[f'{kind}_share'])}: {format_count(row[kind])} of "
        f"{format_count(row[f'{kind}_n'])} {_UNDER[kind].removeprefix('of all')}<br>"
        f"95 % interval {format_share(row[f'{kind}_low'])} to {format_share(row[f'{kind}_high'])}<br>"
        f"correlation with the truth (MCC) {format_ratio(row['mcc'])}; {format_count(row['unread'])} could not be read"
    )


def _say_step(row: Mapping[str, Any]) -> str:
    p = "" if row["p_holm"] is None else f"<br>p {format_p(row['p'])}, corrected {format_p(row['p_holm'])}"
    return (
        f"<b>{plain(name_judge(row['judge']))}, version {row['before']} to {row['after']}</b><br>"
        f"{row['mended']} mended, {row['broken']} broken, {row['moved']} from one wrong verdict to another, "
        f"{format_count(row['kept'])} stayed{p}<br>n {format_count(row['n'])} conversations"
    )
