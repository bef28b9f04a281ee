"""What a ranking stands on: one set of conditions, and the samples and trials that all its sides have results of.

* A result is the headline of one attempt (of its turns the mean, where the metric is scored turn by turn). Of several
  runs of the same sample and trial by one model under the same conditions the newest that has a result counts, so a
  run made again counts once.
* A set is complete: each of its sides has a result on each of its samples and trials. The default is the largest
  complete one: the most samples x models (tasks together); sets of two models or more come first, ties go to the
  newest result. `View.sets` picks other conditions, `View.models` other models: then all of these that have any result
  under the conditions are in, on what they have in common.
* Whoever is not in it is named with the reason. Constant agents (floors) are no sides.
* Where single runs are compared (`unit` "run_id") they are the sides whatever their conditions, which are then what is
  compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.metrics.complete_sets import largest_complete, shared
from cxlab.read.comparison.attempt_facts import join_facts
from cxlab.read.comparison.sample_means import ResultRows
from cxlab.read.comparison.side_results import SideResults, is_scored, read_results
from cxlab.read.conditions import Conditions, RunConditions, of_runs
from cxlab.read.kept.chosen import choose
from cxlab.read.kept.numbers import facts, look_up
from cxlab.read.kept.places import places_in
from cxlab.read.query import ask, facet, facet_ids
from cxlab.read.results.headlines import candidates, first_scored, has_score
from cxlab.read.sample_clusters import places_of
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration
from cxlab.records.cluster import Cluster
from cxlab.store import catalogue, layout

Unit = Literal["model", "run_id"]
_MOST_SIDES = 60
_KEYS = ("sample_id", "trial")


@dataclass(frozen=True)
class Choice:
    """Conditions that can be chosen: how many `models` have results under them, `results` of the largest complete set
    in all, the `samples` of it, and when the `newest` run under them was made."""

    conditions: Conditions
    models: int
    results: int
    samples: int
    newest: datetime


@dataclass(frozen=True)
class Customers:
    """Whether the customers of a set said the same to all: of `compared` conversations (sample and trial) `same` began
    alike. By the hash of the script where it is stored (`scripts` of them), else by the customer's first words."""

    compared: int
    same: int
    scripts: int


@dataclass(frozen=True, eq=False)
class TaskSet:
    """What one task is compared on.

    `metric`: by which a sample has a result, the headline where anything is scored by it. `sides`: those in the set.
    `results`: one row a side (floors too, where they have any), sample and trial of it: side, sample_id, trial, run_id,
    attempt_id, value. `samples` and `trials` (samples x trials) all sides have, of `known` samples that the task has
    there; they are from `clusters` situations, as `shared` says what samples share. `coverage`: side, model, simulated,
    samples, results that each has under the conditions, in_set, reason ("" in the set).
    """

    task: str
    metric: str
    sides: tuple[str, ...]
    results: pl.DataFrame
    samples: int
    trials: int
    known: int
    coverage: pl.DataFrame
    clusters: int = 0
    shared: Cluster | None = None

    @cached_property
    def rows(self) -> ResultRows:
        """The results by number."""
        return ResultRows.of(self.results)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The results' values, nan for none."""
        return self.results["value"].to_numpy()

    @cached_property
    def runs(self) -> frozenset[str]:
        """The runs that the sides' results are of, without those of constant agents."""
        rows = self.rows
        return frozenset(places_in("run_id").of_attempts(rows.attempt[rows.of_sides(self.sides)]))


@dataclass(frozen=True)
class ComparisonSet:
    """The conditions that are compared under, None where runs are the sides; a TaskSet for each task with results; and
    what could be chosen instead, the default first."""

    conditions: Conditions | None
    tasks: Mapping[str, TaskSet]
    choices: tuple[Choice, ...]


def find_set(about: Declaration, view: View, unit: Unit = "model") -> ComparisonSet:
    """The comparison set of a view of one benchmark: of its tasks (all of them where none is picked), facets, models,
    runs and chosen conditions; see above."""
    runs = of_runs(about.card.id, about.switches)
    parts = {task: _results(about, view, task, runs, unit) for task in _tasks_of(about, view)}
    parts = {task: rows for task, rows in parts.items() if rows.attempt.size}
    if unit == "run_id":
        return ComparisonSet(None, {task: _task_set(about, view, task, rows, runs, None, unit)
                                    for task, rows in parts.items()}, ())  # fmt: skip
    choices = _choices(about, view, parts, runs)
    if not choices:
        return ComparisonSet(None, {}, ())
    chosen = next((each for each in choices if each.conditions.id in view.sets), choices[0]).conditions
    found = {task: _task_set(about, view, task, rows, runs, chosen, unit) for task, rows in parts.items()}
    return ComparisonSet(chosen, found, choices)


