"""Write and load datasets, runs and annotations; append attempts to a run in batches that appear whole."""

import errno
import json
import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl

from cxlab.errors import BadOption, BadStore, UnknownName
from cxlab.records import Annotation, Attempt, Dataset, Run, Sample, new_id
from cxlab.records.dataset import Derivation
from cxlab.store import catalogue, frames, layout, tables, trash
from cxlab.store.compact import recover_folder
from cxlab.store.frames import build_samples, write_parquet

# What a kill may cost at most: the promise of the store.
FLUSH_ATTEMPTS = 50
FLUSH_S = 1.0
# When the disk falls behind, batches grow; beyond the second number `add` waits, so that memory stays bounded.
_LARGEST_BATCH = 200
_LARGEST_BACKLOG = 400


def save_dataset(
    dataset: Dataset,
    samples: Iterable[Sample],
    home: Path | str | None = None,
    tables: Mapping[str, pl.DataFrame] | None = None,
    files: Path | None = None,
) -> Path:
    """Store a dataset; one of the same id (= the same content) is left as it is. Returns its folder.

    `tables` are what the samples are about (articles, conversations, ...): NAME.parquet in the same folder.
    `files` is a folder of further files (PDFs, ...) that is copied to files/ in it.
    BadOption for a sample of another dataset, or a table called `samples`.
    """
    base = layout.resolve_home(home)
    for name in tables or {}:
        if layout.check_id("table", name) == "samples":
            raise BadOption("a table named 'samples' would overwrite the dataset's samples; choose another name")
    folder = base / "datasets" / layout.check_id("dataset", dataset.id)
    if folder.exists():
        try:
            catalogue.find_dataset(dataset.id, base)
            return folder
        except BadStore:
            trash.delete("dataset", dataset.id, base)  # damaged: made anew, its old folder can be looked at
    rows = list(samples)
    for sample in rows:
        if sample.dataset_id != dataset.id:
            raise BadOption(f"sample {sample.id!r} belongs to dataset {sample.dataset_id!r}, not to {dataset.id!r}")
    # Two processes may save the same dataset at once: either's folder will do.
    with suppress(FileExistsError), layout.fresh_folder(folder) as fresh:
        (fresh / "dataset.json").write_text(dataset.model_dump_json(indent=1), encoding="utf-8")
        contents = {"samples": build_samples(rows), **(tables or {})}
        for name, frame in contents.items():
            write_parquet(frame, fresh / f"{name}.parquet")
        if files is not None:
            shutil.copytree(files, fresh / "files")
    return folder


def load_dataset(dataset_id: str, home: Path | str | None = None) -> Dataset:
    """The dataset of this id, without its samples."""
    return catalogue.find_dataset(dataset_id, home)


def load_samples(dataset_id: str, home: Path | str | None = None, *, only_facets: bool = False) -> list[Sample]:
    """All samples of a dataset in the order in which they were saved.

    `only_facets` leaves inputs and expected empty: enough to choose and to count, and fast for large datasets.
    """
    path = layout.dataset_folder(layout.resolve_home(home), dataset_id) / "samples.parquet"
    # A dataset of an older version lacks facets that came later.
    rows = pl.scan_parquet(path, schema=tables.SAMPLES, missing_columns="insert", extra_columns="ignore")
    if only_facets:
        rows = rows.with_columns(pl.lit("{}").alias(name) for name in ("inputs", "expected"))
    with catalogue.naming_damage("dataset", dataset_id, home):
        frame = rows.collect()
    return [
        Sample(
            id=row["sample_id"],
            dataset_id=row["dataset_id"],
            benchmark=row["benchmark"],
            task=row["task"],
            inputs=json.loads(row["inputs"]),
            expected=json.loads(row["expected"]),
            facets=frames.read_entries(row["facets"]),
        )
        for row in frame.iter_rows(named=True)
    ]


