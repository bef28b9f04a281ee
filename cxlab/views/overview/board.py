"""The leaderboard of one benchmark: each task by its own headline, success by stored verdicts, floors as lines."""

from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.charts.board import Floor, draw_board, find_leader
from cxlab.charts.compare import draw_scores
from cxlab.charts.theme import short_model
from cxlab.read import View
from cxlab.read.tasks import task_board
from cxlab.records.benchmark_card import Declaration, Task
from cxlab.ui.address import cached, marks
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import with_labels
from cxlab.ui.labels import Badge, label, plain, section, title
from cxlab.ui.tables import Kind, column, show_chart, show_table

Picked = tuple[str, str] | None
"""A model, and a task or "", that was clicked."""
_KINDS: dict[str, Kind] = {"points": "points", "percent": "percent", "ratio": "ratio", "seconds": "seconds"}


def show_board(about: Declaration) -> Picked:
    """Chart and table of the benchmark's models; what was picked in either."""
    view, card = View(benchmark=about.card.id), about.card
    tasks = {task.id: task for task in card.tasks}
    if len(tasks) > 1:
        scores = cached(task_board, view, {task.id: task.metric for task in card.tasks})
        tasks = {id: task for id, task in tasks.items() if id in set(scores["task"])}
        if len(tasks) != 1:
            return _show_tasks(about, cached(read.leaderboard, view, ()), scores, tasks)
    task = next(iter(tasks.values()), None)
    metrics = tuple(dict.fromkeys([task.metric, *card.leading])) if task else ()
    return _show_one(about, cached(read.leaderboard, view, metrics, bool(task and not task.higher_is_better)), task)


def _show_one(about: Declaration, board: pl.DataFrame, task: Task | None) -> Picked:
    """A benchmark with one task, or with none that is known: then verdicts alone rank."""
    card, ranked = about.card, _without_floors(about, board)
    if task is None:
        section(f"{plain(card.name)}: success by stored verdicts", _NOTE, badges=_badges(board))
        return _show_table(about, board, {})
    finding = plain(find_leader(ranked, task.metric, not task.higher_is_better))
    section(f"{plain(card.name)}: {finding}", f"Mean {_INTERVALS} {_NOTE}", badges=_badges(board))
    name, scale = title(task.metric), card.scale(task.metric)
    floors = _floors(about, board, task.metric)
    figure = draw_board(ranked, task.metric, marks(), dark(), name, floors, scale)
    alt = f"{name} with 95 % interval of {ranked.height} models: {finding}."
    points = show_chart(figure, board, key=f"board-{card.id}", alt=alt, select=True, table=False)
    board = board.with_columns(
        interval=pl.format("{} to {}", pl.col(f"{task.metric}_low").round(1), pl.col(f"{task.metric}_high").round(1))
    )
    columns = {
        task.metric: column(name, _KINDS.get(task.unit, "points"), card.metrics.get(task.metric)),
        "interval": column("95 % interval", help="Clustered by sample, Student's t."),
    }
    columns |= {
        each: column(title(each), "points", card.metrics.get(each)) for each in card.leading if each != task.metric
    }
    return _show_table(about, board, columns) or ((str(points[0][0]), "") if points else None)


def _show_tasks(about: Declaration, board: pl.DataFrame, scores: pl.DataFrame, tasks: Mapping[str, Task]) -> Picked:
    """A benchmark of several tasks: no mean over them, each task has its own order."""
    card = about.card
    ranked = scores.filter(~pl.col("model").is_in(about.floor_models))
    finding = _find_leader(ranked, tasks)
    section(
        f"{plain(card.name)}: {finding}",
        f"Each task by its own main figure {_INTERVALS} Figures of different tasks are not to be compared. {_NOTE}",
        badges=_badges(board),
    )
    if scores.is_empty():
        return _show_table(about, board, {})
    names = {id: f"{task.title} ({label(task.metric)})" for id, task in tasks.items()}
    floors = scores.filter(pl.col("model").is_in(about.floor_models)).select(
        grp="task", value="mean", name=pl.col("model").replace({each.model: each.name for each in about.floors})
    )
    frame = ranked.rename({"model": "side", "task": "grp"})
    figure = draw_scores(
        frame, (0.0, 100.0), "Main figure of the task, points of 100", names, marks(), dark(), None, floors
    )
    alt = f"Main figure of each task by model: {finding}."
    points = show_chart(figure, scores, key=f"board-{card.id}", alt=alt, select=True, table=False)
    for id in tasks:
        part = scores.filter(pl.col("task") == id).select("model", pl.col("mean").alias(id))
        board = board.join(part, on="model", how="left")
    columns = {id: column(title(id), _KINDS.get(task.unit, "points"), _tell(about, task)) for id, task in tasks.items()}
    falling = [task.higher_is_better for task in tasks.values()]
    board = board.sort(list(tasks), descending=falling, nulls_last=True)
    return _show_table(about, board, columns) or ((str(points[0][1]), str(points[0][0])) if points else None)


