"""Tasks as samples of a dataset and back again, and the worlds that a dataset of imported tasks brings along.

What a conversation begins with goes into `inputs`, what it is marked by into `expected`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.tasks.task import Task
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import BadOption, BadStore
from cxlab.records import Sample, content_id

BENCHMARK = "mmtaup2"
WORLDS = "worlds"
TERMS = "terms"
HELD_ELSEWHERE = "tau2_id"
"""What an attempt's output holds of a conversation that was imported, and held under a policy that is not ours."""
_EXPECTED = (
    "gold", "assertions", "reward_basis", "communicate", "nl_assertions", "optimal_turns", "critical_fields",
    "irreversible", "transfer_right",
)  # fmt: skip


def to_sample(
    task: Task,
    dataset_id: str,
    facets: Mapping[str, str | None] | None = None,
    sample_id: str = "",
    terms: Mapping[str, Any] | None = None,
) -> Sample:
    """The task as a sample; its id is its content, whatever dataset it is in, unless one is given.

    `terms`: persona, exposure, modality and the like, where the sample and not the run says what they are.
    """
    whole = task.model_dump(mode="json")
    shown: dict[str, str | None] = {"scenario": task.domain, "leaf": leaf_of(task.issues), "language": "en"}
    expected = {name: whole.pop(name) for name in _EXPECTED}
    if terms:
        whole[TERMS] = dict(terms)
    return Sample(
        id=sample_id or content_id(BENCHMARK, whole, expected),
        dataset_id=dataset_id,
        benchmark=BENCHMARK,
        task=task.domain,
        inputs=whole,
        expected=expected,
        facets={name: value for name, value in (shown | dict(facets or {})).items() if value is not None},
    )


def leaf_of(issues: Sequence[str]) -> str | None:
    """The issues as one word for filters and titles; many of them as their number."""
    return ("+".join(issues) if len(issues) <= 3 else f"{len(issues)} issues") or None


def lacking_of(sample: Sample) -> list[str]:
    """What is not known of a sample that must be, to play or mark it."""
    return [name for name in _EXPECTED if name not in sample.expected]


def task_of(sample: Sample) -> Task:
    """The task that a sample was made from; BadOption for one of which too little is known to play or mark it."""
    if lacking := lacking_of(sample):
        names = ", ".join(lacking)
        raise BadOption(f"sample {sample.id} of task {sample.task} has no {names}; it cannot be played or marked")
    given = {name: value for name, value in sample.inputs.items() if name != TERMS}
    return Task.model_validate({**given, **sample.expected})


def terms_of(sample: Sample) -> Mapping[str, Any]:
    """Persona, exposure, modality and what else the sample fixes of how it is played."""
    found: Mapping[str, Any] = sample.inputs.get(TERMS) or {}
    return found


def worlds_table(databases: Iterable[tuple[str, str, Mapping[str, Any]]]) -> pl.DataFrame:
    """A dataset's table of (domain, side, rows): what its tasks are played on."""
    texts = dict.fromkeys(("domain", "side", "rows"), pl.String)
    rows = [(domain, side, json.dumps(given, ensure_ascii=False)) for domain, side, given in databases]
    return pl.DataFrame(rows, schema=texts, orient="row")


@functools.lru_cache(maxsize=4)
def load_world(dataset_id: str, domain: str, home: Path | str | None = None) -> World:
    """The imported world of a dataset's tasks of a domain, as it was stored; not to be acted on, but to begin from."""
    from cxlab.store import write

    table = write.load_table(dataset_id, WORLDS, home).filter(domain=domain)
    sides = {side: json.loads(rows) for side, rows in table.select("side", "rows").iter_rows()}
    if "agent" not in sides:
        raise BadStore(f"dataset {dataset_id!r} holds no {domain} world; import it again")
    return worlds.from_data(domain, sides["agent"], sides.get("customer"))


def world_of(sample: Sample, home: Path | str | None = None) -> World | None:
    """The world to hand to `tasks.begin`: None for tasks of our own, whose world is generated."""
    return load_world(sample.dataset_id, sample.task, home) if sample.inputs.get("world_seed") is None else None
