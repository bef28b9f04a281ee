"""The leaderboard of a benchmark with several tasks: no mean over them, each task has its own order."""

from collections.abc import Mapping

import polars as pl
import streamlit as st

from cxlab.charts.compare import draw_scores
from cxlab.charts.theme import short_model
from cxlab.read import View, published
from cxlab.read.tasks import task_costs
from cxlab.ui.address import cached, marks
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import published_columns, with_labels
from cxlab.ui.labels import badge, label, plain, section
from cxlab.ui.labels import title as title_of
from cxlab.ui.tables import column, show_chart, show_table


def show_task_board(
    benchmark: str, board: pl.DataFrame, scores: pl.DataFrame, titles: Mapping[str, tuple[str, str, str]]
) -> tuple[str, str] | None:
    """Chart and table; `titles`: task → (title, metric, what the metric is). Returns a picked (model, task or "").

    `board` is the benchmark's part of `read.leaderboard`, `scores` is `read.tasks.task_board`.
    """
    known = {task: words for task, words in titles.items() if task in set(scores["task"])}
    finding = _find_leader(scores)
    section(
        f"{label(benchmark)}: {finding}",
        "Each task by its own main figure with a 95 % interval, clustered by sample; figures of different tasks are "
        "not to be compared. Pick a model to see its failures.",
        badges=["own", "simulated"] if board["simulated"].any() else ["own"],
    )
    if scores.is_empty():
        return None
    names = {task: f"{title} ({label(metric)})" for task, (title, metric, _) in known.items()}
    frame = scores.rename({"model": "side", "task": "grp"})
    figure = draw_scores(frame, "", "Main figure of the task, points of 100", names, marks(), dark())
    alt = f"Main figure of each task by model: {finding}."
    points = show_chart(figure, scores, key=f"board-{benchmark}", alt=alt, select=True, table=False)
    wide = with_labels(board)
    for task in known:
        part = scores.filter(pl.col("task") == task).select("model", pl.col("mean").alias(task))
        wide = wide.join(part, on="model", how="left")
    columns = {"name": column("Model")}
    columns |= {task: column(title_of(task), "points", f"{title}: {metric}, {meaning}")
                for task, (title, metric, meaning) in known.items()}  # fmt: skip
    columns |= {
        "attempts": column("Answers", "count", "n: finished attempts over all tasks."),
        "latency_s": column("Time", "seconds", "Mean of an answer."),
        "cost_usd": column("Cost", "usd", "Mean of an answer, judges left out; empty when no price is noted."),
    }
    rows = show_table(
        wide.sort(list(known), descending=True, nulls_last=True), columns, key=f"board-table-{benchmark}",
        alt=f"Main figure of each task of {label(benchmark)} by model.", select="single",
    )  # fmt: skip
    if rows:
        return str(rows[0]["model"]), ""
    return (str(points[0][1]), str(points[0][0])) if points else None


def show_costs(view: View, titles: Mapping[str, str]) -> None:
    """What an answer takes, task by task, beside the paper's table where it has one."""
    frame = cached(task_costs, view)
    section(
        "What an answer takes, task by task", "Means an answer; judges left out. Without a price a cost is unknown."
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
    shown = {name: shape for name, shape in columns.items() if rows[name].drop_nulls().len()}
    show_table(rows, shown, key="task-costs", alt="Time, tokens and cost of an answer by task and model.")
    if table := next((each for each in published(view.benchmark) if each.id == "table10"), None):
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


def _find_leader(scores: pl.DataFrame) -> str:
    """Who leads alone in most tasks; a shared first place is nobody's."""
    leaders: list[str] = []
    tasks = 0
    for _, part in scores.group_by("task", maintain_order=True):
        best = part.filter(pl.col("mean") == pl.col("mean").max())
        tasks += 1
        leaders += best["model"].to_list() if best.height == 1 else []
    if not tasks:
        return "nothing has been scored yet"
    if not leaders:
        return "nobody leads in any task"
    most = max(dict.fromkeys(leaders), key=leaders.count)
    return f"{plain(short_model(most))} leads in {leaders.count(most)} of {tasks} tasks"
