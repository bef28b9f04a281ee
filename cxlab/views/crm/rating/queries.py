"""The realism rating: who found the organisation and its objects how realistic, and why.

Ratings are annotations (kind "rating") on a thing of a dataset: the organisation, or an object by its name. `field` is
the point from "1" to "5", or "unknown"; a later one of the same rater takes the place of an earlier.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cxlab.metrics.intervals import proportion_interval
from cxlab.read.query import ask
from cxlab.read.results.published import PublishedTable
from cxlab.views.benchmarks import published_tables
from cxlab.views.crm.organisation import BENCHMARK

WHOLE = "organisation"
POINTS = {
    "1": "Very unrealistic",
    "2": "Unrealistic",
    "3": "Neither",
    "4": "Realistic",
    "5": "Very realistic",
}
UNKNOWN = "unknown"
REALISTIC = ("4", "5")
_THING = "object:"


def thing_id(name: str) -> str:
    """What an annotation calls the organisation or an object."""
    return name if name == WHOLE else f"{_THING}{name}"


def ratings(dataset_id: str) -> pl.DataFrame:
    """The ratings in force, oldest first: id, created, rater, thing (WHOLE or an object), point, rationale."""
    frame = ask(
        """SELECT id, created, author AS rater, attempt_id AS thing, field AS point, value AS rationale
        FROM annotations_in_force WHERE kind = 'rating' AND run_id = $dataset
            AND (attempt_id = $whole OR starts_with(attempt_id, $thing))
        QUALIFY row_number() OVER (PARTITION BY author, attempt_id ORDER BY created DESC, id DESC) = 1
        ORDER BY created, id""",
        {"dataset": dataset_id, "whole": WHOLE, "thing": _THING},
    )
    return frame.with_columns(thing=pl.col("thing").str.strip_prefix(_THING))


def shares(rated: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    """Per thing, and over all objects as "objects": thing, n, realistic, mean, share, low, high (Wilson), unknown.

    Who does not know an object counts in `unknown` and in nothing else.
    """
    known = rated.with_columns(group=pl.col("thing"))
    objects = rated.filter(pl.col("thing") != WHOLE).with_columns(group=pl.lit("objects"))
    counted = pl.concat([known, objects]).group_by("group").agg(
        n=(pl.col("point") != UNKNOWN).sum(),
        realistic=pl.col("point").is_in(REALISTIC).sum(),
        mean=pl.col("point").cast(pl.Float64, strict=False).mean(),
        unknown=(pl.col("point") == UNKNOWN).sum(),
    )  # fmt: skip
    wanted = [WHOLE, "objects", *(name for name in order if name not in (WHOLE, "objects"))]
    rows = []
    for name in wanted:
        for row in counted.filter(pl.col("group") == name).iter_rows(named=True):
            n, realistic = int(row["n"]), int(row["realistic"])
            spans = proportion_interval(realistic, n)[:3] if n else (None, None, None)
            rows.append((name, n, realistic, row["mean"], *spans, int(row["unknown"])))
    schema = {"thing": pl.String, "n": pl.Int64, "realistic": pl.Int64}
    schema |= dict.fromkeys(("mean", "share", "low", "high"), pl.Float64) | {"unknown": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def published_study() -> PublishedTable | None:
    """The paper's expert study: what, share in percent, raters."""
    return next((each for each in published_tables() if each.benchmark == BENCHMARK and "realism" in each.beside), None)
