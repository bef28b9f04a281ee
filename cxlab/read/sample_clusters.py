"""Which samples are about one situation, as their benchmark declares it (records/cluster.py)."""

from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.read.kept.numbers import facts
from cxlab.read.query import ask
from cxlab.records.cluster import Cluster, declared
from cxlab.store import catalogue, layout

TABLE = "sample_clusters"
"""The name under which a query finds `as_table`: sample_id, cluster; a sample that is not in it is its own cluster."""


def as_table() -> dict[str, Any]:
    """The table for a query that names TABLE."""
    return {TABLE: _read(str(layout.home()), catalogue.data_version()).to_arrow()}


def add_cluster(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows (with sample_id) in their order, with the `cluster` of each; without a declared one the sample's id.

    So is that of a sample whose dataset is no longer stored, as what it is about cannot be looked up.
    """
    known = _read(str(layout.home()), catalogue.data_version())
    if known.is_empty():
        return frame.with_columns(cluster=pl.col("sample_id"))
    return frame.join(known, on="sample_id", how="left", maintain_order="left").with_columns(
        pl.coalesce("cluster", "sample_id").alias("cluster")
    )


def clusters_of(samples: pl.Series) -> pl.Series:
    """The cluster of each of these samples (ids)."""
    return add_cluster(pl.DataFrame({"sample_id": samples}))["cluster"]


def places_of(attempts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each of these attempts (their numbers, kept/numbers.py) the sample, as a number in the order of ids, and its
    cluster, as a number."""
    samples, clusters = _read_places(str(layout.home()), catalogue.data_version(), facts().height)
    return samples[attempts], clusters[attempts]


@lru_cache(maxsize=2)
def _read_places(home: str, version: str, many: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    known = add_cluster(facts().select("sample_id"))
    samples, clusters = (known[name].rank("dense").fill_null(0).to_numpy() for name in known.columns)
    return samples.astype(np.int64), clusters.astype(np.int64)


@lru_cache(maxsize=4)
def _read(home: str, version: str) -> pl.DataFrame:
    found = [_ask(benchmark, each) for benchmark, each in sorted(declared().items())]
    return pl.concat([pl.DataFrame(schema={"sample_id": pl.String, "cluster": pl.String}), *found])


def _ask(benchmark: str, by: Cluster) -> pl.DataFrame:
    """A row a sample. One that stands in several datasets, as some of a dataset's samples made one of their own,
    belongs to the largest, so that these stay together."""
    params = {f"path_{place}": f"$.{path}" for place, path in enumerate(by.paths)}
    values = ", ".join(f"json_extract_string(inputs, ${name})" for name in params)
    home = "max_by(dataset_id, (size, dataset_id))" if by.of_dataset else "''"
    return ask(
        f"""SELECT sample_id, concat_ws(chr(31), $benchmark, {home}, array_to_string(any_value(shared), chr(31)))
            AS cluster
        FROM (SELECT sample_id, dataset_id, [{values}] AS shared, count(*) OVER (PARTITION BY dataset_id) AS size
            FROM samples WHERE benchmark = $benchmark AND json_valid(inputs))
        WHERE NOT list_has_any([true], list_transform(shared, lambda each: each IS NULL))
        GROUP BY sample_id ORDER BY sample_id""",
        {"benchmark": benchmark, **params},
    )
