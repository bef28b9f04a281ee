"""What the page Conversations asks the store: runs with dialogues, and what people said of a sample."""

from __future__ import annotations

import polars as pl

from cxlab.read.query import ask


def runs_with_dialogues() -> dict[str, str]:
    """Runs whose attempts hold dialogues, newest first: id → name; those whose models only answer have none."""
    frame = ask(
        """SELECT r.run_id, any_value(r.model) AS model, any_value(r.benchmark) AS benchmark,
            count(DISTINCT m.attempt_id) AS n
        FROM messages m JOIN runs r USING (run_id) WHERE m.role IN ('customer', 'agent')
        GROUP BY r.run_id HAVING n > 0 ORDER BY r.run_id DESC"""
    )
    return {run: f"{model} on {bench} · {n:,} dialogues" for run, model, bench, n in frame.iter_rows()}


def judgements(question_id: str) -> pl.DataFrame:
    """The judgements in force on conversations for a question, oldest first: id, created, author, conversation_id,
    answer; a later one of the same author takes the place of an earlier."""
    return ask(
        """SELECT id, created, author, attempt_id AS conversation_id, field AS answer
        FROM annotations_in_force WHERE kind = 'rating' AND run_id = $question
        QUALIFY row_number() OVER (PARTITION BY author, attempt_id ORDER BY created DESC, id DESC) = 1
        ORDER BY created, id""",
        {"question": question_id},
    )


def judgements_of_pairs(prefix: str) -> pl.DataFrame:
    """The judgements in force on pairs of a query and a conversation, oldest first: id, created, author, query_id,
    query, conversation_id, answer; queries are those whose id is kept under `prefix`."""
    return ask(
        """SELECT id, created, author, run_id[length($prefix) + 1:] AS query_id, value AS query,
            attempt_id AS conversation_id, field AS answer
        FROM annotations_in_force WHERE kind = 'rating' AND starts_with(run_id, $prefix)
        QUALIFY row_number() OVER (PARTITION BY author, run_id, attempt_id ORDER BY created DESC, id DESC) = 1
        ORDER BY created, id""",
        {"prefix": prefix},
    )
