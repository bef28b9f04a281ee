"""Which runs of a benchmark stand against each other where nobody has picked them all."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import polars as pl

from cxlab.metrics.complete_sets import largest_complete
from cxlab.read.conditions import RunConditions, of_runs
from cxlab.read.query import ask, where
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration

MOST_RUNS = 6
_MOST_LOOKED_AT = 60


@dataclass(frozen=True)
class RunChoice:
    """The `runs` to compare, those that were picked first, and (run, why) of the others of the same dataset."""

    runs: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()


def choose_runs(about: Declaration, view: View) -> RunChoice:
    """The runs that the view picks and those to set beside them, six at most; of its models if it picks any.

    Without constant agents and what was only judged again, of one dataset: that of the runs picked, else of the newest.
    Of these the largest complete set (most runs x results) that has the picked ones in it, so that a small run shrinks
    nobody else's comparison unless it was picked. Where that is more than six, first the newest run of each picked
    model, then the newest.
    """
    known = of_runs(about.card.id, about.switches)
    picked = [known[run] for run in view.runs if run in known]
    usable = [
        each for each in known.values()
        if each.model not in about.floor_models and not each.again and (not view.models or each.model in view.models)
    ]  # fmt: skip
    usable.sort(key=lambda each: (each.created, each.run), reverse=True)
    first = next(iter([*picked, *usable]), None)
    if first is None:
        return RunChoice(())
    dataset = first.conditions.dataset
    others = [each for each in usable if each not in picked and each.conditions.dataset == dataset]
    others = others[: max(0, _MOST_LOOKED_AT - len(picked))]
    every = [*picked, *others]
    tried = _read_tried(about, view, [each.run for each in every])
    together, count = _find_complete(tried, every, {each.run for each in picked})
    fit = [each for each in others if each.run in together]
    # Of a model's several runs the newest first, those of the picked models before all others.
    models = {each.model for each in picked}
    newest = [next(each for each in fit if each.model == model) for model in dict.fromkeys(each.model for each in fit)]
    newest.sort(key=lambda each: each.model not in models)
    chosen = list(dict.fromkeys([*picked, *newest, *fit]))[: max(MOST_RUNS, len(picked))]
    own = dict(tried.group_by("run_id").len().iter_rows())
    left_out = [
        (each.run, "older" if each.run in together else f"tried {own.get(each.run, 0):,}, not all of these {count:,}")
        for each in others if each not in chosen
    ]  # fmt: skip
    return RunChoice(tuple(each.run for each in chosen), tuple(left_out))


def _read_tried(about: Declaration, view: View, runs: Sequence[str]) -> pl.DataFrame:
    """What runs tried, with the view's tasks and facets: run_id, sample_id, trial."""
    wanted = View(about.card.id, tuple(runs), tasks=view.tasks, facets=view.facets)
    condition, params = where(wanted)
    return ask(f"SELECT DISTINCT run_id, sample_id, trial FROM attempts WHERE {condition}", params)


def _find_complete(tried: pl.DataFrame, runs: Sequence[RunConditions], picked: Set[str]) -> tuple[Set[str], int]:
    """The runs of the largest complete set with all of the picked ones in it, and how much each of these tried; none
    where the picked ones share nothing."""
    codes = pl.DataFrame({"run_id": [each.run for each in runs], "bit": [1 << place for place in range(len(runs))]},
                         schema={"run_id": pl.String, "bit": pl.UInt64})  # fmt: skip
    masks = tried.join(codes, on="run_id").group_by("sample_id", "trial").agg(pl.col("bit").sum())
    needed = sum(1 << place for place, each in enumerate(runs) if each.run in picked)
    held = {mask: count for mask, count in masks.group_by("bit").len().iter_rows() if mask & needed == needed}
    systems, count = largest_complete(held, [each.created.timestamp() for each in runs])
    return {each.run for place, each in enumerate(runs) if systems >> place & 1}, count
