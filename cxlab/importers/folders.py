"""The files below a folder that somebody named, and tables read from them: bounded, whatever lies there."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from cxlab.errors import BadFile

MOST_ENTRIES = 20_000
"""Files and folders below the one that was given; a data set has some dozens."""
DEEPEST = 10
LARGEST_FILE = 2_000_000_000
MOST_ROWS = 5_000_000
"""Rows of one table; a few bytes of Parquet can stand for any number of them."""


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
    parquet = path.suffix.lower() == ".parquet"
    kind = "Parquet" if parquet else "CSV in UTF-8"
    try:
        if (size := path.stat().st_size) > LARGEST_FILE:
            raise BadFile(path, None, f"{size / 1e9:.1f} GB; the limit is {LARGEST_FILE / 1e9:.0f} GB", "split it")
        # Not as a pattern: a folder may have brackets in its name.
        if not parquet:
            # Everything as text: ids such as 007 and lists are ours to read.
            return pl.read_csv(path, infer_schema=False, glob=False)
        rows = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
        if rows > MOST_ROWS:
            raise BadFile(path, None, f"{rows:,} rows; the limit is {MOST_ROWS:,}", "split it")
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise BadFile(path, None, f"cannot be read as {kind} ({first[:160]})", "save it again") from None
