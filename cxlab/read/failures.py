"""Failures: how many there are, which are alike, which attempts they are in, and the chosen set as a file."""

import polars as pl

from cxlab.read import troubles
from cxlab.read.ask import ask, where
from cxlab.read.attempts import ROWS_A_PAGE, Page, attempts
from cxlab.read.view import View

MOST_GROUPS = 12
# Chosen sets are written whole into memory before they are downloaded.
MOST_EXPORTED = 50_000


def counts(view: View) -> dict[str, int]:
    """Of the view: attempts, how many have something wrong (judges' faults left out), turns evaluated and wrong."""
    condition, params = where(view)
    of_traces, more = where(view, "traces", "t.")
    return ask(
        f"""
        WITH chosen AS (SELECT run_id, attempt_id FROM attempts WHERE {condition}),
            bad AS (SELECT DISTINCT run_id, attempt_id FROM ({troubles.FACETS["errors"]}) WHERE value = 'any')
        SELECT (SELECT count(*) FROM chosen) AS attempts,
            (SELECT count(*) FROM chosen SEMI JOIN bad USING (run_id, attempt_id)) AS with_trouble,
            (SELECT count(*) FROM traces t WHERE {of_traces}) AS turns,
            (SELECT count(*) FROM traces t WHERE {of_traces} AND t.error NOT IN ('none', 'unscored')) AS wrong_turns
        """,
        {**params, **more},
    ).row(0, named=True)


def groups(view: View, limit: int = MOST_GROUPS) -> pl.DataFrame:
    """Groups of alike failures, largest first: how often, in how many attempts, by which models, and what they share.

    Alike are failures of one scenario and kind that leave the way at the same stage by the same step, with the same
    value misread; unreadable replies of the same form. `share` is of all failures under the view (`of`), `groups`
    the number of groups in all, `opened` an attempt and turn to begin with.
    """
    of_traces, params = where(view.change(alike=""), "traces", "t.")
    of_failures, more = where(view.change(alike=""), "failures", "f.")
    of_answers, others = where(view.change(alike=""), "scores", "s.")
    sql, given = troubles.troubles(of_traces, of_failures, of_answers)
    kinds = [kind for kind in view.errors if kind != "any"]
    narrowed = "kind IN (SELECT unnest($wanted_kinds))" if kinds and "any" not in view.errors else "true"
    return ask(
        f"""
        SELECT alike, scenario, kind, stage, took, due, field, given, wanted, detail, count(*) AS n,
            count(DISTINCT (run_id, attempt_id)) AS attempts, list_sort(list(DISTINCT model)) AS models,
            list(DISTINCT level ORDER BY level) AS levels,
            count(*) / sum(count(*)) OVER () AS share, (sum(count(*)) OVER ())::BIGINT AS of, count(*) OVER () AS groups
        FROM ({sql}) WHERE {narrowed}
        GROUP BY ALL ORDER BY n DESC, alike LIMIT $limit
        """,
        {
            **params,
            **more,
            **others,
            **given,
            "limit": limit,
            **({"wanted_kinds": kinds} if narrowed != "true" else {}),
        },
    )


def group(alike: str) -> dict[str, object] | None:
    """What a group's failures share (the columns of `groups` that describe); None when there is no such group."""
    sql, given = troubles.troubles()
    found = ask(
        f"""SELECT scenario, kind, stage, took, due, field, given, wanted, detail, count(*) AS n
        FROM ({sql}) WHERE alike = $alike GROUP BY ALL LIMIT 1""",
        {**given, "alike": alike},
    )
    return None if found.is_empty() else found.row(0, named=True)


