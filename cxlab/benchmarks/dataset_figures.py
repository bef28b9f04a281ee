"""Figures of a dataset beside published ones, as a benchmark hands them to the page Datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from cxlab.metrics.intervals import proportion_interval

OWN = "ours"
"""The column that holds the dataset's own figures."""


@dataclass(frozen=True)
class FigureTable:
    """Counts and means of a dataset, drawn as multiples of a reference.

    `frame`: one row a figure: `label`, `kind` (ratio: three decimals; else as a count), the columns of `texts` and
    those of `columns`, null where somebody has none. `columns`: column → whose figures they are, `ours` among them;
    `reference` is the one that is × 1. `texts`: column → title, what the table shows before the figures.
    """

    id: str
    finding: str
    meaning: str
    frame: pl.DataFrame
    columns: Mapping[str, str]
    reference: str
    texts: Mapping[str, str] = field(default_factory=lambda: {"label": "Figure"})
    lacking: str = "This dataset has none of these figures."


@dataclass(frozen=True)
class CheckTable:
    """Checks that a dataset was put through; `frame` as `count_checks` makes it, `published` (label, share) beside."""

    id: str
    finding: str
    meaning: str
    frame: pl.DataFrame
    published: tuple[tuple[str, float], ...] = ()
    lacking: str = "No checks are noted for this dataset."


@dataclass(frozen=True)
class ShareTable:
    """How a dataset is made up; `frame` as `count_shares` makes it, `published` (label, share) beside."""

    id: str
    finding: str
    meaning: str
    frame: pl.DataFrame
    published: tuple[tuple[str, float], ...] = ()
    lacking: str = "It is not known how this dataset is made up."


DatasetFigures = FigureTable | CheckTable | ShareTable


def count_shares(counts: Mapping[str, int]) -> pl.DataFrame:
    """Of label → count: label, n, of, share, low, high (95 %, Wilson); empty where nothing was counted."""
    total = sum(counts.values())
    rows = [(label, n, total, *proportion_interval(n, total)[:3]) for label, n in counts.items()] if total else []
    whole = {"label": pl.String, "n": pl.Int64, "of": pl.Int64}
    return pl.DataFrame(rows, schema={**whole, **dict.fromkeys(("share", "low", "high"), pl.Float64)}, orient="row")


def count_checks(rows: list[tuple[str, str, int, int, int, int, int]]) -> pl.DataFrame:
    """Of (label, what is counted, n, passed, left_out, relabelled, unread) the same with rate, low, high (95 %,
    Wilson; null where nothing was looked at)."""
    found = []
    for label, what, n, passed, *rest in rows:
        shares = tuple(proportion_interval(passed, n)[:3]) if n else (None, None, None)
        found.append((label, what, n, passed, *shares, *rest))
    counts = dict.fromkeys(("left_out", "relabelled", "unread"), pl.Int64)
    shares_schema = dict.fromkeys(("rate", "low", "high"), pl.Float64)
    schema = {"label": pl.String, "what": pl.String, "n": pl.Int64, "passed": pl.Int64, **shares_schema, **counts}
    return pl.DataFrame(found, schema=schema, orient="row")
