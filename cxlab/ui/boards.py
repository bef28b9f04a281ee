"""Tables that several pages show: runs, and leaderboards."""

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from cxlab.charts.names import name_each
from cxlab.read import PublishedTable, annotations
from cxlab.read.query import replaced_runs
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
    settings: Mapping[str, str] | None = None,
    datasets: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """A table of `read.latest_runs`; `benchmarks`: what each is called, as `datasets`, and `settings`: what was set of
    each run where others of its benchmark differ. Returns the selected rows."""
    called = cached(annotations.run_names)
    rows = with_labels(runs).with_columns(
        called=pl.col("run_id").replace_strict(called, default=None, return_dtype=pl.String),
        status=name_each(runs["state"], describe_state),
        share=pl.col("done") / pl.col("planned"),
        settings=pl.col("run_id").replace_strict(dict(settings or {}), default=None, return_dtype=pl.String),
        dataset=pl.col("dataset_id").replace(dict(datasets or {})),
        why=pl.when(pl.col("state").is_in(_CUT_SHORT) & (pl.col("message") != "")).then(pl.col("message")),
        benchmark_=pl.col("benchmark").replace(dict(benchmarks))
        + pl.when(pl.col("rescored_from").is_null()).then(pl.lit("")).otherwise(pl.lit(" · judged again"))
        + pl.when(pl.col("retried_from").is_null()).then(pl.lit("")).otherwise(pl.lit(" · faults tried again"))
        + pl.when(pl.col("run_id").is_in(replaced_runs())).then(pl.lit(" · replaced")).otherwise(pl.lit("")),
    )
    columns = {
        "called": column("Name", help="As somebody called the run."),
        "name": column("Model"),
        "benchmark_": column("Benchmark"),
        "settings": column("Set", help="Where runs of one benchmark differ: what this one was set to."),
        "dataset": column("Dataset"),
        "status": column("State"),
        "why": column("Why", help="What ended it, or kept a part from being done, as it was told then."),
        "planned": column("Planned", "count", "Attempts: samples times trials."),
        "share": column("Done", "progress", "Of the attempts that were planned."),
        "format": column("Unreadable replies", "count", "Attempts with a reply of the model that could not be read."),
        "provider": column("Provider faults", "count", "Attempts that a provider cut short: these can be tried again."),
        "cost_usd": column("Cost", "usd", "Agent, customer and judges together; empty where a part of it is unknown."),
        "created": column("Created", "time"),
        "run_id": column("Run", "id"),
    }
    if rows["benchmark_"].n_unique() < 2:
        del columns["benchmark_"]
    if not called:
        del columns["called"]
    for name in ("why", "settings"):
        if not rows[name].drop_nulls().len():
            del columns[name]
    for name in ("format", "provider"):
        if not rows[name].sum():
            del columns[name]
    # One dataset a benchmark says no more than the benchmark does.
    if rows.select("benchmark", "dataset_id").n_unique() == rows["benchmark"].n_unique():
        del columns["dataset"]
    return show_table(rows, columns, key=key, alt="Runs, newest first.", select=select, search=search)


def published_columns(table: PublishedTable) -> dict[str, Any]:
    """The columns of a published table with its own titles."""
    kinds: dict[str, Kind] = {
        "points": "points", "percent": "points", "ratio": "ratio", "seconds": "seconds", "count": "count"
    }  # fmt: skip
    return {each.id: column(each.title, kinds.get(each.unit or "", "text")) for each in table.columns}


def with_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with `name`: its model as people read it."""
    return frame.with_columns(name=name_each(frame["model"], label))
