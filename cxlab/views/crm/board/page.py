"""Board: tasks by models and frameworks, floors, questions without an answer, turns and cost, tools taken away."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.charts.matrix import draw_matrix
from cxlab.charts.numbers import format_count, format_interval, format_points
from cxlab.charts.theme import plain as chart_text
from cxlab.read.results.published import PublishedTable
from cxlab.ui.address import cached
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import published_columns
from cxlab.ui.labels import plain, section
from cxlab.ui.place import go
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import declared, published_tables
from cxlab.views.crm.board import figures, queries
from cxlab.views.crm.board.ablation import show_ablation
from cxlab.views.crm.board.figures import Agent, Cell
from cxlab.views.crm.organisation import BENCHMARK
from cxlab.views.crm.place import Place
from cxlab.views.crm.tasks.page import read_samples
from cxlab.views.crm.traces.page import say_empty

_ALL = "all"
_FLOOR = "Best constant answer"
_ROW_PX = 30


def show_board(place: Place) -> None:
    """All parts of the board, of the runs over one dataset."""
    runs = cached(queries.runs, place.dataset)
    if runs.is_empty():
        say_empty(place, "Here you would compare models and frameworks by task, with floors and published figures.")
        _show_published("table2", "What the paper reports")
        return
    agents = figures.agents_of(runs, declared(BENCHMARK).floor_models)
    attempts = cached(queries.scored, tuple(runs["run_id"]))
    parts = {agent: attempts.filter(pl.col("run_id").is_in(ids)) for agent, ids in agents.items()}
    whole = {agent: part for agent, part in parts.items() if not agent.removed}
    tried = set(attempts["sample_id"])
    floors = cached(_find_floors, place.dataset, tuple(sorted(tried)))
    _show_tasks(place, agents, {agent: figures.by_task(part) for agent, part in whole.items()}, floors)
    _show_published("table2", "The same tasks in the paper")
    _show_unanswerable(place, agents, whole)
    _show_spending(whole)
    show_ablation(attempts, agents)
    _show_published("table4", "The same in the paper")


def _find_floors(dataset_id: str, tried: Sequence[str]) -> dict[str, Cell]:
    wanted = set(tried)
    return figures.find_floors([each for each in read_samples(dataset_id) if each.id in wanted])


def _show_tasks(
    place: Place,
    agents: Mapping[Agent, Sequence[str]],
    rows: Mapping[Agent, Mapping[str, Cell]],
    floors: Mapping[str, Cell],
) -> None:
    known = {agent: cells for agent, cells in rows.items() if cells}
    best = max(known, key=lambda agent: known[agent][_ALL].mean, default=None)
    title = "No attempt was scored"
    if best is not None:
        cell = known[best][_ALL]
        title = f"{best.name} reaches {format_points(cell.mean)} over {len(known[best]) - 1} tasks"
    tasks = [task for task in TASKS if any(task in cells for cells in known.values())]
    note = "Exact match, for knowledge questions F1 of words, in points of 100. All is the mean over the tasks, whose "
    note += "interval takes them as independent. The last row gives always the one answer that is right most often. "
    section(plain(title), note + "Click a cell to read its failed attempts.", ["own"])
    _draw(place, "crm-board", agents, known, [*tasks, _ALL], floors, title)


def _draw(
    place: Place,
    key: str,
    agents: Mapping[Agent, Sequence[str]],
    rows: Mapping[Agent, Mapping[str, Cell]],
    tasks: Sequence[str],
    floors: Mapping[str, Cell],
    alt: str,
) -> None:
    """Agents by tasks as a matrix of means, constant answers below; a click leads to the attempts."""
    names = {**{id: task.title for id, task in TASKS.items()}, _ALL: "All"}
    lines: list[tuple[str, Mapping[str, Cell], str]] = [
        (agent.name, cells, agents[agent][-1] if len(agents[agent]) == 1 else "") for agent, cells in rows.items()
    ]
    if floors:
        lines.append((_FLOOR, floors, ""))
    figure = draw_matrix(
        [name for name, _, _ in lines],
        [TASKS[task].short if task in TASKS else "All" for task in tasks],
        [[cells[task].mean if task in cells else None for task in tasks] for _, cells, _ in lines],
        [[format_points(cells[task].mean) if task in cells else "–" for task in tasks] for _, cells, _ in lines],
        [[_hover(name, names[task], cells.get(task)) for task in tasks] for name, cells, _ in lines],
        [
            [[run, "" if task == _ALL else task] if name != _FLOOR and task in cells else None for task in tasks]
            for name, cells, run in lines
        ],
        dark(),
        low=0,
        high=100,
        row_px=_ROW_PX,
    )
    twin = pl.DataFrame(
        [
            {"agent": name, "task": names[task], "mean": cells[task].mean, "interval": _interval(cells[task]),
             "n": cells[task].n, "unscored": cells[task].unscored}
            for name, cells, _ in lines for task in tasks if task in cells
        ]
    )  # fmt: skip
    columns = {
        "agent": column("Agent"), "task": column("Task"), "mean": column("Score", "points"),
        "interval": column("95 % interval"), "n": column("Attempts", "count"),
        "unscored": column("No verdict", "count"),
    }  # fmt: skip
    picked = show_chart(figure, twin, key=key, alt=alt, columns=columns, select=True)
    st.caption(plain(" · ".join(f"{TASKS[task].short}: {TASKS[task].title}" for task in tasks if task in TASKS)))
    if picked and len(picked[0]) == 2:
        run, task = picked[0]
        go(place.change(tab="traces", runs=(run,) if run else (), kind=task, verdict="failed"))


def _interval(cell: Cell) -> str:
    return "–" if math.isnan(cell.low) else format_interval(cell.low, cell.high)


def _hover(agent: str, task: str, cell: Cell | None) -> str:
    if cell is None:
        return f"<b>{chart_text(agent)}</b><br>{chart_text(task)}: not tried"
    interval = "" if math.isnan(cell.low) else f"<br>95 % interval {_interval(cell)}"
    left = f", {format_count(cell.unscored)} without a verdict" if cell.unscored else ""
    told = f"<b>{chart_text(agent)}</b><br>{chart_text(task)} {format_points(cell.mean)}{interval}"
    return f"{told}<br>n {format_count(cell.n)}{left}"


def _find_published(id: str) -> PublishedTable | None:
    return next((each for each in published_tables() if each.benchmark == BENCHMARK and each.id == id), None)


def _show_published(id: str, title: str) -> None:
    """A table of the paper, marked, folded under what it is compared with."""
    table = _find_published(id)
    if table is None:
        return
    section(title, plain(f"{table.source}. {table.caption} Another organisation, other questions."), ["published"])
    frame, columns = table.frame, published_columns(table)
    if "agent" in columns:
        # Who it is says model and framework already; tasks go by their short names, so that all are seen at once.
        short = {task.short.lower(): column(task.short, "points", task.title) for task in TASKS.values()}
        first = ("agent", *([table.metric] if table.metric else []))
        left = [name for name in columns if name not in (*first, "model", "framework")]
        columns = {name: short.get(name, columns[name]) for name in (*first, *left)}
    if table.metric:
        frame = frame.sort(table.metric, descending=True)
    show_table(frame, columns, key=f"crm-{id}", alt=f"{table.table} of the paper.")


def _show_unanswerable(
    place: Place, agents: Mapping[Agent, Sequence[str]], whole: Mapping[Agent, pl.DataFrame]
) -> None:
    rows = {agent: figures.by_task(part.filter(~pl.col("answerable"))) for agent, part in whole.items()}
    known = {agent: cells for agent, cells in rows.items() if cells}
    if not known:
        return
    tasks = [task for task in TASKS if any(task in cells for cells in known.values())]
    share = sum(cells[_ALL].mean for cells in known.values()) / len(known)
    section(
        f"Of questions without an answer {format_points(share)} % are told to have none",
        "The mean over the agents below. Right is to say None; who always says so reaches 100 here and 0 elsewhere.",
        ["own"],
    )
    _draw(place, "crm-unanswerable", agents, known, [*tasks, _ALL], {}, "Scores on questions without an answer.")
    _show_published("table5", "Questions without an answer in the paper")


def _show_spending(whole: Mapping[Agent, pl.DataFrame]) -> None:
    section(
        "What it takes: replies, tokens and cost of an attempt",
        "Means over attempts; the replies of those that passed by their median, least and most. A cost that nobody "
        "reported is unknown.",
        ["own"],
    )
    rows = []
    for agent, part in whole.items():
        if part.is_empty():
            continue
        found = figures.spend(part)
        passed = found.passed
        rows.append(
            {
                "agent": agent.name, "n": part.height, "turns": found.turns.mean if found.turns else None,
                "interval": _interval(found.turns) if found.turns else "–",
                "passed": "–" if passed is None else f"{passed[0]:g} ({passed[1]:g} to {passed[2]:g})",
                "prompt_tokens": found.prompt_tokens, "completion_tokens": found.completion_tokens,
                "cost_usd": found.cost_usd, "latency_s": found.latency_s,
            }
        )  # fmt: skip
    columns = {
        "agent": column("Agent"), "n": column("Attempts", "count"), "turns": column("Replies", "points"),
        "interval": column("95 % interval"), "passed": column("Of those that passed"),
        "prompt_tokens": column("Tokens read", "count"), "completion_tokens": column("Tokens written", "count"),
        "cost_usd": column("Cost", "usd"), "latency_s": column("Time", "seconds"),
    }  # fmt: skip
    if rows:
        show_table(pl.DataFrame(rows), columns, key="crm-spending", alt="Replies, tokens and cost by agent.")
    _show_published("table3", "What it took in the paper")