def load_table(dataset_id: str, name: str, home: Path | str | None = None) -> pl.DataFrame:
    """A further table of a dataset as it was saved; UnknownName when the dataset has none of this name."""
    folder = layout.dataset_folder(layout.resolve_home(home), dataset_id)
    path = folder / f"{layout.check_id('table', name)}.parquet"
    if not path.is_file():
        raise UnknownName("table", name, [p.stem for p in folder.glob("*.parquet")])
    with catalogue.naming_damage("dataset", dataset_id, home):
        return pl.read_parquet(path)


def list_datasets(home: Path | str | None = None) -> list[Dataset]:
    """All datasets that count, newest first."""
    return sorted(catalogue.read(home).datasets.values(), key=lambda dataset: dataset.created, reverse=True)


def list_derived(dataset_id: str, how: Derivation, home: Path | str | None = None) -> list[Dataset]:
    """The datasets that were made of one in this way, newest first."""
    return [each for each in list_datasets(home) if each.derived_from == dataset_id and each.derivation == how]


def create_run(run: Run, home: Path | str | None = None) -> Path:
    """Store a new run's description and make room for its parts; BadOption when the id is taken."""
    base = layout.resolve_home(home)
    folder = base / "runs" / layout.check_id("run", run.id)
    taken = f"run {run.id!r} exists already; resume it, or choose another id"
    if folder.exists():
        raise BadOption(taken)
    try:
        with layout.fresh_folder(folder) as fresh:
            (fresh / "parts").mkdir()
            (fresh / "run.json").write_text(run.model_dump_json(indent=1), encoding="utf-8")
    except FileExistsError:
        raise BadOption(taken) from None
    return folder


def load_run(run_id: str, home: Path | str | None = None) -> Run:
    """The description of a run; mends a compaction that broke off."""
    base = layout.resolve_home(home)
    recover_folder(base, base / "runs" / layout.check_id("run", run_id))
    return catalogue.find_run(run_id, base)


def list_runs(home: Path | str | None = None) -> list[Run]:
    """All runs that count, newest first."""
    return sorted(catalogue.read(home).runs.values(), key=lambda run: (run.created, run.id), reverse=True)


def finished(run_id: str, home: Path | str | None = None) -> set[tuple[str, int]]:
    """(sample_id, trial) of every attempt that the run's parts hold: what resuming skips."""
    base = layout.resolve_home(home)
    folder = layout.run_folder(base, run_id)
    recover_folder(base, folder)
    files = [batch / "attempts.parquet" for batch in layout.batches(folder)]
    if not files:
        return set()
    with catalogue.naming_damage("run", run_id, base):
        frame = pl.read_parquet(files, columns=["sample_id", "trial"])
    return set(frame.iter_rows())


def annotate(annotation: Annotation, home: Path | str | None = None) -> None:
    """Append a person's annotation; the text goes into columns, the file's name is our own."""
    base = layout.resolve_home(home)
    layout.check_id("run", annotation.run_id)
    folder = base / "annotations"
    folder.mkdir(parents=True, exist_ok=True)
    name = new_id("a") + f"-{time.monotonic_ns() % 10**9:09d}"
    fresh = folder / f".{name}.tmp"
    try:
        frames.write_parquet(frames.build_annotations([annotation]), fresh)
        fresh.replace(folder / f"{name}.parquet")
    finally:
        fresh.unlink(missing_ok=True)


