"""Runs and how far they have come: records from the store, live status from small files."""

import json
import math
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.read.query import ask, rescored_runs
from cxlab.store import catalogue, layout

# A run that says nothing for so long has lost its process; the runner writes twice a second.
STALLED_AFTER_S = 10.0


@dataclass(frozen=True)
class Progress:
    """How far a run has come. `state`: running, done, cancelled, failed, budget, stalled, waiting or unknown.

    `waiting`: created and nothing begun. `stalled`: says running, but was silent for STALLED_AFTER_S seconds.
    """

    run_id: str
    state: str
    planned: int
    model: str = ""
    done: int = 0
    ok: int = 0
    format: int = 0
    provider: int = 0
    cost_usd: float | None = None
    tokens: int | None = None
    rate_per_s: float = 0.0
    eta_s: float | None = None
    started: str = ""
    updated: str = ""
    message: str = ""

    @property
    def live(self) -> bool:
        """Whether somebody is at work on it."""
        return self.state == "running"

    @property
    def share(self) -> float:
        """Done of planned, from 0 to 1."""
        return min(1.0, self.done / self.planned) if self.planned else 0.0


def latest_runs(limit: int = 10) -> pl.DataFrame:
    """The newest runs with their progress: one row a run, newest first."""
    runs = ask(
        "SELECT run_id, benchmark, model, simulated, dataset_id, judges, trials, planned, seed, code, group_, created, "
        "json_extract_string(setup, '$.rescored_from') AS rescored_from FROM runs "
        "ORDER BY created DESC, run_id LIMIT $limit",
        {"limit": limit},
    )
    found = [progress(run_id, planned) for run_id, planned in runs.select("run_id", "planned").iter_rows()]
    names = (
        "state",
        "done",
        "ok",
        "format",
        "provider",
        "cost_usd",
        "tokens",
        "rate_per_s",
        "eta_s",
        "started",
        "updated",
        "message",
    )
    types: dict[str, Any] = {
        "cost_usd": pl.Float64,
        "tokens": pl.Int64,
        "rate_per_s": pl.Float64,
        "eta_s": pl.Float64,
        **dict.fromkeys(("done", "ok", "format", "provider"), pl.Int64),
    }
    return runs.with_columns(
        pl.Series(name, [getattr(each, name) for each in found], dtype=types.get(name, pl.String)) for name in names
    )


def run_record(run_id: str) -> dict[str, Any] | None:
    """The record of one run as it was stored, `setup` read; None where there is none."""
    found = ask("SELECT * FROM runs WHERE run_id = $run", {"run": run_id})
    if found.is_empty():
        return None
    row = found.row(0, named=True)
    return {**row, "setup": json.loads(row["setup"] or "{}")}


def progress(run_id: str, planned: int | None = None) -> Progress:
    """The state of one run, from its status files alone: cheap enough to ask every second."""
    folder = layout.home() / "runs" / layout.check_id("run", run_id)
    record = _read(folder / "run.json") or {}
    planned = _sound("planned", record.get("planned")) or 0 if planned is None else planned
    model = str(record.get("model", run_id))
    shards = [s for s in map(_read_status, sorted(folder.glob("status-*-of-*.json"))) if s]
    whole = _read_status(folder / "status.json")
    status = _merge(shards, planned) if shards else whole
    if status is None:
        return Progress(run_id, "waiting" if folder.is_dir() else "unknown", planned, model)
    # A run is not started at the moment it is created, and its merged record knows no plan of its own.
    state = str(status.get("state", "unknown"))
    if state == "running" and _silent_s(status) > STALLED_AFTER_S:
        state = "stalled"
    kept = {name: status[name] for name in Progress.__dataclass_fields__ if name in status}
    kept |= {"run_id": run_id, "model": model, "state": state, "planned": status.get("planned") or planned}
    return Progress(**kept)


