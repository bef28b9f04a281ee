"""What was said in the dialogues of runs: which of them hold some words, and in which messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from cxlab.benchmarks.cdr.retrievers.question_words import carries_meaning
from cxlab.read import View
from cxlab.read.query import Params, ask, where

MOST_TERMS = 8
# What ends a word in a sentence and is none of it.
_EDGES = ".,;:!?"
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
    """Words as they were typed, without those that any message holds, unless there are no others; what stands in double
    quotes is one and always counts."""
    told = _read_terms(text)
    return tuple(word for word, counts in told.items() if counts or not any(told.values()))[:MOST_TERMS]


def left_out(text: str) -> tuple[str, ...]:
    """The words that `split_terms` leaves out, as they carry nothing or are too many."""
    kept = split_terms(text)
    return tuple(word for word in _read_terms(text) if word not in kept)


def _read_terms(text: str) -> dict[str, bool]:
    """Words and what stands in quotes, each once: whether it carries meaning."""
    found: dict[str, bool] = {}
    for quoted, word in _TERM.findall(text):
        term = " ".join((quoted or word.strip(_EDGES) or word).split())
        if term.strip('"'):
            found[term] = found.get(term, False) or bool(quoted) or carries_meaning(term)
    return found


def count_terms(view: View, terms: Sequence[str], roles: Sequence[str]) -> tuple[dict[str, int], int]:
    """Term → messages under the view that hold it, and how many of the terms one message holds at most."""
    condition, params = where(view, "messages", "m.")
    has, said = _name_terms(terms)
    spoken, of_roles = _name_roles(roles)
    columns = [f"{each} AS held_{place}" for place, each in enumerate(has)]
    rows = ask(
        f"""SELECT {", ".join(columns)}, count(*) AS n FROM (
            SELECT m.role, lower(m.text) AS low FROM messages m WHERE {condition}
        ) WHERE {spoken} GROUP BY ALL""",
        {**params, **said, **of_roles},
    )
    patterns = [(held, n) for *held, n in rows.iter_rows()]
    counts = {term: sum(n for held, n in patterns if held[place]) for place, term in enumerate(terms)}
    return counts, max((sum(map(bool, held)) for held, _ in patterns), default=0)


def find_dialogues(
    view: View,
    terms: Sequence[str],
    roles: Sequence[str],
    size: int,
    skipped: int,
    shown: int = 3,
    *,
    least: int = 0,
    weights: Sequence[float] = (),
) -> FoundDialogues:
    """The dialogues under the view in which one message holds all `terms`, in capitals or not (or, where it is not 0,
    at `least` so many of them, first where they weigh most); of messages of `roles` alone where any is named. `size` of
    them after those that are `skipped`, of each so many messages as are `shown`, those that weigh most."""
    condition, params = where(view, "messages", "m.")
    has, said = _name_terms(terms)
    spoken, of_roles = _name_roles(roles)
    said |= of_roles
    enough = f"{' + '.join(f'{each}::INT' for each in has)} >= {int(least)}" if least else " AND ".join(has)
    holds = f"({enough}) AND {spoken}"
    weight = " + ".join(f"{each}::INT * {weight!r}" for each, weight in zip(has, weights, strict=False)) or "0"
    rows = ask(
        f"""WITH talks AS MATERIALIZED (
            SELECT run_id, attempt_id, count(*) AS found, max({weight}) AS weight FROM (
                SELECT m.run_id, m.attempt_id, m.role, lower(m.text) AS low FROM messages m WHERE {condition}
            ) WHERE {holds} GROUP BY run_id, attempt_id
        ), page AS (SELECT * FROM talks
            ORDER BY weight DESC, found DESC, run_id DESC, attempt_id LIMIT $size OFFSET $skipped)
        SELECT p.run_id, p.attempt_id, p.found, a.benchmark, a.model, a.task, a.verdict,
            (SELECT count(*) FROM talks) AS dialogues, (SELECT sum(found) FROM talks) AS messages
        FROM page p JOIN attempts a USING (run_id, attempt_id)
        ORDER BY p.weight DESC, p.found DESC, p.run_id DESC, p.attempt_id""",
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
        QUALIFY row_number() OVER (PARTITION BY run_id, attempt_id ORDER BY {weight} DESC, seq) <= $shown
        ORDER BY run_id, attempt_id, seq""",
        {**said, "shown": shown},
        {"shown_dialogues": rows.select("run_id", "attempt_id").to_arrow()},
    )
    return FoundDialogues(int(rows["messages"][0]), int(rows["dialogues"][0]), rows, messages)


def _name_terms(terms: Sequence[str]) -> tuple[list[str], Params]:
    """For each term the condition that a message holds it (its text in small letters is `low`), and the parameters."""
    params: Params = {f"term_{place}": term for place, term in enumerate(terms)}
    return [f"contains(low, lower(${name}))" for name in params], params


def _name_roles(roles: Sequence[str]) -> tuple[str, Params]:
    """The condition that one of these said it, where any is named, and its parameters."""
    params: Params = {f"role_{place}": role for place, role in enumerate(roles)}
    return (f"role IN ({', '.join(f'${name}' for name in params)})" if roles else "true"), params
