"""Means with intervals from rows that are already summed by sample."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from cxlab.metrics.intervals import student_quantile
from cxlab.read.ask import Params, ask


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
    reaches = [reach(count, spread) for count, spread in frame.select("clusters", "spread").iter_rows()]
    around = pl.Series("reach", reaches, dtype=pl.Float64).fill_nan(None)
    frame = frame.with_columns(low=pl.col("mean") - around, high=pl.col("mean") + around).drop("spread")
    return frame if top is None else frame.with_columns(pl.col("low").clip(0, None), pl.col("high").clip(None, top))


def reach(clusters: int, spread: float) -> float:
    """Half the width of an interval: t with G - 1 degrees x sqrt(G / (G - 1)) x spread; nan for fewer than 2."""
    if clusters < 2:
        return math.nan
    return float(student_quantile(clusters - 1) * math.sqrt(clusters / (clusters - 1)) * spread)
