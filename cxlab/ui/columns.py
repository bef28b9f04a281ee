"""Columns of tables: how values of each kind are written, the same in every table."""

from collections.abc import Mapping
from typing import Any, Literal
from zoneinfo import ZoneInfo

import polars as pl
import streamlit as st

from cxlab.charts.numbers import NONE, format_cell, format_p, format_time, largest

Kind = Literal[
    "text", "id", "points", "percent", "ratio", "share", "usd", "seconds", "count", "p", "time", "progress", "flag"
]


_FORMATS: dict[str, str] = {
    "points": "%.1f",
    "percent": "%.1f %%",
    "ratio": "%.3f",
    "p": "%.3f",
    "usd": "$%.4f",
    "seconds": "%.1f s",
    "count": "localized",
    "share": "%.1f %%",
}


class _Column(dict[str, Any]):
    """How Streamlit shows a column, and the kind of its values: a share is sent as a percentage, as Streamlit's own
    format for shares writes "53.33%" beside "35%"; money and time get as many decimals as the column needs."""

    def __init__(self, shape: Any, kind: str) -> None:
        super().__init__(shape)
        self.kind = kind


def column(
    title: str, kind: Kind = "text", help: str | None = None, width: Literal["small", "medium", "large"] | None = None
) -> Any:
    """How a table shows a column: title, kind of value, tooltip."""
    config = st.column_config
    if kind in _FORMATS:
        shape = config.NumberColumn(title, help=help, format=_FORMATS[kind], width=width)
        return _Column(shape, kind)
    if kind == "time":
        return config.DatetimeColumn(
            title, help=help, format="YYYY-MM-DD HH:mm", timezone=st.context.timezone or "UTC", width=width
        )
    if kind == "progress":
        bar = config.ProgressColumn(
            title, help=help, min_value=0.0, max_value=100.0, format=_FORMATS["percent"], width=width
        )
        return _Column(bar, kind)
    if kind == "flag":
        return config.CheckboxColumn(title, help=help, width=width)
    return config.TextColumn(title, help=help, width=width)


def fit_columns(table: pl.DataFrame, columns: Mapping[str, Any]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The table and its columns as they are sent: shares as percentages, money and time with the decimals they need,
    and p in words where it is small."""
    fitted = dict(columns)
    for name, shape in columns.items():
        if name not in table.columns or not isinstance(shape, _Column) or not table[name].dtype.is_numeric():
            continue
        if shape.kind in ("share", "progress"):
            table = table.with_columns(pl.col(name) * 100.0)
        elif shape.kind == "p":
            # A format for numbers cannot say that one is smaller than it writes.
            told = [None if value is None else format_p(value) for value in table[name]]
            table = table.with_columns(pl.Series(name, told, dtype=pl.String))
            fitted[name] = {**shape, "type_config": {"type": "text"}, "alignment": "right"}
        elif shape.kind in ("usd", "seconds"):
            sizes = table[name].abs()
            if shape.kind == "usd":
                # Cents are enough, unless something costs less than ten of them.
                written = "$%.4f" if sizes.is_between(0, 0.1, closed="none").any() else "$%.2f"
            elif (longest := largest(sizes, 0.0)) and longest < 0.1:
                table = table.with_columns(pl.col(name) * 1000.0)
                written = "%.1f ms" if longest >= 0.01 else "%.2f ms"
            else:
                written = "%.1f s" if longest >= 1 else "%.3f s"
            fitted[name] = _Column({**shape, "type_config": {**shape["type_config"], "format": written}}, shape.kind)
    return table, fitted


def write_minus(table: pl.DataFrame, config: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The table as it is sent, and its columns. Streamlit's formats write a hyphen for a minus, so that where a number
    is negative its column is written here, as every other place writes it; it is sorted by its numbers all the same."""
    negative = [name for name, dtype in table.schema.items() if dtype.is_numeric() and (table[name] < 0).any()
                and isinstance(shape := config.get(name), _Column) and "format" in shape["type_config"]]  # fmt: skip
    if not negative:
        # As Arrow, which is what is sent: by way of pandas it takes five times as long.
        return table.to_arrow(compat_level=pl.CompatLevel.oldest()), dict(config)
    forms = {name: config[name]["type_config"]["format"] for name in negative}
    # Of a text Streamlit shows what is written, too, and would write a missing one as "None".
    written = table.with_columns(
        pl.Series(name, [format_cell(value, forms[name]) for value in table[name]], dtype=pl.String)
        if name in forms
        else pl.col(name).cast(pl.String).fill_null(NONE)
        for name in table.columns
    )
    # By way of Arrow: polars' own way waits for its threads with Python's lock held, for which one of them may wait
    # that runs a function of ours (`map_elements`) in another session; then the whole server stands still.
    sent, told = (each.to_arrow(compat_level=pl.CompatLevel.oldest()).to_pandas() for each in (table, written))
    styler = sent.style
    # What pandas would work out here is how each cell of a page of HTML looks, at ten times the cost of all the rest;
    # and Streamlit would put what is written into a copy of the table as texts, cell by cell.
    vars(styler).update(_compute=lambda: styler, _translate=lambda *_, **__: {})
    vars(sent).update(astype=lambda _: told)
    bare = {name: {key: value for key, value in config[name]["type_config"].items() if key != "format"}
            for name in negative}  # fmt: skip
    return styler, {**config, **{name: {**config[name], "type_config": bare[name]} for name in negative}}


def write_cells(table: pl.DataFrame, columns: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The rows of a table as `fit_columns` leaves it, each cell as it is shown."""
    return list(zip(*(_write_column(table[name], columns[name]) for name in table.columns), strict=True))


def _write_column(values: pl.Series, shape: Any) -> list[str]:
    form = shape["type_config"].get("format") if isinstance(shape, _Column) else None
    if form and values.dtype.is_numeric():
        return [format_cell(value, form) for value in values]
    if values.dtype == pl.Boolean:
        return ["✓" if value else "" for value in values]
    if values.dtype.is_temporal():
        zone = shape["type_config"].get("timezone")
        return [format_time(value, ZoneInfo(zone) if zone else None) for value in values]
    return [NONE if value is None else str(value) for value in values]
