"""Dots with whiskers in bands: several models side by side, group by group."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cxlab.charts.numbers import format_decimals
from cxlab.charts.theme import BUTTON_PX, PUBLISHED, Mark, Palette, mark_of, palette, plain, short_model, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Below the last the title of the axis would come upon the ticks.
_ROW_PX, _FRAME_PX, _LEAST_PX, _LEAST_ALL_PX = 16, 58, 36, 54
_LONGEST_NAME = 28
# A dot that lies in the better part of the axis, or of what is drawn where nobody said how the axis ends, has its name
# on the left.
_TURN = 0.6
# Beyond the ends of an axis that is given half a dot, else some air.
_RIM, _PAD = 0.012, 0.03
_STEPS = 40
_LETTER = 0.012
"""Of what is drawn: the width of a letter of a name, on a narrow page."""


def draw_dots(
    rows: Sequence[Mapping[str, Any]],
    groups: Sequence[str],
    models: Sequence[str],
    names: Mapping[str, str],
    marks: Mapping[str, Mark],
    dark: bool,
    digits: int = 1,
    axis: tuple[float, float] | None = None,
) -> "Figure":
    """One band a group, first on top, and one line a model in it, with its name and value beside it where there are
    several. Each row has model, group, value, low, high, hover; and `faint` where it is drawn in grey;
    `least_only` where the value is the least it can be and the whisker ends at the most, in grey as well.

    `names` of groups may hold <br>; `digits` of values and of the intervals in hovers; `axis`: the ends that the axis
    has at least, beyond which there are no ticks; customdata: [group, model].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    figure = LazyFigure()
    middle = {group: len(groups) - place for place, group in enumerate(groups)}
    step = 0.8 / max(len(models), 1)
    ends = [end for row in rows for end in _ends(row)]
    first, last = min(ends, default=0.0), max(ends, default=1.0)
    begin, end = sorted(axis or (first, last))
    outward: list[tuple[float, float]] = []
    for place, model in enumerate(models):
        mark = mark_of(marks, model)
        own = [row for row in rows if row["model"] == model and row["group"] in middle]
        for faint in (False, True):
            part = [row for row in own if _is_faint(row) is faint]
            if not part:
                continue
            look = replace(mark, colour=colours.muted, simulated=True) if faint else mark
            figure.add_scatter(
                x=[row["value"] for row in part],
                y=[middle[row["group"]] + 0.4 - step * (place + 0.5) for row in part],
                mode="markers",
                name=name_of(model),
                marker={**look.marker, "size": 7 if faint else 9, "opacity": 0.6 if faint else 1},
                error_x={
                    "type": "data", "symmetric": False, "thickness": 1.5, "width": 0,
                    "color": colours.muted if part[0].get("least_only") else colours.hairline if faint else mark.colour,
                    "array": [0 if row["high"] is None else row["high"] - row["value"] for row in part],
                    "arrayminus": [0 if row["low"] is None else row["value"] - row["low"] for row in part],
                },
                customdata=[[row["group"], model] for row in part],
                hovertext=[f"<b>{name_of(model)}</b><br>{row['hover']}{_say_interval(row, digits)}" for row in part],
                hovertemplate="%{hovertext}<extra></extra>",
                showlegend=False,
            )  # fmt: skip
        if len(models) > 1:
            heights = [middle[row["group"]] + 0.4 - step * (place + 0.5) for row in own]
            outward += _write_names(figure, model, own, heights, (begin, end), digits, colours)
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
    figure.update_layout(shapes=rules, margin={"r": BUTTON_PX})
    if end > begin:
        # Plotly leaves no room for names of its own accord.
        low, high = _make_room(begin, end, outward)
        pad = (_RIM if axis else _PAD) * (high - low)
        figure.update_xaxes(range=[low - pad, high + pad])
        if axis and (low, high) != (begin, end):
            figure.update_xaxes(tickvals=_ticks(begin, end))
    return figure


def _write_names(
    figure: "Figure",
    model: str,
    rows: Sequence[Mapping[str, Any]],
    heights: Sequence[float],
    axis: tuple[float, float],
    digits: int,
    colours: Palette,
) -> list[tuple[float, float]]:
    """The model's name and value beside each of its dots; where each text begins, with its letters as `_make_room`
    takes them."""
    begin, end = axis
    turn = begin + _TURN * (end - begin)
    # On the left only where there is more room than on the right, or names would run into those of the bands.
    left = [_ends(row)[1] > turn and _ends(row)[0] - begin >= end - _ends(row)[1] for row in rows]
    # Set apart, or a name from right to left would turn the sign of its value round.
    figures = [("≥ " if row.get("least_only") else "") + format_decimals(row["value"], digits) for row in rows]
    texts = [f"\xa0\xa0\u2068{short_name(model)}\u2069 {each}\xa0\xa0" for each in figures]
    figure.add_scatter(
        x=[_ends(row)[0 if on_left else 1] for row, on_left in zip(rows, left, strict=True)],
        y=heights,
        mode="text",
        text=texts,
        textposition=["middle left" if on_left else "middle right" for on_left in left],
        textfont={"color": [colours.muted if _is_faint(row) else colours.ink for row in rows], "size": 12},
        hoverinfo="skip",
        cliponaxis=False,
        showlegend=False,
    )
    outward: list[tuple[float, float]] = []
    for row, on_left, text in zip(rows, left, texts, strict=True):
        letters = len(text) - 2  # the marks that set the name apart take no room
        outward.append((_ends(row)[0], -letters) if on_left else (_ends(row)[1], letters))
    return outward


