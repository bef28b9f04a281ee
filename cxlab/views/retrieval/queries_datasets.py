"""Which datasets can be searched, and by which of their tasks."""

from contextlib import suppress

import polars as pl

from cxlab.benchmarks import REGISTRY
from cxlab.errors import UnknownName
from cxlab.read.query import ask
from cxlab.records.benchmark_card import Search
from cxlab.store import write
from cxlab.views.benchmarks import ranking_tasks

_SEARCHED = "{0}.benchmark || ' ' || {1}.task IN (SELECT unnest($searched))"


def datasets() -> pl.DataFrame:
    """Datasets with searches that ran: dataset_id, benchmark, task, runs, n attempts; the latest used first."""
    return ask(
        f"""SELECT r.dataset_id, r.benchmark, a.task, count(DISTINCT a.run_id) AS runs, count(*) AS n
        FROM attempts a JOIN runs r USING (run_id) WHERE {_SEARCHED.format("r", "a")}
        GROUP BY ALL ORDER BY max(r.created) DESC, a.task""",
        {"searched": _list_searched()},
    )


def _list_searched() -> list[str]:
    return [f"{name} {task}" for name in REGISTRY for task in ranking_tasks(name)]


def benchmark_of(dataset_id: str) -> str:
    """Whose dataset it is; "" where neither the dataset nor a run on it is there."""
    with suppress(UnknownName):
        return write.load_dataset(dataset_id).benchmark
    found = ask("SELECT any_value(benchmark) FROM runs WHERE dataset_id = $dataset", {"dataset": dataset_id})
    return found.item() or ""


def search_of(dataset_id: str, task: str) -> Search:
    """What the task ranks."""
    known = ranking_tasks(benchmark_of(dataset_id))
    if task not in known:
        raise UnknownName("task that searches", task, known)
    return known[task]


def searchable() -> dict[str, dict[str, int]]:
    """What could be searched for: dataset → task → samples, whether it ran or not."""
    rows = ask(
        f"""SELECT dataset_id, task, count(*) AS n FROM samples s
        WHERE {_SEARCHED.format("s", "s")} GROUP BY ALL ORDER BY ALL""",
        {"searched": _list_searched()},
    )
    found: dict[str, dict[str, int]] = {}
    for dataset, task, n in rows.iter_rows():
        found.setdefault(dataset, {})[task] = n
    return found
