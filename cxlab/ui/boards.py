"""Tables that several pages show: runs, and leaderboards."""

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from cxlab.read import PublishedTable, annotations
from cxlab.ui.address import cached
from cxlab.ui.labels import describe_state, label
from cxlab.ui.tables import Kind, column, show_table

_CUT_SHORT = ("failed", "partly", "stopped")


def show_runs(
    runs: pl.DataFrame,
    benchmarks: Mapping[str, str],
    *,
    key: str,
    select: Literal["single", "multi"],
    search: bool = False,
) -> list[dict[str, Any]]:
    """A table of `read.latest_runs`; `benchmarks`: what each is called. Returns the selected rows."""
    called = cached(annotations.run_names)
    rows = with_labels(runs).with_columns(
        called=pl.col("run_id").replace_strict(called, default=None, return_dtype=pl.String),
        status=pl.col("state").map_elements(describe_state, return_dtype=pl.String),
        share=pl.col("done") / pl.col("planned"),
        faults=pl.col("format") + pl.col("provider"),
        why=pl.when(pl.col("state").is_in(_CUT_SHORT) & (pl.col("message") != "")).then(pl.col("message")),
        benchmark_=pl.col("benchmark").replace(dict(benchmarks))
        + pl.when(pl.col("rescored_from").is_null()).then(pl.lit("")).otherwise(pl.lit(" · judged again")),
    )
    faults = "Attempts with a reply that could not be parsed, or cut short by a provider."
    columns = {
        "called": column("Name", help="As somebody called the run."),
        "name": column("Model"),
        "benchmark_": column("Benchmark"),
        "status": column("State"),
        "why": column("Why", help="What ended it, or kept a part from being done, as it was told then."),
        "share": column("Done", "progress", "Of the attempts that were planned."),
        "faults": column("Faults", "count", faults),
        "cost_usd": column("Cost", "usd", "Agent, customer and judges together; empty where a part of it is unknown."),
        "created": column("Created", "time"),
        "run_id": column("Run", "id"),
    }
    if rows["benchmark_"].n_unique() < 2:
        del columns["benchmark_"]
    if not called:
        del columns["called"]
    if not rows["why"].drop_nulls().len():
        del columns["why"]
    return show_table(rows, columns, key=key, alt="Runs, newest first.", select=select, search=search)


def published_columns(table: PublishedTable) -> dict[str, Any]:
    """The columns of a published table with its own titles."""
    kinds: dict[str, Kind] = {
        "points": "points", "percent": "points", "ratio": "ratio", "seconds": "seconds", "count": "count"
    }  # fmt: skip
    return {each.id: column(each.title, kinds.get(each.unit or "", "text")) for each in table.columns}


def with_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with `name`: its model as people read it."""
    return frame.with_columns(name=pl.col("model").map_elements(label, return_dtype=pl.String))
