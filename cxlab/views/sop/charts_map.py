"""A procedure as a map: what agents did on what was due, in scatter traces, so that each mark can be clicked."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import Palette, palette, plain
from cxlab.records.procedure import Branch, Edge, Procedure
from cxlab.views.sop.charts_map_drawing import (
    EdgeLine,
    add_legend,
    add_nodes,
    add_targets,
    draw_ground,
    name_step,
)
from cxlab.views.sop.charts_map_labels import curve, wrap
from cxlab.views.sop.charts_map_layout import Layout, Point, Step, lay_out

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_WIDEST_PX = 15.0
MOST_DETOURS = 6
"""Transitions that the procedure does not know are drawn for the commonest only; the table has them all."""
# Kinds of moves with less than this share of the busiest step are left to hover and table: hairs hide the rest.
_FAINT = 0.008
KINDS = {"followed": "followed", "inserted": "inserted", "skipped": "skipped"}


def draw_map(
    procedure: Procedure, traffic: pl.DataFrame, branches: pl.DataFrame, dark: bool, chosen: str = ""
) -> "Figure":
    """What agents did in a procedure. `traffic` is `read.paths.traffic`, `branches` `read.paths.branches`.

    Width of a line = number of turns; green = followed, dotted red = inserted (the reference does not go there), grey =
    skipped (only the reference goes there). Colour of a stage = share of right ways out. `chosen` marks a stage or
    "a>b". customdata: ["stage", id], ["action", name] or ["step", source, target].
    """
    colours = palette(dark)
    layout = lay_out(procedure)
    moved = _collapse(procedure, traffic)
    lines = {step: curve(points) for step, points in layout.edges.items()}
    most = max((sum(kinds.values()) for kinds in moved.values()), default=1)
    looks = {"followed": (colours.good, "solid"), "inserted": (colours.bad, "dot"), "skipped": (_grey(dark), "solid")}
    strands: list[EdgeLine] = []
    for step, line in lines.items():
        kinds = {kind: moved.get(step, {}).get(kind, 0) for kind in KINDS}
        widths = {kind: max(1.4, _WIDEST_PX * n / most) for kind, n in kinds.items() if n > _FAINT * most}
        if not widths and any(kinds.values()):
            widths = {max(kinds, key=lambda kind: kinds[kind]): 1.4}
        if not widths:
            strands.append(EdgeLine(step, line, colours.hairline, 1.0))
        start = -sum(widths.values()) / 2 - (len(widths) - 1)
        for kind, width in widths.items():
            colour, dash = looks[kind]
            strands.append(EdgeLine(step, line, colour, width, start + width / 2, dash))
            start += width + 2
    detours = _detours(layout, moved)
    strands += [
        EdgeLine(step, line, colours.bad, max(1.4, _WIDEST_PX * n / most), dash="dot") for step, line, n in detours
    ]
    told = {
        (edge.source, edge.target): _edge_texts(
            procedure, edge, format_count(_made(moved.get((edge.source, edge.target), {})))
        )
        for edge in procedure.edges
    }
    values = {row["stage"]: row for row in branches.iter_rows(named=True)}
    figure = draw_ground(
        procedure,
        layout,
        strands,
        told,
        {stage: _stage_value(values.get(stage)) for stage in procedure.stages},
        {stage: accuracy_colour(values[stage]["share"], colours) for stage in values},
        {action: format_count(_arrivals(moved, action)) for action in procedure.actions},
        colours,
        chosen,
        dark,
    )
    hovers = {step: _step_hover(procedure, step, kinds) for step, kinds in moved.items()}
    add_targets(figure, {**lines, **{step: line for step, line, _ in detours}}, hovers, procedure)
    add_nodes(
        figure,
        procedure,
        layout,
        {stage: accuracy_colour(values[stage]["share"], colours) for stage in values},
        {stage: _stage_hover(procedure, stage, values.get(stage)) for stage in procedure.stages},
        {action: f"n {format_count(_arrivals(moved, action))} turns ended here" for action in procedure.actions},
        colours,
        chosen,
    )
    for kind, (colour, dash) in looks.items():
        add_legend(figure, KINDS[kind], colour, dash)
    return figure


def draw_difference(
    procedure: Procedure,
    traffic: pl.DataFrame,
    branches: pl.DataFrame,
    models: tuple[str, str],
    names: tuple[str, str],
    dark: bool,
    chosen: str = "",
) -> "Figure":
    """Where the first model goes more often than the second, in shares of each one's turns.

    Stages carry the difference of their accuracies in points. `branches` is by model. Blue: more of the first,
    orange: more of the second, whatever kind of move.
    """
    colours = palette(dark)
    layout = lay_out(procedure)
    lines = {step: curve(points) for step, points in layout.edges.items()}
    shares = [_shares_of(procedure, traffic.filter(pl.col("model") == model)) for model in models]
    steps = {*shares[0], *shares[1]}
    gaps = {step: shares[0].get(step, 0.0) - shares[1].get(step, 0.0) for step in steps}
    most = max((abs(gap) for gap in gaps.values()), default=0.0) or 1.0
    more, less = ("#56B4E9", "#E69F00") if dark else ("#0072B2", "#D55E00")
    strands = []
    for step, line in lines.items():
        gap = gaps.get(step, 0.0)
        none = abs(gap) < 0.0005
        strands.append(
            EdgeLine(step, line, colours.hairline if none else more if gap > 0 else less,
                    1.0 if none else max(1.4, _WIDEST_PX * abs(gap) / most))
        )  # fmt: skip
    away = {step: {"inserted": round(abs(gap) * 10_000)} for step, gap in gaps.items()}
    detours = _detours(layout, away)
    strands += [
        EdgeLine(
            step, line, more if gaps[step] > 0 else less, max(1.4, _WIDEST_PX * abs(gaps[step]) / most), dash="dot"
        )
        for step, line, _ in detours
    ]
    told = {
        (edge.source, edge.target): _edge_texts(
            procedure, edge, f"{100 * gaps.get((edge.source, edge.target), 0.0):+.1f}"
        )
        for edge in procedure.edges
    }
    scores = [dict(branches.filter(pl.col("model") == model).select("stage", "share").iter_rows()) for model in models]
    both = {stage: scores[0][stage] - scores[1][stage] for stage in procedure.stages if all(stage in s for s in scores)}
    fills = {stage: _gap_colour(gap, more, less, colours) for stage, gap in both.items()}
    values = {
        stage: f"{100 * both[stage]:+.1f} points" if stage in both else "no arrivals" for stage in procedure.stages
    }
    ends = {
        action: f"{100 * sum(gap for (_, target), gap in gaps.items() if target == action):+.1f}"
        for action in procedure.actions
    }
    figure = draw_ground(procedure, layout, strands, told, values, fills, ends, colours, chosen, dark)
    hovers = {
        step: f"{name_step(procedure, step)}<br>{plain(names[0])} {format_share(shares[0].get(step, 0.0))} of turns<br>"
        f"{plain(names[1])} {format_share(shares[1].get(step, 0.0))}"
        for step in gaps
    }
    add_targets(figure, {**lines, **{step: line for step, line, _ in detours}}, hovers, procedure)
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
        {action: f"{ends[action]} points of all turns" for action in procedure.actions},
        colours,
        chosen,
    )
    add_legend(figure, f"more of {names[0]}", more, "solid")
    add_legend(figure, f"more of {names[1]}", less, "solid")
    return figure


def accuracy_colour(share: float, colours: Palette) -> str:
    """From bad (half or less right) over warning (three quarters) to good (95 % and more)."""
    stops = [(0.5, colours.bad), (0.75, colours.warning), (0.95, colours.good)]
    if share <= stops[0][0]:
        return stops[0][1]
    for (low, start), (high, end) in pairwise(stops):
        if share <= high:
            return _mix(start, end, (share - low) / (high - low))
    return stops[-1][1]


def _gap_colour(gap: float, more: str, less: str, colours: Palette) -> str:
    # Twenty points and more have the full colour.
    return _mix(colours.hairline, more if gap > 0 else less, min(1.0, abs(gap) / 0.2))


def _mix(start: str, end: str, share: float) -> str:
    pairs = [(int(start[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _grey(dark: bool) -> str:
    return "#64748b" if dark else "#b6bdc9"


def _collapse(procedure: Procedure, traffic: pl.DataFrame) -> dict[Step, dict[str, int]]:
    """Turns by transition between nodes and kind, over all models."""
    moved: dict[Step, dict[str, int]] = {}
    for source, target, kind, n in traffic.select("source", "target", "kind", "n").iter_rows():
        kinds = moved.setdefault((procedure.node(source), procedure.node(target)), {})
        kinds[kind] = kinds.get(kind, 0) + n
    return moved


def _shares_of(procedure: Procedure, traffic: pl.DataFrame) -> dict[Step, float]:
    """Share of a model's turns that make each transition (each turn ends in exactly one action)."""
    made = _collapse(procedure, traffic.filter(pl.col("kind") != "skipped"))
    turns = sum(sum(kinds.values()) for (_, target), kinds in made.items() if target not in procedure.stages)
    return {step: sum(kinds.values()) / turns for step, kinds in made.items()} if turns else {}