def _make_room(begin: float, end: float, outward: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The ends of an axis on which each text fits: `outward` are where texts begin, and their letters, negative to the
    left. A letter takes more of a longer axis, so that what is needed is come upon in steps."""
    low, high = begin, end
    for _ in range(_STEPS):
        letter = _LETTER * (high - low)
        reached = [at + letters * letter for at, letters in outward]
        low, high = min([begin, *reached]), max([end, *reached])
    return low, high


def _ticks(begin: float, end: float) -> list[float]:
    """Round values from one end to the other: where there is room for names alone, there is no value."""
    rough = (end - begin) / 5
    ten = 10.0 ** math.floor(math.log10(rough))
    step = next(size * ten for size in (1, 2, 2.5, 5, 10) if size * ten >= rough * 0.999)
    return [round(n * step, 10) for n in range(math.ceil(begin / step - 1e-9), math.floor(end / step + 1e-9) + 1)]


def _ends(row: Mapping[str, Any]) -> tuple[float, float]:
    """Where the whisker of a row begins and ends."""
    return (row["value"] if row["low"] is None else row["low"], row["value"] if row["high"] is None else row["high"])


def short_name(model: str) -> str:
    """A model's short name, cut where it is long: for a label inside a chart."""
    return shorten(short_model(model))


def shorten(name: str) -> str:
    """A name, cut where it is long, safe for a label inside a chart."""
    return plain(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…")


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


def add_floors(figure: "Figure", floors: Sequence[tuple[str, float]], dark: bool, axis: str = "y") -> None:
    """Constant agents (name, value) as dotted lines across the whole chart, each with its name at its line; `axis` is
    the one that has the values."""
    colours = palette(dark)
    other = "x" if axis == "y" else "y"
    for name, value in floors:
        figure.add_shape(
            **{"type": "line", f"{axis}0": value, f"{axis}1": value, f"{axis}ref": axis, f"{other}0": 0,
               f"{other}1": 1, f"{other}ref": "paper", "layer": "below",
               "line": {"color": colours.muted, "width": 1.5, "dash": "dot"}}
        )  # fmt: skip
        along = {"x": 0, "xref": "paper", "xanchor": "left", "y": value, "yanchor": "bottom"}
        above = {"x": value, "xanchor": "center", "y": 1, "yref": "paper", "yanchor": "bottom"}
        figure.add_annotation(
            **(along if axis == "y" else above), showarrow=False, text=f"{plain(name)} {value:.1f}",
            font={"size": 12, "color": colours.muted},
        )  # fmt: skip


def add_names(
    figure: "Figure", ends: Sequence[tuple[str, str, Any, float]], to: Any, apart: float, top: float, dark: bool
) -> None:
    """The name of each line beside its end, `ends` as (name, colour, x, y): at `to` on the x axis, `apart` from each
    other at least and none above `top`, so that there is no legend to look up."""
    order = sorted(ends, key=lambda end: end[3])
    heights = spread([y for *_, y in order], apart, top)
    for (name, colour, x, y), height in zip(order, heights, strict=True):
        figure.add_scatter(
            x=[x, to],
            y=[y, height],
            mode="lines+text",
            # Dotted, so that it is not read as the line going on.
            line={"color": colour, "width": 1, "dash": "dot"},
            text=["", f" {shorten(name)}"],
            textposition="middle right",
            textfont={"color": palette(dark).ink, "size": 12},
            hoverinfo="skip",
            cliponaxis=False,
            showlegend=False,
        )


def spread(values: Sequence[float], apart: float, top: float = math.inf) -> list[float]:
    """Rising values moved so that neighbours are `apart` at least, each group of them around its own middle; none above
    `top`."""
    groups: list[list[float]] = []
    for value in values:
        groups.append([value])
        while len(groups) > 1 and _edge(groups[-1], apart, -1) - _edge(groups[-2], apart, 1) < apart:
            last = groups.pop()
            groups[-1] += last
    moved = [_edge(group, apart, -1) + apart * place for group in groups for place in range(len(group))]
    return [min(value, top - apart * (len(moved) - 1 - place)) for place, value in enumerate(moved)]


def _edge(group: Sequence[float], apart: float, side: int) -> float:
    """Where the lowest (-1) or highest (1) of a group comes to lie."""
    return sum(group) / len(group) + side * apart * (len(group) - 1) / 2


def _say_interval(row: Mapping[str, Any], digits: int) -> str:
    """As `interval_words`; where nothing was tested the hover says so itself."""
    if row.get("least_only") or (row.get("faint") and row["low"] is None):
        return ""
    return interval_words(row, digits)


def _is_faint(row: Mapping[str, Any]) -> bool:
    return bool(row.get("faint") or row.get("least_only"))


def interval_words(row: Mapping[str, Any], digits: int = 1) -> str:
    """The interval of a row for its hover; says so where there is none."""
    if row["low"] is None:
        return "<br>no interval: fewer than two samples"
    return f"<br>95 % interval {row['low']:.{digits}f} to {row['high']:.{digits}f}"


def name_of(model: str) -> str:
    """A model's short name, safe for a label of a chart."""
    return plain(short_model(model))
