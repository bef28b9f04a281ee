"""Write runs out: Parquet, CSV, JSON Lines, a process-mining event log, or what another store opens (store/archive)."""

import glob
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from cxlab.errors import BadOption
from cxlab.store import catalogue, layout, tables
from cxlab.store.connect import describe, open_store, query
from cxlab.store.exports import archive, sharing

if TYPE_CHECKING:
    import duckdb

Format = Literal["parquet", "csv", "jsonl", "duckdb", "folder", "events"]

# A spreadsheet runs a cell that begins like this; tab and carriage return are stripped by some before they look,
# and East Asian input methods write the full-width forms. Plain numbers ("-5") stay as they are.
_FORMULA = r"^[\s\x00]*[=+\-@\t\r\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"

_RUNS = (
    "run_id",
    "benchmark",
    "model",
    "simulated",
    "setup",
    "judges",
    "dataset_id",
    "seed",
    "trials",
    "planned",
    "prompts",
    "code",
    "group_",
    "created",
)

# A stage of the path that the agent says it took on one turn is one event, the action on the way out the last one.
# A case is one evaluated turn: each turn restates the path from its start, so a conversation as one case would walk
# it again and again; `last` picks one case per conversation. The order of events is real; the distances are not: a
# turn counts as 1 s and a step as 1 ms, because no model reports when it took a step.
_EVENTS = """
WITH walked AS (
    SELECT t.run_id, t.attempt_id, t.turn, t.last, t.error, a.started, a.model, a.simulated,
        facet_of(a.facet_list, 'scenario') AS scenario,
        facet_of(a.facet_list, 'level') AS level,
        t.predicted_path AS stages, t.predicted_action AS action, t.moves
    FROM traces AS t JOIN attempts AS a USING (run_id, attempt_id)
    WHERE t.run_id IN (SELECT unnest($runs)) AND t.parsed
), events AS (
    SELECT *, unnest(stages) AS name, 'stage' AS kind, generate_subscripts(stages, 1) AS step FROM walked
    UNION ALL
    SELECT *, action AS name, 'action' AS kind, len(stages) + 1 AS step FROM walked WHERE action IS NOT NULL
)
SELECT attempt_id || '/' || turn AS "case:concept:name", name AS "concept:name",
    strftime(started + to_seconds(turn - 1) + to_milliseconds(step), '%Y-%m-%dT%H:%M:%S.%gZ') AS "time:timestamp",
    kind, step, turn, last, run_id, attempt_id, model, simulated, scenario, level, error,
    CASE WHEN kind = 'stage' THEN list_contains(moves, {'move': 'inserted', 'stage': name}) END AS inserted
FROM events ORDER BY run_id, attempt_id, turn, step
"""
# How such a file begins: a word and the byte at which it stands.
_BEGINNINGS: dict[str, tuple[bytes, int]] = {"duckdb": (b"DUCK", 8), "events": (b"case:concept:name", 0)}
_UNFINISHED = re.compile(r"\.(\d+)\.\d+\.unfinished(\.parts|\.wal|\.tmp)?")
_EVENT_TEXTS = {"case:concept:name", "concept:name", "run_id", "attempt_id", "model", "scenario", "level", "error"}


