"""The figures of whole conversations as columns, with what each is of and of how many observations it is the mean.

For tables that pool over conversations: no message is read, and only the columns that they need.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from cxlab.store import connect

# What a sample says of its terms holds; the run's options fill in the rest, as when it was played.
_CONVERSATIONS = """
SELECT a.run_id, a.attempt_id, a.task AS domain, a.trial,
    coalesce(json_extract_string(s.inputs, '$.id'), a.sample_id) AS task,
    coalesce(a.facets['persona'], json_extract_string(r.setup, '$.options.persona'), 'none') AS persona,
    coalesce(a.facets['modality'], json_extract_string(r.setup, '$.options.modality'), 'text') AS modality,
    coalesce(TRY_CAST(json_extract_string(s.inputs, '$.terms.exposure') AS INTEGER),
        TRY_CAST(json_extract_string(r.setup, '$.options.exposure') AS INTEGER), 0) AS exposure
FROM attempts a JOIN runs r USING (run_id)
    LEFT JOIN samples s ON s.sample_id = a.sample_id AND s.dataset_id = r.dataset_id
WHERE a.run_id IN (SELECT unnest($runs)) ORDER BY a.run_id, a.attempt_id
"""
# Runs of before counts were kept: each conversation weighs alike, and `counted` says so.
_FIGURES = """
SELECT run_id, attempt_id, metric[1 + length($prefix):] AS metric, value,
    coalesce(n, (value IS NOT NULL)::INTEGER) AS n, n IS NOT NULL AS counted
FROM scores
WHERE turn IS NULL AND run_id IN (SELECT unnest($runs))
    AND metric IN (SELECT $prefix || unnest($metrics))
ORDER BY run_id, attempt_id, metric
"""


def load_figures(
    run_ids: Sequence[str], metrics: Sequence[str], prefix: str = "", home: Path | str | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The conversations of runs, and their figures.

    First frame: run_id, attempt_id, domain, trial, task, persona, modality, exposure; the second: run_id, attempt_id,
    metric (without the prefix), value (None where there is none), n observations, counted (whether n is as measured).
    """
    con = connect.open_store(home)
    try:
        runs = {"runs": list(run_ids)}
        told = connect.query(con, _CONVERSATIONS, runs)
        return told, connect.query(con, _FIGURES, {**runs, "metrics": list(metrics), "prefix": prefix})
    finally:
        con.close()
