"""Models side by side: scores with intervals, paired differences, the front of quality and price, profiles."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from cxlab.charts.dots import add_names, add_published, draw_dots, interval_words, name_of, short_name
from cxlab.charts.numbers import (
    format_change,
    format_count,
    format_p,
    format_points,
    format_seconds,
    format_share,
    format_usd,
    largest,
)
from cxlab.charts.theme import Mark, mark_of, palette, plain, short_model, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Scale = tuple[float, float] | None
"""The worst and the best value of a metric; None for one without an end."""
_SIGNS = {"better": "✓", "worse": "✕", "cannot tell": "?", "too few": "–"}


def range_of(scale: Scale) -> tuple[float, float] | None:
    """The part of an axis that shows a whole scale, with a little room at its better end."""
    return None if scale is None else (scale[0], scale[1] + (scale[1] - scale[0]) / 100)


def draw_scores(
    frame: pl.DataFrame,
    scale: Scale,
    title: str,
    names: Mapping[str, str],
    marks: Mapping[str, Mark],
    dark: bool,
    published: pl.DataFrame | None = None,
    floors: pl.DataFrame | None = None,
    faint: Collection[str] = (),
) -> "Figure":
    """Means with intervals, a band a group, those of `faint` groups in grey. `frame`: side, grp, mean, low, high, n,
    clusters; `names` of the groups that are drawn.

    `published` (grp, entity, value, source) as grey diamonds below each band, `floors` (grp, value, name) as dotted
    ticks.
    customdata: [group, side].
    """
    groups, sides = [group for group in names if group in set(frame["grp"])], _sides(frame, marks)
    rows = [
        {
            **row,
            "model": row["side"],
            "group": row["grp"],
            "value": row["mean"],
            "faint": row["grp"] in faint,
            "hover": f"{_say_group(names, row['grp'])}<br>{plain(title)} {format_points(row['mean'])}"
            f"<br>n {format_count(row['n'])} samples",
        }
        for row in frame.iter_rows(named=True)
        if row["grp"] in names
    ]
    shown_range = range_of(scale)
    figure = draw_dots(rows, groups, sides, names, marks, dark, axis=shown_range)
    colours = palette(dark)
    middle = {group: len(groups) - place for place, group in enumerate(groups)}
    if published is not None and published.height:
        shown = published.filter(pl.col("grp").is_in(groups))
        hovers = [
            f"<b>{plain(entity)}</b><br>{plain(title)} {format_points(value)}<br>published: "
            f"{plain(source)}<br>other data, not paired"
            for _, entity, value, source in shown.iter_rows()
        ]
        add_published(figure, shown["value"].to_list(), [middle[group] - 0.44 for group in shown["grp"]], hovers, dark)
    for group, value, name in floors.iter_rows() if floors is not None else ():
        if group in middle:
            figure.add_scatter(
                x=[value, value], y=[middle[group] - 0.46, middle[group] + 0.46], mode="lines", showlegend=False,
                line={"color": colours.muted, "width": 1.5, "dash": "dot"},
                hovertext=f"{plain(name)}: {format_points(value)}", hovertemplate="%{hovertext}<extra></extra>",
            )  # fmt: skip
    figure.update_xaxes(title=plain(title))
    return figure


def draw_differences(
    frame: pl.DataFrame, title: str, baseline: str, names: Mapping[str, str], marks: Mapping[str, Mark], dark: bool
) -> "Figure":
    """Paired differences from the baseline with intervals and a zero line. `frame` is `read.compare.differences`.

    customdata: [group, side].
    """
    known = frame.filter(pl.col("difference").is_not_null())
    groups, sides = [group for group in names if group in set(known["grp"])], _sides(known, marks)
    rows = [
        {
            **row,
            "model": row["side"],
            "group": row["grp"],
            "value": row["difference"],
            "faint": row["verdict"] == "too few",
            "hover": f"{_say_group(names, row['grp'])}<br>{format_change(row['difference'])} against "
            f"{name_of(baseline)}: {_SIGNS[row['verdict']]} {row['verdict']}<br>{format_count(row['n'])} samples"
            + ("" if row["p_corrected"] is None else f", p {format_p(row['p_corrected'])}, corrected")
            + f"<br>{row['wins']} won, {row['ties']} tied, {row['losses']} lost",
        }
        for row in known.iter_rows(named=True)
        if row["grp"] in names
    ]
    figure = draw_dots(rows, groups, sides, names, marks, dark)
    figure.add_vline(x=0, line={"color": palette(dark).muted, "width": 1.5})
    figure.update_xaxes(title=f"{plain(title)}: difference from {short_name(baseline)}")
    return figure


def draw_front(
    frame: pl.DataFrame,
    scale: Scale,
    title: str,
    price: str,
    marks: Mapping[str, Mark],
    dark: bool,
    less_is_better: bool = False,
    one: str = "dialogue",
    floors: Sequence[tuple[str, float]] = (),
) -> "Figure":
    """Quality against price (`cost_usd` or `latency_s`) with the front of those that none beats on both.

    `frame`: side, value, low, high, cost_usd, latency_s, attempts; `one`: what an attempt is called; `floors` (name,
    value) are dotted lines. customdata: [side].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.filter(pl.col("value").is_not_null() & pl.col(price).is_not_null()).sort(price)
    tell = format_usd if price == "cost_usd" else format_seconds
    figure = LazyFigure()
    quick = price == "latency_s" and largest(rows[price], 1.0) < 0.1
    factor = 1000.0 if quick else 1.0
    front = front_of(rows, price, less_is_better)
    figure.add_scatter(
        x=[factor * each for each in front[price]], y=front["value"].to_list(), mode="lines", hoverinfo="skip",
        showlegend=False,
        line={"color": colours.muted, "width": 1.2, "dash": "dot", "shape": "hv"},
    )  # fmt: skip
    best = set(front["side"])
    dearest = 1.25 * largest(rows[price], 1.0)
    # Names go above and below in turn: neighbours on the price axis would write over each other.
    for place, row in enumerate(rows.iter_rows(named=True)):
        mark = mark_of(marks, row["side"])
        figure.add_scatter(
            x=[factor * row[price]],
            y=[row["value"]],
            mode="markers+text",
            marker=mark.marker,
            text=[f" {short_name(row['side'])} "],
            textposition=f"{'bottom' if place % 2 else 'top'} {'left' if row[price] > 0.6 * dearest else 'right'}",
            textfont={"color": colours.ink, "size": 12},
            error_y={
                "type": "data", "symmetric": False, "thickness": 1.5, "width": 0, "color": mark.colour,
                "array": [0 if row["high"] is None else row["high"] - row["value"]],
                "arrayminus": [0 if row["low"] is None else row["value"] - row["low"]],
            },
            customdata=[[row["side"]]],
            hovertext=f"<b>{name_of(row['side'])}</b><br>{plain(title)} {format_points(row['value'])}"
            f"{interval_words(row)}"
            f"<br>{tell(row[price])} a {plain(one)}, n {format_count(row['attempts'])}"
            + ("<br>on the front" if row["side"] in best else ""),
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
            cliponaxis=False,
        )  # fmt: skip
    top = factor * largest(rows[price], 1.0)
    measured = f"time of a {plain(one)}, {'ms' if quick else 's'}"
    figure.update_xaxes(
        title=f"cost of a {plain(one)}, USD" if price == "cost_usd" else measured,
        range=[0, top * 1.25 or 1],
    )
    # Names of floors that are near each other stand at opposite ends.
    for place, (name, value) in enumerate(sorted(floors, key=lambda each: each[1])):
        left = place % 2 == 1
        figure.add_scatter(
            x=[0, top * 1.25 or 1], y=[value, value], mode="lines", showlegend=False,
            line={"color": colours.muted, "width": 1.5, "dash": "dot"},
            hovertext=f"{plain(name)}: {format_points(value)}", hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
        figure.add_annotation(
            x=0 if left else top * 1.25 or 1, y=value, xanchor="left" if left else "right", yanchor="bottom",
            showarrow=False, text=f"{plain(name)} {value:.1f}", font={"size": 11, "color": colours.muted},
        )  # fmt: skip
    shown_range = range_of(scale)
    figure.update_yaxes(title=plain(title), range=list(shown_range) if shown_range else None)
    return style_figure(figure, dark, height=330, values="both")


def front_of(frame: pl.DataFrame, price: str, less_is_better: bool = False) -> pl.DataFrame:
    """The rows that no other beats: none is at most as dear and better. Sorted by price."""
    rows = frame.filter(pl.col("value").is_not_null() & pl.col(price).is_not_null())
    rows = rows.sort(price, "value", descending=[False, not less_is_better])
    best = pl.col("value").cum_min() if less_is_better else pl.col("value").cum_max()
    beats = (pl.col("value") < pl.col("best")) if less_is_better else (pl.col("value") > pl.col("best"))
    return rows.with_columns(best=best.shift(1)).filter(pl.col("best").is_null() | beats)


def draw_profile(
    frame: pl.DataFrame,
    names: Mapping[str, str],
    scales: Mapping[str, tuple[float, float]],
    marks: Mapping[str, Mark],
    dark: bool,
) -> "Figure":
    """Parallel coordinates: each metric on its own scale from bottom to top, a line a side.

    `frame`: side, metric, mean, low, high, n; `names` of the metrics in their order. customdata: [metric, side].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    metrics = [metric for metric in names if metric in set(frame["metric"])]
    figure = LazyFigure()
    ends = []
    for side in _sides(frame, marks):
        mark = mark_of(marks, side)
        rows = {row["metric"]: row for row in frame.filter(pl.col("side") == side).iter_rows(named=True)}
        own = [metric for metric in metrics if metric in rows]
        ends.append(
            (short_model(side), mark.colour, metrics.index(own[-1]), _height(scales[own[-1]], rows[own[-1]]["mean"]))
        )
        figure.add_scatter(
            x=[metrics.index(metric) for metric in own],
            y=[_height(scales[metric], rows[metric]["mean"]) for metric in own],
            mode="lines+markers",
            name=name_of(side),
            line={"color": mark.colour, "width": 2},
            marker={**mark.marker, "size": 8},
            showlegend=False,
            customdata=[[metric, side] for metric in own],
            hovertext=[
                f"<b>{name_of(side)}</b><br>{plain(names[metric])} "
                f"{rows[metric]['mean']:.1f}{interval_words(rows[metric])}"
                f"<br>n {format_count(rows[metric]['n'])}"
                for metric in own
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    room = max(0.5, len(metrics) / 8)
    add_names(figure, ends, len(metrics) - 1 + room / 4, 0.065, 1.02, dark)
    for place, metric in enumerate(metrics):
        figure.add_vline(x=place, line={"color": palette(dark).hairline, "width": 1}, layer="below")
        low, high = scales[metric]
        for y, text in ((-0.05, f"{low:g}"), (1.05, f"{high:g}")):
            figure.add_annotation(
                x=place, y=y, text=text, showarrow=False, font={"size": 10, "color": palette(dark).muted}
            )
    words = [names[metric].split() for metric in metrics]
    figure.update_xaxes(
        tickvals=list(range(len(metrics))),
        ticktext=["<br>".join(map(plain, each)) for each in words],
        # Names stand to the right of the last axis.
        range=[-0.4, len(metrics) - 1 + room],
        tickfont={"color": palette(dark).ink, "size": 11},
        tickangle=0,
    )
    figure.update_yaxes(visible=False, range=[-0.1, 1.12])
    return style_figure(figure, dark, height=360, values="none")


def draw_trials(frame: pl.DataFrame, marks: Mapping[str, Mark], dark: bool) -> "Figure":
    """pass^k by k, a line a side. `frame` is `read.compare.trials`."""
    from cxlab.charts.lazy_figure import LazyFigure

    figure = LazyFigure()
    ends = []
    for side in _sides(frame, marks):
        mark, rows = mark_of(marks, side), frame.filter(pl.col("side") == side).sort("k")
        ends.append((short_model(side), mark.colour, rows["k"][-1], 100 * rows["share"][-1]))
        figure.add_scatter(
            x=rows["k"].to_list(),
            y=[100 * share for share in rows["share"]],
            mode="lines+markers",
            name=name_of(side),
            line={"color": mark.colour, "width": 2},
            marker={**mark.marker, "size": 8},
            showlegend=False,
            hovertext=[
                f"<b>{name_of(side)}</b><br>pass^{k} {format_share(share)}<br>{format_count(samples)} samples"
                for k, samples, share in rows.select("k", "samples", "share").iter_rows()
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    most = largest(frame["k"], 1.0)
    room = max(most - 1, 1.0) / 5
    add_names(figure, ends, most + room / 6, 8.0, 99.0, dark)
    figure.update_xaxes(title="k trials, all of them right", dtick=1, range=[1 - room / 6, most + room])
    figure.update_yaxes(title="share of samples, %", range=[0, 101])
    return style_figure(figure, dark, height=300, values="y")


def _say_group(names: Mapping[str, str], group: str) -> str:
    """A group's name on one line."""
    return plain(names[group].replace("<br>", ", "))


def _height(scale: tuple[float, float], value: float) -> float:
    return (value - scale[0]) / (scale[1] - scale[0])


def _sides(frame: pl.DataFrame, marks: Mapping[str, Mark]) -> Sequence[str]:
    """The sides of a frame in the order of the marks (models), others by name (runs)."""
    found = set(frame["side"])
    return [side for side in marks if side in found] + sorted(found - marks.keys())
