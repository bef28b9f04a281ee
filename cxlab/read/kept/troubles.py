"""What went wrong in each attempt, looked up once a run and kept: tables that every query can name (`TABLES`).

A filter then only counts rows. What a new part changes is looked up anew for its run alone.
"""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.read import failure_kinds, procedures
from cxlab.read.failure_kinds import EVENTS, NOT_ANY, TOOL_ERRORS, VERDICTS, without_figures
from cxlab.read.view import View
from cxlab.store import catalogue, connect, layout

if TYPE_CHECKING:
    import duckdb

# --- SQL. `{runs}` stands for the runs that are looked at, of the table or alias before it; the other names in braces
# for what benchmarks declare of their procedures.

# The kind of a failure `f`. A customer with tools of its own is refused them, too; that is no fault of its model.
_KIND = f"""CASE WHEN f.where_ = 'tool' AND f.type IN {TOOL_ERRORS} THEN f.type
        WHEN f.where_ = 'customer' AND f.type IN {TOOL_ERRORS} THEN 'customer_tool' ELSE f.where_ END"""
_NO_DOING = (*EVENTS, "customer", "judge", "scorer")
# The verdict of an attempt says what decided it; what else failed on its turns was on the way. A reply that could not
# be read decides a failed attempt, but for one turn of a dialogue whose end was judged as a whole, or of whose turns
# others were judged and the verdict names another; a provider's fault decides what it cut short. What is no doing of
# the agent decides nothing.
_DECIDED = f"""coalesce(CASE WHEN {_KIND} IN {_NO_DOING} THEN false
        WHEN f.where_ = 'provider' THEN f.verdict_owner = 'provider'
        WHEN f.turn IS NULL THEN f.verdict = 'failed'
        ELSE f.verdict = 'failed' AND f.verdict_turn IS NOT NULL
            AND (coalesce(list_contains(f.judged, f.turn), true) OR f.turn = f.verdict_turn)
        END, false)"""
_FAILURES = """SELECT f.*, a.facet_list, a.task, a.verdict, a.verdict_owner, a.verdict_turn, t.judged
        FROM failures f JOIN attempts a USING (run_id, attempt_id)
        LEFT JOIN (SELECT run_id, attempt_id, list(turn) AS judged FROM traces WHERE {runs} GROUP BY ALL) t
            USING (run_id, attempt_id)
        WHERE {runs}"""
# Attempts that failed or could not be scored and of which nothing else says why: their verdict does, line by line.
_BY_VERDICT = f"""FROM (SELECT *, unnest(string_split(coalesce(verdict_reason, ''), chr(10))) AS each_reason
            FROM attempts WHERE verdict IN ('failed', 'unscored') AND {{runs}}) a
        ANTI JOIN (SELECT run_id, attempt_id FROM traces
            WHERE (error IN {{misread}} OR error IN {{deviations}}) AND {{runs}}) t
            USING (run_id, attempt_id)
        ANTI JOIN (SELECT run_id, attempt_id FROM ({_FAILURES}) f WHERE where_ IN ('format', 'provider') AND {_DECIDED})
            USING (run_id, attempt_id)"""

