"""Distinct ways through a procedure as strips of chevrons."""

from typing import TYPE_CHECKING

import polars as pl

from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import palette, plain, style_figure
from cxlab.read.scenarios import Procedure, number

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX = 34
_TIP = 0.18
WORDS = {"sync": "followed", "inserted": "inserted", "skipped": "skipped"}
BADGES = {
    "reference": "✓ the reference",
    "branch": "≈ allowed, but often another branch",
    "impossible": "✕ not a way of this procedure",
}


def badge_of(procedure: Procedure, way: list[str], right: int, n: int) -> str:
    """What a way is: `reference` where it was right more often than not, `branch` where some customer could take it."""
    if not procedure.allows(way):
        return "impossible"
    return "reference" if 2 * right >= n else "branch"


def draw_variants(frame: pl.DataFrame, procedure: Procedure, dark: bool) -> "Figure":
    """The commonest ways, one strip each, coloured by the moves of its alignment. `frame` is `read.paths.variants`.

    Green = followed, red = inserted, grey = skipped; the action stands at the end. customdata: [way joined by ">"].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    looks = {"sync": colours.good, "inserted": colours.bad, "skipped": "#64748b" if dark else "#cbd2dc"}
    polygons: dict[str, tuple[list[float | None], list[float | None]]] = {move: ([], []) for move in looks}
    centres: list[tuple[float, float, str, str, str, list[str]]] = []
    longest = max((len(moves) for moves in frame["moves"]), default=0) + 1
    for row, each in enumerate(frame.iter_rows(named=True)):
        key = [">".join(each["way"])]
        for place, step in enumerate(each["moves"]):
            xs, ys = polygons[step["move"]]
            left, right = place + 0.02, place + 0.96
            xs += [left, right - _TIP, right, right - _TIP, left, left + _TIP * 0.8, left, None]
            ys += [row - 0.3, row - 0.3, row, row + 0.3, row + 0.3, row, row - 0.3, None]
            ink = colours.ink if step["move"] == "skipped" else "#ffffff"
            told = f"{plain(procedure.name(step['stage']))}: {WORDS[step['move']]}"
            centres.append((place + 0.5, row, number(step["stage"]), ink, told, key))
        action, due = each["way"][-1], each["wanted"][-1]
        sign = "✓" if action == due else "✕"
        told = f"action {plain(action)}" + ("" if action == due else f", expected {plain(due)}")
        told += f"<br>{format_count(each['n'])} turns, {format_share(each['share'])}"
        centres.append((longest + 0.05, row, f"{sign} {plain(action)}", colours.ink, told, key))
    figure = LazyFigure()
    for move, (px, py) in polygons.items():
        if px:
            figure.add_scatter(
                x=px, y=py, mode="lines", fill="toself", fillcolor=looks[move], line={"width": 0}, name=WORDS[move],
                hoverinfo="skip", marker={"color": looks[move]},
            )  # fmt: skip
    steps = [each for each in centres if each[0] <= longest]
    ends = [each for each in centres if each[0] > longest]
    for marks, anchor, size in ((steps, "middle center", 20), (ends, "middle right", 4)):
        figure.add_scatter(
            x=[x for x, *_ in marks],
            y=[y for _, y, *_ in marks],
            mode="markers+text",
            marker={"size": size, "opacity": 0},
            text=[text for _, _, text, *_ in marks],
            textposition=anchor,
            textfont={"color": [ink for _, _, _, ink, *_ in marks], "size": 12},
            hovertext=[told for *_, told, _ in marks],
            hovertemplate="%{hovertext}<extra></extra>",
            customdata=[key for *_, key in marks],
            selected={"marker": {"opacity": 0}},
            unselected={"marker": {"opacity": 0}},
            cliponaxis=False,
            showlegend=False,
        )
    names = [f"{format_count(n)} · {format_share(share)}" for n, share in frame.select("n", "share").iter_rows()]
    figure.update_xaxes(range=[0, longest + 2.6], visible=False)
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.5, -0.6],
        tickfont={"color": colours.ink},
    )
    return style_figure(figure, dark, height=40 + _ROW_PX * max(frame.height, 2), values="none")
