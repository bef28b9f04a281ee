"""What went wrong in a turn, as SQL: its kind, where the way was left, which value was misread, and what is alike."""

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from cxlab import files
from cxlab.read import scenarios
from cxlab.read.view import View

KINDS = {
    "any": "anything at all",
    "field": "misread field",
    "execution": "left the procedure",
    "action": "wrong action",
    "lucky": "right by luck",
    "answer": "wrong result",
    "format": "unreadable reply",
    "unmarked": "not scored",
    "provider": "provider fault",
    "customer": "simulated customer fault",
    "judge": "judge without a usable vote",
    "scorer": "scorer fault",
    "unscored": "no reference: judges tied",
    "refused": "tool call refused",
    "arguments": "tool call with bad arguments",
    "unknown_tool": "call of a tool that is not there",
    "tool": "other tool error",
    "customer_tool": "customer's tool call refused",
    "agent": "slip of the agent",
}
"""Kinds of trouble in words. `any` stands for those that are a fault of an agent, a provider or a customer."""

EVENTS = ("refused", "arguments", "unknown_tool", "tool", "customer_tool", "agent")
"""Kinds that may happen on the way to a good end: an agent that is refused and mends it has done nothing wrong."""

VERDICTS = {"failed": ("failed",), "unscored": ("unscored",), "wrong": ("failed", "unscored"), "passed": ("passed",)}
"""What View.verdict lets through; all other values let everything through."""

_NOT_ANY = ("judge", "scorer", "unscored", "unmarked", *EVENTS)
_TOOL_ERRORS = ("refused", "arguments", "unknown_tool")
# The kind of a failure `f`. A customer with tools of its own is refused them, too; that is no fault of its model.
_KIND = f"""CASE WHEN f.where_ = 'tool' AND f.type IN {_TOOL_ERRORS} THEN f.type
        WHEN f.where_ = 'customer' AND f.type IN {_TOOL_ERRORS} THEN 'customer_tool' ELSE f.where_ END"""
_NO_DOING = (*EVENTS, "customer", "judge", "scorer")
_FAILED = "SELECT (run_id, attempt_id) FROM attempts WHERE verdict = 'failed'"
_FAILED_AT = f"{_FAILED} AND verdict_turn IS NOT NULL"
_CUT_SHORT = "SELECT (run_id, attempt_id) FROM attempts WHERE verdict_owner = 'provider'"
# The verdict of an attempt says what decided it; what else failed on its turns was on the way. A reply that could not
# be read decides a failed attempt, but for one turn of a dialogue whose end was judged as a whole; a provider's fault
# decides what it cut short. What is no doing of the agent decides nothing.
ON_THE_WAY = f"""NOT coalesce(CASE WHEN {_KIND} IN {_NO_DOING} THEN false
        WHEN f.where_ = 'provider' THEN (f.run_id, f.attempt_id) IN ({_CUT_SHORT})
        WHEN f.turn IS NULL THEN (f.run_id, f.attempt_id) IN ({_FAILED})
        ELSE (f.run_id, f.attempt_id) IN ({_FAILED_AT}) END, false)"""

_WRONG_TURNS = "SELECT (run_id, attempt_id) FROM traces WHERE error NOT IN ('none', 'unscored')"
_FAULTS = "SELECT (f.run_id, f.attempt_id) FROM failures f WHERE f.where_ = "
# Attempts that failed or could not be scored and of which nothing else says why: their verdict does.
BY_VERDICT = f"""a.verdict IN ('failed', 'unscored') AND (a.run_id, a.attempt_id) NOT IN ({_WRONG_TURNS})
        AND NOT (a.verdict = 'failed' AND (a.run_id, a.attempt_id) IN ({_FAULTS}'format' AND f.turn IS NULL))
        AND NOT (a.verdict = 'failed' AND a.verdict_turn IS NOT NULL
            AND (a.run_id, a.attempt_id) IN ({_FAULTS}'format'))
        AND NOT (coalesce(a.verdict_owner, '') = 'provider' AND (a.run_id, a.attempt_id) IN ({_FAULTS}'provider'))"""
# One row an attempt and kind; failures of the agent are what traces and formats call so.
_KIND_ROWS = f"""SELECT DISTINCT run_id, attempt_id, error AS value FROM traces WHERE error <> 'none'
    UNION SELECT f.run_id, f.attempt_id, {_KIND} FROM failures f
    UNION SELECT a.run_id, a.attempt_id, CASE a.verdict WHEN 'failed' THEN 'answer' ELSE 'unmarked' END
        FROM attempts a WHERE {BY_VERDICT}
    UNION SELECT run_id, attempt_id, 'judge' FROM votes WHERE NOT valid"""