# One row a turn or failure. `scenario` is the procedure where there is one, else the task. `on_the_way`: it did not
# decide the attempt. What only the verdict tells has its reason as `detail`, its owner, and where it was.
# `stage` is the last common step of the way taken and the way due, `took` and `due` the next ones: of the agent's own
# fields for a misread field (what they lead to), of the path it reported otherwise. `field` is the first one that
# `stage` asks for and that was misread, as `given` where the panel says `wanted`. `alike` names the group: same
# scenario, kind, stage, steps, field and values, or the same form of an unreadable reply, or the same
# words of a provider, wherever; of what only the
# verdict tells the same reason and owner, by whatever tool it came ("-" where no step was taken: to stop is not to go
# on). What decided nothing is no group with what did. `stem` is the detail without its figures, by which that is told.
_TROUBLES = f"""
    SELECT *, {without_figures("detail")} AS stem,
        left(md5(concat_ws('|', CASE WHEN kind NOT IN ('format', 'provider') THEN scenario END, kind, stage, took,
            CASE WHEN took IS NULL AND due IS NOT NULL THEN '-' END, due, field, given, wanted, stem,
            CASE WHEN detail IS NULL THEN tool END,
            CASE WHEN kind IN ('answer', 'unmarked') THEN owner END,
            CASE WHEN on_the_way AND kind NOT IN {EVENTS} THEN 'on the way' END)), 10) AS alike
    FROM (
        SELECT run_id, attempt_id, model, scenario, turn, kind, false AS on_the_way, stage, took, due,
            CASE WHEN misread THEN coalesce(asked, other) END AS field,
            CASE WHEN misread THEN said[coalesce(asked, other)] END AS given,
            CASE WHEN misread THEN panel[coalesce(asked, other)] END AS wanted, NULL::VARCHAR AS detail,
            'agent' AS owner, NULL::VARCHAR AS tool
        FROM (
            SELECT p.*, coalesce(way[place - 1], 'start') AS stage, way[place] AS took, due_way[place] AS due,
                list_filter(r.fields, lambda f: said[f] IS DISTINCT FROM panel[f]
                    AND panel[f] IS NOT NULL AND said[f] IS NOT NULL)[1] AS asked,
                list_filter(map_keys(panel), lambda f: said[f] IS DISTINCT FROM panel[f]
                    AND panel[f] IS NOT NULL AND said[f] IS NOT NULL)[1] AS other
            FROM (
                SELECT *, list_filter(range(1, greatest(len(way), len(due_way)) + 1),
                    lambda i: way[i] IS DISTINCT FROM due_way[i])[1] AS place
                FROM (
                    SELECT t.run_id, t.attempt_id, t.model, {{procedure_t}} AS scenario,
                        t.turn, t.error AS kind,
                        t.error IN {{misread}} AS misread,
                        CASE WHEN misread THEN list_append(t.own_path, t.own_action)
                            ELSE list_append(t.predicted_path, t.predicted_action) END AS way,
                        list_append(t.reference_path, t.reference_action) AS due_way,
                        CAST(t.predicted_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS said,
                        CAST(t.panel_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS panel
                    FROM facetted('traces') t
                    WHERE (t.error IN {{misread}} OR t.error IN {{deviations}}) AND {{runs}}
                )
            ) p LEFT JOIN (
                SELECT each.scenario AS on_scenario, each.stage AS on_stage, each.fields AS fields
                FROM (SELECT unnest(from_json($reads,
                    '[{{{{"scenario":"VARCHAR","stage":"VARCHAR","fields":["VARCHAR"]}}}}]')) AS each)
            ) r ON r.on_scenario = p.scenario AND r.on_stage = coalesce(way[place - 1], 'start')
        )
        UNION ALL
        SELECT f.run_id, f.attempt_id, f.model, coalesce({{procedure_f}}, f.task),
            f.turn, {_KIND}, NOT {_DECIDED}, NULL, NULL, NULL, NULL, NULL, NULL, CASE
                WHEN f.where_ = 'format' AND f.type = 'invalid'
                THEN concat(f.type, ' ', regexp_extract(f.message, 'field ''([^'']+)''', 1))
                WHEN {_KIND} IN {EVENTS} THEN {without_figures("f.message")}
                WHEN f.where_ = 'provider' THEN concat_ws(' ', f.type, nullif(left(trim(f.message), 200), ''))
                ELSE f.type END, CASE f.where_ WHEN 'format' THEN 'agent' ELSE f.where_ END, NULL
        FROM ({_FAILURES}) f
        UNION ALL
        SELECT a.run_id, a.attempt_id, a.model, coalesce({{procedure_a}}, a.task),
            a.verdict_turn,
            CASE a.verdict WHEN 'failed' THEN 'answer' ELSE 'unmarked' END, false, a.verdict_stage, NULL, NULL,
            a.verdict_field, NULL, NULL, nullif(a.each_reason, ''), a.verdict_owner, a.verdict_tool
        {_BY_VERDICT}
    )"""

