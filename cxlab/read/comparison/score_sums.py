"""Sums of one metric by attempt: what all comparisons of a page are made from, so that the scores are read once."""

from collections.abc import Sequence
from functools import lru_cache

import polars as pl

from cxlab.metrics.intervals import Bounds
from cxlab.read.clusters import add_bounds
from cxlab.read.query import ask, cut, facet, facet_ids, keep_among, version_of, where, widen
from cxlab.read.sample_clusters import add_cluster
from cxlab.read.view import View
from cxlab.store import catalogue, layout


def of_attempts(view: View, by: Sequence[str] = ()) -> pl.DataFrame:
    """The view's metric by attempt: run_id, attempt_id, trial, model, sample_id, task, whole, n, total, unscored; and
    the facets that `by` names.

    `whole`: the scores of the attempt, else those of its turns; `n` scores make up `total`.
    """
    home, version = str(layout.home()), version_of(view)
    # Filters that change from look to look are applied to what was read, so that a change of them reads nothing anew.
    # So are tasks: a page that shows all of a benchmark reads each metric once.
    filters = ("models", "tasks", *(name for name, _ in view.facets))
    data_version = catalogue.data_version()
    found, places = _read_placed(home, version, data_version, widen(view, filters).change(among=""))
    known = _read_facets(home, data_version)
    wanted = [
        name for name in dict.fromkeys([*by, *filters[2:]]) if name in known.columns and name not in found.columns
    ]
    lacking = [pl.lit(None, pl.String).alias(name) for name in by if name not in known.columns and name not in found]
    found = found.with_columns(known[name].gather(places) for name in wanted)
    return keep_among(cut(found, view, filters), view).with_columns(lacking)


# A selection has a row or two an attempt, and a page asks for each metric that may lead: enough for a profile
# of a headline with all its parts.
@lru_cache(maxsize=16)
def _read(home: str, version: str, wanted: View) -> pl.DataFrame:
    condition, params = where(wanted, "scores", "s.")
    return ask(
        f"""SELECT s.run_id, s.attempt_id, s.trial, s.model, s.sample_id, s.task,
            s.turn IS NULL AS whole, count(s.value) AS n, sum(s.value) AS total,
            count(*) - count(s.value) AS unscored
        FROM scores s WHERE s.metric = $metric AND {condition} GROUP BY ALL""",
        {**params, "metric": wanted.metric},
    )


@lru_cache(maxsize=16)
def _read_placed(home: str, version: str, data_version: str, wanted: View) -> tuple[pl.DataFrame, pl.Series]:
    """The sums, and for each of their rows the one of `_read_facets` that is its attempt's: looked up once, as a join
    by two texts takes longer than all else that a change of a filter asks for."""
    found, keys = _read(home, version, wanted), ["run_id", "attempt_id"]
    known = _read_facets(home, data_version).select(*keys).with_row_index("place")
    return found, found.select(keys).join(known, on=keys, how="left", maintain_order="left")["place"]


@lru_cache(maxsize=2)
def _read_facets(home: str, version: str) -> pl.DataFrame:
    """The facets of all attempts, a column each."""
    columns = "".join(f", {facet(name)} AS {name}" for name in facet_ids())
    return ask(f"SELECT a.run_id, a.attempt_id{columns} FROM attempts a")


def of_metrics(attempts: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Several metrics of attempts (run_id, attempt_id): metric, run_id, attempt_id, and whole, n, total as
    `of_attempts` has them."""
    runs = tuple(sorted(attempts["run_id"].unique()))
    known = _read_metrics(str(layout.home()), catalogue.data_version(), runs, tuple(metrics))
    return known.join(attempts.unique(), on=["run_id", "attempt_id"], how="semi")


# By runs, so that filters by facet read nothing anew.
@lru_cache(maxsize=4)
def _read_metrics(home: str, version: str, runs: tuple[str, ...], metrics: tuple[str, ...]) -> pl.DataFrame:
    return ask(
        """SELECT metric, run_id, attempt_id, turn IS NULL AS whole, count(value) AS n, sum(value) AS total
        FROM scores WHERE run_id IN (SELECT unnest($runs)) AND metric IN (SELECT unnest($metrics)) AND value IS NOT NULL
        GROUP BY ALL ORDER BY ALL""",
        {"runs": list(runs), "metrics": list(metrics)},
    )


def facets_of(attempts: pl.DataFrame, facets: Sequence[str]) -> pl.DataFrame:
    """The attempts (run_id, attempt_id) with a column for each facet that the store has of those named."""
    known = _read_facets(str(layout.home()), catalogue.data_version())
    keys = ["run_id", "attempt_id"]
    return attempts.join(
        known.select(*keys, *(name for name in facets if name in known.columns)), on=keys, how="left",
        maintain_order="left",
    )  # fmt: skip


def keep_facets(attempts: pl.DataFrame, view: View) -> pl.DataFrame:
    """The rows of attempts (run_id, attempt_id) that the view's filters by facet leave."""
    names = [name for name, _ in view.facets]
    if not names:
        return attempts
    known = _read_facets(str(layout.home()), catalogue.data_version())
    lacking = [pl.lit(None, pl.String).alias(name) for name in names if name not in known.columns]
    kept = cut(known.with_columns(lacking), view, names)
    return attempts.join(kept, on=["run_id", "attempt_id"], how="semi")


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
