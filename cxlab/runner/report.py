"""What a run amounts to, read from its parts: counts, cost, means."""

from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any

from cxlab.records import Run
from cxlab.runner.status import Status
from cxlab.store import home


def tally(run_id: str, sample_ids: Collection[str] | None = None) -> dict[str, Any]:
    """The counts, cost and tokens of the stored attempts, by the names of `Status`; of all samples or of some."""
    import polars as pl

    attempts = scan(run_id, "attempts")
    if attempts is None:
        return {}
    votes = scan(run_id, "votes")
    if sample_ids is not None:
        attempts = attempts.filter(pl.col("sample_id").is_in(list(sample_ids)))
        votes = None if votes is None else votes.join(attempts.select("attempt_id"), on="attempt_id", how="semi")
    spent = ("cost_usd", "prompt_tokens", "completion_tokens")
    rows = [
        table.select(
            *(pl.col(name).sum() for name in spent), *(pl.col(name).count().alias(f"known_{name}") for name in spent)
        )
        .collect()
        .row(0, named=True)
        for table in (attempts, votes)
        if table is not None
    ]
    known_tokens = sum(row["known_prompt_tokens"] + row["known_completion_tokens"] for row in rows)
    outcomes = dict(attempts.group_by("outcome").len().collect().iter_rows())
    return {
        "done": sum(outcomes.values()),
        "ok": outcomes.get("ok", 0),
        "format": outcomes.get("format", 0),
        "provider": outcomes.get("provider", 0),
        "cost_usd": sum(row["cost_usd"] for row in rows) if any(row["known_cost_usd"] for row in rows) else None,
        "tokens": sum(row["prompt_tokens"] + row["completion_tokens"] for row in rows) if known_tokens else None,
    }


def means(run_id: str) -> dict[str, float]:
    """The mean of each metric: over its turns when it has turn rows, else over attempts; unscored rows left out."""
    import polars as pl

    scores = scan(run_id, "scores")
    if scores is None:
        return {}
    frame = (
        scores.filter(pl.col("value").is_not_null())
        .with_columns(by_turn=pl.col("turn").is_not_null().any().over("metric"))
        .filter(pl.col("turn").is_not_null() == pl.col("by_turn"))
        .group_by("metric")
        .agg(pl.col("value").mean())
        .sort("metric")
        .collect()
    )
    return {metric: round(value, 6) for metric, value in frame.iter_rows()}


def scorers(run_id: str) -> list[str]:
    """The versions of the scorer that a run's scores are of, as far as they were kept."""
    scores = scan(run_id, "scores")
    if scores is None or "scorer" not in scores.collect_schema():
        return []
    found: list[str] = scores.select("scorer").drop_nulls().unique().collect()["scorer"].sort().to_list()
    return found


def summarise(run: Run, status: Status) -> dict[str, Any]:
    """One entry of `run --json`; `seconds` is what the last session took."""
    seconds = (datetime.fromisoformat(status.updated) - datetime.fromisoformat(status.started)).total_seconds()
    return {
        "run": run.id,
        "model": run.model,
        "planned": status.planned,
        "done": status.done,
        "ok": status.ok,
        "format": status.format,
        "provider": status.provider,
        "mean": means(run.id),
        "cost_usd": status.cost_usd,
        "seconds": round(seconds, 3),
        "state": status.state,
    }


def scan(run_id: str, table: str) -> Any:
    """The lazy frame of one table of a run; None when no part has rows of it."""
    import polars as pl

    files: list[Path] = sorted((home() / "runs" / run_id / "parts").glob(f"*/{table}.parquet"))
    # Parts of a run that was begun under an older version lack columns.
    return pl.scan_parquet(files, missing_columns="insert", extra_columns="ignore") if files else None
