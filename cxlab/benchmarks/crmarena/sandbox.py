"""An organisation that can be asked, and by nobody changed: SOQL and SOSL over its tables in a closed database.

The tables are copied into a DuckDB database in memory; then its doors are shut (no file, no network, no extension, no
setting can be changed) and queries come in as trees of the grammar, never as text. Each answer has a time limit.
"""

from __future__ import annotations

import atexit
import functools
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from cxlab.benchmarks.crmarena.importers.sqlite_mirror import is_mirror, read_mirror
from cxlab.benchmarks.crmarena.organisation.schema import ObjectInfo, Schema, load_default
from cxlab.benchmarks.crmarena.organisation.schema_changes import load_of
from cxlab.benchmarks.crmarena.organisation.tables import add_links, lacks_links, read_folder
from cxlab.benchmarks.crmarena.soql import results
from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.crmarena.soql.parser import parse_query
from cxlab.benchmarks.crmarena.soql.scope import quote
from cxlab.benchmarks.crmarena.soql.search import translate_search
from cxlab.benchmarks.crmarena.soql.search_parser import MOST_RECORDS, parse_search
from cxlab.benchmarks.crmarena.soql.text_index import TextIndex
from cxlab.benchmarks.crmarena.soql.translate import translate
from cxlab.errors import BadFile, BadOption
from cxlab.store import layout, write

if TYPE_CHECKING:
    import duckdb

Compat = Literal["original", "policy"]
COMPATS: tuple[Compat, ...] = ("original", "policy")
TIMEOUT_S = 4.0
_MEMORY = "1GB"
_ID_LENGTHS = {18}


@dataclass(frozen=True, eq=False)
class Sandbox:
    """One organisation, asked on one day.

    `compat`: whether the tools keep the original's quirks or do as the policies read (see tools/). `today` is the day
    that relative dates (TODAY, LAST_N_DAYS:30, …) are seen from. `at(day)` gives the same organisation on another day,
    `under(compat)` with other tools; both share its database. Threads may share one.
    """

    schema: Schema
    today: date
    compat: Compat
    timeout_s: float
    _database: duckdb.DuckDBPyConnection
    _has_odd_ids: bool
    _indexes: dict[tuple[str, tuple[str, ...]], TextIndex] = field(default_factory=dict, repr=False)

    @classmethod
    def open(
        cls,
        path_or_dataset_id: str | Path,
        compat: Compat = "original",
        today: date | str | None = None,
        home: Path | str | None = None,
        linked: bool = False,
    ) -> Sandbox:
        """The organisation of a stored dataset (its id or folder) or of a SQLite copy.

        `linked`: its cases lead to issue and order item also where agents do not see that; for solvers.

        `today` is a date, or text that begins with one; None is the day that the dataset names (`config["today"]`),
        else the last day on which anything happened in the organisation. Raises UnknownName, BadFile, BadOption.
        """
        given, named_today = _find(path_or_dataset_id, home)
        stamp = max(path.stat().st_mtime_ns for path in (given, *given.glob("*.parquet")))
        opened = _open(given, stamp, load_of(given), linked and _lacks_links(given, stamp))
        return replace(opened, compat=check_compat(compat), today=read_day(today or named_today) or opened.today)

    @classmethod
    def of_tables(
        cls,
        tables: Mapping[str, pl.DataFrame],
        schema: Schema | None = None,
        compat: Compat = "original",
        today: date | str | None = None,
    ) -> Sandbox:
        """The organisation of tables in memory, as `organisation.tables` makes them."""
        schema = schema or load_default()
        ids = {length for frame in tables.values() for length in frame["Id"].str.len_chars().unique()}
        day = read_day(today) or _last_day(tables) or date.today()
        return cls(schema, day, check_compat(compat), TIMEOUT_S, _load(tables), bool(ids - _ID_LENGTHS))

    def at(self, today: date | str) -> Sandbox:
        """The same organisation on another day."""
        return replace(self, today=read_day(today) or self.today)

    def under(self, compat: Compat) -> Sandbox:
        """The same organisation with other tools."""
        return replace(self, compat=check_compat(compat))

    def soql(self, text: str, attributes: bool = False) -> list[dict[str, Any]]:
        """The records that a SOQL query asks for; QueryError with the product's code where it cannot be answered.

        Records have the fields in the order of SELECT: null is None, a date "2024-05-26", a datetime
        "2024-05-26T06:58:00.000+0000"; parents are dicts, children {"totalSize", "done", "records"} or None, unnamed
        functions expr0, expr1, … `attributes`: each record with its type and address, as the product's interface has.
        """
        plan = translate(parse_query(text), self.schema, self.today, text, self._has_odd_ids)
        with self._asking() as ask:
            return results.answer(plan, ask, attributes)

    def sosl(self, text: str, attributes: bool = False) -> list[dict[str, Any]]:
        """The records that a SOSL search finds, object after object; QueryError as with `soql`."""
        search = parse_search(text)
        limit = search.limit or MOST_RECORDS
        found: list[dict[str, Any]] = []
        with self._asking() as ask:
            index_of = functools.partial(self._index, ask)
            odd = self._has_odd_ids
            plans = translate_search(search, self.schema, self.today, text, index_of, ask.check, odd)
            for plan in plans:
                if len(found) >= limit:
                    break
                found += results.answer(plan, ask, attributes)
        return found[:limit]

    def _index(self, ask: _Asking, info: ObjectInfo, fields: tuple[str, ...]) -> TextIndex:
        """The words of an object's records, made when they are first looked for."""
        key = info.name, fields
        if key not in self._indexes:
            rows = ask(f"SELECT rowid, {', '.join(map(quote, fields))} FROM {quote(info.name)}", ())
            self._indexes[key] = TextIndex((row[0], row[1:]) for row in rows)
        return self._indexes[key]

    @contextmanager
    def _asking(self) -> Iterator[_Asking]:
        """How statements are asked while one query is answered; all of them share its time."""
        import duckdb

        with self._database.cursor() as cursor:
            timer = threading.Timer(self.timeout_s, cursor.interrupt)
            timer.daemon = True
            timer.start()
            try:
                yield _Asking(cursor, self.timeout_s)
            except duckdb.InterruptException:
                raise _time_is_up(self.timeout_s) from None
            except duckdb.OutOfMemoryException:
                raise QueryError("QUERY_TOO_COMPLICATED", f"the query needs more than {_MEMORY} of memory") from None
            except duckdb.Error as fault:
                told = str(fault).splitlines()[0][:200]
                raise QueryError("UNKNOWN_EXCEPTION", f"the query could not be answered ({told})") from fault
            finally:
                timer.cancel()


