"""What a report asks the store beside what `read` answers: runs, owners of failures, telling failures, paths."""

import polars as pl

from cxlab.read.failure_kinds import OWNER, REASON_STEM, without_figures
from cxlab.read.procedures import select_procedure
from cxlab.read.query import ask, where
from cxlab.read.view import View


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


def telling(view: View, most: int) -> pl.DataFrame:
    """Failed attempts of which no two are alike, one row a kind: run_id, attempt_id, model, owner, reason, and of its
    kind n attempts, by which models, of how many failures in all; passed_by (models that passed the same sample).

    Alike are failures of one owner, task and procedure for one reason, whatever its figures (as on the page Failures),
    at one stage, field and tool. First comes the largest kind of each reason, without what names a single case in it;
    where these are too few the second largest of each, and so on. A kind is shown by its shortest attempt.
    """
    condition, params = where(view.change(verdict="failed"))
    everything, others = where(view.change(verdict=""))
    return ask(
        f"""
        WITH failed AS (
            SELECT *, {OWNER} AS owner, {REASON_STEM} AS stem,
                {without_figures("split_part(coalesce(verdict_reason, ''), chr(10), 1)")} AS alike,
                {select_procedure("facet_list")} AS procedure
            FROM attempts WHERE {condition}
        ), ordered AS (
            SELECT *, row_number() OVER (
                PARTITION BY owner, task, procedure, alike, verdict_stage, verdict_field, verdict_tool
                ORDER BY turns, run_id, attempt_id
            ) AS nth FROM failed
        ), kinds AS (
            SELECT owner, task, procedure, alike, stem, verdict_stage, verdict_field, verdict_tool, count(*) AS n,
                list_sort(list(DISTINCT model)) AS models, any_value(run_id) FILTER (nth = 1) AS run_id,
                any_value(attempt_id) FILTER (nth = 1) AS attempt_id
            FROM ordered GROUP BY ALL
        ), placed AS (
            SELECT *, row_number() OVER (PARTITION BY owner, stem ORDER BY n DESC, attempt_id, run_id) AS place,
                sum(n) OVER (PARTITION BY owner, stem) AS of_stem, (sum(n) OVER ())::BIGINT AS of
            FROM kinds
        ), picked AS (
            SELECT * FROM placed ORDER BY place, of_stem DESC, n DESC, stem, attempt_id, run_id LIMIT $most
        ), good AS (
            SELECT sample_id, list_sort(list(DISTINCT model)) AS passed_by FROM attempts
            WHERE verdict = 'passed' AND {everything} GROUP BY 1
        )
        SELECT f.run_id, f.attempt_id, f.model, f.owner,
            replace(coalesce(f.verdict_reason, ''), chr(10), ' · ') AS reason, f.task, f.procedure,
            p.n, p.models, p.of, coalesce(good.passed_by, []) AS passed_by
        FROM picked p JOIN failed f USING (run_id, attempt_id) LEFT JOIN good USING (sample_id)
        ORDER BY p.n DESC, f.run_id, f.attempt_id
        """,
        {**params, **others, "most": most},
    )


# As the page SOP paths counts: turns that can be held against a way due, whose way ends in what was decided.
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
