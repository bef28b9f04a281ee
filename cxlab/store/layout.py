"""Where things lie under the store's home, and how a file or folder appears whole."""

import errno
import fcntl
import functools
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cxlab import resources
from cxlab.errors import BadOption, Busy, UnknownName
from cxlab.records import FILE_VERSION

# Holds one part without rows per table, so that no glob of a view ever matches nothing (DuckDB refuses
# such a glob). It has no run.json, so it is no run; no id may begin with an underscore.
EMPTY = "_empty"
# In a run's folder, what was spoken: sounds/ATTEMPT/FILE. It goes wherever the folder goes.
SOUNDS = "sounds"
OFFERS = "offers"
"""In a run's folder, what its model under test was offered: offers/ID.json (offers.py)."""
REPLIES = "replies.sqlite"
"""In a run's folder, replies that attempts under way have had (runner/stored/kept_replies.py)."""
_STAMP = f".version-{FILE_VERSION}"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
# `file_search_path` is a comma-separated list, and the views glob below it: these would be read as syntax.
_UNSAFE_IN_HOME = re.compile(r"[,*?\[\]{}]")


def home() -> Path:
    """The store's folder: $CXLAB_HOME, else data/local under the project root."""
    chosen = os.environ.get("CXLAB_HOME")
    return resolve_home(chosen or resources.default_home())


@contextmanager
def at(path: Path | str | None) -> Iterator[None]:
    """Take `path` for the store's folder (None: leave it), also where nobody passes it on. Not for threads."""
    if path is None:
        yield
        return
    before = os.environ.get("CXLAB_HOME")
    os.environ["CXLAB_HOME"] = str(resolve_home(path))
    try:
        yield
    finally:
        if before is None:
            del os.environ["CXLAB_HOME"]
        else:
            os.environ["CXLAB_HOME"] = before


def resolve_home(path: Path | str | None) -> Path:
    """An absolute home (`None`: the default one); refuses paths that DuckDB would read as patterns."""
    if path is None:
        return home()
    expanded = os.path.expanduser(path)
    # Another working folder gives another meaning to what is not absolute.
    return _resolve(expanded) if os.path.isabs(expanded) else _resolve.__wrapped__(expanded)


@functools.lru_cache(maxsize=64)
def _resolve(expanded: str) -> Path:
    # Asked for fifty times by a page, and each look at the disk takes longer than all else here.
    absolute = os.path.realpath(expanded)
    bad = _UNSAFE_IN_HOME.search(absolute)
    if bad:
        raise BadOption(
            f"the store cannot lie in {absolute!r}: {bad.group()!r} has a meaning in path patterns; "
            "set CXLAB_HOME to a folder without , * ? [ ] { }"
        )
    return Path(absolute)


def check_id(kind: str, value: object) -> str:
    """The id itself if it is safe as one folder name; ids come from users and from other people's files.

    BadOption for any other.
    """
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise BadOption(
            f"{kind} id {str(value)[:80]!r} is not usable: take 1 to 128 of A-Z a-z 0-9 . _ - "
            "beginning with a letter or digit"
        )
    return value


def is_plain(name: str) -> bool:
    """Whether a name is safe in a path and in a pattern of DuckDB; all those that we give are."""
    return _ID.fullmatch(name) is not None


def run_folder(base: Path, run_id: str) -> Path:
    """The folder of a run that exists; UnknownName otherwise."""
    folder = base / "runs" / check_id("run", run_id)
    if not (folder / "run.json").is_file():
        raise UnknownName("run", run_id, run_ids(base))
    return folder


def dataset_folder(base: Path, dataset_id: str) -> Path:
    """The folder of a dataset that exists; UnknownName otherwise."""
    folder = base / "datasets" / check_id("dataset", dataset_id)
    if not (folder / "dataset.json").is_file():
        known = [path.parent.name for path in (base / "datasets").glob("*/dataset.json")]
        raise UnknownName("dataset", dataset_id, known)
    return folder


def run_ids(base: Path) -> list[str]:
    """Ids of all runs, sorted."""
    return sorted(path.parent.name for path in (base / "runs").glob("*/run.json"))


def batches(folder: Path) -> list[Path]:
    """The batch folders of a run, sorted by name; [] before the first one."""
    try:
        return sorted(path for path in (folder / "parts").iterdir() if path.is_dir())
    except FileNotFoundError:
        return []


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file in one step; a reader sees the old or the new content, never a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    try:
        fresh.write_bytes(data)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


@contextmanager
def fresh_folder(target: Path) -> Iterator[Path]:
    """A folder that is filled aside and appears whole under its name; FileExistsError when another was first."""
    # Not beside the target: `*` of a glob matches names that begin with a dot, too.
    fresh = target.parents[1] / "tmp" / f"{target.name}-{os.getpid()}-{time.monotonic_ns()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh.mkdir(parents=True)
    try:
        yield fresh
        try:
            fresh.rename(target)
        except OSError as taken:
            if taken.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            raise FileExistsError(str(target)) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


@contextmanager
def lock(path: Path, wait_s: float = 0.0, busy: str = "") -> Iterator[None]:
    """Hold an advisory lock on a file; it ends with the process, however that ends. Busy when it is taken."""
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + wait_s
    with path.open("a") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise Busy(busy or f"another process holds {path.name}; try again when it is done") from None
                time.sleep(0.005)
        yield


def is_up_to_date(base: Path) -> bool:
    """Whether all that is stored is of today's version, as the last migration found it (one `stat`)."""
    return (base / _STAMP).exists()


def mark_up_to_date(base: Path, is_so: bool = True) -> None:
    """Note that nothing of an older version is stored; or that there may be, as after something old was restored."""
    if is_so:
        write_whole(base / _STAMP, b"")
    else:
        (base / _STAMP).unlink(missing_ok=True)


def swap_count(base: Path) -> int:
    """How often folders were swapped under readers' hands; odd while a swap is under way."""
    try:
        return int((base / "swaps").read_text() or 0)
    except (FileNotFoundError, ValueError):
        return 0  # none yet, or a damaged file: the next swap writes it anew


@contextmanager
def swapping(base: Path) -> Iterator[None]:
    """Tell readers that folders move: they wait or ask again, so no query counts a half-moved run.

    A process that dies in here leaves an odd count; the next one in takes it over.
    """
    with lock(base / ".swap.lock", wait_s=30.0):
        count = swap_count(base)
        count -= count % 2
        _write_count(base, count + 1)
        try:
            yield
        finally:
            _write_count(base, count + 2)


def _write_count(base: Path, count: int) -> None:
    path, text = base / "swaps", str(count).encode()
    try:
        write_whole(path, text)
    except OSError:
        # A full disk has no room for a second file, but the count must become even again: write over the old one.
        if not path.is_file():
            raise
        with path.open("r+b") as file:
            file.write(text)
            file.truncate()
