"""Open the store for reading, and ask it."""

import contextlib
import hashlib
import io
import os
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.errors import BadStore, Busy
from cxlab.store import layout, tables
from cxlab.store.compact import recover_folder

if TYPE_CHECKING:
    import duckdb

DATABASE = "cxlab.duckdb"
_TRIES = 4
_SWAP_WAIT_S = 2.0
# Which store a connection is of; asking DuckDB would cost 0.5 ms a query. Only ever grows and shrinks by whole keys.
_homes: "weakref.WeakKeyDictionary[duckdb.DuckDBPyConnection, Path]" = weakref.WeakKeyDictionary()


def open_store(home: Path | str | None = None) -> "duckdb.DuckDBPyConnection":
    """A read-only connection to the views over all parts; makes or migrates the database first if needed.

    Any number of processes may hold one while runs are written. Ask through `query`, or with a cursor a call:
    a connection is not to be shared between threads.
    """
    base = layout.resolve_home(home)
    if not (base / DATABASE).is_file():
        _create(base)
    _make_empty_parts(base)
    for run_id in layout.run_ids(base):
        recover_folder(base, base / "runs" / run_id)
    if layout.swap_count(base) % 2:
        with layout.swapping(base):
            pass  # takes over, or waits for, the swap under way
    con = _connect(base, base / DATABASE, read_only=True)
    try:
        stored = _stored_version(con)
    except BaseException:
        con.close()
        raise
    if stored != _wanted_version():
        con.close()
        _upgrade(base)
        con = _connect(base, base / DATABASE, read_only=True)
    return con


def query(
    con: "duckdb.DuckDBPyConnection",
    sql: str,
    params: Mapping[str, Any] | Sequence[Any] | None = None,
) -> pl.DataFrame:
    """The rows of one statement. Values go in as `params` ($name or ?), never into the text.

    Asks again when a compaction or deletion moved files meanwhile, so an answer never counts half a run.
    """
    import duckdb

    base, tries = _home_of(con), _TRIES
    while True:
        tries -= 1
        before = _settled_count(base)
        try:
            with con.cursor() as cursor:
                frame: pl.DataFrame = cursor.sql(sql, params=params).pl()
        except duckdb.Error:
            if tries == 0 or layout.swap_count(base) == before:
                raise
            continue
        if tries == 0 or layout.swap_count(base) == before:
            return frame


def _settled_count(base: Path) -> int:
    """The swap count once no swap is under way; a process that died amid one is succeeded after a while."""
    deadline = time.monotonic() + _SWAP_WAIT_S
    while (count := layout.swap_count(base)) % 2:
        if time.monotonic() > deadline:
            for run_id in layout.run_ids(base):
                recover_folder(base, base / "runs" / run_id)
            with layout.swapping(base):
                pass
        time.sleep(0.002)
    return count


def _home_of(con: "duckdb.DuckDBPyConnection") -> Path:
    base = _homes.get(con)
    if base is None:  # a cursor that somebody made of a connection of ours
        with con.cursor() as cursor:
            rows = cursor.execute("SELECT current_setting('file_search_path')").fetchall()
        base = _homes[con] = Path(rows[0][0])
    return base


def _connect(base: Path, path: Path, read_only: bool) -> "duckdb.DuckDBPyConnection":
    import duckdb

    try:
        con = duckdb.connect(str(path), read_only=read_only, config={"file_search_path": str(base)})
    except duckdb.IOException as fault:
        told = str(fault).splitlines()[0][:200]
        if "lock" in told:
            raise Busy(f"{path} is open in another process ({told}); close it there") from fault
        raise BadStore(
            f"{path} cannot be opened as a DuckDB 2 database; it holds views only: delete it and "
            f"it is made anew ({told})"
        ) from fault
    except duckdb.ConnectionException as fault:
        raise Busy(f"{path} is open in this process in another mode; close that connection first") from fault
    # The cache of Parquet footers notices a changed file by its time; it makes a look-up twice as fast.
    con.execute("LOAD icu; SET GLOBAL TimeZone = 'UTC'; SET GLOBAL parquet_metadata_cache = true")
    return con


