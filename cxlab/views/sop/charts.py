"""What became of turns in a procedure: kinds of errors, survival, ways out, flows of actions, leaves, turns, levels."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.dots import draw_dots, interval_words, name_of
from cxlab.charts.numbers import format_count, format_points, format_share, largest
from cxlab.charts.theme import (
    Mark,
    channels,
    mark_of,
    mix_colours,
    palette,
    plain,
    readable_on,
    short_model,
    style_figure,
)
from cxlab.records.procedure import Procedure
from cxlab.views.sop.map.layout import name_whole, wrap

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Scale = tuple[float, float] | None


def draw_errors(
    frame: pl.DataFrame, classes: Mapping[str, tuple[str, str]], marks: Mapping[str, Mark], dark: bool
) -> "Figure":
    """Share of turns by class of error, a dot a model with its interval. `frame` is `queries.error_split`, `classes`
    `failure_kinds.classes`.

    customdata: [error, model].
    """
    found = set(frame["error"])
    words = {**classes, **{kind: (kind, "") for kind in sorted(found - classes.keys())}}
    return _draw_shares(frame, "error", {kind: words[kind] for kind in words if kind in found}, marks, dark)


def draw_quadrants(frame: pl.DataFrame, titles: Mapping[str, str], marks: Mapping[str, Mark], dark: bool) -> "Figure":
    """Share of turns by result and way, a dot a model with its interval. `frame` is `queries.quadrants` by model.

    customdata: [quadrant, model].
    """
    # On two lines, so that a narrow window leaves room for the dots and their names.
    words = {kind: (f"{each.partition(', ')[0]},", each.partition(", ")[2]) for kind, each in titles.items()}
    return _draw_shares(frame, "quadrant", words, marks, dark)


def _draw_shares(
    frame: pl.DataFrame, group: str, words: Mapping[str, tuple[str, str]], marks: Mapping[str, Mark], dark: bool
) -> "Figure":
    """A dot a model and group. `frame`: model, group, n, of, clusters, share, low, high; `words`: name and meaning."""
    models = _in_order(frame, marks)
    figure = draw_dots(
        [
            {
                "model": row["model"],
                "group": row[group],
                "value": 100 * row["share"],
                "low": None if row["low"] is None else 100 * row["low"],
                "high": None if row["high"] is None else 100 * row["high"],
                "hover": f"{plain(_name_group(words[row[group]]))}<br>{format_share(row['share'])} of turns"
                f"<br>{format_count(row['n'])} of {format_count(row['of'])}, {row['clusters']} clusters",
            }
            for row in frame.iter_rows(named=True)
        ],
        list(words),
        models,
        {kind: "<br>".join(filter(None, parts)) for kind, parts in words.items()},
        marks,
        dark,
    )
    figure.update_xaxes(title="share of turns, %", range=[-1.5, 101])
    return figure


def _name_group(words: tuple[str, str]) -> str:
    """What a group is called in a hover: its name, whose second half may stand where others have their meaning."""
    return " ".join(words) if words[0].endswith(",") else words[0]


def draw_survival(frame: pl.DataFrame, marks: Mapping[str, Mark], dark: bool) -> "Figure":
    """Share of turns still on the reference after each step, a line a model. `frame` is `read.paths.survival`."""
    from cxlab.charts.lazy_figure import LazyFigure

    figure = LazyFigure()
    ends = []
    for model in _in_order(frame, marks):
        rows = frame.filter(pl.col("model") == model)
        mark = mark_of(marks, model)
        figure.add_scatter(
            x=rows["step"].to_list(),
            y=[100 * share for share in rows["share"]],
            mode="lines+markers",
            name=name_of(model),
            line={"color": mark.colour, "width": 2, "shape": "hv"},
            marker={**mark.marker, "size": 7},
            hovertext=[
                f"<b>{name_of(model)}</b><br>after step {step}: {format_share(share)} still on the reference"
                f"<br>{format_count(n)} of {format_count(of)} turns"
                for step, n, of, share in rows.select("step", "n", "of", "share").iter_rows()
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
        ends.append((100 * rows["share"][-1], name_of(model), mark.colour))
    last = int(largest(frame["step"], 1))
    _label_ends(figure, ends, last, dark)
    figure.update_xaxes(title="step of the way, the action last", dtick=1, range=[0.8, last + 0.1])
    figure.update_yaxes(title="turns on the reference, %", range=[0, 103])
    style_figure(figure, dark, height=300, values="y")
    figure.update_layout(showlegend=False, margin={"r": 130})
    return figure


def _label_ends(figure: "Figure", ends: Sequence[tuple[float, str, str]], x: float, dark: bool) -> None:
    """The models' names at the ends of their lines, pushed apart where they would touch."""
    colours = palette(dark)
    height = 0.0
    for value, name, _ in sorted(ends):
        height = max(value, height + 6.5) if height else value
        figure.add_annotation(
            x=x, y=height, xshift=10, text=f"{name} {value:.0f}", showarrow=False, xanchor="left",
            font={"size": 12, "color": colours.ink},
        )  # fmt: skip


