"""Runs over an organisation's questions: which there are, their attempts, and what they come to by task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.options import FRAMEWORKS
from cxlab.charts.numbers import format_time
from cxlab.read.query import ask, measured, repeated_runs
from cxlab.ui.labels import label
from cxlab.views.crm.organisation import BENCHMARK


def runs(dataset_id: str) -> pl.DataFrame:
    """The runs over a dataset that have attempts, newest first: run_id, model, simulated, created, setup, n."""
    return ask(
        """SELECT r.run_id, r.model, r.simulated, r.created, r.setup, count(*) AS n
        FROM runs r JOIN attempts a USING (run_id)
        WHERE r.benchmark = $benchmark AND r.dataset_id = $dataset
            AND NOT list_contains($again, r.run_id)
        GROUP BY ALL ORDER BY r.created DESC, r.run_id""",
        {"benchmark": BENCHMARK, "dataset": dataset_id, "again": list(repeated_runs())},
    )


def read_options(setup: str | None) -> dict[str, Any]:
    """The switches of a run, as they were given."""
    found = (json.loads(setup or "{}") or {}).get("options") or {}
    return found if isinstance(found, dict) else {}


def name_framework(id: str) -> str:
    """What a framework is called."""
    return FRAMEWORKS.get(id, id or FRAMEWORKS["function_calling"])


def name_run(row: Mapping[str, Any]) -> str:
    """A run of `runs` for a choice."""
    options = read_options(row["setup"])
    told = [label(row["model"]), name_framework(options.get("framework", ""))]
    told += ["aided"] if options.get("aided") else []
    told += ["ablation"] if options.get("toolset") == "ablation" else []
    return " · ".join([*told, format_time(row["created"])])


def attempts(run_ids: tuple[str, ...], task: str, verdict: str) -> pl.DataFrame:
    """Attempts of runs, by question and model: run_id, attempt_id, model, framework, task, number, query, verdict,
    reason, answer, turns (replies of the agent), cost_usd. Empty `task` and `verdict` take all.
    """
    if not run_ids:
        return pl.DataFrame()
    names = {f"run_{place}": run for place, run in enumerate(run_ids)}
    listed = ", ".join(f"${name}" for name in names)
    return ask(
        f"""WITH asked AS (
            SELECT DISTINCT ON (sample_id) sample_id, json_extract_string(inputs, '$.query') AS query,
                TRY_CAST(json_extract(inputs, '$.number') AS BIGINT) AS number FROM samples
        ), replies AS (
            SELECT run_id, attempt_id, any_value(value) AS turns FROM scores
            WHERE run_id IN ({listed}) AND metric = 'turns' AND turn IS NULL GROUP BY ALL
        )
        SELECT a.run_id, a.attempt_id, a.model,
            coalesce(json_extract_string(r.setup, '$.options.framework'), 'function_calling') AS framework,
            a.task, q.number, q.query, a.verdict, a.verdict_reason AS reason,
            json_extract_string(a.output, '$.answer') AS answer, {measured("cost_usd", "a")} AS cost_usd, t.turns
        FROM attempts a JOIN runs r USING (run_id) LEFT JOIN asked q USING (sample_id)
            LEFT JOIN replies t USING (run_id, attempt_id)
        WHERE a.run_id IN ({listed}) AND ($task = '' OR a.task = $task)
            AND ($verdict = '' OR coalesce(a.verdict, 'unscored') = $verdict)
        ORDER BY q.number, a.model, a.run_id, a.trial, a.attempt_id""",
        {**names, "task": task, "verdict": verdict},
    ).with_columns(framework=pl.col("framework").replace(FRAMEWORKS))


def scored(run_ids: tuple[str, ...]) -> pl.DataFrame:
    """One row an attempt of runs: run_id, sample_id, task, answerable, score (0 to 100, null: not scored), passed,
    turns (replies), prompt_tokens, completion_tokens, cost_usd, latency_s.
    """
    if not run_ids:
        return pl.DataFrame()
    names = {f"run_{place}": run for place, run in enumerate(run_ids)}
    listed = ", ".join(f"${name}" for name in names)
    columns = ("prompt_tokens", "completion_tokens", "cost_usd", "latency_s")
    took = ", ".join(f"{measured(name, 'a')} AS {name}" for name in columns)
    return ask(
        f"""WITH wanted AS (
            SELECT DISTINCT ON (sample_id) sample_id,
                json_extract_string(expected, '$.answer') IS NOT NULL AS answerable FROM samples
        ), figures AS (
            SELECT run_id, attempt_id, any_value(value) FILTER (metric = 'score') AS score,
                any_value(value) FILTER (metric = 'turns') AS turns
            FROM scores WHERE run_id IN ({listed}) AND turn IS NULL AND metric IN ('score', 'turns') GROUP BY ALL
        )
        SELECT a.run_id, a.sample_id, a.task, coalesce(w.answerable, true) AS answerable, f.score,
            a.verdict = 'passed' AS passed, f.turns, {took}
        FROM attempts a LEFT JOIN figures f USING (run_id, attempt_id) LEFT JOIN wanted w USING (sample_id)
        WHERE a.run_id IN ({listed}) ORDER BY a.run_id, a.sample_id, a.trial""",
        names,
    )
