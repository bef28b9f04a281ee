"""Runs with all that belongs to them, to be opened by another store: a folder, or a table in a DuckDB file.

Either holds the files of the runs and of their datasets under the names that they have in a store, and the tags and
notes on their attempts. The folder is a small store itself. What an archive says is checked as strictly as what lies in
a store, and only names that a store gives are taken.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cxlab.errors import BadFile, BadOption, Busy, UnknownName
from cxlab.records import Dataset, Run, content_id
from cxlab.store import catalogue, frames, layout, tables
from cxlab.store.connect import open_store, query
from cxlab.store.exports.sharing import list_kept_out

MARKER = "cxlab-export.json"
"""Stands in a folder that an export wrote, so that the next one may replace it."""
FILES = "files"
"""The table of a DuckDB file that holds the archive: path (VARCHAR), content (BLOB)."""
CONFLICT = "not stored: another run of this id is here; delete that one first"
COMMAND = "python -m cxlab export RUN --format duckdb --to FILE"
MOST_FILES = 200_000
LARGEST_FILE = 2_000_000_000

_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
_PART = f"(?:{'|'.join(tables.PARTS)})"
_TAKEN = re.compile(
    rf"runs/{_ID}/(?:run\.json|status\.json|parts/{_ID}/{_PART}\.parquet|{layout.SOUNDS}/{_ID}/{_ID}"
    rf"|{layout.OFFERS}/{_ID}\.json)"
    rf"|datasets/{_ID}/(?:dataset\.json|gold_check\.json|{_ID}\.parquet|files/(?:{_ID}/){{0,4}}{_ID})"
    rf"|annotations/{_ID}\.parquet"
)
# What a store keeps beside, and needs nowhere else.
_OF_A_STORE = re.compile(rf"/\.(?!\.)|/run\.lock$|/merged\.json$|/{layout.EMPTY}\b")


def list_files(base: Path, runs: Sequence[str]) -> dict[str, Path]:
    """Name in a store → file, of these runs and the datasets that they name; a deleted dataset has none.

    Texts that may not be passed on are left out (sharing.py).
    """
    left_out = {
        f"datasets/{dataset}/{table}.parquet" for dataset, kept in list_kept_out(runs, base).items() for table in kept
    }
    folders = [base / "runs" / run for run in runs]
    for wanted in sorted({catalogue.find_run(run, base).dataset_id for run in runs}):
        try:
            folders.append(layout.dataset_folder(base, wanted))
        except UnknownName:
            continue
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(base).as_posix()
            if _TAKEN.fullmatch(name) and name not in left_out and path.is_file():
                found[name] = path
    return found


def write_files(base: Path, runs: Sequence[str], to: Path) -> None:
    """Copy what belongs to these runs into the folder `to`; anew while a run's parts are being merged."""
    for _ in range(5):
        before = layout.swap_count(base)
        try:
            for name, path in list_files(base, runs).items():
                (to / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to / name)
        except FileNotFoundError:
            pass
        else:
            if before % 2 == 0 and layout.swap_count(base) == before:
                _write_annotations(base, runs, to / "annotations")
                return
        shutil.rmtree(to)
        to.mkdir()
    raise Busy("the runs are being rewritten; try again when that is done")


def _write_annotations(base: Path, runs: Sequence[str], to: Path) -> None:
    """Write the tags and notes on these runs as a file of the folder `to`; none where there are none."""
    columns = ", ".join(tables.ANNOTATIONS)
    chosen = f"SELECT {columns} FROM annotations WHERE run_id IN (SELECT unnest($runs)) ORDER BY created, id"
    with closing(open_store(base)) as con:
        rows = query(con, chosen, {"runs": list(runs)})
    if rows.is_empty():
        return
    import polars as pl

    # Each counts once by its id, in whatever files it stands; the same ones make the same file.
    name = f"a-{content_id(rows['id'].to_list())}"
    fresh = to / f".{name}.tmp"
    to.mkdir(parents=True, exist_ok=True)
    frames.write_parquet(rows.cast(pl.Schema(tables.ANNOTATIONS)), fresh)
    fresh.replace(to / f"{name}.parquet")


@dataclass(frozen=True)
class Archive:
    """What an archive holds that can be used: runs and datasets by id, the rest with why it cannot.

    `folder` is a store of its own, which lasts as long as this does.
    """

    source: Path
    runs: Mapping[str, Run]
    datasets: Mapping[str, Dataset]
    attempts: Mapping[str, int]
    """Stored attempts of each run."""
    complaints: tuple[str, ...]
    folder: Path
    _kept: Any = None


def read_archive(path: Path) -> Archive:
    """Unpack and check an archive without storing anything; BadFile for what is none."""
    kept = TemporaryDirectory(prefix="cxlab-archive-")
    folder = Path(kept.name).resolve()
    complaints = []
    with _opened(path) as (names, copy):
        if len(names) > MOST_FILES:
            raise BadFile(path, None, f"{len(names):,} files; the limit is {MOST_FILES:,}", "export fewer runs at once")
        if not any(name.startswith("runs/") and name.endswith("/run.json") for name in names):
            raise BadFile(path, None, "holds no run", f"write one with: {COMMAND}")
        for name in names:
            if _TAKEN.fullmatch(name):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                copy(name, folder / name)
            elif not _OF_A_STORE.search(name):
                complaints.append(f"not taken: {name[:200]!r}: a store gives no file such a name")
    found = catalogue.read(folder, closely=True)
    complaints += [f"not taken: {one}" for one in found.set_aside]
    complaints += [
        f"run {run.id}: its dataset {run.dataset_id} is not in the archive; without it no sample is shown"
        for run in found.runs.values()
        if run.dataset_id not in found.datasets
    ]
    return Archive(
        path, found.runs, found.datasets, _count_attempts(folder, list(found.runs)), tuple(complaints), folder, kept
    )


