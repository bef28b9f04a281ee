"""Failures: how many there are, which are alike, what failed on the way, and the chosen set as a file."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from cxlab.read.attempts import ROWS_A_PAGE, FullScore, Page, attempts, order_by, scored_by, shown_columns
from cxlab.read.query import ask, where
from cxlab.read.troubles import STANDS
from cxlab.read.view import View

MOST_GROUPS = 12
# Chosen sets are written whole into memory before they are downloaded.
MOST_EXPORTED = 50_000


def counts(view: View) -> dict[str, int]:
    """Of the view, whatever its verdict: attempts, of them failed, unscored and passed; turns evaluated and wrong;
    in how many attempts a tool call failed (`tool_errors`), also where the attempt passed (`mended`); how many
    failures were found, and how much failed on the way without deciding anything."""
    condition, params = where(view.change(verdict=""))
    return ask(
        f"""
        WITH chosen AS MATERIALIZED (
            SELECT run_id, attempt_id, coalesce(verdict, 'unscored') AS verdict, row_number() OVER () AS nth
            FROM attempts WHERE {condition}
        ), found AS MATERIALIZED (
            SELECT verdict, on_the_way, owner, count(*) AS n, count(DISTINCT nth) AS attempts
            FROM troubles JOIN chosen USING (run_id, attempt_id) GROUP BY ALL
        )
        SELECT * FROM (
            SELECT count(*) AS attempts, count(*) FILTER (verdict = 'failed') AS failed,
                count(*) FILTER (verdict = 'unscored') AS unscored, count(*) FILTER (verdict = 'passed') AS passed
            FROM chosen
        ), (
            SELECT coalesce(sum(attempts) FILTER (on_the_way AND owner = 'tool'), 0)::BIGINT AS tool_errors,
                coalesce(sum(attempts) FILTER (on_the_way AND owner = 'tool' AND verdict = 'passed'), 0)::BIGINT
                    AS mended,
                coalesce(sum(n) FILTER (on_the_way), 0)::BIGINT AS on_the_way
            FROM found
        ), (
            SELECT coalesce(sum(turns), 0)::BIGINT AS turns, coalesce(sum(wrong), 0)::BIGINT AS wrong_turns
            FROM turns_gone_wrong SEMI JOIN chosen USING (run_id, attempt_id)
        )
        """,
        params,
    ).row(0, named=True)


def count_verdicts() -> pl.DataFrame:
    """The attempts of the store by benchmark, model and verdict (passed, failed or unscored), with their number `n`."""
    condition, params = where(View())
    return ask(
        f"""SELECT benchmark, model, coalesce(verdict, 'unscored') AS verdict, count(*) AS n FROM attempts
        WHERE {condition} GROUP BY ALL ORDER BY ALL""",
        params,
    )


def passed_rate(passed: int, failed: int) -> float | None:
    """The success rate, on every page: passed of those that passed or failed; None where there are neither."""
    return passed / (passed + failed) if passed + failed else None


_FULL = ("benchmark", "task", "metric", "best")

# By what an attempt is in the middle of its group; of two each is as far from it as the other.
_MIDDLE = ("turns", "failures", "lost")
_LEAST_TYPICAL = 3
# What the failures of a group share; a detail that differs by its figures alone is told without them.
_SHARED = "kind, stage, took, due, field, given, wanted, owner"
_SCENARIO = (
    "CASE WHEN count(DISTINCT scenario) = 1 THEN any_value(scenario) END AS scenario, "
    "count(DISTINCT scenario) AS scenarios"
)
# Who else people say did it, an attempt; and in how many attempts of a group that is another than the group's owner.
_OTHERS = """(SELECT run_id, attempt_id, list(DISTINCT field) AS others FROM annotations_in_force
                WHERE kind = 'dispute' GROUP BY ALL)"""
_IN_DISPUTE = (
    "count(DISTINCT nth) FILTER (len(list_filter(others, lambda each: each IS DISTINCT FROM owner)) > 0) AS disputed"
)
# In how many attempts of a group the verdict stands on a failure of it.
_DECIDING = "count(DISTINCT nth) FILTER (decides) AS deciding"
# A tool is told where all of them failed by it.
_TOOL = "CASE WHEN count(DISTINCT tool) = 1 AND count(tool) = count(*) THEN any_value(tool) END AS tool"
_DETAIL = "CASE WHEN count(DISTINCT detail) > 1 THEN any_value(stem) ELSE any_value(detail) END AS detail"


def groups(view: View, limit: int = MOST_GROUPS, full: Sequence[FullScore] = ()) -> pl.DataFrame:
    """Groups of alike failures, those in most attempts first (of those that lost most points, where the view's
    weight is "points"): in how many (`attempts`), how often (`n`), by which `models`, how often by each
    (`by_model`), and what they share. Of attempts, as they are what is listed, and one can fail alike several
    times.

    Alike are failures of one scenario and kind that leave the way at the same stage by the same step, with the same
    value misread; unreadable replies of the same form and a provider's faults in the same words, in any scenario
    (`scenario` is null where there are several, `scenarios` their number); attempts whose end is wrong for the same
    reason, whatever its figures. What happened on the way is left out (see `on_the_way`) unless the view's errors
    name its kind. `of` are all failures under the view, in `of_attempts` attempts, `of_unscored` of them not
    scored; `share` is of these; `groups` the number of groups in all, `level` of those in as many attempts. `lost`:
    points that the group's attempts are below a full score, summed over the `scored` ones among them, by `full`;
    null where none has a score. `lost_in_all`: the points lost by all attempts under the view that are in any
    group, each counted once; `lost_in_groups` those of all groups added up, in which an attempt of several groups
    counts once in each. `deciding`: in how many of the attempts the verdict stands on a failure of the group;
    `disputed`: in how many of the attempts people say that it was another's doing than the
    group's owner.
    """
    counted, asked = _counted(view)
    condition, params = where(view.change(alike=""))
    order = "lost DESC NULLS LAST, attempts" if view.weight == "points" else "attempts"
    losses = {name: [getattr(each, name) for each in full] for name in _FULL}
    return ask(
        f"""
        WITH listed AS MATERIALIZED (
            SELECT t.*, a.nth, a.verdict, d.others, {STANDS} AS decides FROM troubles t
            JOIN ({_numbered(condition)}) a USING (run_id, attempt_id)
            LEFT JOIN {_OTHERS} d USING (run_id, attempt_id)
            WHERE {counted}
        ), {_losses(full)}, by_group AS (
            SELECT alike, sum(lost) AS lost, count(lost) AS scored
            FROM (SELECT DISTINCT alike, nth FROM listed) LEFT JOIN losses USING (nth) GROUP BY ALL
        )
        SELECT *, attempts / of_attempts AS share, count(*) OVER (PARTITION BY attempts) AS level,
            (SELECT sum(lost) FROM losses) AS lost_in_all, (SELECT sum(lost) FROM by_group) AS lost_in_groups FROM (
            SELECT alike, {_SHARED}, {_TOOL}, {_SCENARIO}, {_DETAIL}, count(*) AS n,
                count(DISTINCT nth) AS attempts, {_DECIDING}, {_IN_DISPUTE},
                list_sort(list(DISTINCT model)) AS models, histogram(model) AS by_model,
                (sum(count(*)) OVER ())::BIGINT AS of, count(*) OVER () AS groups,
                (SELECT count(DISTINCT nth) FROM listed) AS of_attempts,
                (SELECT count(DISTINCT nth) FROM listed WHERE coalesce(verdict, 'unscored') = 'unscored')
                    AS of_unscored
            FROM listed GROUP BY alike, {_SHARED}
        ) JOIN by_group USING (alike) ORDER BY {order} DESC, n DESC, alike LIMIT $limit
        """,
        {
            **params, **asked, "limit": limit,
            **({f"full_{name}": values for name, values in losses.items()} if full else {}),
        },
    )  # fmt: skip


def _counted(view: View) -> tuple[str, dict[str, Any]]:
    """Which troubles count as failures under a view: SQL and its parameters."""
    kinds = [kind for kind in view.errors if kind != "any"]
    if kinds and "any" not in view.errors:
        return "kind IN (SELECT unnest($wanted_kinds))", {"wanted_kinds": kinds}
    return "NOT on_the_way", {}


def _losses(full: Sequence[FullScore]) -> str:
    """SQL of `losses`: how far the scored ones among the `listed` attempts are below a full score."""
    if not full:
        return "losses AS (SELECT nth, NULL::DOUBLE AS lost FROM listed WHERE false)"
    return """full_scores AS (
            SELECT unnest($full_benchmark) AS benchmark, unnest($full_task) AS task, unnest($full_metric) AS metric,
                unnest($full_best)::DOUBLE AS best
        ), losses AS (
            SELECT nth, abs(any_value(best) - coalesce(avg(value) FILTER (turn IS NULL), avg(value))) AS lost
            FROM scores JOIN full_scores USING (benchmark, task, metric)
            JOIN (SELECT DISTINCT run_id, attempt_id, nth FROM listed) USING (run_id, attempt_id)
            WHERE value IS NOT NULL AND metric IN (SELECT unnest($full_metric)) GROUP BY ALL
        )"""


def _numbered(condition: str) -> str:
    """SQL of the attempts under a condition, numbered: to count numbers costs a fraction of counting pairs of texts."""
    columns = "run_id, attempt_id, verdict, verdict_turn, row_number() OVER () AS nth"
    return f"SELECT {columns} FROM attempts WHERE {condition}"


def on_the_way(view: View, limit: int = MOST_GROUPS) -> pl.DataFrame:
    """What failed on the way without deciding the attempt: refused and malformed tool calls, slips, lost replies.

    Columns: alike, kind, scenario and scenarios (as in `groups`), detail, n, attempts, passed (of these attempts),
    models, groups (in all), of (all that happened). Whatever the view's verdict, for what was mended is told apart.
    """
    condition, params = where(view.change(verdict="", alike=""))
    return ask(
        f"""
        SELECT alike, kind, {_SCENARIO}, {_DETAIL}, count(*) AS n, count(DISTINCT nth) AS attempts,
            count(DISTINCT nth) FILTER (verdict = 'passed') AS passed,
            list_sort(list(DISTINCT model)) AS models, count(*) OVER () AS groups,
            (sum(count(*)) OVER ())::BIGINT AS of
        FROM troubles JOIN ({_numbered(condition)}) USING (run_id, attempt_id)
        WHERE on_the_way GROUP BY ALL ORDER BY n DESC, alike LIMIT $limit
        """,
        {**params, "limit": limit},
    )


def group(view: View) -> dict[str, Any] | None:
    """What the failures of the view's group share (the columns of `groups` that describe), and under the view how often
    they happened (`n`) in how many `attempts`, `deciding` and `disputed` of them; None where there is none."""
    condition, params = where(view)
    found = ask(
        f"""SELECT {_SHARED}, {_TOOL}, {_SCENARIO}, {_DETAIL}, count(*) AS n, count(DISTINCT nth) AS attempts,
            {_DECIDING}, {_IN_DISPUTE}
        FROM (SELECT t.*, nth, {STANDS} AS decides
            FROM troubles t JOIN ({_numbered(condition)}) a USING (run_id, attempt_id))
            LEFT JOIN {_OTHERS} d USING (run_id, attempt_id)
        WHERE alike = $alike GROUP BY {_SHARED} ORDER BY n DESC LIMIT 1""",
        {**params, "alike": view.alike},
    )
    return None if found.is_empty() else found.row(0, named=True)


def typical(view: View, full: Sequence[FullScore] = ()) -> dict[str, Any] | None:
    """The attempt nearest to the middle of the view's group: run_id, attempt_id, the first turn of the group's failures
    (`first_turn`), turns, failures (all that decided it), lost (points, by `full`; null where it has no score), and the
    group's medians of these (`mid_turns`, `mid_failures`, `mid_lost`) and how far it reaches (`reach_…`). None of fewer
    than three attempts.

    The middle is the three medians; a distance from one is taken as a share of how far the group reaches in it, and
    they are summed. An attempt without a score is as far from that median as can be where others have one. Of those
    equally near it is the first by id. Where the verdict of any stands on a failure of the group (`deciding`: of how
    many, of `many` in all), it is one of these, and `first_turn` the turn of its verdict.
    """
    condition, params = where(view)
    losses = {name: [getattr(each, name) for each in full] for name in _FULL}
    far = " + ".join(
        f"CASE WHEN mid_{name} IS NULL THEN 0 ELSE coalesce(abs({name} - mid_{name}) / nullif(reach_{name}, 0), "
        f"CASE WHEN {name} IS NULL THEN 1 ELSE 0 END) END"
        for name in _MIDDLE
    )
    medians = ", ".join(
        f"median({name}) OVER () AS mid_{name}, max({name}) OVER () - min({name}) OVER () AS reach_{name}"
        for name in _MIDDLE
    )
    told = ", ".join(f"{name}, mid_{name}, reach_{name}" for name in _MIDDLE)
    found = ask(
        f"""
        WITH listed AS MATERIALIZED (
            SELECT run_id, attempt_id, nth, bool_or(alike = $alike AND {STANDS}) AS decides,
                coalesce(min(turn) FILTER (alike = $alike AND {STANDS}), min(turn) FILTER (alike = $alike))
                    AS first_turn,
                count(*) FILTER (NOT on_the_way) AS failures
            FROM troubles t JOIN ({_numbered(condition)}) a USING (run_id, attempt_id) GROUP BY ALL
        ), {_losses(full)}
        SELECT run_id, attempt_id, first_turn, deciding, many, {told}
        FROM (
            SELECT *, {medians}, count(*) OVER () AS many, count(*) FILTER (decides) OVER () AS deciding
            FROM listed JOIN (SELECT run_id, attempt_id, turns FROM attempts) USING (run_id, attempt_id)
                LEFT JOIN losses USING (nth)
        )
        WHERE many >= {_LEAST_TYPICAL} ORDER BY decides DESC, {far}, run_id, attempt_id LIMIT 1
        """,
        {
            **params, "alike": view.alike,
            **({f"full_{name}": values for name, values in losses.items()} if full else {}),
        },
    )  # fmt: skip
    return None if found.is_empty() else found.row(0, named=True)


def main_scores(attempts: pl.DataFrame, mains: Sequence[FullScore]) -> pl.DataFrame:
    """What attempts (run_id, attempt_id) of several benchmarks come to by their tasks' own main figures: run_id,
    attempt_id, score."""
    scored, params = scored_by("", mains)
    return ask(f"WITH chosen AS ({_THESE}), {scored} SELECT * FROM scored", {**params, **_these(attempts)})


# Attempts that are known one by one. Joined: to make a key of each row that is scanned costs twice as much.
_THESE = "(SELECT unnest($these_runs) AS run_id, unnest($these_attempts) AS attempt_id)"


def _these(attempts: pl.DataFrame) -> dict[str, list[str]]:
    return {"these_runs": attempts["run_id"].to_list(), "these_attempts": attempts["attempt_id"].to_list()}


def of_attempt(run_id: str, attempt_id: str) -> pl.DataFrame:
    """What decided one attempt, in the order of its turns: turn, alike, and what the failures of a group share."""
    return ask(
        f"""SELECT turn, alike, detail, scenario, {_SHARED}, tool FROM troubles
        WHERE run_id = $run AND attempt_id = $attempt AND NOT on_the_way ORDER BY turn NULLS FIRST, kind""",
        {"run": run_id, "attempt": attempt_id},
    )


def turns_alike(run_id: str, attempt_id: str, alike: str) -> list[int]:
    """The turns of one attempt on which something of this group failed, whether or not it decided anything."""
    found = ask(
        "SELECT DISTINCT turn FROM troubles WHERE run_id = $run AND attempt_id = $attempt AND alike = $alike "
        "AND turn IS NOT NULL ORDER BY turn",
        {"run": run_id, "attempt": attempt_id, "alike": alike},
    )
    return found["turn"].to_list()


def rows(
    view: View, limit: int = ROWS_A_PAGE, offset: int = 0, less_is_better: bool = False,
    mains: Sequence[FullScore] = (),
) -> Page:  # fmt: skip
    """One page of attempts as `read.attempts`, with `wrong` and `way` (kinds and how often each), first_turn, reason,
    disputed (whose doing people say it was instead).

    `wrong` is what decided the attempt, `way` what failed on the way to its end. `reason` says in words what is wrong
    with what was marked as a whole, or why it could not be marked. `first_turn` is the first one with something wrong.
    """
    page = attempts(view, limit, offset, view.order or "worst", less_is_better, mains)
    # Inside a group of alike failures, or of some kinds, their own turns count, else every turn that went wrong.
    opened = "NOT on_the_way"
    params: dict[str, Any] = {**_these(page.frame)}
    asked = [kind for kind in view.errors if kind != "any"]
    if view.alike:
        opened, params["alike"] = "alike = $alike", view.alike
    elif asked:
        opened, params["asked"] = "kind IN (SELECT unnest($asked))", asked
    kinds = ask(
        f"""
        WITH counted AS (
            SELECT run_id, attempt_id, kind, on_the_way, count(*) AS n, min(turn) FILTER ({opened}) AS turn,
                string_agg(detail, chr(10) ORDER BY detail) FILTER (kind IN ('answer', 'unmarked')) AS reason
            FROM troubles JOIN {_THESE} USING (run_id, attempt_id) GROUP BY ALL
        )
        SELECT run_id, attempt_id, list(kind || ':' || n ORDER BY n DESC, kind) FILTER (NOT on_the_way) AS wrong,
            list(kind || ':' || n ORDER BY n DESC, kind) FILTER (on_the_way) AS way,
            min(turn) AS first_turn, any_value(reason) AS reason
        FROM counted GROUP BY ALL
        """,
        params,
    )
    told = ask(f"SELECT * FROM ({_DISPUTED}) JOIN {_THESE} USING (run_id, attempt_id)", _these(page.frame))
    found = page.frame
    for each in (kinds, told):
        found = found.join(each, on=["run_id", "attempt_id"], how="left", maintain_order="left")
    return Page(found, page.total)


_DISPUTED = """SELECT run_id, attempt_id, string_agg(DISTINCT field, ', ' ORDER BY field) AS disputed
        FROM annotations_in_force WHERE kind = 'dispute' GROUP BY 1, 2"""


def chosen_set(
    view: View, messages: bool = False, metrics: Sequence[str] = (), less_is_better: bool = False,
    mains: Sequence[FullScore] = (),
) -> pl.DataFrame:  # fmt: skip
    """All attempts of the view as one row each in the order of `rows`, up to MOST_EXPORTED, with these metrics of the
    whole attempt (NAME_scored where an attempt has something else of that name), its verdict, tags and notes, the
    groups of alike failures that it is in (`alike`, as `groups` has them); with all that was said where asked for."""
    condition, params = where(view, "attempts", "a.")
    counted, asked = _counted(view)
    scored, figures = scored_by(view.metric, mains)
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
    picked = "".join(f"figures.{key}, " for key in taken.values())
    found = ask(
        f"""
        WITH wrong AS (SELECT run_id, attempt_id, {kinds} AS wrong FROM trouble_kinds
            WHERE value <> 'any' GROUP BY 1, 2),
        grouped AS (SELECT run_id, attempt_id, list(DISTINCT alike ORDER BY alike) AS alike FROM troubles
            WHERE {counted} GROUP BY 1, 2),
        tagged AS (SELECT run_id, attempt_id, list(value ORDER BY value) AS tags FROM attempt_tags GROUP BY 1, 2),
        noted AS (SELECT run_id, attempt_id, list(value ORDER BY created, id) AS notes FROM annotations_in_force
            WHERE kind = 'note' GROUP BY 1, 2),
        doubted AS ({_DISPUTED}),
        figures AS (SELECT {", ".join(["run_id", "attempt_id", *columns])} FROM scores
            WHERE turn IS NULL GROUP BY 1, 2),
        chosen AS (SELECT run_id, attempt_id FROM attempts a WHERE {condition}), {scored}
        SELECT a.* EXCLUDE (output, facets, facet_list), {shown_columns()} {picked} wrong.wrong, alike, disputed,
            tags, notes{said}
        FROM attempts a LEFT JOIN wrong USING (run_id, attempt_id) LEFT JOIN figures USING (run_id, attempt_id)
            LEFT JOIN scored USING (run_id, attempt_id)
            LEFT JOIN doubted USING (run_id, attempt_id) LEFT JOIN grouped USING (run_id, attempt_id)
            LEFT JOIN tagged USING (run_id, attempt_id) LEFT JOIN noted USING (run_id, attempt_id)
        WHERE {condition} ORDER BY {order_by(view, view.order or "worst", less_is_better)} LIMIT $most
        """,
        {**params, **asked, **figures, "most": MOST_EXPORTED},
    )
    # A metric may be called as a column of attempts is: `turns` is both.
    return found.rename({key: f"{name}_scored" if name in found.columns else name for name, key in taken.items()})


def to_jsonl(chosen: pl.DataFrame) -> bytes:
    """A chosen set as JSON Lines, one attempt a line."""
    return chosen.with_columns(pl.col("started").dt.strftime("%Y-%m-%dT%H:%M:%SZ")).write_ndjson().encode()


def samples_of(view: View) -> pl.DataFrame:
    """The samples that the view's attempts were made of, once each: benchmark, dataset_id, sample_id."""
    condition, params = where(view, "attempts", "a.")
    return ask(
        f"""SELECT DISTINCT a.benchmark, r.dataset_id, a.sample_id FROM attempts a JOIN runs r USING (run_id)
        WHERE {condition} ORDER BY 1, 2, 3""",
        params,
    )