# One row an attempt and kind; failures of the agent are what traces and formats call so.
_KINDS = f"""WITH kinds AS MATERIALIZED (
        SELECT DISTINCT run_id, attempt_id, error AS value FROM traces WHERE error <> 'none' AND {{runs}}
        UNION SELECT f.run_id, f.attempt_id, {_KIND} FROM failures f WHERE {{runs}}
        UNION SELECT a.run_id, a.attempt_id, CASE a.verdict WHEN 'failed' THEN 'answer' ELSE 'unmarked' END
            {_BY_VERDICT}
        UNION SELECT run_id, attempt_id, 'judge' FROM votes WHERE NOT valid AND {{runs}}
    )
    SELECT * FROM kinds UNION ALL
    SELECT DISTINCT run_id, attempt_id, 'any' FROM kinds WHERE value NOT IN {NOT_ANY}"""

# Judges are split where their own fields lead different ways; a judge whose fields lead nowhere has no say.
# A way is compared by its hash: lists of lists of texts would be built and compared at four times the cost.
_SPLITS = """SELECT run_id, attempt_id, CASE WHEN bool_or(len(list_distinct(
        list_transform(single_judges, lambda a: CASE WHEN len(a.path) > 0 THEN hash(a.path, a.action) END)
    )) > 1) THEN 'yes' ELSE 'no' END AS value
    FROM traces WHERE len(single_judges) > 1 AND {runs} GROUP BY 1, 2"""

# One row an attempt with evaluated turns: how many, and how many of them went wrong.
_TURNS = """SELECT run_id, attempt_id, count(*)::INTEGER AS turns,
        (count(*) FILTER (error NOT IN ('none', 'unscored')))::INTEGER AS wrong
    FROM traces WHERE {runs} GROUP BY 1, 2"""

_MADE_BY = {"troubles": _TROUBLES, "trouble_kinds": _KINDS, "judge_splits": _SPLITS, "turns_gone_wrong": _TURNS}
TABLES = tuple(_MADE_BY)
"""Names for use in a query.

`troubles` has one row a turn or failure: run_id, attempt_id, model, scenario, turn, kind, on_the_way, stage, took, due,
field, given, wanted, detail, owner, tool, stem, alike. `trouble_kinds` and `judge_splits` have run_id, attempt_id,
value; `turns_gone_wrong` run_id, attempt_id, turns, wrong."""
# What people have written to an attempt, or that nobody has.
_WRITTEN = """(SELECT DISTINCT run_id, attempt_id, kind AS value
        FROM annotations_in_force WHERE kind IN ('note', 'adjudication', 'dispute')
    UNION SELECT DISTINCT run_id, attempt_id, 'tag' FROM attempt_tags
    UNION ALL SELECT run_id, attempt_id, 'nothing' FROM attempts ANTI JOIN (SELECT run_id, attempt_id
        FROM annotations_in_force WHERE kind IN ('note', 'adjudication', 'dispute') UNION SELECT run_id, attempt_id
        FROM attempt_tags) w USING (run_id, attempt_id))"""

STANDS = "t.turn IS NOT DISTINCT FROM a.verdict_turn AND NOT t.on_the_way"
"""SQL: whether the verdict of an attempt `a` stands on a trouble `t` of it."""

FACETS = {"errors": "trouble_kinds", "splits": "judge_splits", "tags": "attempt_tags", "written": _WRITTEN}
"""Filters that are not columns of attempts → the table of their values: run_id, attempt_id, value."""


