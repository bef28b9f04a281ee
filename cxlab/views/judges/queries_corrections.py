"""What scores and verdicts come to by sample, as stored: what decisions are counted into."""

from collections.abc import Sequence

import polars as pl

from cxlab.read.query import ask, where
from cxlab.read.view import View

PASSED = "passed"
"""Stands for the success rate among the metrics: of attempts that passed or failed, how many in a hundred passed."""
SUMS = ("benchmark", "metric", "whole", "model", "sample_id")


def sums(view: View, metrics: Sequence[str]) -> pl.DataFrame:
    """Sums of metrics by model and sample: benchmark, metric, whole (of attempts, not of turns), model, sample_id, n,
    total; with `passed` among the metrics verdicts, too."""
    condition, params = where(view, "scores", "s.")
    scores = ask(
        f"""SELECT benchmark, metric, turn IS NULL AS whole, model, sample_id, count(value) AS n,
            coalesce(sum(value), 0)::DOUBLE AS total
        FROM scores s WHERE {condition} AND metric IN (SELECT unnest($metrics)) GROUP BY ALL""",
        {**params, "metrics": list(metrics)},
    )
    if PASSED not in metrics:
        return scores
    condition, params = where(view)
    verdicts = ask(
        f"""SELECT benchmark, '{PASSED}' AS metric, true AS whole, model, sample_id,
            count(*) FILTER (verdict IN ('passed', 'failed')) AS n,
            100.0 * count(*) FILTER (verdict = 'passed') AS total
        FROM attempts WHERE {condition} GROUP BY ALL""",
        params,
    )
    return pl.concat([scores, verdicts.select(scores.columns).cast(scores.schema)])  # type: ignore[arg-type]


def runs_of(attempts: pl.DataFrame) -> pl.DataFrame:
    """The attempts (run_id, attempt_id) that the store has, with benchmark, model and sample_id."""
    return ask(
        """SELECT run_id, attempt_id, benchmark, model, sample_id FROM attempts
        WHERE attempt_id IN (SELECT unnest($attempts))""",
        {"attempts": attempts["attempt_id"].unique().sort().to_list()},
    ).join(attempts.select("run_id", "attempt_id").unique(), on=["run_id", "attempt_id"], how="semi")
