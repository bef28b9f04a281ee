"""What a run amounts to, read from its parts: counts, cost, means."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from cxlab.records import Attempt, Run
from cxlab.store import home, run_status
from cxlab.store.run_status import Status, add_known
from cxlab.store.tables import PARTS


def tally(run_id: str, sample_ids: Collection[str] | None = None) -> dict[str, Any]:
    """The counts, cost and tokens of the stored attempts, by the names of `Status`; of all samples or of some."""
    import polars as pl

    attempts = scan(run_id, "attempts")
    if attempts is None:
        return {}
    if sample_ids is not None:
        attempts = attempts.filter(pl.col("sample_id").is_in(list(sample_ids)))
    outcomes = dict(attempts.group_by("outcome").len().collect().iter_rows())
    rows = _role_sums(run_id, attempts)
    costs = [row["cost_usd"] for row in rows.values()]
    tokens = [row["known_tokens"] for row in rows.values() if row["reported"]]
    return {
        "done": sum(outcomes.values()),
        "ok": outcomes.get("ok", 0),
        "format": outcomes.get("format", 0),
        "provider": outcomes.get("provider", 0),
        "too_long": len(find_too_long(run_id, attempts)),
        "faulted": len(find_unjudged(run_id, attempts)),
        "cost_usd": None if None in costs else sum(costs),
        "known_usd": sum(row["known_usd"] for row in rows.values()),
        "tokens": sum(tokens) if tokens else None,
    }


def find_unjudged(run_id: str, attempts: Any = None) -> set[str]:
    """The ids of attempts that were made and that a provider's fault kept a judge from voting on."""
    import polars as pl

    votes = scan(run_id, "votes")
    attempts = scan(run_id, "attempts") if attempts is None else attempts
    if votes is None or attempts is None:
        return set()
    made = attempts.filter(pl.col("outcome") != "provider").select("attempt_id")
    lost = votes.filter(pl.col("failure").str.starts_with("provider:")).select("attempt_id").unique()
    return set(lost.join(made, on="attempt_id", how="semi").collect()["attempt_id"])


def is_too_long(attempt: Attempt) -> bool:
    """Whether all that a provider did not deliver was longer than its model can read: no second try mends that."""
    faults = {each.type for each in attempt.failures if each.where == "provider"}
    return attempt.outcome == "provider" and faults == {"too_long"}


def find_too_long(run_id: str, attempts: Any = None) -> set[str]:
    """The ids of stored attempts of which that holds."""
    import polars as pl

    failures = scan(run_id, "failures")
    attempts = scan(run_id, "attempts") if attempts is None else attempts
    if failures is None or attempts is None:
        return set()
    lost = attempts.filter(outcome="provider").select("attempt_id")
    faults = failures.filter(where_="provider").join(lost, on="attempt_id", how="semi")
    alike = faults.group_by("attempt_id").agg((pl.col("type") == "too_long").all().alias("all")).filter("all")
    return set(alike.collect()["attempt_id"])


def by_role(run: Run) -> dict[str, dict[str, float | int | None]]:
    """Role (agent, customer, judge) → `cost_usd` and `tokens` of all its calls in the run.

    None: unknown, of one call at least. A role that takes no part is left out; what was only judged again asked
    judges alone.
    """
    import polars as pl

    attempts = scan(run.id, "attempts")
    if attempts is None:
        return {}
    sums = _role_sums(run.id, attempts)
    parts = {"agent": True, "customer": bool(run.setup.get("customer")), "judge": bool(run.judges)}
    if run.setup.get("rescored_from"):
        parts |= {"agent": False, "customer": False}
    if parts["customer"] and any("calls" not in pl.read_parquet_schema(path) for path in _files(run.id, "messages")):
        # Parts of before messages kept what they took have the customer's in the agent's sums.
        sums["customer"] |= {"cost_usd": None, "tokens": None}
    return {role: {name: sums[role][name] for name in ("cost_usd", "tokens")} for role, plays in parts.items() if plays}


