"""The turns behind a mark on a chart of procedures: rows without text, wrong ones first, counted and cut in SQL.

A pick is a short text that fits into an address (View.stage):
`stage4` a stage; `stage4>stage5` a transition; `error=field`; `way=stage1>stage2>Refund`; `left=stage3` first
divergence after that stage; `result=right>wrong` right result by the wrong way; `cell=stage4>EXPECTED>TAKEN`;
`flow=EXPECTED>LEFT_AT>TAKEN`.
"""

import polars as pl

from cxlab.read.attempts import Page
from cxlab.read.procedures import select_procedure
from cxlab.read.query import Params, ask
from cxlab.read.view import View
from cxlab.views.sop.queries import DIVERGES, QUADRANTS
from cxlab.views.sop.queries_chosen_turns import USABLE, WANTED, WAY, read_turns, where_chosen

ROWS_A_PAGE = 25


def kind_of(pick: str) -> str:
    """Which sort of mark a pick names: stage, step, error, way, left, result, cell, flow, or "" when it names none."""
    name, sign, _ = pick.partition("=")
    if sign:
        return name if name in ("error", "way", "left", "result", "cell", "flow") else ""
    return "step" if ">" in pick else "stage" if pick else ""


def parts_of(pick: str) -> list[str]:
    """What a pick names: ["stage4", "stage5"] of "stage4>stage5", ["field"] of "error=field"."""
    return pick.rpartition("=")[2].split(">")


def turns(view: View, pick: str, limit: int = ROWS_A_PAGE, offset: int = 0) -> Page:
    """One page of the turns of a pick; no pick, or one that cannot be meant: no rows.

    Columns: run_id, attempt_id, model, scenario, level, leaf, turn, error, wrong (here), way, wanted, expected (the
    reference's action), taken.
    """
    found = _match(pick)
    condition, params = where_chosen(view)
    if found is None:
        return Page(pl.DataFrame(), 0)
    usable, matches, wrong, values = found
    frame = ask(
        f"""
        WITH told AS (
            SELECT t.run_id, t.attempt_id, t.model, {select_procedure("t.facet_list")} AS scenario,
                {select_procedure("t.facet_list", "level")} AS level,
                {select_procedure("t.facet_list", "leaf")} AS leaf, t.turn, t.error,
                coalesce(t.reference_action, '') AS expected, coalesce(t.predicted_action, '') AS taken,
                {WAY}, {WANTED}
            FROM facetted('traces') t WHERE {condition} AND {usable}
        )
        SELECT *, {wrong} AS wrong, count(*) OVER () AS total FROM told WHERE {matches}
        ORDER BY wrong DESC, run_id, attempt_id, turn LIMIT $limit OFFSET $offset
        """,
        {**params, **values, "limit": limit, "offset": offset},
    )
    total = int(frame["total"][0]) if frame.height else 0
    return Page(frame.drop("total"), total)


def causes(view: View, pick: str) -> pl.DataFrame:
    """Why the wrong turns of a pick are wrong: error, n turns, and what is misread most often in them (field, given,
    due, times; null where nothing is); the commonest error first."""
    found = _match(pick)
    if found is None:
        return pl.DataFrame()
    usable, matches, wrong, values = found
    # Of the turns that the page's charts are made from, as reading the traces anew takes ten times as long.
    told = read_turns(view)
    beside = {
        "chosen_turns": told.turns.select("run_id", "attempt_id", "turn", pl.col("error").cast(pl.String), "pair"),
        "chosen_pairs": told.pairs,
    }
    return ask(
        f"""
        WITH told AS (
            SELECT * FROM chosen_turns t LEFT JOIN chosen_pairs USING (pair)
            WHERE {"pair IS NOT NULL" if usable == USABLE else usable}
        ), here AS MATERIALIZED (
            SELECT run_id, attempt_id, turn, error FROM told WHERE ({matches}) AND ({wrong})
        ), misread AS (
            SELECT error, field, given, wanted AS due, count(DISTINCT (run_id, attempt_id, turn)) AS times
            FROM (SELECT run_id, attempt_id, turn, field, given, wanted FROM troubles WHERE field IS NOT NULL)
            JOIN here USING (run_id, attempt_id, turn) GROUP BY ALL
        ), first AS (
            SELECT * FROM misread
            QUALIFY row_number() OVER (PARTITION BY error ORDER BY times DESC, field, given, due) = 1
        )
        SELECT error, n, field, given, due, times FROM (SELECT error, count(*) AS n FROM here GROUP BY 1)
        LEFT JOIN first USING (error) ORDER BY n DESC, error
        """,
        values,
        {name: rows.to_arrow() for name, rows in beside.items()},
    )


