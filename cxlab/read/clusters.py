"""Means with intervals from rows that are already summed by sample: one policy, metrics/intervals.py."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from cxlab.metrics.intervals import Bounds, find_bounds
from cxlab.read.query import Params, ask
from cxlab.read.sample_clusters import add_cluster

SHARE: Bounds = (0.0, 1.0)
"""The scale of a share."""


def means(
    sql: str, keys: Iterable[str], params: Params | Mapping[str, Any], bounds: Bounds | None = None
) -> pl.DataFrame:
    """`summarise` of the rows of one SELECT: keys, sample_id, n, total."""
    return summarise(ask(sql, params), list(keys), bounds)


def summarise(
    frame: pl.DataFrame, keys: Sequence[str], bounds: Bounds | None = None, level: float = 0.95
) -> pl.DataFrame:
    """Means with intervals: keys, n, clusters, mean, low, high; by keys, nulls last. Clustered by what samples share.

    `frame`: keys, sample_id (or the number of its `cluster`), n, total, one row or more a sample. `bounds` are the ends
    of the scale, where it has any.
    """
    # Sums of integers come from DuckDB as decimals.
    clusters = (
        (frame if "cluster" in frame.columns else add_cluster(frame))
        .group_by([*keys, "cluster"])
        .agg(pl.col("n").sum().cast(pl.Int64), pl.col("total").sum().cast(pl.Float64))
    )
    clusters = clusters.filter(pl.col("n") > 0)
    mean = pl.col("total").sum() / pl.col("n").sum()
    off = pl.col("total") - mean * pl.col("n")
    own = pl.col("total") / pl.col("n")
    found = (
        clusters.group_by(keys)
        .agg(
            n=pl.col("n").sum().cast(pl.Int64),
            clusters=pl.len().cast(pl.Int64),
            mean=mean,
            spread=(off**2).sum().sqrt() / pl.col("n").sum(),
            weight=pl.col("n").sum() ** 2 / (pl.col("n") ** 2).sum(),
            edge=own.is_in(bounds or ()).mean(),
        )
        .sort(keys, nulls_last=True)
    )
    return add_bounds(found, bounds, level)


def add_bounds(frame: pl.DataFrame, bounds: Bounds | None = None, level: float = 0.95) -> pl.DataFrame:
    """The frame with low and high in the place of spread, weight and edge, which are as `find_bounds` takes them."""
    told = frame.select("mean", "spread", "clusters", "weight", "edge").iter_rows()
    spans = [
        find_bounds(mean, spread, count, weight, edge, bounds, level) for mean, spread, count, weight, edge in told
    ]
    ends = pl.DataFrame(spans, schema={"low": pl.Float64, "high": pl.Float64}, orient="row").fill_nan(None)
    return frame.drop("spread", "weight", "edge").hstack(ends)
