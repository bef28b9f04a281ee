"""How every chart looks: colours with one meaning each, one template for light and dark, one mark a model."""

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure
    from plotly.graph_objects.layout import Template

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
# Okabe and Ito's list, safe for colour-blind readers.
MODEL_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#F0E442")
# The ninth model shares the first one's colour and differs from it by the shape.
MODEL_SYMBOLS = ("circle", "square", "triangle-up", "cross")
GOOD, WARNING, BAD = "#2f7d6d", "#d99a2b", "#d1495b"
SIMULATED_PREFIX = "simulated:"


@dataclass(frozen=True)
class Palette:
    """The colours of one theme: ink for text, muted for what explains, hairline for grids, surface below it all."""

    ink: str
    muted: str
    hairline: str
    surface: str
    raised: str
    accent: str
    good: str = GOOD
    warning: str = WARNING
    bad: str = BAD


LIGHT = Palette("#1f2937", "#6b7280", "#e5e7eb", "#ffffff", "#f8fafc", "#31456a")
DARK = Palette("#e5e7eb", "#9ca3af", "#2b3548", "#0f172a", "#111827", "#8fb0e8", "#5fb3a1", "#e6b35a", "#e27d8b")


def palette(dark: bool) -> Palette:
    """The colours of the dark or the light theme."""
    return DARK if dark else LIGHT


READABLE = 4.5
"""The least contrast of text with what is behind it (WCAG 2.2, level AA)."""


