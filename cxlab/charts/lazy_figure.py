"""A figure that is kept as plain dicts until somebody looks into it.

Plotly checks and copies every property when it is set and everything again when the figure is sent, which costs a
page more time than all its queries. What a chart says is the same on every rerun but for the numbers, so it is checked
by the tests (`figure.data` and `figure.layout` make the checked figure) and sent as it is.
"""

from collections.abc import Mapping
from typing import Any

from plotly.graph_objects import Figure

Spec = dict[str, Any]


class LazyFigure(Figure):
    """A plotly figure, built lazily: takes the calls that the charts make, and all others of a figure."""

    def __init__(self, spec: Spec | None = None) -> None:
        self._spec: Spec = spec or {"data": [], "layout": {}}

    def __getattr__(self, name: str) -> Any:
        # All that plotly keeps in a figure is missing until it is asked for: then the checked figure is made.
        spec = self.__dict__.pop("_spec", None)
        if spec is None:
            raise AttributeError(name)
        # Without a template of its own plotly would put in its default one.
        super().__init__({**spec, "layout": {"template": {}, **spec["layout"]}})
        return getattr(self, name)

    def __reduce__(self) -> tuple[type["LazyFigure"], tuple[Spec]]:
        return LazyFigure, (self.to_dict(),)

    def to_dict(self) -> Spec:
        """The figure as plotly.js takes it."""
        spec = self._plain()
        # The lists are new, because who sends a figure takes names of traces out of it; the values are not copied.
        return super().to_dict() if spec is None else {"data": [*map(dict, spec["data"])], "layout": spec["layout"]}

    def add_scatter(self, **given: Any) -> "LazyFigure":
        return self._add_trace("scatter", given)

    def add_bar(self, **given: Any) -> "LazyFigure":
        return self._add_trace("bar", given)

    def add_heatmap(self, **given: Any) -> "LazyFigure":
        return self._add_trace("heatmap", given)

    def add_sankey(self, **given: Any) -> "LazyFigure":
        return self._add_trace("sankey", given)

    def add_shape(self, **given: Any) -> "LazyFigure":
        return self._add_mark("shapes", given)

    def add_annotation(self, **given: Any) -> "LazyFigure":
        return self._add_mark("annotations", given)

    def add_vline(self, x: float, **given: Any) -> "LazyFigure":
        """A line from the bottom to the top of the plot."""
        span = {"type": "line", "x0": x, "x1": x, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
        return self._add_mark("shapes", {**span, **given})

    def update_layout(self, **given: Any) -> "LazyFigure":
        spec = self._plain()
        if spec is None:
            super().update_layout(**given)
        else:
            _merge(spec["layout"], _known(given))
        return self

    def update_xaxes(self, **given: Any) -> "LazyFigure":
        return self._update_axis("xaxis", given)

    def update_yaxes(self, **given: Any) -> "LazyFigure":
        return self._update_axis("yaxis", given)

    def _plain(self) -> Spec | None:
        """The dicts; None once the checked figure has been made."""
        found: Spec | None = self.__dict__.get("_spec")
        return found

    def _add_trace(self, kind: str, given: Mapping[str, Any]) -> "LazyFigure":
        spec = self._plain()
        if spec is None:
            super().add_trace({"type": kind, **given})
        else:
            spec["data"].append({**_known(given), "type": kind})
        return self

    def _add_mark(self, kind: str, given: Mapping[str, Any]) -> "LazyFigure":
        spec = self._plain()
        if spec is None:
            super().update_layout({kind: [*self.layout[kind], _known(given)]}, overwrite=True)
        else:
            spec["layout"].setdefault(kind, []).append(_known(given))
        return self

    def _update_axis(self, axis: str, given: Mapping[str, Any]) -> "LazyFigure":
        # plotly.js takes a title's text inside of the title only; plotly.py would move it there.
        title = given.get("title")
        moved = {**given, "title": {"text": title}} if isinstance(title, str) else given
        return self.update_layout(**{axis: moved})


def _known(given: Mapping[str, Any]) -> Spec:
    """Without what is None, which plotly takes as not set."""
    return {name: _strip(value) for name, value in given.items() if value is not None}


def _strip(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _known(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_strip(each) for each in value]
    return value


def _merge(into: Spec, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        held = into.get(name)
        if isinstance(held, dict) and isinstance(value, dict):
            _merge(held, value)
        else:
            into[name] = value
