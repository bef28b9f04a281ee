"""The verdicts of one judge, each beside those of the others and beside the truth where it is known."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import polars as pl

from cxlab.read.procedures import select_procedure
from cxlab.read.query import ask, cut, version_of, where, widen
from cxlab.read.view import View
from cxlab.records.evaluation import MEASURED
from cxlab.store import layout
from cxlab.views.judges.queries_agreement import facet_columns

Kept = Literal["all", "known", "wrong", "alone", "unused"]
MOST = 500
"""Verdicts that a list shows; its counts are of all."""
# Of the verdicts of a judge, those that are kept.
_KEPT = {
    "all": "said IS NOT NULL",
    "known": "said IS NOT NULL AND truth IS NOT NULL AND len(others) > 0",
    "wrong": "said IS NOT NULL AND truth IS NOT NULL AND len(others) > 0 AND said <> truth",
    "alone": "said IS NOT NULL AND len(others) > 0 AND NOT list_contains(others, said)",
    "unused": "said IS NULL",
}


class Verdicts(NamedTuple):
    """`counts`: how many there are by `Kept`; `rows`: the first `MOST` of those that are asked for.

    Columns of `rows`: run_id, attempt_id, model, sample_id, turn, kind, name (of the field, with its procedure, or of
    the grade), said, beside (of the other judge that is asked for), others (valid verdicts of all others), truth,
    status ("ok" where `said` is one of the options).
    """

    counts: dict[str, int]
    rows: pl.DataFrame


def list_verdicts(
    view: View,
    judge: str,
    beside: str = "",
    name: str = "",
    kept: Kept = "all",
    opinions: Sequence[str] = (),
    facets: Sequence[str] = (),
) -> Verdicts:
    """What `judge` said under the view, in the order of attempts and turns.

    `beside`: another judge, whose valid verdicts it shares. `name`: one field or grade alone. `opinions`: fields of
    which no truth is known. The truth is that of `queries_leave_out.votes_with_truth`, so that "known" counts what its
    table counts.
    """
    cuts = ("models", *facets)
    home, version = str(layout.home()), version_of(view)
    found = cut(
        _read_items(home, version, widen(view, cuts), judge, beside, tuple(opinions), tuple(facets)), view, cuts
    )
    if name:
        found = found.filter(pl.col("name") == name)
    counts = {each: int(found[each].sum()) for each in get_args(Kept)}
    rows = found.filter(pl.col(kept)).head(MOST).drop(get_args(Kept), *facets)
    words = pl.col("run_id", "attempt_id", "model", "sample_id", "kind", "name", "said", "beside", "truth", "status")
    return Verdicts(counts, rows.with_columns(words.cast(pl.String), pl.col("others").cast(pl.List(pl.String))))


# One judge at a time: of a million scores it is some hundred megabytes.
@lru_cache(maxsize=1)
def _read_items(
    home: str, version: str, wanted: View, judge: str, beside: str, opinions: tuple[str, ...], facets: tuple[str, ...]
) -> pl.DataFrame:
    condition, params = where(wanted, "judgements", "j.")
    flags = ", ".join(f'({rule}) AS "{each}"' for each, rule in _KEPT.items())
    words = ("run_id", "attempt_id", "model", "sample_id", "kind", "name", "said", "beside", "truth", "status", *facets)
    frame = ask(
        f"""
        WITH items AS (
            SELECT run_id, attempt_id, turn, kind, field,
                any_value(verdict) FILTER (judge = $judge AND status = 'ok') AS said,
                any_value(status) FILTER (judge = $judge) AS status,
                any_value(verdict) FILTER (judge = $beside AND status = 'ok') AS beside,
                coalesce(list(verdict) FILTER (judge NOT IN ($judge, '{MEASURED}') AND status = 'ok'), []) AS others,
                any_value(verdict) FILTER (judge = '{MEASURED}' AND status = 'ok') AS log
            FROM judgements j WHERE {condition} GROUP BY ALL HAVING status IS NOT NULL
        ), known AS (
            SELECT run_id, attempt_id, turn, CAST(gold_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS gold_map
            FROM traces WHERE last AND parsed
        ), told AS (
            SELECT i.* EXCLUDE (log), a.model, a.sample_id,
                concat_ws('.', CASE WHEN kind = 'field' THEN {select_procedure("a.facet_list")} END, field) AS name,
                CASE WHEN kind = 'field' AND field NOT IN (SELECT unnest($opinions::VARCHAR[]))
                    THEN coalesce(k.gold_map[field], log) END AS truth {facet_columns(facets, "a")}
            FROM items i JOIN attempts a USING (run_id, attempt_id)
                LEFT JOIN known k USING (run_id, attempt_id, turn)
            WHERE ($beside = '' OR (said IS NOT NULL AND beside IS NOT NULL))
        )
        SELECT * EXCLUDE (field), {flags} FROM told ORDER BY run_id, attempt_id, turn, kind DESC, name
        """,
        {**params, "judge": judge, "beside": beside, "opinions": list(opinions)},
    )
    return frame.with_columns(pl.col(words).cast(pl.Categorical), pl.col("others").cast(pl.List(pl.Categorical)))
