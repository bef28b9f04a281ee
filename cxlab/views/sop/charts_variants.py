"""Distinct ways through a procedure as strips of chevrons."""

from typing import TYPE_CHECKING

import polars as pl

from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import palette, plain, style_figure
from cxlab.records.procedure import Procedure, number

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX = 34
_TIP = 0.18
WORDS = {"followed": "due there", "inserted": "not due there", "skipped": "due and left out"}
BADGES = {
    "reference": "✓ mostly due",
    "branch": "≈ allowed, but mostly another way was due",
    "impossible": "✕ not a way of this procedure",
}


def badge_of(procedure: Procedure, way: list[str], right: int, n: int) -> str:
    """What a way is: `reference` where it was right more often than not, `branch` where some customer could take it."""
    if not procedure.allows(way):
        return "impossible"
    return "reference" if 2 * right >= n else "branch"


def draw_variants(frame: pl.DataFrame, procedure: Procedure, dark: bool) -> "Figure":
    """The commonest ways, one strip each, coloured by what was due in each turn. `frame` is `queries.variants`.

    Of each stage the green part is the share of turns in which it was due there, the red part of those in which it was
    not; grey at the end: stages that were due and left out, in a twentieth of the turns at least. The action stands
    behind, with how often it was the right one. customdata: [way joined by ">"].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    looks = {"followed": colours.good, "inserted": colours.bad, "skipped": "#64748b" if dark else "#cbd2dc"}
    polygons: dict[str, tuple[list[float | None], list[float | None]]] = {kind: ([], []) for kind in looks}
    centres: list[tuple[float, float, str, str, str, list[str]]] = []
    ends: list[tuple[float, float, str, str, str, list[str]]] = []
    shown = [[each for each in row["skipped"] if each["n"] >= row["n"] / 20] for row in frame.iter_rows(named=True)]
    longest = max((len(way) - 1 + len(left) for way, left in zip(frame["way"], shown, strict=True)), default=0) + 1
    for row, (each, left) in enumerate(zip(frame.iter_rows(named=True), shown, strict=True)):
        key, n = [">".join(each["way"])], each["n"]
        for place, step in enumerate(each["steps"]):
            share = step["followed"] / n
            split = -0.3 + 0.6 * share
            _add(polygons["followed"], place, row, -0.3, split)
            _add(polygons["inserted"], place, row, split, 0.3)
            told = f"{plain(procedure.name(step['stage']))}: due in {_of(step['followed'], n)}"
            centres.append((place + 0.5, row, number(step["stage"]), "#ffffff", told, key))
        for place, gone in enumerate(left, len(each["steps"])):
            _add(polygons["skipped"], place, row, -0.2, 0.2)
            told = f"{plain(procedure.name(gone['stage']))}: due and left out in {_of(gone['n'], n)}"
            centres.append((place + 0.5, row, number(gone["stage"]), colours.ink, told, key))
        action = each["way"][-1]
        sign = "✓" if each["acted"] == n else "✕" if not each["acted"] else f"{100 * each['acted'] / n:.0f} %"
        told = f"action {plain(action)}: due in {_of(each['acted'], n)}<br>the way: due in {_of(each['right'], n)}"
        ends.append((longest + 0.05, row, f"{sign} {plain(action)}", colours.ink, told, key))
    figure = LazyFigure()
    for kind, (px, py) in polygons.items():
        if px:
            figure.add_scatter(
                x=px, y=py, mode="lines", fill="toself", fillcolor=looks[kind], line={"width": 0}, name=WORDS[kind],
                hoverinfo="skip", marker={"color": looks[kind]},
            )  # fmt: skip
    for marks, anchor, size in ((centres, "middle center", 20), (ends, "middle right", 4)):
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


def _add(
    polygon: tuple[list[float | None], list[float | None]], place: int, row: int, top: float, bottom: float
) -> None:
    """The part of a chevron between two heights (-0.3 to 0.3 about its row)."""
    if bottom - top < 1e-9:
        return
    heights = [top, *([0.0] if top < 0 < bottom else []), bottom]
    left = [place + 0.02 + 0.8 * _TIP * (1 - abs(height) / 0.3) for height in heights]
    right = [place + 0.96 - _TIP * abs(height) / 0.3 for height in heights]
    xs, ys = polygon
    xs += [*left, *reversed(right), left[0], None]
    ys += [*(row + height for height in [*heights, *reversed(heights), heights[0]]), None]


def _of(count: int, n: int) -> str:
    return f"{format_count(count)} of {format_count(n)} turns"
