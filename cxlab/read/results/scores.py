"""Means with their 95 % intervals, aggregated in SQL."""

from collections.abc import Mapping, Sequence
from typing import Literal

import polars as pl

from cxlab.errors import UnknownName
from cxlab.metrics.intervals import Bounds, find_bounds
from cxlab.read.query import ask, facet, facet_ids, measured, where
from cxlab.read.sample_clusters import TABLE, as_table
from cxlab.read.view import View

# What scores can be grouped by beside facets, and whether the column must be fetched from `attempts`.
_GROUPS = {
    "benchmark": False,
    "run_id": False,
    "model": False,
    "task": False,
    "turn": False,
    "metric": False,
    "attempt_id": False,
    "sample_id": False,
    "trial": False,
    "simulated": True,
    "outcome": True,
    "ended_by": True,
}


def score_table(
    view: View,
    by: Sequence[str] = ("model",),
    metrics: Sequence[str] | None = None,
    grain: Literal["auto", "turn", "attempt"] = "auto",
    scales: Mapping[str, Bounds | None] | None = None,
) -> pl.DataFrame:
    """One row a group: `by`..., metric, n, clusters, mean, low, high, unscored; groups without a score are left out.

    `metrics` None takes the view's one. `grain`: over scores of turns, of whole attempts, or (auto) of turns where
    a group has any. The interval is clustered: what several turns, trials and runs say of one sample is one
    cluster, and so is what samples share (records/cluster.py); see metrics/intervals.py.
    `scales`: metric → the ends of its scale, which no interval leaves; without it a metric has none. low and high are
    null for fewer than two clusters. Unscored is not zero: such rows are counted in `unscored` and in nothing else.
    UnknownName for a group that there is not.
    """
    facets = facet_ids()
    for name in by:
        if name not in _GROUPS and name not in facets:
            raise UnknownName("group", name, (*_GROUPS, *facets))
    keys = list(dict.fromkeys([*by, "metric"]))
    condition, params = where(view, "scores", "s.")
    wanted = tuple(metrics) if metrics is not None else (view.metric,)
    if not wanted:
        return _finish(pl.DataFrame(), keys, {})
    names = [f"metric_{place}" for place in range(len(wanted))]
    params.update(zip(names, wanted, strict=True))
    of_attempts = [key for key in keys if _GROUPS.get(key, True)]
    source = "scores s JOIN attempts a USING (run_id, attempt_id)" if of_attempts else "scores s"
    sources = {key: f'{"a" if key in of_attempts else "s"}."{key}"' if key in _GROUPS else facet(key) for key in keys}
    picked = ", ".join(f'{source} AS "{key}"' for key, source in sources.items())
    columns = ", ".join(f'"{key}"' for key in keys)
    kept = {"auto": "true", "turn": "s.turn IS NOT NULL", "attempt": "s.turn IS NULL"}[
        "turn" if "turn" in by else grain
    ]
    frame = ask(
        f"""
        WITH summed AS (
            SELECT {picked}, s.turn IS NULL AS whole, s.sample_id AS of_sample,
                count(s.value) AS n, sum(s.value) AS total, count(*) - count(s.value) AS unscored
            FROM {source}
            WHERE s.metric IN ({", ".join(f"${name}" for name in names)}) AND {kept} AND {condition}
            GROUP BY ALL
        ), clusters AS (
            SELECT {columns}, whole, coalesce(shared.cluster, of_sample) AS cluster, sum(n)::BIGINT AS n,
                sum(total) AS total, sum(unscored)::BIGINT AS unscored
            FROM summed LEFT JOIN (SELECT sample_id AS its_sample, cluster FROM {TABLE}) shared
                ON its_sample = of_sample
            GROUP BY ALL
        ), centred AS (
            SELECT *, sum(total) OVER grouped / sum(n) OVER grouped AS mean,
                min(total / n) OVER grouped AS least, max(total / n) OVER grouped AS most
            FROM clusters WINDOW grouped AS (PARTITION BY {columns}, whole)
        )
        SELECT {columns}, whole, sum(n)::BIGINT AS n, count(*) FILTER (n > 0) AS clusters, any_value(mean) AS mean,
            sqrt(sum((total - mean * n) ** 2)) / sum(n) AS spread, sum(n) ** 2 / sum(n ** 2) AS weight,
            count(*) FILTER (n > 0 AND total = least * n) AS bottom, min(least) AS least,
            count(*) FILTER (n > 0 AND total = most * n) AS top, min(most) AS most,
            sum(unscored)::BIGINT AS unscored
        FROM centred GROUP BY {columns}, whole HAVING sum(n) > 0
        QUALIFY row_number() OVER (PARTITION BY {columns} ORDER BY whole) = 1
        ORDER BY {columns}
        """,
        params,
        as_table(),
    )
    return _finish(frame, keys, scales or {})


