"""Which runs, datasets and annotations count. What is damaged, newer or a copy is set aside with the reason.

A run or dataset enters when its record parses, its numbers are in range, no other folder has its id, and its parts
open. Whatever lists, counts or queries goes through here, so that one bad folder never touches the others.

What was found is kept in the process by the times and sizes of files and folders: a look costs two `stat` a folder,
and only what is new or has changed is opened. A file that is damaged in place, which no folder's time tells, is found
by `look_closer` once a query has met it.
"""

import math
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from cxlab.errors import BadOption, BadStore, UnknownName
from cxlab.records import Dataset, Run
from cxlab.store import layout, tables
from cxlab.store.compact import is_broken_off
from cxlab.store.folder_contents import (
    FolderEntry,
    FolderFiles,
    Kind,
    Stamp,
    examine,
    list_folders,
    list_parquet,
    look_at_files,
    stamp_of,
)
from cxlab.store.soundness import find_rot

RecordForm = TypeVar("RecordForm", Run, Dataset)
# A query that goes on failing for another reason must not read the whole store each time.
_READ_AGAIN_S = 60.0
# How long a look counts within `held`, where no run, dataset or annotation has come or gone.
_HELD_S = 1.0


@dataclass(frozen=True)
class SetAside:
    """A folder (of annotations: a file) that does not count, and why."""

    kind: Kind
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} is set aside: {self.reason}"


@dataclass(frozen=True)
class Catalogue:
    """What counts at one moment. `version` changes whenever a part, run, dataset or annotation comes, goes or breaks,
    `data_version` also does but for annotations.

    `stamps`: id of a run → a value that changes with its record or parts; `holders`: table of parts → ids of the runs
    that have rows of it; `annotations`: names of the files that count.
    """

    version: str
    data_version: str
    runs: Mapping[str, Run]
    stamps: Mapping[str, Any]
    datasets: Mapping[str, Dataset]
    annotations: tuple[str, ...]
    holders: Mapping[str, tuple[str, ...]]
    set_aside: tuple[SetAside, ...]


def read(home: Path | str | None = None, closely: bool = False) -> Catalogue:
    """The catalogue of a store as it is now.

    `closely` looks at the time and size of every file, so that it also finds what was damaged in its place.
    """
    index = _index(home)
    return index.refresh(closely) if closely or _held.looks is None else index.glance(_held.looks)


@contextmanager
def fixed() -> Iterator[None]:
    """Within, the latest look of this thread counts until one looks closely or says `look_anew`: for what does nothing
    but read, some hundred times, and is remembered by the look before it."""
    before = _held.looks, _held.fixed
    _held.looks, _held.fixed = {} if before[0] is None else before[0], True
    try:
        yield
    finally:
        _held.looks, _held.fixed = before


def look_anew(home: Path | str | None = None) -> None:
    """Have the next look of this thread count, whatever it saw before."""
    _index(home).forget_look()


@contextmanager
def held() -> Iterator[None]:
    """Within, a look of this thread counts for a second, as long as no run, dataset or annotation comes or goes.

    For the script of a page, which asks some hundred times: four `stat` a time in place of two a folder.
    """
    before, _held.looks = _held.looks, {}
    try:
        yield
    finally:
        _held.looks = before


def version(home: Path | str | None = None) -> str:
    """A short text that changes whenever a part, run, dataset or annotation comes, goes or breaks (5 us a run)."""
    return read(home).version


def data_version(home: Path | str | None = None) -> str:
    """The same of runs and datasets alone, so that what was read of them outlives a note or a decision."""
    return read(home).data_version


def find_run(run_id: str, home: Path | str | None = None) -> Run:
    """The run of this id; BadStore with the reason when it is set aside. Opens no part of another run."""
    return _find("run", Run, run_id, home)


def find_dataset(dataset_id: str, home: Path | str | None = None) -> Dataset:
    """The dataset of this id; BadStore with the reason when it is set aside. Opens no table of another dataset."""
    return _find("dataset", Dataset, dataset_id, home)


def _find(kind: Kind, form: type[RecordForm], id: str, home: Path | str | None) -> RecordForm:
    index = _index(home)
    record = index.find(kind, layout.check_id(kind, id))
    if not isinstance(record, form):
        known = index.refresh()
        raise UnknownName(kind, id, known.runs if kind == "run" else known.datasets)
    return record


def damaged_parts(run_id: str, home: Path | str | None = None) -> dict[str, str]:
    """Name → fault of each part for which a run is set aside; none when it is its record or name that is wrong."""
    return _index(home).damaged_parts(run_id)


