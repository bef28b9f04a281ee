"""Runs and how far they have come: records from the store, live status from small files."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.read.query import ask, repeated_runs
from cxlab.store import catalogue, layout, run_status

# `Usage.elsewhere`: paid for before, by the run from which it was taken over, or kept by the cache.
_ELSEWHERE = "coalesce(calls = 0 AND cached_calls > 0, false)"
_PAID = f"CASE WHEN {_ELSEWHERE} THEN 0 ELSE cost_usd END"


@dataclass(frozen=True)
class RunProgress:
    """How far a run has come. `state` in the words of `cxlab.store.run_status`, or unknown where there is no run.

    `left`: attempts that Resume would make. `again`: those that a provider's fault spoilt, which can be tried
    again; not what was too long for the model (`too_long`, a part of `provider`).
    """

    run_id: str
    state: str
    planned: int
    model: str = ""
    done: int = 0
    ok: int = 0
    format: int = 0
    provider: int = 0
    too_long: int = 0
    faulted: int = 0
    cost_usd: float | None = None
    tokens: int | None = None
    rate_per_s: float = 0.0
    eta_s: float | None = None
    started: str = ""
    updated: str = ""
    message: str = ""
    stopping: bool = False
    """Whether it was asked to stop and still finishes what is under way."""
    retries: bool = True
    """Whether what providers did not deliver could be asked for again: not what was imported or only judged again."""

    @property
    def live(self) -> bool:
        """Whether somebody is at work on it."""
        return self.state == "running"

    @property
    def left(self) -> int:
        """Attempts that are still to be made."""
        return 0 if self.live or self.state == "unknown" else max(0, self.planned - self.done)

    @property
    def again(self) -> int:
        """Attempts that a provider's fault spoilt, without those that no second try mends."""
        return self.provider - self.too_long + self.faulted if self.retries and not self.live else 0

    @property
    def share(self) -> float:
        """Done of planned, from 0 to 1."""
        return min(1.0, self.done / self.planned) if self.planned else 0.0


