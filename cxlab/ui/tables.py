"""Charts and tables: each chart with its table twin, each table with safe downloads."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
import streamlit as st

from cxlab.charts.matrix import name_judge
from cxlab.charts.numbers import format_count
from cxlab.charts.selection import read_cells, read_points, read_rows
from cxlab.read.files import flatten, to_csv, to_parquet
from cxlab.records import content_id
from cxlab.ui.columns import Kind, column, fit_columns, write_cells, write_minus
from cxlab.ui.labels import label, plain, title
from cxlab.ui.render import render

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Kind", "column", "find_hidden", "fit_columns", "fit_widths", "show_chart", "show_table", "table_key"]

# What tells one row from another, where a table has it; numbers beside it may change while work goes on.
_IDENTITY = (("run_id", "attempt_id", "sample_id", "turn"), ("id", "model", "name"))


def show_table(
    frame: pl.DataFrame,
    columns: Mapping[str, Any],
    *,
    key: str,
    alt: str,
    select: Literal["single", "multi"] | None = None,
    search: bool = False,
    downloads: bool = True,
    height: int | Literal["content"] | None = None,
) -> list[dict[str, Any]]:
    """A table with the given columns, in that order; returns the selected rows as dicts (of all columns of `frame`).

    `columns` maps a column's name to `ui.column(...)`. `search` narrows the rows by words in any text column.
    Downloads hold the rows shown, with all columns.
    """
    shown = frame
    if search and frame.height > 8:
        words = st.text_input(
            "Search this table", key=f"{key}-search", placeholder="Search this table", label_visibility="collapsed"
        )
        shown = _search(frame, words)
    names = [name for name in columns if name in shown.columns]
    table = flatten_lists(shown[names])
    table, columns = fit_columns(table, columns)
    widths = fit_widths(table, columns, room=_ROOM - (_TICK if select else 0))
    config: dict[str, Any] = {name: columns[name] for name in names}
    config |= {name: {**columns[name], "width": width} for name, width in widths.items()}
    hidden = find_hidden(table, columns, widths, room=_ROOM - (_TICK if select else 0))
    options: dict[str, Any] = {"row_height": _TALL_ROW} if widths else {}
    if select:
        modes = ("single-row", "single-cell") if select == "single" else ("multi-row",)
        options |= {"on_select": "rerun", "selection_mode": modes}
    sent, config = write_minus(table, config)
    event = st.dataframe(
        sent,
        key=table_key(key, shown) if select else key,
        hide_index=True,
        width="stretch",
        # Left to itself Streamlit makes a table high enough for ten low rows, and hides high ones that would fit.
        height=height or (_HEAD + _TALL_ROW * min(table.height, _MOST_TALL) if widths else "auto"),
        column_config=config,
        placeholder="–",
        alt=alt,
        **options,
    )
    if shown.height > (_rows_in(height) if isinstance(height, int) else _MOST_TALL) and height != "content":
        _show_on_paper(table, columns)
        # Its scroll bar shows only where the mouse is.
        st.caption(f"{format_count(shown.height)} rows: the table scrolls.")
    if hidden and shown.height:
        # Shown in a narrow window alone (ui/app_frame.py).
        with st.container(key=f"cx-hidden-{key}"):
            st.caption(f"On scrolling to the right: {plain(', '.join(hidden))}.")
    if downloads and shown.height:
        _downloads(shown, key)
    rows = _picked(event, table_key(key, shown)) if select else []
    return [shown.row(row, named=True) for row in rows if row < shown.height]


def _show_on_paper(table: pl.DataFrame, columns: Mapping[str, Any]) -> None:
    """What of a table that scrolls is printed instead of it: all of its rows, of very many the first. Its look, and
    that no screen shows it, stand in the shell."""
    heads = [(str(columns[name].get("label") or name), dtype.is_numeric()) for name, dtype in table.schema.items()]
    rows = write_cells(table.head(_MOST_PRINTED), columns)
    left = format_count(table.height - len(rows)) if table.height > len(rows) else ""
    numbers = [number for _, number in heads]
    # Side by side here: to count its cells takes the template as long again.
    st.html(render("print_table", heads=heads, rows=[zip(numbers, row, strict=True) for row in rows], left=left))


def _rows_in(height: int) -> int:
    """How many low rows a table of that height shows."""
    return (height - _HEAD) // _LOW_ROW


def _picked(event: Any, key: str) -> list[int]:
    """The rows that are picked: by their tick or by a click on any of their cells, whichever came last.

    Streamlit keeps a tick when a cell is clicked, and a cell when a row is ticked.
    """
    now, memory = (read_rows(event), read_cells(event)), f"{key}-picked"
    before = st.session_state.get(memory, ([], [], "rows"))
    last = "cells" if now[1] and now[1] != before[1] else "rows" if now[0] != before[0] else before[2]
    st.session_state[memory] = (*now, last)
    return now[1] if last == "cells" and now[1] else now[0]


# In pixels: what a page is wide at a window of 1024, the ticks before the rows, one letter, the edges of a cell, and a
# row from which on Streamlit breaks lines; such a row holds three.
_ROOM, _TICK, _LETTER, _EDGES, _TALL_ROW, _LINES = 750, 36, 7.2, 18, 64, 3
_WIDEST, _ENOUGH, _WORTH_IT = 500, 320, 60
_HEAD, _MOST_TALL, _LOW_ROW = 38, 10, 35
# Rows on paper: more than that nobody reads there.
_MOST_PRINTED = 100
# So few letters stay in one line.
_SHORT = 13
# Letters are taken as wider than most are.
_SLACK = 45


def fit_widths(table: pl.DataFrame, columns: Mapping[str, Any], room: float) -> dict[str, int]:
    """Widths in pixels of the columns of text, of which the long ones give way for the table to fit into `room` pixels.

    Empty where all fits as it is, or where no column of text is long: nothing is broken into lines for nothing.
    """
    titles = {name: len(str(columns[name].get("label") or name)) for name in table.columns}
    lengths = {name: _longest(table[name]) for name in table.columns}
    needed = {name: min(_EDGES + _LETTER * max(titles[name], lengths[name]), _WIDEST) for name in table.columns}
    over = sum(needed.values()) - room
    if over <= _SLACK:
        return {}
    longest_words = {name: _longest_word(table[name]) for name, dtype in table.schema.items() if dtype == pl.String}
    # A column gives what it can spare when its longest text is broken into three lines, between its words.
    least = {
        name: min(
            # Streamlit measures a line a little longer than it is, and would break a word that just fits.
            _EDGES
            + _LETTER
            * max(
                1.15 * max(lengths[name] / _LINES, longest_words[name], min(lengths[name], _SHORT)),
                # Up to a word goes to the next line at either end of the two that are full.
                (lengths[name] + longest_words[name]) / _LINES,
                titles[name],
            ),
            _ENOUGH,
        )
        for name, dtype in table.schema.items()
        if dtype == pl.String
    }
    # As soon as lines are broken, so are words that would just fit.
    needed |= {name: max(needed[name], width) for name, width in least.items()}
    spare = {name: needed[name] - width for name, width in least.items()}
    if sum(spare.values()) < _WORTH_IT:
        return {}
    share = min(over / sum(spare.values()), 1.0)
    return {name: round(needed[name] - share * spared) for name, spared in spare.items()}


def find_hidden(table: pl.DataFrame, columns: Mapping[str, Any], widths: Mapping[str, int], room: float) -> list[str]:
    """The titles of the columns that do not show, or not whole, in `room` pixels; `widths` as they were fitted."""
    titles = {name: str(columns[name].get("label") or name) for name in table.columns}
    hidden, edge = [], 0.0
    for name, head in titles.items():
        edge += widths.get(name) or min(_EDGES + _LETTER * max(len(head), _longest(table[name])), _WIDEST)
        if edge > room + _SLACK:
            hidden.append(head)
    return hidden


def _longest(values: pl.Series) -> float:
    """Letters that the longest value takes, as it is shown; 0 where there is none.

    Of the few rows of most tables Python has told it before polars has planned how to.
    """
    if values.dtype == pl.String:
        return max((len(value) for value in values.to_list() if value is not None), default=0)
    if values.dtype.is_integer():
        ends = [abs(end) for end in (values.min(), values.max()) if isinstance(end, int)]
        return len(f"{max(ends):,}") if ends else 0
    return 16 if values.dtype.is_temporal() else 8


def _longest_word(values: pl.Series) -> float:
    """Letters of the longest word, up to what may stand in one line."""
    longest, most = 0.0, 32.0
    for text in {value for value in values.to_list() if value is not None}:
        for word in text.split(" "):
            # Capitals are wider, and a name of many of them would be broken in its middle.
            if 1.4 * len(word) > longest:
                longest = max(longest, len(word) + 0.4 * sum("A" <= letter <= "Z" for letter in word))
        if longest >= most:
            return most
    return longest


def table_key(key: str, frame: pl.DataFrame) -> str:
    """The widget's key of a table whose rows can be picked: another one when other rows come, or in another order.

    A selection is a list of positions, and Streamlit keeps it while the key stays: after a row was deleted or a
    filter changed, the tick would stand on another row than the one that was picked.
    """
    known = [[name for name in names if name in frame.columns] for names in _IDENTITY]
    texts = next(filter(None, known), None) or [name for name, dtype in frame.schema.items() if dtype == pl.String]
    # By columns: of thousands of rows a tuple each would take longer than all else that the table does.
    return f"{key}-{content_id(frame.height, *(frame[name].to_list() for name in texts))}"


def flatten_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists and structs as text; times stay times."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return frame.with_columns(flatten(frame[nested]).get_columns()) if nested else frame


def show_chart(
    figure: "Figure",
    frame: pl.DataFrame,
    *,
    key: str,
    alt: str,
    columns: Mapping[str, Any] | None = None,
    words: Mapping[str, Callable[[str], str]] | None = None,
    select: bool = False,
    modes: Sequence[Literal["points", "box", "lasso"]] = ("points",),
    table: bool = True,
    zoom: bool = False,
    stretch: bool = False,
) -> list[list[Any]]:
    """A chart with its table twin below; returns the customdata of the points that were clicked, as lists.

    Only scatter and bar traces send clicks. With `zoom` the chart is moved by dragging and zoomed by
    the buttons of its mode bar, so that the wheel goes on scrolling the page. With `stretch` it is as high as what it
    stands in. `alt` says in a sentence what there is to see. The mode bar holds the
    PNG download (made in the browser); the other downloads lie with the table, which tells values in words (those of
    a column in `words` by the function there, a judge by its short name) where the downloads keep them as they are
    stored.
    """
    if "box" in modes or "lasso" in modes:
        figure.update_layout(dragmode="select")
    buttons = [["toImage", *(["select2d", "lasso2d"] if len(modes) > 1 else [])]]
    if zoom:
        buttons = [["zoomIn2d", "zoomOut2d", "resetScale2d"], ["toImage"]]
    config = {
        "scrollZoom": False,
        "displayModeBar": True if zoom else "hover",
        "displaylogo": False,
        "modeBarButtons": buttons,
        "responsive": True,
        "toImageButtonOptions": {"format": "png", "filename": f"cxlab-{key}", "scale": 2},
    }
    options: dict[str, Any] = {"on_select": "rerun", "selection_mode": tuple(modes)} if select else {}
    event = st.plotly_chart(
        figure, width="stretch", height="stretch" if stretch else "content", theme=None, key=key, config=config,
        alt=alt, **options,
    )  # fmt: skip
    if table:
        with st.expander("Table and downloads", type="compact"):
            twin = columns or {name: _plain_column(frame[name]) for name in frame.columns}
            told = _in_words(frame, words or {})
            show_table(told, twin, key=f"{key}-twin", alt=f"The numbers of the chart: {alt}", downloads=False)
            _downloads(frame, key, figure)
    return read_points(event) if select else []


def _plain_column(values: pl.Series) -> Any:
    """A column that nobody has said how to show."""
    whole = values.dtype.is_numeric() and (values.drop_nulls() % 1 == 0).all()
    name = title(values.name) if len(values.name) > 1 else values.name
    return column(name, "count" if whole else "ratio" if values.dtype.is_float() else "text")


def _in_words(frame: pl.DataFrame, words: Mapping[str, Callable[[str], str]]) -> pl.DataFrame:
    """The frame with its texts as people are told them; ids that one may look for stay as they are."""
    words = {"judge": name_judge, **words}
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String and not name.endswith("_id")]
    told = []
    for name in texts:
        known = {value: words.get(name, label)(value) for value in set(frame[name].to_list()) if value is not None}
        if any(value != told_as for value, told_as in known.items()):
            told.append(pl.Series(name, [known.get(value) for value in frame[name].to_list()], dtype=pl.String))
    return frame.with_columns(told) if told else frame


def _downloads(frame: pl.DataFrame, key: str, figure: "Figure | None" = None) -> None:
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Download CSV",
            lambda: to_csv(frame),
            f"cxlab-{key}.csv",
            "text/csv",
            key=f"{key}-csv",
            on_click="ignore",
            type="tertiary",
            help="Cells that a spreadsheet would read as formulas get an apostrophe.",
        )
        st.download_button(
            "Download Parquet",
            lambda: to_parquet(frame),
            f"cxlab-{key}.parquet",
            "application/vnd.apache.parquet",
            key=f"{key}-parquet",
            on_click="ignore",
            type="tertiary",
        )
        if figure is not None:
            st.download_button(
                "Download chart as HTML",
                lambda: _to_html(figure),
                f"cxlab-{key}.html",
                "text/html",
                key=f"{key}-html",
                on_click="ignore",
                type="tertiary",
                help="One file that works without a network (about 5 MB).",
            )


def _to_html(figure: "Figure") -> bytes:
    # The library goes into the file: a link to it would be a request to somebody else's server.
    return str(figure.to_html(include_plotlyjs=True, full_html=True)).encode()


def _search(frame: pl.DataFrame, words: str | None) -> pl.DataFrame:
    texts = [pl.col(name).str.to_lowercase() for name, dtype in frame.schema.items() if dtype == pl.String]
    for word in (words or "").lower().split():
        if texts:
            frame = frame.filter(
                pl.any_horizontal(text.str.contains(word, literal=True).fill_null(False) for text in texts)
            )
    return frame
