"""Delete runs and datasets so that it can be undone: what is deleted lies in trash/ until it is restored or purged."""

import shutil
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cxlab.errors import BadOption, UnknownName
from cxlab.store import layout


@dataclass(frozen=True)
class Deleted:
    """A run in the trash."""

    run_id: str
    deleted: datetime
    folder: Path


def delete_run(run_id: str, home: Path | str | None = None) -> Deleted:
    """Move a run to the trash in one step; Busy while somebody writes it."""
    base = layout.resolve_home(home)
    folder = layout.run_folder(base, run_id)
    with ExitStack() as held:
        for path in (folder / ".lock-compact", *folder.glob(".lock-writer-*")):
            held.enter_context(layout.lock(path, busy=f"run {run_id!r} is being written; cancel it before deleting it"))
        # No run id holds a "~": the name is told apart into id and time without doubt.
        target = base / "trash" / f"{run_id}~{time.time_ns()}"
        target.parent.mkdir(exist_ok=True)
        with layout.swapping(base):
            folder.rename(target)
    return _entry(target)


def list_deleted(home: Path | str | None = None) -> list[Deleted]:
    """The runs in the trash, last deleted first."""
    found = [_entry(path) for path in (layout.resolve_home(home) / "trash").glob("*~*")]
    return sorted(found, key=lambda entry: entry.deleted, reverse=True)


def restore_run(run_id: str, home: Path | str | None = None) -> Path:
    """Bring the run back as it was when it was last deleted."""
    base = layout.resolve_home(home)
    entry = _find(base, layout.check_id("run", run_id))
    target = base / "runs" / run_id
    if target.exists():
        raise BadOption(f"run {run_id!r} exists again; delete it first, then restore the other one")
    with layout.swapping(base):
        entry.folder.rename(target)
    return target


def purge_deleted(run_id: str | None = None, home: Path | str | None = None) -> int:
    """Remove deleted runs for good (`None`: all of them); returns how many."""
    base = layout.resolve_home(home)
    gone = [entry for entry in list_deleted(base) if run_id is None or entry.run_id == run_id]
    if run_id is not None and not gone:
        _find(base, layout.check_id("run", run_id))
    for entry in gone:
        shutil.rmtree(entry.folder)
    return len(gone)


@dataclass(frozen=True)
class DeletedDataset:
    """A dataset in the trash."""

    dataset_id: str
    deleted: datetime
    folder: Path


def delete_dataset(dataset_id: str, home: Path | str | None = None) -> DeletedDataset:
    """Move a dataset to the trash in one step; runs on it stay, and find their samples again when it comes back."""
    base = layout.resolve_home(home)
    folder = base / "datasets" / layout.check_id("dataset", dataset_id)
    if not (folder / "dataset.json").is_file():
        known = [path.parent.name for path in (base / "datasets").glob("*/dataset.json")]
        raise UnknownName("dataset", dataset_id, known)
    # A folder of its own, so that no run can be taken for a dataset.
    target = base / "trash" / "datasets" / f"{dataset_id}~{time.time_ns()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with layout.swapping(base):
        folder.rename(target)
    return _dataset_entry(target)


def list_deleted_datasets(home: Path | str | None = None) -> list[DeletedDataset]:
    """The datasets in the trash, last deleted first."""
    found = [_dataset_entry(path) for path in (layout.resolve_home(home) / "trash" / "datasets").glob("*~*")]
    return sorted(found, key=lambda entry: entry.deleted, reverse=True)


def restore_dataset(dataset_id: str, home: Path | str | None = None) -> Path:
    """Bring the dataset back as it was when it was last deleted."""
    base = layout.resolve_home(home)
    entries = list_deleted_datasets(base)
    layout.check_id("dataset", dataset_id)
    found = next((entry for entry in entries if entry.dataset_id == dataset_id), None)
    if found is None:
        raise UnknownName("deleted dataset", dataset_id, {entry.dataset_id for entry in entries})
    target = base / "datasets" / dataset_id
    if target.exists():
        raise BadOption(f"dataset {dataset_id!r} exists again with the same content; the deleted one is not needed")
    with layout.swapping(base):
        found.folder.rename(target)
    return target


def _find(base: Path, run_id: str) -> Deleted:
    entries = list_deleted(base)
    for entry in entries:
        if entry.run_id == run_id:
            return entry
    raise UnknownName("deleted run", run_id, {entry.run_id for entry in entries})


def _entry(path: Path) -> Deleted:
    run_id, _, stamp = path.name.partition("~")
    return Deleted(run_id, datetime.fromtimestamp(int(stamp) / 1e9, UTC), path)


def _dataset_entry(path: Path) -> DeletedDataset:
    dataset_id, _, stamp = path.name.partition("~")
    return DeletedDataset(dataset_id, datetime.fromtimestamp(int(stamp) / 1e9, UTC), path)
