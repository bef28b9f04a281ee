"""One index at two tasks that ask the same queries: paired by the query, as their samples are not the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from cxlab.metrics.paired import compare_pairs
from cxlab.views.benchmarks import ranking_tasks
from cxlab.views.retrieval import queries, queries_datasets

_SEED = 20260102
_MANY = 4_000  # queries from which the closed form is as good as drawing
_WORDS = {"above": "better", "below": "worse"}


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
    told = compare_pairs(
        [(pairs["value"].to_numpy(), pairs["base"].to_numpy()) for pairs in joined],
        seed=_SEED, closed_form_from=_MANY, bounds=(-100.0, 100.0),
    )  # fmt: skip
    rows = [
        (*key, each.found.n, pairs.height - each.found.n, each.found.difference, each.found.low, each.found.high,
         each.found.p, each.p, each.found.wins, each.found.ties, each.found.losses,
         _WORDS.get(each.verdict, each.verdict))
        for key, pairs, each in zip(keys, joined, told, strict=True)
    ]  # fmt: skip
    numbers = dict.fromkeys(("difference", "low", "high", "p", "p_corrected"), pl.Float64)
    counts = dict.fromkeys(("wins", "ties", "losses"), pl.Int64)
    texts = dict.fromkeys(("run_id", "other"), pl.String)
    schema: dict[str, Any] = {**texts, "n": pl.Int64, "unmatched": pl.Int64, **numbers, **counts}
    return pl.DataFrame(rows, schema=schema | {"verdict": pl.String}, orient="row").fill_nan(None)


def _mean(dataset_id: str, task: str, metric: str) -> pl.DataFrame:
    """run_id, query and the mean over its trials."""
    known = queries.load(dataset_id, task)
    values = pl.Series(known.figures[metric]).fill_nan(None)
    rows = known.rows.select("run_id", "query", value=values).drop_nulls()
    return rows.group_by("run_id", "query").agg(pl.col("value").mean())
