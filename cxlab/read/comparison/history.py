"""A headline over time: the runs of a comparison set one by one, identical ones once."""

from typing import Any

import polars as pl

from cxlab.metrics.intervals import clustered_interval
from cxlab.read.comparison import score_sums
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.sets import Unit, with_values
from cxlab.read.conditions import Conditions, of_runs
from cxlab.read.sample_clusters import add_cluster
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration

HISTORY: dict[str, Any] = {
    "run_id": pl.String, "model": pl.String, "conditions": pl.String, "created": pl.Datetime("us", "UTC"),
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "samples": pl.Int64, "of": pl.Int64, "runs": pl.Int64,
}  # fmt: skip


def headline_history(
    about: Declaration, view: View, found: Ranking, conditions: Conditions | None, unit: Unit
) -> pl.DataFrame:
    """The runs behind a ranking by when they were made, as HISTORY: of its models under the set's conditions; of runs
    that are compared these alone, whatever theirs are.

    value: the mean over those of the set's samples that the run has (`samples` of `of`), of each its trials' mean.
    Runs of one model under the same conditions with the same values throughout are one, made when the first was; `runs`
    counts them. What was only judged again with the same outcome is such a run.
    """
    compared = found.compared
    known = of_runs(about.card.id, about.switches)
    sides = set(compared.sides)
    wanted = {
        run for run, each in known.items()
        if (run in sides if unit == "run_id" else each.model in sides and each.conditions == conditions)
    }  # fmt: skip
    tasks = (compared.task,) if compared.task else ()
    sums = score_sums.of_attempts(
        view.change(metric=found.task.metric, tasks=tasks, models=(), without=(), sets=(), runs=())
    )
    samples = compared.results["sample_id"].unique().implode()
    rows = with_values(sums.filter(pl.col("run_id").is_in(wanted) & pl.col("sample_id").is_in(samples)))
    made = {run: (each.created, run) for run, each in known.items()}
    scale, told = about.card.scale(found.task.metric), dict[tuple[Any, ...], dict[str, Any]]()
    parts = rows.sort("sample_id", "trial").partition_by("run_id", as_dict=True)
    for run, part in sorted(((str(key[0]), part) for key, part in parts.items()), key=lambda each: made[each[0]]):
        about_run = known[run]
        means = add_cluster(part.group_by("sample_id").agg(pl.col("value").mean()).sort("sample_id"))
        outcome = part.select(pl.struct("sample_id", "trial", pl.col("value").round(9)).hash(seed=1).sum()).item()
        same = (about_run.model, about_run.conditions.id, part.height, outcome)
        if same in told:
            told[same]["runs"] += 1
            continue
        mean = clustered_interval(means["value"].to_numpy(), means["cluster"].to_numpy(), scale)
        told[same] = {
            "run_id": run, "model": about_run.model, "conditions": about_run.conditions.id,
            "created": about_run.created, "value": mean.mean, "low": mean.low, "high": mean.high, "samples": mean.n,
            "of": compared.samples, "runs": 1,
        }  # fmt: skip
    return pl.DataFrame(list(told.values()), schema=HISTORY, orient="row").fill_nan(None)