def export_runs(
    run_ids: Sequence[str] | None,
    format: Format,
    to: Path | str,
    home: Path | str | None = None,
) -> list[Path]:
    """Export runs (`None`: all) with every row marked `simulated` or not; returns the files written.

    parquet, csv and jsonl fill the folder `to` with a file per table; duckdb and events write the file `to`. Files
    of the same name are replaced, each in one step, if they are such an export; what else lies there is not touched.
    folder makes `to` a small store of these runs; that and the duckdb file can be imported by another store.
    In CSV, text that a spreadsheet would run as a formula gets a leading apostrophe. BadOption for another format, or a
    file where a folder is to be.
    """
    if format not in get_args(Format):
        raise BadOption(f"unknown export format {str(format)!r}; take one of {', '.join(get_args(Format))}")
    base = layout.resolve_home(home)
    runs = list(catalogue.read(base).runs if run_ids is None else run_ids)
    for run_id in runs:
        catalogue.find_run(run_id, base)
    target = Path(to).expanduser().resolve()
    if format == "folder":
        return [_write_folder(base, runs, target)]
    if format in _BEGINNINGS:
        _check_replaceable(target, format)
    elif target.exists() and not target.is_dir():
        raise BadOption(f"--to {target}: is a file; for {format} name a folder")
    con = open_store(base)
    try:
        if format == "events":
            return [_write_events(con, runs, target)]
        if format == "duckdb":
            return [_write_database(con, base, runs, target)]
        names = ["runs", *tables.TABLES]
        told = {sharing.SAMPLES: sharing.list_open_runs(runs, base)}
        return [
            _write_table(con, table, told.get(table, runs), format, target / f"{table}.{format}") for table in names
        ]
    finally:
        con.close()


def guard(column: str) -> str:
    """The SQL that makes a text column safe to open in a spreadsheet."""
    name = f'"{column}"'
    return (
        f"CASE WHEN regexp_matches({name}, '{_FORMULA}') AND NOT regexp_matches({name}, '{_NUMBER}') "
        f"THEN '''' || {name} ELSE {name} END AS {name}"
    )


def _column(name: str) -> str:
    """A column as others read it: a message's place is called position as well."""
    return 't."seq", t."seq" AS "position"' if name == "seq" else f't."{name}"'


def _rows(table: str) -> str:
    """The SQL of a table's rows of the runs `$runs`, each with `simulated`."""
    if table == "runs":
        return f"SELECT {', '.join(_RUNS)} FROM runs WHERE run_id IN (SELECT unnest($runs)) ORDER BY run_id"
    columns = ", ".join(_column(name) for name in tables.TABLES[table])
    if table == "samples":
        return (
            f"SELECT {columns} FROM samples AS t WHERE dataset_id IN "
            "(SELECT dataset_id FROM runs WHERE run_id IN (SELECT unnest($runs)))"
        )
    chosen = "FROM {0} AS t {1} WHERE t.run_id IN (SELECT unnest($runs))"
    if table == "attempts":
        return f"SELECT {columns} " + chosen.format(table, "")
    return f"SELECT {columns}, r.simulated " + chosen.format(table, "LEFT JOIN runs AS r ON r.run_id = t.run_id")


def _shape(con: "duckdb.DuckDBPyConnection", rows: str, runs: list[str], format: str) -> str:
    """The same rows with columns as the format needs them."""
    shaped = []
    for name, kind in describe(con, rows, {"runs": runs}).items():
        if kind.startswith("MAP"):
            # A column a facet: not every format has maps, and spreadsheets want columns.
            shaped += [f"{name}['{facet}'] AS \"{facet}\"" for facet in _list_facets(con, rows, runs)]
        elif format == "jsonl" and name in tables.JSON_COLUMNS:
            shaped.append(f'"{name}"::JSON AS "{name}"')
        elif format == "csv" and (kind.endswith("[]") or kind.startswith("STRUCT")):
            shaped.append(f'to_json("{name}")::VARCHAR AS "{name}"')
        elif format == "csv" and kind == "VARCHAR":
            shaped.append(guard(name))
        else:
            shaped.append(f'"{name}"')
    return f"SELECT {', '.join(shaped)} FROM ({rows})"


def _list_facets(con: "duckdb.DuckDBPyConnection", rows: str, runs: list[str]) -> list[str]:
    """The facets that the rows have, by name; what is no plain word cannot be one (see contract.Facet)."""
    found = query(con, f"SELECT DISTINCT unnest(map_keys(facets)) AS facet FROM ({rows}) ORDER BY 1", {"runs": runs})
    return [facet for facet in found["facet"] if facet.isidentifier()]


