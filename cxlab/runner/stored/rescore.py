"""Score a run's stored attempts anew, without asking any model: for a scorer that has changed.

Judges' votes stand as they were given. New parts are built aside and switched in as those of a compaction are
(store/compact.py), so a kill leaves the old scores or the new ones.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.contract import Benchmark, Scored, Setup
from cxlab.benchmarks.scores.stored import uncalled_setup
from cxlab.errors import BadOption
from cxlab.records import Attempt, Run, Sample
from cxlab.runner import lock
from cxlab.runner.loaded_run import folder_of
from cxlab.runner.plan import find_benchmark
from cxlab.store import frames, load, write
from cxlab.store.compact import compact, merge_table, rebuild
from cxlab.store.upgrade import rewrite_attempts

_AT_ONCE = 500
Rescore = Callable[[Sample, Attempt, Scored, Setup], Scored]
_SCORED = ("scores", "votes", "judgements", "traces")


@dataclass(frozen=True)
class RescoreResult:
    """What came of it: how many attempts were scored anew, how many of them came out otherwise, and by which scorer."""

    run_id: str
    attempts: int
    changed: int
    scorer: str


def rescore(run_id: str, tell: Callable[[int, int], None] = lambda done, of: None) -> RescoreResult:
    """Put the scores, traces and verdicts of today's scorer in the place of a run's; `tell` is told how far it is."""
    run = write.load_run(run_id)
    benchmark = find_benchmark(run.setup.get("benchmark", run.benchmark))
    again = benchmark.rescore
    if again is None:
        raise BadOption(
            f"{benchmark.card.id} cannot score stored attempts without asking its judges; to ask them again: "
            f"python -m cxlab score {run_id} --judge NAME"
        )
    if "imported_from" in run.setup:
        raise BadOption(f"run {run_id} was imported with its scores; import the file again instead")
    folder, counts = folder_of(run_id), [0, 0]
    with lock.hold_run(folder):
        planned = len(write.finished(run_id))
        if not planned:
            raise BadOption(f"run {run_id} holds no attempts yet")
        # So that there is one file a table, which what is scored anew replaces as a whole.
        compact(run_id)

        def write_anew(batch: Path, fresh: Path) -> Collection[str]:
            with tempfile.TemporaryDirectory(prefix=".sort-", dir=folder) as scratch:
                verdicts = []
                for number, items in enumerate(_batches(_score(run, benchmark, again, counts))):
                    parts = frames.build_parts(run, items)
                    verdicts.append(parts["attempts"].select("attempt_id", "^verdict.*$"))
                    for name in _SCORED:
                        if name in parts:
                            place = Path(scratch) / name
                            place.mkdir(exist_ok=True)
                            parts[name].write_parquet(place / f"{number}.parquet")
                    tell(counts[0], planned)
                for name in _SCORED:
                    if files := sorted((Path(scratch) / name).glob("*.parquet")):
                        merge_table(folder, name, files, fresh / f"{name}.parquet")
                rewrite_attempts(batch / "attempts.parquet", fresh / "attempts.parquet", pl.concat(verdicts))
            return ("attempts", *_SCORED)

        rebuild(run_id, write_anew)
    return RescoreResult(run_id, counts[0], counts[1], benchmark.scorer)


def _batches(items: Iterator[frames.Item]) -> Iterator[list[frames.Item]]:
    while batch := list(islice(items, _AT_ONCE)):
        yield batch


def _score(run: Run, benchmark: Benchmark, again: Rescore, counts: list[int]) -> Iterator[frames.Item]:
    """Each attempt with its new scores; counts attempts, and those that came out otherwise."""
    samples = {sample.id: sample for sample in write.load_samples(run.dataset_id)}
    setup = uncalled_setup(benchmark, run)
    for attempt, stored in load.load_attempts(run.id):
        sample = samples[attempt.sample_id]
        before = Scored(stored.scores, stored.votes, stored.judgements, stored.traces, stored.verdict)
        found = benchmark.complete(sample.task, attempt, again(sample, attempt, before, setup))
        counts[0] += 1
        counts[1] += _figures(found) != _figures(before)
        yield attempt, found, sample


def _figures(scored: Scored) -> tuple[Any, ...]:
    """What of the scores somebody would see, in any order."""
    return scored.verdict, sorted((s.metric, s.turn or 0, str(s.value), s.reason or "") for s in scored.scores)
