"""What a report asks the store beside what `read` answers: runs, owners of failures, telling failures, paths."""

from typing import Any

import polars as pl

from cxlab.read import failures
from cxlab.read.failure_kinds import OWNER
from cxlab.read.kept.troubles import STANDS
from cxlab.read.procedures import select_procedure
from cxlab.read.query import ask, where
from cxlab.read.view import View

_ALL_GROUPS = 1_000_000


def runs(view: View) -> pl.DataFrame:
    """The view's runs and what became of their attempts: run_id, model, simulated, created, planned,
    attempts, passed, failed, unscored, cut (by a provider); also of runs without any attempt."""
    condition, params = where(view)
    named = "run_id IN (SELECT unnest($runs))" if view.runs else "run_id IN (SELECT run_id FROM counted)"
    return ask(
        f"""
        WITH counted AS (
            SELECT run_id, count(*) AS attempts, count(*) FILTER (verdict = 'passed') AS passed,
                count(*) FILTER (verdict = 'failed') AS failed,
                count(*) FILTER (coalesce(verdict, 'unscored') = 'unscored') AS unscored,
                count(*) FILTER (outcome = 'provider') AS cut
            FROM attempts WHERE {condition} GROUP BY 1
        )
        SELECT run_id, model, simulated, created, planned,
            coalesce(attempts, 0) AS attempts, coalesce(passed, 0) AS passed, coalesce(failed, 0) AS failed,
            coalesce(unscored, 0) AS unscored, coalesce(cut, 0) AS cut
        FROM runs LEFT JOIN counted USING (run_id) WHERE {named} ORDER BY created, run_id
        """,
        {**params, **({"runs": list(view.runs)} if view.runs else {})},
    )


def owners(view: View) -> pl.DataFrame:
    """Whose doing failed and unscored attempts were: verdict, owner, n; the most frequent first."""
    condition, params = where(view.change(verdict="wrong"))
    return ask(
        f"""SELECT coalesce(verdict, 'unscored') AS verdict, {OWNER} AS owner,
            count(*) AS n
        FROM attempts WHERE {condition} GROUP BY ALL ORDER BY 1, 3 DESC, 2""",
        params,
    )


def failed(view: View) -> int:
    """How many of the view's attempts failed."""
    condition, params = where(view.change(verdict="failed"))
    found: int = ask(f"SELECT count(*) FROM attempts WHERE {condition}", params).item()
    return found


def telling(view: View, most: int) -> list[dict[str, Any]]:
    """Groups of alike failures (`failures.groups`), as the pages have them, those in most attempts first: what their
    failures share, in how many `attempts` of how many failed ones (`of`), by which `models`; and the attempt
    that stands for each: run_id, attempt_id, the `turn` of its failure, and the models that passed its sample
    (`passed_by`).

    The largest group of each kind, owner and reason comes before the second largest of any, so that a few show the
    range of what goes wrong.
    """
    wrong = view.change(verdict="failed")
    found = failures.groups(wrong, limit=_ALL_GROUPS)
    place = pl.int_range(pl.len()).over("kind", "owner", "detail")
    picked = found.with_columns(place=place).sort("place", maintain_order=True).head(most)
    order = ("attempts", "n", "alike")
    rows = picked.sort(order, descending=[True, True, False]).to_dicts()
    of = failed(view)
    return [{**row, "of": of, **_stand_for(view, wrong.change(alike=row["alike"]))} for row in rows]


def _stand_for(view: View, group: View) -> dict[str, Any]:
    """The attempt in the middle of a group, or of a small one its shortest; with the turn of its verdict where that
    stands on a failure of the group."""
    one = failures.typical(group)
    if one is None:
        condition, params = where(group)
        one = ask(
            f"""SELECT run_id, attempt_id, coalesce(min(t.turn) FILTER ({STANDS}), min(t.turn)) AS first_turn
            FROM troubles t JOIN (SELECT run_id, attempt_id, turns, verdict_turn FROM attempts WHERE {condition}) a
                USING (run_id, attempt_id)
            WHERE alike = $alike AND NOT on_the_way GROUP BY run_id, attempt_id, turns
            ORDER BY bool_or({STANDS}) DESC, turns, run_id, attempt_id LIMIT 1""",
            {**params, "alike": group.alike},
        ).row(0, named=True)
    condition, params = where(view.change(verdict=""))
    passed = ask(
        f"""SELECT DISTINCT model FROM attempts WHERE verdict = 'passed' AND {condition} AND sample_id IN (
            SELECT sample_id FROM attempts WHERE run_id = $run AND attempt_id = $attempt) ORDER BY 1""",
        {**params, "run": one["run_id"], "attempt": one["attempt_id"]},
    )
    return {"run_id": one["run_id"], "attempt_id": one["attempt_id"], "turn": one["first_turn"],
            "passed_by": passed["model"].to_list()}  # fmt: skip


# As the page SOP paths counts: turns that can be compared with a way due, whose way ends in what was decided.
_COUNTED = "t.parsed AND len(t.reference_path) > 0"


def stages(view: View, side: str) -> pl.DataFrame:
    """Stages on the ways of a view's turns: procedure, stage, side, followed, inserted, skipped (turns)."""
    condition, params = where(view, "traces", "t.")
    return ask(
        f"""
        WITH steps AS (
            SELECT {select_procedure("t.facet_list")} AS procedure, {_side(side)} AS side, unnest(t.moves) AS step
            FROM facetted('traces') t WHERE {_COUNTED} AND {condition}
        )
        SELECT procedure, step.stage AS stage, side, count(*) FILTER (step.move = 'sync') AS followed,
            count(*) FILTER (step.move = 'inserted') AS inserted, count(*) FILTER (step.move = 'skipped') AS skipped
        FROM steps GROUP BY ALL ORDER BY 1, 2, 3
        """,
        params,
    )


def ways(view: View, side: str) -> pl.DataFrame:
    """Ways taken against ways due, each with the action at its end: procedure, side, taken, due, n turns; the most
    frequent first."""
    condition, params = where(view, "traces", "t.")
    return ask(
        f"""
        SELECT {select_procedure("t.facet_list")} AS procedure, {_side(side)} AS side,
            list_append(t.predicted_path, coalesce(t.predicted_action, '')) AS taken,
            list_append(t.reference_path, coalesce(t.reference_action, '')) AS due, count(*) AS n
        FROM facetted('traces') t WHERE {_COUNTED} AND {condition} GROUP BY ALL ORDER BY n DESC, 1, 2, 3, 4
        """,
        params,
    )


def _side(side: str) -> str:
    return {"model": "t.model", "run_id": "t.run_id"}[side]