def _role_sums(run_id: str, attempts: Any) -> dict[str, dict[str, Any]]:
    """Role → asked (how often), cost_usd and tokens (None where a part is unknown), the sums of the parts that are
    known (known_usd, known_tokens), and how many reported tokens."""
    import polars as pl

    messages, votes = scan(run_id, "messages"), scan(run_id, "votes")
    tables = {"agent": attempts}
    if messages is not None:
        tables["customer"] = messages.filter(pl.col("role") == "customer", pl.col("calls").is_not_null())
    if votes is not None:
        called = (pl.col("calls") > 0) | (pl.col("cached_calls") > 0) | pl.col("cost_usd").is_not_null()
        tables["judge"] = votes.filter(called)
    tokens = pl.col("prompt_tokens") + pl.col("completion_tokens")
    # What was taken over, or kept by the cache, was paid for before (`Usage.elsewhere`).
    elsewhere = (pl.col("calls") == 0) & (pl.col("cached_calls") > 0)
    own = (
        pl.when(elsewhere).then(0.0).otherwise(pl.col("cost_usd")).alias("cost_usd"),
        *(pl.when(~elsewhere).then(pl.col(name)).alias(name) for name in ("prompt_tokens", "completion_tokens")),
    )
    sums = {
        role: (table if role == "agent" else table.join(attempts, on="attempt_id", how="semi"))
        .with_columns(own)
        .select(
            pl.len().alias("asked"),
            pl.col("cost_usd").sum().alias("known_usd"),
            pl.col("cost_usd").null_count().alias("unpriced"),
            (pl.col("prompt_tokens").sum() + pl.col("completion_tokens").sum()).alias("known_tokens"),
            ((pl.col("calls") > 0) & tokens.is_null()).sum().alias("uncounted"),
            (pl.col("prompt_tokens").is_not_null() | pl.col("completion_tokens").is_not_null()).sum().alias("reported"),
        )
        for role, table in tables.items()
    }
    rows = [frame.row(0, named=True) for frame in pl.collect_all(sums.values())]
    found = dict.fromkeys(("agent", "customer", "judge"), dict.fromkeys(rows[0], 0))
    found |= dict(zip(sums, rows, strict=True))
    return {
        role: {
            **row,
            "cost_usd": None if row["unpriced"] else row["known_usd"],
            "tokens": None if row["uncounted"] else row["known_tokens"],
        }
        for role, row in found.items()
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
    """One entry of `run --json`; `seconds` is what the last session took, None in a cost or in tokens is unknown.

    `cost_usd` holds what went into attempts that were cut short as well, which is no role's and told as `unstored_usd`.
    It is None where requests were not answered (`unanswered`), which a server may bill: then `known_usd` is known, and
    `unanswered_usd` the most that may come on top.
    """
    spent = by_role(run)
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
        "cost_usd": _whole_cost(status),
        "unstored_usd": status.unstored_usd,
        "known_usd": status.known_usd + (status.unstored_usd or 0.0),
        "unanswered": status.unanswered,
        "unanswered_usd": status.unanswered_usd,
        "cost_by_role": {role: row["cost_usd"] for role, row in spent.items()},
        "tokens_by_role": {role: row["tokens"] for role, row in spent.items()},
        "seconds": round(seconds, 3),
        "state": run_status.name_state(status),
    }


def _whole_cost(status: Status) -> float | None:
    if not status.unstored_usd:
        return None if status.unstored_usd is None else status.cost_usd
    return add_known([status.cost_usd if status.done else 0.0, status.unstored_usd])


def sum_up(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The entries of several runs as one: state, cost_usd and cost_by_role; a cost is None where a part is unknown."""
    by_role: dict[str, list[float | None]] = {}
    for entry in entries:
        for role, cost in entry["cost_by_role"].items():
            by_role.setdefault(role, []).append(cost)
    return {
        "state": run_status.worst(entry["state"] for entry in entries),
        "cost_usd": add_known([entry["cost_usd"] for entry in entries]),
        "cost_by_role": {role: add_known(costs) for role, costs in by_role.items()},
    }


def scan(run_id: str, table: str) -> Any:
    """The lazy frame of one table of a run; None when no part has rows of it."""
    import polars as pl

    files = _files(run_id, table)
    # Parts of a run that was begun under an older version lack columns.
    schema = PARTS[table]
    return pl.scan_parquet(files, schema=schema, missing_columns="insert", extra_columns="ignore") if files else None


def _files(run_id: str, table: str) -> list[Path]:
    return sorted((home() / "runs" / run_id / "parts").glob(f"*/{table}.parquet"))
