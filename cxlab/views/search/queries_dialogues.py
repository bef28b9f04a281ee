"""What was said in the dialogues of runs: which of them hold some words, and in which messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from cxlab.read import View
from cxlab.read.query import Params, ask, where

MOST_TERMS = 8
_TERM = re.compile(r'"([^"]+)"?|(\S+)')


@dataclass(frozen=True)
class FoundDialogues:
    """`messages` in `dialogues` hold the words. `rows`: a page of the dialogues, those with most such messages first
    (run_id, attempt_id, found, benchmark, model, task, verdict); `said`: the first such messages of each
    (run_id, attempt_id, turn, role, text)."""

    messages: int
    dialogues: int
    rows: pl.DataFrame
    said: pl.DataFrame


def has_dialogues() -> bool:
    """Whether any run has messages."""
    return not ask("SELECT 1 FROM messages LIMIT 1").is_empty()


def split_terms(text: str) -> tuple[str, ...]:
    """Words as they were typed; what stands in double quotes is one."""
    found = (" ".join((quoted or word).split()) for quoted, word in _TERM.findall(text))
    return tuple(dict.fromkeys(each for each in found if each.strip('"')))[:MOST_TERMS]


def find_dialogues(
    view: View, terms: Sequence[str], roles: Sequence[str], size: int, skipped: int, shown: int = 3
) -> FoundDialogues:
    """The dialogues under the view in which one message holds all `terms`, in capitals or not; of messages of `roles`
    alone where any is named. `size` of them after those that are `skipped`, of each so many messages as are `shown`."""
    condition, params = where(view, "messages", "m.")
    holds, said = _hold(terms, roles)
    rows = ask(
        f"""WITH talks AS MATERIALIZED (
            SELECT run_id, attempt_id, count(*) AS found FROM (
                SELECT m.run_id, m.attempt_id, m.role, lower(m.text) AS low FROM messages m WHERE {condition}
            ) WHERE {holds} GROUP BY ALL
        ), page AS (SELECT * FROM talks ORDER BY found DESC, run_id DESC, attempt_id LIMIT $size OFFSET $skipped)
        SELECT p.run_id, p.attempt_id, p.found, a.benchmark, a.model, a.task, a.verdict,
            (SELECT count(*) FROM talks) AS dialogues, (SELECT sum(found) FROM talks) AS messages
        FROM page p JOIN attempts a USING (run_id, attempt_id) ORDER BY p.found DESC, p.run_id DESC, p.attempt_id""",
        {**params, **said, "size": size, "skipped": skipped},
    )
    if rows.is_empty():
        return FoundDialogues(0, 0, rows, pl.DataFrame())
    # All messages of the few dialogues first: their words would else be looked for in every dialogue once more.
    messages = ask(
        f"""WITH shown AS MATERIALIZED (
            SELECT run_id, attempt_id, seq, turn, role, text, lower(text) AS low FROM messages
            SEMI JOIN shown_dialogues USING (run_id, attempt_id)
        )
        SELECT run_id, attempt_id, turn, role, text FROM shown WHERE {holds}
        QUALIFY row_number() OVER (PARTITION BY run_id, attempt_id ORDER BY seq) <= $shown
        ORDER BY run_id, attempt_id, seq""",
        {**said, "shown": shown},
        {"shown_dialogues": rows.select("run_id", "attempt_id").to_arrow()},
    )
    return FoundDialogues(int(rows["messages"][0]), int(rows["dialogues"][0]), rows, messages)


def _hold(terms: Sequence[str], roles: Sequence[str]) -> tuple[str, Params]:
    """The condition that a message holds all terms (its text in small letters is `low`), and its parameters."""
    params: Params = {f"term_{place}": term for place, term in enumerate(terms)}
    conditions = [f"contains(low, lower(${name}))" for name in params]
    if roles:
        params |= {f"role_{place}": role for place, role in enumerate(roles)}
        conditions.append(f"role IN ({', '.join(f'$role_{place}' for place in range(len(roles)))})")
    return " AND ".join(conditions), params
