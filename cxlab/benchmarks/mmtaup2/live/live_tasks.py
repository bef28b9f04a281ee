"""What can be played on a stage: tasks of our own, the same for everybody, and those of imported datasets."""

from __future__ import annotations

import functools
import re
from collections import Counter
from pathlib import Path

from cxlab.benchmarks.mmtaup2 import tasks, worlds
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import UnknownName
from cxlab.store import layout, write

OWN = ""
# The same tasks for everybody, so that an address means the same wherever it is opened.
_TASKS_SEED, _TASKS_COUNT = 1, 40
# Issues that a title names; of more, it says how many.
_MOST_NAMED = 3
# Words that an audience reads in place of an issue's name
_TITLES = {"lock sim card pin": "SIM lock", "sms": "SMS", "apn": "APN", "mms": "MMS", "vpn": "VPN", "wifi": "Wi-Fi"}


def sources(home: Path | str | None = None) -> dict[str, str]:
    """Where tasks may come from: dataset id → its name; "" for our own, which come first."""
    base = layout.resolve_home(home)
    imported = {
        dataset.id: dataset.name
        for dataset in write.list_datasets(base)
        if dataset.benchmark == samples.BENCHMARK
        and dataset.source == "imported"
        # What was imported with results is to be looked at: it brings no world to play in.
        and (layout.dataset_folder(base, dataset.id) / f"{samples.WORLDS}.parquet").is_file()
    }
    return {OWN: "CX Lab", **imported}


def domains(source: str = OWN, home: Path | str | None = None) -> tuple[str, ...]:
    """The domains that a source has tasks of."""
    return worlds.DOMAINS if source == OWN else tuple(_imported(source, layout.resolve_home(home)))


def cases(domain: str, source: str = OWN, home: Path | str | None = None) -> dict[str, tasks.Task]:
    """The tasks that a page offers, by id, the simplest first; UnknownName for a source that is not there."""
    return _own(domain) if source == OWN else _imported(source, layout.resolve_home(home)).get(domain, {})


def world_of(domain: str, source: str = OWN, home: Path | str | None = None) -> World | None:
    """The world of imported tasks; None for our own, whose world is generated."""
    return None if source == OWN else samples.load_world(source, domain, layout.resolve_home(home))


def titles(known: dict[str, tasks.Task]) -> dict[str, str]:
    """What is wrong in each task, in words; those that read alike are numbered."""
    named = {id: title(task) for id, task in known.items()}
    often, seen = Counter(named.values()), Counter[str]()
    for id, text in named.items():
        seen[text] += 1
        named[id] = f"{text} ({seen[text]})" if often[text] > 1 else text
    return named


def title(task: tasks.Task) -> str:
    """What is wrong, in words."""
    text = ", ".join(task.issues[:_MOST_NAMED]).replace("_", " ")
    for word, better in _TITLES.items():
        text = re.sub(rf"\b{word}\b", better, text)
    more = len(task.issues) - _MOST_NAMED
    text += f" and {more} more" if more > 0 else ""
    return text[:1].upper() + text[1:] + (" (a person must help)" if task.transfer_right else "")


@functools.cache
def _own(domain: str) -> dict[str, tasks.Task]:
    made = tasks.make(domain, _TASKS_SEED, _TASKS_COUNT)
    return {task.id: task for task in sorted(made, key=lambda task: (len(task.issues), task.id))}


@functools.lru_cache(maxsize=4)
def _imported(source: str, base: Path) -> dict[str, dict[str, tasks.Task]]:
    if source not in (known := sources(base)):
        raise UnknownName("dataset of tasks", source, [name for name in known if name])
    found: dict[str, dict[str, tasks.Task]] = {domain: {} for domain in worlds.DOMAINS}
    made = map(samples.task_of, write.load_samples(source, base))
    for task in sorted(made, key=lambda task: (len(task.issues), _natural(task.id))):
        found[task.domain][task.id] = task
    return {domain: known for domain, known in found.items() if known}


def _natural(id: str) -> tuple[int, str]:
    """Tasks that are numbered, in the order of their numbers."""
    return (int(id), "") if id.isdecimal() else (0, id)