def _match(pick: str) -> tuple[str, str, str, Params] | None:
    """(which traces, which of their ways, what counts as wrong there, values) of a pick."""
    kind, parts = kind_of(pick), parts_of(pick)
    differ = "way IS DISTINCT FROM wanted"
    wrong = "error NOT IN ('none', 'unscored')"
    if kind == "stage":
        next_of = "{0}[list_position({0}, $p0) + 1]"
        at = "list_contains(way[:-2], $p0) AND list_contains(wanted[:-2], $p0)"
        return USABLE, at, f"{next_of.format('way')} IS DISTINCT FROM {next_of.format('wanted')}", {"p0": parts[0]}
    if kind == "step" and len(parts) == 2:
        has = "len(list_filter(range(1, len({0})), lambda i: {0}[i] = $p0 AND {0}[i + 1] = $p1)) > 0"
        made, due = has.format("way"), has.format("wanted")
        return USABLE, f"({made} OR {due})", f"({made}) <> ({due})", {"p0": parts[0], "p1": parts[1]}
    if kind == "error":
        return "t.error = $p0", "true", wrong, {"p0": parts[0]}
    if kind == "way":
        return USABLE, "list_aggregate(way, 'string_agg', '>') = $p0", differ, {"p0": ">".join(parts)}
    if kind == "left":
        left = f"({DIVERGES}) > 1 AND wanted[({DIVERGES}) - 1] = $p0"
        return USABLE, left, differ, {"p0": parts[0]}
    if kind == "result" and ">".join(parts) in QUADRANTS:
        same = {"right": "{0} IS NOT DISTINCT FROM {1}", "wrong": "{0} IS DISTINCT FROM {1}"}
        result, stages = (
            same[parts[0]].format("way[-1]", "wanted[-1]"),
            same[parts[1]].format("way[:-2]", "wanted[:-2]"),
        )
        return USABLE, f"{result} AND {stages}", differ, {}
    if kind == "cell" and len(parts) == 3:
        matches = (
            "list_contains(way[:-2], $p0) AND way[list_position(way, $p0) + 1] = $p2 "
            "AND list_contains(wanted[:-2], $p0) AND wanted[list_position(wanted, $p0) + 1] = $p1"
        )
        return USABLE, matches, wrong, dict(zip(("p0", "p1", "p2"), parts, strict=True))
    if kind == "flow" and len(parts) == 3:
        left = f"CASE WHEN ({DIVERGES}) IS NULL THEN '' ELSE coalesce(wanted[({DIVERGES}) - 1], '?') END"
        return (
            USABLE,
            f"wanted[-1] = $p0 AND {left} = $p1 AND way[-1] = $p2",
            wrong,
            dict(zip(("p0", "p1", "p2"), parts, strict=True)),
        )
    return None


def events(view: View) -> pl.DataFrame:
    """All predicted ways as an event log with the columns of process-mining tools, one row a step.

    `case:concept:name` is one turn of one attempt. Steps have no time of their own: `time:timestamp` is the start of
    the dialogue plus a second a turn and a millisecond a step, so only the order within it means something.
    """
    condition, params = where_chosen(view)
    return ask(
        f"""
        WITH told AS (
            SELECT t.run_id, t.attempt_id, t.model, {select_procedure("a.facet_list")} AS scenario,
                {select_procedure("a.facet_list", "level")} AS level,
                {select_procedure("a.facet_list", "leaf")} AS leaf, t.turn, t.error, a.started,
                {WAY}, {WANTED}
            FROM traces t JOIN attempts a USING (run_id, attempt_id) WHERE {condition} AND {USABLE}
        ), steps AS (SELECT *, unnest(range(1, len(way) + 1)) AS place FROM told)
        SELECT run_id || '/' || attempt_id || '/' || turn AS "case:concept:name", way[place] AS "concept:name",
            started + to_seconds(turn) + to_milliseconds(place) AS "time:timestamp", model AS "org:resource",
            CASE WHEN place < len(way) THEN 'stage' ELSE 'action' END AS kind,
            coalesce(wanted[place] = way[place], false) AS on_reference,
            scenario, level, leaf, turn, error, place::INTEGER AS step
        FROM steps ORDER BY run_id, attempt_id, turn, place
        """,
        params,
    )
