"""Frames as files to download: CSV that no spreadsheet takes for formulas, and Parquet."""

import io

import polars as pl

# A cell that begins so is read as a formula by spreadsheets (OWASP, CSV injection).
_FORMULA = r"^\s*[=+\-@\t\r]"


def to_csv(frame: pl.DataFrame) -> bytes:
    """CSV in UTF-8; text that could be taken for a formula gets an apostrophe before it, nested values become JSON."""
    guarded = []
    for name, dtype in flatten(frame).schema.items():
        column = pl.col(name)
        if dtype == pl.String:
            column = pl.when(column.str.contains(_FORMULA)).then(pl.lit("'") + column).otherwise(column).alias(name)
        guarded.append(column)
    flat = flatten(frame).select(guarded)
    safe = {name: f"'{name}" for name in flat.columns if name[:1] in "=+-@\t\r"}
    return flat.rename(safe).write_csv().encode()


def to_parquet(frame: pl.DataFrame) -> bytes:
    """Parquet with the frame's own types."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def flatten(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with lists and structs as JSON text, and times as ISO text."""
    changed = []
    for name, dtype in frame.schema.items():
        if isinstance(dtype, pl.List | pl.Struct | pl.Array):
            wrapped = pl.struct(pl.col(name).alias("v")).struct.json_encode()
            # json_encode speaks of structs only, so the value is wrapped and the wrapping cut off again.
            changed.append(wrapped.str.strip_prefix('{"v":').str.head(-1).alias(name))
        elif isinstance(dtype, pl.Datetime):
            changed.append(pl.col(name).dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return frame.with_columns(changed)
