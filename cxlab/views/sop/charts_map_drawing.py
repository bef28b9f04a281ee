"""What a map of a procedure is drawn with: lines and texts below, the marks that can be clicked on top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxlab.charts.theme import Palette, plain, style_figure
from cxlab.records.procedure import Procedure, number
from cxlab.views.sop.charts_map_labels import (
    ACTION_PX,
    FONT_PX,
    NODE_PX,
    Label,
    name_action,
    place_labels,
    wrap,
)
from cxlab.views.sop.charts_map_layout import Layout, Point, Step

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_RIGHT_PX = 112
_LEFT_PX = 40


@dataclass(frozen=True)
class EdgeLine:
    """One line of the map: `shift` moves it off the middle of its edge, in pixels."""

    step: Step
    line: Sequence[Point]
    colour: str
    width: float
    shift: float = 0.0
    dash: str = "solid"


def name_step(procedure: Procedure, step: Step) -> str:
    """A transition for people, in bold."""
    return f"<b>{plain(procedure.name(step[0]))} → {plain(procedure.name(step[1]))}</b>"


def draw_ground(
    procedure: Procedure,
    layout: Layout,
    strands: Sequence[EdgeLine],
    told: Mapping[Step, Sequence[Sequence[str]]],
    values: Mapping[str, str],
    fills: Mapping[str, str],
    ends: Mapping[str, str],
    colours: Palette,
    chosen: str,
    dark: bool,
) -> "Figure":
    """Lines and texts, in a figure of the layout's size.

    `told`: the shapes of each edge's label; `values`: the last line of each stage's; `fills`: colours of stages that
    somebody reached; `ends`: what stands below each action.
    """
    from cxlab.charts.lazy_figure import LazyFigure

    figure = LazyFigure()
    # Lines of one look are one trace: a trace costs a millisecond, a map has some seventy lines.
    looks: dict[tuple[str, str, float], list[EdgeLine]] = {}
    for strand in strands:
        width = round(2 * strand.width) / 2 + (2 if ">".join(strand.step) == chosen else 0)
        looks.setdefault((strand.colour, strand.dash, width), []).append(strand)
    for (colour, dash, width), alike in sorted(looks.items(), key=lambda look: -look[0][2]):
        figure.add_scatter(
            x=[x for strand in alike for x in (*(x for x, _ in strand.line), None)],
            y=[y for strand in alike for y in (*(y + strand.shift for _, y in strand.line), None)],
            mode="lines",
            line={"color": colour, "width": width, "dash": dash},
            opacity=0.8,
            hoverinfo="skip",
            showlegend=False,
        )
    titles = {stage: [*wrap(title, 15, 3), values[stage]] for stage, title in procedure.stages.items()}
    # All notes are set at once: each single one added would copy those before it.
    notes: list[dict[str, Any]] = []
    of_stages, of_edges = place_labels(procedure, titles, told)
    for stage, label in of_stages.items():
        *title, value = titles[stage]
        notes.append(_note(label, "<b>" + "<br>".join(map(plain, title)) + f"</b><br>{plain(value)}", colours))
    for step, label in of_edges.items():
        lines_of = told[step][label.shape]
        *when, count = lines_of if len(lines_of) > 1 else lines_of[0].rsplit(" ", 1)
        words = ("<br>" if len(lines_of) > 1 else " ").join([*map(plain, when), ""])
        notes.append(_note(label, f"{words}<span style='color:{colours.muted}'>{plain(count)}</span>", colours))
    for action, count in ends.items():
        if action in layout.nodes:
            x, y = layout.nodes[action]
            name = "<br>".join(map(plain, name_action(action)))
            notes.append(
                {
                    "x": x,
                    "y": y,
                    "xshift": ACTION_PX + 4,
                    "text": f"<b>{name}</b><br><span style='color:{colours.muted}'>{plain(count)}</span>",
                    "showarrow": False,
                    "xanchor": "left",
                    "yanchor": "middle",
                    "align": "left",
                    "font": {"size": FONT_PX, "color": colours.ink},
                }
            )
    figure.update_xaxes(range=[-2, layout.width + 2], visible=False, fixedrange=True)
    figure.update_yaxes(range=[0, layout.height], visible=False, fixedrange=True)
    style_figure(figure, dark, height=round(layout.height) + 34, values="none")
    figure.update_layout(
        margin={"l": _LEFT_PX, "r": _RIGHT_PX, "t": 34, "b": 0, "autoexpand": False},
        legend={"x": -0.02, "y": 1.0, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False},
        hoverdistance=14,
        annotations=notes,
    )
    return figure


def _note(label: Label, text: str, colours: Palette) -> dict[str, Any]:
    return {
        "x": label.box.x, "y": label.box.y, "text": text, "showarrow": False, "bgcolor": _clear(colours.surface),
        "borderpad": 0, "font": {"size": FONT_PX, "color": colours.ink}, "align": "center", "xanchor": "center",
        "yanchor": "middle",
    }  # fmt: skip


def _clear(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.86)"


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
        textfont={"color": colours.surface, "size": 12},
        selected={"marker": {"opacity": 1}, "textfont": {"color": colours.surface}},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": colours.surface}},
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
        hovertext=[f"<b>{plain(action)}</b><br>{plain(action_hovers[action])}" for action in actions],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )


def add_legend(figure: "Figure", name: str, colour: str, dash: str) -> None:
    """A line in the legend that stands for no trace of its own."""
    line = {"color": colour, "width": 5, "dash": dash}
    figure.add_scatter(x=[None], y=[None], mode="lines", name=plain(name), line=line, showlegend=True)