def _finish(frame: pl.DataFrame, keys: list[str], scales: Mapping[str, Bounds | None]) -> pl.DataFrame:
    """Put intervals to means."""
    counts, numbers = ("n", "clusters", "unscored"), ("mean", "low", "high")
    if frame.is_empty():
        types = {**dict.fromkeys(counts, pl.Int64), **dict.fromkeys(numbers, pl.Float64)}
        names = (*keys, "n", "clusters", *numbers, "unscored")
        return pl.DataFrame(schema={name: types.get(name, frame.schema.get(name, pl.String)) for name in names})
    spans = []
    for row in frame.iter_rows(named=True):
        scale = scales.get(row["metric"])
        # Clusters whose own mean is at an end of the scale.
        edges = sum(row[count] for count, end in (("bottom", "least"), ("top", "most")) if row[end] in (scale or ()))
        edge = min(1.0, edges / row["clusters"])
        spans.append(find_bounds(row["mean"], row["spread"], row["clusters"], row["weight"], edge, scale))
    ends = pl.DataFrame(spans, schema={"low": pl.Float64, "high": pl.Float64}, orient="row").fill_nan(None)
    return frame.hstack(ends).select(*keys, "n", "clusters", "mean", "low", "high", "unscored")


def leaderboard(view: View, metrics: Sequence[str] | None = None, less_is_better: bool = False) -> pl.DataFrame:
    """One row a benchmark and model over the view's own runs, the best by the first metric on top.

    Columns: benchmark, model, simulated, attempts, samples, turns, ok / format / provider (attempts by outcome),
    passed / failed / unscored (attempts by verdict), success (passed of those that passed or failed, 0 to 1),
    cost_usd (mean an attempt, null when one is unknown), total_usd, latency_s (mean an attempt), and per metric
    (None: the view's) METRIC, METRIC_low, METRIC_high, METRIC_n. `less_is_better` says so of the first metric.
    """
    metrics = (view.metric,) if metrics is None else tuple(dict.fromkeys(metrics))
    condition, params = where(view)
    board = ask(
        f"""
        SELECT benchmark, model, bool_or(simulated) AS simulated, count(*) AS attempts,
            count(DISTINCT sample_id) AS samples, sum(turns)::BIGINT AS turns,
            count(*) FILTER (outcome = 'ok') AS ok, count(*) FILTER (outcome = 'format') AS format,
            count(*) FILTER (outcome = 'provider') AS provider,
            count(*) FILTER (verdict = 'passed') AS passed, count(*) FILTER (verdict = 'failed') AS failed,
            count(*) FILTER (coalesce(verdict, 'unscored') = 'unscored') AS unscored,
            passed / nullif(passed + failed, 0) AS success,
            CASE WHEN count(price) = count(*) THEN avg(price) END AS cost_usd,
            CASE WHEN count(price) = count(*) THEN sum(price) END AS total_usd, avg(seconds) AS latency_s
        FROM (SELECT *, {measured("cost_usd")} AS price, {measured("latency_s")} AS seconds FROM attempts)
        WHERE {condition} GROUP BY ALL
        """,
        params,
    )
    scores = score_table(view, by=("benchmark", "model"), metrics=metrics)
    for metric in metrics:
        part = scores.filter(pl.col("metric") == metric).select(
            "benchmark",
            "model",
            pl.col("mean").alias(metric),
            pl.col("low").alias(f"{metric}_low"),
            pl.col("high").alias(f"{metric}_high"),
            pl.col("n").alias(f"{metric}_n"),
        )
        board = board.join(part, on=["benchmark", "model"], how="left")
    first, falling = (metrics[0], not less_is_better) if metrics else ("success", True)
    return board.sort(["benchmark", first, "model"], descending=[False, falling, False], nulls_last=True)


def metric_names(view: View) -> pl.DataFrame:
    """The metrics that have scores: metric, n; by name."""
    condition, params = where(view, "scores")
    return ask(f"SELECT metric, count(value) AS n FROM scores WHERE {condition} GROUP BY 1 ORDER BY 1", params)


def count_scores(view: View) -> dict[str, int]:
    """How many attempts, turns and scores the view holds, and how many scores are missing."""
    condition, params = where(view)
    row = ask(
        f"SELECT count(*) AS attempts, coalesce(sum(turns), 0)::BIGINT AS turns FROM attempts WHERE {condition}", params
    )
    condition, params = where(view, "scores")
    scores = ask(
        f"SELECT count(value) AS scores, count(*) - count(value) AS unscored FROM scores WHERE {condition}", params
    )
    return {**row.row(0, named=True), **scores.row(0, named=True)}
