"""A SQLite copy of an organisation: one table an object, read once and never written to."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.organisation.schema import Schema
from cxlab.benchmarks.crmarena.organisation.tables import TypeMismatch, columns, complete, to_table, to_value
from cxlab.errors import BadFile

_HEADER = b"SQLite format 3\0"
# The largest public copy has 57 MB.
LARGEST_FILE = 2_000_000_000
MOST_ROWS = 5_000_000
_FIX = "fetch the file again"


@dataclass(frozen=True)
class SqliteCopy:
    """What a copy held. `tables` by object; `ignored` are tables and columns that the schema does not have; `faults`
    are values that were not of their field's type and are null now, as (object, row from 1, field, what is wrong).
    """

    tables: dict[str, pl.DataFrame]
    ignored: tuple[str, ...]
    faults: tuple[tuple[str, int, str, str], ...]


def is_mirror(path: Path) -> bool:
    """Whether a file begins as SQLite databases do, or is named like one."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER or path.suffix.lower() in (".db", ".sqlite", ".sqlite3")


def read_mirror(path: Path, schema: Schema) -> SqliteCopy:
    """The organisation in a SQLite file; BadFile for one that is damaged or holds none of the schema's objects."""
    if path.stat().st_size > LARGEST_FILE:
        raise BadFile(path, None, f"has more than {LARGEST_FILE:,} bytes")
    try:
        # Immutable: no lock and no journal beside it; it may lie where nothing can be written.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as con:
            con.text_factory = lambda data: data.decode("utf-8", "replace")
            con.execute("PRAGMA trusted_schema = OFF")
            return _read(con, path, schema)
    except sqlite3.DatabaseError as fault:
        raise BadFile(path, None, f"cannot be read as a SQLite database ({fault})", _FIX) from None


def _read(con: sqlite3.Connection, path: Path, schema: Schema) -> SqliteCopy:
    # Tables alone: a view could compute for ever.
    found = con.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    names = [str(row[0]) for row in found.fetchall()]
    known = {name: info for name in names if (info := schema.object(name)) is not None}
    if not known:
        fix = f"its tables should be {', '.join(list(schema.objects)[:3])}, …"
        raise BadFile(path, None, "holds none of the objects of an organisation", fix)
    ignored = [name for name in names if name not in known and not name.startswith("sqlite_")]
    faults: list[tuple[str, int, str, str]] = []
    tables = {name: pl.DataFrame(schema=columns(info)) for name, info in schema.objects.items()}
    for name, info in known.items():
        cursor = con.execute(f'SELECT * FROM "{name.replace(chr(34), chr(34) * 2)}" LIMIT {MOST_ROWS + 1}')
        spelled = {word.lower(): each for each, field in info.fields.items() for word in (each, *field.also)}
        places: dict[str, int] = {}
        for place, column in enumerate(each[0] for each in cursor.description):
            if column.lower() in spelled:
                places.setdefault(spelled[column.lower()], place)
            else:
                ignored.append(f"{name}.{column}")
        if "Id" not in places:
            raise BadFile(path, None, f"its table {name} has no column Id", _FIX)
        rows: list[dict[str, Any]] = []
        for number, row in enumerate(cursor, 1):
            if number > MOST_ROWS:
                raise BadFile(path, None, f"its table {name} has more than {MOST_ROWS:,} rows")
            kept = {}
            for field, place in places.items():
                try:
                    kept[field] = to_value(row[place], info.fields[field])
                except TypeMismatch as fault:
                    faults.append((info.name, number, field, str(fault)))
            rows.append(kept)
        tables[info.name] = complete(to_table(rows, info), info)
    return SqliteCopy(tables, tuple(ignored), tuple(faults))
