"""Bring what an older version stored up to today's: once, at the first start, whatever becomes of the process.

Each run gets new parts aside, with a verdict an attempt, which are switched in as those of a compaction are
(store/compact.py), and then its record; each dataset a new file of samples, and then its record. So a kill leaves a run
or dataset as it was, or whole, and the next start goes on with the rest. What is damaged is left alone and named.
"""

from __future__ import annotations

import contextlib
import errno
import json
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Benchmark, Scored
from cxlab.errors import BadStore, Busy, CxError
from cxlab.records import FILE_VERSION, Dataset, Run
from cxlab.runner import lock
from cxlab.store import frames, layout, load, tables
from cxlab.store.compact import rebuild
from cxlab.store.upgrade import rewrite_attempts, rewrite_samples, rewrite_traces

Kind = Literal["run", "dataset"]
_STATE, _LOCK = ".migration.json", ".migration.lock"
_LOOK_EVERY_S = 0.2
_UNWRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM}


@dataclass(frozen=True)
class MigrationProgress:
    """How far it is: `done` of `total` runs and datasets, `what` comes next; `left` are those left as they are, why."""

    done: int
    total: int
    what: str = ""
    left: tuple[str, ...] = ()


def migrate(home: Path | str | None = None) -> Iterator[MigrationProgress]:
    """Bring a store up to date, or wait for the process that does; costs one `stat` when there is nothing to do."""
    base = layout.resolve_home(home)
    if layout.is_up_to_date(base) or not base.is_dir():
        return
    try:
        with _alone(base) as waiting:
            yield from waiting
            if not layout.is_up_to_date(base):
                yield from _migrate(base)
    except OSError as fault:
        # A store that nobody may write to, as one on a read-only disk, can still be read if nothing in it is old.
        if fault.errno not in _UNWRITABLE:
            raise
        if _find_older(base):
            raise BadStore(
                f"the store in {base} is of an older version and must be upgraded once; make it writable"
            ) from fault


def migrate_aloud(quiet: bool = False) -> None:
    """`migrate` for a terminal: what is done and what was left goes to stderr."""
    last = None
    for last in migrate():
        if not quiet and sys.stderr.isatty():
            sys.stderr.write(f"\rupgrading the store, once: {last.done} of {last.total} {last.what:48.48}")
            sys.stderr.flush()
    if last is None:
        return
    if not quiet:
        if sys.stderr.isatty():
            sys.stderr.write("\n")
        print(f"the store is upgraded: {last.done - len(last.left)} runs and datasets", file=sys.stderr)
    for reason in last.left:
        print(f"left as it is: {reason}", file=sys.stderr)


@contextlib.contextmanager
def _alone(base: Path) -> Iterator[Iterator[MigrationProgress]]:
    """No other process migrates this store; what is yielded must be gone through first, as it waits for the others."""
    with contextlib.ExitStack() as held:

        def wait() -> Iterator[MigrationProgress]:
            while True:
                try:
                    held.enter_context(layout.lock(base / _LOCK))
                    return
                except Busy:
                    with contextlib.suppress(OSError, ValueError, TypeError):
                        yield MigrationProgress(**json.loads((base / _STATE).read_bytes()))
                    time.sleep(_LOOK_EVERY_S)

        yield wait()


def _migrate(base: Path) -> Iterator[MigrationProgress]:
    older, left = _find_older(base), list[str]()
    told = 0.0
    for done, (kind, name) in enumerate(older):
        now = MigrationProgress(done, len(older), f"{kind} {name}", tuple(left))
        if time.monotonic() - told > _LOOK_EVERY_S:
            layout.write_whole(base / _STATE, json.dumps(asdict(now)).encode())
            told = time.monotonic()
        yield now
        try:
            _MIGRATE[kind](base, name)
        except (Exception, pl.exceptions.PanicException) as fault:
            # What is damaged fails in any way, and one bad run must not lock people out of all others. It is tried
            # again at the next start: what was wrong may have been the disk.
            left.append(f"{kind} {name}: {str(fault).partition(chr(10))[0][:200] or type(fault).__name__}")
    if not left:
        layout.mark_up_to_date(base)
    (base / _STATE).unlink(missing_ok=True)
    if older:
        yield MigrationProgress(len(older), len(older), "", tuple(left))