def take_in(given: Archive, home: Path | str | None = None) -> dict[str, str]:
    """Store what an archive holds, datasets first; run id → "stored", "here already" or why it was not."""
    base = layout.resolve_home(home)
    for id in given.datasets:
        _place(given.folder / "datasets" / id, base / "datasets" / id)
    told = {}
    for id, run in given.runs.items():
        target = base / "runs" / layout.check_id("run", id)
        if _place(given.folder / "runs" / id, target):
            told[id] = "stored"
        elif (here := catalogue.read(base).runs.get(id)) is not None and _is_same(here, run):
            told[id] = "here already"
        else:
            told[id] = CONFLICT
    kept = [id for id in told if told[id] != CONFLICT]
    _write_annotations(given.folder, kept, base / "annotations")
    layout.mark_up_to_date(base, False)  # what came may be of an older version
    return told


def _is_same(here: Run, given: Run) -> bool:
    """Whether two records are of one run. Where one was written by an older version, its switches and what it was
    narrowed to may be told otherwise; all else is as it was when the run began."""
    other = {"setup", "version"} if here.version != given.version else set()
    return here.model_dump(exclude=other) == given.model_dump(exclude=other)


def _place(source: Path, target: Path) -> bool:
    """Whether the folder was copied: it appears whole or not at all, and never over another."""
    if target.exists():
        return False
    try:
        with layout.fresh_folder(target) as fresh:
            shutil.copytree(source, fresh, dirs_exist_ok=True)
            if source.parent.name == "runs":
                (fresh / "parts").mkdir(exist_ok=True)
    except FileExistsError:
        return False
    return True


def _count_attempts(folder: Path, runs: list[str]) -> dict[str, int]:
    with closing(open_store(folder)) as con:
        rows = query(con, "SELECT run_id, count(*) AS n FROM attempts GROUP BY run_id", {})
    counted = dict(rows.iter_rows())
    return {run: counted.get(run, 0) for run in runs}


Copy = Callable[[str, Path], None]


@contextmanager
def _opened(path: Path) -> Iterator[tuple[list[str], Copy]]:
    """The names in an archive, and what copies one of them to a place."""
    if path.is_dir():
        yield _names_below(path), lambda name, to: _copy_file(path / name, to)
        return
    if not path.is_file():
        raise BadFile(path, None, "does not exist")
    import duckdb

    # Somebody else's file may hold views: nothing beyond it can be read through them.
    closed = {"enable_external_access": "false", "lock_configuration": "true", "autoload_known_extensions": "false"}
    try:
        con = duckdb.connect(str(path), read_only=True, config={**closed, "threads": 2, "memory_limit": "2GB"})
    except duckdb.Error as fault:
        first = str(fault).partition("\n")[0][:160]
        raise BadFile(path, None, f"is no DuckDB file that can be opened ({first})", "export it again") from None
    try:
        try:
            if not con.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = $1", [FILES]).fetchone():
                said = f"has no table {FILES!r}, from which a store could take runs"
                raise BadFile(path, None, said, f"export it again: {COMMAND}")
            names = [str(name) for (name,) in con.execute(f"SELECT path FROM {FILES} ORDER BY path").fetchall()]

            def copy(name: str, to: Path) -> None:
                row = con.execute(f"SELECT content FROM {FILES} WHERE path = $1", [name]).fetchone()
                to.write_bytes(bytes(row[0]) if row else b"")

            yield names, copy
        except duckdb.Error as fault:
            first = str(fault).partition("\n")[0][:160]
            raise BadFile(path, None, f"cannot be read ({first})", "export it again") from None
    finally:
        con.close()


def _names_below(root: Path) -> list[str]:
    """Names of all files below runs/, datasets/ and annotations/; links are passed over."""
    found = []
    for part in ("runs", "datasets", "annotations"):
        for path in (root / part).rglob("*"):
            if path.is_file() and not path.is_symlink() and layout.EMPTY not in path.parts:
                found.append(path.relative_to(root).as_posix())
                if len(found) > MOST_FILES:
                    return found
    return sorted(found)


def _copy_file(source: Path, to: Path) -> None:
    if source.stat().st_size > LARGEST_FILE:
        raise BadFile(source, None, f"is larger than {LARGEST_FILE / 1e9:.0f} GB")
    shutil.copyfile(source, to)


def check_replaceable(target: Path, base: Path) -> None:
    """BadOption unless an export may write the folder `target`: it is new, empty, or an earlier export unused since."""
    if target == base or base.is_relative_to(target):
        raise BadOption(f"--to {target}: is the store itself; name another folder")
    if not target.exists():
        return
    if not target.is_dir():
        raise BadOption(f"--to {target}: is a file; for folder name a folder")
    is_ours = (target / MARKER).is_file() and not (target / "cxlab.duckdb").exists()
    if any(target.iterdir()) and not is_ours:
        raise BadOption(f"--to {target}: holds other things than an earlier export; name another folder")
