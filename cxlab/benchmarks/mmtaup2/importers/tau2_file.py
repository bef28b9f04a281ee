"""Simulations and tasks as they stand in a result file of tau2-bench."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cxlab.benchmarks.mmtaup2.importers.tau2 import read_json
from cxlab.benchmarks.mmtaup2.importers.tau2_simulations import (
    RawSimulation,
)
from cxlab.benchmarks.mmtaup2.importers.tau2_tasks import (
    RawTask,
    Unusable,
    read_raw,
)
from cxlab.errors import BadFile
from cxlab.importers.imported import RejectedRow

LARGEST_FILE = 1_000_000_000


def list_simulations(file: Path, whole: Any, rejected: list[RejectedRow]) -> Iterator[tuple[str, int | None, Any]]:
    """(file, row, simulation) of each layout; a simulation's own file that cannot be read is rejected alone."""
    if isinstance(whole, list):
        yield from ((file.name, row, each) for row, each in enumerate(whole, 1))
        return
    if not isinstance(whole, dict):
        raise BadFile(file, None, "is neither an object nor a list", "give a results.json that tau2-bench wrote")
    inside = whole.get("simulations")
    folder = file.parent / "simulations"
    if inside or not folder.is_dir():
        if not isinstance(inside, list):
            fix = "give a results.json that tau2-bench wrote, with its simulations folder beside it if it has one"
            raise BadFile(file, None, "has no list of simulations", fix)
        yield from ((file.name, row, each) for row, each in enumerate(inside, 1))
        return
    paths = sorted(folder.glob("*.json"))
    for path in paths:
        name = f"simulations/{path.name}"
        try:
            yield name, None, read_json(path, LARGEST_FILE)
        except BadFile as fault:
            rejected.append(RejectedRow(name, fault.line, None, fault.problem))
    index = whole.get("simulation_index")
    entries = index if isinstance(index, list) else []
    listed = {read_text(each.get("id") if isinstance(each, dict) else each) for each in entries}
    for lacking in sorted(listed - {path.stem for path in paths} - {""}):
        rejected.append(RejectedRow(f"simulations/{lacking}.json", None, None, "listed in results.json and not there"))


def tasks_within(whole: Any) -> list[dict[str, Any]]:
    """The tasks that tau-bench's records bring along, each in `info.task`, as tau2-bench's files have theirs."""
    found: dict[str, dict[str, Any]] = {}
    for row in whole if isinstance(whole, list) else ():
        record = read_object(row)
        task, name = read_object(read_object(record.get("info")).get("task")), record.get("task_id")
        actions = task.get("actions")
        if isinstance(actions, list) and isinstance(name, int | str):
            gold = [{"name": one.get("name"), "arguments": one.get("kwargs")} for one in map(read_object, actions)]
            criteria = {"actions": gold, "communicate_info": task.get("outputs")}
            known = {"instructions": task.get("instruction")}
            found.setdefault(str(name), {"id": name, "user_scenario": known, "evaluation_criteria": criteria})
    return list(found.values())


def read_tasks(name: str, given: Any, rejected: list[RejectedRow]) -> dict[str, RawTask]:
    found: dict[str, RawTask] = {}
    for row, each in enumerate(given if isinstance(given, list) else [], 1):
        try:
            task = read_raw(each)
            found.setdefault(task.id, task)
        except Unusable as fault:
            rejected.append(RejectedRow(f"{name}, tasks", row, fault.field, str(fault)))
    return found


def without_doubles(
    talks: list[tuple[str, int | None, RawSimulation]], rejected: list[RejectedRow]
) -> list[tuple[RawSimulation, int]]:
    """Each simulation with its trial; a trial that a file does not number is the next of its task."""
    seen: set[tuple[str, int]] = set()
    count: Counter[str] = Counter()
    kept = []
    for name, row, talk in talks:
        trial = count[talk.task_id] if talk.trial is None else talk.trial
        count[talk.task_id] += 1
        if (talk.task_id, trial) in seen:
            rejected.append(RejectedRow(name, row, "trial", f"trial {trial} of task {talk.task_id} came before"))
            continue
        seen.add((talk.task_id, trial))
        kept.append((talk, trial))
    # Files order their simulations differently; the run is the same.
    return sorted(kept, key=lambda pair: (pair[1], pair[0].task_id))


def read_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def read_text(value: Any) -> str:
    return value if isinstance(value, str) else ""
