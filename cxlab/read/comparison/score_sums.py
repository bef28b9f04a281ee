"""Sums of one metric by attempt: what all comparisons of a page are made from, so that the scores are read once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.metrics.intervals import Bounds
from cxlab.read.clusters import add_bounds
from cxlab.read.kept.chosen import keep, keep_these
from cxlab.read.kept.numbers import column_of, count, facts, look_up, number
from cxlab.read.query import ask, left_out_runs, where
from cxlab.read.sample_clusters import add_cluster
from cxlab.read.view import View
from cxlab.store import catalogue, layout


@dataclass(frozen=True)
class FullScore:
    """What an attempt at a task loses points against: the task's main figure and the best value it can have."""

    benchmark: str
    task: str
    metric: str
    best: float


def of_attempts(view: View, by: Sequence[str] = ()) -> pl.DataFrame:
    """The view's metric by attempt: run_id, attempt_id, trial, model, sample_id, task, whole, n, total, unscored, nth
    (numbers.py); and the facets that `by` names.

    `whole`: the scores of the attempt, else those of its turns; `n` scores make up `total`.
    """
    found = keep(_sums_of(view.runs, view.metric), view)
    taken = [name for name in dict.fromkeys(by) if name not in _ABOUT]
    about = look_up(_columns(*_ABOUT, *map(column_of, taken)), found["nth"])
    return found.hstack(about.select(_ABOUT)).hstack(_pick_facets(about, taken)).select(
        *_ABOUT, "whole", "n", "total", "unscored", "nth", *taken
    )  # fmt: skip


_ABOUT = ("run_id", "attempt_id", "trial", "model", "sample_id", "task")


def _columns(*names: str) -> pl.DataFrame:
    """These columns of the facts, as far as they are there: to look up all of them costs more than what is asked."""
    known = facts()
    return known.select(name for name in dict.fromkeys(names) if name in known.columns)