class PartWriter:
    """Append attempts to a run; a background thread writes a batch at 50 attempts or after 1 s.

    A batch is a folder that is written aside and renamed into place, so it appears whole or not at all.
    What goes wrong in the thread is raised by the next `add` or `close`. One process writes a shard.
    """

    def __init__(
        self,
        run: Run,
        samples_by_id: Mapping[str, Sample],
        shard: tuple[int, int] = (1, 1),
        home: Path | str | None = None,
    ) -> None:
        index, of = shard
        if not 1 <= index <= of <= 999:
            raise BadOption(f"shard {index}/{of} is not usable: take I/N with 1 <= I <= N <= 999")
        base = layout.resolve_home(home)
        self._folder = layout.run_folder(base, run.id)
        self._base, self._run, self._samples = base, run, samples_by_id
        self._prefix, self._sequence = f"{index:03d}-{os.getpid()}", 0
        self._held = ExitStack()
        busy = f"run {run.id!r}, shard {index}/{of} is being written by another process; cancel that one first"
        self._held.enter_context(layout.lock(self._folder / f".lock-writer-{index:03d}-of-{of:03d}", busy=busy))
        recover_folder(base, self._folder)
        self._pending: deque[tuple[float, frames.Item]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._fault: BaseException | None = None
        self._written = 0
        self._thread = threading.Thread(target=self._serve, name=f"parts-{run.id}", daemon=True)
        self._thread.start()

    @property
    def written(self) -> int:
        """Attempts that are on disk, of those added here."""
        return self._written

    def add(self, attempt: Attempt, scored: frames.Scored) -> None:
        """Queue one finished attempt; returns at once (it waits only when 400 are queued already)."""
        sample = self._samples.get(attempt.sample_id)
        if sample is None:
            raise BadStore(f"attempt {attempt.id!r} is of sample {attempt.sample_id!r}, which the run does not have")
        if attempt.run_id != self._run.id:
            raise BadStore(f"attempt {attempt.id!r} is of run {attempt.run_id!r}, not {self._run.id!r}")
        with self._changed:
            while len(self._pending) >= _LARGEST_BACKLOG and self._fault is None:
                self._changed.wait()
            self._raise_fault()
            if self._closing:
                raise ValueError("this PartWriter is closed")
            self._pending.append((time.monotonic(), (attempt, scored, sample)))
            if len(self._pending) in (1, FLUSH_ATTEMPTS):
                self._changed.notify_all()

    def close(self) -> None:
        """Write what is queued and let the shard go; a second call does nothing."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self._held.close()
        self._raise_fault()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _serve(self) -> None:
        try:
            while batch := self._next_batch():
                self._publish(frames.build_parts(self._run, batch))
                self._written += len(batch)
        except BaseException as fault:  # whatever it is, it belongs to the thread that calls add or close
            with self._changed:
                self._fault = fault
                self._changed.notify_all()

    def _next_batch(self) -> list[frames.Item]:
        """Wait until a batch is due and take it; [] when all is written and the writer closes."""
        with self._changed:
            while True:
                count = len(self._pending)
                age = time.monotonic() - self._pending[0][0] if count else 0.0
                if count >= FLUSH_ATTEMPTS or age >= FLUSH_S or self._closing:
                    batch = [self._pending.popleft()[1] for _ in range(min(count, _LARGEST_BATCH))]
                    self._changed.notify_all()
                    return batch
                self._changed.wait(FLUSH_S - age if count else None)

    def _publish(self, parts: dict[str, pl.DataFrame]) -> None:
        fresh = self._folder / f".tmp-{self._prefix}-{self._sequence:06d}"
        if fresh.exists():  # a killed process had our number
            shutil.rmtree(fresh)
        fresh.mkdir()
        try:
            for table, frame in parts.items():
                frames.write_parquet(frame, fresh / f"{table}.parquet", level=1)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)  # the disk may be full
            raise
        waited = 0.0
        while True:
            target = self._folder / "parts" / f"{self._prefix}-{self._sequence:06d}"
            self._sequence += 1
            try:
                fresh.rename(target)
                return
            except FileNotFoundError:
                # Between the two renames of a compaction there is no parts folder for some microseconds.
                if waited > FLUSH_S or not self._folder.exists():
                    raise
                recover_folder(self._base, self._folder)
                time.sleep(0.005)
                waited += 0.005
            except OSError as fault:
                if fault.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
