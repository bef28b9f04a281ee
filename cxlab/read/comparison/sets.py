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
from functools import cache, cached_property, lru_cache
from typing import Literal, cast

import polars as pl

from cxlab.metrics.complete_sets import largest_complete, shared
from cxlab.read.comparison import score_sums
from cxlab.read.comparison.attempt_facts import join_facts
from cxlab.read.conditions import Conditions, RunConditions, of_runs
from cxlab.read.kept.chosen import choose
from cxlab.read.query import ask, facet, facet_ids
from cxlab.read.results.headlines import candidates, first_scored, has_score
from cxlab.read.sample_clusters import add_cluster
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
    def runs(self) -> frozenset[str]:
        """The runs that the sides' results are of, without those of constant agents."""
        return frozenset(self.results.filter(pl.col("side").is_in(self.sides))["run_id"].unique())


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
    parts = {task: frame for task, frame in parts.items() if frame.height}
    if unit == "run_id":
        return ComparisonSet(None, {task: _task_set(about, view, task, frame, runs, None, unit)
                                    for task, frame in parts.items()}, ())  # fmt: skip
    choices = _choices(about, view, parts, runs)
    if not choices:
        return ComparisonSet(None, {}, ())
    chosen = next((each for each in choices if each.conditions.id in view.sets), choices[0]).conditions
    found = {task: _task_set(about, view, task, frame, runs, chosen, unit) for task, frame in parts.items()}
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
    # Joined before they are cut, as all that is told of a set asks for the facts of the same runs.
    inside = join_facts(task.results).filter(pl.col("side").is_in(task.sides))
    if len(task.sides) < 2 or inside.is_empty():
        return None
    told = inside.group_by(_KEYS).agg(
        scripts=pl.col("script").null_count() == 0,
        same_script=pl.col("script").n_unique() == 1,
        spoke=pl.col("spoke").fill_null(False).all(),
        same_words=pl.col("opening").n_unique() == 1,
    )  # fmt: skip
    told = told.filter(pl.col("scripts") | pl.col("spoke"))
    if told.is_empty():
        return None
    same = pl.when("scripts").then("same_script").otherwise("same_words")
    return Customers(told.height, int(told.select(same.sum()).item()), int(told["scripts"].sum()))


def _tasks_of(about: Declaration, view: View) -> tuple[str, ...]:
    known = tuple(task.id for task in about.card.tasks)
    return tuple(task for task in known if not view.tasks or task in view.tasks) or view.tasks or ("",)


def _results(about: Declaration, view: View, task: str, runs: Mapping[str, RunConditions], unit: Unit) -> pl.DataFrame:
    """All results of a task: side, set (its conditions), sample_id, trial, run_id, attempt_id, model, value, made, and
    metric: the first of the task's candidates (read/results/headlines.py) that anything is scored by."""

    @cache
    def sums(metric: str) -> pl.DataFrame:
        return score_sums.of_attempts(
            view.change(metric=metric, tasks=(task,) if task else (), models=(), without=(), sets=())
        )

    def is_scored(metric: str) -> bool:
        return has_score(about.card.id, task, metric) and bool((sums(metric)["n"] > 0).any())

    metric = first_scored(candidates(about, task, view.metric), is_scored)
    found = one_a_trial(sums(metric), runs, unit).with_columns(metric=pl.lit(metric))
    return found.filter(pl.col("run_id").is_in(view.runs)) if view.runs else found


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
    about: Declaration, view: View, parts: Mapping[str, pl.DataFrame], runs: Mapping[str, RunConditions]
) -> tuple[Choice, ...]:
    """What could be compared under each conditions, the largest complete set first."""
    found: dict[str, list[tuple[bool, int, int, frozenset[str], float]]] = {}
    for frame in parts.values():
        contestants = _contestants(about, view, frame)
        for (key,), part in contestants.group_by("set", maintain_order=True):
            sides, count = _largest(part, view)
            inside = part.filter(pl.col("side").is_in(sides))
            samples = inside.group_by(_KEYS).len().filter(pl.col("len") == len(sides))["sample_id"].n_unique()
            newest = cast("datetime", part["made"].max()).timestamp()
            told = (len(sides) > 1, len(sides) * count, samples, frozenset(part["side"]), newest)
            found.setdefault(str(key), []).append(told)
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


