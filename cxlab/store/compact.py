"""Merge the many small parts of a finished run into one sorted file per table, or put other files in their place,
safely against crashes.

The new folder is built beside the parts and switched in by two renames; it names what it replaces
(`merged.json`), so that `recover` can finish or undo a switch from any point at which it broke off.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from cxlab.errors import BadStore, Busy
from cxlab.store import frames, layout, tables
from cxlab.store.soundness import find_fault

if TYPE_CHECKING:
    import duckdb

_NEW, _OLD, _MERGED = "parts.new", "parts.old", "merged.json"
_BUSY = "this run is being compacted by another process; try again in a moment"
# A folder being written lives for milliseconds; one this old was left by a process that was killed.
_STALE_S = 600.0
# Rows a group: few where single conversations are looked up. Where whole metrics are averaged the groups are larger,
# and a dictionary of all their values makes DuckDB write Bloom filters, so that one attempt's scores, which lie
# scattered, are found by reading few groups (measured on 1,200,000 rows: 7 ms instead of 17, 8 MB instead of 5).
_LOOKED_UP = "ROW_GROUP_SIZE 8192"
_AVERAGED = "ROW_GROUP_SIZE 20000, DICTIONARY_SIZE_LIMIT 20000"
_MEMORY = "400MB"
# 8,000,000 verdicts out of 2,800 files do not fit when all of these are open; out of 400 they do with room to spare.
_FILES_AT_ONCE = 256


def compact(run_id: str, home: Path | str | None = None) -> int:
    """Merge a run's parts; returns how many batches were merged (0: nothing to do). Readers and writers go on."""
    base = layout.resolve_home(home)
    folder = layout.run_folder(base, run_id)
    with layout.lock(folder / ".lock-compact", wait_s=5.0, busy=_BUSY):
        _mend(base, folder)
        merged = layout.batches(folder)
        if len(merged) < 2:
            return 0
        try:
            _build(folder, merged)
        except BaseException:
            shutil.rmtree(folder / _NEW, ignore_errors=True)  # of all times, the disk may be full
            raise
        _switch(base, folder)
        _tidy(folder)
    return len(merged)


def rebuild(
    run_id: str,
    write_anew: Callable[[Path, Path], Collection[str]],
    settle: Callable[[], None] = lambda: None,
    home: Path | str | None = None,
) -> None:
    """Put other files in the place of some of a run's; its rows may be others, its attempts are the same.

    `write_anew(batch, fresh)` writes its tables into the folder `fresh` and names them; all other tables of that batch
    stay as they are. `settle` is called once the new files are in their place and the old ones are still there. A kill
    at any moment leaves all of the old files or all of the new ones. The caller sees to it that nobody adds to the run.
    """
    base = layout.resolve_home(home)
    folder = layout.run_folder(base, run_id)
    with layout.lock(folder / ".lock-compact", wait_s=5.0, busy=_BUSY):
        _mend(base, folder)
        replaced = layout.batches(folder)
        try:
            for batch in replaced:
                fresh = folder / _NEW / batch.name
                fresh.mkdir(parents=True)
                anew = write_anew(batch, fresh)
                for path in batch.iterdir():
                    if path.stem not in anew:
                        _share(path, fresh / path.name)
            if replaced:
                layout.write_whole(folder / _NEW / _MERGED, json.dumps([batch.name for batch in replaced]).encode())
        except BaseException:
            shutil.rmtree(folder / _NEW, ignore_errors=True)  # of all times, the disk may be full
            raise
        if replaced:
            _switch(base, folder)
        settle()
        if replaced:
            _tidy(folder)


def _share(path: Path, fresh: Path) -> None:
    """The same file under a second name: no part is ever written to; a copy where the file system has no links."""
    try:
        os.link(path, fresh)
    except OSError:
        shutil.copy2(path, fresh)


def recover(run_id: str, home: Path | str | None = None) -> None:
    """Finish or undo a compaction that broke off, and remove what killed writers left half-written."""
    base = layout.resolve_home(home)
    recover_folder(base, base / "runs" / layout.check_id("run", run_id))


def is_broken_off(folder: Path) -> bool:
    """Whether a run's folder shows traces of a compaction, which may be at work or may have broken off."""
    return (folder / _NEW).exists() or (folder / _OLD).exists()


