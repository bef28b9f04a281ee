"""What personas, exposure and voice do to a figure: dots with whiskers, floors and published cells for reference."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.dots import add_published, draw_dots
from cxlab.charts.numbers import format_count, format_p
from cxlab.charts.theme import Mark, palette, plain

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_DASHES = ("dot", "dash", "dashdot")
_ENDS = ("value", "low", "high")
_SIGNS = {"better": "✓", "worse": "✕", "cannot tell": "?"}


def draw_results(
    frame: pl.DataFrame,
    title: str,
    groups: Mapping[str, str],
    marks: Mapping[str, Mark],
    dark: bool,
    *,
    floors: pl.DataFrame,
    published: pl.DataFrame,
    shares: bool,
    percent: bool = False,
    digits: int | None = None,
) -> "Figure":
    """One figure by group and side with its 95 % interval.

    `frame`: side, grp, value, low, high, n, tasks; `groups`: names of the bands, in order. `floors` (grp, value, name,
    whole) as broken lines across the band, `published` (grp, entity, value, source) as grey diamonds below it.
    Where `frame` has `least` and `most` of a row, it is drawn from the one to the other and has no mean.
    `shares`: the axis runs from 0 to 1 at least; `percent`: drawn as percentages. customdata: [group, side].
    """
    scale, usual = (100.0, 1) if percent else (1.0, 3)
    digits = usual if digits is None else digits
    if "least" in frame.columns:
        bounds = {"value": "least", "low": "least", "high": "most"}
        frame = frame.with_columns(pl.coalesce(bound, name).alias(name) for name, bound in bounds.items())
    frame = frame.with_columns(pl.col(_ENDS) * scale)
    floors, published = (each.with_columns(pl.col("value") * scale) for each in (floors, published))
    unit = " %" if percent else ""
    shown = frame.filter(pl.col("value").is_not_null(), pl.col("grp").is_in(list(groups)))
    bands = [group for group in groups if group in {*shown["grp"], *floors["grp"]}]
    sides = [side for side in marks if side in set(shown["side"])]
    rows = [
        {
            **row,
            "model": row["side"],
            "group": row["grp"],
            "least_only": row.get("least") is not None,
            "hover": f"{plain(groups[row['grp']].partition('<br>')[0])}<br>{plain(title)} "
            f"{_say_value(row, digits)}{unit}"
            f"<br>n {format_count(row['n'])} of {format_count(row['tasks'])} tasks",
        }
        for row in shown.iter_rows(named=True)
    ]
    told = published.filter(pl.col("grp").is_in(bands))
    ends = [value for name in _ENDS for value in shown[name]] + told["value"].to_list() + floors["value"].to_list()
    known = [value for value in ends if value is not None]
    if shares:
        known += [0.0, scale]
    # Floors and published figures may lie beyond our own.
    axis = (min(known), max(known)) if known else None
    figure = draw_dots(rows, bands, sides, groups, marks, dark, digits=digits, axis=axis)
    colours = palette(dark)
    middle = {group: len(bands) - place for place, group in enumerate(bands)}
    for place, name in enumerate(floors["name"].unique(maintain_order=True)):
        own = floors.filter(pl.col("name") == name, pl.col("grp").is_in(bands))
        x: list[float | None] = []
        y: list[float | None] = []
        hovers: list[str] = []
        for group, value, whole in own.select("grp", "value", "whole").iter_rows():
            x += [value, value, None]
            y += [middle[group] - 0.44, middle[group] + 0.44, None]
            hovers += [
                f"<b>{plain(name)}</b>, a floor<br>{plain(title)} {value:.{digits}f}{unit}"
                + ("" if whole else "<br>of the parts that it has")
            ] * 3
        figure.add_scatter(
            x=x, y=y, mode="lines", name=f"floor: {plain(name)}", hovertext=hovers,
            hovertemplate="%{hovertext}<extra></extra>",
            line={"color": colours.muted, "width": 1.8, "dash": _DASHES[place % len(_DASHES)]},
        )  # fmt: skip
    if told.height:
        hovers = [
            f"<b>{plain(entity)}</b><br>{plain(title)} {value:.{digits}f}{unit}<br>published: {plain(source)}"
            "<br>other data and judges, not paired"
            for entity, value, source in told.select("entity", "value", "source").iter_rows()
        ]
        add_published(figure, told["value"].to_list(), [middle[group] - 0.4 for group in told["grp"]], hovers, dark)
    figure.update_xaxes(title=plain(title) + (", %" if percent else ""))
    figure.update_layout(showlegend=len(sides) > 1 or floors.height > 0 or told.height > 0)
    return figure


def _say_value(row: Mapping[str, Any], digits: int) -> str:
    if row.get("least") is None:
        return f"{row['value']:.{digits}f}"
    return (
        f"at least {row['low']:.{digits}f}, at most {row['high']:.{digits}f}:<br>"
        f"{100 * row['undecided']:.0f} % undecided, no judge says"
    )


def draw_differences(
    frame: pl.DataFrame,
    title: str,
    names: Mapping[str, str],
    marks: Mapping[str, Mark],
    dark: bool,
    *,
    percent: bool = False,
) -> "Figure":
    """Paired differences with 95 % intervals around a zero line, one band a comparison.

    `frame`: side, pair, difference, low, high, p_corrected, n, verdict; `names` of the pairs, in order; `percent`:
    drawn in percentage points. customdata: [pair, side].
    """
    scale, digits = (100.0, 1) if percent else (1.0, 3)
    frame = frame.with_columns(pl.col("difference", "low", "high") * scale)
    known = frame.filter(pl.col("difference").is_not_null())
    pairs = [pair for pair in names if pair in set(known["pair"])]
    sides: Sequence[str] = [side for side in marks if side in set(known["side"])]
    rows = [
        {
            **row,
            "model": row["side"],
            "group": row["pair"],
            "value": row["difference"],
            "hover": f"{plain(names[row['pair']])}<br>{plain(title)} {row['difference']:+.{digits}f}: "
            f"{_SIGNS.get(row['verdict'], '')} {row['verdict']}<br>{format_count(row['n'])} pairs, p "
            + ("unknown" if row["p_corrected"] is None else f"{format_p(row['p_corrected'])} corrected"),
        }
        for row in known.iter_rows(named=True)
    ]
    ends = [end for row in rows for end in (row["low"], row["high"], row["difference"]) if end is not None]
    axis = (min([0.0, *ends]), max([0.0, *ends]))
    figure = draw_dots(rows, pairs, sides, names, marks, dark, digits=digits, axis=axis)
    figure.add_vline(x=0, line={"color": palette(dark).muted, "width": 1.5})
    figure.update_xaxes(title=f"{plain(title)}: difference on the same tasks{', points' if percent else ''}")
    return figure
