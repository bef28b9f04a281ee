"""Whether one file of the store can be used: a record parses and its numbers are in range, a part opens."""

import contextlib
import json
import operator
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from cxlab.errors import explain
from cxlab.records import Dataset, Run
from cxlab.records.base import Record
from cxlab.records.bounds import COUNT_32, WHOLE_64

# DuckDB refuses a larger JSON object, and no record of ours comes near it.
LARGEST_RECORD = 2**24 - 1
_RANGES = {"seed": WHOLE_64, "trials": COUNT_32, "planned": COUNT_32}
_MAGIC = b"PAR1"
_READ_AT_ONCE = 200
AnyRecord = TypeVar("AnyRecord", Run, Dataset)


class Unsound(Exception):
    """Why a record or part cannot be used, as half a sentence."""


def read_record(kind: type[AnyRecord], path: Path) -> AnyRecord:
    """The record in a file, as strict as every reader of it needs; Unsound when it does not count."""
    try:
        size = path.stat().st_size
        raw = path.read_bytes() if size <= LARGEST_RECORD else b""
    except OSError as fault:
        raise Unsound(f"{path.name} cannot be read ({os.strerror(fault.errno or 0)})") from fault
    if not raw:
        raise Unsound(f"{path.name} is {'empty' if size == 0 else f'of {size:,} bytes, which is no record of ours'}")
    try:
        record = kind.model_validate_json(raw, strict=True)
    except ValidationError as fault:
        raise Unsound(f"{path.name} {_describe(fault, kind)}") from fault
    try:
        # What pydantic lets pass and DuckDB's reader does not: a key that stands there twice, NaN.
        json.loads(raw, object_pairs_hook=_refuse_twice, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise Unsound(f"{path.name} {str(fault)[:200]}") from fault
    for name, (low, high) in _RANGES.items():
        value = getattr(record, name, None)
        if value is not None and not low <= value <= high:
            raise Unsound(f"{path.name}: {name} {_shorten(value)} is out of range ({low:,} to {high:,})")
    if record.created.tzinfo is None:
        raise Unsound(f"{path.name}: created {record.created.isoformat()} has no time zone")
    return record


def find_fault(path: Path, schema: Mapping[str, Any] | None = None) -> str | None:
    """Why a Parquet file does not open, or which of its columns is not of the type in `schema`; None when it is sound.

    Reads the footer alone (60 us). FileNotFoundError passes: whoever moved the file knows why.
    """
    import polars as pl

    if (said := _find_torn(path)) is not None:
        return said
    try:
        found = pl.read_parquet_schema(path)
    except FileNotFoundError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as fault:
        return f"{path.name} cannot be opened ({_first_line(fault)})"
    for name, kind in (schema or {}).items():
        # A part of an older version lacks columns; numbers may be narrower or wider.
        if name in found and not _is_alike(found[name], kind):
            return f"{path.name}: column {name} holds {found[name]}, not {kind}"
    return None


def read_first(path: Path, columns: Sequence[str]) -> tuple[Any, ...] | None:
    """The first row of a Parquet file, these columns; None when it has no rows, Unsound when it cannot be read."""
    import polars as pl

    try:
        frame = pl.read_parquet(path, columns=list(columns), n_rows=1)
    except FileNotFoundError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as fault:
        raise Unsound(f"{path.name} cannot be read ({_first_line(fault)})") from fault
    return frame.row(0) if frame.height else None


def find_rot(paths: Sequence[Path]) -> dict[Path, str]:
    """Why Parquet files that open cannot be read to their end, those of which it is so. Decodes every value."""
    import duckdb

    found = {}
    tables: dict[str, list[Path]] = {}
    for path in paths:
        tables.setdefault(path.name, []).append(path)
    with duckdb.connect(config={"threads": 2}) as con:

        def decode(files: Sequence[Path]) -> None:
            sql = "SELECT bit_xor(hash(t)) FROM read_parquet(?, union_by_name = true) AS t"
            con.execute(sql, [list(map(str, files))]).fetchall()

        for files in (
            table[n : n + _READ_AT_ONCE] for table in tables.values() for n in range(0, len(table), _READ_AT_ONCE)
        ):
            # Most are sound, and what is asked of one file costs more than to read it: one by one only what is not.
            with contextlib.suppress(duckdb.Error):
                decode(files)
                continue
            for path in files:
                try:
                    decode([path])
                except duckdb.Error as fault:
                    if path.is_file():  # else somebody has just moved it
                        found[path] = f"{path.name} cannot be read to its end ({_first_line(fault)})"
    return found


def _find_torn(path: Path) -> str | None:
    """A file that a killed writer or a full disk cut short lacks the end mark, or is shorter than its footer says."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        raise
    except OSError as fault:
        return f"{path.name} cannot be opened ({os.strerror(fault.errno or 0)})"
    try:
        size = os.fstat(handle).st_size
        tail = os.pread(handle, 8, max(0, size - 8))
        whole = size > 12 and tail[4:] == _MAGIC and int.from_bytes(tail[:4], "little") + 12 <= size
        whole = whole and os.pread(handle, 4, 0) == _MAGIC
    except OSError as fault:
        return f"{path.name} cannot be read ({os.strerror(fault.errno or 0)})"
    finally:
        os.close(handle)
    if whole:
        return None
    return f"{path.name} is empty" if size == 0 else f"{path.name} is cut short or is no Parquet file ({size:,} bytes)"


def _is_alike(found: Any, wanted: Any) -> bool:
    import polars as pl

    # All values missing: DuckDB and Polars read such a column as any type.
    if found == wanted or found == pl.Null:
        return True
    kinds = ((kind.is_integer(), kind.is_float(), kind.is_nested()) for kind in (found, wanted))
    if any(map(operator.and_, *kinds)):
        return True
    return isinstance(found, pl.Datetime) and isinstance(wanted, pl.Datetime)


def _describe(fault: ValidationError, kind: type[Record]) -> str:
    first = fault.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])[:80]
    if first["type"] == "json_invalid":
        return f"is no whole JSON ({first['ctx']['error'] if 'ctx' in first else first['msg']})"
    if first["type"] == "newer_version":
        return first["msg"]
    if first["type"] == "extra_forbidden":
        return f"has a field {field!r} that this version does not know: a newer CX Lab wrote it, or somebody changed it"
    if first["type"] == "missing":
        return f"lacks the field {field!r}"
    wrong = first["msg"][:1].lower() + first["msg"][1:120]
    return f"is no {kind.__name__.lower()}" + (f": {field}" if field else "") + f": {wrong}"


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"has the field {max(names, key=names.count)[:80]!r} twice")
    return found


def _refuse_constant(word: str) -> None:
    raise ValueError(f"holds {word}, which is no JSON number")


def _first_line(fault: BaseException) -> str:
    said = explain(fault)
    return (str(said) if said else str(fault).partition("\n")[0])[:160]


def _shorten(value: int) -> str:
    return str(value) if abs(value) < 10**30 else f"{value:.3e}" if abs(value) < 10**300 else "of over 300 digits"