@dataclass(frozen=True)
class _Asking:
    """One query being answered: its statements, and its time."""

    cursor: duckdb.DuckDBPyConnection
    timeout_s: float
    since: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """QueryError when time is up."""
        if time.monotonic() - self.since > self.timeout_s:
            raise _time_is_up(self.timeout_s)

    def __call__(self, sql: str, params: Sequence[Any]) -> Sequence[Sequence[Any]]:
        self.check()
        rows: Sequence[Sequence[Any]] = self.cursor.execute(sql, list(params)).fetchall()
        return rows


def _time_is_up(allowed_s: float) -> QueryError:
    return QueryError("QUERY_TIMEOUT", f"Your query request was running for too long: {allowed_s:g} s are allowed")


def _find(given: str | Path, home: Path | str | None) -> tuple[Path, str | None]:
    """The folder or file of an organisation, and the day that its dataset names."""
    path = Path(given)
    if isinstance(given, str) and layout.is_plain(given):
        folder = layout.resolve_home(home) / "datasets" / given
        if (folder / "dataset.json").is_file() or not path.exists():
            path = layout.dataset_folder(layout.resolve_home(home), given)
            named = write.load_dataset(given, home).config.get("today")
            return path, named if isinstance(named, str) else None
    if not path.exists():
        fix = "give a stored dataset's id or folder, or a SQLite file"
        raise BadFile(path, None, "does not exist", fix)
    return path.resolve(), None


@atexit.register
def _close() -> None:
    """Let go of the databases while DuckDB is still there to take them."""
    _open.cache_clear()


@functools.lru_cache(maxsize=64)
def _lacks_links(path: Path, stamp: int) -> bool:
    del stamp
    return path.is_dir() and lacks_links(path)


@functools.lru_cache(maxsize=4)
def _open(path: Path, stamp: int, schema: Schema, linked: bool) -> Sandbox:
    """An organisation as it was at some time; opening it again costs nothing until it changes."""
    del stamp
    if path.is_dir():
        tables = read_folder(path, schema)
        return Sandbox.of_tables(add_links(tables, path) if linked else tables, schema)
    if not is_mirror(path):
        raise BadFile(path, None, "is neither a folder of tables nor a SQLite database")
    return Sandbox.of_tables(read_mirror(path, schema).tables, schema)


def _load(tables: Mapping[str, pl.DataFrame]) -> duckdb.DuckDBPyConnection:
    import duckdb

    con = duckdb.connect(":memory:")
    # One thread: queries are small and many at once, and rows keep their order.
    con.execute(f"SET threads = 1; SET memory_limit = '{_MEMORY}'; SET temp_directory = ''")
    for name, frame in tables.items():
        # Moments in UTC without a zone: no functions of time zones are needed.
        plain = frame.with_columns(pl.col(pl.Datetime).dt.replace_time_zone(None))
        con.register("incoming", plain.to_arrow())
        con.execute(f"CREATE TABLE {quote(name)} AS FROM incoming")
        con.unregister("incoming")
    con.execute(
        "SET enable_external_access = false; SET autoinstall_known_extensions = false; "
        "SET autoload_known_extensions = false; SET python_enable_replacements = false; SET lock_configuration = true"
    )
    return con


def _last_day(tables: Mapping[str, pl.DataFrame]) -> date | None:
    """The last day on which anything happened to a case or order."""
    named = [
        ("Case", "CreatedDate"),
        ("Case", "ClosedDate"),
        ("CaseHistory__c", "CreatedDate"),
        ("Order", "EffectiveDate"),
    ]
    found = [tables[name][field].max() for name, field in named if name in tables and field in tables[name].columns]
    days = [each.date() if isinstance(each, datetime) else each for each in found if isinstance(each, date)]
    return max(days, default=None)


def read_day(given: date | str | None) -> date | None:
    """The day of a date or of text that begins with one; None of None; raises BadOption."""
    if isinstance(given, datetime):
        return given.date()
    if given is None or isinstance(given, date):
        return given
    try:
        return date.fromisoformat(given.strip()[:10])
    except ValueError:
        raise BadOption(f"today {given[:40]!r} is no day; write it as 2024-05-26") from None


def check_compat(given: str) -> Compat:
    """The reading of that name; raises BadOption."""
    for known in COMPATS:
        if given == known:
            return known
    raise BadOption(f"compat {given!r} is not known; take {' or '.join(COMPATS)}")