def conditions(view: View, prefix: str = "", own_verdict: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """The conditions that a View's verdict, errors, splits and group put on a table with attempts' keys.

    `own_verdict`: the table has the verdict itself.
    """
    key = f"({prefix}run_id, {prefix}attempt_id)"
    if view.verdict in VERDICTS:
        params: dict[str, Any] = {"f_verdict": list(VERDICTS[view.verdict])}
        wanted = "coalesce({}verdict, 'unscored') IN (SELECT unnest($f_verdict))"
        if own_verdict:
            yield wanted.format(prefix), params
        else:
            yield f"{key} IN (SELECT (run_id, attempt_id) FROM attempts WHERE {wanted.format('')})", params
    for name, values in ((name, view.values(name)) for name in FACETS):
        if values:
            yield (
                f"{key} IN (SELECT (run_id, attempt_id) FROM {FACETS[name]} WHERE value IN (SELECT unnest($f_{name})))",
                {f"f_{name}": list(values)},
            )
    if view.alike:
        stands = f"JOIN attempts a USING (run_id, attempt_id) WHERE {STANDS} AND" if view.decides == "yes" else "WHERE"
        yield (
            f"{key} IN (SELECT (t.run_id, t.attempt_id) FROM troubles t {stands} t.alike = $f_alike)",
            {"f_alike": view.alike},
        )


# --- keeping


@dataclass
class _Kept:
    """One table of one store: its rows, as a query takes them, and the stamp of each run's files at that time."""

    reads: str = ""
    stamps: dict[str, str] = field(default_factory=dict)
    rows: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)


# Few stores are looked at by one process; tests look at many, one after the other.
_MOST_STORES = 4
_kept: dict[str, dict[str, _Kept]] = {}
_keeping = threading.Lock()


def named_in(sql: str, con: "duckdb.DuckDBPyConnection") -> dict[str, Any]:
    """The Arrow tables of TABLES that a query names, as they are now."""
    return {name: _look_up(name, con) for name in TABLES if name in sql}


def _look_up(name: str, con: "duckdb.DuckDBPyConnection") -> Any:
    home = str(layout.home())
    with _keeping:
        while len(_kept) >= _MOST_STORES and home not in _kept:
            del _kept[next(iter(_kept))]
        kept = _kept.setdefault(home, {each: _Kept() for each in TABLES})[name]
    with kept.lock:
        known = dict(catalogue.read(home).stamps)
        reads = procedures.stage_fields() if name == "troubles" else ""
        before = kept.stamps if kept.rows is not None and kept.reads == reads else {}
        if kept.rows is None or kept.reads != reads or known != before:
            changed = [run for run, stamp in known.items() if before.get(run) != stamp]
            parts = [_ask(name, con, changed if before else None, reads)] if changed or not before else []
            if before and kept.rows is not None:
                same = [run for run in before if known.get(run) == before[run]]
                rows = pl.DataFrame(pl.from_arrow(kept.rows))
                parts.append(rows.filter(pl.col("run_id").is_in(same)))
            kept.rows, kept.stamps, kept.reads = pl.concat(parts).to_arrow(), known, reads
        return kept.rows


def _ask(name: str, con: "duckdb.DuckDBPyConnection", runs: list[str] | None, reads: str) -> pl.DataFrame:
    params: dict[str, Any] = {"reads": reads} if reads else {}
    condition = "true"
    if runs is not None:
        params |= {f"run_{place}": run for place, run in enumerate(runs)}
        condition = f"run_id IN ({', '.join(f'$run_{place}' for place in range(len(runs)))})"
    words = {f"procedure_{alias}": procedures.select_procedure(f"{alias}.facet_list") for alias in ("t", "f", "a")}
    words |= {"misread": _listed(failure_kinds.misread()), "deviations": _listed(failure_kinds.deviations())}
    return connect.query(con, _MADE_BY[name].format(runs=condition, **words), params)


def _listed(kinds: Iterable[str]) -> str:
    """A list of SQL; of nothing one that nothing is in. Kinds are plain words."""
    return f"({', '.join(map(repr, kinds)) or 'NULL'})"
