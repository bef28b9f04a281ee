"""The figures of whole conversations as columns, with what each is of and of how many observations it is the mean.

For tables that pool over conversations: no message is read, and only the columns that they need.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from cxlab.store import connect

_CONVERSATIONS = """
SELECT a.run_id, a.attempt_id, a.task AS domain, a.trial,
    coalesce(json_extract_string(s.inputs, '$.id'), a.sample_id) AS task{terms}
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
    run_ids: Sequence[str],
    metrics: Sequence[str],
    terms: Mapping[str, str],
    prefix: str = "",
    home: Path | str | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The conversations of runs, and their figures.

    `terms`: under which terms they were held, name → default. What a sample says of its terms
    holds; the run's options fill in the rest, as when it was played, and then the facets.
    First frame: run_id, attempt_id, domain, trial, task and the terms, as text; the second: run_id, attempt_id,
    metric (without the prefix), value (None where there is none), n observations, counted (whether n is as measured).
    """
    con = connect.open_store(home)
    try:
        runs = {"runs": list(run_ids)}
        # Names and defaults are the benchmark's own words, never a person's.
        columns = "".join(
            f""",
    coalesce(json_extract_string(s.inputs, '$.terms.{name}'), json_extract_string(r.setup, '$.options.{name}'),
        a.facets['{name}'], '{default}') AS {name}"""
            for name, default in terms.items()
        )
        told = connect.query(con, _CONVERSATIONS.format(terms=columns), runs)
        return told, connect.query(con, _FIGURES, {**runs, "metrics": list(metrics), "prefix": prefix})
    finally:
        con.close()
