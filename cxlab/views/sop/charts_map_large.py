"""A map for a projector: the same drawing, its type, marks and lines as large as a room needs."""

from typing import TYPE_CHECKING, Any

from cxlab.charts.lazy_figure import LazyFigure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ROOM = 1.4
"""Without the sidebar a window of 1024 px has so much more room across than the map is laid out for."""
_PIXELS = frozenset({"size", "width", "xshift", "yshift", "ay", "standoff", "height", "l", "r", "t", "b"})

_UNITS = frozenset({"x", "y", "customdata", "range"})


def enlarge(figure: "Figure", scale: float = ROOM) -> LazyFigure:
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