def attempts_of(
    about: Declaration, view: View, found: ComparisonSet, task: TaskSet, unit: Unit = "model"
) -> pl.DataFrame:
    """The attempts behind a set, scored or not, on those samples and trials that all its sides have tried: of models
    (and the floors beside them) under its conditions, the newest of each sample and trial; of runs their own. run_id,
    attempt_id, side, sample_id, trial.

    For what is told of single turns or votes: where judges split there is no score, and leaving that out would flatter.
    """
    picked = task.sides if unit == "run_id" else view.runs
    wanted = view.change(tasks=(task.task,) if task.task else (), models=(), without=(), metric="", runs=picked)
    every = choose(wanted, "run_id", "attempt_id", "sample_id", "trial", "nth", "model")
    every = every.with_columns(side=pl.col(unit)).drop("model")
    runs = of_runs(about.card.id, about.switches)
    made = pl.DataFrame(
        [(run, each.created) for run, each in runs.items() if found.conditions in (None, each.conditions)],
        schema={"run_id": pl.String, "made": pl.Datetime("us", "UTC")}, orient="row",
    )  # fmt: skip
    newest = (
        every.filter(pl.col("side").is_in((*task.sides, *about.floor_models)))
        .join(made, on="run_id")
        .sort("made", "run_id", "attempt_id", descending=True)
        .unique(["side", *_KEYS], keep="first", maintain_order=True)
    )
    inside = newest.filter(pl.col("side").is_in(task.sides))
    common = inside.group_by(_KEYS).len().filter(pl.col("len") == len(task.sides)).select(_KEYS)
    return newest.join(common, on=list(_KEYS), how="semi").drop("made")


def customers_of(task: TaskSet) -> Customers | None:
    """Whether the customers' words were shared by all sides of a set; None where nobody is compared or none spoke."""
    rows = task.rows
    inside = rows.of_sides(task.sides)
    if len(task.sides) < 2 or not inside.any():
        return None
    # Of all results before they are cut, as all that is told of a set asks for the facts of the same runs.
    told, cells = join_facts(task.results).filter(pl.Series(inside)), rows.cells[inside]
    many = int(cells.max()) + 1
    lacking, silent = (
        np.bincount(cells, each.to_numpy(), many) > 0
        for each in (told["script"].is_null(), ~told["spoke"].fill_null(False))
    )
    scripts = (np.bincount(cells, minlength=many) > 0) & ~lacking
    compared = scripts | ((np.bincount(cells, minlength=many) > 0) & ~silent)
    if not compared.any():
        return None
    same = np.where(scripts, _alike(told["script"], cells, many), _alike(told["opening"], cells, many))
    return Customers(int(compared.sum()), int((same & compared).sum()), int((scripts & compared).sum()))


