"""Means with intervals from rows that are already summed by sample."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from cxlab.metrics.intervals import student_quantile
from cxlab.read.query import Params, ask


def means(sql: str, keys: Iterable[str], params: Params | Mapping[str, Any], top: float | None = None) -> pl.DataFrame:
    """Means with 95 % intervals clustered by sample from rows of keys, sample_id, n, total; cut to 0..top if given."""
    listed = ", ".join(keys)
    frame = ask(
        f"""
        WITH clusters AS ({sql}), centred AS (
            SELECT *, sum(total) OVER grouped / sum(n) OVER grouped AS mean
            FROM clusters WHERE n > 0 WINDOW grouped AS (PARTITION BY {listed})
        )
        SELECT {listed}, sum(n)::BIGINT AS n, count(*) AS clusters, any_value(mean) AS mean,
            sqrt(sum((total - mean * n) ** 2)) / sum(n) AS spread
        FROM centred GROUP BY {listed} ORDER BY {listed}
        """,
        params,
    )
    return _around(frame, top)


def _around(frame: pl.DataFrame, top: float | None) -> pl.DataFrame:
    reaches = [reach(count, spread) for count, spread in frame.select("clusters", "spread").iter_rows()]
    around = pl.Series("reach", reaches, dtype=pl.Float64).fill_nan(None)
    frame = frame.with_columns(low=pl.col("mean") - around, high=pl.col("mean") + around).drop("spread")
    return frame if top is None else frame.with_columns(pl.col("low").clip(0, None), pl.col("high").clip(None, top))


def summarise(frame: pl.DataFrame, keys: Sequence[str], top: float | None = None) -> pl.DataFrame:
    """`means` of rows that have been read: columns keys, sample_id, n, total, one row or more a sample."""
    clusters = frame.group_by([*keys, "sample_id"]).agg(pl.col("n").sum(), pl.col("total").sum())
    centre = clusters.group_by(keys).agg(mean=pl.col("total").sum() / pl.col("n").sum())
    off = pl.col("total") - pl.col("mean") * pl.col("n")
    found = (
        clusters.filter(pl.col("n") > 0)
        .join(centre, on=keys, nulls_equal=True)
        .group_by(keys)
        .agg(
            n=pl.col("n").sum(),
            clusters=pl.len().cast(pl.Int64),
            mean=pl.col("mean").first(),
            spread=(off**2).sum().sqrt() / pl.col("n").sum(),
        )
        .sort(keys)
    )
    return _around(found, top)


def reach(clusters: int, spread: float) -> float:
    """Half the width of an interval: t with G - 1 degrees x sqrt(G / (G - 1)) x spread; nan for fewer than 2."""
    if clusters < 2:
        return math.nan
    return float(student_quantile(clusters - 1) * math.sqrt(clusters / (clusters - 1)) * spread)
