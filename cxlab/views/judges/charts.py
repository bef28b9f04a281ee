"""How judges compare: matrices that can be clicked, dots with whiskers, stacked shares, ranks as lines."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from cxlab.charts.matrix import draw_matrix, name_item, name_judge
from cxlab.charts.numbers import format_change, format_count, format_points, format_ratio, format_share
from cxlab.charts.theme import Mark, mark_of, palette, plain, short_model, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


_FRAME_PX = 76


SPLITS = ("unanimous", "majority", "tie", "one verdict", "no verdict")


def draw_agreement(summary: pl.DataFrame, judges: Sequence[str], measure: str, dark: bool) -> "Figure":
    """Judge against judge from `judges.summarise` of one kind; customdata is [a, b]."""
    found = {
        frozenset(pair): row
        for row in summary.iter_rows(named=True)
        if (pair := (row["a"], row["b"])) and row[measure] is not None
    }
    size = range(len(judges))
    at = [[found.get(frozenset((judges[y], judges[x]))) if y != x else None for x in size] for y in size]
    names = [name_judge(judge) for judge in judges]
    return draw_matrix(
        names,
        names,
        [[cell[measure] if cell else None for cell in line] for line in at],
        [
            [_format(measure, cell[measure]) if cell else "–" if y == x else "" for x, cell in enumerate(line)]
            for y, line in enumerate(at)
        ],
        [[_say_pair(cell) if cell else "a judge against itself" for cell in line] for line in at],
        [[[cell["a"], cell["b"]] if cell else None for cell in line] for line in at],
        dark,
        low=_floor(summary[measure]),
        high=1.0,
        row_px=56,
    )


def draw_items(pairs: pl.DataFrame, measure: str, dark: bool, most: int = 14) -> "Figure":
    """Fields against pairs of judges, that of the lowest cell on top; `pairs` of one kind. customdata: [name, a, b]."""
    lowest = pairs.group_by("name").agg(pl.col(measure).min()).sort(measure, "name", nulls_last=True)
    worst = lowest.head(most)["name"].to_list()
    sides = list(dict.fromkeys(pairs.select("a", "b").iter_rows()))
    found = {(row["name"], row["a"], row["b"]): row for row in pairs.iter_rows(named=True)}
    at = [[found.get((name, *side)) for side in sides] for name in worst]
    return draw_matrix(
        [name_item(name) for name in worst],
        [f"{name_judge(a)} / {name_judge(b)}" for a, b in sides],
        [[cell[measure] if cell else None for cell in line] for line in at],
        [[_format(measure, cell[measure]) if cell else "" for cell in line] for line in at],
        [
            [f"<b>{plain(name_item(name))}</b><br>{_say_pair(cell)}" if cell else "" for cell in line]
            for name, line in zip(worst, at, strict=True)
        ],
        [
            [[name, cell["a"], cell["b"]] if cell else None for cell in line]
            for name, line in zip(worst, at, strict=True)
        ],
        dark,
        low=_floor(pairs.filter(pl.col("name").is_in(worst))[measure]),
        high=1.0,
    )


def draw_reliability(frame: pl.DataFrame, names: Mapping[str, str], dark: bool) -> "Figure":
    """Agreement (dot) and Krippendorff's alpha (open diamond) by slice; `frame` is `judges.reliability` of one kind."""
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.reverse()
    labels = [plain(names.get(value, value)) + "  " for value in rows["slice"]]
    figure = LazyFigure()
    for measure, symbol, words in (("agree", "circle", "agreement"), ("alpha", "diamond-open", "alpha")):
        figure.add_scatter(
            x=rows[measure].to_list(),
            y=labels,
            mode="markers",
            name=words,
            marker={
                "symbol": symbol,
                "size": 11,
                "color": colours.accent,
                "line": {"width": 2, "color": colours.accent},
            },
            customdata=[[value] for value in rows["slice"]],
            hovertext=[
                f"<b>{label}</b><br>agreement {format_share(row['agree'])}, unanimous "
                f"{format_share(row['unanimous'])}<br>"
                f"alpha {format_ratio(row['alpha'])}, Fleiss' kappa {format_ratio(row['fleiss'])}<br>"
                f"n {format_count(row['n'])} verdicts"
                for label, row in zip(labels, rows.iter_rows(named=True), strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    least = min([0.0, *[value for name in ("agree", "alpha") for value in rows[name] if value is not None]])
    figure.update_xaxes(range=[least, 1.03], title="1 = always agree; alpha 0 = no better than chance", zeroline=True)
    figure.update_yaxes(categoryorder="array", categoryarray=labels, tickfont={"color": colours.ink})
    return style_figure(figure, dark, height=_FRAME_PX + 30 * max(rows.height, 2))


def draw_splits(frame: pl.DataFrame, dark: bool, most: int = 14) -> "Figure":
    """How verdicts fell by field, most divided on top; `frame` is `judges.splits` of one kind. customdata is [name]."""
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    fills = {
        "unanimous": colours.hairline,
        "majority": colours.accent,
        "tie": colours.bad,
        "one verdict": colours.warning,
        "no verdict": colours.muted,
    }
    divided = (
        frame.group_by("name")
        .agg(whole=pl.col("share").filter(pl.col("split") == "unanimous").sum())
        .sort("whole", "name")
    )
    order = divided.head(most)["name"].to_list()[::-1]
    figure = LazyFigure()
    for split in SPLITS:
        part = {
            name: (n, share)
            for name, n, share in frame.filter(pl.col("split") == split).select("name", "n", "share").iter_rows()
        }
        if not any(name in part for name in order):
            continue
        found = [part.get(name, (0, 0.0)) for name in order]
        figure.add_bar(
            x=[share * 100 for _, share in found],
            y=[plain(name_item(name)) + "  " for name in order],
            orientation="h",
            name=split,
            marker={"color": fills[split], "line": {"width": 0}},
            customdata=[[name] for name in order],
            hovertext=[
                f"<b>{plain(name_item(name))}</b><br>{split}: {format_share(share)}, n {format_count(n)} turns"
                for name, (n, share) in zip(order, found, strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.3, legend={"traceorder": "normal"})
    figure.update_xaxes(range=[0, 100], title="% of turns")
    figure.update_yaxes(tickfont={"color": colours.ink})
    return style_figure(figure, dark, height=_FRAME_PX + 26 * max(len(order), 2))


def draw_means(
    frame: pl.DataFrame, by: str, names: Mapping[str, str], dark: bool, *, unit: str, title: str, measure: str = "mean"
) -> "Figure":
    """Dots with 95 % whiskers, one a row of `frame` (mean, low, high, n); offsets get a line at zero."""
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.reverse()
    factor = 100 if unit == "share" else 1
    labels = [plain(names.get(value, value)) + "  " for value in rows[by]]
    values = [value * factor for value in rows[measure]]
    formats: dict[str, Callable[[float], str]] = {
        "share": lambda v: format_share(v / 100),
        "points": format_points,
        "offset": lambda v: format_change(v, 2),
    }
    show = formats[unit]

    def reach(side: str) -> list[float]:
        return [
            0.0 if end is None else abs(end * factor - value) for end, value in zip(rows[side], values, strict=True)
        ]

    figure = LazyFigure()
    figure.add_scatter(
        x=values,
        y=labels,
        mode="markers+text",
        marker={"size": 11, "color": colours.accent},
        text=[show(value) for value in values],
        textposition="top center",
        textfont={"size": 12, "color": colours.ink},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": reach("high"),
            "arrayminus": reach("low"),
            "thickness": 1.5,
            "width": 4,
            "color": colours.accent,
        },
        customdata=[[value] for value in rows[by]],
        hovertext=[
            f"<b>{label}</b><br>{plain(title)} {show(value)}<br>95 % interval "
            f"{'none' if low is None else show(low * factor)} to {'none' if high is None else show(high * factor)}"
            f"<br>n {format_count(n)}, {format_count(clusters)} clusters"
            for label, value, low, high, n, clusters in zip(
                labels, values, rows["low"], rows["high"], rows["n"], rows["clusters"], strict=True
            )
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )
    figure.update_xaxes(title=plain(title), zeroline=unit == "offset")
    if unit == "share":
        top = max([10.0, *[(high or 0) * 100 for high in rows["high"]]])
        figure.update_xaxes(range=[0, min(100.0, top * 1.15) + 1])
    else:
        ends = [v for side in ("low", "high") for v in rows[side] if v is not None] + values
        least, most = (
            min([0.0, *ends]) if unit == "offset" else min(ends),
            max([0.0, *ends]) if unit == "offset" else max(ends),
        )
        margin = 0.15 * ((most - least) or 1)
        figure.update_xaxes(range=[least - margin, most + margin])
    figure.update_yaxes(categoryorder="array", categoryarray=labels, tickfont={"color": colours.ink})
    return style_figure(figure, dark, height=_FRAME_PX + 40 * max(rows.height, 2))


def draw_grades(frame: pl.DataFrame, dark: bool) -> "Figure":
    """Share of grades 3, 6 and 9 by judge, stacked; `frame` is `judges.severity`."""
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.sort("mean")
    labels = [plain(name_judge(judge)) + "  " for judge in rows["judge"]]
    figure = LazyFigure()
    for column, grade, fill in (
        ("three", "3", colours.bad),
        ("six", "6", colours.hairline),
        ("nine", "9", colours.accent),
    ):
        shares = [share * 100 for share in rows[column]]
        figure.add_bar(
            x=shares,
            y=labels,
            orientation="h",
            name=f"grade {grade}",
            marker={"color": fill, "line": {"width": 0}},
            text=[f"{share:.0f} %" if share >= 6 else "" for share in shares],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": colours.ink if column == "six" else colours.surface},
            customdata=[[judge] for judge in rows["judge"]],
            hovertext=[
                f"<b>{label}</b><br>grade {grade}: {share:.1f} % of {format_count(n)} grades"
                for label, share, n in zip(labels, shares, rows["n"], strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_layout(barmode="stack", legend={"traceorder": "normal"})
    figure.update_xaxes(range=[0, 100], title="% of grades")
    figure.update_yaxes(tickfont={"color": colours.ink})
    return style_figure(figure, dark, height=_FRAME_PX + 40 * max(rows.height, 2))


def draw_favour(
    judges: Sequence[str], models: Sequence[str], values: Any, grades: Any, n: Any, own: Any, dark: bool, *, raw: bool
) -> "Figure":
    """Judge against model: mean grade (`raw`) or what is left after double centring; family cells are outlined."""
    shown = np.asarray(values, dtype=float)
    reach = float(np.nanmax(np.abs(shown))) or 1.0
    return draw_matrix(
        [name_judge(judge) for judge in judges],
        [short_model(model) for model in models],
        shown.tolist(),
        [
            ["" if math.isnan(v) else f"{v:.2f}" if raw else format_change(v, 2) for v in line]
            for line in shown.tolist()
        ],
        [
            [
                f"<b>{plain(name_judge(judge))} on {plain(short_model(model))}</b><br>mean grade {grades[y][x]:.2f}<br>"
                f"n {format_count(n[y][x])} grades" + ("<br>same family" if own[y][x] else "")
                for x, model in enumerate(models)
            ]
            for y, judge in enumerate(judges)
        ],
        [[[judge, model] for model in models] for judge in judges],
        dark,
        low=3.0 if raw else -reach,
        high=9.0 if raw else reach,
        diverging=not raw,
        outlined=[(y, x) for y in range(len(judges)) for x in range(len(models)) if own[y][x]],
        row_px=48,
    )


def draw_ranks(ranks: pl.DataFrame, marks: Mapping[str, Mark], dark: bool) -> "Figure":
    """Rank of each model by the panel and by each judge alone, a line a model; `ranks` of `judges.stability`."""
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    judges = list(dict.fromkeys(ranks["judge"]))
    labels = ["the panel" if judge == "panel" else f"{name_judge(judge)} alone" for judge in judges]
    models = ranks.filter(pl.col("judge") == judges[0]).sort("rank")["model"].to_list()
    figure = LazyFigure()
    for model in models:
        mark = mark_of(marks, model)
        part = {row["judge"]: row for row in ranks.filter(pl.col("model") == model).iter_rows(named=True)}
        known = [(label, part[judge]) for label, judge in zip(labels, judges, strict=True) if judge in part]
        figure.add_scatter(
            x=[label for label, _ in known],
            y=[row["rank"] for _, row in known],
            mode="lines+markers+text",
            line={"color": mark.colour, "width": 2},
            marker={**mark.marker, "size": 13},
            text=["" for _ in known[:-1]] + [f"   {plain(short_model(model))}"],
            textposition="middle right",
            textfont={"color": colours.ink, "size": 12.5},
            customdata=[[model, row["judge"]] for _, row in known],
            hovertext=[
                f"<b>{plain(short_model(model))}</b><br>{plain(label)}: rank {row['rank']:.0f}, mean {row['mean']:.1f}"
                for label, row in known
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            cliponaxis=False,
            showlegend=False,
        )
    figure.update_yaxes(range=[len(models) + 0.5, 0.5], tickvals=list(range(1, len(models) + 1)), title="rank")
    figure.update_xaxes(side="top", tickfont={"color": colours.ink}, range=[-0.25, len(labels) - 0.45])
    return style_figure(figure, dark, height=_FRAME_PX + 44 * max(len(models), 2), values="none")


def draw_gold(frame: pl.DataFrame, judges: Sequence[str], dark: bool, most: int = 14) -> "Figure":
    """Field against judge: share of last turns read as the customer was made; the hardest on top. customdata [name]."""
    hard = (
        frame.group_by("name", maintain_order=True).agg(pl.col("mean").mean()).sort("mean", "name").head(most)["name"]
    ).to_list()
    found = {(row["name"], row["judge"]): row for row in frame.iter_rows(named=True)}
    at = [[found.get((name, judge)) for judge in judges] for name in hard]
    return draw_matrix(
        [name_item(name) for name in hard],
        ["the panel" if judge == "panel" else name_judge(judge) for judge in judges],
        [[cell["mean"] if cell else None for cell in line] for line in at],
        [[format_share(cell["mean"]) if cell else "" for cell in line] for line in at],
        [
            [
                f"<b>{plain(name_item(cell['name']))}</b><br>{plain(name_judge(cell['judge']))}: right on "
                f"{format_share(cell['mean'])}<br>95 % interval {format_share(cell['low'])} to "
                f"{format_share(cell['high'])}<br>"
                f"n {format_count(cell['n'])} last turns"
                if cell
                else ""
                for cell in line
            ]
            for line in at
        ],
        [[[cell["name"]] if cell else None for cell in line] for line in at],
        dark,
        low=_floor(frame.filter(pl.col("name").is_in(hard))["mean"]),
        high=1.0,
    )


def _floor(values: pl.Series) -> float:
    """Where the colours begin: a third of the way below the smallest value, so that differences near 1 can be seen."""
    least = values.min()
    return 1.0 - (1.0 - float(least)) * 1.33 if isinstance(least, float) and least < 1 else 0.0


def _format(measure: str, value: float | None) -> str:
    return format_share(value) if measure == "agree" else format_ratio(value)


def _say_pair(row: Mapping[str, Any]) -> str:
    return (
        f"{plain(name_judge(row['a']))} and {plain(name_judge(row['b']))}<br>agree on "
        f"{format_share(row['agree'])}, kappa "
        f"{format_ratio(row['kappa'])}<br>n {format_count(row['n'])} verdicts"
    )
