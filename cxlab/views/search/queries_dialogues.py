"""What was said in the dialogues of runs: which of them hold some words, and in which messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from cxlab.read import View
from cxlab.read.query import ask, where
from cxlab.read.word_search.messages import MessagesSought, NearMessages
from cxlab.read.word_search.texts import to_sought
from cxlab.word_forms import Sought, Term


@dataclass(frozen=True)
class FoundDialogues:
    """`messages` in `dialogues` hold the words: `held` of them in one message, the most that any does. `rows`: a page
    of the dialogues (run_id, attempt_id, found, benchmark, model, task, verdict), those that come first; `said`: the
    first such messages of each (run_id, attempt_id, turn, role, text). `counts`: term → messages that hold it (of those
    that hold all, where any does); `forms`:
    word → its forms that stand in them, commonest first, for each that is not looked for as it stands; `sought`: all
    that is marked."""

    messages: int = 0
    dialogues: int = 0
    held: int = 0
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)
    said: pl.DataFrame = field(default_factory=pl.DataFrame)
    counts: dict[str, int] = field(default_factory=dict)
    forms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sought: Sought = Sought()


def has_dialogues() -> bool:
    """Whether any run has messages."""
    return not ask("SELECT 1 FROM messages LIMIT 1").is_empty()


def find_dialogues(
    view: View, terms: Sequence[Term], roles: Sequence[str], size: int, skipped: int, shown: int = 3, fewer: bool = True
) -> FoundDialogues:
    """The dialogues under the view in which one message holds all `terms`, or where none does as many of them as any,
    those with the rarest first, unless `fewer` are not wanted; of messages of `roles` alone where any is named.

    A word is found in all its forms, first where it stands as it was typed. `size` of the dialogues after those that
    are `skipped`, of each so many messages as are `shown`.
    """
    condition = where(view, "messages", "m.")
    found = _find_page(MessagesSought(terms, condition, roles), size, skipped, shown)
    if not found.held and fewer and len(terms) > 1:
        found = _find_page(MessagesSought(terms, condition, roles, any_of=True), size, skipped, shown)
    return found


def _find_page(sought: MessagesSought, size: int, skipped: int, shown: int) -> FoundDialogues:
    terms = sought.terms
    near = sought.find_near()
    if near.rows.is_empty():
        return FoundDialogues(counts={each.text: 0 for each in terms}, sought=to_sought(terms, {}))
    forms = dict(near.forms)
    told = _rank(sought, near, size, skipped, shown)
    first = told.row(0, named=True)
    counts = {each.text: int(first[f"n_{place}"] or 0) for place, each in enumerate(terms)}
    marked = to_sought(terms, forms)
    if first["held"] is None:
        return FoundDialogues(counts=counts, forms=forms, sought=marked)
    page = told.drop_nulls("run_id")
    rows = ask(
        """SELECT p.run_id, p.attempt_id, p.found, a.benchmark, a.model, a.task, a.verdict
        FROM page p JOIN attempts a USING (run_id, attempt_id) ORDER BY p.place""",
        beside={"page": page.to_arrow()},
    )
    said = ask(
        """SELECT run_id, attempt_id, turn, role, text FROM messages SEMI JOIN hits USING (run_id, attempt_id, seq)
        ORDER BY run_id, attempt_id, seq""",
        beside={"hits": page.select("run_id", "attempt_id", "seq").explode("seq").to_arrow()},
    )
    return FoundDialogues(first["messages"], first["dialogues"], first["held"], rows, said, counts, forms, marked)


def _rank(sought: MessagesSought, near: NearMessages, size: int, skipped: int, shown: int) -> pl.DataFrame:
    """A page of dialogues, those that come first, each with its `place` and the first messages (`seq`); in all rows the
    same, `held`, `messages`, `dialogues` and n_N, how many messages hold the Nth term; one row where the page has no
    dialogue. Summed up in SQL, as a common word stands in half of all messages."""
    places = range(len(sought.terms))
    bits = "".join(f", held_{place}" for place in places)
    held = " + ".join(f"held_{place}::INTEGER" for place in places)
    counts = ", ".join(f"coalesce(sum(n) FILTER (held_{place}), 0)::BIGINT AS n_{place}" for place in places)
    # Where none holds all, a word that few messages hold tells more.
    weight = " + ".join(f"held_{place}::DOUBLE / (1 + n_{place})" for place in places)
    typed = " + ".join(f"typed_{place}::INTEGER" for place in places)
    sql = f"""WITH hits AS MATERIALIZED (SELECT run_id, attempt_id{bits}, {typed} AS typed, {held} AS held,
            count(*) AS n, min(seq, {shown}) AS seqs FROM ({{hits}}) GROUP BY ALL),
        totals AS MATERIALIZED (SELECT max(held) AS held, {counts} FROM hits),
        best AS MATERIALIZED (SELECT run_id, attempt_id, seqs, typed, n,
            CASE WHEN totals.held < {len(sought.terms)} THEN {weight} ELSE 0 END AS weight
            FROM hits, totals WHERE hits.held = totals.held),
        talks AS MATERIALIZED (SELECT run_id, attempt_id, sum(n)::BIGINT AS found, max(weight) AS weight,
            max(typed) AS typed FROM best GROUP BY 1, 2),
        page AS MATERIALIZED (SELECT run_id, attempt_id, found, row_number() OVER () AS place FROM
            (SELECT * FROM talks ORDER BY weight DESC, typed DESC, found DESC, run_id DESC, attempt_id
            LIMIT {size} OFFSET {skipped})),
        firsts AS (SELECT run_id, attempt_id, flatten(list(seqs ORDER BY weight DESC, typed DESC, seqs))[:{shown}]
            AS seq FROM best SEMI JOIN page USING (run_id, attempt_id) GROUP BY 1, 2)
        SELECT totals.*, (SELECT sum(found)::BIGINT FROM talks) AS messages, (SELECT count(*) FROM talks) AS dialogues,
            shown.* FROM totals LEFT JOIN (FROM page JOIN firsts USING (run_id, attempt_id)) shown ON true
        ORDER BY place"""
    return sought.ask(sql, near.forms, near.rows)
