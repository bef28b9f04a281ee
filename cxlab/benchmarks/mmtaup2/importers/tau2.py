"""tau2-bench's telecom and retail folders into a dataset: tasks, databases, splits; and a replay of the gold actions.

A domain is a folder with `tasks.json` and its database: `db.toml` and `user_db.toml`, or `db.json`. It is looked for
under its name at the place given and below it. One domain alone will do. Rows count from 1.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from cxlab import files
from cxlab.benchmarks.mmtaup2 import tasks as marking
from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.importers.tau2_tasks import Unusable, build_task, facets_of, read_raw, sample_id
from cxlab.benchmarks.mmtaup2.tasks import Task
from cxlab.benchmarks.mmtaup2.tasks.samples import BENCHMARK, WORLDS, to_sample, worlds_table
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import BadFile, BadOption
from cxlab.importers.folders import files_below
from cxlab.importers.imported import ImportResult, RejectedRow, build_rejected
from cxlab.importers.importer import ImportReport
from cxlab.records import Dataset, content_id
from cxlab.store.frames import mend_text

LICENCE = "MIT, (c) 2025 Sierra Research (tau2-bench); keep this notice with copies"
# The largest file there is, telecom's full task list, has 14 MB.
LARGEST_FILE = 200_000_000
LONGEST_TEXT = 5_000_000  # characters of one text in them: what a tool returned can be a whole table
PARTS = ("db", "actions", "env_assertions", "communicate")


@dataclass
class ImportedTasks(ImportResult):
    """Tasks that were imported, and those of them that can be played on our worlds."""

    playable: list[tuple[Task, World]] = field(default_factory=list)
    replay: GoldReplay | None = None

    def report(self) -> ImportReport:
        """Tasks a domain, and how replaying the gold actions went where that was asked for."""
        record: dict[str, Any] = {"dataset": self.dataset.id, "domains": self.tasks, "tasks": len(self.samples)}
        counts = ", ".join(f"{count} {domain}" for domain, count in self.tasks.items())
        lines = [f"{self.dataset.id}: {len(self.samples)} tasks ({counts}); {len(self.rejected)} complaints"]
        if done := self.replay:
            record |= {"gold_passed": done.passed, "gold_calls_refused": done.refused}
            lines.append(f"Gold actions: {done.passed} of {done.tasks} tasks reach their goal on our worlds")
        failed = done.failed if done else ()
        return ImportReport(
            record | {"rejected": len(self.rejected), "ignored": self.ignored},
            (*lines, f"Licence: {self.dataset.licence}"),
            (*(f"rejected: {one}" for one in self.rejected), *(f"gold fails: {one}" for one in failed)),
            failed=bool(failed),
        )


@dataclass(frozen=True)
class GoldReplay:
    """What replaying the gold actions came to. `refused`: gold calls that the world refuses, as tau2-bench's does."""

    tasks: int
    passed: int
    refused: int
    failed: tuple[str, ...]


def import_folder(folder: Path | str, home: Path | str | None = None) -> ImportedTasks:
    """Read a folder and store it as a dataset; nothing is stored when something raises."""
    found = read_folder(folder)
    found.save(home)
    return found


def read_folder(folder: Path | str) -> ImportedTasks:
    """Read and check a folder; raises BadFile for what cannot be read at all."""
    root = Path(folder)
    if not root.is_dir():
        raise BadFile(root, None, "is no folder", "give the folder that holds tau2-bench's telecom and retail folders")
    rejected: list[RejectedRow] = []
    rows: dict[str, int] = {}
    playable: list[tuple[Task, World]] = []
    facets: list[dict[str, str | None]] = []
    ids: list[str] = []
    splits: list[tuple[str, str, str]] = []
    databases: list[tuple[str, str, dict[str, Any]]] = []
    below = files_below(root)
    homes = {domain: _home(root, below, domain) for domain in worlds.DOMAINS}
    for domain, at in homes.items():
        if at is None:
            continue
        world, stored = _read_world(domain, at, rejected)
        databases += stored
        seen: set[str] = set()
        for place, name, task, extra in _read_tasks(domain, at, world, rejected, rows):
            if task.id in seen:
                rejected.append(RejectedRow(f"{domain}/tasks.json", place, "id", f"{task.id} came before"))
                continue
            seen.add(task.id)
            playable.append((task, world))
            facets.append(extra)
            ids.append(name)
        splits += _read_splits(domain, at, seen, rejected)
    if not any(homes.values()):
        fix = "it should hold telecom/tasks.json or retail/tasks.json, as data/tau2/domains of tau2-bench does"
        raise BadFile(root, None, "no telecom or retail folder with a tasks.json in it", fix)
    if not playable:
        first = f"; the first problem: {rejected[0]}" if rejected else ""
        raise BadFile(root, None, f"no task could be used{first}", "compare with tau2-bench's own tasks.json")
    kept = [task.model_dump(mode="json") for task, _ in playable]
    # The databases are part of what a task is: other rows, another dataset.
    dataset_id = "tau2-" + content_id(kept, databases, sorted(splits))
    dataset = Dataset(
        id=dataset_id,
        benchmark=BENCHMARK,
        name=f"tau2-bench, imported from {root.resolve().name}",
        source="imported",
        config={"rows": rows, "rejected": len(rejected), "tasks": dict(Counter(t.domain for t, _ in playable))},
        seed=None,
        licence=LICENCE,
        created=datetime.now(UTC),
    )
    tables = {
        WORLDS: worlds_table(databases),
        "splits": pl.DataFrame(splits, schema=dict.fromkeys(("domain", "split", "task_id"), pl.String), orient="row"),
        "rejected": build_rejected(rejected),
    }
    samples = [
        to_sample(task, dataset_id, extra, name) for (task, _), extra, name in zip(playable, facets, ids, strict=True)
    ]
    absent = [f"{domain} (not there)" for domain, at in homes.items() if at is None]
    return ImportedTasks(dataset, samples, tables, rejected, absent, rows, playable)


