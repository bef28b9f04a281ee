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
from cxlab.benchmarks.mmtaup2.tasks import Task
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import BadStore
from cxlab.records import Facets, Sample, content_id

BENCHMARK = "mmtaup2"
WORLDS = "worlds"
_EXPECTED = (
    "gold", "assertions", "reward_basis", "communicate", "nl_assertions", "optimal_turns", "critical_fields",
    "irreversible", "transfer_right",
)  # fmt: skip


def to_sample(
    task: Task, dataset_id: str, facets: Mapping[str, str | None] | None = None, sample_id: str = ""
) -> Sample:
    """The task as a sample; its id is the task's content, whatever dataset it is in, unless one is given."""
    whole = task.model_dump(mode="json")
    expected = {name: whole.pop(name) for name in _EXPECTED}
    return Sample(
        id=sample_id or content_id(BENCHMARK, whole, expected),
        dataset_id=dataset_id,
        benchmark=BENCHMARK,
        task=task.domain,
        inputs=whole,
        expected=expected,
        facets=Facets(**{"scenario": task.domain, "leaf": leaf_of(task.issues), "language": "en", **(facets or {})}),
    )


def leaf_of(issues: Sequence[str]) -> str | None:
    """The issues as one word for filters and titles; many of them as their number."""
    return ("+".join(issues) if len(issues) <= 3 else f"{len(issues)} issues") or None


def task_of(sample: Sample) -> Task:
    """The task that a sample was made from."""
    return Task.model_validate({**sample.inputs, **sample.expected})


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
