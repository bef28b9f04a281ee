"""What is wrong with the files of a store, in plain words, and its repair; originals go to the trash."""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cxlab.errors import BadStore, Busy, NewerStore
from cxlab.store import catalogue, connect, layout, trash
from cxlab.store.catalogue import SetAside
from cxlab.store.exports.export import lives, remove

# What is written aside lives for milliseconds, a large dataset for minutes; what is this old was left by the killed.
_STALE_S = 600.0
# What is written aside, by the patterns of its places; the id of its process stands in most names.
_ASIDE = ("tmp/*", ".*.tmp", "*/.*.tmp", "runs/*/.*", "**/.*.unfinished*")
_LEFTOVER = re.compile(
    r"\.tmp-\d+-(?P<a>\d+)-\d+|\.sort-.+|\.status.*\.json\.(?P<b>\d+)|\..+\.(?P<c>\d+)\.\d+\.(tmp|unfinished.*)|\..+\.tmp"
)
_IN_TMP = re.compile(r".+[.-](?P<a>\d+)[.-]\d+")


@dataclass(frozen=True)
class Finding:
    """Something that is wrong. `repair` mends it and says what it did; None: a person must do what `advice` says."""

    problem: str
    advice: str
    repair: Callable[[], str] | None = None


def examine(home: Path | str | None = None) -> list[Finding]:
    """All that is wrong with the files of a store; reads every part to its end (1 s per million scores)."""
    base = layout.resolve_home(home)
    if not base.is_dir():
        return []
    catalogue.look_closer(base, everything=True)
    aside = catalogue.read(base).set_aside
    found = [_judge(base, one) for one in aside]
    return [*found, *_find_views(base), *_find_caches(base), *_find_swaps(base), *_find_leftovers(base)]


def _judge(base: Path, one: SetAside) -> Finding:
    """What can be done about a folder or file that is set aside."""
    folder = base / ("annotations" if one.kind == "annotations" else f"{one.kind}s") / one.name
    if one.kind == "annotations":
        return Finding(str(one), "moves the file to the trash", lambda: _told(trash.keep(folder, base)))
    known = catalogue.read(base)
    if (id := catalogue.claimed_id(one.kind, one.name, base)) is not None:
        if id in (known.runs if one.kind == "run" else known.datasets):
            return Finding(str(one), "moves the copy to the trash", partial(_delete, base, one))
        if layout.is_plain(id) and not (target := folder.with_name(id)).exists():
            return Finding(str(one), f"gives the folder its name {id!r} back", partial(_rename, base, folder, target))
        return Finding(str(one), f"look at folder {id!r} first, which has that name")
    if one.kind == "run" and (damaged := sorted(catalogue.damaged_parts(one.name, base))):
        if len(damaged) == len(layout.batches(folder)) and "belongs to run" in one.reason:
            return Finding(str(one), "moves the folder to the trash", partial(_delete, base, one))
        advice = f"moves {len(damaged)} of its parts to the trash; the attempts in them are lost from the run"
        return Finding(str(one), advice, partial(_drop_parts, base, folder, damaged))
    if one.kind == "run":
        return Finding(str(one), f"bring the file back from a backup, or: python -m cxlab runs delete {one.name!r}")
    advice = "make or import it again with the same settings: it gets the same id, and this folder goes to the trash"
    return Finding(str(one), advice)


def _delete(base: Path, one: SetAside) -> str:
    kind: trash.TrashKind = "run" if one.kind == "run" else "dataset"
    return _told(trash.delete(kind, one.name, base).folder)


def _rename(base: Path, folder: Path, target: Path) -> str:
    with layout.swapping(base):
        folder.rename(target)
    return f"{folder.name} is {target.name} again"


def _drop_parts(base: Path, folder: Path, names: list[str]) -> str:
    for name in names:
        trash.keep(folder / "parts" / name, base)
    return f"{len(names)} parts moved to the trash; make their attempts again with: run --resume {folder.name}"


def _find_views(base: Path) -> Iterator[Finding]:
    path = base / connect.DATABASE
    if path.exists():
        try:
            connect.check_database(base)
        except NewerStore as fault:
            yield Finding(str(fault), "take the CX Lab that upgraded it, or another CXLAB_HOME")
        except BadStore as fault:
            yield Finding(str(fault), "makes it anew; it holds views only", lambda: _remake_views(base))
        except Busy:
            pass  # it is in use, so it is sound


def _remake_views(base: Path) -> str:
    for path in (base / connect.DATABASE, base / f"{connect.DATABASE}.wal"):
        if path.exists():
            trash.keep(path, base)
    connect.open_store(base).close()
    return f"{connect.DATABASE} is made anew"


def _find_caches(base: Path) -> Iterator[Finding]:
    """Caches of replies and vectors; the table of jobs is looked at by `cxlab.jobs`."""
    for path in sorted(base.glob("*.sqlite")):
        if path.name == "jobs.sqlite":
            continue
        try:
            with closing(sqlite3.connect(path, timeout=10)) as table:
                said = str(table.execute("pragma quick_check(1)").fetchone()[0])
        except sqlite3.OperationalError:
            continue  # locked, or of the disk: it says nothing of the file
        except sqlite3.DatabaseError as fault:
            said = str(fault)
        if said != "ok":
            yield Finding(
                f"the cache {path.name} is damaged: {said}", "moves it to the trash", partial(_drop, base, path)
            )


def _drop(base: Path, path: Path) -> str:
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if each.exists():
            trash.keep(each, base)
    return f"{path.name} moved to the trash; a new one is made when it is needed"


def _find_swaps(base: Path) -> Iterator[Finding]:
    path = base / "swaps"
    if not path.exists():
        return
    try:
        int(path.read_text(encoding="ascii") or 0)
    except (OSError, ValueError):
        yield Finding(f"{path.name} should hold one whole number", "writes it anew", lambda: _reset_swaps(base))


def _reset_swaps(base: Path) -> str:
    target = base / "trash" / "files" / f"swaps~{time.time_ns()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    (base / "swaps").rename(target)
    with layout.swapping(base):
        return "swaps is written anew"


def _find_leftovers(base: Path) -> Iterator[Finding]:
    """What killed processes wrote aside and never moved to its place."""
    for path in sorted({path for pattern in _ASIDE for path in base.glob(pattern)}):
        if "trash" in path.relative_to(base).parts[:1]:
            continue
        named = (_IN_TMP if path.parent == base / "tmp" else _LEFTOVER).fullmatch(path.name)
        if named is None:
            continue
        owner = next((pid for pid in named.groupdict().values() if pid), None)
        try:
            age = time.time() - path.stat().st_mtime
        except FileNotFoundError:
            continue  # its writer has just moved it to its place
        if not lives(int(owner)) if owner else age > _STALE_S:
            what = f"{path.relative_to(base)} was left by a process that was killed"
            yield Finding(what, "removes it; nothing in it counts", partial(_remove, path))


def _remove(path: Path) -> str:
    remove(path)
    return f"{path.name} removed"


def _told(path: Path) -> str:
    return f"moved to {os.path.join(*path.parts[-3:])}"
