"""One index at two tasks that ask the same queries: paired by the query, as their samples are not the same."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cxlab.views.benchmarks import ranking_tasks
from cxlab.views.retrieval import queries, queries_datasets

_SEED = 20260102


def sisters(dataset_id: str, task: str) -> list[str]:
    """The other tasks on this dataset that ask the same queries, as the benchmark declares it."""
    if not queries_datasets.search_of(dataset_id, task).same_queries:
        return []
    known = ranking_tasks(queries_datasets.benchmark_of(dataset_id))
    ran = queries_datasets.datasets().filter(dataset_id=dataset_id)["task"].to_list()
    return [each for each, search in known.items() if each != task and each in ran and search.same_queries]


def differences(dataset_id: str, task: str, runs: Sequence[str], metric: str) -> pl.DataFrame:
    """Each run at its task minus the same model at each other task that asks the same queries.

    The same run where it has both, else the model's latest. Columns: run_id, other (the task), n, unmatched,
    difference, low, high, p (sign-flip permutation), p_corrected (like low and high for the number of rows), wins,
    ties, losses, verdict (better, worse, cannot tell at 5 %).
    """
    own = _mean(dataset_id, task, metric)
    models = dict(queries.load(dataset_id, task).runs.select("run_id", "model").iter_rows())
    keys, joined = [], []
    for other in sisters(dataset_id, task):
        theirs = _mean(dataset_id, other, metric)
        ran = queries.load(dataset_id, other).runs
        for run in runs:
            same = ran.filter(pl.col("model") == models[run])["run_id"].to_list()
            if not same:
                continue
            partner = run if run in same else same[-1]
            left = own.filter(pl.col("run_id") == run).select("query", "value")
            right = theirs.filter(pl.col("run_id") == partner).select("query", base="value")
            keys.append((run, other))
            joined.append(left.join(right, on="query", how="full", coalesce=True).sort("query"))
    return queries.compare_joined(("run_id", "other"), keys, joined, _SEED)


def _mean(dataset_id: str, task: str, metric: str) -> pl.DataFrame:
    """run_id, query and the mean over its trials."""
    known = queries.load(dataset_id, task)
    values = pl.Series(known.figures[metric]).fill_nan(None)
    rows = known.rows.select("run_id", "query", value=values).drop_nulls()
    return rows.group_by("run_id", "query").agg(pl.col("value").mean())