def claimed_id(kind: Kind, name: str, home: Path | str | None = None) -> str | None:
    """The id that the record in a folder of another name has; None when the names agree or there is no record."""
    return _index(home).claimed_id(kind, name)


def look_closer(home: Path | str | None = None, everything: bool = False) -> bool:
    """Find what was damaged in place since it was looked at; whether more or less is set aside now.

    First by the time and size of every file. When these tell nothing, or for `everything`, files are read to their
    end, but none twice within a minute (about 1 s per million scores).
    """
    return _index(home).look_closer(everything)


class _Look(NamedTuple):
    """What was found at a moment, while the folders of a store were as `mark` says."""

    mark: tuple[Stamp | None, ...]
    at: float
    found: Catalogue


class _Held(threading.local):
    looks: "dict[_Index, _Look] | None" = None
    fixed = False


_held = _Held()


class _Index:
    """What this process knows of one store; each public method holds its lock."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._marks = tuple(f"{base}/{name}" for name in ("swaps", "runs", "datasets", "annotations"))
        self._lock = threading.RLock()
        self._entries: dict[Kind, dict[str, FolderEntry]] = {"run": {}, "dataset": {}}
        self._annotations = FolderFiles()
        self._annotated: Stamp | None = None
        self._looked: tuple[Any, ...] = ()
        self._known: Catalogue | None = None

    def refresh(self, closely: bool = False) -> Catalogue:
        with self._lock:
            if closely:
                self.forget_look()
                self._forget_changed()
            looked = self._look()
            if self._known is None or looked != self._looked:
                self._known, self._looked = self._build(looked), looked
            return self._known

    def glance(self, looks: dict["_Index", _Look]) -> Catalogue:
        """What a look of a moment ago has found, while it still counts; see `held`."""
        known, now = looks.get(self), time.monotonic()
        if known is not None and _held.fixed:
            return known.found
        mark = tuple(map(stamp_of, self._marks))
        if known is None or known.mark != mark or now - known.at > _HELD_S:
            known = looks[self] = _Look(mark, now, self.refresh())
        return known.found

    def forget_look(self) -> None:
        (_held.looks or {}).pop(self, None)

    def find(self, kind: Kind, name: str) -> Run | Dataset | None:
        """The record of a folder; None when there is no such folder."""
        with self._lock:
            entry = self._look_at(kind, name)
            if entry is None:
                return None
            if reason := self._reason(kind, name, entry):
                raise BadStore(f"{SetAside(kind, name, reason)}; see what `python -m cxlab doctor` says")
            return entry.record

    def damaged_parts(self, name: str) -> dict[str, str]:
        with self._lock:
            entry = self._look_at("run", name)
            return dict(entry.damaged) if entry is not None and entry.record is not None else {}

    def claimed_id(self, kind: Kind, name: str) -> str | None:
        with self._lock:
            entry = self._look_at(kind, name)
            record = entry.record if entry is not None else None
            return record.id if record is not None and record.id != name else None

    def look_closer(self, everything: bool) -> bool:
        with self._lock:
            before = self.refresh().set_aside
            if self.refresh(closely=True).set_aside == before or everything:
                self._read_whole()
            return self.refresh().set_aside != before

    def doubt(self, kind: Kind, name: str) -> None:
        """Forget that the files of one folder were read to their end."""
        with self._lock:
            self.forget_look()
            for files in self._entries[kind].get(name, FolderEntry()).parts.values():
                files.read_whole = -math.inf

    # --- looking: two stats a folder, and whatever is new or has changed

    def _look(self) -> tuple[Any, ...]:
        """All signatures and faults; folders that have changed are examined on the way."""
        seen: list[Any] = [layout.swap_count(self._base)]
        for kind, entries in self._entries.items():
            names = list_folders(f"{self._base}/{kind}s")
            for gone in entries.keys() - set(names):
                del entries[gone]
            for name in names:
                if entry := self._look_at(kind, name):
                    seen.append((name, entry.signature, entry.fault))
        folder = self._base / "annotations"
        stamp = stamp_of(folder)
        if stamp is None or stamp != self._annotated:
            try:
                wanted = dict.fromkeys(list_parquet(folder), tables.ANNOTATIONS)
                self._annotations = look_at_files(folder, wanted, self._annotations)
                self._annotated = stamp
            except FileNotFoundError:
                self._annotated = None  # they are being merged at this moment
        return (*seen, stamp, *self._annotations.faults.items())

    def _look_at(self, kind: Kind, name: str) -> FolderEntry | None:
        """What is known of a folder, examined anew if it has changed; None when it is not there."""
        # Pages ask for each of their reads, so: no Path objects before something has changed.
        folder, entries = f"{self._base}/{kind}s/{name}", self._entries[kind]
        signature = (stamp_of(f"{folder}/{kind}.json"), stamp_of(f"{folder}/parts" if kind == "run" else folder))
        if signature == (None, None) and not os.path.isdir(folder):
            entries.pop(name, None)
            return None
        entry = entries.setdefault(name, FolderEntry())
        if entry.signature != signature:
            if entry.signature is None or entry.signature[0] != signature[0]:
                entry.record = None
            entry.signature = signature
            try:
                entry.fault = examine(kind, self._base, Path(folder), entry)
            except FileNotFoundError:
                entry.signature = None  # somebody moves it at this moment
        return entry

    def _forget_changed(self) -> None:
        self._annotated = None
        for kind, entries in self._entries.items():
            for name, entry in entries.items():
                folder = self._base / f"{kind}s" / name
                if kind == "run" and is_broken_off(folder):
                    entry.signature = None
                for part, files in list(entry.parts.items()):
                    place = f"{folder}/parts/{part}" if kind == "run" else str(folder)
                    if any(stamp_of(f"{place}/{file}") != stamp for file, stamp in files.stamps.items()):
                        del entry.parts[part]
                        entry.signature = None

    def _read_whole(self) -> None:
        places = {self._base / "annotations": self._annotations}
        for kind, entries in self._entries.items():
            for name, entry in entries.items():
                folder = self._base / f"{kind}s" / name
                for part, files in entry.parts.items():
                    places[folder / "parts" / part if kind == "run" else folder] = files
        due = time.monotonic() - _READ_AGAIN_S
        left = {place: files for place, files in places.items() if files.read_whole < due}
        rotten = find_rot(
            [place / name for place, files in left.items() for name in files.stamps.keys() - files.faults]
        )
        for path, fault in rotten.items():
            left[path.parent].faults[path.name] = fault
        for files in left.values():
            files.read_whole = time.monotonic()
        if rotten:
            for entries in self._entries.values():
                for entry in entries.values():
                    entry.signature = None

    # --- what it comes to

    def _reason(self, kind: Kind, name: str, entry: FolderEntry) -> str:
        """Why a folder does not count; "" when it does."""
        record = entry.record
        if record is not None and record.id != name:
            if os.path.isdir(f"{self._base}/{kind}s/{record.id}"):
                return f"it is a copy of {kind} {record.id!r}"
            return f"its record says that it is {kind} {record.id!r}, but the folder has another name"
        if not entry.fault and record is not None:
            try:
                layout.check_id(kind, name)
            except BadOption as mistake:
                return str(mistake)
        return entry.fault

    def _build(self, looked: tuple[Any, ...]) -> Catalogue:
        aside: list[SetAside] = []
        sound: dict[Kind, dict[str, Any]] = {"run": {}, "dataset": {}}
        holders: dict[str, list[str]] = {table: [] for table in tables.PARTS}
        for kind, entries in self._entries.items():
            for name, entry in sorted(entries.items()):
                if reason := self._reason(kind, name, entry):
                    aside.append(SetAside(kind, name, reason))
                elif entry.record is not None:
                    sound[kind][name] = entry.record
                    held = {file for files in entry.parts.values() for file in files.stamps} if kind == "run" else ()
                    for table in tables.PARTS:
                        if f"{table}.parquet" in held:
                            holders[table].append(name)
        files = self._annotations
        aside += [SetAside("annotations", name, fault) for name, fault in sorted(files.faults.items())]
        return Catalogue(
            version=_digest(looked),
            data_version=_digest(looked[: len(looked) - 1 - len(files.faults)]),
            runs=sound["run"],
            stamps={name: self._entries["run"][name].signature for name in sound["run"]},
            datasets=sound["dataset"],
            annotations=tuple(sorted(files.stamps.keys() - files.faults.keys())),
            holders={table: tuple(names) for table, names in holders.items()},
            set_aside=tuple(aside),
        )


def _digest(looked: tuple[Any, ...]) -> str:
    return blake2b(repr(looked).encode(), digest_size=8).hexdigest()


@contextmanager
def naming_damage(kind: Kind, id: str, home: Path | str | None = None) -> Iterator[None]:
    """Around what reads the files of one run or dataset: a file that is found to be damaged is told as BadStore."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        index = _index(home)
        index.doubt(kind, id)
        index.look_closer(everything=False)
        index.find(kind, id)  # BadStore with the reason, if that is what it was
        raise


_indexes: dict[Path, _Index] = {}
_indexes_lock = threading.Lock()


def _index(home: Path | str | None) -> _Index:
    base = layout.resolve_home(home)
    with _indexes_lock:
        if base not in _indexes:
            _indexes[base] = _Index(base)
        return _indexes[base]
