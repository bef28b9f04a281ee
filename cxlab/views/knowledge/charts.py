"""The topic tree as nested blocks that can be clicked, and what a threshold would find."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import mix_colours, palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LEVELS = 3
_CHART_PX, _SWEEP_PX = 460, 330
_BLOCK_PX, _MOST_PX = 22, 680
_FEWEST = 5


def draw_tree(
    tree: pl.DataFrame,
    focus: Sequence[str],
    top: str,
    dark: bool,
    *,
    noun: str = "articles",
    wrong: str = "",
) -> "Figure":
    """Columns from left to right: the focus, then up to three levels below it; a block's height is its `n`.

    `tree`: path, title, n, wrong. Red is a larger share of `wrong` than in the whole tree; the text names what is
    counted (empty: one colour). Bars, because treemaps and icicles send no clicks; customdata is the path, of the
    first block the path above it.
    """
    import plotly.graph_objects as go

    here = tuple(focus)
    blocks = lay_out(tree, here)
    height = _height(blocks)
    colours = palette(dark)
    roots = tree.filter(pl.col("path").list.len() == 1)
    usual = int(roots["wrong"].sum()) / int(roots["n"].sum()) if wrong and roots.height else 0.0
    # A topic of one article is all right or all wrong and would set the scale for the others.
    most = max((each["wrong"] / each["n"] for each in blocks if each["n"] >= _FEWEST), default=0.0) if wrong else 0.0
    figure = go.Figure()
    for depth in range(LEVELS + 1):
        column = [each for each in blocks if each["column"] == depth]
        if not column:
            continue
        ground = mix_colours(colours.surface, colours.accent, 0.34 - 0.07 * depth)
        fills = [mix_colours(ground, colours.bad, 0.7 * _excess(each, usual, most)) for each in column]
        figure.add_bar(
            x=[depth] * len(column),
            y=[each["n"] for each in column],
            base=[each["start"] for each in column],
            width=0.985,
            marker={
                "color": fills,
                "line": {
                    "color": colours.surface,
                    "width": [_gap(each["n"], blocks[0]["n"], height) for each in column],
                },
            },
            text=[f"{plain(_shorten(each['title'] or top))} · {format_count(each['n'])}" for each in column],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": colours.ink, "size": 12},
            customdata=[list(each["path"][:-1] if depth == 0 else each["path"]) or [""] for each in column],
            hovertext=[_hover(each, top, noun, wrong, depth) for each in column],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
    used = max((each["column"] for each in blocks), default=0)
    figure.update_xaxes(visible=False, range=[-0.5, used + 0.5], fixedrange=True)
    figure.update_yaxes(visible=False, autorange="reversed", fixedrange=True)
    figure = style_figure(figure, dark, height=height, values="none")
    # A label that does not fit is left out: its block says it when pointed at.
    return figure.update_layout(
        barmode="overlay",
        bargap=0,
        uniformtext={"minsize": 11, "mode": "hide"},
        margin={"l": 0, "r": 0, "t": 4, "b": 4},
    )


def lay_out(tree: pl.DataFrame, focus: tuple[str, ...]) -> list[dict[str, Any]]:
    """The blocks below a focus: path, title, n, wrong, column (0 is the focus), start (articles above it)."""
    rows = [{**row, "path": tuple(row["path"])} for row in tree.iter_rows(named=True)]
    below: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        below.setdefault(row["path"][:-1], []).append(row)
    own = next((row for row in rows if row["path"] == focus), None)
    if own is None:
        roots = below.get((), [])
        own = {"path": (), "title": "", "n": sum(r["n"] for r in roots), "wrong": sum(r["wrong"] for r in roots)}
    found: list[dict[str, Any]] = []

    def place(row: Mapping[str, Any], column: int, start: int) -> None:
        kept = {name: row[name] for name in ("path", "title", "n", "wrong")}
        found.append({**kept, "column": column, "start": start})
        if column == LEVELS:
            return
        children = sorted(below.get(row["path"], ()), key=lambda child: (-child["n"], child["title"]))
        for child in children:
            place(child, column + 1, start)
            start += child["n"]

    place(own, 0, 0)
    return found


def draw_sweep(sweep: pl.DataFrame, chosen: float | None, dark: bool) -> "Figure":
    """Precision, recall and F1 by threshold from 0 to 100 %, the chosen threshold and the best one marked."""
    import plotly.graph_objects as go

    colours = palette(dark)
    figure = go.Figure()
    lines = (
        ("Precision", "precision", {"color": colours.muted, "width": 2, "dash": "dot"}),
        ("Recall", "recall", {"color": colours.muted, "width": 2, "dash": "dash"}),
        ("F1", "f1", {"color": colours.accent, "width": 3}),
    )
    hovers = [
        f"threshold {row['threshold']:.2f}<br>{format_count(row['predicted'])} pairs, {format_count(row['hits'])} right"
        f"<br>precision {format_share(row['precision'])}<br>recall {format_share(row['recall'])}"
        f"<br>F1 {format_share(row['f1'])}"
        for row in sweep.iter_rows(named=True)
    ]
    for name, column, line in lines:
        figure.add_scatter(
            x=sweep["threshold"].to_list(),
            y=[None if value is None else 100 * value for value in sweep[column]],
            mode="lines",
            name=name,
            line=line,
            hovertext=hovers,
            hovertemplate="%{hovertext}<extra></extra>",
        )
    best = best_cut(sweep)
    if best is not None:
        figure.add_scatter(
            x=[best["threshold"]], y=[100 * best["f1"]], mode="markers+text", name="best F1", text=["best"],
            textposition="top center", textfont={"color": colours.ink, "size": 12}, showlegend=False,
            marker={"color": colours.surface, "size": 10, "line": {"color": colours.accent, "width": 2.5}},
            hovertext=[f"best F1 {format_share(best['f1'])} at {best['threshold']:.2f}: chosen on the gold"],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    if chosen is not None and sweep.height:
        figure.add_vline(
            x=chosen,
            line={"color": colours.ink, "width": 1.5},
            annotation={"text": f"run: {chosen:.2f}", "font": {"color": colours.ink, "size": 12}, "yanchor": "bottom"},
            annotation_position="top",
        )
    figure.update_yaxes(range=[0, 104], ticksuffix=" %", dtick=25)
    figure.update_xaxes(title="cosine similarity from which two articles count as the same", tickformat=".2f")
    figure = style_figure(figure, dark, height=_SWEEP_PX, values="y")
    return figure.update_layout(margin={"t": 34}, legend={"y": 1.06})


def best_cut(sweep: pl.DataFrame) -> dict[str, Any] | None:
    """The row of the highest F1, the highest threshold of equal ones; None where nothing is right anywhere."""
    known = sweep.filter(pl.col("f1").is_not_null() & (pl.col("f1") > 0)).sort("f1", "threshold", descending=True)
    return known.row(0, named=True) if known.height else None


def _height(blocks: Sequence[Mapping[str, Any]]) -> int:
    """High enough for a label in each block of the fullest column, where that is possible at all."""
    fullest = max(sum(each["column"] == column for each in blocks) for column in range(LEVELS + 1))
    return max(_CHART_PX, _BLOCK_PX * fullest) if _BLOCK_PX * fullest <= _MOST_PX else _CHART_PX


def _excess(each: Mapping[str, Any], usual: float, most: float) -> float:
    """By how much a block's share of what is wrong lies above the usual one, from 0 to 1 at the highest."""
    if most <= usual or not each["n"]:
        return 0.0
    return float(min(1.0, max(0.0, (each["wrong"] / each["n"] - usual) / (most - usual))))


def _gap(n: int, whole: int, height: int) -> float:
    """The line around a block; thin ones would be nothing but lines."""
    return min(1.5, 0.15 * height * n / whole) if whole else 0.0


def _hover(each: Mapping[str, Any], top: str, noun: str, wrong: str, depth: int) -> str:
    lines = [f"<b>{plain(each['title'] or top)}</b>", f"{format_count(each['n'])} {noun}"]
    if wrong:
        share = each["wrong"] / each["n"] if each["n"] else 0.0
        lines.append(f"{format_count(each['wrong'])} {wrong} ({format_share(share)})")
    if each["path"]:
        lines.append("click to go up" if depth == 0 else "click to go there")
    return "<br>".join(lines)


def _shorten(title: str, longest: int = 34) -> str:
    return title if len(title) <= longest else f"{title[: longest - 1].rstrip()}…"
