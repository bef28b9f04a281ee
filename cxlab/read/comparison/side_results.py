"""All results of a task as numbers, a row a side, conditions, sample and trial: in them comparison sets are found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cxlab.read.comparison.score_sums import by_number
from cxlab.read.conditions import RunConditions
from cxlab.read.kept.chosen import passes
from cxlab.read.kept.numbers import facts
from cxlab.read.kept.places import places_in
from cxlab.read.sample_clusters import places_of
from cxlab.read.view import View

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SideResults:
    """Of each row the place of its side, conditions (`set`), run and model among their names, and of its sample in the
    order of ids; its trial, and the cell that sample and trial make; its attempt's number, its value, and when its run
    was made."""

    metric: str
    sides: Sequence[str]
    sets: Sequence[str]
    runs: Sequence[str]
    models: Sequence[str]
    side: Places
    set: Places
    run: Places
    model: Places
    sample: Places
    trial: Places
    cell: Places
    attempt: Places
    value: NDArray[np.float64]
    made: NDArray[np.float64]

    def keep(self, rows: NDArray[Any]) -> "SideResults":
        """These rows."""
        columns = ((each.name, getattr(self, each.name)) for each in fields(self))
        return replace(self, **{name: held[rows] for name, held in columns if isinstance(held, np.ndarray)})

    def of_sides(self, sides: Sequence[str]) -> "SideResults":
        """The rows of these sides."""
        return self.keep(self.is_of(self.side, self.sides, sides))

    def of_models(self, models: Sequence[str], without: bool = False) -> "SideResults":
        """The rows of these models, or of all others."""
        return self.keep(self.is_of(self.model, self.models, models) ^ without)

    def of_set(self, id: str) -> "SideResults":
        """The rows under these conditions."""
        return self.keep(self.is_of(self.set, self.sets, (id,)))

    @staticmethod
    def is_of(places: Places, names: Sequence[str], wanted: Sequence[str]) -> NDArray[np.bool_]:
        """Which rows have one of the names wanted."""
        known = set(wanted)
        return np.array([name in known for name in names], dtype=bool)[places]

    @cached_property
    def found(self) -> tuple[str, ...]:
        """The sides that have any row, by name."""
        return tuple(self.sides[place] for place in np.unique(self.side))

    def count_by_side(self) -> dict[str, tuple[int, int]]:
        """Of each side that has any row how many samples and how many results it has."""
        many = int(self.sample.max(initial=0)) + 1
        samples = np.bincount(np.unique(self.side * many + self.sample) // many, minlength=len(self.sides))
        results = np.bincount(self.side, minlength=len(self.sides))
        told = zip(self.sides, samples.tolist(), results.tolist(), strict=True)
        return {side: (tried, held) for side, tried, held in told if held}

    def in_all(self, many: int) -> NDArray[np.bool_]:
        """By cell, whether so many rows are of it: all of so many sides."""
        counts: NDArray[np.bool_] = np.bincount(self.cell, minlength=int(self.cell.max(initial=-1)) + 1) == many
        return counts

    def keep_cells(self, cells: NDArray[np.bool_]) -> "SideResults":
        """The rows of these cells; `cells` may be of fewer rows than these."""
        known = np.zeros(int(self.cell.max(initial=-1)) + 1, dtype=bool)
        known[: len(cells)] = cells[: len(known)]
        return self.keep(known[self.cell])


def is_scored(view: View, metric: str) -> bool:
    """Whether any attempt under a view has a score by a metric."""
    inside, turns, whole = _look_at(view, metric)
    return bool((inside & ~(np.isnan(turns) & np.isnan(whole))).any())


def read_results(
    view: View, metric: str, runs: Mapping[str, RunConditions], unit: Literal["model", "run_id"]
) -> SideResults:
    """The results under a view by a metric: of turns, or of the whole where no attempt has any by turn; of several runs
    of one thing the newest."""
    inside, turns, whole = _look_at(view, metric)
    values = turns if (inside & ~np.isnan(turns)).any() else whole
    by_run, by_model, by_id = (places_in(column) for column in ("run_id", "model", "attempt_id"))
    names = by_run.values.to_list()
    sets = sorted({each.conditions.id for each in runs.values()})
    known = [runs.get(name) for name in names]
    set_of = np.array([-1 if each is None else sets.index(each.conditions.id) for each in known], dtype=np.int64)
    made_of = np.array([0.0 if each is None else each.created.timestamp() for each in known])
    order_of = np.argsort(np.lexsort((np.arange(len(names)), made_of)))  # ids in their order where made at one time
    attempt = np.flatnonzero(inside & ~np.isnan(values))
    run = by_run.places[attempt]
    attempt, run = attempt[set_of[run] >= 0], run[set_of[run] >= 0]
    newest = np.lexsort((by_id.places[attempt], order_of[run]))[::-1]
    attempt, run = attempt[newest], run[newest]
    model, sample = by_model.places[attempt], places_of(attempt)[0]
    side, sides = (model, by_model.values.to_list()) if unit == "model" else (run, names)
    trial = facts()["trial"].fill_null(-1).to_numpy().astype(np.int64)[attempt]
    cell = np.unique(sample * (int(trial.max(initial=0)) + 2) + trial + 1, return_inverse=True)[1]
    many = int(cell.max(initial=0)) + 1
    first = np.sort(np.unique((side * len(sets) + set_of[run]) * many + cell, return_index=True)[1])
    every = SideResults(
        metric, sides, sets, names, by_model.values.to_list(), side, set_of[run], run, model, sample, trial, cell,
        attempt, values[attempt], made_of[run],
    )  # fmt: skip
    return every.keep(first)


def _look_at(view: View, metric: str) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    turns, whole = by_number(metric, view.runs)
    lets_through = passes(view).to_numpy()
    inside = np.zeros(len(turns), dtype=bool)
    inside[: len(lets_through)] = lets_through[: len(turns)]
    return inside, turns, whole
