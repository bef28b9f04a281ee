"""What one folder of the store holds: its record, its Parquet files, and why it would not count.

Only what is new or has changed is opened; what is known of a file that has not changed holds.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cxlab.errors import CxError
from cxlab.records import Dataset, Run
from cxlab.store import layout, tables
from cxlab.store.compact import recover_folder
from cxlab.store.soundness import Unsound, find_fault, read_first, read_record

Kind = Literal["run", "dataset", "annotations"]
Stamp = tuple[int, ...]


@dataclass
class FolderFiles:
    """What was found of the Parquet files in one folder: stamps and faults by name, the first row of the main one."""

    stamps: dict[str, Stamp] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    first: tuple[Any, ...] | None = None
    read_whole: float = -math.inf
    """When, by the monotonic clock, all of them were last read to their end."""


@dataclass
class FolderEntry:
    """One folder of runs/ or datasets/. `signature` None: look again next time."""

    signature: tuple[Stamp | None, Stamp | None] | None = None
    record: Run | Dataset | None = None
    fault: str = ""
    parts: dict[str, FolderFiles] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)


def examine(kind: Kind, base: Path, folder: Path, entry: FolderEntry) -> str:
    """Open what is new in a folder; why it does not count, or "". FileNotFoundError while somebody moves its files."""
    try:
        if entry.record is None:
            path = folder / f"{kind}.json"
            if not path.exists():
                return f"it holds no {path.name}"
            entry.record = read_record(Run, path) if kind == "run" else read_record(Dataset, path)
        if kind == "run":
            recover_folder(base, folder)
            return _look_at_parts(folder, entry)
        return _look_at_dataset(folder, entry)
    except FileNotFoundError:
        raise
    except OSError as fault:
        return f"it cannot be read ({os.strerror(fault.errno or 0)})"
    except (Unsound, CxError) as why:  # CxError: a compaction that broke off and cannot be gone on with
        return str(why)


def _look_at_parts(folder: Path, entry: FolderEntry) -> str:
    names = list_folders(f"{folder}/parts")
    for gone in entry.parts.keys() - set(names):
        del entry.parts[gone]
    for name in names:
        if name not in entry.parts:
            entry.parts[name] = _look_at_batch(folder / "parts" / name)
    starts: dict[tuple[Any, ...], str] = {}
    entry.damaged = {}
    for name in names:
        files = entry.parts[name]
        if files.faults:
            entry.damaged[name] = f"part {name!r} is damaged: {next(iter(files.faults.values()))}"
        elif files.first is not None and files.first[0] != folder.name:
            entry.damaged[name] = f"part {name!r} belongs to run {str(files.first[0])[:80]!r}"
        elif files.first is not None and (other := starts.setdefault(files.first, name)) != name:
            entry.damaged[name] = f"part {name!r} is a copy of part {other!r}"
        elif not layout.is_plain(name):
            entry.damaged[name] = f"part {name!r} has a name that CX Lab does not give"
    first = next(iter(entry.damaged.values()), "")
    return f"{first} (and {len(entry.damaged) - 1} more)" if len(entry.damaged) > 1 else first


def _look_at_batch(folder: Path) -> FolderFiles:
    wanted = {f"{table}.parquet": schema for table, schema in tables.PARTS.items()}
    there = list_parquet(folder)
    files = look_at_files(folder, {name: schema for name, schema in wanted.items() if name in there}, FolderFiles())
    main = "attempts.parquet"
    if main not in there:
        files.faults[main] = f"it holds no {main}"
    elif main not in files.faults:
        try:
            files.first = read_first(folder / main, ("run_id", "attempt_id"))
        except Unsound as why:
            files.faults[main] = str(why)
    return files


def _look_at_dataset(folder: Path, entry: FolderEntry) -> str:
    wanted = {name: tables.SAMPLES if name == "samples.parquet" else None for name in list_parquet(folder)}
    if "samples.parquet" not in wanted:
        return "it holds no samples.parquet"
    files = entry.parts[""] = look_at_files(folder, wanted, entry.parts.get("", FolderFiles()))
    for fault in files.faults.values():
        return fault
    first = read_first(folder / "samples.parquet", ("dataset_id",))
    if first is not None and first[0] != folder.name:
        return f"its samples belong to dataset {str(first[0])[:80]!r}"
    return ""


def look_at_files(folder: Path, wanted: Mapping[str, Mapping[str, Any] | None], known: FolderFiles) -> FolderFiles:
    """What is to be said of these files of a folder; what is known of a file that has not changed holds."""
    found = FolderFiles(read_whole=known.read_whole)
    for name, schema in wanted.items():
        if not layout.is_plain(name):
            found.faults[name] = "its name is none that CX Lab gives"
            continue
        stamp = stamp_of(folder / name)
        if stamp is None:
            raise FileNotFoundError(str(folder / name))
        found.stamps[name] = stamp
        if known.stamps.get(name) == stamp:
            fault = known.faults.get(name)
        else:
            fault, found.read_whole = find_fault(folder / name, schema), -math.inf
        if fault is not None:
            found.faults[name] = fault
    return found


def stamp_of(path: Path | str) -> Stamp | None:
    """What tells a file or folder from what it was before; None when it is not there.

    The link count tells batches apart where the clock of the file system is too coarse to.
    """
    try:
        stat = os.stat(path)
    except OSError:  # what it is that cannot be looked at comes out when it is opened
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino, stat.st_nlink


def list_folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in found if entry.name != layout.EMPTY and entry.is_dir())
    except FileNotFoundError:
        return []


def list_parquet(folder: Path) -> list[str]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(name for name in names if name.endswith(".parquet") and name != f"{layout.EMPTY}.parquet")
