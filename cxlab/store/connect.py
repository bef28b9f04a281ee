"""Open the store for reading, and ask it."""

import contextlib
import functools
import hashlib
import io
import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar, cast

import polars as pl

from cxlab.errors import BadStore, Busy, NewerStore
from cxlab.store import catalogue, layout, tables, tables_in_memory
from cxlab.store.catalogue import Catalogue
from cxlab.store.compact import recover_folder
from cxlab.store.soundness import find_fault

if TYPE_CHECKING:
    import duckdb

DATABASE = "cxlab.duckdb"
# The copy that DuckDB warns of is of what a page shows; see `query`.
warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)
Answer = TypeVar("Answer")
_TRIES = 4
_SWAP_WAIT_S = 2.0
# Which store a connection is of; asking DuckDB would cost 0.5 ms a query. Only ever grows and shrinks by whole keys.
_homes: "weakref.WeakKeyDictionary[duckdb.DuckDBPyConnection, Path]" = weakref.WeakKeyDictionary()
# While something is set aside: by home, what counts, the schema of the views over it, and a database in memory with it.
_narrowed: "dict[Path, tuple[Catalogue, str, duckdb.DuckDBPyConnection]]" = {}
_narrowing = threading.Lock()
# Sessions that come at once share one process, and one database in it: the first one upgrades for all.
_opening = threading.Lock()
_NO_RUN = "run-json"


def open_store(home: Path | str | None = None) -> "duckdb.DuckDBPyConnection":
    """A read-only connection to the views over all parts; makes or migrates the database first if needed.

    Any number of processes may hold one while runs are written. Ask through `query`, which leaves out what the
    catalogue sets aside: a connection is not to be shared between threads. A database file that is damaged, which
    holds nothing but views, is left where it is and the views are made in memory.
    """
    base = layout.resolve_home(home)
    if not (base / DATABASE).exists():
        _create(base)
    make_empty_parts(base)
    _recover(base)
    if layout.swap_count(base) % 2:
        with layout.swapping(base):
            pass  # takes over, or waits for, the swap under way
    with _opening:
        try:
            con, stored = _open_file(base)
        except NewerStore:
            raise
        except BadStore:
            return _open_views(base)
        if stored != _wanted_version():
            con.close()
            _upgrade(base)
            con = _connect(base, base / DATABASE, read_only=True)
        return con


def check_database(base: Path) -> None:
    """BadStore when the file of views cannot be opened or is of a newer version."""
    _open_file(base)[0].close()