def _create(base: Path) -> None:
    """Make the database aside and link it into place: of two processes at once the first wins, both are right."""
    fresh = base / "tmp" / f"{DATABASE}.{os.getpid()}.{time.monotonic_ns()}"
    fresh.parent.mkdir(parents=True, exist_ok=True)
    try:
        _migrate(base, fresh)
        with contextlib.suppress(FileExistsError):
            os.link(fresh, base / DATABASE)
    finally:
        fresh.unlink(missing_ok=True)


def _make_empty_parts(base: Path, anew: bool = False) -> None:
    """One part without rows per table, so that a glob never matches nothing; `anew` when columns have changed."""
    part = base / "runs" / layout.EMPTY / "parts" / layout.EMPTY
    wanted = {part / f"{table}.parquet": schema for table, schema in tables.PARTS.items()}
    wanted[base / "datasets" / layout.EMPTY / "samples.parquet"] = tables.SAMPLES
    wanted[base / "annotations" / f"{layout.EMPTY}.parquet"] = tables.ANNOTATIONS
    for path, schema in wanted.items():
        if anew or not path.is_file():
            buffer = io.BytesIO()
            pl.DataFrame(schema=schema).write_parquet(buffer)
            layout.write_whole(path, buffer.getvalue())
    nothing = base / "runs" / layout.EMPTY / "run-none.json"
    if not nothing.is_file():
        layout.write_whole(nothing, b"")


# --- versions: every opening compares (number of the last migration, digest of schema.sql with its columns)


def _views() -> str:
    columns = {name: ", ".join(f'"{column}"' for column in schema) for name, schema in tables.TABLES.items()}
    return Template((Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")).substitute(columns)


def _wanted_version() -> tuple[int, str]:
    return len(MIGRATIONS), hashlib.blake2b(_views().encode(), digest_size=8).hexdigest()


def _stored_version(con: "duckdb.DuckDBPyConnection") -> tuple[int, str]:
    """(0, "") for a file from before versions were kept; BadStore for one from the future."""
    known = con.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'store_version'").fetchall()
    if not known[0][0]:
        return 0, ""
    number, digest = con.execute("SELECT number, digest FROM store_version").fetchall()[0]
    if number > len(MIGRATIONS):
        raise BadStore(
            f"the store is of version {number}, this CX Lab knows versions up to {len(MIGRATIONS)}; "
            "update CX Lab, or set CXLAB_HOME to another folder"
        )
    return number, digest


def _upgrade(base: Path) -> None:
    try:
        _migrate(base, base / DATABASE)
    except Busy as busy:
        raise Busy(f"the store is of an older version and must be upgraded once, but {busy}") from busy


def _migrate(base: Path, path: Path) -> None:
    """Bring a database to the present version in one transaction: all of it or nothing."""
    _make_empty_parts(base, anew=True)
    con = _connect(base, path, read_only=False)
    try:
        number, _ = _stored_version(con)
        con.execute("BEGIN")
        for step in MIGRATIONS[number:]:
            step(con)
        con.execute(_views())
        con.execute("DELETE FROM store_version")
        con.execute("INSERT INTO store_version VALUES (?, ?, now())", list(_wanted_version()))
        con.execute("COMMIT")
    finally:
        con.close()


def _keep_version(con: "duckdb.DuckDBPyConnection") -> None:
    con.execute("CREATE TABLE store_version (number INTEGER, digest VARCHAR, since TIMESTAMPTZ)")


# Each step brings a database from version n to n + 1 and is never changed once released. Views and macros need no
# step: they are made anew from schema.sql whenever that differs from what the database was made from.
MIGRATIONS: tuple[Callable[["duckdb.DuckDBPyConnection"], None], ...] = (_keep_version,)