def _read(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None where there is none, or none yet."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _read_status(path: Path) -> dict[str, Any] | None:
    """The status in a file, without what cannot be counted with or shown."""
    told = _read(path)
    return None if told is None else {name: kept for name, v in told.items() if (kept := _sound(name, v)) is not None}


def _sound(name: str, value: Any) -> Any:
    """The value of a field of a status; None when it is none of its kind."""
    if name in ("planned", "done", "ok", "format", "provider", "tokens"):
        return value if type(value) is int and 0 <= value < 2**63 else None
    if name in ("cost_usd", "rate_per_s", "eta_s"):
        return value if isinstance(value, int | float) and math.isfinite(value) and value >= 0 else None
    return value if isinstance(value, str) else None


def _silent_s(status: dict[str, Any]) -> float:
    try:
        return time.time() - datetime.fromisoformat(str(status.get("updated"))).timestamp()
    except ValueError:
        return math.inf  # no time that can be read is none at which it was alive


def _merge(shards: list[dict[str, Any]], planned: int) -> dict[str, Any]:
    """What the shards of a run amount to together; running until all have ended."""
    states = [str(shard.get("state")) for shard in shards]
    ranked = ("failed", "running", "cancelled", "budget", "done")

    def total(name: str) -> Any:
        known = [shard[name] for shard in shards if shard.get(name) is not None]
        return sum(known) if known else None

    rate = sum(s.get("rate_per_s") or 0.0 for s in shards if s.get("state") == "running")
    done = total("done") or 0
    state = next((each for each in ranked if each in states), "unknown")
    if state != "failed" and done < planned and all(each == "done" for each in states):
        state = "running"  # shards that have not begun are still to come
    return {
        "state": state,
        "planned": planned,
        "done": done,
        **{name: total(name) or 0 for name in ("ok", "format", "provider")},
        # Unknown as soon as it is unknown of one shard that has done anything.
        "cost_usd": total("cost_usd") if all(s.get("cost_usd") is not None for s in shards if s.get("done")) else None,
        "tokens": total("tokens"),
        "rate_per_s": rate,
        "eta_s": (planned - done) / rate if rate else None,
        "started": min((s.get("started") or "" for s in shards), default=""),
        "updated": max((s.get("updated") or "" for s in shards), default=""),
        "message": "; ".join(sorted({s["message"] for s in shards if s.get("message")})),
    }


def set_aside() -> list[tuple[str, str, str]]:
    """(kind, name, reason) of each run, dataset and annotation file that does not count because it is damaged.

    Looks at the times of all files, so it also knows of what was damaged a moment ago.
    """
    found = catalogue.read(closely=True).set_aside
    # A name is of the file system and may hold bytes that are no text.
    return [(one.kind, one.name.encode(errors="replace").decode(), one.reason) for one in found]


def health() -> dict[str, Any]:
    """What the store holds and how sound it is: runs, attempts by outcome, turns, cost, votes without use.

    What was only judged again counts once. `spent_usd` is the sum of all that has a price, of agents, customers and
    judges; `unpriced` counts the attempts, customers' messages and votes whose price is unknown.
    """
    row = ask(
        """
        SELECT (SELECT count(*) FROM runs) AS runs, count(*) AS attempts, count(DISTINCT model) AS models,
            count(DISTINCT benchmark) AS benchmarks, coalesce(sum(turns), 0)::BIGINT AS turns,
            count(*) FILTER (outcome = 'ok') AS ok, count(*) FILTER (outcome = 'format') AS format,
            count(*) FILTER (outcome = 'provider') AS provider, count(*) FILTER (simulated) AS simulated,
            sum(cost_usd) AS cost_usd, max(started) AS newest
        FROM attempts WHERE NOT list_contains($again, run_id)
        """,
        {"again": list(rescored_runs())},
    ).row(0, named=True)
    votes = ask("SELECT count(*) AS votes, count(*) FILTER (NOT valid) AS invalid_votes FROM votes").row(0, named=True)
    # Where no model was asked nothing was spent: the agent's messages, and votes that are no model's.
    spent = ask(
        """
        SELECT coalesce(sum(cost_usd), 0) AS spent_usd, count(*) FILTER (cost_usd IS NULL) AS unpriced FROM (
            SELECT cost_usd FROM attempts WHERE NOT list_contains($again, run_id)
            UNION ALL SELECT cost_usd FROM messages WHERE role = 'customer' AND calls IS NOT NULL
                AND NOT list_contains($again, run_id)
            UNION ALL SELECT cost_usd FROM votes WHERE calls > 0 OR cached_calls > 0 OR cost_usd IS NOT NULL)
        """,
        {"again": list(rescored_runs())},
    ).row(0, named=True)
    return {**row, **votes, **spent}


def failure_counts(limit: int = 20) -> pl.DataFrame:
    """Failures by kind: where, type, n, attempts, models; commonest first."""
    return ask(
        'SELECT where_ AS "where", type, count(*) AS n, count(DISTINCT (run_id, attempt_id)) AS attempts, '
        "count(DISTINCT model) AS models FROM failures GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT $limit",
        {"limit": limit},
    )
