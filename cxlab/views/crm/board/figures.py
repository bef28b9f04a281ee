"""What agents reach on each task, by model and framework: figures for the board, from scored attempts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.answers import best_constant, f1
from cxlab.benchmarks.crmarena.options import FRAMEWORKS
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.metrics.intervals import clustered_interval
from cxlab.records import Sample
from cxlab.ui.labels import label
from cxlab.views.crm.board.queries import name_framework, read_options

SCALE = (0.0, 100.0)


@dataclass(frozen=True)
class Agent:
    """A model in a framework, told more or not; `removed`: what was taken away of its tools, "" for none."""

    model: str
    framework: str
    aided: bool = False
    removed: str = ""

    @property
    def name(self) -> str:
        """ "strong · simulated, ReAct, aided"."""
        return ", ".join([label(self.model), name_framework(self.framework), *(["aided"] if self.aided else [])])


@dataclass(frozen=True)
class Cell:
    """A mean with its 95 % interval over `n` attempts; `unscored` are not in it."""

    mean: float
    low: float
    high: float
    n: int
    unscored: int = 0


def agents_of(runs: pl.DataFrame, floors: Iterable[str] = ()) -> dict[Agent, tuple[str, ...]]:
    """Agent → its runs, by model and framework; constant agents (`floors`) are left out."""
    found: dict[Agent, list[str]] = {}
    left = set(floors)
    for row in runs.sort("model", "created").iter_rows(named=True):
        if row["model"] not in left:
            found.setdefault(_agent(row["model"], read_options(row["setup"])), []).append(row["run_id"])
    places = {name: place for place, name in enumerate(FRAMEWORKS)}
    ordered = sorted(found, key=lambda each: (each.model, places.get(each.framework, 9), each.aided, each.removed))
    return {agent: tuple(found[agent]) for agent in ordered}


def _agent(model: str, options: Mapping[str, Any]) -> Agent:
    ablation = options.get("toolset") == "ablation"
    removed = str(options.get("removed") or "all") if ablation else ""
    return Agent(model, str(options.get("framework") or "function_calling"), bool(options.get("aided")), removed)


def by_task(attempts: pl.DataFrame) -> dict[str, Cell]:
    """Task → mean score of an agent's attempts, clustered by question; "all" → the mean over the tasks that it has.

    The interval of "all" takes the tasks as independent: its half-widths are the roots of their summed squares, through
    their number.
    """
    found = {}
    for task in TASKS:
        part = attempts.filter(pl.col("task") == task)
        if cell := measure(part, "score", SCALE):
            found[task] = cell
    if found:
        found["all"] = _mean(list(found.values()))
    return found


def measure(attempts: pl.DataFrame, name: str, bounds: tuple[float, float] | None = None) -> Cell | None:
    """The mean of one column over attempts, clustered by question; None where no attempt has a value."""
    known = attempts.filter(pl.col(name).is_not_null()) if attempts.height else attempts
    if known.is_empty():
        return None
    got = clustered_interval(known[name].to_numpy(), known["sample_id"].to_numpy(), bounds)
    return Cell(got.mean, got.low, got.high, got.n, attempts.height - known.height)


def _mean(cells: Sequence[Cell]) -> Cell:
    count = len(cells)
    mean = sum(each.mean for each in cells) / count
    below = math.sqrt(sum((each.mean - each.low) ** 2 for each in cells)) / count
    above = math.sqrt(sum((each.high - each.mean) ** 2 for each in cells)) / count
    n, unscored = sum(each.n for each in cells), sum(each.unscored for each in cells)
    return Cell(mean, max(0.0, mean - below), min(100.0, mean + above), n, unscored)


def find_floors(samples: Iterable[Sample]) -> dict[str, Cell]:
    """Task → what the best constant answer reaches on these questions; "all" → the mean over the tasks.

    For knowledge questions it is the gold answer with the highest mean F1 against all of them.
    """
    golds: dict[str, list[str | None]] = {}
    for sample in samples:
        golds.setdefault(sample.task, []).append(sample.expected.get("answer"))
    found = {}
    for task in TASKS:
        if task in golds:
            known = golds[task]
            fuzzy = TASKS[task].metric == "fuzzy_match"
            share = 100 * (max(_mean_f1(each, known) for each in set(known)) if fuzzy else best_constant(known)[1])
            found[task] = Cell(share, math.nan, math.nan, len(golds[task]))
    if found:
        mean = sum(each.mean for each in found.values()) / len(found)
        found["all"] = Cell(mean, math.nan, math.nan, sum(each.n for each in found.values()))
    return found


def _mean_f1(answer: str | None, golds: Sequence[str | None]) -> float:
    return sum(f1(answer, gold) for gold in golds) / len(golds)


@dataclass(frozen=True)
class Spending:
    """What an agent takes an attempt: replies, those of attempts that passed (median, least and most), tokens, cost."""

    turns: Cell | None
    passed: tuple[float, float, float] | None
    prompt_tokens: float | None
    completion_tokens: float | None
    cost_usd: float | None
    latency_s: float | None


def spend(attempts: pl.DataFrame) -> Spending:
    """The means of an agent's attempts; a cost that nobody reported is unknown."""
    turns = attempts.filter(pl.col("passed") & pl.col("turns").is_not_null())["turns"]
    spread = (_float(turns.median()), _float(turns.min()), _float(turns.max())) if len(turns) else None
    whole = {}
    for name in ("prompt_tokens", "completion_tokens", "cost_usd", "latency_s"):
        column = attempts[name]
        whole[name] = None if column.null_count() or column.is_empty() else _float(column.mean())
    return Spending(measure(attempts, "turns"), spread, **whole)


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
