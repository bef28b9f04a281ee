"""Results of a comparison as numbers, and means by sample as one array: what rankings, differences and slices are made
from.

To join and to group by texts takes most of what a filter asks for; of the same rows by number it takes next to nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.read.kept.numbers import facts, look_up, number
from cxlab.read.sample_clusters import places_of

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ResultRows:
    """`TaskSet.results` by number, an entry a row: its `side` (a place in `sides`), its `sample` (a place in the order
    of their ids), and its `attempt` (kept/numbers.py). `first`: of each sample a row that is of it; `clusters`: of each
    sample a number that it shares with those of its situation."""

    results: pl.DataFrame
    sides: tuple[str, ...]
    side: Places
    sample: Places
    attempt: Places
    first: Places
    clusters: Places

    @classmethod
    def of(cls, results: pl.DataFrame) -> "ResultRows":
        """The rows of results (side, sample_id, run_id, attempt_id)."""
        attempt = number(results)["nth"].to_numpy().astype(np.int64)
        sides = results["side"].unique().sort().to_list()
        side = results["side"].cast(pl.Enum(sides)).to_physical().to_numpy().astype(np.int64)
        samples, clusters = places_of(attempt)
        _, first, sample = np.unique(samples, return_index=True, return_inverse=True)
        return cls(results, tuple(sides), side, sample, attempt, first, clusters[first])

    @cached_property
    def cells(self) -> Places:
        """The trial of its sample that each row is of, as a number."""
        trial = look_up(facts().select("trial"), pl.Series(self.attempt))["trial"].fill_null(-1).to_numpy()
        return np.unique(self.sample * (int(trial.max(initial=0)) + 2) + trial + 1, return_inverse=True)[1]

    def of_sides(self, sides: tuple[str, ...]) -> NDArray[np.bool_]:
        """Which rows are of these sides."""
        wanted = np.array([side in sides for side in self.sides], dtype=bool)
        return wanted[self.side]


@dataclass(frozen=True, eq=False)
class SampleMeans:
    """`values[side, sample]`, the mean of a side's results on a sample: nan where none has a value."""

    rows: ResultRows
    values: Floats

    @classmethod
    def of(cls, rows: ResultRows, values: Floats) -> "SampleMeans":
        """The means of values, one a row."""
        shape = len(rows.sides), len(rows.clusters)
        places = rows.side * shape[1] + rows.sample
        scored = ~np.isnan(values)
        size = shape[0] * shape[1]
        sums = np.bincount(places[scored], values[scored], size)
        counts = np.bincount(places[scored], minlength=size)
        means = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
        return cls(rows, means.reshape(shape))

    def of_side(self, side: str) -> Floats:
        """The means of a side, by sample; of one that has no results nan."""
        sides = self.rows.sides
        return self.values[sides.index(side)] if side in sides else np.full(len(self.rows.clusters), np.nan)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The means as a frame: side, grp (""), sample_id, value, cluster."""
        side, sample = np.nonzero(~np.isnan(self.values))
        ids = self.rows.results["sample_id"].gather(self.rows.first)
        return pl.DataFrame({
            "side": pl.Series(self.rows.sides, dtype=pl.String).gather(side),
            "grp": pl.repeat("", len(side), dtype=pl.String, eager=True),
            "sample_id": ids.gather(sample),
            "value": self.values[side, sample],
            "cluster": self.rows.clusters[sample],
        })  # fmt: skip