_INTERVALS = "with 95 % intervals, clustered by sample."
_NOTE = "Compare tests whether a difference is real. Pick a model to see its failures."


def _show_table(about: Declaration, board: pl.DataFrame, figures: Mapping[str, object]) -> Picked:
    """One row a model, floors at the foot."""
    card = about.card
    one, many = card.unit
    named = with_labels(board)
    if about.floors:
        words = {floor.model: floor.name for floor in about.floors}
        named = named.with_columns(
            name=pl.col("model").replace_strict(words, default=pl.col("name")), floor=pl.col("model").is_in(list(words))
        ).sort("floor", maintain_order=True)
    passed = f"Of the {many} that passed or failed, by the verdict stored with each; not scored ones are left out."
    columns = {
        "name": column("Model"),
        **figures,
        "success": column("Passed", "share", passed),
        "unscored": column("Not scored", "count", f"{many.capitalize()} that neither passed nor failed."),
        "attempts": column(many.capitalize(), "count", f"n: finished {many}."),
        "latency_s": column("Time", "seconds", f"Mean of one {one}."),
        "cost_usd": column("Cost", "usd", f"Mean of one {one}, judges left out; empty when no price is noted."),
    }
    rows = show_table(
        named, columns, key=f"board-table-{card.id}", alt=f"Models on {card.name}, the best first.", select="single"
    )
    if about.floors and any(named["floor"]):
        st.caption("Floors are constant agents. They are not ranked: " + plain("; ".join(_meanings(about, named))))
    return (str(rows[0]["model"]), "") if rows else None


def _meanings(about: Declaration, board: pl.DataFrame) -> list[str]:
    return [
        f"{floor.title}: {floor.meaning.rstrip('.')}" for floor in about.floors if floor.model in set(board["model"])
    ]


def _tell(about: Declaration, task: Task) -> str:
    return f"{task.title}: {task.metric}, {about.card.metrics.get(task.metric, 'no definition is noted')}"


def _without_floors(about: Declaration, board: pl.DataFrame) -> pl.DataFrame:
    return board.filter(~pl.col("model").is_in(about.floor_models))


def _floors(about: Declaration, board: pl.DataFrame, metric: str) -> Sequence[Floor]:
    titles = {floor.model: floor.title for floor in about.floors}
    known = board.filter(pl.col("model").is_in(list(titles)) & pl.col(metric).is_not_null())
    return [(titles[model], value) for model, value in known.select("model", metric).iter_rows()]


def _badges(board: pl.DataFrame) -> list[Badge]:
    return ["own", "simulated"] if board["simulated"].any() else ["own"]


def _find_leader(scores: pl.DataFrame, tasks: Mapping[str, Task]) -> str:
    """Who leads alone in most tasks; a shared first place is nobody's."""
    leaders: list[str] = []
    count = 0
    for (name,), part in scores.group_by("task", maintain_order=True):
        best = part["mean"].max() if tasks[str(name)].higher_is_better else part["mean"].min()
        first = part.filter(pl.col("mean") == best)
        count += 1
        leaders += first["model"].to_list() if first.height == 1 else []
    if not count:
        return "nothing has been scored yet"
    if not leaders:
        return "nobody leads in any task"
    most = max(dict.fromkeys(leaders), key=leaders.count)
    return f"{plain(short_model(most))} leads in {leaders.count(most)} of {count} tasks"
