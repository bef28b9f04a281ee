"""The queue of disagreements: which split verdicts to look at first, and what every judge said of one."""

import polars as pl

from cxlab.read.annotations import adjudications
from cxlab.read.attempts import Page
from cxlab.read.procedures import select_procedure, stage_fields
from cxlab.read.query import ask, where
from cxlab.read.view import View

ROWS_A_PAGE = 25


def queue(view: View, undecided: bool = False, limit: int = ROWS_A_PAGE, offset: int = 0) -> Page:
    """Split verdicts on fields, those that matter most first: one row a turn and field.

    `entropy` of the verdicts in bits; `stake`: how far the turn's logic score goes from one judge alone to another,
    in points, where the field is one that the stage at which their ways part asks for (`decisive`), else 0;
    `priority` = entropy x stake. `decided`: what a person said.
    """
    condition, params = where(view, "judgements", "j.")
    decided = "AND d.value IS NULL" if undecided else ""
    narrowed = (
        f"AND {select_procedure('j.facet_list')} = $on_scenario AND j.field = $on_field" if "." in view.field else ""
    )
    if narrowed:
        params["on_scenario"], _, params["on_field"] = view.field.rpartition(".")
    frame = ask(
        f"""
        WITH split AS (
            SELECT run_id, attempt_id, turn, field, any_value(model) AS model,
                any_value({select_procedure("facet_list")}) AS scenario,
                any_value({select_procedure("facet_list", "level")}) AS level,
                entropy(verdict) AS entropy
            FROM facetted('judgements') j
            WHERE {condition} AND kind = 'field' AND status = 'ok' AND judge <> 'measured' {narrowed}
            GROUP BY 1, 2, 3, 4 HAVING min(verdict) <> max(verdict)
        ), apart AS (
            SELECT run_id, attempt_id, turn, scenario,
                coalesce(list_max(list_transform(led, lambda a: a.logic))
                    - list_min(list_transform(led, lambda a: a.logic)), 0) AS range,
                list_transform(led, lambda a: list_append(a.path, a.action)) AS ways
            FROM (SELECT run_id, attempt_id, turn, {select_procedure("facet_list")} AS scenario,
                list_filter(alone, lambda a: len(a.path) > 0) AS led FROM facetted('traces'))
            WHERE len(list_distinct(list_transform(led, lambda a: list_append(a.path, a.action)))) > 1
        ), staked AS (
            SELECT w.run_id, w.attempt_id, w.turn, w.range, r.fields
            FROM (SELECT run_id, attempt_id, turn, scenario, range, any_value(stage ORDER BY place) AS stage
                FROM (SELECT run_id, attempt_id, turn, scenario, range, place, any_value(way[place - 1]) AS stage
                    FROM (SELECT run_id, attempt_id, turn, scenario, range, unnest(ways) AS way FROM apart),
                        generate_series(1, 20) AS steps(place)
                    GROUP BY 1, 2, 3, 4, 5, 6 HAVING count(DISTINCT coalesce(way[place], '')) > 1)
                GROUP BY 1, 2, 3, 4, 5) w
            LEFT JOIN (SELECT unnest(from_json($reads,
                '[{{"scenario":"VARCHAR","stage":"VARCHAR","fields":["VARCHAR"]}}]'), recursive := true)) r
                USING (scenario, stage)
        ), decided AS (
            SELECT run_id, attempt_id, turn, field, arg_max(value, created) AS value FROM annotations
            WHERE kind = 'adjudication' AND id NOT IN (SELECT value FROM annotations WHERE kind = 'withdrawn')
            GROUP BY 1, 2, 3, 4
        )
        SELECT s.*, coalesce(list_contains(t.fields, s.field), false) AS decisive,
            CASE WHEN decisive THEN t.range ELSE 0 END AS stake, s.entropy * stake AS priority, d.value AS decided,
            count(*) OVER () AS total
        FROM split s LEFT JOIN staked t USING (run_id, attempt_id, turn)
            LEFT JOIN decided d ON d.run_id = s.run_id AND d.attempt_id = s.attempt_id AND d.turn = s.turn
                AND d.field = s.field
        WHERE true {decided}
        ORDER BY priority DESC, entropy DESC, run_id, attempt_id, turn, field LIMIT $limit OFFSET $offset
        """,
        {**params, "reads": stage_fields(), "limit": limit, "offset": offset},
    )
    total = int(frame["total"][0]) if frame.height else 0
    return Page(_with_verdicts(frame.drop("total")), total)


def _with_verdicts(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `judges` and their `verdicts`, in the same order; looked up for these rows only."""
    keys = ["run_id", "attempt_id", "turn", "field"]
    said = ask(
        """SELECT run_id, attempt_id, turn, field, list(judge ORDER BY judge) AS judges,
            list(verdict ORDER BY judge) AS verdicts
        FROM judgements WHERE kind = 'field' AND status = 'ok' AND attempt_id IN (SELECT unnest($attempts))
        GROUP BY 1, 2, 3, 4""",
        {"attempts": rows["attempt_id"].unique(maintain_order=True).to_list()},
    )
    return rows.join(said, on=keys, how="left", maintain_order="left")


def on_field(run_id: str, attempt_id: str, turn: int, field: str) -> pl.DataFrame:
    """What every judge said of one field of one turn: judge, verdict, status, rationale, raw, valid, failure, and
    where the judge alone would lead (path, action, logic)."""
    return ask(
        """
        SELECT j.judge, j.verdict, j.status, v.rationale, v.raw, v.valid, v.failure, a.path, a.action, a.logic
        FROM judgements j
        LEFT JOIN votes v USING (run_id, attempt_id, turn, judge)
        LEFT JOIN (SELECT one.* FROM (SELECT unnest(alone) AS one FROM traces
            WHERE run_id = $run AND attempt_id = $attempt AND turn = $turn)) a ON a.judge = j.judge
        WHERE j.run_id = $run AND j.attempt_id = $attempt AND j.turn = $turn AND j.field = $field AND j.kind = 'field'
        ORDER BY j.judge
        """,
        {"run": run_id, "attempt": attempt_id, "turn": turn, "field": field},
    )


def with_people(view: View) -> pl.DataFrame:
    """How often each judge agrees with the person who decided: judge, n, agree (share)."""
    condition, params = where(view, "judgements", "j.")
    decided = adjudications()
    if decided.is_empty():
        return pl.DataFrame(schema={"judge": pl.String, "n": pl.Int64, "agree": pl.Float64})
    return ask(
        f"""
        WITH decided AS (
            SELECT run_id, attempt_id, turn, field, arg_max(value, created) AS value FROM annotations
            WHERE kind = 'adjudication' AND id NOT IN (SELECT value FROM annotations WHERE kind = 'withdrawn')
            GROUP BY 1, 2, 3, 4
        )
        SELECT j.judge, count(*) AS n, avg((j.verdict = d.value)::INT) AS agree
        FROM judgements j JOIN decided d USING (run_id, attempt_id, turn, field)
        WHERE {condition} AND j.status = 'ok' GROUP BY 1 ORDER BY 3 DESC, 1
        """,
        params,
    )