def channels(colour: str) -> tuple[float, float, float]:
    """Red, green and blue, 0 to 255, of "#rrggbb"."""
    red, green, blue = (float(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
    return red, green, blue


def contrast(one: tuple[float, float, float], two: tuple[float, float, float]) -> float:
    """How far two colours are apart for readers, 1 to 21 (WCAG 2.2's ratio of relative luminances)."""
    dark, light = sorted((_luminance(one), _luminance(two)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: tuple[float, float, float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (each / 255 for each in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def readable_on(behind: tuple[float, float, float], colours: Palette) -> str:
    """The colour for text on another: the theme's ink or surface, or black or white where both are too faint."""
    for pair in ((colours.ink, colours.surface), ("#000000", "#ffffff")):
        best = max(pair, key=lambda each: contrast(channels(each), behind))
        if contrast(channels(best), behind) >= READABLE:
            break
    return best


@dataclass(frozen=True)
class Mark:
    """How a model is drawn: the colour, the marker's shape, and whether it is open because the model is simulated."""

    colour: str
    symbol: str
    simulated: bool = False

    @property
    def marker(self) -> dict[str, Any]:
        """Plotly marker: open where simulated, with a line that shows in both themes."""
        shape = f"{self.symbol}-open" if self.simulated else self.symbol
        return {"color": self.colour, "symbol": shape, "size": 12, "line": {"color": self.colour, "width": 2.5}}

    def dot(self, surface: str) -> dict[str, Any]:
        """Plotly marker for a dot with whiskers: an open one is filled with the surface, so that none shows through."""
        fill = surface if self.simulated else self.colour
        return {"color": fill, "symbol": self.symbol, "size": 9, "line": {"color": self.colour, "width": 2}}

    @property
    def bar(self) -> dict[str, Any]:
        """Plotly marker of a bar: hatched where simulated."""
        if not self.simulated:
            return {"color": self.colour, "line": {"width": 0}}
        pattern = {"shape": "/", "fgcolor": self.colour, "bgcolor": "rgba(0,0,0,0)", "size": 6, "solidity": 0.35}
        return {"color": self.colour, "pattern": pattern, "line": {"color": self.colour, "width": 1.5}}


PUBLISHED = Mark("#6b7280", "diamond")


def mark_models(known: Iterable[str], simulated: Mapping[str, bool] | None = None) -> dict[str, Mark]:
    """One mark a model. Pass every model of the store in the order of first runs (`read.known_models`), never those
    of one view only: so a model looks the same on every page, and a new model changes no other's colour.
    """
    marks = {}
    for place, model in enumerate(dict.fromkeys(known)):
        lap, step = divmod(place, len(MODEL_COLOURS))
        is_simulated = (simulated or {}).get(model, model.startswith(SIMULATED_PREFIX))
        marks[model] = Mark(MODEL_COLOURS[step], MODEL_SYMBOLS[lap % len(MODEL_SYMBOLS)], is_simulated)
    return marks


def mix_colours(start: str, end: str, share: float) -> str:
    """The colour that far on the way from one to another; all as #rrggbb, `share` from 0 to 1."""
    pairs = [(int(start[at : at + 2], 16), int(end[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def lighten(marks: Mapping[str, Mark]) -> dict[str, Mark]:
    """The marks as they are drawn on the dark theme, where the list's first blue is too faint for a thin line."""
    return {model: replace(mark, colour=_ON_DARK.get(mark.colour, mark.colour)) for model, mark in marks.items()}


_ON_DARK = {"#0072B2": "#2E93D9"}


def mark_of(marks: Mapping[str, Mark], model: str) -> Mark:
    """The mark of a model; a grey circle for one that the store has not seen."""
    return marks.get(model) or Mark("#6b7280", "circle", model.startswith(SIMULATED_PREFIX))


_RETRIEVER_PREFIX = "retriever:"


def short_model(model: str) -> str:
    """ "strong" of "simulated:strong", "bm25 retriever" of "retriever:bm25"; other names stay whole."""
    if model.startswith(_RETRIEVER_PREFIX):
        return f"{model.removeprefix(_RETRIEVER_PREFIX)} retriever"
    return model.removeprefix(SIMULATED_PREFIX)


def plain(text: object) -> str:
    """Text that Plotly shows as it is: its labels know some HTML, and dollars can mean formulas."""
    return html.escape(str(text), quote=False).replace("$", "&#36;")


@lru_cache(maxsize=2)
def template(dark: bool) -> "Template":
    """The one template: no borders, a light grid on the value axis, the system's font."""
    import plotly.graph_objects as go

    colours = palette(dark)
    axis = {
        "gridcolor": colours.hairline,
        "linecolor": colours.hairline,
        "zerolinecolor": colours.muted,
        "zeroline": False,
        "tickcolor": colours.hairline,
        "tickfont": {"color": colours.muted},
        "automargin": True,
        "ticks": "",
        "title": {"font": {"color": colours.muted, "size": 12}, "standoff": 8},
    }
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": 13, "color": colours.ink},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": list(MODEL_COLOURS),
            "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {
                "bgcolor": colours.raised,
                "bordercolor": colours.hairline,
                "font": {"family": FONT, "color": colours.ink, "size": 13},
                "align": "left",
            },
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "title": {"text": ""}},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": colours.muted, "activecolor": colours.accent},
            "hovermode": "closest",
            "dragmode": False,
            "bargap": 0.35,
        }
    )


@lru_cache(maxsize=2)
def _plain_template(dark: bool) -> dict[str, Any]:
    """The template as it is sent: making one anew for each figure would take longer than drawing most of them."""
    found: dict[str, Any] = template(dark).to_plotly_json()
    return found


BUTTON_PX = 52
"""The right margin of charts whose values may reach their right end: the button that saves the picture stands there,
and would cover them."""


def style_figure(figure: "Figure", dark: bool, *, height: int, values: str = "x") -> "Figure":
    """Put the template on a figure; the grid stays on the value axis ("x", "y", "both" or "none") only."""
    from cxlab.charts.lazy_figure import LazyFigure

    # A figure of plotly's own comes with a template, into which plain dicts would be mixed.
    look = _plain_template(dark) if isinstance(figure, LazyFigure) else template(dark)
    figure.update_layout(template=look, height=height)
    figure.update_xaxes(showgrid=values in ("x", "both"))
    figure.update_yaxes(showgrid=values in ("y", "both"))
    return figure
