"""Rows that an older version stored, in today's columns; and attempts with other verdicts."""

import functools
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from cxlab.store import layout, tables

if TYPE_CHECKING:
    import duckdb

_MEMORY = "400MB"


def rewrite_attempts(source: Path, target: Path, changed: pl.DataFrame | None = None) -> None:
    """A file of attempts in today's columns, in its order; `changed` are columns to set, by `attempt_id`."""
    _rewrite(source, target, tables.ATTEMPTS, changed)


def rewrite_traces(source: Path, target: Path) -> None:
    """A file of traces in today's columns, in its order."""
    _rewrite(source, target, tables.TRACES)


def rewrite_samples(dataset_id: str, home: Path | str | None = None) -> None:
    """A dataset's samples in today's columns, in their order; the file is replaced in one step."""
    base = layout.resolve_home(home)
    path = layout.dataset_folder(base, dataset_id) / "samples.parquet"
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    try:
        _rewrite(path, fresh, tables.SAMPLES)
        with layout.swapping(base):
            fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


@functools.cache
def _database() -> "duckdb.DuckDBPyConnection":
    """One for all files of a process: to make one takes longer than to write most files anew."""
    import duckdb

    con = duckdb.connect()
    con.execute(f"SET memory_limit = '{_MEMORY}'; LOAD icu; SET GLOBAL TimeZone = 'UTC'")
    return con


def _rewrite(source: Path, target: Path, schema: tables.Schema, changed: pl.DataFrame | None = None) -> None:
    # What is registered below goes with the cursor.
    with _database().cursor() as con:
        # Columns that an older version lacks come from a table without rows.
        con.register("lacking", pl.DataFrame(schema=schema))
        rows = "(FROM read_parquet($source, file_row_number = true) UNION ALL BY NAME FROM lacking) p"
        if changed is not None:
            con.register("changed", changed)
            rows += " LEFT JOIN changed c ON c.attempt_id = p.attempt_id"
        # Column names come from tables.py, paths go in as a parameter.
        columns = {name: f'p."{name}"' for name in schema}
        columns |= {name: select(con, source) for name, select in _OLDER.items() if name in columns}
        for name in changed.columns if changed is not None else ():
            columns[name] = f'CASE WHEN c.attempt_id IS NULL THEN p."{name}" ELSE c."{name}" END'
        selected = ", ".join(f'{sql} AS "{name}"' for name, sql in columns.items())
        con.execute(
            f"COPY (SELECT {selected} FROM {rows} ORDER BY p.file_row_number) "
            "TO $target (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 8192)",
            {"source": str(source), "target": str(target)},
        )


def _select_facets(con: "duckdb.DuckDBPyConnection", source: Path) -> str:
    """The facets of a row of `p`: its map or, as the first version stored them, a column for each."""
    there = con.execute("FROM read_parquet($source) LIMIT 0", {"source": str(source)}).description or ()
    entries = [f"{{'key': '{name}', 'value': p.\"{name}\"}}" for name in _among(tables.FACET_COLUMNS, there)]
    if not entries:
        return "p.facets"
    return f"coalesce(p.facets, list_filter([{', '.join(entries)}], lambda entry: entry.value IS NOT NULL))"


def _select_single_judges(_: "duckdb.DuckDBPyConnection", source: Path) -> str:
    """What each judge alone gives in a row of `p`; the second version had a field for each of its scores."""
    stored = pl.read_parquet_schema(source).get("alone")
    if not isinstance(stored, pl.List) or not isinstance(stored.inner, pl.Struct):
        return "p.single_judges"
    own = ("judge", "path", "action")
    # An archive may be anybody's: a name becomes SQL only where it is a plain word.
    names = sorted({field.name for field in stored.inner.fields if field.name.isidentifier()} - {*own})
    entries = ", ".join(f"{{'key': '{name}', 'value': a.\"{name}\"}}" for name in names)
    kept = ", ".join(f"'{name}': a.\"{name}\"" for name in own)
    scores = f"list_filter([{entries}], lambda entry: entry.value IS NOT NULL)"
    return f"coalesce(p.single_judges, list_transform(p.alone, lambda a: {{{kept}, 'scores': {scores}}}))"


def _among(names: Sequence[str], columns: Sequence[Sequence[object]]) -> list[str]:
    return sorted(set(names) & {str(column[0]) for column in columns})


# Column → SQL of it from a file of any version, where an older one stored it otherwise.
_OLDER = {"facets": _select_facets, "single_judges": _select_single_judges}
