"""A procedure as a map: what agents did on what was due, in scatter traces, so that each mark can be clicked."""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.lazy_figure import LazyFigure
from cxlab.charts.names import begin, name_id, shorten
from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import Palette, mix_colours, palette, plain
from cxlab.records.procedure import Branch, Edge, Procedure
from cxlab.views.sop.map.counts import MOST_DETOURS, MapCounts, count_map, made
from cxlab.views.sop.map.drawing import (
    SIDES_PX,
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
from cxlab.views.sop.map.layout import Step, lay_out, name_whole, wrap
from cxlab.views.sop.map.lines import curve

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_WIDEST_PX = 14.0
_THINNEST_PX = 1.6
_MOST_BRIEF = 3
_MOST_SCALE = 1.6
_PIXELS = frozenset({"size", "width", "xshift", "yshift", "ay", "standoff", "height", "l", "r", "t", "b"})
_UNITS = frozenset({"x", "y", "customdata", "range"})
NO_STEP = "not in the procedure"
"""What a dotted line is called: it is drawn on the map, and no step of the procedure."""
ORDER = "Stages stand in the order in which one may follow another, whatever their number. "
READS = (
    "At a line and a stage: all turns that went there, in step until then or not. Per cent: of those that came when it "
    "was due, how many took the right way out. In brackets: came from (+) or went to (−) where no line is drawn. Lines "
    "lead to the right but for arrows. "
    f"{ORDER}"
    "Drag to move, + and − above it to zoom; "
    "click a stage or a line for its turns."
)
"""How the map is read, in a caption."""
KINDS = ("followed", "inserted", "skipped")
_OF_ONE = {"followed": "as was due", "inserted": "taken, not due", "skipped": "due, not taken"}
_STOPS = ((0.5, "50 % right or less"), (0.75, "75 %"), (0.95, "95 % or more"))


def draw_map(
    procedure: Procedure,
    traffic: pl.DataFrame,
    branches: pl.DataFrame,
    dark: bool,
    chosen: str = "",
    simulated: str = "",
    counted: bool = True,
    brief: bool = False,
) -> "Figure":
    """What agents did in a procedure. `traffic` is `queries.traffic`, `branches` `queries.branches`.

    Width of a line = number of turns; green core = followed, red = inserted (the reference does not go there), grey
    rim = skipped (only the reference goes there), dotted = no step of the procedure. Colour of a stage = share of right
    ways out. `chosen` marks a stage or "a>b". Of a single turn nothing is `counted`. `brief`, for an audience: at each
    stage the share that left it rightly, and the commonest ways off the map; the hover has the rest. customdata:
    ["stage", id], ["action", name] or ["step", source, target].
    """
    colours = palette(dark)
    layout = lay_out(procedure, flat=brief)
    counts = count_map(procedure, traffic, layout.nodes, _MOST_BRIEF if brief else MOST_DETOURS)
    lines = {step: curve(points) for step, points in layout.edges.items()}
    values = {row["stage"]: row for row in branches.iter_rows(named=True)}
    texts = MapTexts(
        {}
        if brief
        else {
            (edge.source, edge.target): edge_texts(
                edge, format_count(made(counts.moved.get((edge.source, edge.target), {}))) if counted else ""
            )
            for edge in several_ways(procedure)
        },
        {step: format_count(made(counts.moved[step])) if counted else "" for step in counts.detours},
        {stage: _stage_lines(stage, counts, values.get(stage), brief) if counted else [] for stage in procedure.stages},
        {action: _action_lines(action, counts) if counted and not brief else [] for action in procedure.actions},
    )
    placed = place_texts(procedure, layout, texts)
    looks = {"skipped": _grey(dark), "inserted": colours.bad, "followed": colours.good}
    strands = [
        EdgeLine(step, line, _bands(counts.moved.get(step, {}), counts.most, looks, colours))
        for step, line in lines.items()
    ]
    strands += [
        EdgeLine(step, line, (Band(colours.bad, line_width(made(counts.moved[step]), counts.most), 1, "dot"),))
        for step, line in placed.detours.items()
    ]
    figure = draw_ground(procedure, layout, strands, placed, colours, chosen, dark, simulated)
    hovers = {step: _step_hover(procedure, step, kinds, counted) for step, kinds in counts.moved.items()}
    add_targets(figure, {**lines, **placed.detours}, hovers, procedure)
    add_nodes(
        figure,
        procedure,
        layout,
        {stage: accuracy_colour(values[stage]["share"], colours) for stage in values},
        {
            stage: _stage_hover(procedure, stage, values.get(stage), counts)
            if counted
            else plain(procedure.name(stage))
            for stage in procedure.stages
        },
        {
            action: (
                f"{format_count(counts.came.get(action, 0))} turns ended here{_elsewhere_hover(action, counts)}"
                if counted
                else ""
            )
            + _plans_hover(procedure, action)
            for action in procedure.actions
        },
        colours,
        chosen,
    )
    for kind in KINDS:
        add_legend(figure, kind if counted else _OF_ONE[kind], looks[kind])
    if counted or counts.detours:
        add_legend(figure, NO_STEP, colours.bad, "dot")
    back = [line for step, line in lines.items() if runs_back(line) and counts.moved.get(step)]
    add_arrows(figure, [*back, *placed.detours.values()], colours.bad)
    for share, words in _STOPS if counted else ():
        add_legend(figure, words, accuracy_colour(share, colours), symbol="circle")
    return figure


def accuracy_colour(share: float, colours: Palette) -> str:
    """From bad (half or less right) over warning (three quarters) to good (95 % and more)."""
    stops = [(0.5, colours.bad), (0.75, colours.warning), (0.95, colours.good)]
    if share <= stops[0][0]:
        return stops[0][1]
    for (low, start), (high, end) in pairwise(stops):
        if share <= high:
            return mix_colours(start, end, (share - low) / (high - low))
    return stops[-1][1]


def _grey(dark: bool) -> str:
    return "#64748b" if dark else "#b6bdc9"


def line_width(n: float, most: float) -> float:
    """The width in pixels of a line for n, where the widest stands for `most`."""
    return max(_THINNEST_PX, _WIDEST_PX * n / most) if most else _THINNEST_PX


def _bands(kinds: Mapping[str, int], most: int, looks: Mapping[str, str], colours: Palette) -> tuple[Band, ...]:
    """The colours of an edge in each other, the last of `looks` innermost; a hairline where nobody was due or went."""
    total = sum(kinds.values())
    if not total:
        return (Band(colours.hairline, 1.0, -1),)
    whole = line_width(total, most)
    bands: list[Band] = []
    within = total
    for layer, (kind, colour) in enumerate(looks.items()):
        # A rim or core of less than half a pixel cannot be seen; the hover and the table tell of it.
        if kinds.get(kind) and (not bands or whole * within / total >= 0.5):
            bands.append(Band(colour, whole * within / total, layer))
        within -= kinds.get(kind, 0)
    return tuple(bands)


def _conditions(edge: Edge) -> str:
    text = " / ".join(dict.fromkeys(_shorten(branch) for branch in edge.branches if branch.conditions))
    if len(text) > 34 and len(edge.branches) > 1:
        return f"{len(edge.branches)} cases"
    return text


def _shorten(branch: Branch) -> str:
    """The values of a branch in words; beside others, long ones are cut ("return…"). The hover has all."""
    longest = 16 if len(branch.conditions) == 1 else 10
    return " · ".join(
        ", ".join(shorten(name_id(value), longest) for value in values.split(", ")) for _, values in branch.conditions
    )


def several_ways(procedure: Procedure) -> list[Edge]:
    """The edges that say something: the only way out of a stage is taken by all that leave it, whatever they say."""
    ways = Counter(edge.source for edge in procedure.edges)
    return [edge for edge in procedure.edges if ways[edge.source] > 1]


def edge_texts(edge: Edge, value: str) -> list[list[str]]:
    """An edge's label in the shapes that it may take: stacked, in one line, or the value alone."""
    text = _conditions(edge)
    if not value:
        return [wrap(text, 15, 2), [text if len(text) <= 26 else f"{text[:25].rstrip(' ,/·')}…"]] if text else [[]]
    stacked = [*wrap(text, 15, 2), value]
    wide = text if len(text) <= 26 else f"{text[:25].rstrip(' ,/·')}…"
    return [stacked, [f"{wide} {value}"], [wide, value], [value]] if text else [[value]]


def _stage_lines(stage: str, counts: MapCounts, row: Mapping[str, Any] | None, brief: bool) -> list[str]:
    """Below a stage's title: turns that came, the share that took the right way out, and what has no line."""
    if brief:
        return [f"{100 * row['share']:.0f} % right"] if row else []
    share = f" · {100 * row['share']:.0f} %" if row else ""
    return [f"{format_count(counts.came[stage])}{share}{_say_undrawn(stage, counts)}"]


def _action_lines(action: str, counts: MapCounts) -> list[str]:
    return [f"{format_count(counts.came.get(action, 0))}{_say_undrawn(action, counts)}"]


def _say_undrawn(node: str, counts: MapCounts) -> str:
    """ " (+2 −1)": turns that came from, or went to, where the map draws no line."""
    undrawn = (("+", counts.entered.get(node, 0)), ("−", counts.left.get(node, 0)))
    told = " ".join(f"{sign}{format_count(n)}" for sign, n in undrawn if n)
    return f" ({told})" if told else ""


def _plans_hover(procedure: Procedure, action: str) -> str:
    """What each of the plans is that an action hands over; nothing for another action."""
    plans = procedure.plans if action == procedure.plan_action else ()
    return "".join(f"<br>{plain(begin(name_whole(procedure, plan)))}" for plan in plans)


def _elsewhere_hover(node: str, counts: MapCounts) -> str:
    entered, left = counts.entered.get(node, 0), counts.left.get(node, 0)
    told = [f"{format_count(entered)} came from where the map draws no line"] if entered else []
    told += [f"{format_count(left)} left to where the map draws no line"] if left else []
    return "".join(f"<br>{words}" for words in told)


def _step_hover(procedure: Procedure, step: Step, kinds: Mapping[str, int], counted: bool) -> str:
    edge = next((e for e in procedure.edges if (e.source, e.target) == step), None)
    when = "<br>".join(plain(b.full) for b in edge.branches) if edge else "not a step of this procedure"
    told = "<br>".join(f"{kind} {format_count(kinds.get(kind, 0))}" for kind in KINDS) + " turns"
    told = told if counted else ", ".join(kind for kind in KINDS if kinds.get(kind))
    return f"{name_step(procedure, step)}<br>{when}<br>{told}"


def _stage_hover(procedure: Procedure, stage: str, row: Mapping[str, Any] | None, counts: MapCounts) -> str:
    title = f"<b>{plain(procedure.name(stage))}</b><br>{format_count(counts.came[stage])} turns came here"
    title += _elsewhere_hover(stage, counts)
    if row is None:
        return f"{title}<br>none of them when it was due"
    low, high = row["low"], row["high"]
    sure = f"<br>95 % interval {format_share(low)} to {format_share(high)}" if low is not None else ""
    due = f"of the {format_count(row['n'])} that came when it was due ({row['clusters']} clusters)"
    return f"{title}<br>right way out {format_share(row['share'])} {due}{sure}"


def fit(figure: "Figure", procedure: Procedure, room: tuple[int, int]) -> LazyFigure:
    """The map for an audience in so much room (width and height in pixels): all of it, in as large a type as goes into
    it, and none smaller than that of the map itself."""
    wide = lay_out(procedure, flat=True).width + SIDES_PX
    return enlarge(figure, max(1.0, min(room[0] / wide, room[1] / figure.layout.height, _MOST_SCALE)))


def enlarge(figure: "Figure", scale: float) -> LazyFigure:
    """The figure with everything that is measured in pixels so many times as large; what is measured in the map's own
    units stays, so that nothing that stands apart comes together."""
    spec = figure.to_dict()
    layout = {
        name: value if name == "template" else _scaled(value, name, scale) for name, value in spec["layout"].items()
    }
    return LazyFigure({"data": [_scaled(trace, "", scale) for trace in spec["data"]], "layout": layout})


def _scaled(value: Any, name: str, scale: float) -> Any:
    match value:
        case dict():
            return {key: each if key in _UNITS else _scaled(each, key, scale) for key, each in value.items()}
        case list():
            return [_scaled(each, name, scale) for each in value]
        case int() | float() if name in _PIXELS and not isinstance(value, bool):
            return value * scale
        case _:
            return value