def latest_runs(limit: int = 10) -> pl.DataFrame:
    """The newest runs with their progress: one row a run, newest first."""
    runs = ask(
        "SELECT run_id, benchmark, model, simulated, dataset_id, judges, trials, planned, seed, code, group_, created, "
        "json_extract_string(setup, '$.rescored_from') AS rescored_from, "
        "json_extract_string(setup, '$.retried_from') AS retried_from FROM runs "
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
        "faulted",
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
        **dict.fromkeys(("done", "ok", "format", "provider", "faulted"), pl.Int64),
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


def progress(run_id: str, planned: int | None = None) -> RunProgress:
    """The state of one run, from its status files alone: cheap enough to ask every second."""
    folder = layout.home() / "runs" / layout.check_id("run", run_id)
    record = _read(folder / "run.json") or {}
    told = record.get("planned")
    if planned is None:
        planned = told if type(told) is int and 0 <= told < 2**63 else 0
    model = str(record.get("model", run_id))
    state, status = run_status.find_state(folder, planned)
    if status is None:
        return RunProgress(run_id, state if folder.is_dir() else "unknown", planned, model)
    kept = {name: value for name, value in vars(status).items() if name in RunProgress.__dataclass_fields__}
    setup = record.get("setup")
    others = {"imported_from", "rescored_from"} & setup.keys() if isinstance(setup, dict) else ()
    kept |= {"run_id": run_id, "model": model, "state": state, "planned": status.planned or planned}
    kept["stopping"] = state == "running" and (folder / run_status.CANCEL).exists()
    return RunProgress(**kept, retries=not others)


def _read(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None where there is none, or none yet."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def set_aside() -> list[tuple[str, str, str]]:
    """(kind, name, reason) of each run, dataset and annotation file that does not count because it is damaged.

    Looks at the times of all files, so it also knows of what was damaged a moment ago.
    """
    found = catalogue.read(closely=True).set_aside
    # A name is of the file system and may hold bytes that are no text.
    return [(one.kind, one.name.encode(errors="replace").decode(), one.reason) for one in found]


def health() -> dict[str, Any]:
    """What the store holds and how sound it is: runs, attempts by outcome, turns, cost, votes without use.

    What stands in two runs counts once. `spent_usd` is the sum of all that has a price, of agents, customers and
    judges; `unpriced` counts the attempts, customers' messages and votes whose price is unknown.
    """
    # Where no model was asked nothing was spent: the agent's messages, and votes that are no model's.
    return ask(
        f"""
        SELECT * FROM (
            SELECT (SELECT count(*) FROM runs) AS runs, count(*) AS attempts, count(DISTINCT model) AS models,
                count(DISTINCT benchmark) AS benchmarks, coalesce(sum(turns), 0)::BIGINT AS turns,
                count(*) FILTER (outcome = 'ok') AS ok, count(*) FILTER (outcome = 'format') AS format,
                count(*) FILTER (outcome = 'provider') AS provider, count(*) FILTER (simulated) AS simulated,
                sum(cost_usd) AS cost_usd, max(started) AS newest
            FROM attempts WHERE NOT list_contains($again, run_id)
        ), (SELECT count(*) AS votes, count(*) FILTER (NOT valid) AS invalid_votes FROM votes), (
            SELECT coalesce(sum(cost_usd), 0) AS spent_usd, count(*) FILTER (cost_usd IS NULL) AS unpriced FROM (
                SELECT {_PAID} AS cost_usd FROM attempts
                UNION ALL SELECT {_PAID} FROM messages WHERE role = 'customer' AND calls IS NOT NULL
                UNION ALL SELECT {_PAID} FROM votes WHERE calls > 0 OR cached_calls > 0 OR cost_usd IS NOT NULL)
        )
        """,
        {"again": list(repeated_runs())},
    ).row(0, named=True)


def cost_by_role(run_id: str) -> pl.DataFrame:
    """What each role of a run took: role, calls, prompt_tokens, completion_tokens, cost_usd, latency_s.

    A sum is null where a part of it is unknown: a call that the server did not count, a model without a price. A
    customer's row is null throughout where messages did not keep what they took: then it stands in the agent's. What
    was taken over from another run was paid there, and counts neither here.
    """
    took = (
        f"calls, CASE WHEN NOT {_ELSEWHERE} THEN prompt_tokens END AS prompt_tokens, "
        f"CASE WHEN NOT {_ELSEWHERE} THEN completion_tokens END AS completion_tokens, {_PAID} AS cost_usd, latency_s"
    )
    return ask(
        f"""
        WITH parts AS (
            SELECT 'agent' AS role, {took} FROM attempts WHERE run_id = $run
            UNION ALL SELECT 'customer', {took} FROM messages WHERE run_id = $run AND role = 'customer'
            UNION ALL SELECT 'judge', {took} FROM votes
            WHERE run_id = $run AND (calls > 0 OR cached_calls > 0 OR cost_usd IS NOT NULL)
        )
        SELECT role, sum(calls)::BIGINT AS calls,
            CASE WHEN bool_and(prompt_tokens IS NOT NULL OR calls = 0) THEN sum(prompt_tokens)::BIGINT END
                AS prompt_tokens,
            CASE WHEN bool_and(completion_tokens IS NOT NULL OR calls = 0) THEN sum(completion_tokens)::BIGINT END
                AS completion_tokens,
            CASE WHEN count(cost_usd) = count(calls) THEN sum(cost_usd) END AS cost_usd, sum(latency_s) AS latency_s
        FROM parts GROUP BY role ORDER BY role
        """,
        {"run": run_id},
    )


def failure_counts(limit: int = 20) -> pl.DataFrame:
    """Failures by kind: where, type, n, attempts, models; commonest first."""
    return ask(
        'SELECT where_ AS "where", type, count(*) AS n, count(DISTINCT (run_id, attempt_id)) AS attempts, '
        "count(DISTINCT model) AS models FROM failures GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT $limit",
        {"limit": limit},
    )
