"""Tables that several pages show: runs, and leaderboards."""

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from cxlab.read import PublishedTable
from cxlab.ui.labels import describe_state, label
from cxlab.ui.tables import Kind, column, show_table


def show_runs(
    runs: pl.DataFrame, *, key: str, select: Literal["single", "multi"], search: bool = False
) -> list[dict[str, Any]]:
    """A table of `read.latest_runs`; returns the selected rows."""
    rows = with_labels(runs).with_columns(
        status=pl.col("state").map_elements(describe_state, return_dtype=pl.String),
        share=pl.col("done") / pl.col("planned"),
        faults=pl.col("format") + pl.col("provider"),
        benchmark_=pl.col("benchmark").map_elements(label, return_dtype=pl.String)
        + pl.when(pl.col("rescored_from").is_null()).then(pl.lit("")).otherwise(pl.lit(" · judged again")),
    )
    faults = "Dialogues with a reply that could not be parsed, or cut short by a provider."
    columns = {
        "name": column("Model"),
        "benchmark_": column("Benchmark"),
        "status": column("State"),
        "share": column("Done", "progress", "Of the dialogues that were planned."),
        "faults": column("Faults", "count", faults),
        "cost_usd": column("Cost", "usd", "Sum over all calls with a price."),
        "created": column("Created", "time"),
        "run_id": column("Run", "id"),
    }
    if rows["benchmark_"].n_unique() < 2:
        del columns["benchmark_"]
    return show_table(rows, columns, key=key, alt="Runs, newest first.", select=select, search=search)


def show_leaderboard(board: pl.DataFrame, metrics: Mapping[str, str], *, key: str, alt: str) -> list[dict[str, Any]]:
    """A table of `read.leaderboard` with intervals; `metrics` explains each metric. Returns the selected rows."""
    rows = with_labels(board).with_columns(
        interval=pl.format("{} to {}", pl.col("overall_low").round(1), pl.col("overall_high").round(1)),
    )
    columns = {
        "name": column("Model"),
        "overall": column("Overall", "points", metrics.get("overall")),
        "interval": column("95 % interval", help="Clustered by sample, Student's t."),
        "logic": column("Logic", "points", metrics.get("logic")),
        "chat": column("Chat", "points", metrics.get("chat")),
        "format_error": column("Format errors", "percent", metrics.get("format_error")),
        "attempts": column("Dialogues", "count", "n: finished attempts."),
        "latency_s": column("Time", "seconds", "Mean of a whole dialogue."),
        "cost_usd": column("Cost", "usd", "Mean of a dialogue, judges left out; empty when no price is noted."),
    }
    return show_table(rows, columns, key=key, alt=alt, select="single")


def published_columns(table: PublishedTable) -> dict[str, Any]:
    """The columns of a published table with its own titles."""
    kinds: dict[str, Kind] = {
        "points": "points", "percent": "points", "ratio": "ratio", "seconds": "seconds", "count": "count"
    }  # fmt: skip
    return {each.id: column(each.title, kinds.get(each.unit or "", "text")) for each in table.columns}


def with_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with `name`: its model as people read it."""
    return frame.with_columns(name=pl.col("model").map_elements(label, return_dtype=pl.String))
