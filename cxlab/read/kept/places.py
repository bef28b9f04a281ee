"""Columns of attempts as numbers, by attempt: to sort, to group and to put together texts takes many times as long."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.read.kept.numbers import column_of, facts
from cxlab.store import catalogue, layout


@dataclass(frozen=True, eq=False)
class ColumnPlaces:
    """Of each attempt, by its number, the place of its value among the sorted `values`; -1 where it has none."""

    values: pl.Series
    places: NDArray[np.int64]

    def of_attempts(self, attempts: NDArray[np.int64]) -> list[Any]:
        """The values that these attempts (their numbers) have, each once, in order."""
        found = np.unique(self.places[attempts])
        return self.values.gather(found[found >= 0]).to_list()

    def of(self, places: NDArray[np.int64]) -> pl.Series:
        """The values at these places; null at -1."""
        told = self.values.gather(np.maximum(places, 0)) if self.values.len() else pl.Series([None] * len(places))
        return told.cast(self.values.dtype).set(pl.Series(places < 0), None)


def places_in(column: str) -> ColumnPlaces:
    """A column of `numbers.facts`."""
    return _read(str(layout.home()), catalogue.data_version(), facts().height, column)


def facet_of(name: str) -> ColumnPlaces | None:
    """The values that attempts have of a facet; None where the store has none of it."""
    return places_in(column_of(name)) if column_of(name) in facts().columns else None


@lru_cache(maxsize=64)
def _read(home: str, version: str, many: int, column: str) -> ColumnPlaces:
    known = facts()[column]
    ranks = known.rank("dense").cast(pl.Int64) - 1
    return ColumnPlaces(known.drop_nulls().unique().sort(), ranks.fill_null(-1).to_numpy())
