"""The attempts that a view lets through, by their numbers: the filters of a page without a query."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.read.failure_kinds import VERDICTS
from cxlab.read.kept import troubles
from cxlab.read.kept.numbers import column_of, count, facts, number
from cxlab.read.query import COLUMNS, among_rows, ask, kept_rows, left_out_runs, selection, version_of, where
from cxlab.read.view import View
from cxlab.store import catalogue, layout

# Filters that only the store's own tables know: what people wrote, words, why an attempt did not pass.
_ASKED = ("owners", "reasons", "tags", "written", "search", "speaker", "shared")
# Filters by what is kept a row a turn or kind, and the table.
LOOKED_UP = {"errors": "trouble_kinds", "splits": "judge_splits"}


def choose(view: View, *columns: str) -> pl.DataFrame:
    """The attempts under a view, in no order that means anything: these columns of `numbers.facts`, else all."""
    known = facts().select(*columns) if columns else facts()
    return known.filter(passes(view)[: known.height])


def keep(frame: pl.DataFrame, view: View) -> pl.DataFrame:
    """The rows (with run_id and attempt_id, or their number `nth`) of attempts that the view lets through."""
    numbered = number(frame)
    return numbered.filter(passes(view).gather(numbered["nth"]))


def keep_facets(frame: pl.DataFrame, view: View) -> pl.DataFrame:
    """The rows of attempts that the view's filters by facet leave, whatever its others."""
    if not view.facets:
        return frame
    rows = number(frame)
    return rows.filter(_has_facets(str(layout.home()), catalogue.data_version(), facts().height, view.facets)
                       .gather(rows["nth"]))  # fmt: skip


def keep_among(frame: pl.DataFrame, view: View) -> pl.DataFrame:
    """The rows of the attempts that the view is narrowed to by `among`; all where it is not."""
    return keep_these(frame, among_rows(view.among)) if view.among else frame


def keep_these(frame: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """The rows of these attempts."""
    rows, wanted = number(frame), number(attempts)["nth"]
    return rows.filter(pl.Series(_mark(wanted, count())).gather(rows["nth"]))


def passes(view: View) -> pl.Series:
    """Whether the view lets an attempt through, by its number."""
    chosen = selection(view).change(metric="")
    return _passes(str(layout.home()), version_of(view), catalogue.data_version(), facts().height, chosen)


def numbered(table: str) -> pl.DataFrame:
    """One of `troubles.TABLES` with the number of each attempt."""
    home, rows = str(layout.home()), kept_rows(table)
    held = _numbered.get((home, table))
    if held is None or held[0] is not rows:
        while len(_numbered) >= _MOST_NUMBERED:
            _numbered.pop(next(iter(_numbered)), None)
        held = _numbered[home, table] = rows, number(pl.DataFrame(pl.from_arrow(rows)))
    return held[1]


_numbered: dict[tuple[str, str], tuple[Any, pl.DataFrame]] = {}
_MOST_NUMBERED = 4 * len(troubles.TABLES)


# A page asks under a view, without its verdict or its group, and of some facets: several looks of several people.
@lru_cache(maxsize=64)
def _passes(home: str, version: str, data_version: str, many: int, view: View) -> pl.Series:
    known = facts()
    kept = [pl.col(column).is_in(values) for name, column in COLUMNS.items() if (values := view.values(name))]
    if view.benchmark:
        kept.append(pl.col("benchmark") == view.benchmark)
    if view.verdict in VERDICTS:
        kept.append(pl.col("verdict").fill_null("unscored").is_in(VERDICTS[view.verdict]))
    away = {"model": view.without, "sample_id": view.without_samples, "run_id": () if view.runs else left_out_runs()}
    kept += [~pl.col(column).is_in(values) for column, values in away.items() if values]
    # All rows that are of a stored attempt.
    rows = known.select(pl.all_horizontal(pl.col("run_id").is_not_null(), *kept).fill_null(value=False))
    found = rows.to_series().to_numpy().copy()
    if view.facets:
        found &= _has_facets(home, data_version, many, view.facets).to_numpy()[: known.height]
    asked = View(runs=view.runs, **{name: getattr(view, name) for name in _ASKED})
    if asked != View(runs=view.runs):
        found &= _mark(_ask(home, version, data_version, asked), known.height)
    for name, table in LOOKED_UP.items():
        if values := view.values(name):
            found &= _mark(numbered(table).filter(pl.col("value").is_in(values))["nth"], known.height)
    if view.alike:
        alike = numbered("troubles").filter(pl.col("alike") == view.alike)
        if view.decides == "yes":
            alike = alike.filter(stands(alike))
        found &= _mark(alike["nth"], known.height)
    if view.among:
        found &= _mark(number(among_rows(view.among))["nth"], known.height)
    return pl.Series(found)


@lru_cache(maxsize=32)
def _has_facets(home: str, version: str, many: int, facets: tuple[tuple[str, tuple[str, ...]], ...]) -> pl.Series:
    known = facts()
    wanted = [
        pl.col(column_of(name)).is_in(values) if column_of(name) in known.columns else pl.lit(value=False)
        for name, values in facets
    ]
    return known.select(pl.all_horizontal(pl.col("run_id").is_not_null(), *wanted).fill_null(value=False)).to_series()


def stands(rows: pl.DataFrame) -> pl.Series:
    """Whether the verdict of its attempt stands on a trouble, of each of these `troubles`; as `troubles.STANDS`."""
    at = facts()["verdict_turn"].gather(rows["nth"])
    return rows["turn"].eq_missing(at) & ~rows["on_the_way"]


@lru_cache(maxsize=16)
def _ask(home: str, version: str, data_version: str, asked: View) -> pl.Series:
    condition, params = where(asked)
    return number(ask(f"SELECT run_id, attempt_id FROM attempts WHERE {condition}", params))["nth"]


def _mark(numbers: pl.Series, many: int) -> NDArray[np.bool_]:
    """Which of the first `many` numbers are among these."""
    found = np.zeros(many, dtype=np.bool_)
    there = numbers.to_numpy()
    found[there[there < many]] = True
    return found


def count_values(attempts: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """How many of these attempts (as `choose` gives them) have each value of filters, as far as these go by what is
    kept: name, value, n."""
    parts = [pl.DataFrame(schema={"name": pl.String, "value": pl.String, "n": pl.Int64})]
    for name in names:
        column = COLUMNS.get(name, column_of(name))
        if name in LOOKED_UP:
            counted = keep_these(numbered(LOOKED_UP[name]), attempts).group_by("value").agg(n=pl.len().cast(pl.Int64))
            parts.append(counted.select(pl.lit(name).alias("name"), "value", "n"))
        elif column in attempts.columns:
            counted = (
                attempts.select(value=pl.col(column)).drop_nulls().group_by("value").agg(n=pl.len().cast(pl.Int64))
            )
            parts.append(counted.select(pl.lit(name).alias("name"), "value", "n"))
    return pl.concat(parts)