def _pick_facets(about: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    held = {name: column_of(name) in about.columns for name in names}
    return about.select(
        (pl.col(column_of(name)) if there else pl.lit(None, pl.String)).alias(name) for name, there in held.items()
    )


def _sums_of(runs: tuple[str, ...], metric: str) -> pl.DataFrame:
    """The sums of all attempts that have the metric, those of `runs` among them: nth, whole, n, total, unscored.
    Filters are applied to them, so that a change of a filter reads nothing anew."""
    asked = runs if set(runs) & set(left_out_runs()) else ()
    return _read(str(layout.home()), catalogue.data_version(), View(metric=metric, runs=asked))


# A row or two an attempt, of numbers alone; and a page asks for each metric that may lead, and those of a profile.
@lru_cache(maxsize=64)
def _read(home: str, version: str, wanted: View) -> pl.DataFrame:
    condition, params = where(wanted, "scores", "s.")
    found = ask(
        f"""SELECT s.run_id, s.attempt_id, s.turn IS NULL AS whole, count(s.value) AS n, sum(s.value) AS total,
            count(*) - count(s.value) AS unscored
        FROM scores s WHERE s.metric = $metric AND {condition} GROUP BY ALL""",
        {**params, "metric": wanted.metric},
    )
    # In one order at each reading, or sums of floats would come out anew by some last digit.
    return number(found).drop("run_id", "attempt_id").sort("nth", "whole")


def values_of(metric: str, runs: tuple[str, ...], attempts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The metric of each of these attempts (their numbers): the mean of its turns, or where none of them has any turn
    scored the score of the whole; nan where it has none."""
    turns, whole = by_number(metric, runs)
    own = turns[attempts]
    return whole[attempts] if np.isnan(own).all() else own


def by_number(metric: str, runs: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of all attempts, by number, the mean of a metric over turns, and its score of the whole; nan where there is
    none."""
    asked = runs if set(runs) & set(left_out_runs()) else ()
    # Read first, as that numbers what was never seen before.
    _sums_of(asked, metric)
    return _spread_out(str(layout.home()), catalogue.data_version(), View(metric=metric, runs=asked), count())


@lru_cache(maxsize=64)
def _spread_out(
    home: str, version: str, wanted: View, many: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    sums = _read(home, version, wanted)
    sums = sums.filter(pl.col("n") > 0)
    places, means = sums["nth"].to_numpy(), (sums["total"] / sums["n"]).to_numpy()
    is_whole = sums["whole"].to_numpy()
    turns, whole = np.full(many, np.nan), np.full(many, np.nan)
    turns[places[~is_whole]], whole[places[is_whole]] = means[~is_whole], means[is_whole]
    return turns, whole


def score_attempts(numbers: pl.Series, view: View, mains: Sequence[FullScore] = ()) -> pl.DataFrame:
    """What these attempts come to: nth, score (of the whole, else the mean over turns), benchmark, task, metric; by the
    view's metric, or by their own tasks' main figures. Those without a score are left out."""
    wanted = dict.fromkeys([each.metric for each in mains] or [view.metric])
    about = _columns("benchmark", "task")
    parts = []
    for metric in wanted:
        sums = keep_these(_sums_of(view.runs, metric), numbers.to_frame("nth")).filter(pl.col("n") > 0)
        # The rows of the whole come last: they count where there are any.
        own = sums.unique("nth", keep="last", maintain_order=True)
        own = own.select("nth", score=pl.col("total") / pl.col("n"), metric=pl.lit(metric))
        own = own.hstack(look_up(about, own["nth"]))
        if mains:
            named = [(each.benchmark, each.task) for each in mains if each.metric == metric]
            named_as = pl.DataFrame(named, schema={"benchmark": pl.String, "task": pl.String}, orient="row")
            own = own.join(named_as.unique(), on=["benchmark", "task"], how="semi")
        parts.append(own)
    return pl.concat(parts)


def facets_of(attempts: pl.DataFrame, facets: Sequence[str]) -> pl.DataFrame:
    """The attempts (run_id, attempt_id) with a column for each facet that the store has of those named."""
    about = look_up(_columns("nth", *map(column_of, facets)), number(attempts)["nth"])
    return attempts.with_columns(_pick_facets(about, [name for name in facets if column_of(name) in about.columns]))


def table(view: View, by: Sequence[str], bounds: Bounds | None = None) -> pl.DataFrame:
    """What `score_table` says of the view's metric, made from the sums: `by`..., n, clusters, mean, low, high,
    unscored. `by` are columns of the sums, or facets."""
    keys = list(by)
    clusters = (
        add_cluster(of_attempts(view, keys))
        .group_by([*keys, "whole", "cluster"])
        .agg(pl.col("n").sum(), pl.col("total").sum(), pl.col("unscored").sum())
    )
    means = (
        clusters.group_by([*keys, "whole"])
        .agg(mean=pl.col("total").sum() / pl.col("n").sum(), scored=pl.col("n").sum())
        .filter(pl.col("scored") > 0)
        # Scores of turns, where a group has any.
        .sort("whole")
        .unique(keys, keep="first")
        .drop("scored")
    )
    off = pl.col("total") - pl.col("mean") * pl.col("n")
    found = (
        clusters.join(means, on=[*keys, "whole"], nulls_equal=True)
        .group_by(keys)
        .agg(
            n=pl.col("n").sum(),
            clusters=(pl.col("n") > 0).sum().cast(pl.Int64),
            mean=pl.col("mean").first(),
            spread=(off**2).sum().sqrt() / pl.col("n").sum(),
            weight=pl.col("n").sum() ** 2 / (pl.col("n") ** 2).sum(),
            edge=(pl.col("total") / pl.col("n")).filter(pl.col("n") > 0).is_in(bounds or ()).mean(),
            unscored=pl.col("unscored").sum(),
        )
        .sort(keys, nulls_last=True)
    )
    return add_bounds(found, bounds).select(*keys, "n", "clusters", "mean", "low", "high", "unscored")