def _made(kinds: Mapping[str, int]) -> int:
    return sum(n for kind, n in kinds.items() if kind != "skipped")


def _arrivals(moved: Mapping[Step, Mapping[str, int]], node: str) -> int:
    return sum(_made(kinds) for (_, target), kinds in moved.items() if target == node)


def _detours(layout: Layout, moved: Mapping[Step, Mapping[str, int]]) -> list[tuple[Step, list[Point], int]]:
    """Inserted transitions that the procedure does not know, as arcs that keep off the nodes; commonest first."""
    away = [
        (step, kinds.get("inserted", 0))
        for step, kinds in moved.items()
        if step not in layout.edges and step[0] != step[1] and {*step} <= layout.nodes.keys() and kinds.get("inserted")
    ]
    most = max((sum(kinds.values()) for kinds in moved.values()), default=0)
    away = [(step, n) for step, n in away if n > _FAINT * most]
    away.sort(key=lambda item: (-item[1], item[0]))
    found = []
    for step, n in away[:MOST_DETOURS]:
        (x0, y0), (x1, y1) = layout.nodes[step[0]], layout.nodes[step[1]]
        others = [point for name, point in layout.nodes.items() if name not in step]

        def arc(bulge: float, ends: tuple[Point, Point] = ((x0, y0), (x1, y1))) -> list[Point]:
            (xa, ya), (xb, yb) = ends
            steps = [i / 24 for i in range(25)]
            return [(xa + (xb - xa) * t, ya + (yb - ya) * t + 4 * bulge * t * (1 - t)) for t in steps]

        def crowd(line: list[Point], others: list[Point] = others) -> float:
            near = sum(max(0.0, 26 - max(abs(x - ox) * 0.8, abs(y - oy))) for x, y in line for ox, oy in others)
            out = sum(max(0.0, 8 - y) + max(0.0, y - layout.height + 8) for _, y in line)
            return near + 3 * out

        found.append((step, min((arc(b) for b in (26, -26, 44, -44, 66, -66, 90, -90)), key=crowd), n))
    return found


