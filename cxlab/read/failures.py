"""Failures: how many there are, which are alike, what failed on the way, and the chosen set as a file."""

from collections.abc import Sequence

import polars as pl

from cxlab.read import failure_kinds
from cxlab.read.attempts import ROWS_A_PAGE, Page, attempts, shown_columns
from cxlab.read.query import ask, where
from cxlab.read.view import View

MOST_GROUPS = 12
# Chosen sets are written whole into memory before they are downloaded.
MOST_EXPORTED = 50_000


def counts(view: View) -> dict[str, int]:
    """Of the view, whatever its verdict: attempts, of them failed, unscored and passed; turns evaluated and wrong;
    in how many attempts a tool call failed (`tool_errors`), also where the attempt passed (`mended`); and how much
    failed on the way without deciding anything."""
    view = view.change(verdict="")
    condition, params = where(view)
    of_traces, more = where(view, "traces", "t.")
    of_failures, others = where(view, "failures", "f.")
    return ask(
        f"""
        WITH chosen AS (SELECT v.value AS verdict, run_id, attempt_id FROM ({failure_kinds.VERDICT_ROWS}) v
                SEMI JOIN (SELECT run_id, attempt_id FROM attempts WHERE {condition}) USING (run_id, attempt_id)),
            erred AS (SELECT verdict FROM chosen SEMI JOIN (SELECT f.run_id, f.attempt_id FROM failures f
                WHERE f.where_ = 'tool' AND {of_failures}) USING (run_id, attempt_id))
        SELECT * FROM (
            SELECT count(*) AS attempts, count(*) FILTER (verdict = 'failed') AS failed,
                count(*) FILTER (verdict = 'unscored') AS unscored, count(*) FILTER (verdict = 'passed') AS passed
            FROM chosen
        ), (
            SELECT count(*) AS tool_errors, count(*) FILTER (verdict = 'passed') AS mended FROM erred
        ), (
            SELECT count(*) AS on_the_way FROM failures f WHERE {of_failures} AND {failure_kinds.ON_THE_WAY}
        ), (
            SELECT count(*) AS turns, count(*) FILTER (t.error NOT IN ('none', 'unscored')) AS wrong_turns
            FROM traces t WHERE {of_traces}
        )
        """,
        {**params, **more, **others},
    ).row(0, named=True)


def groups(view: View, limit: int = MOST_GROUPS) -> pl.DataFrame:
    """Groups of alike failures, largest first: how often, in how many attempts, by which models, and what they share.

    Alike are failures of one scenario and kind that leave the way at the same stage by the same step, with the same
    value misread; unreadable replies of the same form; attempts whose end is wrong for the same reason. What happened
    on the way is left out (see `on_the_way`) unless the view's errors name its kind. `share` is of all failures under
    the view (`of`), `groups` the number of groups in all, `opened` an attempt and turn to begin with.
    """
    kinds = [kind for kind in view.errors if kind != "any"]
    named = bool(kinds) and "any" not in view.errors
    # All that decided an attempt is in attempts that failed or could not be scored: no need to look that up.
    sql, params = _troubles(view if named or view.verdict != "wrong" else view.change(verdict=""))
    return ask(
        f"""
        SELECT alike, scenario, kind, stage, took, due, field, given, wanted, detail, owner, tool, count(*) AS n,
            count(DISTINCT (run_id, attempt_id)) AS attempts, list_sort(list(DISTINCT model)) AS models,
            count(*) / sum(count(*)) OVER () AS share, (sum(count(*)) OVER ())::BIGINT AS of, count(*) OVER () AS groups
        FROM ({sql}) WHERE {"kind IN (SELECT unnest($wanted_kinds))" if named else "NOT on_the_way"}
        GROUP BY ALL ORDER BY n DESC, alike LIMIT $limit
        """,
        {**params, "limit": limit, **({"wanted_kinds": kinds} if named else {})},
    )


def on_the_way(view: View, limit: int = MOST_GROUPS) -> pl.DataFrame:
    """What failed on the way without deciding the attempt: refused and malformed tool calls, slips, lost replies.

    Columns: alike, kind, scenario, detail, n, attempts, passed (of these attempts), models, groups (in all), of (all
    that happened). Whatever the view's verdict, for what was mended is told apart by it.
    """
    condition, params = where(view.change(verdict="", alike=""), "failures", "f.")
    sql = failure_kinds.with_alike(failure_kinds.plain("false", condition, "false"))
    return ask(
        f"""
        SELECT alike, kind, scenario, detail, count(*) AS n, count(DISTINCT (run_id, attempt_id)) AS attempts,
            count(DISTINCT (run_id, attempt_id)) FILTER (verdict = 'passed') AS passed,
            list_sort(list(DISTINCT model)) AS models, count(*) OVER () AS groups,
            (sum(count(*)) OVER ())::BIGINT AS of
        FROM ({sql}) LEFT JOIN (SELECT run_id, attempt_id, value AS verdict FROM ({failure_kinds.VERDICT_ROWS}))
            USING (run_id, attempt_id)
        WHERE on_the_way GROUP BY ALL ORDER BY n DESC, alike LIMIT $limit
        """,
        {**params, "limit": limit},
    )


def _troubles(view: View) -> tuple[str, dict[str, object]]:
    """The troubles of the view's attempts, whatever its group; SQL and parameters."""
    whole = view.change(alike="", verdict="")
    of_traces, params = where(whole, "traces", "t.")
    of_failures, more = where(whole, "failures", "f.")
    of_attempts, others = where(whole, "attempts", "a.")
    sql, given = failure_kinds.troubles(of_traces, of_failures, of_attempts)
    params = {**params, **more, **others, **given}
    # Looked up once for all kinds, and not in each.
    for condition, wanted in failure_kinds.conditions(View(verdict=view.verdict)):
        sql, params = f"SELECT * FROM ({sql}) WHERE {condition}", {**params, **wanted}
    return sql, params