def _find_older(base: Path) -> list[tuple[Kind, str]]:
    """Datasets and runs whose record is of an older version; those whose record cannot be read are none of them."""
    found: list[tuple[Kind, str]] = []
    for kind in ("dataset", "run"):
        for path in sorted((base / f"{kind}s").glob(f"*/{kind}.json")):
            with contextlib.suppress(OSError, ValueError, RecursionError):
                record = json.loads(path.read_bytes())
                if isinstance(record, dict) and record.get("version", 1) in range(1, FILE_VERSION):
                    found.append((kind, path.parent.name))
    return found


def _version_of(record: Dataset | Run) -> int:
    return record.version if "version" in record.model_fields_set else 1


def _migrate_dataset(base: Path, name: str) -> None:
    path = base / "datasets" / name / "dataset.json"
    dataset = Dataset.model_validate_json(path.read_bytes())
    if _version_of(dataset) < 2:
        rewrite_samples(name, base)
    fresh = dataset.model_copy(update={"version": FILE_VERSION})
    layout.write_whole(path, fresh.model_dump_json(indent=1).encode())


def _migrate_run(base: Path, name: str) -> None:
    path = base / "runs" / name / "run.json"
    run = Run.model_validate_json(path.read_bytes())
    version = _version_of(run)
    fresh = upgrade_record(run, version)

    def write_anew(batch: Path, fresh: Path) -> Collection[str]:
        written = []
        if version < 2:
            rewrite_attempts(batch / "attempts.parquet", fresh / "attempts.parquet", verdicts)
            written.append("attempts")
        if version < 3 and (batch / "traces.parquet").is_file():
            rewrite_traces(batch / "traces.parquet", fresh / "traces.parquet")
            written.append("traces")
        return written

    def settle() -> None:
        layout.write_whole(path, fresh.model_dump_json(indent=1).encode())

    with lock.try_hold_run(path.parent):
        traced = version < 3 and any((batch / "traces.parquet").is_file() for batch in layout.batches(path.parent))
        if version < 2 or traced:
            verdicts = _judge(run, base) if version < 2 else None
            rebuild(name, write_anew, settle, base)
        else:
            settle()


_MIGRATE: Mapping[Kind, Callable[[Path, str], None]] = {"dataset": _migrate_dataset, "run": _migrate_run}


def upgrade_record(run: Run, version: int) -> Run:
    """A run's record as it would be written today: what it was narrowed to, and every switch as it really was."""
    setup = dict(run.setup)
    if "choice" in setup and version < 2:
        kept = dict(setup["choice"])
        # Two facets had lists of their own.
        named = [[facet, value] for facet in ("scenario", "level") for value in kept.get(f"{facet}s", ())]
        setup["choice"] = {"limit": kept.get("limit"), "where": [*map(list, kept.get("where", ())), *named]}
    benchmark = _find_benchmark(run)
    run = run.model_copy(update={"setup": setup, "version": FILE_VERSION})
    if benchmark is None:
        return run
    if benchmark.migrate is not None:
        run = benchmark.migrate(run, version)
    if "options" in run.setup and version < 2:
        options = benchmark.Options.read({}).to_record()
        for option, value in run.setup["options"].items():
            try:
                options[option] = benchmark.Options.read({option: value}).to_record()[option]
            except CxError:
                options[option] = value  # it is told what is wrong with it when it is used
        run = run.model_copy(update={"setup": {**run.setup, "options": options}})
    return run


def _find_benchmark(run: Run) -> Benchmark | None:
    """The benchmark of a run, if it is one of ours: a stored name is no reason to import a module."""
    return REGISTRY.get(run.benchmark)


def _judge(run: Run, base: Path) -> pl.DataFrame | None:
    """The verdict columns of all attempts of a run, by its benchmark's rule; None for a benchmark that is not ours."""
    benchmark = _find_benchmark(run)
    if benchmark is None:
        return None
    # Of no benchmark that has runs of this age does the rule read what was said.
    deciding = {task.decided_by or task.metric for task in benchmark.card.tasks}
    own = benchmark.verdict is not None
    reads = benchmark.verdict_reads if own else ("scores", "votes")
    ids, verdicts = [], []
    for task, attempt, stored in load.load_outcomes(run.id, reads, None if own else deciding, base):
        ids.append(attempt.id)
        verdicts.append(benchmark.judge_attempt(task, attempt, Scored(**vars(stored))))
    columns = {"attempt_id": ids, **frames.build_verdicts(verdicts)}
    return pl.DataFrame(columns, schema={name: tables.ATTEMPTS[name] for name in columns})
