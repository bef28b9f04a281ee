"""What a map of a procedure is drawn with: lines and texts below, the marks that can be clicked on top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxlab.charts.theme import Palette, channels, plain, readable_on, style_figure
from cxlab.records.procedure import Procedure, number
from cxlab.views.sop.map.labels import (
    ACTION_PX,
    FONT_PX,
    NODE_PX,
    Label,
    place_labels,
    stands_apart,
)
from cxlab.views.sop.map.layout import WIDTH, Layout, Point, Step, name_action, wrap

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_RIGHT_PX = 130
_LEFT_PX = 40
SIDES_PX = _LEFT_PX + _RIGHT_PX
# The key has three rows in a narrow window beside the menu, and two without it, as an audience sees it.
_TOP_PX, _FLAT_TOP_PX = 64, 52


@dataclass(frozen=True)
class Band:
    """One colour of a strand: `width` in pixels from rim to rim, and which layer of the map it lies in, from 0."""

    colour: str
    width: float
    layer: int = 0
    dash: str = "solid"


@dataclass(frozen=True)
class EdgeLine:
    """The one line of an edge: its bands lie in each other, the widest at the bottom, so they need no room beside."""

    step: Step
    line: Sequence[Point]
    bands: tuple[Band, ...]


@dataclass(frozen=True)
class MapTexts:
    """What is written on a map.

    `edges`: the shapes of each edge's label; `detours`: of each line that is no edge; `stages`: the lines below each
    stage's title; `actions`: those below each action.
    """

    edges: Mapping[Step, Sequence[Sequence[str]]]
    detours: Mapping[Step, str]
    stages: Mapping[str, Sequence[str]]
    actions: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class PlacedTexts:
    """The texts of a map, where they stand, and the lines that are no edges, which keep off them."""

    texts: MapTexts
    titles: Mapping[str, Sequence[tuple[Sequence[str], int]]]
    stages: Mapping[str, Label]
    edges: Mapping[Step, Label]
    detours: Mapping[Step, Sequence[Point]]
    beside: Mapping[Step, Label]


def place_texts(procedure: Procedure, layout: Layout, texts: MapTexts) -> PlacedTexts:
    """Where the texts of a map stand, and how lines that are no edges bend around them, with their texts."""
    # With its number, as on the stage itself and in every sentence of the page: so a name may stand aside of its stage.
    titles = {
        stage: shape_title(f"{number(stage)} {title}" if number(stage) != stage else title, texts.stages[stage])
        for stage, title in procedure.stages.items()
    }
    found = place_labels(procedure, titles, texts.edges, texts.detours, layout.flat)
    return PlacedTexts(texts, titles, found.stages, found.edges, found.arcs, found.beside)


def shape_title(title: str, below: Sequence[str]) -> list[tuple[Sequence[str], int]]:
    """The shapes of a stage's label and how many lines are its title: that in lines of several lengths, whole;
    what stands below it in brackets may take a line of its own."""
    shapes = dict.fromkeys(
        tuple(wrap(title, letters, lines)) for letters, lines in ((15, 3), (12, 4), (22, 3), (30, 3), (18, 5))
    )
    # A name is cut where it fits in no shape, never to save room: a text may stand apart from its stage.
    titles = [lines for lines in shapes if not any("…" in line for line in lines)] or list(shapes)[:1]
    parted = tuple(part for line in below for part in line.replace(" (", "\n(").split("\n"))
    ends = dict.fromkeys((tuple(below), parted))
    return [((*lines, *end), len(lines)) for lines in titles for end in ends]


def name_step(procedure: Procedure, step: Step) -> str:
    """A transition for people, in bold."""
    return f"<b>{plain(procedure.name(step[0]))} → {plain(procedure.name(step[1]))}</b>"


def draw_ground(
    procedure: Procedure,
    layout: Layout,
    strands: Sequence[EdgeLine],
    placed: PlacedTexts,
    colours: Palette,
    chosen: str,
    dark: bool,
    simulated: str = "",
    aside: str = "",
) -> "Figure":
    """Lines and texts, in a figure of the layout's size that can be moved and zoomed.

    `simulated` is said first in the legend. `aside`: the colour of what is written at lines that are no edges.
    Texts and lines keep their size in pixels: zooming in makes room between them.
    """
    from cxlab.charts.lazy_figure import LazyFigure

    figure = LazyFigure()
    _add_strands(figure, strands, chosen, colours)
    # All notes are set at once: each single one added would copy those before it.
    notes: list[dict[str, Any]] = []
    texts = placed.texts
    for stage, label in placed.stages.items():
        lines, bold = placed.titles[stage][label.shape]
        title, rest = "<br>".join(map(plain, lines[:bold])), "<br>".join(map(plain, lines[bold:]))
        note = _note(label, f"<b>{title}</b><br>{rest}", colours)
        notes.append(note | _lead_to(layout.nodes[stage], label, colours))
    for step, label in placed.edges.items():
        lines_of = texts.edges[step][label.shape]
        *when, count = lines_of if len(lines_of) > 1 else lines_of[0].rsplit(" ", 1)
        words = ("<br>" if len(lines_of) > 1 else " ").join([*map(plain, when), ""])
        notes.append(_note(label, f"{words}<span style='color:{colours.muted}'>{plain(count)}</span>", colours))
    for step, label in ((step, label) for step, label in placed.beside.items() if texts.detours[step]):
        notes.append(
            _note(label, f"<span style='color:{aside or colours.bad}'>{plain(texts.detours[step])}</span>", colours)
        )
    notes += [
        _note_action(action, counts, layout.nodes[action], colours)
        for action, counts in texts.actions.items()
        if action in layout.nodes
    ]
    if simulated:
        # In the picture, so that it goes wherever that goes; a heading above it need not say it, too.
        add_legend(figure, simulated, colours.muted, symbol="diamond-open")
    # A wide procedure opens at its left end; no way leads out of what is drawn.
    seen = layout.width if layout.flat else min(layout.width, 1.2 * WIDTH)
    figure.update_xaxes(range=[-2, seen + 2], minallowed=-60, maxallowed=layout.width + 60, visible=False)
    figure.update_yaxes(range=[0, layout.height], minallowed=-20, maxallowed=layout.height + 20, visible=False)
    top = _FLAT_TOP_PX if layout.flat else _TOP_PX
    style_figure(figure, dark, height=round(layout.height) + top + 20, values="none")
    figure.update_layout(
        margin={"l": _LEFT_PX, "r": _RIGHT_PX, "t": top, "b": 20, "autoexpand": False},
        legend={"x": -0.02, "y": 1.0, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False,
                "font": {"size": FONT_PX}},
        hoverdistance=14,
        annotations=notes,
        dragmode="pan",
        # What was zoomed to stays while the page is drawn anew.
        uirevision=procedure.id,
    )  # fmt: skip
    return figure


def _add_strands(figure: "Figure", strands: Sequence[EdgeLine], chosen: str, colours: Palette) -> None:
    # Lines of one look are one trace: a trace costs a millisecond, a map has some seventy lines.
    looks: dict[tuple[int, float, str, str], list[EdgeLine]] = {}
    for strand in strands:
        bands = strand.bands
        if ">".join(strand.step) == chosen:
            bands = (Band(colours.accent, max(band.width for band in bands) + 5, -1), *bands)
        for band in bands:
            width = round(2 * band.width) / 2 if band.width < 5 else round(band.width)
            looks.setdefault((band.layer, -width, band.colour, band.dash), []).append(strand)
    for (_, width, colour, dash), alike in sorted(looks.items(), key=lambda look: look[0]):
        figure.add_scatter(
            x=[x for strand in alike for x in (*(x for x, _ in strand.line), None)],
            y=[y for strand in alike for y in (*(y for _, y in strand.line), None)],
            mode="lines",
            line={"color": colour, "width": -width, "dash": dash},
            hoverinfo="skip",
            showlegend=False,
        )


def _note(label: Label, text: str, colours: Palette) -> dict[str, Any]:
    # Across, a text moves with the map, so that a wider window only parts what stands side by side; along, it keeps its
    # distance in pixels from its node or line, so that zooming does not part them.
    return {
        "x": label.box.x, "y": label.along, "yshift": label.box.y - label.along,
        "text": text, "showarrow": False, "borderpad": 0,
        "font": {"size": FONT_PX, "color": colours.ink}, "align": "center", "xanchor": "center", "yanchor": "middle",
    }  # fmt: skip


def _lead_to(node: Point, label: Label, colours: Palette) -> dict[str, Any]:
    """A hairline from a stage to its text where that stands apart from it; else nothing."""
    if not stands_apart(node, label.box):
        return {}
    up = label.box.y - label.along
    return {
        "x": node[0], "y": node[1], "yshift": 0, "showarrow": True, "arrowhead": 0, "arrowwidth": 1,
        "arrowcolor": colours.muted, "ax": label.box.x, "axref": "x", "ay": -up, "ayref": "pixel",
        "standoff": NODE_PX, "opacity": 1,
    }  # fmt: skip


def _note_action(action: str, counts: Sequence[str], at: Point, colours: Palette) -> dict[str, Any]:
    name = "<br>".join(map(plain, name_action(action)))
    count = "<br>".join(map(plain, counts))
    return {
        "x": at[0], "y": at[1], "xshift": ACTION_PX + 4, "showarrow": False, "xanchor": "left", "yanchor": "middle",
        "text": f"<b>{name}</b><br><span style='color:{colours.muted}'>{count}</span>", "align": "left",
        "font": {"size": FONT_PX, "color": colours.ink},
    }  # fmt: skip


def add_targets(
    figure: "Figure", lines: Mapping[Step, Sequence[Point]], hovers: Mapping[Step, str], procedure: Procedure
) -> None:
    """Invisible marks along each edge, so that lines can be hovered and clicked."""
    xs, ys, data, texts = [], [], [], []
    for step, line in lines.items():
        for share in (0.3, 0.4, 0.5, 0.6, 0.7):
            x, y = line[round(share * (len(line) - 1))]
            xs.append(x)
            ys.append(y)
            data.append(["step", *step])
            texts.append(hovers.get(step, f"{name_step(procedure, step)}<br>nobody went here"))
    figure.add_scatter(
        x=xs, y=ys, mode="markers", marker={"size": 12, "opacity": 0, "color": "#000000"},
        selected={"marker": {"opacity": 0}}, unselected={"marker": {"opacity": 0}},
        customdata=data, hovertext=texts, hovertemplate="%{hovertext}<extra></extra>", showlegend=False,
    )  # fmt: skip


def add_nodes(
    figure: "Figure",
    procedure: Procedure,
    layout: Layout,
    fills: Mapping[str, str],
    stage_hovers: Mapping[str, str],
    action_hovers: Mapping[str, str],
    colours: Palette,
    chosen: str,
) -> None:
    """Stages as circles with their number, actions as squares; both can be clicked."""
    stages = list(procedure.stages)
    inks = [readable_on(channels(fills.get(stage, colours.muted)), colours) for stage in stages]
    figure.add_scatter(
        x=[layout.nodes[stage][0] for stage in stages],
        y=[layout.nodes[stage][1] for stage in stages],
        mode="markers+text",
        marker={
            "size": 2 * NODE_PX,
            "color": [fills.get(stage, colours.muted) for stage in stages],
            "opacity": 1,
            "line": {
                "color": [
                    colours.accent if stage == chosen else colours.surface for stage in stages
                ],
                "width": [4 if stage == chosen else 2 for stage in stages],
            },
        },
        text=[f"<b>{number(stage)}</b>" for stage in stages],
        textfont={"color": inks, "size": 12},
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        customdata=[["stage", stage] for stage in stages],
        hovertext=[stage_hovers[stage] for stage in stages],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )  # fmt: skip
    actions = [action for action in procedure.actions if action in layout.nodes]
    figure.add_scatter(
        x=[layout.nodes[action][0] for action in actions],
        y=[layout.nodes[action][1] for action in actions],
        mode="markers",
        marker={"size": 2 * ACTION_PX, "symbol": "square", "color": colours.accent, "opacity": 1},
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        customdata=[["action", action] for action in actions],
        hovertext=[f"<b>{plain(action)}</b><br>{action_hovers[action]}" for action in actions],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )


def runs_back(line: Sequence[Point]) -> bool:
    """Whether a line leads against the reading direction."""
    return line[-1][0] < line[0][0]


def add_arrows(figure: "Figure", lines: Sequence[Sequence[Point]], colour: str) -> None:
    """A head on each of these lines two thirds along it: all others lead to the right, of these nobody could tell."""
    pairs = [(line[round(0.62 * (len(line) - 1))], line[round(0.68 * (len(line) - 1))]) for line in lines]
    if not pairs:
        return
    # Each head is turned by the way from the point before it on the screen, whatever the zoom; that point is not seen.
    figure.add_scatter(
        x=[x for pair in pairs for x in (*(point[0] for point in pair), None)],
        y=[y for pair in pairs for y in (*(point[1] for point in pair), None)],
        mode="markers",
        marker={
            "symbol": "arrow", "angleref": "previous", "color": colour, "size": [0, 11, 0] * len(pairs),
            "opacity": [0, 1, 0] * len(pairs), "line": {"width": 0},
        },
        hoverinfo="skip",
        showlegend=False,
    )  # fmt: skip


def add_legend(figure: "Figure", name: str, colour: str, dash: str = "solid", symbol: str = "") -> None:
    """A line in the legend that stands for no trace of its own, or with a `symbol` a mark."""
    look: dict[str, Any] = (
        {"mode": "markers", "marker": {"symbol": symbol, "size": 12, "color": colour}}
        if symbol
        else {"mode": "lines", "line": {"color": colour, "width": 5, "dash": dash}}
    )
    figure.add_scatter(x=[None], y=[None], name=plain(name), showlegend=True, **look)
