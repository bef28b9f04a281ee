"""Groups of alike failures: what they are called, and how many there are as bars that can be clicked."""

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.failure_names import describe_group, say_doing, say_size
from cxlab.charts.numbers import format_count, format_points, format_share, largest
from cxlab.charts.theme import palette, plain, short_model, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Of a bar, and of each line of words above it.
_BAR_PX = 26
_LINE_PX = 18
_FRAME_PX = 16
# Characters beside each other at 1024 pixels.
_LINE = 108


def say_typical(row: Mapping[str, Any]) -> str:
    """By what an attempt of `failures.typical` stands for its group: "Typical: 6 turns, 2 failures, 40.0 points lost;
    the group's medians are 6, 2 and 38.5, and no other one is nearer to them.". Of what all have alike nothing. Where
    the verdict of some alone stands on the group, that it is one of these."""
    some = 0 < row["deciding"] < row["many"]
    told = [name for name in _MIDDLES if row[f"reach_{name}"] or (row[f"mid_{name}"] is not None and row[name] is None)]
    if not told:
        alike = [words[1] for name, words in _MIDDLES.items() if row[f"mid_{name}"] is not None]
        alike_in = " and ".join(filter(None, (", ".join(alike[:-1]), *alike[-1:])))
        any_one = "any of them on which its verdict stands" if some else "any of them"
        return f"All of this group are alike in {alike_in}, so {any_one} stands for it."
    own = ", ".join("no score" if row[name] is None else _write_middle(name, row[name], True) for name in told)
    *first, last = [_write_middle(name, row[f"mid_{name}"]) for name in told]
    middles = f"medians are {', '.join(first)} and {last}" if first else f"median is {last}"
    other = f"of the {format_count(row['deciding'])} on which the verdict stands no other" if some else "no other one"
    return f"Typical: {own}; the group's {middles}, and {other} is nearer to {'them' if first else 'it'}."


_MIDDLES = {"turns": ("turn", "turns"), "failures": ("failure", "failures"), "lost": ("point lost", "points lost")}


def _write_middle(name: str, value: float, named: bool = False) -> str:
    words = format_points(value) if name == "lost" or value % 1 else format_count(int(value))
    return f"{words} {_MIDDLES[name][value != 1]}" if named else words


def say_lost(row: Mapping[str, Any], things: tuple[str, str], whole: float | None = None) -> str:
    """The points that a group's attempts lost: "402 points lost", "402 of all 950 points lost" (`whole`); over how many
    where not all are scored."""
    if row["lost"] is None:
        return "points lost unknown"
    of = "" if whole is None else f" of all {format_points(whole)}"
    told = f"{format_points(row['lost'])}{of} points lost"
    if row["scored"] == row["attempts"]:
        return told
    return f"{told} in the {format_count(row['scored'])} scored {things[row['scored'] != 1]}"


def say_total(row: Mapping[str, Any], things: tuple[str, str]) -> str:
    """All points lost, and whether the groups add up to them: those of an attempt in several groups count in each;
    "" where no points are told."""
    whole, added = row["lost_in_all"], row["lost_in_groups"]
    if whole is None:
        return ""
    told = f"{format_points(whole)} points are lost in all"
    if format_points(whole) == format_points(added):
        return f"{told}, and the groups add up to it. "
    return (
        f"{told}; the groups add up to {format_points(added)}, as {things[1]} that failed in several ways count in "
        "each of their groups. "
    )


def _lines(words: tuple[str, str], doing: str) -> tuple[list[str], list[str]]:
    """What stands above a bar in lines of 1024 pixels: what happened; and where, and whose doing it was."""
    # Whose doing stays in one line.
    about = " · ".join(filter(None, (words[1], doing.replace(" ", "\u00a0"))))
    # Two bars that differ in the last word must not look alike, so nothing is cut but what no window could hold.
    what = textwrap.wrap(words[0], _LINE, max_lines=3, placeholder="…")
    return what, textwrap.wrap(about, _LINE, max_lines=6, placeholder="…")


def draw_groups(
    frame: pl.DataFrame, dark: bool, titles: Mapping[str, str], things: tuple[str, str], by_points: bool = False
) -> "Figure":
    """One bar a group of `failures.groups`, largest on top, as long as attempts are many, or as points were lost
    (`by_points`), its words above it; customdata of a bar is [alike].

    `titles` of tasks; `things`: what an attempt is called, and several.
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.reverse()
    places = list(range(rows.height))
    words = [describe_group(row, titles) for row in rows.iter_rows(named=True)]
    told = list(rows.iter_rows(named=True))
    sizes = [f"{say_size(row['n'], row['attempts'], things)} · {format_share(row['share'])}" for row in told]
    if by_points:
        sizes = [f"{say_lost(row, things)} · {say_size(row['n'], row['attempts'], things)}" for row in told]
    long = rows["lost"].fill_null(0.0) if by_points else rows["attempts"]
    hovers = [
        f"<b>{plain(what)}</b><br>{plain(where)}<br>{say_doing(row)}<br>"
        f"{size} of {format_count(row['of_attempts'])}<br>"
        f"{plain(', '.join(short_model(model) for model in row['models']))}"
        for (what, where), row, size in zip(words, told, sizes, strict=True)
    ]
    lines = [_lines(each, say_doing(row)) for each, row in zip(words, told, strict=True)]
    counts = [len(what) + len(where) for what, where in lines]
    tall = max(counts, default=1)
    row_px = _BAR_PX + _LINE_PX * tall
    top = largest(long, 1)
    figure = LazyFigure()
    # All of a row answers to a click, its words, too, and not the thin bar alone.
    figure.add_bar(
        x=[top * 1.35] * rows.height,
        y=[place + 0.35 for place in places],
        orientation="h",
        width=0.96,
        marker={"color": "rgba(0,0,0,0)", "line": {"width": 0}},
        customdata=[[alike] for alike in rows["alike"]],
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    figure.add_bar(
        x=long.to_list(),
        y=places,
        orientation="h",
        width=12 / row_px,
        marker={"color": colours.accent, "line": {"width": 0}},
        customdata=[[alike] for alike in rows["alike"]],
        text=sizes,
        textposition="outside",
        textfont={"color": colours.ink, "size": 12},
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )
    figure.add_scatter(
        x=[0] * rows.height,
        y=[place + (10 + _LINE_PX * count / 2) / row_px for place, count in zip(places, counts, strict=True)],
        mode="text",
        text=[
            "<br>".join(
                [*map(plain, what), *(f"<span style='color:{colours.muted}'>{plain(line)}</span>" for line in where)]
            )
            for what, where in lines
        ],
        textposition="middle right",
        textfont={"color": colours.ink, "size": 12.5},
        customdata=[[alike] for alike in rows["alike"]],
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
        cliponaxis=False,
    )
    # Each bar says its number, so an axis would say it twice.
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(range=[0, top * 1.35], visible=False)
    figure.update_yaxes(showticklabels=False, range=[-0.3, rows.height - 0.05])
    return style_figure(figure, dark, values="none", height=_FRAME_PX + row_px * max(rows.height, 2))