def rows(view: View, limit: int = ROWS_A_PAGE, offset: int = 0) -> Page:
    """One page of attempts as `read.attempts`, with `wrong` (kinds and how often each), its `first_turn`, and `reason`.

    `reason` says in words what is wrong with an answer of a task without a dialogue.
    """
    page = attempts(view, limit, offset, view.order or "worst")
    if page.frame.is_empty():
        return Page(
            page.frame.with_columns(
                wrong=pl.lit(None, pl.List(pl.String)),
                first_turn=pl.lit(None, pl.Int32),
                reason=pl.lit(None, pl.String),
            ),
            0,
        )
    keys = [f"{run}/{attempt}" for run, attempt in page.frame.select("run_id", "attempt_id").iter_rows()]
    # Inside a group of alike failures its own turns count, else every turn on which something went wrong.
    alike, more = troubles.troubles() if view.alike else ("", {})
    opened = "min(turn)" if not view.alike else "min(turn) FILTER (kind = '')"
    of_group = f"UNION ALL SELECT run_id, attempt_id, turn, '' FROM ({alike}) WHERE alike = $alike" if alike else ""
    kinds = ask(
        f"""
        WITH found AS (
            SELECT run_id, attempt_id, turn, error AS kind FROM traces WHERE error NOT IN ('none', 'format')
            UNION ALL SELECT run_id, attempt_id, turn, where_ FROM failures WHERE where_ <> 'scorer'
            UNION ALL SELECT run_id, attempt_id, NULL, 'answer' FROM ({troubles.WRONG_ANSWERS})
            {of_group}
        ), counted AS (
            SELECT run_id, attempt_id, kind, count(*) AS n, min(turn) AS turn FROM found
            WHERE run_id || '/' || attempt_id IN (SELECT unnest($keys)) GROUP BY ALL
        )
        SELECT run_id, attempt_id, list(kind || ':' || n ORDER BY n DESC, kind) FILTER (kind <> '') AS wrong,
            {opened} AS first_turn, any_value(reason) AS reason
        FROM counted LEFT JOIN ({troubles.WRONG_ANSWERS}) USING (run_id, attempt_id) GROUP BY ALL
        """,
        {**more, "keys": keys, **({"alike": view.alike} if alike else {})},
    )
    return Page(page.frame.join(kinds, on=["run_id", "attempt_id"], how="left", maintain_order="left"), page.total)


def chosen_set(view: View, messages: bool = False) -> pl.DataFrame:
    """All attempts of the view as one row each, up to MOST_EXPORTED; with all that was said where asked for."""
    condition, params = where(view, "attempts", "a.")
    said = (
        """, (SELECT list({'turn': m.turn, 'role': m.role, 'text': m.text} ORDER BY m.seq) FROM messages m
            WHERE m.run_id = a.run_id AND m.attempt_id = a.attempt_id) AS messages"""
        if messages
        else ""
    )
    kinds = "list(DISTINCT value ORDER BY value)"
    return ask(
        f"""
        WITH wrong AS (SELECT run_id, attempt_id, {kinds} AS wrong FROM ({troubles.FACETS["errors"]})
            WHERE value <> 'any' GROUP BY 1, 2),
        scored AS (SELECT run_id, attempt_id, max(value) FILTER (metric = 'overall') AS overall,
            max(value) FILTER (metric = 'logic') AS logic, max(value) FILTER (metric = 'chat') AS chat
            FROM scores WHERE turn IS NULL GROUP BY 1, 2)
        SELECT a.* EXCLUDE (output), scored.overall, scored.logic, scored.chat, wrong.wrong{said}
        FROM attempts a LEFT JOIN wrong USING (run_id, attempt_id) LEFT JOIN scored USING (run_id, attempt_id)
        WHERE {condition} ORDER BY a.run_id, a.attempt_id LIMIT $most
        """,
        {**params, "most": MOST_EXPORTED},
    )


def to_jsonl(view: View) -> bytes:
    """The chosen set as JSON Lines, one attempt a line with its messages."""
    frame = chosen_set(view, messages=True)
    return frame.with_columns(pl.col("started").dt.strftime("%Y-%m-%dT%H:%M:%SZ")).write_ndjson().encode()