def group(alike: str) -> dict[str, object] | None:
    """What a group's failures share (the columns of `groups` that describe); None when there is no such group."""
    sql, given = failure_kinds.troubles()
    found = ask(
        f"""SELECT scenario, kind, stage, took, due, field, given, wanted, detail, owner, tool, count(*) AS n
        FROM ({sql}) WHERE alike = $alike GROUP BY ALL LIMIT 1""",
        {**given, "alike": alike},
    )
    return None if found.is_empty() else found.row(0, named=True)


def rows(view: View, limit: int = ROWS_A_PAGE, offset: int = 0, less_is_better: bool = False) -> Page:
    """One page of attempts as `read.attempts`, with `wrong` and `way` (kinds and how often each), first_turn, reason.

    `wrong` is what decided the attempt, `way` what failed on the way to its end. `reason` says in words what is wrong
    with what was marked as a whole, or why it could not be marked. `first_turn` is the first one with something wrong.
    """
    page = attempts(view, limit, offset, view.order or "worst", less_is_better)
    if page.frame.is_empty():
        return Page(
            page.frame.with_columns(
                wrong=pl.lit(None, pl.List(pl.String)),
                way=pl.lit(None, pl.List(pl.String)),
                first_turn=pl.lit(None, pl.Int32),
                reason=pl.lit(None, pl.String),
            ),
            0,
        )
    keys = [f"{run}/{attempt}" for run, attempt in page.frame.select("run_id", "attempt_id").iter_rows()]
    # Inside a group of alike failures, or of some kinds, their own turns count, else every turn that went wrong.
    # Listed one by one, so that the rows of all others are passed over while their files are read.
    ids = {f"id_{place}": each for place, each in enumerate(page.frame["attempt_id"])}
    listed = ", ".join(f"${name}" for name in ids)
    looked_up = [f"{prefix}.attempt_id IN ({listed})" for prefix in ("t", "f", "a")]
    sql, params = failure_kinds.troubles(*looked_up) if view.alike else (failure_kinds.plain(*looked_up), {})
    params = {**params, **ids}
    asked = [kind for kind in view.errors if kind != "any"]
    opened = "NOT on_the_way"
    if view.alike:
        opened, params = "alike = $alike", {**params, "alike": view.alike}
    elif asked:
        opened, params = "kind IN (SELECT unnest($asked))", {**params, "asked": asked}
    kinds = ask(
        f"""
        WITH found AS MATERIALIZED (
            SELECT run_id, attempt_id, turn, kind, on_the_way, detail, {opened} AS opens FROM ({sql})
            WHERE run_id || '/' || attempt_id IN (SELECT unnest($keys))
        ), counted AS (
            SELECT run_id, attempt_id, kind, on_the_way, count(*) AS n, min(turn) FILTER (opens) AS turn,
                any_value(detail) FILTER (kind IN ('answer', 'unmarked')) AS reason
            FROM found GROUP BY ALL
        )
        SELECT run_id, attempt_id, list(kind || ':' || n ORDER BY n DESC, kind) FILTER (NOT on_the_way) AS wrong,
            list(kind || ':' || n ORDER BY n DESC, kind) FILTER (on_the_way) AS way,
            min(turn) AS first_turn, any_value(reason) AS reason
        FROM counted GROUP BY ALL
        """,
        {**params, "keys": keys},
    )
    return Page(page.frame.join(kinds, on=["run_id", "attempt_id"], how="left", maintain_order="left"), page.total)


def chosen_set(view: View, messages: bool = False, metrics: Sequence[str] = ()) -> pl.DataFrame:
    """All attempts of the view as one row each, up to MOST_EXPORTED, with these metrics of the whole attempt and its
    verdict; with all that was said where asked for."""
    condition, params = where(view, "attempts", "a.")
    said = (
        """, (SELECT list({'turn': m.turn, 'role': m.role, 'text': m.text} ORDER BY m.seq) FROM messages m
            WHERE m.run_id = a.run_id AND m.attempt_id = a.attempt_id) AS messages"""
        if messages
        else ""
    )
    kinds = "list(DISTINCT value ORDER BY value)"
    taken = {name: f"metric_{place}" for place, name in enumerate(dict.fromkeys(metrics))}
    params |= {key: name for name, key in taken.items()}
    columns = [f"max(value) FILTER (metric = ${key}) AS {key}" for key in taken.values()]
    picked = "".join(f"scored.{key}, " for key in taken.values())
    return ask(
        f"""
        WITH wrong AS (SELECT run_id, attempt_id, {kinds} AS wrong FROM ({failure_kinds.FACETS["errors"]})
            WHERE value <> 'any' GROUP BY 1, 2),
        scored AS (SELECT {", ".join(["run_id", "attempt_id", *columns])} FROM scores WHERE turn IS NULL GROUP BY 1, 2)
        SELECT a.* EXCLUDE (output, facets), {shown_columns()} {picked} wrong.wrong{said}
        FROM attempts a LEFT JOIN wrong USING (run_id, attempt_id) LEFT JOIN scored USING (run_id, attempt_id)
        WHERE {condition} ORDER BY a.run_id, a.attempt_id LIMIT $most
        """,
        {**params, "most": MOST_EXPORTED},
    ).rename({key: name for name, key in taken.items()})


def to_jsonl(view: View, metrics: Sequence[str] = ()) -> bytes:
    """The chosen set as JSON Lines, one attempt a line with its messages."""
    frame = chosen_set(view, True, metrics)
    return frame.with_columns(pl.col("started").dt.strftime("%Y-%m-%dT%H:%M:%SZ")).write_ndjson().encode()