def _conditions(edge: Edge) -> str:
    text = " / ".join(dict.fromkeys(_shorten(branch) for branch in edge.branches if branch.conditions))
    if len(text) > 34 and len(edge.branches) > 1:
        return f"{len(edge.branches)} cases"
    return text


def _shorten(branch: Branch) -> str:
    """The values of a branch; beside others, words of several humps keep the first ("Return…"). The hover has all."""
    longest = 16 if len(branch.conditions) == 1 else 10
    return " · ".join(
        ", ".join(value if len(value) <= longest else _first_hump(value) for value in values.split(", "))
        for _, values in branch.conditions
    )


def _first_hump(word: str) -> str:
    hump = re.match(r"[A-Z]?[a-z]+", word)
    return f"{hump[0] if hump and len(hump[0]) < len(word) else word[:9]}…"


def _edge_texts(procedure: Procedure, edge: Edge, value: str) -> list[list[str]]:
    """An edge's label in the shapes that it may take: stacked, or in one line where the way is long."""
    # The only way out of a stage is taken whatever the customer says, so its conditions are left to the hover.
    alone = sum(other.source == edge.source for other in procedure.edges) == 1
    text = "" if alone else _conditions(edge)
    stacked = [*wrap(text, 15, 2), value]
    wide = text if len(text) <= 26 else f"{text[:25].rstrip(' ,/·')}…"
    return [stacked, [f"{wide} {value}"], [wide, value]] if text else [[value]]


def _stage_value(row: Mapping[str, Any] | None) -> str:
    return f"{100 * row['share']:.0f} % · n {format_count(row['n'])}" if row else "no arrivals"


def _step_hover(procedure: Procedure, step: Step, kinds: Mapping[str, int]) -> str:
    edge = next((e for e in procedure.edges if (e.source, e.target) == step), None)
    when = "<br>".join(plain(b.full) for b in edge.branches) if edge else "not a step of this procedure"
    counted = "<br>".join(f"{kind} {format_count(kinds.get(kind, 0))}" for kind in KINDS)
    return f"{name_step(procedure, step)}<br>{when}<br>{counted} turns"


def _stage_hover(procedure: Procedure, stage: str, row: Mapping[str, Any] | None) -> str:
    title = f"<b>{plain(procedure.name(stage))}</b>"
    if row is None:
        return f"{title}<br>nobody arrived here"
    low, high = row["low"], row["high"]
    sure = f"<br>95 % interval {format_share(low)} to {format_share(high)}" if low is not None else ""
    counted = f"<br>n {format_count(row['n'])} turns of {row['clusters']} samples"
    return f"{title}<br>right way out {format_share(row['share'])}{sure}{counted}"
