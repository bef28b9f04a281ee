"""What was clicked in a chart, as plain values."""

from collections.abc import Mapping, Sequence
from typing import Any


def read_points(event: Any) -> list[list[Any]]:
    """The customdata of each selected point, as a list a point.

    Takes what `st.plotly_chart` returns, or a dict of its shape. A figure made of arrays sends customdata as
    {"0": x, "1": y}, one made of lists as [x, y], and a single value as itself: all become lists. Points
    without customdata are left out; anything of another shape is an empty selection.
    """
    selection = event.get("selection") if isinstance(event, Mapping) else None
    points = selection.get("points") if isinstance(selection, Mapping) else None
    if not isinstance(points, Sequence) or isinstance(points, str):
        return []
    found = (_read(point.get("customdata")) for point in points if isinstance(point, Mapping))
    return [values for values in found if values]


def read_rows(event: Any) -> list[int]:
    """The positions of the selected rows of a table; takes what `st.dataframe` returns, or a dict of its shape."""
    selection = event.get("selection") if isinstance(event, Mapping) else None
    rows = selection.get("rows") if isinstance(selection, Mapping) else None
    return [row for row in rows if isinstance(row, int)] if isinstance(rows, Sequence) else []


def read_cells(event: Any) -> list[int]:
    """The positions of the rows of a table in which a cell is selected, as `read_rows` has those of selected rows."""
    selection = event.get("selection") if isinstance(event, Mapping) else None
    cells = selection.get("cells") if isinstance(selection, Mapping) else None
    if not isinstance(cells, Sequence) or isinstance(cells, str):
        return []
    return [cell[0] for cell in cells if isinstance(cell, Sequence) and cell and isinstance(cell[0], int)]


def _read(data: Any) -> list[Any]:
    if data is None:
        return []
    if isinstance(data, Mapping):
        keys = sorted(data, key=lambda key: (not str(key).isdigit(), int(key) if str(key).isdigit() else 0, str(key)))
        return [data[key] for key in keys]
    if isinstance(data, Sequence) and not isinstance(data, str):
        return list(data)
    return [data]
