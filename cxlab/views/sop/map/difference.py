"""The maps of two models taken from each other: where one goes more often than the other, and what of it is sure."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.numbers import format_change, format_changes, format_count, format_share
from cxlab.charts.theme import Palette, mix_colours, palette, plain
from cxlab.records.procedure import Procedure
from cxlab.views.sop.map.charts import NO_STEP, edge_texts, line_width, several_ways
from cxlab.views.sop.map.counts import MOST_DETOURS
from cxlab.views.sop.map.drawing import (
    Band,
    EdgeLine,
    MapTexts,
    add_arrows,
    add_legend,
    add_nodes,
    add_targets,
    draw_ground,
    name_step,
    place_texts,
    runs_back,
)
from cxlab.views.sop.map.layout import Step, lay_out
from cxlab.views.sop.map.lines import curve

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_NO_GAP = 0.0005


def draw_difference(
    procedure: Procedure,
    steps: pl.DataFrame,
    branches: pl.DataFrame,
    models: tuple[str, str],
    names: tuple[str, str],
    dark: bool,
    chosen: str = "",
    simulated: str = "",
    brief: bool = False,
) -> "Figure":
    """Where the first model goes more often than the second. `steps` is `queries_difference.step_differences`.

    An edge's label is the share of turns that take it, of the first and of the second. Blue: more of the first, orange:
    more of the second; grey: the difference is not sure. Dotted: no step of the procedure. Stages carry the difference
    of their shares of right ways out in points. `branches` is by model. `brief`, for an audience: numbers and colours
    only at what is sure; all else is a hairline, the hover has it.
    """
    colours = palette(dark)
    layout = lay_out(procedure, flat=brief)
    lines = {step: curve(points) for step, points in layout.edges.items()}
    more, less = ("#56B4E9", "#E69F00") if dark else ("#0072B2", "#D55E00")
    unsure = "#475569" if dark else "#cbd5e1"
    rows = {(row["source"], row["target"]): row for row in steps.iter_rows(named=True)}
    most = max((abs(row["difference"]) for row in rows.values()), default=0.0)

    def band(step: Step, dash: str) -> tuple[Band, ...]:
        row = rows.get(step)
        if row is None or abs(row["difference"]) < _NO_GAP or (brief and not row["sure"]):
            return (Band(colours.hairline, 1.0, -1),)
        colour = (more if row["difference"] > 0 else less) if row["sure"] else unsure
        return (Band(colour, line_width(abs(row["difference"]), most), 1 if row["sure"] else 0, dash),)

    away = [step for step in rows if step not in lines and step[0] != step[1] and {*step} <= layout.nodes.keys()]
    away = [step for step in away if rows[step]["sure"] or not brief]
    away.sort(key=lambda step: (-abs(rows[step]["difference"]), step))
    told = {step: f"{100 * row['first']:.0f}\u00a0:\u00a0{100 * row['second']:.0f}" for step, row in rows.items()}
    scores = [dict(branches.filter(pl.col("model") == model).select("stage", "share").iter_rows()) for model in models]
    both = {stage: scores[0][stage] - scores[1][stage] for stage in procedure.stages if all(stage in s for s in scores)}
    fills = {} if brief else {stage: _gap_colour(gap, more, less, colours) for stage, gap in both.items()}
    ends = {
        action: "\u00a0:\u00a0".join(
            f"{100 * sum(row[side] for (_, target), row in rows.items() if target == action):.0f}"
            for side in ("first", "second")
        )
        for action in procedure.actions
    }
    texts = _write_texts(procedure, rows, lines, away, told, both, ends, brief)
    placed = place_texts(procedure, layout, texts)
    strands = [EdgeLine(step, line, band(step, "solid")) for step, line in lines.items()]
    strands += [EdgeLine(step, line, band(step, "dot")) for step, line in placed.detours.items()]
    figure = draw_ground(procedure, layout, strands, placed, colours, chosen, dark, simulated, colours.muted)
    add_targets(figure, {**lines, **placed.detours}, _write_hovers(procedure, rows, names), procedure)
    add_nodes(
        figure,
        procedure,
        layout,
        fills,
        {
            stage: f"<b>{plain(procedure.name(stage))}</b><br>right way out, given arrival:<br>"
            + "<br>".join(f"{plain(n)} {format_share(s.get(stage))}" for n, s in zip(names, scores, strict=True))
            for stage in procedure.stages
        },
        {action: f"{ends[action]} % of turns ended here" for action in procedure.actions},
        colours,
        chosen,
    )
    back = [line for step, line in lines.items() if runs_back(line) and step in rows]
    add_arrows(figure, [*back, *placed.detours.values()], colours.muted)
    add_legend(figure, f"more of {names[0]}", more)
    add_legend(figure, f"more of {names[1]}", less)
    add_legend(figure, "cannot tell", colours.hairline if brief else unsure)
    if away:
        add_legend(figure, NO_STEP, unsure, "dot")
    return figure


def _write_texts(
    procedure: Procedure, rows: Mapping[Step, Mapping[str, Any]], lines: Collection[Step], away: Sequence[Step],
    told: Mapping[Step, str], both: Mapping[str, float], ends: Mapping[str, str], brief: bool,
) -> MapTexts:  # fmt: skip
    """What is written on the map; `told` at a step, `both` the difference at a stage, `ends` at an action."""
    several = several_ways(procedure)
    return MapTexts(
        {step: [[told[step]]] for step in lines if step in rows and rows[step]["sure"]}
        if brief
        else {
            (edge.source, edge.target): edge_texts(edge, told.get((edge.source, edge.target), "0\u00a0:\u00a00"))
            for edge in procedure.edges
            if edge in several or rows.get((edge.source, edge.target), {}).get("sure")
        },
        # What is not sure has no figure off the lines of the procedure: it would be read as that of the line beside it.
        {step: told[step] if rows[step]["sure"] else "" for step in away[:MOST_DETOURS]},
        {
            stage: [] if brief else [f"{format_change(100 * both[stage])} points" if stage in both else "not both came"]
            for stage in procedure.stages
        },
        {action: [] if brief else [words] for action, words in ends.items()},
    )


def _write_hovers(
    procedure: Procedure, rows: Mapping[Step, Mapping[str, Any]], names: tuple[str, str]
) -> dict[Step, str]:
    """What the pointer is told of each step that both models could take."""
    return {
        step: f"{name_step(procedure, step)}<br>{plain(names[0])} {format_share(row['first'])} of turns<br>"
        f"{plain(names[1])} {format_share(row['second'])}<br>"
        f"{format_change(100 * row['difference'])} points, 95 % interval "
        f"{format_changes(100 * row['low'], 100 * row['high'])}<br>{'sure' if row['sure'] else 'cannot tell'}, "
        f"{format_count(row['n'])} samples of both"
        for step, row in rows.items()
        if row["low"] is not None
    }


def _gap_colour(gap: float, more: str, less: str, colours: Palette) -> str:
    # Twenty points and more have the full colour.
    return mix_colours(colours.hairline, more if gap > 0 else less, min(1.0, abs(gap) / 0.2))