# One row an attempt: failed, unscored or passed, as its benchmark's rule had it when it was scored.
VERDICT_ROWS = "SELECT run_id, attempt_id, coalesce(verdict, 'unscored') AS value FROM attempts"


def kind_of(where: str, type_: str) -> str:
    """The kind of a stored failure, as the SQL above has it."""
    if type_ not in _TOOL_ERRORS:
        return where
    return {"tool": type_, "customer": "customer_tool"}.get(where, where)


# Judges are split where their own fields lead different ways; a judge whose fields lead nowhere has no say.
# A way is compared by its hash: lists of lists of texts would be built and compared at four times the cost.
WAYS = "list_transform(alone, lambda a: CASE WHEN len(a.path) > 0 THEN hash(a.path, a.action) END)"
WAYS_APART = f"len(list_distinct({WAYS})) > 1"
_SPLIT_ROWS = f"""SELECT run_id, attempt_id, CASE WHEN bool_or({WAYS_APART}) THEN 'yes' ELSE 'no' END AS value
    FROM traces WHERE len(alone) > 1 GROUP BY 1, 2"""

_WITH_ANY = f"""WITH kinds AS MATERIALIZED ({_KIND_ROWS})
    SELECT * FROM kinds UNION ALL
    SELECT DISTINCT run_id, attempt_id, 'any' FROM kinds WHERE value NOT IN {_NOT_ANY}"""
FACETS = {"errors": _WITH_ANY, "splits": _SPLIT_ROWS}
"""Filters that are not columns of attempts: rows of run_id, attempt_id, value."""