def query(
    con: "duckdb.DuckDBPyConnection",
    sql: str,
    params: Mapping[str, Any] | Sequence[Any] | None = None,
    tables: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """The rows of one statement. Values go in as `params` ($name or ?), never into the text; `tables` are Arrow tables
    that it names beside the store's own.

    Asks again when a compaction or deletion moved files meanwhile, so an answer never counts half a run; and when it
    met a file that was damaged since, which is then set aside with its run or dataset.
    """

    def ask(cursor: "duckdb.DuckDBPyConnection") -> pl.DataFrame:
        for name, rows in (tables or {}).items():
            cursor.register(name, rows)
        return fetch(cursor, sql, params)

    return _settle(con, ask)


def fetch(
    con: "duckdb.DuckDBPyConnection", sql: str, params: Mapping[str, Any] | Sequence[Any] | None = None
) -> pl.DataFrame:
    """The rows of one statement on any connection, asked once; `query` is for a store's."""
    # Not `sql(…).pl()`: that plans a statement twice, and the plan is most of what a page's question costs.
    return cast(pl.DataFrame, pl.from_arrow(con.execute(sql, params).to_arrow_table(), rechunk=False))


def describe(con: "duckdb.DuckDBPyConnection", sql: str, params: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Column → DuckDB's name of its type, of what `query` would return."""

    def ask(cursor: "duckdb.DuckDBPyConnection") -> dict[str, str]:
        found = cursor.sql(sql, params=params)
        return dict(zip(found.columns, map(str, found.types), strict=True))

    return _settle(con, ask)


def _settle(con: "duckdb.DuckDBPyConnection", ask: "Callable[[duckdb.DuckDBPyConnection], Answer]") -> Answer:
    """The answer over what counts, from a moment at which nothing was moved."""
    import duckdb

    base, tries = _home_of(con), _TRIES
    while True:
        tries -= 1
        before = _settled_count(base)
        known = catalogue.read(base)
        try:
            with (_in_memory(base, known) or con).cursor() as cursor:
                answer = ask(cursor)
        except duckdb.Error as fault:
            catalogue.look_anew(base)
            moved = layout.swap_count(base) != before
            # Most likely a fault in what was asked: a look at the times of files is enough.
            wrong = isinstance(fault, duckdb.ProgrammingError) and not isinstance(fault, duckdb.InvalidInputException)
            if tries == 0 or not (moved or _look_closer(base, known, read_whole=not wrong)):
                raise
            continue
        if tries == 0 or layout.swap_count(base) == before:
            return answer
        catalogue.look_anew(base)


def _settled_count(base: Path) -> int:
    """The swap count once no swap is under way; a process that died amid one is succeeded after a while."""
    deadline = time.monotonic() + _SWAP_WAIT_S
    while (count := layout.swap_count(base)) % 2:
        if time.monotonic() > deadline:
            _recover(base)
            with layout.swapping(base):
                pass
        time.sleep(0.002)
    return count


def _recover(base: Path) -> None:
    for run_id in layout.run_ids(base):
        # What cannot be gone on with is set aside by the catalogue, with the reason.
        with contextlib.suppress(BadStore, OSError):
            recover_folder(base, base / "runs" / run_id)


def _look_closer(base: Path, known: Catalogue, read_whole: bool) -> bool:
    """After a query that failed: whether something that is damaged has been mended or set aside since."""
    if make_empty_parts(base) or catalogue.read(base, closely=True).set_aside != known.set_aside:
        return True
    return read_whole and catalogue.look_closer(base)


def _in_memory(base: Path, known: Catalogue) -> "duckdb.DuckDBPyConnection | None":
    """The database in memory that answers in place of the views over every file, where there is one."""
    if known.set_aside:
        return _narrow(base, known)
    return tables_in_memory.find(base, known, functools.partial(_open_views, base))


def _narrow(base: Path, known: Catalogue) -> "duckdb.DuckDBPyConnection":
    """A connection to views over what counts alone."""
    with _narrowing:
        made = _narrowed.get(base)
        if made is None or made[0] is not known:
            views = _views(known)
            con = made[2] if made is not None and made[1] == views else _make_in_memory(base, views)
            made = _narrowed[base] = known, views, con
    return made[2]


def _make_views(con: "duckdb.DuckDBPyConnection", base: Path) -> None:
    """Make the views over every file, bound on a store without rows: no damaged file can keep them from being made."""
    (base / "tmp").mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="views-", dir=base / "tmp") as bare:
        make_empty_parts(Path(bare))
        con.execute(f"SET GLOBAL file_search_path = {_quote(bare)}")
        try:
            con.execute(_views())
        finally:
            con.execute(f"SET GLOBAL file_search_path = {_quote(str(base))}")


def _open_views(base: Path) -> "duckdb.DuckDBPyConnection":
    con = _connect(base, ":memory:", read_only=False)
    _make_views(con, base)
    return con


def _make_in_memory(base: Path, views: str) -> "duckdb.DuckDBPyConnection":
    con = _connect(base, ":memory:", read_only=False)
    con.execute(views)
    return con


def _home_of(con: "duckdb.DuckDBPyConnection") -> Path:
    base = _homes.get(con)
    if base is None:  # a cursor that somebody made of a connection of ours
        with con.cursor() as cursor:
            rows = cursor.execute("SELECT current_setting('file_search_path')").fetchall()
        base = _homes[con] = Path(rows[0][0])
    return base


def _connect(base: Path, path: Path | str, read_only: bool) -> "duckdb.DuckDBPyConnection":
    import duckdb

    try:
        con = duckdb.connect(str(path), read_only=read_only, config={"file_search_path": str(base)})
        # The cache of Parquet footers notices a changed file by its time; it makes a look-up twice as fast.
        con.execute("LOAD icu; SET GLOBAL TimeZone = 'UTC'; SET GLOBAL parquet_metadata_cache = true")
    except duckdb.IOException as fault:
        told = str(fault).splitlines()[0][:200]
        if "lock" in told:
            raise Busy(f"{path} is open in another process ({told}); close it there") from fault
        raise _tell_damage(path, fault) from fault
    except duckdb.ConnectionException as fault:
        raise Busy(f"{path} is open in this process in another mode; close that connection first") from fault
    except duckdb.Error as fault:  # what is damaged inside comes as almost any of them
        raise _tell_damage(path, fault) from fault
    return con


def _open_file(base: Path) -> "tuple[duckdb.DuckDBPyConnection, tuple[int, str]]":
    """The file of views, and the version it was made from; BadStore when either cannot be read."""
    import duckdb

    con = _connect(base, base / DATABASE, read_only=True)
    try:
        return con, _stored_version(con)
    except duckdb.Error as fault:
        con.close()
        raise _tell_damage(base / DATABASE, fault) from fault
    except BaseException:
        con.close()
        raise


def _tell_damage(path: Path | str, fault: Exception) -> BadStore:
    return BadStore(
        f"{path} cannot be opened as a DuckDB 2 database; it holds views only: "
        f"`python -m cxlab doctor --repair` makes it anew ({str(fault).splitlines()[0][:200]})"
    )


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


def make_empty_parts(base: Path, anew: bool = False) -> bool:
    """One part without rows per table, so that a glob never matches nothing; `anew` when columns have changed.

    Those that are damaged are made anew as well; whether any was.
    """
    part = base / "runs" / layout.EMPTY / "parts" / layout.EMPTY
    wanted = {part / f"{table}.parquet": schema for table, schema in tables.PARTS.items()}
    wanted[base / "datasets" / layout.EMPTY / "samples.parquet"] = tables.SAMPLES
    wanted[base / "annotations" / f"{layout.EMPTY}.parquet"] = tables.ANNOTATIONS
    made = False
    for path, schema in wanted.items():
        if anew or not path.is_file() or find_fault(path, schema) is not None:
            layout.write_whole(path, _without_rows(tuple(schema.items())))
            made = True
    nothing = base / "runs" / layout.EMPTY / _NO_RUN
    if not nothing.is_file():
        layout.write_whole(nothing, b"")
        made = True
    return made


@functools.lru_cache(maxsize=16)
def _without_rows(schema: tuple[tuple[str, Any], ...]) -> bytes:
    """The Parquet file of a table that has no rows."""
    buffer = io.BytesIO()
    pl.DataFrame(schema=dict(schema)).write_parquet(buffer)
    return buffer.getvalue()


# --- versions: every opening compares (number of the last migration, digest of schema.sql with its columns)


# Facets are stored as a list of entries and read as a map, facets['level'], which takes some time to make; the list
# itself is there for what is asked often: facet_of(facet_list, 'level').
_MAP = "map_from_entries(facets) AS facets, facets AS facet_list"


def _views(known: Catalogue | None = None) -> str:
    """The SQL of all views: over every file that lies in its place (None), or over those that count."""
    words = {
        name: ", ".join(_MAP if column == "facets" else f'"{column}"' for column in schema)
        for name, schema in tables.TABLES.items()
    }
    words |= {f"from_{name}": pattern for name, pattern in _list_files(known).items()}
    return Template((Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")).substitute(words)


def _list_files(known: Catalogue | None) -> dict[str, str]:
    """Table → the files it is read from, as SQL. Names go into the text: the catalogue takes plain ones only."""
    if known is None:
        found = {table: [f"runs/*/parts/*/{table}.parquet"] for table in tables.PARTS}
        # "?" stands for the dot of a run's record and for the dash of the empty one, so that nothing else matches.
        found |= {"runs": ["runs/*/run?json"], "samples": ["datasets/*/samples.parquet"]}
        found["annotations"] = ["annotations/*.parquet"]
    else:
        found = {
            table: [f"runs/{run_id}/parts/*/{table}.parquet" for run_id in (layout.EMPTY, *holders)]
            for table, holders in known.holders.items()
        }
        found["runs"] = [f"runs/{layout.EMPTY}/{_NO_RUN}", *(f"runs/{run_id}/run.json" for run_id in known.runs)]
        found["samples"] = [f"datasets/{name}/samples.parquet" for name in (layout.EMPTY, *known.datasets)]
        found["annotations"] = [f"annotations/{name}" for name in (f"{layout.EMPTY}.parquet", *known.annotations)]
    return {table: f"[{', '.join(map(_quote, paths))}]" for table, paths in found.items()}


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _wanted_version() -> tuple[int, str]:
    return len(MIGRATIONS), hashlib.blake2b(_views().encode(), digest_size=8).hexdigest()


def _stored_version(con: "duckdb.DuckDBPyConnection") -> tuple[int, str]:
    """(0, "") for a file from before versions were kept; BadStore for one from the future."""
    import duckdb

    try:  # to ask first whether there is such a table takes as long as to open the file
        number, digest = con.execute("SELECT number, digest FROM store_version").fetchall()[0]
    except duckdb.CatalogException:
        return 0, ""
    if number > len(MIGRATIONS):
        raise NewerStore(
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
    make_empty_parts(base, anew=True)
    con = _connect(base, path, read_only=False)
    try:
        number, _ = _stored_version(con)
        con.execute("BEGIN")
        for step in MIGRATIONS[number:]:
            step(con)
        _make_views(con, base)
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
