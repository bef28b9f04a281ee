"""The files below a folder that somebody named, and tables read from them: bounded, whatever lies there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.errors import BadFile

MOST_ENTRIES = 20_000
"""Files and folders below the one that was given; a data set has some dozens."""
DEEPEST = 10
LARGEST_FILE = 2_000_000_000
MOST_ROWS = 5_000_000
"""Rows of one table; a few bytes of Parquet can stand for any number of them."""
_BATCH = 2_000


def files_below(root: Path) -> list[Path]:
    """All files below a folder, sorted; hidden ones and links to folders are passed over.

    BadFile when there are more than MOST_ENTRIES, or folders more than DEEPEST deep: somebody named a whole disk.
    """
    fix = "give the folder that holds the data and little else"
    found: list[Path] = []
    seen = 0
    todo = [(root, 0)]
    while todo:
        folder, depth = todo.pop()
        if depth > DEEPEST:
            raise BadFile(root, None, f"folders more than {DEEPEST} deep", fix)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    seen += 1
                    if seen > MOST_ENTRIES:
                        raise BadFile(root, None, f"more than {MOST_ENTRIES:,} files and folders in it", fix)
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        todo.append((folder / entry.name, depth + 1))
                    elif entry.is_file():
                        found.append(folder / entry.name)
        except OSError as error:
            raise BadFile(folder, None, f"cannot be read ({error.strerror})", "check who may read it") from None
    return sorted(found)


def read_table(path: Path) -> pl.DataFrame:
    """A CSV file, every cell as text, or a Parquet file; BadFile for what is neither."""
    with _telling(path):
        return _scan(path).collect()


def iterate_table(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of such a file, one after the other, without holding all of them; BadFile for what is neither."""
    with _telling(path):
        for batch in _scan(path).collect_batches(chunk_size=_BATCH):
            yield from batch.iter_rows(named=True)


def count_table(path: Path) -> int:
    """The rows of a Parquet file, as it says itself."""
    with _telling(path):
        return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())


def _scan(path: Path) -> pl.LazyFrame:
    if (size := path.stat().st_size) > LARGEST_FILE:
        raise BadFile(path, None, f"{size / 1e9:.1f} GB; the limit is {LARGEST_FILE / 1e9:.0f} GB", "split it")
    # Not as a pattern: a folder may have brackets in its name.
    if path.suffix.lower() != ".parquet":
        # Everything as text: ids such as 007 and lists are ours to read.
        return pl.scan_csv(path, infer_schema=False, glob=False)
    if (rows := count_table(path)) > MOST_ROWS:
        raise BadFile(path, None, f"{rows:,} rows; the limit is {MOST_ROWS:,}", "split it")
    return pl.scan_parquet(path, glob=False)


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """What Polars says of a file as one line."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        kind = "Parquet" if path.suffix.lower() == ".parquet" else "CSV in UTF-8"
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise BadFile(path, None, f"cannot be read as {kind} ({first[:160]})", "save it again") from None