def _write_table(con: "duckdb.DuckDBPyConnection", table: str, runs: list[str], format: str, path: Path) -> Path:
    options = {"parquet": "FORMAT parquet, COMPRESSION zstd", "csv": "FORMAT csv, HEADER", "jsonl": "FORMAT json"}
    rows = _shape(con, _rows(table), runs, format)
    return _copy(con, rows, runs, options[format], path)


def _write_events(con: "duckdb.DuckDBPyConnection", runs: list[str], path: Path) -> Path:
    names = describe(con, _EVENTS, {"runs": runs})
    columns = ", ".join(guard(name) if name in _EVENT_TEXTS else f'"{name}"' for name in names)
    return _copy(con, f"SELECT {columns} FROM ({_EVENTS})", runs, "FORMAT csv, HEADER", path)


def _copy(con: "duckdb.DuckDBPyConnection", rows: str, runs: list[str], options: str, path: Path) -> Path:
    with aside(path) as fresh:
        query(con, f"COPY ({rows}) TO $path ({options})", {"runs": runs, "path": str(fresh)})
        fresh.replace(path)
    return path


def _write_database(con: "duckdb.DuckDBPyConnection", base: Path, runs: list[str], path: Path) -> Path:
    """One file with native tables, which any DuckDB 2 opens without the store, and what another store takes in."""
    import duckdb

    with aside(path) as fresh:
        parts = fresh.with_name(fresh.name + ".parts")
        with duckdb.connect(str(fresh)) as made:
            told = {sharing.SAMPLES: sharing.list_open_runs(runs, base)}
            for table in ["runs", *tables.TABLES]:
                rows = _write_table(con, table, told.get(table, runs), "parquet", parts / f"{table}.parquet")
                made.sql("SELECT * FROM read_parquet($path)", params={"path": str(rows)}).create(table)
                rows.unlink()
            archive.write_files(base, runs, parts)
            made.execute(f"CREATE TABLE {archive.FILES} (path VARCHAR, content BLOB)")
            for file in sorted(each for each in parts.rglob("*") if each.is_file()):
                name = file.relative_to(parts).as_posix()
                chosen = f"INSERT INTO {archive.FILES} SELECT $name, content FROM read_blob($file)"
                made.execute(chosen, {"name": name, "file": glob.escape(str(file))})
        fresh.replace(path)
    return path


def _write_folder(base: Path, runs: list[str], path: Path) -> Path:
    archive.check_replaceable(path, base)
    with aside(path) as fresh:
        fresh.mkdir()
        archive.write_files(base, runs, fresh)
        (fresh / archive.MARKER).write_text(json.dumps({"runs": runs}), encoding="utf-8")
        remove(path)
        fresh.replace(path)
    return path


def find_unfinished(path: Path) -> list[Path]:
    """What exports to this path left beside it when they were killed; of one that is at work nothing."""
    beside = path.parent.glob(f".{glob.escape(path.name)}.*.unfinished*")
    return [each for each in beside if _is_unfinished(each.name[len(path.name) + 1 :])]


def _is_unfinished(ending: str) -> bool:
    found = _UNFINISHED.fullmatch(ending)
    return found is not None and not lives(int(found[1]))


def lives(pid: int) -> bool:
    """Whether a process of this id is at work on this machine."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A hidden name beside the file, which nobody takes for an export; at the end it is gone, and what DuckDB added."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in find_unfinished(path):
        remove(left)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.unfinished")
    try:
        yield fresh
    finally:
        for ending in ("", ".parts", ".wal", ".tmp"):
            remove(fresh.with_name(fresh.name + ending))


def _check_replaceable(path: Path, format: str) -> None:
    word, place = _BEGINNINGS[format]
    if path.is_dir():
        raise BadOption(f"--to {path}: is a folder; for {format} name a file")
    if not path.exists():
        return
    with path.open("rb") as file:
        begun = file.read(place + len(word))
    if begun[place:] != word and begun:
        raise BadOption(f"--to {path}: exists and is no earlier export of this kind; name another file")
