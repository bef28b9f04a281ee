"""How far each variant of a conversation has come, turn by turn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from cxlab.charts.lazy_figure import LazyFigure
from cxlab.charts.theme import MODEL_COLOURS, palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_LINES = ("solid", "dash", "dot")
Course = Sequence[tuple[int, float]]


def course_frame(titles: Sequence[str], courses: Sequence[Course]) -> pl.DataFrame:
    """variant, turn, share: the numbers of `draw_course`."""
    rows = [(title, turn, share) for title, course in zip(titles, courses, strict=True) for turn, share in course]
    return pl.DataFrame(rows, {"variant": pl.String, "turn": pl.Int64, "share": pl.Float64}, orient="row")


def draw_course(titles: Sequence[str], courses: Sequence[Course], dark: bool) -> "Figure":
    """A step line a variant, with its name at its end; told apart by colour and by dashes."""
    colours = palette(dark)
    figure = LazyFigure()
    last = max((course[-1][0] for course in courses if course), default=1)
    for place, (title, course) in enumerate(zip(titles, courses, strict=True)):
        colour = MODEL_COLOURS[place % len(MODEL_COLOURS)]
        # Lines that run on one height would hide each other: each is thinner than the one below it.
        shares = [100 * share for _, share in course]
        figure.add_scatter(
            x=[turn for turn, _ in course],
            y=shares,
            mode="lines",
            name=plain(title),
            line={
                "color": colour,
                "width": 2 + 2.5 * max(0, len(courses) - 1 - place),
                "dash": _LINES[place % len(_LINES)] if place else "solid",
                "shape": "hv",
            },
            hovertemplate=f"<b>{plain(title)}</b><br>turn %{{x}}: %{{y:.0f}} % done<extra></extra>",
        )
        if course:
            figure.add_scatter(
                x=[course[-1][0]],
                y=[shares[-1]],
                mode="markers",
                marker={"color": colour, "size": 9, "line": {"color": colours.surface, "width": 1}},
                hoverinfo="skip",
                showlegend=False,
            )
    figure.update_xaxes(title="Turn", range=[0.8, max(last, 4) + 0.4], tickformat="d", dtick=max(1, last // 12))
    figure.update_yaxes(title="Done, %", range=[-4, 106], tickvals=[0, 25, 50, 75, 100])
    return style_figure(figure, dark, height=230, values="y")