def draw_leaving(frame: pl.DataFrame, procedure: Procedure, dark: bool) -> "Figure":
    """At which stage turns leave the reference first, all models together. `frame` is `read.paths.divergences`.

    customdata: [stage].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    sums = frame.group_by("stage").agg(pl.col("n").sum(), pl.col("arrived").sum())
    rows = {stage: (n, arrived) for stage, n, arrived in sums.iter_rows()}
    stages = [stage for stage in procedure.stages if stage in rows]
    names = [plain(procedure.name(stage)) for stage in stages]
    figure = LazyFigure()
    figure.add_bar(
        x=[rows[stage][0] for stage in stages],
        y=names,
        orientation="h",
        marker={"color": colours.accent, "opacity": 0.85},
        text=[f"{format_count(rows[s][0])} · {format_share(rows[s][0] / rows[s][1])}" for s in stages],
        textposition="outside",
        textfont={"color": colours.ink, "size": 12},
        cliponaxis=False,
        customdata=[[stage] for stage in stages],
        hovertext=[
            f"{format_count(rows[s][0])} of the {format_count(rows[s][1])} turns that had come so far" for s in stages
        ],
        hovertemplate="<b>%{y}</b><br>%{hovertext}<br>left the reference here first<extra></extra>",
    )
    most = max((n for n, _ in rows.values()), default=1)
    figure.update_xaxes(range=[0, most * 2.3], visible=False)
    figure.update_yaxes(autorange="reversed", tickfont={"color": colours.ink, "size": 12})
    return style_figure(figure, dark, height=40 + 29 * len(stages), values="none")


def draw_confusion(frame: pl.DataFrame, procedure: Procedure, stage: str, dark: bool) -> "Figure":
    """Expected (rows) against taken (columns) ways out of one stage. `frame` is `read.paths.confusion`.

    Squares are scatter marks, because a heatmap sends no click. customdata: [expected, taken].
    """
    rows = frame.filter(pl.col("stage") == stage)
    names = {step: procedure.name(step) for step in {*rows["expected"], *rows["taken"]}}
    order = [step for step in (*procedure.stages, *procedure.actions, *procedure.plans) if step in names]
    order += sorted(names.keys() - set(order))
    expected = [step for step in order if step in set(rows["expected"])]
    taken = [step for step in order if step in set(rows["taken"])]
    sums = dict(rows.group_by("expected").agg(pl.col("n").sum()).iter_rows())
    colours = palette(dark)
    cells = [
        {
            "x": taken.index(t),
            "y": expected.index(e),
            "shade": n / sums[e],
            "colour": colours.good if e == t else colours.bad,
            "text": format_count(n),
            "data": [e, t],
            "hover": f"expected <b>{plain(name_whole(procedure, e))}</b><br>taken "
            f"<b>{plain(name_whole(procedure, t))}</b><br>{format_count(n)} of {format_count(sums[e])} turns, "
            f"{format_share(n / sums[e])}",
        }
        for e, t, n in rows.select("expected", "taken", "n").iter_rows()
    ]
    return _squares(
        cells, [names[step] for step in taken], [names[step] for step in expected], dark, "taken", "expected"
    )


def draw_coverage(frame: pl.DataFrame, metric: str, marks: Mapping[str, Mark], dark: bool) -> "Figure":
    """Leaf (columns) by model (rows): the mean of the metric as shade, dialogues as text; untested leaves stay empty.

    `frame` is `read.paths.coverage`. customdata: [leaf, model].
    """
    leaves = frame["leaf"].unique().sort().to_list()
    models = [model for model in marks if model in set(frame["model"].drop_nulls())]
    known = {(leaf, model): (dialogues, mean) for leaf, model, dialogues, _, mean in frame.iter_rows()}
    colours = palette(dark)
    cells = []
    for place, leaf in enumerate(leaves):
        for row, model in enumerate(models):
            dialogues, mean = known.get((leaf, model), (0, None))
            cells.append(
                {
                    "x": place,
                    "y": row,
                    # Means lie close together at the top of the scale; the third power tells them apart.
                    "shade": 0.0 if mean is None else min(max(mean / 100, 0.0), 1.0) ** 3,
                    "colour": colours.accent,
                    "text": str(dialogues) if dialogues else "·",
                    "data": [leaf, model],
                    "hover": f"<b>{plain(leaf)}</b>, {name_of(model)}<br>{plain(metric)} {format_points(mean)}"
                    f"<br>{format_count(dialogues)} dialogues"
                    if dialogues
                    else f"<b>{plain(leaf)}</b>, {name_of(model)}<br>not tested",
                }
            )
    short = [leaf.rpartition("-")[2] for leaf in leaves]
    figure = _squares(cells, short, [short_model(model) for model in models], dark, "leaf", "")
    figure.update_layout(height=92 + 34 * max(len(models), 1))
    return figure


def _squares(
    cells: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    rows: Sequence[str],
    dark: bool,
    x: str,
    y: str,
    fewest: int = 6,
) -> "Figure":
    """A matrix of square marks; fewer columns than `fewest` stay close together at the left."""
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    fills = [mix_colours(colours.raised, cell["colour"], cell["shade"]) for cell in cells]
    figure = LazyFigure()
    figure.add_scatter(
        x=[cell["x"] for cell in cells],
        y=[cell["y"] for cell in cells],
        mode="markers+text",
        marker={
            "symbol": "square", "size": 30, "opacity": 1, "line": {"color": colours.hairline, "width": 1},
            "color": fills,
        },
        text=[cell["text"] for cell in cells],
        textfont={"size": 12, "color": [readable_on(channels(fill), colours) for fill in fills]},
        selected={"marker": {"opacity": 1}}, unselected={"marker": {"opacity": 1}},
        customdata=[cell["data"] for cell in cells],
        hovertext=[cell["hover"] for cell in cells],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )  # fmt: skip
    # Long names of many columns lean, so that neighbours do not write over each other; few have room for lines.
    leaning = len(columns) > 6 and any(len(name) > 9 for name in columns)
    heads = ["<br>".join(map(plain, wrap(name, 23, 1) if leaning else wrap(name, 16, 3))) for name in columns]
    high = 160 if leaning else 110 + 14 * max((head.count("<br>") for head in heads), default=0)
    figure.update_xaxes(
        tickvals=list(range(len(columns))), side="top", title=x, range=[-0.6, max(len(columns), fewest) - 0.4],
        ticktext=heads, tickfont={"color": colours.ink, "size": 12}, tickangle=-28 if leaning else 0,
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=["<br>".join(map(plain, wrap(name, 16, 3))) for name in rows],
        title=y,
        range=[len(rows) - 0.4, -0.6], tickfont={"color": colours.ink, "size": 12},
    )  # fmt: skip
    return style_figure(figure, dark, height=high + 46 * max(len(rows), 1), values="none")


def draw_flows(frame: pl.DataFrame, procedure: Procedure, dark: bool) -> "Figure":
    """Sankey: action expected, where the way left the reference, action taken. `frame` is `read.paths.flows`."""
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    nodes: dict[tuple[int, str], int] = {}

    def node(column: int, name: str) -> int:
        return nodes.setdefault((column, name), len(nodes))

    links: list[tuple[int, int, int, str]] = []
    for first, second in (("expected", "left_at"), ("left_at", "taken")):
        keyed = frame.with_columns(same=pl.col("expected") == pl.col("taken"))
        grouped = keyed.group_by(first, second, "same").agg(pl.col("n").sum()).sort(first, second, "same")
        column = 0 if first == "expected" else 1
        for a, b, right, n in grouped.iter_rows():
            on = (b if column == 0 else a) == ""
            colour = colours.good if on else colours.warning if right else colours.bad
            links.append((node(column, a), node(column + 1, b), n, colour))
    ways = {name: f"left after {plain(procedure.name(name))}" if name else "on the reference" for _, name in nodes}
    names = [plain(name) if column != 1 else ways[name] for column, name in nodes]
    whole = [plain(name_whole(procedure, name)) if column != 1 else ways[name] for column, name in nodes]
    figure = LazyFigure()
    figure.add_sankey(
        arrangement="snap",
        node={
            "label": names, "customdata": whole, "pad": 12, "thickness": 12, "line": {"width": 0},
            "color": [colours.accent if column != 1 else colours.muted for column, _ in nodes],
            "hovertemplate": "<b>%{customdata}</b><br>%{value} turns<extra></extra>",
        },
        link={
            "source": [a for a, *_ in links], "target": [b for _, b, *_ in links],
            "value": [n for *_, n, _ in links],
            "color": [_fade(colour) for *_, colour in links],
            "hovertemplate": "%{source.customdata} → %{target.customdata}<br>%{value} turns<extra></extra>",
        },
        textfont={"color": colours.ink, "size": 12, "shadow": "none"},
    )  # fmt: skip
    rows = max(sum(column == place for column, _ in nodes) for place in range(3)) if nodes else 1
    style_figure(figure, dark, height=max(300, 44 * rows), values="none")
    figure.update_layout(margin={"l": 4, "r": 4, "t": 10, "b": 14})
    return figure


def _fade(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.42)"


def draw_turns(frame: pl.DataFrame, metric: str, scale: Scale, marks: Mapping[str, Mark], dark: bool) -> "Figure":
    """The metric by evaluated turn with intervals and n, a line a model. `frame` is `read.paths.by_turn`.

    customdata: [turn, model].
    """
    from cxlab.charts.lazy_figure import LazyFigure

    turns = sorted(set(frame["turn"]))
    models = _in_order(frame, marks)
    figure = LazyFigure()
    for place, model in enumerate(models):
        mark = mark_of(marks, model)
        rows = frame.filter(pl.col("model") == model).sort("turn")
        shift = (place - (len(models) - 1) / 2) * 0.09
        figure.add_scatter(
            x=[turns.index(turn) + shift for turn in rows["turn"]],
            y=rows["share"].to_list(),
            mode="lines+markers",
            name=name_of(model),
            line={"color": mark.colour, "width": 1.5},
            marker={**mark.marker, "size": 9},
            error_y={
                "type": "data", "symmetric": False, "thickness": 1.5, "width": 0, "color": mark.colour,
                "array": (rows["high"] - rows["share"]).fill_null(0.0).to_list(),
                "arrayminus": (rows["share"] - rows["low"]).fill_null(0.0).to_list(),
            },
            customdata=[[turn, model] for turn in rows["turn"]],
            hovertext=[
                f"<b>{name_of(model)}</b>, turn {row['turn']}<br>{plain(metric)} {format_points(row['share'])}"
                f"{interval_words(row)}<br>n {format_count(row['n'])} turns of {row['clusters']} clusters"
                for row in rows.iter_rows(named=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    sums = dict(frame.group_by("turn").agg(pl.col("n").sum()).iter_rows())
    figure.update_xaxes(
        tickvals=list(range(len(turns))), ticktext=[f"turn {turn}<br>n {format_count(sums[turn])}" for turn in turns],
        range=[-0.4, len(turns) - 0.6], tickfont={"color": palette(dark).ink},
    )  # fmt: skip
    figure.update_yaxes(title=plain(metric), range=list(scale) if scale else None)
    return style_figure(figure, dark, height=320, values="y")


def draw_levels(frame: pl.DataFrame, metric: str, scale: Scale, marks: Mapping[str, Mark], dark: bool) -> "Figure":
    """The metric by adversarial level with intervals. `frame`: model, level, mean, low, high, n, clusters.

    customdata: [level, model].
    """
    levels = [level for level in ("zero", "weak", "strong") if level in set(frame["level"])]
    levels += sorted(set(frame["level"]) - set(levels))
    models = _in_order(frame, marks)
    rows = [
        {
            **row,
            "group": row["level"],
            "value": row["mean"],
            "hover": f"level {plain(row['level'])}<br>{plain(metric)} {format_points(row['mean'])}"
            f"<br>n {format_count(row['n'])} turns of {row['clusters']} clusters",
        }
        for row in frame.iter_rows(named=True)
    ]
    figure = draw_dots(rows, levels, models, {level: level for level in levels}, marks, dark)
    figure.update_xaxes(title=plain(metric), range=list(scale) if scale else None)
    return figure


def _in_order(frame: pl.DataFrame, marks: Mapping[str, Mark]) -> list[str]:
    """The frame's models in the order that they have on every page."""
    found = set(frame["model"].drop_nulls())
    return [model for model in marks if model in found] + sorted(found - marks.keys())
