"""Constant agents beside single runs: not among the runs that are compared, but on their samples."""

from dataclasses import replace

import polars as pl

from cxlab.read.comparison import ranking, score_sums
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.sets import one_a_trial
from cxlab.read.conditions import of_runs
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration


def with_floors(about: Declaration, view: View, found: Ranking) -> Ranking:
    """A ranking of runs with the constant agents beside it."""
    return replace(found, floors=_floors_beside(about, view, found))


def _floors_beside(about: Declaration, view: View, found: Ranking) -> pl.DataFrame:
    """What constant agents come to on the samples of runs that are compared, under the conditions of any of these; as
    `Ranking.floors`. A constant agent whose run is compared is no floor then."""
    known = of_runs(about.card.id, about.switches)
    compared = found.compared.results
    own = {known[run].conditions.id for run in compared["run_id"].unique() if run in known}
    floors = set(about.floor_models) - {known[run].model for run in view.runs if run in known}
    wanted = view.change(
        runs=(), models=tuple(sorted(floors)), without=(), sets=(), metric=found.task.metric,
        tasks=(found.compared.task,) if found.compared.task else (),
    )  # fmt: skip
    results = one_a_trial(score_sums.of_attempts(wanted), known, "model").filter(
        pl.col("set").is_in(own) & pl.col("side").is_in(floors)
    )
    keys = ["sample_id", "trial"]
    samples = ranking.by_sample(results.join(compared.select(keys).unique(), on=keys, how="semi"))
    return ranking.name_floors(about, ranking.summarise(samples, about.card.scale(found.task.metric)), found.table)