def check_gold(found: ImportedTasks) -> GoldReplay:
    """Replay every task's gold actions on our worlds; natural-language assertions are left to judges."""
    failed, refused = [], 0
    for task, world in found.playable:
        end = marking.begin(task, world)
        refused += sum(end.call(a.side, a.tool, a.arguments).kind != "ok" for a in task.gold)
        result = marking.evaluate(task, end, end.log, task.communicate)
        wrong = [part for part in PARTS if result[part] != 1.0]
        if wrong:
            failed.append(f"{task.domain} {task.id}: {', '.join(wrong)}")
    return GoldReplay(len(found.playable), len(found.playable) - len(failed), refused, tuple(failed))


def read_json(path: Path, largest: int = LARGEST_FILE) -> Any:
    """A JSON file's content; BadFile says where it breaks off."""
    text = files.read_bytes(path, largest)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as fault:
        found = _read_loosely(text)
        if found is None:
            raise BadFile(path, fault.lineno, f"is no JSON ({fault.msg})", "fetch the file again") from None
        return found


def _read_loosely(text: bytes) -> Any:
    """JSON as Python writes it: with NaN (kept as that word, which is no number), halves of surrogate pairs (mended),
    other encodings; None if it is none.
    """
    try:
        found = json.loads(text, parse_constant=str)
        return json.loads(mend_text(json.dumps(found, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None


def _home(root: Path, below: Sequence[Path], domain: str) -> Path | None:
    """The domain's folder: the one given, one of its name in it, or the first of its name further down."""
    if root.name == domain and (root / "tasks.json").is_file():
        return root
    homes = [path.parent for path in below if path.name == "tasks.json" and path.parent.name == domain]
    return min(homes, key=lambda path: len(path.parts), default=None)


def _read_world(
    domain: str, at: Path, rejected: list[RejectedRow]
) -> tuple[World, list[tuple[str, str, dict[str, Any]]]]:
    agent_file = next((at / name for name in ("db.json", "db.toml") if (at / name).is_file()), at / "db.json")
    agent = _read_table(agent_file)
    customer_file = next((at / name for name in ("user_db.toml", "user_db.json") if (at / name).is_file()), None)
    customer = _read_table(customer_file) if customer_file else None
    try:
        if domain == "retail":
            from cxlab.benchmarks.mmtaup2.worlds.retail_rows import split_rows

            agent, complaints = split_rows(agent)
            for table, name, problem in complaints:
                rejected.append(RejectedRow(f"{domain}/{agent_file.name}", None, f"{table} {name}", problem))
        world = worlds.from_data(domain, agent, customer)
    except BadOption as fault:
        raise BadFile(agent_file, None, str(fault), "fetch the file again") from None
    sides = [(domain, "agent", agent)] + ([(domain, "customer", customer)] if customer else [])
    return world, sides


def _read_table(path: Path) -> dict[str, Any]:
    """A database file, JSON or TOML, as an object that JSON can hold."""
    if path.suffix == ".toml":
        return files.read_toml(path, LARGEST_FILE // 10)
    found = read_json(path)
    if not isinstance(found, dict):
        raise BadFile(path, None, "is no JSON object", "a database is an object of tables")
    if fault := files.find_fault(found, longest=LONGEST_TEXT):
        raise BadFile(path, None, f"{'.'.join(fault.where[:6])}: {fault.problem}", "fetch the file again")
    return found


def _read_tasks(
    domain: str, at: Path, world: World, rejected: list[RejectedRow], rows: dict[str, int]
) -> Iterator[tuple[int, str, Task, dict[str, str | None]]]:
    path = at / "tasks.json"
    given = read_json(path)
    given = given.get("tasks") if isinstance(given, dict) else given
    if not isinstance(given, list):
        raise BadFile(path, None, "is no list of tasks")
    rows[f"{domain}/tasks.json"] = len(given)
    for place, each in enumerate(given, 1):
        try:
            raw = read_raw(each)
            yield place, sample_id(domain, raw), build_task(raw, domain, world), facets_of(raw)
        except Unusable as fault:
            rejected.append(RejectedRow(f"{domain}/tasks.json", place, fault.field, str(fault)))


def _read_splits(domain: str, at: Path, known: set[str], rejected: list[RejectedRow]) -> list[tuple[str, str, str]]:
    """(domain, split, task id) of the tasks that were taken; ids of others are no fault of this folder."""
    path = at / "split_tasks.json"
    if not path.is_file():
        return []
    given = read_json(path)
    if not isinstance(given, dict) or not all(isinstance(ids, list) for ids in given.values()):
        rejected.append(RejectedRow(f"{domain}/{path.name}", None, None, "is no object of lists; no splits are known"))
        return []
    return [(domain, split, str(name)) for split, ids in given.items() for name in ids if str(name) in known]
