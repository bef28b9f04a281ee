"""Forty ways in which a store gets damaged, each done to run r1 or dataset d1 of a store that also holds r2 and d2."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.records import Annotation
from cxlab.store import connect, write
from cxlab.store import run_status as statuses

from .store_records import NOON, make_attempt, make_dataset, make_run, make_samples, samples_by_id


def make_two_runs(home: Path) -> Path:
    """Runs r1 and r2 of 8 attempts in two batches each, datasets d1 and d2, an annotation."""
    for name in ("d1", "d2"):
        write.save_dataset(make_dataset(name), make_samples(name), home)
    for run_id in ("r1", "r2"):
        run = make_run(run_id)
        folder = write.create_run(run, home)
        for start in (0, 4):
            with write.PartWriter(run, samples_by_id(), home=home) as writer:
                for number in range(start, start + 4):
                    writer.add(*make_attempt(number, run_id))
        statuses.write(folder / "status.json", statuses.Status("done", 8, 8, updated=statuses.now()))
    note = Annotation(id="n1", created=NOON, author="ann", kind="note", run_id="r1", attempt_id="r1-a00001", value="x")
    write.annotate(note, home)
    connect.open_store(home).close()
    return home


@dataclass(frozen=True)
class Damage:
    """What is done to a store; the folder or file that is set aside for it ("" for none), and what is said of it.

    `left`: what `doctor --repair` cannot mend and still names.
    """

    do: Callable[[Path], object]
    name: str = "r1"
    said: str = ""
    left: bool = False


def cut(path: Path, keep: float = 0.5) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])


def change(path: Path, **fields: Any) -> None:
    """Other values in a record; `...` takes the field away."""
    told = {**json.loads(path.read_bytes()), **fields}
    path.write_text(json.dumps({key: value for key, value in told.items() if value is not ...}))


def record(home: Path) -> Path:
    return home / "runs/r1/run.json"


def batch(home: Path, place: int = 0) -> Path:
    return sorted((home / "runs/r1/parts").iterdir())[place]


def dataset(home: Path) -> Path:
    return home / "datasets/d1/dataset.json"


def rewrite(path: Path, **columns: pl.Expr) -> None:
    pl.read_parquet(path).with_columns(**columns).write_parquet(path)


def zero(path: Path, first: int, count: int) -> None:
    """What a disk does that loses a block."""
    data = bytearray(path.read_bytes())
    data[first : first + count] = bytes(count)
    path.write_bytes(data)


def annotation(home: Path) -> Path:
    return next(path for path in (home / "annotations").glob("*.parquet") if path.stem != "_empty")


def swap_for_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def copy_run(home: Path, name: str, **fields: Any) -> None:
    shutil.copytree(home / "runs/r1", home / "runs" / name)
    if fields:
        change(home / "runs" / name / "run.json", **fields)


def break_off_compaction(home: Path) -> None:
    shutil.copytree(home / "runs/r1/parts", home / "runs/r1/parts.old")


HUGE = 99999999999999999999
DAMAGES: dict[str, Damage] = {
    # the record of a run
    "record cut short": Damage(lambda h: cut(record(h)), said="is no whole JSON", left=True),
    "record empty": Damage(lambda h: record(h).write_bytes(b""), said="is empty", left=True),
    "record of zeros": Damage(lambda h: record(h).write_bytes(bytes(500)), said="is no whole JSON", left=True),
    "record missing": Damage(lambda h: record(h).unlink(), said="holds no run.json", left=True),
    "record is a folder": Damage(lambda h: swap_for_folder(record(h)), said="cannot be read", left=True),
    "record not Unicode": Damage(lambda h: record(h).write_bytes(b'{"id": "\xff\xfe"}'), said="JSON", left=True),
    "record a list": Damage(lambda h: record(h).write_text("[]"), said="should be an object", left=True),
    "record too large": Damage(lambda h: change(record(h), setup={"x": "y" * 2**24}), said="bytes", left=True),
    "field of a newer version": Damage(lambda h: change(record(h), mood=1), said="newer CX Lab", left=True),
    "field missing": Damage(lambda h: change(record(h), model=...), said="lacks the field 'model'", left=True),
    "field twice": Damage(
        lambda h: record(h).write_text(record(h).read_text().replace("{", '{"seed": 1e99,', 1)),
        said="has the field 'seed' twice",
        left=True,
    ),
    "seed of 20 digits": Damage(lambda h: change(record(h), seed=HUGE), said="seed 99999999999999999999", left=True),
    "seed of 400 digits": Damage(lambda h: change(record(h), seed=10**400), said="seed", left=True),
    "seed below all": Damage(lambda h: change(record(h), seed=-HUGE), said="seed -9999", left=True),
    "seed null": Damage(lambda h: change(record(h), seed=None), said="seed", left=True),
    "seed a text": Damage(lambda h: change(record(h), seed="7"), said="seed", left=True),
    "seed not a number": Damage(lambda h: change(record(h), seed=float("nan")), said="seed", left=True),
    "setup without end": Damage(lambda h: change(record(h), setup={"x": float("inf")}), said="Infinity", left=True),
    "trials of 2^62": Damage(lambda h: change(record(h), trials=2**62), said="trials", left=True),
    "trials negative": Damage(lambda h: change(record(h), trials=-1), said="trials -1 is out of range", left=True),
    "planned too many": Damage(lambda h: change(record(h), planned=2**31), said="planned", left=True),
    "created a number": Damage(lambda h: change(record(h), created=5), said="created", left=True),
    "created nowhere": Damage(lambda h: change(record(h), created="2026-03-01T12:00:00"), said="time zone", left=True),
    # copies
    "folder copied": Damage(lambda h: copy_run(h, "r1-copy"), "r1-copy", "is a copy of run 'r1'"),
    "folder copied by a desktop": Damage(lambda h: copy_run(h, "r1 (copy)"), "r1 (copy)", "is a copy of run 'r1'"),
    "folder copied with another id": Damage(lambda h: copy_run(h, "r9", id="r9"), "r9", "belongs to run 'r1'"),
    "folder renamed": Damage(lambda h: (h / "runs/r1").rename(h / "runs/r7"), "r7", "the folder has another name"),
    "part copied": Damage(lambda h: shutil.copytree(batch(h), batch(h).with_name("zzz")), said="is a copy of part"),
    "part of another run": Damage(
        lambda h: shutil.copytree(next((h / "runs/r2/parts").iterdir()), h / "runs/r1/parts/other"),
        said="belongs to run 'r2'",
    ),
    # parts
    "scores cut short": Damage(lambda h: cut(batch(h) / "scores.parquet"), said="scores.parquet is cut short"),
    "attempts cut short": Damage(lambda h: cut(batch(h) / "attempts.parquet", 0.9), said="attempts.parquet"),
    "messages empty": Damage(
        lambda h: (batch(h) / "messages.parquet").write_bytes(b""), said="messages.parquet is empty"
    ),
    "attempts missing": Damage(lambda h: (batch(h, 1) / "attempts.parquet").unlink(), said="holds no attempts.parquet"),
    "votes are text": Damage(lambda h: (batch(h) / "votes.parquet").write_text("hello" * 99), said="votes.parquet"),
    "traces a folder": Damage(lambda h: swap_for_folder(batch(h) / "traces.parquet"), said="traces.parquet"),
    "scores of another type": Damage(
        lambda h: rewrite(batch(h) / "scores.parquet", value=pl.lit("much")), said="column value holds String"
    ),
    "footer lost": Damage(
        lambda h: zero(batch(h) / "scores.parquet", -200 + (batch(h) / "scores.parquet").stat().st_size, 150),
        said="scores.parquet",
    ),
    "compaction that cannot go on": Damage(break_off_compaction, said="neither says what it merged", left=True),
    # datasets and annotations
    "dataset cut short": Damage(lambda h: cut(dataset(h)), "d1", "dataset.json is no whole JSON", left=True),
    "dataset of a newer version": Damage(lambda h: change(dataset(h), mood=1), "d1", "newer CX Lab", left=True),
    "dataset's seed": Damage(lambda h: change(dataset(h), seed=HUGE), "d1", "seed", left=True),
    "samples cut short": Damage(lambda h: cut(h / "datasets/d1/samples.parquet"), "d1", "samples.parquet", left=True),
    "samples missing": Damage(lambda h: (h / "datasets/d1/samples.parquet").unlink(), "d1", "no samples", left=True),
    "table of a dataset": Damage(
        lambda h: (h / "datasets/d1/articles.parquet").write_bytes(b"PAR1"), "d1", "articles.parquet", left=True
    ),
    "dataset copied": Damage(
        lambda h: shutil.copytree(h / "datasets/d1", h / "datasets/d1 2"), "d1 2", "is a copy of dataset 'd1'"
    ),
    "annotation cut short": Damage(lambda h: cut(annotation(h)), "a", "is cut short"),
    # what is not set aside, and mended on the way or by the doctor
    "status cut short": Damage(lambda h: (h / "runs/r1/status.json").write_text('{"state": "do'), ""),
    "status of a newer version": Damage(lambda h: change(h / "runs/r1/status.json", mood=1), ""),
    "status with odd numbers": Damage(lambda h: change(h / "runs/r1/status.json", done="x", cost_usd=1e999), ""),
    "jobs are text": Damage(lambda h: (h / "jobs.sqlite").write_text("no database " * 200), ""),
    "jobs of another shape": Damage(lambda h: (h / "jobs.sqlite").write_bytes(_other_table(h)), ""),
    "views are text": Damage(lambda h: (h / "cxlab.duckdb").write_text("no database " * 2000), ""),
    "views cut short": Damage(lambda h: cut(h / "cxlab.duckdb", 0.9), ""),
    "views empty": Damage(lambda h: (h / "cxlab.duckdb").write_bytes(b""), ""),
    "swaps are text": Damage(lambda h: (h / "swaps").write_text("many"), ""),
    "empty parts lost": Damage(lambda h: cut(h / "runs/_empty/parts/_empty/scores.parquet"), ""),
    "foreign files": Damage(lambda h: _drop_foreign_files(h), ""),
}


def _other_table(home: Path) -> bytes:
    import sqlite3

    path = home.parent / "other.sqlite"
    with sqlite3.connect(path) as table:
        table.execute("create table jobs (what text)")
    table.close()
    return path.read_bytes()


def _drop_foreign_files(home: Path) -> None:
    for place in ("runs", "datasets", "annotations", "runs/r1", "runs/r1/parts", "trash"):
        (home / place).mkdir(exist_ok=True)
        (home / place / ".DS_Store").write_bytes(b"\0" * 9)
    (home / "runs/r1/run (1).json").write_text("{")
    (home / "runs/r1/run.json.bak").write_text("{")
    (home / "trash/old~stuff").mkdir()
    os.symlink(home / "nowhere", home / "runs/r1/parts/dangling")