def conditions(view: View, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The conditions that a View's verdict, errors, splits and group put on a table with attempts' keys."""
    key = f"({prefix}run_id, {prefix}attempt_id)"
    if view.verdict in VERDICTS:
        yield (
            f"{key} IN (SELECT (run_id, attempt_id) FROM ({VERDICT_ROWS}) WHERE value IN (SELECT unnest($f_verdict)))",
            {"f_verdict": list(VERDICTS[view.verdict])},
        )
    if view.errors:
        kinds = [kind for kind in view.errors if kind != "any"]
        wanted = "value IN (SELECT unnest($f_errors))"
        if "any" in view.errors:
            wanted = f"({wanted} OR value NOT IN (SELECT unnest($f_not_any)))"
        params: dict[str, Any] = {"f_errors": kinds or ["any"]}
        if "any" in view.errors:
            params["f_not_any"] = list(_NOT_ANY)
        yield f"{key} IN (SELECT (run_id, attempt_id) FROM ({_KIND_ROWS}) WHERE {wanted})", params
    if view.splits:
        yield (
            f"{key} IN (SELECT (run_id, attempt_id) FROM ({_SPLIT_ROWS}) WHERE value IN (SELECT unnest($f_splits)))",
            {"f_splits": list(view.splits)},
        )
    if view.alike:
        sql, given = troubles()
        yield (
            f"{key} IN (SELECT (run_id, attempt_id) FROM ({sql}) WHERE alike = $f_alike)",
            {**given, "f_alike": view.alike},
        )


def troubles(
    condition: str = "true", of_failures: str = "true", of_attempts: str = "true"
) -> tuple[str, dict[str, Any]]:
    """SQL for one row a turn and trouble, and its parameters.

    Columns: run_id, attempt_id, model, scenario, turn, kind, on_the_way, stage, took, due, field, given, wanted,
    detail, owner, tool, alike. `scenario` is the procedure where there is one, else the task. `on_the_way`: it did not
    decide the attempt. What only the verdict tells has its reason as `detail`, its owner, and where it was.

    `stage` is the last common step of the way taken and the way due, `took` and `due` the next ones: of the
    agent's own fields for a misread field (what they lead to), of the path it reported otherwise. `field` is the
    first one that `stage` asks for and that was misread, as `given` where the panel says `wanted`. `alike` names the
    group: same scenario, kind, stage, steps, field and values, or same form of a failure. `condition` narrows traces
    `t`, `of_failures` failures `f`, `of_attempts` attempts `a`.
    """
    return (
        with_alike(f"""
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
                        SELECT t.run_id, t.attempt_id, t.model, t.facets['{scenarios.FACET}'] AS scenario,
                            t.turn, t.error AS kind,
                            t.error IN ('field', 'lucky') AS misread,
                            CASE WHEN misread THEN list_append(t.own_path, t.own_action)
                                ELSE list_append(t.predicted_path, t.predicted_action) END AS way,
                            list_append(t.reference_path, t.reference_action) AS due_way,
                            CAST(t.predicted_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS said,
                            CAST(t.panel_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS panel
                        FROM facetted('traces') t
                        WHERE t.error IN ('field', 'lucky', 'execution', 'action') AND {condition}
                    )
                ) p LEFT JOIN (
                    SELECT each.scenario AS on_scenario, each.stage AS on_stage, each.fields AS fields
                    FROM (SELECT unnest(from_json($reads,
                        '[{{"scenario":"VARCHAR","stage":"VARCHAR","fields":["VARCHAR"]}}]')) AS each)
                ) r ON r.on_scenario = p.scenario AND r.on_stage = coalesce(way[place - 1], 'start')
            )
            UNION ALL
            {_others(of_failures, of_attempts)}
        """),
        {"reads": stage_fields()},
    )


def with_alike(sql: str) -> str:
    """The rows with the name of their group: `alike`."""
    return f"""
        SELECT *, left(md5(concat_ws('|', scenario, kind, stage, took, due, field, given, wanted, detail, tool)), 10)
            AS alike
        FROM ({sql})
        """


def plain(condition: str = "true", of_failures: str = "true", of_attempts: str = "true") -> str:
    """SQL of `troubles` for those who need to know no way: what concerns the way is NULL, and there is no `alike`.

    Takes a third of the time, for the fields of a turn are not read.
    """
    return f"""
        SELECT t.run_id, t.attempt_id, t.model, t.facets['{scenarios.FACET}'] AS scenario, t.turn, t.error AS kind,
            false AS on_the_way, NULL AS stage, NULL AS took, NULL AS due, NULL AS field, NULL AS given, NULL AS wanted,
            NULL::VARCHAR AS detail, 'agent' AS owner, NULL::VARCHAR AS tool
        FROM facetted('traces') t WHERE t.error IN ('field', 'lucky', 'execution', 'action') AND {condition}
        UNION ALL {_others(of_failures, of_attempts)}
        """


def _others(of_failures: str, of_attempts: str) -> str:
    """Rows of what is no turn that was held against a procedure: failures, and what only a verdict tells."""
    return f"""SELECT f.run_id, f.attempt_id, f.model, coalesce(f.facets['{scenarios.FACET}'], f.task), f.turn, {_KIND},
                {ON_THE_WAY},
                NULL, NULL, NULL, NULL, NULL, NULL, CASE
                    WHEN f.where_ = 'format' AND f.type = 'invalid'
                    THEN concat(f.type, ' ', regexp_extract(f.message, 'field ''([^'']+)''', 1))
                    WHEN {_KIND} IN {EVENTS} THEN regexp_replace(f.message, '\\S*[0-9]\\S*', '…', 'g')
                    ELSE f.type END, CASE f.where_ WHEN 'format' THEN 'agent' ELSE f.where_ END, NULL
            FROM (SELECT f.*, a.facets, a.task FROM failures f JOIN attempts a USING (run_id, attempt_id)) f
            WHERE {of_failures}
            UNION ALL
            SELECT a.run_id, a.attempt_id, a.model, coalesce(a.facets['{scenarios.FACET}'], a.task), a.verdict_turn,
                CASE a.verdict WHEN 'failed' THEN 'answer' ELSE 'unmarked' END, false, a.verdict_stage, NULL, NULL,
                a.verdict_field, NULL, NULL, a.verdict_reason, a.verdict_owner, a.verdict_tool
            FROM attempts a WHERE {BY_VERDICT} AND {of_attempts}"""


def stage_fields() -> str:
    """JSON rows of scenario, stage and the fields that the stage asks for, in order; read anew when a file changes."""
    return _reads(_stamp())


def _stamp() -> tuple[tuple[str, int], ...]:
    return tuple((path.stem, path.stat().st_mtime_ns) for path in sorted(scenarios.FOLDER.glob("*.yaml")))


@lru_cache(maxsize=4)
def _reads(stamp: tuple[tuple[str, int], ...]) -> str:
    """JSON: which fields each stage of each procedure asks for, in order."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, _ in stamp:
        for edge in scenarios.procedure(name).edges:
            fields = rows.setdefault((name, edge.source), [])
            fields += [field for branch in edge.branches for field, _ in branch.conditions if field not in fields]
    return json.dumps(
        [{"scenario": scenario, "stage": stage, "fields": fields} for (scenario, stage), fields in rows.items()]
    )


def field_options(scenario: str) -> dict[str, tuple[str, ...]]:
    """The fields of a scenario and their options as judges write them; {} where there is no such scenario."""
    path = scenarios.FOLDER / f"{scenario}.yaml"
    return _options(path, path.stat().st_mtime_ns) if scenario in scenarios.procedures() else {}


@lru_cache(maxsize=32)
def _options(path: Path, stamp: int) -> dict[str, tuple[str, ...]]:
    fields = files.read_yaml(path).get("fields") or {}
    return {name: tuple(_show(option) for option in spec.get("options") or ()) for name, spec in fields.items()}


def _show(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
