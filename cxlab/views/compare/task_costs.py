"""What answers take, task by task, and how much a figure moves from trial to trial."""

from collections.abc import Mapping

import polars as pl
import streamlit as st

from cxlab.charts.theme import SIMULATED_PREFIX
from cxlab.read import View
from cxlab.read.results.tasks import task_costs
from cxlab.ui.address import cached
from cxlab.ui.boards import published_columns, with_labels
from cxlab.ui.labels import badge, plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import find_published


def show_costs(view: View, titles: Mapping[str, str]) -> None:
    """What an answer takes, task by task, beside the paper's table where it has one."""
    frame = cached(task_costs, view)
    section(
        "What an answer takes, task by task",
        "Means an answer; judges left out. Without a price a cost is unknown; stand-ins have no times and prices.",
    )
    columns = {
        "title": column("Task"),
        "name": column("Model"),
        "n": column("Answers", "count"),
        "calls": column("Calls", "points", "Of the model under test."),
        "prompt_tokens": column("Tokens in", "count", "As the server reports them; simulated models report none."),
        "completion_tokens": column("Tokens out", "count"),
        "latency_s": column("Time", "seconds"),
        "median_s": column("Median", "seconds"),
        "p95_s": column("95th per cent", "seconds", "One in twenty takes longer."),
        "cost_usd": column("Cost", "usd"),
        "total_usd": column("All", "usd"),
    }
    rows = with_labels(frame).with_columns(title=pl.col("task").replace_strict(dict(titles), default=pl.col("task")))
    real = ~pl.col("model").str.starts_with(SIMULATED_PREFIX)
    took = ("latency_s", "median_s", "p95_s", "cost_usd", "total_usd")
    rows = rows.with_columns(pl.when(real).then(pl.col(name)).alias(name) for name in took)
    shown = {name: shape for name, shape in columns.items() if rows[name].drop_nulls().len()}
    show_table(rows, shown, key="task-costs", alt="Time, tokens and cost of an answer by task and model.")
    if table := find_published(view.benchmark, "costs"):
        badge("published")
        st.caption(plain(f"{table.source}. {table.caption}"))
        show_table(table.frame, published_columns(table), key="task-costs-published", alt=table.caption)


def show_repeated(frame: pl.DataFrame, title: str, named: Mapping[str, str]) -> None:
    """How much a figure moves from trial to trial."""
    section(
        f"How much {plain(title)} moves from trial to trial",
        "Each trial's mean is one value; 95 % interval by Student's t over the trials.",
    )
    columns = {
        "name": column("Model"),
        "trials": column("Trials", "count"),
        "mean": column("Mean", "points"),
        "low": column("95 % from", "points"),
        "high": column("to", "points"),
        "lowest": column("Lowest trial", "points"),
        "highest": column("Highest trial", "points"),
    }
    rows = frame.with_columns(name=pl.col("side").replace_strict(dict(named), default=pl.col("side")))
    show_table(rows, columns, key="repeated", alt=f"{title} over the trials.")
