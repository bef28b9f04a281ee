"""Ask the store: one connection a process, and sets of attempts that queries find by name."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.read.kept import troubles
from cxlab.store import connect, layout

if TYPE_CHECKING:
    import duckdb

Params = dict[str, Any]

# The store's views of annotations; `annotations_in_force` is named by the first.
_OF_ANNOTATIONS = ("annotations", "attempt_tags")


@dataclass
class ReadLog:
    """What was read meanwhile: whether any of it was an annotation."""

    annotations: bool = False


_reads: ContextVar[ReadLog | None] = ContextVar("cxlab_reads", default=None)


@contextmanager
def followed() -> Iterator[ReadLog]:
    """What `ask` reads of annotations within, so that what reads none can outlive one; it may lie within another."""
    outer, own = _reads.get(), ReadLog()
    token = _reads.set(own)
    try:
        yield own
    finally:
        _reads.reset(token)
        if outer is not None:
            outer.annotations |= own.annotations


def say_annotations_read() -> None:
    """Said by whoever hands out what was read of annotations before."""
    if (found := _reads.get()) is not None:
        found.annotations = True


def ask(sql: str, params: Mapping[str, Any] | None = None, beside: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """The rows of one SELECT over the store's views, `troubles.TABLES` and the Arrow tables `beside`, by name.

    Values go in as `$name`, never into the text.
    """
    if any(name in sql for name in _OF_ANNOTATIONS):
        say_annotations_read()
    con = _open(str(layout.home()))
    tables = troubles.named_in(sql, con) | {name: rows.to_arrow() for name, rows in list(_kept.items()) if name in sql}
    tables |= beside or {}
    return connect.query(con, sql, dict(params) if params else None, tables)


# Chosen attempts by name. Each page keeps its own anew at every run, so what nobody looks at any more may go.
_kept: dict[str, pl.DataFrame] = {}
_MOST_KEPT = 64
_keeping = threading.Lock()


@dataclass(frozen=True, eq=False)
class AttemptSet:
    """Attempts that a view can be narrowed to, by the `name` that `View.among` has; the same ones have the same."""

    name: str
    rows: pl.DataFrame

    @classmethod
    def of(cls, attempts: pl.DataFrame) -> "AttemptSet":
        """The set of these attempts (run_id, attempt_id, and their number where it is known)."""
        keys = ["nth"] if "nth" in attempts.columns else ["run_id", "attempt_id"]
        rows = attempts.select(*dict.fromkeys(["run_id", "attempt_id", *keys])).unique(keys).sort(keys)
        return cls(f"among_{rows.height}_{int(rows.select(pl.struct(keys).hash(seed=1).sum()).item()):x}", rows)

    def keep(self) -> str:
        """The name, by which queries find it from now on."""
        with _keeping:
            _kept.pop(self.name, None)
            _kept[self.name] = self.rows
            while len(_kept) > _MOST_KEPT:
                del _kept[next(iter(_kept))]
        return self.name


def among_rows(name: str) -> pl.DataFrame:
    """The attempts (run_id, attempt_id) of an AttemptSet that is kept."""
    return _kept[name]


def kept_rows(table: str) -> Any:
    """One of `troubles.TABLES` as it is now: an Arrow table, the same one as long as nothing has changed."""
    return troubles.named_in(table, _open(str(layout.home())))[table]


@lru_cache(maxsize=4)
def _open(home: str) -> "duckdb.DuckDBPyConnection":
    # Opening costs some 20 ms and holds views only, so one connection a store serves the whole process.
    return connect.open_store(Path(home))
