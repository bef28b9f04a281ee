"""A benchmark of several tasks at one glance: each task by the figure that leads it."""

from collections.abc import Mapping

import polars as pl

from cxlab.metrics.intervals import mean_interval
from cxlab.read.query import ask, where
from cxlab.read.scores import score_table
from cxlab.read.view import View


def task_board(view: View, headlines: Mapping[str, str]) -> pl.DataFrame:
    """One row a task and model: task, model, metric, n, clusters, mean, low, high, unscored; in the tasks' order.

    `headlines`: task → the metric that leads it. Where a metric is scored turn by turn (or question by question),
    those scores count, else those of whole attempts; intervals are clustered by sample.
    """
    order = list(headlines)
    table = score_table(view, by=("task", "model"), metrics=tuple(dict.fromkeys(headlines.values())))
    led = table.filter(pl.col("metric") == pl.col("task").replace_strict(headlines, default=None))
    places = {task: place for place, task in enumerate(order)}
    return led.sort(pl.col("task").replace_strict(places, default=len(order), return_dtype=pl.Int64), "model")


def task_costs(view: View) -> pl.DataFrame:
    """What an answer takes, one row a task and model.

    Columns: task, model, n, and of an answer the means calls, prompt_tokens, completion_tokens, latency_s, cost_usd;
    median_s and p95_s of its time, total_usd of all.

    Tokens and cost are null where no provider reports them: unknown is not zero. Attempts that a provider cut short
    are left out. As the paper's table 10 counts: the model under test alone, no judges.
    """
    condition, params = where(view)
    return ask(
        f"""
        SELECT task, model, count(*) AS n, avg(calls) AS calls, avg(prompt_tokens) AS prompt_tokens,
            avg(completion_tokens) AS completion_tokens, avg(latency_s) AS latency_s, median(latency_s) AS median_s,
            quantile_cont(latency_s, 0.95) AS p95_s, avg(cost_usd) AS cost_usd, sum(cost_usd) AS total_usd
        FROM attempts WHERE outcome <> 'provider' AND {condition} GROUP BY ALL ORDER BY task, model
        """,
        params,
    )


def repeated(view: View, unit: str = "model") -> pl.DataFrame:
    """How steady a figure is from trial to trial: side, trials, mean, low, high, lowest, highest; [] with one trial.

    Each trial's mean of the view's metric is one value; the interval is Student's t over the trials (appendix G of
    CXMArena): it tells of the model's own chance, not of other samples.
    """
    condition, params = where(view, "scores", "s.")
    frame = ask(
        f"""
        SELECT s.{unit} AS side, s.trial, avg(s.value) AS mean FROM scores s
        WHERE s.metric = $metric AND s.turn IS NULL AND s.value IS NOT NULL AND {condition}
        GROUP BY ALL ORDER BY ALL
        """,
        {**params, "metric": view.metric},
    )
    rows = []
    for (side,), part in frame.group_by("side", maintain_order=True):
        if part.height > 1:
            found = mean_interval(part["mean"].to_numpy())
            rows.append((side, part.height, found.mean, found.low, found.high, part["mean"].min(), part["mean"].max()))
    numbers = ("mean", "low", "high", "lowest", "highest")
    schema = {"side": pl.String, "trials": pl.Int64, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")