def _alike(hashes: pl.Series, cells: NDArray[np.int64], many: int) -> NDArray[np.bool_]:
    """By cell, whether all of its hashes are the same one, or all missing."""
    values = hashes.fill_null(0).to_numpy()
    most, least = np.zeros(many, dtype=np.uint64), np.full(many, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.maximum.at(most, cells, values)
    np.minimum.at(least, cells, values)
    alike: NDArray[np.bool_] = most == least
    return alike


def _tasks_of(about: Declaration, view: View) -> tuple[str, ...]:
    known = tuple(task.id for task in about.card.tasks)
    return tuple(task for task in known if not view.tasks or task in view.tasks) or view.tasks or ("",)


def _results(about: Declaration, view: View, task: str, runs: Mapping[str, RunConditions], unit: Unit) -> SideResults:
    """All results of a task, by the first of its candidates (read/results/headlines.py) that anything is scored by."""
    wanted = view.change(metric="", tasks=(task,) if task else (), models=(), without=(), sets=())
    metric = first_scored(
        candidates(about, task, view.metric),
        lambda each: has_score(about.card.id, task, each) and is_scored(wanted, each),
    )
    return read_results(wanted, metric, runs, unit)


def one_a_trial(sums: pl.DataFrame, runs: Mapping[str, RunConditions], unit: Unit) -> pl.DataFrame:
    """Sums of attempts as results: the mean of each attempt, and of several runs of one thing the newest."""
    known = pl.DataFrame(
        [(run, each.conditions.id, each.created) for run, each in runs.items()],
        schema={"run_id": pl.String, "set": pl.String, "made": pl.Datetime("us", "UTC")}, orient="row",
    )  # fmt: skip
    return (
        with_values(sums)
        .join(known, on="run_id")
        .with_columns(side=pl.col(unit))
        .sort("made", "run_id", "attempt_id", descending=True)
        .unique(["side", "set", *_KEYS], keep="first", maintain_order=True)
    )


def with_values(sums: pl.DataFrame) -> pl.DataFrame:
    """Sums of attempts that have a score, a row each with its `value`: of turns, or of the whole where no attempt has
    any by turn."""
    scored = sums.filter(pl.col("n") > 0)
    turns = not scored["whole"].all()
    return scored.filter(pl.col("whole") != turns).with_columns(value=pl.col("total") / pl.col("n"))


def _choices(
    about: Declaration, view: View, parts: Mapping[str, SideResults], runs: Mapping[str, RunConditions]
) -> tuple[Choice, ...]:
    """What could be compared under each conditions, the largest complete set first."""
    found: dict[str, list[tuple[bool, int, int, frozenset[str], float]]] = {}
    for rows in parts.values():
        contestants = _contestants(about, view, rows)
        for place in dict.fromkeys(contestants.set.tolist()):
            part = contestants.keep(contestants.set == place)
            sides, count = _largest(part, view)
            inside = part.of_sides(sides)
            samples = np.unique(inside.keep_cells(inside.in_all(len(sides))).sample).size
            told = (len(sides) > 1, len(sides) * count, samples, frozenset(part.found), float(part.made.max()))
            found.setdefault(part.sets[place], []).append(told)
    known = {each.conditions.id: each.conditions for each in runs.values()}

    def size(key: str) -> tuple[bool, int, float]:
        told = found[key]
        compared = [each for each in told if each[0]]
        return bool(compared), sum(each[1] for each in compared or told), max(each[4] for each in told)

    return tuple(
        Choice(known[key], len(frozenset().union(*(each[3] for each in found[key]))), size(key)[1],
               sum(each[2] for each in found[key]), datetime.fromtimestamp(size(key)[2], UTC))
        for key in sorted(found, key=size, reverse=True)
    )  # fmt: skip


def _contestants(about: Declaration, view: View, rows: SideResults) -> SideResults:
    """Without constant agents, unless they are picked by name; and where models are picked, these alone."""
    if view.models:
        return rows.of_models(view.models)
    return rows.of_models(about.floor_models, without=True) if not view.runs else rows


def _largest(part: SideResults, view: View) -> tuple[tuple[str, ...], int]:
    """The sides of the largest complete set among rows of one conditions, and how many results each has there."""
    counts = dict(zip(*(each.tolist() for each in np.unique(part.side, return_counts=True)), strict=True))
    places = sorted(counts, key=lambda place: (-counts[place], part.sides[place]))[:_MOST_SIDES]
    sides = tuple(part.sides[place] for place in places)
    bits = np.zeros(len(part.sides), dtype=np.uint64)
    bits[places] = [1 << bit for bit in range(len(places))]
    # One row a side and cell, so that adding is putting together.
    order = np.argsort(part.cell, kind="stable")
    starts = np.flatnonzero(np.diff(part.cell[order], prepend=-1))
    masks = np.add.reduceat(bits[part.side[order]], starts)
    held = dict(zip(*(each.tolist() for each in np.unique(masks, return_counts=True)), strict=True))
    held.pop(0, None)
    if view.models or view.runs:
        # Who was picked is compared with all others that were, as long as they have anything in common.
        together = (1 << len(sides)) - 1
        if count := shared(held, together):
            return sides, count
    newest = [float(part.made[part.side == place].max()) for place in places]
    systems, count = largest_complete(held, newest)
    return tuple(side for place, side in enumerate(sides) if systems >> place & 1), count


def _task_set(
    about: Declaration, view: View, task: str, every: SideResults, runs: Mapping[str, RunConditions],
    conditions: Conditions | None, unit: Unit,
) -> TaskSet:  # fmt: skip
    here = every if conditions is None else every.of_set(conditions.id)
    contestants = _contestants(about, view, here)
    sides, count = _largest(contestants, view) if contestants.attempt.size else ((), 0)
    inside = contestants.of_sides(sides)
    cells = inside.in_all(len(sides))
    common, shared_by = inside.keep_cells(cells), here.keep_cells(cells)
    kept = (*sides, *(set(about.floor_models) - set(sides) if unit == "model" else ()))
    known = max(np.unique(here.sample).size, _count_samples(about, view, task, conditions))
    rows, counts, have = [], here.count_by_side(), shared_by.count_by_side()
    told = {each.run if unit == "run_id" else each.model: each.simulated for each in runs.values()}
    pairs = np.unique(every.side * len(every.models) + every.model).tolist()
    model_of = {every.sides[pair // len(every.models)]: every.models[pair % len(every.models)] for pair in pairs}
    for side, model in sorted(model_of.items()):
        if side not in sides and (model in about.floor_models or (view.models and model not in view.models)):
            continue
        reason = ""
        if side not in sides:
            lack = _say_lack(have.get(side, (0, 0))[1], count) if side in counts else ""
            reason = lack or _say_elsewhere(every, side, runs, conditions)
        rows.append((side, model, told.get(side, False), *counts.get(side, (0, 0)), side in sides, reason))
    schema = {"side": pl.String, "model": pl.String, "simulated": pl.Boolean, "samples": pl.Int64, "results": pl.Int64,
              "in_set": pl.Boolean, "reason": pl.String}  # fmt: skip
    return TaskSet(
        task,
        every.metric,
        tuple(sorted(sides)),
        _frame(shared_by.of_sides(kept)),
        np.unique(common.sample).size,
        count,
        known,
        pl.DataFrame(rows, schema=schema, orient="row"),
        np.unique(places_of(common.attempt)[1]).size,
        about.cluster,
    )


def _frame(rows: SideResults) -> pl.DataFrame:
    """Results as `TaskSet.results`."""
    rows = rows.keep(np.lexsort((rows.trial, rows.sample, rows.side)))
    told = look_up(facts().select(*_KEYS, "run_id", "attempt_id"), pl.Series(rows.attempt))
    sides = pl.Series("side", rows.sides, dtype=pl.String).gather(rows.side)
    numbers = pl.Series("nth", rows.attempt).cast(pl.UInt32)
    return pl.DataFrame([sides, *told.get_columns(), pl.Series("value", rows.value), numbers])


def _say_lack(have: int, count: int) -> str:
    return f"has {have:,} of the {count:,} results that the others have"


def _say_elsewhere(
    every: SideResults, side: str, runs: Mapping[str, RunConditions], conditions: Conditions | None
) -> str:
    """In what its own conditions differ from those that are compared under, of several the nearest."""
    own = [runs[every.runs[place]].conditions for place in np.unique(every.of_sides((side,)).run)]
    if conditions is None or not own:
        return "no result"
    nearest = min((each.differs(conditions) for each in own), key=lambda apart: (len(apart), apart))
    told = "; ".join(f"{title} {here}, not {there}" for title, here, there in nearest[:3])
    more = len(nearest) - 3
    return f"run under other conditions: {told}" + (f" and {more} more" if more > 0 else "")


def _count_samples(about: Declaration, view: View, task: str, conditions: Conditions | None) -> int:
    """The samples that the stored dataset has of the task, narrowed by the view's facets; 0 where it is not stored."""
    if conditions is None:
        return 0
    return _samples_of(str(layout.home()), catalogue.data_version(), conditions.dataset, about.card.id, task, view)


def _samples_of(home: str, version: str, dataset: str, benchmark: str, task: str, view: View) -> int:
    known = _read_samples(home, version, dataset, benchmark)
    narrowed = [
        pl.col(facet).is_in(values) if facet in known.columns else pl.lit(False) for facet, values in view.facets
    ]  # fmt: skip
    wanted = pl.lit(task == "") | (pl.col("task") == task)
    return known.filter(wanted, ~pl.col("sample_id").is_in(view.without_samples), *narrowed).height


@lru_cache(maxsize=4)
def _read_samples(home: str, version: str, dataset: str, benchmark: str) -> pl.DataFrame:
    """The samples that a dataset has of a benchmark: sample_id, task, and a column a facet."""
    columns = "".join(f", {facet(name, 's')} AS {name}" for name in facet_ids() if name != "task")
    return ask(
        f"SELECT sample_id, task{columns} FROM samples s WHERE dataset_id = $dataset AND benchmark = $benchmark",
        {"dataset": dataset, "benchmark": benchmark},
    )
