"""Tables of a store that is asked often, in memory where they are small, so that a question opens no file of theirs:
over the thirty runs of a demo it takes 2 to 5 ms of processor time in place of 10 to 35.

They are of one state of the store's runs and datasets. Any other is asked of the files until it was asked often, too:
a command that has few questions, and a server while runs are written, keep nothing.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cxlab.errors import CxError
from cxlab.store import catalogue, layout
from cxlab.store.catalogue import Catalogue

if TYPE_CHECKING:
    import duckdb

# Questions times runs: to read the tables of a demo takes as long as two dozen questions to the files of its thirty
# runs, and the fewer files there are, the less a question gains.
_WORTH_IT = 720
# Some 1 to 2 kB a row of attempts, traces or samples: of the one store of which they are kept 150 MB at most.
_MOST_ROWS = 30_000
# What filters ask for. Annotations are not among them: they are written between two clicks, and lie in few files.
_TABLES = ("runs", "samples", "attempts", "traces", "failures")


@dataclass
class _State:
    """One state of one store, how much it was asked, and the database that has its small tables."""

    base: Path
    version: str
    asked: int = 0
    tried: bool = False
    database: "duckdb.DuckDBPyConnection | None" = None


_state: _State | None = None
_counting = threading.Lock()


def find(
    base: Path, known: Catalogue, open_views: "Callable[[], duckdb.DuckDBPyConnection]"
) -> "duckdb.DuckDBPyConnection | None":
    """The database with the small tables of a store, in the state that is known of it, and views over the files of all
    others; None while it is not worth it. `open_views` opens one in memory with views alone."""
    global _state
    with _counting:
        if _state is None or (_state.base, _state.version) != (base, known.data_version):
            _state = _State(base, known.data_version)
        state = _state
        state.asked += len(known.runs)
        due = state.asked >= _WORTH_IT and not state.tried
        state.tried |= due
    if due:
        # Meanwhile others ask the files.
        state.database = _read(base, known.data_version, open_views)
    return state.database


def _read(
    base: Path, version: str, open_views: "Callable[[], duckdb.DuckDBPyConnection]"
) -> "duckdb.DuckDBPyConnection | None":
    import duckdb

    before = layout.swap_count(base)
    try:
        con = open_views()
        for table in _TABLES:
            (many,) = con.execute(f"SELECT count(*) FROM {table}").fetchall()[0]
            if many <= _MOST_ROWS:
                con.execute(f"CREATE TABLE memory_{table} AS FROM {table}")
                con.execute(f"CREATE OR REPLACE VIEW {table} AS FROM memory_{table}")
    except (duckdb.Error, CxError, OSError):
        return None  # whoever asks the files next finds what is damaged, and says so; a full disk is no hindrance
    if layout.swap_count(base) != before or catalogue.data_version(base) != version:
        return None
    return con
