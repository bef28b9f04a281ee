"""Small stores of runs with given values, for tests of what is compared and ranked."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks import REGISTRY
from cxlab.records import Run
from cxlab.store import tables, write

Values = Mapping[tuple[str, int], float | None]
"""Sample and trial → the value of the headline; None: the attempt was not scored."""


def write_run(
    home: Path,
    number: int,
    model: str,
    values: Values,
    *,
    benchmark: str = "sage",
    dataset: str = "d1",
    task: str = "dialogue",
    metric: str = "",
    options: Mapping[str, Any] | None = None,
    judges: Sequence[str] = ("j1",),
    prompts: Mapping[str, str] | None = None,
    seed: int = 0,
    customer: str | None = "c",
    scorer: str = "1",
    openings: Mapping[tuple[str, int], str] | None = None,
    turns: int = 1,
    facets: Mapping[str, Mapping[str, str]] | None = None,
    also: Mapping[str, Values] | None = None,
    simulated: bool = True,
    cost_usd: float | None = None,
    latency_s: float | None = None,
    reasons: Mapping[str, str] | None = None,
    tasks: Mapping[str, str] | None = None,
) -> str:
    """A run, made `number` hours into 2026; each attempt scores its value at every one of its turns. Returns its id.

    By the benchmark's headline, where no `metric` is named; `also` by further metrics. Each attempt costs `cost_usd`
    and takes `latency_s`; `reasons`: sample → why the agent failed there; `tasks`: sample → its task, of a run of
    several.
    """
    metric = metric or REGISTRY[benchmark].card.headline
    run_id = f"run-260101-{number:06d}-aaaaaaaa"
    setup = {"customer": customer, "options": dict(options or {})}
    run = Run(
        id=run_id, benchmark=benchmark, model=model, simulated=simulated, setup=setup, judges=tuple(judges),
        dataset_id=dataset, seed=seed, trials=1, planned=len(values), prompts=dict(prompts or {}), code="",
        created=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number),
    )  # fmt: skip
    part = write.create_run(run, home) / "parts" / "001-1-000000"
    part.mkdir(parents=True)
    attempts, scores = [], []
    for (sample, trial), value in values.items():
        own = {
            "run_id": run_id, "attempt_id": f"a{number}-{sample}-{trial}", "sample_id": sample, "trial": trial,
            "benchmark": benchmark, "model": model, "task": (tasks or {}).get(sample, task),
            "simulated": simulated, "outcome": "ok", "turns": turns,
            "opening": (openings or {}).get((sample, trial), "hello"), "output": "{}",
            "verdict": "passed" if value is not None and value >= 50 else "failed",
            "verdict_reason": (reasons or {}).get(sample), "verdict_owner": "agent" if reasons else None,
            "cost_usd": cost_usd, "latency_s": latency_s,
            "facets": [{"key": key, "value": v} for key, v in (facets or {}).get(sample, {}).items()],
        }  # fmt: skip
        attempts.append(own)
        each = {metric: value} | {name: found[sample, trial] for name, found in (also or {}).items()}
        scores += [
            {**own, "turn": turn, "metric": name, "value": one, "scorer": scorer}
            for name, one in each.items() for turn in range(1, turns + 1)
        ]  # fmt: skip
    for name, schema, rows in (("attempts", tables.ATTEMPTS, attempts), ("scores", tables.SCORES, scores)):
        full = [{column: row.get(column) for column in schema} for row in rows]
        pl.DataFrame(full, schema=schema).write_parquet(part / f"{name}.parquet")
    return run_id