def _contestants(about: Declaration, view: View, frame: pl.DataFrame) -> pl.DataFrame:
    """Without constant agents, unless they are picked by name; and where models are picked, these alone."""
    if view.models:
        return frame.filter(pl.col("model").is_in(view.models))
    return frame.filter(~pl.col("model").is_in(about.floor_models)) if not view.runs else frame


def _largest(part: pl.DataFrame, view: View) -> tuple[tuple[str, ...], int]:
    """The sides of the largest complete set among rows of one conditions, and how many results each has there."""
    by_size = (
        part.group_by("side").agg(n=pl.len(), made=pl.col("made").max()).sort("n", "side", descending=[True, False])
    )
    by_size = by_size.head(_MOST_SIDES)
    sides = by_size["side"].to_list()
    codes = pl.DataFrame({"side": sides, "bit": [1 << place for place in range(len(sides))]},
                         schema={"side": pl.String, "bit": pl.UInt64})  # fmt: skip
    masks = part.join(codes, on="side").group_by(_KEYS).agg(pl.col("bit").sum())
    held = dict(masks.group_by("bit").len().iter_rows())
    if view.models or view.runs:
        # Who was picked is compared with all others that were, as long as they have anything in common.
        together = (1 << len(sides)) - 1
        if count := shared(held, together):
            return tuple(sides), count
    newest = [made.timestamp() for made in by_size["made"]]
    systems, count = largest_complete(held, newest)
    return tuple(side for place, side in enumerate(sides) if systems >> place & 1), count


def _task_set(
    about: Declaration, view: View, task: str, frame: pl.DataFrame, runs: Mapping[str, RunConditions],
    conditions: Conditions | None, unit: Unit,
) -> TaskSet:  # fmt: skip
    here = frame if conditions is None else frame.filter(pl.col("set") == conditions.id)
    contestants = _contestants(about, view, here)
    sides, count = _largest(contestants, view) if contestants.height else ((), 0)
    inside = contestants.filter(pl.col("side").is_in(sides))
    common = inside.group_by(_KEYS).len().filter(pl.col("len") == len(sides)).select(_KEYS)
    kept = (*sides, *(set(about.floor_models) - set(sides) if unit == "model" else ()))
    results = here.filter(pl.col("side").is_in(kept)).join(common, on=list(_KEYS), how="semi")
    known = max(here["sample_id"].n_unique(), _count_samples(about, view, task, conditions))
    held = here.group_by("side").agg(samples=pl.col("sample_id").n_unique(), results=pl.len())
    have = dict(here.join(common, on=list(_KEYS), how="semi").group_by("side").len().iter_rows())
    rows = []
    counts = {side: (samples, results) for side, samples, results in held.iter_rows()}
    everyone = frame.select("side", "model").unique().sort("side")
    told = {each.run if unit == "run_id" else each.model: each.simulated for each in runs.values()}
    for side, model in everyone.iter_rows():
        if side not in sides and (model in about.floor_models or (view.models and model not in view.models)):
            continue
        reason = ""
        if side not in sides:
            reason = (
                _say_lack(have.get(side, 0), count) if side in counts else _say_elsewhere(frame, side, runs, conditions)
            )
        rows.append((side, model, told.get(side, False), *counts.get(side, (0, 0)), side in sides, reason))
    schema = {"side": pl.String, "model": pl.String, "simulated": pl.Boolean, "samples": pl.Int64, "results": pl.Int64,
              "in_set": pl.Boolean, "reason": pl.String}  # fmt: skip
    return TaskSet(
        task,
        str(frame["metric"][0]),
        tuple(sorted(sides)),
        results.select("side", *_KEYS, "run_id", "attempt_id", "value", "nth").sort("side", *_KEYS),
        common["sample_id"].n_unique(),
        count,
        known,
        pl.DataFrame(rows, schema=schema, orient="row"),
        add_cluster(common)["cluster"].n_unique(),
        about.cluster,
    )


def _say_lack(have: int, count: int) -> str:
    return f"has {have:,} of the {count:,} results that the others have"


def _say_elsewhere(
    frame: pl.DataFrame, side: str, runs: Mapping[str, RunConditions], conditions: Conditions | None
) -> str:
    """In what its own conditions differ from those that are compared under, of several the nearest."""
    own = [runs[run].conditions for run in frame.filter(pl.col("side") == side)["run_id"].unique()]
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