def recover_folder(base: Path, folder: Path) -> None:
    """`recover` for a run's folder; costs one directory listing when there is nothing to mend."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    if _NEW in names or _OLD in names or "parts" not in names:
        try:
            with layout.lock(folder / ".lock-compact"):
                _mend(base, folder)
        except Busy:
            return  # a living process is at it: nothing broke off
    for name in names:
        if name.startswith(".tmp-"):
            _drop_stale(folder / name)


def compact_annotations(home: Path | str | None = None, at_least: int = 100) -> int:
    """Merge annotation files when there are `at_least` of them; the view shows each id once, so no step can double."""
    base = layout.resolve_home(home)
    folder = base / "annotations"
    with layout.lock(folder / ".lock-compact", wait_s=5.0, busy="the annotations are being compacted; try again"):
        files = sorted(path for path in folder.glob("*.parquet") if path.name != f"{layout.EMPTY}.parquet")
        parts = [path for path in files if find_fault(path, tables.ANNOTATIONS) is None]
        if len(parts) < max(2, at_least):
            return 0
        frame = pl.concat([pl.read_parquet(path) for path in parts]).unique("id", keep="last").sort("created", "id")
        fresh = folder / f".merged-{time.time_ns()}.tmp"
        try:
            frames.write_parquet(frame, fresh)
            fresh.replace(folder / f"merged-{time.time_ns()}.parquet")
        finally:
            fresh.unlink(missing_ok=True)
        with layout.swapping(base):
            for path in parts:
                path.unlink()
    return len(parts)


def _build(folder: Path, merged: list[Path]) -> None:
    fresh = folder / _NEW / "compacted"
    # A second compaction must not write over a file that a reader of the first has open.
    if any(batch.name == fresh.name for batch in merged):
        fresh = fresh.with_name(f"compacted-{time.time_ns()}")
    fresh.mkdir(parents=True)
    with _sorting(folder) as (con, spill):
        for table in tables.PARTS:
            files = [str(path) for batch in merged if (path := batch / f"{table}.parquet").is_file()]
            if files:
                _merge(con, table, files, fresh / f"{table}.parquet", spill)
    layout.write_whole(folder / _NEW / _MERGED, json.dumps([batch.name for batch in merged]).encode())


@contextmanager
def _sorting(folder: Path) -> "Iterator[tuple[duckdb.DuckDBPyConnection, Path]]":
    """A database that sorts beside the run's parts what its memory does not hold, and the folder where it does."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix=".sort-", dir=folder) as spill, duckdb.connect() as con:
        con.execute(f"SET memory_limit = '{_MEMORY}'")
        con.execute("SET temp_directory = $spill", {"spill": spill})
        con.execute("LOAD icu; SET GLOBAL TimeZone = 'UTC'")
        yield con, Path(spill)


def merge_table(folder: Path, table: str, files: Sequence[Path], target: Path) -> None:
    """Rows of one table of a run out of many files, as a compaction writes them."""
    with _sorting(folder) as (con, spill):
        _merge(con, table, list(map(str, files)), target, spill)


def _merge(con: "duckdb.DuckDBPyConnection", table: str, files: list[str], target: Path, spill: Path) -> None:
    # Each file that is read holds on to memory, so many are first joined as they are, some hundreds at a time.
    joined: list[Path] = []
    while len(files) > _FILES_AT_ONCE:
        whole = spill / f"{table}-{len(joined)}.parquet"
        _copy(con, table, files[:_FILES_AT_ONCE], whole, "", "COMPRESSION snappy")
        joined.append(whole)
        files = [*files[_FILES_AT_ONCE:], str(whole)]
    groups = _AVERAGED if table in ("scores", "judgements") else _LOOKED_UP
    order = f"ORDER BY {', '.join(tables.ORDER[table])}"
    _copy(con, table, files, target, order, f"COMPRESSION zstd, {groups}")
    for path in joined:
        path.unlink()


def _copy(
    con: "duckdb.DuckDBPyConnection", table: str, files: Sequence[str], target: Path, order: str, how: str
) -> None:
    schema = tables.PARTS[table]
    # Where all parts are of an older version, the columns they lack come from a table without rows.
    con.register("lacking", pl.DataFrame(schema=schema))
    # Column names come from tables.py, paths go in as a parameter.
    columns = ", ".join(f'"{name}"' for name in schema)
    con.execute(
        f"COPY (SELECT {columns} FROM (FROM read_parquet($files, union_by_name = true) "
        f"UNION ALL BY NAME FROM lacking) {order}) TO $path (FORMAT parquet, {how})",
        {"files": list(files), "path": str(target)},
    )


def _switch(base: Path, folder: Path) -> None:
    with layout.swapping(base):
        (folder / "parts").rename(folder / _OLD)
        (folder / _NEW).rename(folder / "parts")
        _move_newcomers(folder)


def _move_newcomers(folder: Path) -> None:
    """Carry over batches that a writer published after the merge had begun."""
    merged = set(_merged(folder / "parts"))
    for batch in (folder / _OLD).iterdir():
        if batch.is_dir() and batch.name not in merged:
            batch.rename(folder / "parts" / batch.name)


def _tidy(folder: Path) -> None:
    shutil.rmtree(folder / _OLD)


def _merged(parts: Path) -> list[str]:
    try:
        names = json.loads((parts / _MERGED).read_bytes())
    except FileNotFoundError:
        raise BadStore(
            f"{parts} and {parts.parent / _OLD} both hold parts and neither says what it merged; "
            f"keep one of them as {parts}"
        ) from None
    return [str(name) for name in names]


def _mend(base: Path, folder: Path) -> None:
    """Bring a run's folder to rest; the caller holds the run's compaction lock."""
    parts, new, old = folder / "parts", folder / _NEW, folder / _OLD
    if new.exists() and not parts.exists() and (new / _MERGED).is_file():  # between the two renames: go on
        with layout.swapping(base):
            new.rename(parts)
    if old.exists() and not parts.exists():
        with layout.swapping(base):
            old.rename(parts)
    if new.exists():  # it broke off before the switch: the parts are untouched
        shutil.rmtree(new)
    if old.exists():
        with layout.swapping(base):
            _move_newcomers(folder)
        _tidy(folder)
    for spill in folder.glob(".sort-*"):
        shutil.rmtree(spill)
    parts.mkdir(exist_ok=True)


def _drop_stale(path: Path) -> None:
    try:
        old = time.time() - path.stat().st_mtime > _STALE_S
    except FileNotFoundError:
        return  # its writer has just renamed it into place
    if old:
        shutil.rmtree(path, ignore_errors=True)
