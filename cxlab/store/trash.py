"""Delete runs and datasets so that it can be undone: what is deleted lies in trash/ until it is restored or purged."""

import shutil
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from cxlab.errors import BadOption, UnknownName
from cxlab.store import catalogue, layout

TrashKind = Literal["run", "dataset"]


@dataclass(frozen=True)
class TrashEntry:
    """A run or dataset in the trash."""

    kind: TrashKind
    id: str
    deleted: datetime
    folder: Path


def delete(kind: TrashKind, id: str, home: Path | str | None = None) -> TrashEntry:
    """Move it to the trash in one step; Busy while somebody writes it.

    Runs on a deleted dataset stay, and find their samples again when it comes back.
    """
    base = layout.resolve_home(home)
    folder = find_folder(kind, id, base)
    with ExitStack() as held:
        for path in (folder / ".lock-compact", *folder.glob(".lock-writer-*")) if kind == "run" else ():
            held.enter_context(layout.lock(path, busy=f"run {id!r} is being written; cancel it before deleting it"))
        # The time comes last, so that the name is told apart into id and time without doubt.
        target = _trash(base, kind) / f"{id}~{time.time_ns()}"
        target.parent.mkdir(parents=True, exist_ok=True)
        with layout.swapping(base):
            folder.rename(target)
    return _entry(kind, target)


def find_folder(kind: TrashKind, id: str, home: Path | str | None = None) -> Path:
    """The folder of a run or dataset, also of one that is set aside; UnknownName when there is none."""
    base = layout.resolve_home(home)
    if any(one.kind == kind and one.name == id for one in catalogue.read(base).set_aside):
        return base / f"{kind}s" / id  # a name that was listed there, so no path can hide in it
    return layout.run_folder(base, id) if kind == "run" else layout.dataset_folder(base, id)


def keep(path: Path, home: Path | str | None = None) -> Path:
    """Move any other file or folder of the store to the trash, out of the way of all; where it lies now."""
    base = layout.resolve_home(home)
    target = base / "trash" / "files" / f"{path.name}~{time.time_ns()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with layout.swapping(base):
        path.rename(target)
    return target


def list_deleted(kind: TrashKind, home: Path | str | None = None) -> list[TrashEntry]:
    """The runs or datasets in the trash, last deleted first."""
    paths = _trash(layout.resolve_home(home), kind).glob("*~*")
    found = [_entry(kind, path) for path in paths if path.name.rpartition("~")[2].isdecimal()]
    return sorted(found, key=lambda entry: entry.deleted, reverse=True)


def restore(kind: TrashKind, id: str, home: Path | str | None = None) -> Path:
    """Bring it back as it was when it was last deleted; BadOption where one of this id is there again."""
    base = layout.resolve_home(home)
    entry = _find(base, kind, id)
    target = base / f"{kind}s" / id
    if target.exists():
        raise BadOption(f"{kind} {id!r} exists again; delete that one first, then restore the other")
    with layout.swapping(base):
        entry.folder.rename(target)
    layout.mark_up_to_date(base, False)  # it may have been deleted before the store was upgraded
    return target


def purge(kind: TrashKind, id: str | None = None, home: Path | str | None = None) -> int:
    """Remove what is deleted for good (`None`: all of that kind); returns how many."""
    base = layout.resolve_home(home)
    if id is not None:
        _find(base, kind, id)
    gone = [entry for entry in list_deleted(kind, base) if id is None or entry.id == id]
    for entry in gone:
        shutil.rmtree(entry.folder)
    return len(gone)


def _trash(base: Path, kind: TrashKind) -> Path:
    # Datasets lie in a folder of their own, so that no run can be taken for one.
    return base / "trash" if kind == "run" else base / "trash" / "datasets"


def _find(base: Path, kind: TrashKind, id: str) -> TrashEntry:
    entries = list_deleted(kind, base)
    for entry in entries:
        if entry.id == id:
            return entry
    layout.check_id(kind, id)
    raise UnknownName(f"deleted {kind}", id, {entry.id for entry in entries})


def _entry(kind: TrashKind, path: Path) -> TrashEntry:
    id, _, stamp = path.name.rpartition("~")
    return TrashEntry(kind, id, datetime.fromtimestamp(int(stamp) / 1e9, UTC), path)
