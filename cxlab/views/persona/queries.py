"""Runs of MM-tau-p² whose results can be set side by side."""

from collections.abc import Sequence

import polars as pl

from cxlab.read.query import ask, repeated_runs

BENCHMARK = "mmtaup2"


def list_runs() -> pl.DataFrame:
    """The runs that hold conversations, newest first.

    Columns: run_id, model, customer (the model that played it), simulated, dataset_id, created, conversations, trials,
    judged (whether a panel gave figures), modalities (text, voice), by_hand (somebody typed for the customer), again
    (its conversations stand in another run, too).
    """
    return ask(
        """
        SELECT a.run_id, any_value(r.model) AS model,
            coalesce(any_value(json_extract_string(r.setup, '$.customer')), '') AS customer,
            bool_or(coalesce(json_extract_string(r.setup, '$.by_hand'), '') NOT IN ('', 'false', '[]')) AS by_hand,
            bool_or(r.simulated) AS simulated,
            any_value(r.dataset_id) AS dataset_id, any_value(r.created) AS created,
            count(*) AS conversations, count(DISTINCT a.trial) AS trials,
            list_sort(list(DISTINCT coalesce(a.facets['modality'], ''))) AS modalities,
            a.run_id IN (SELECT run_id FROM scores WHERE metric = 'judged_pass' AND value IS NOT NULL) AS judged,
            list_contains($again, a.run_id) AS again
        FROM attempts a JOIN runs r USING (run_id) WHERE a.benchmark = $benchmark
        GROUP BY a.run_id ORDER BY created DESC, a.run_id
        """,
        {"benchmark": BENCHMARK, "again": list(repeated_runs())},
    )


def load_agent_messages(run_ids: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """(run, attempt) → what the agent wrote to the customer, in order, its greeting left out."""
    rows = ask(
        """
        SELECT run_id, attempt_id, list(coalesce(json_extract_string(data, '$.meant'), text) ORDER BY seq) AS texts
        FROM messages
        WHERE run_id IN (SELECT unnest($runs)) AND role = 'agent' AND turn > 0
            AND coalesce(json_extract_string(data, '$.delivered'), 'true') <> 'false'
        GROUP BY run_id, attempt_id
        """,
        {"runs": list(run_ids)},
    )
    return {(run, attempt): texts for run, attempt, texts in rows.iter_rows()}
