"""A benchmark of several tasks at one glance: each task by the figure that leads it."""

from collections.abc import Mapping

import polars as pl

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
