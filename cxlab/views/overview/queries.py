"""What Overview asks of a benchmark beside its rankings: how many attempts passed, and what breaks most."""

from dataclasses import dataclass

import polars as pl

from cxlab.read import View
from cxlab.read.failure_kinds import OWNER, REASON_STEM
from cxlab.read.query import ask, where


@dataclass(frozen=True)
class Outcome:
    """Attempts by their stored verdict, and the commonest failure: whose doing, why (`stem`: without what names one
    case; `reason`: with it, where all such failures share it), and how many attempts failed that way."""

    passed: int
    failed: int
    unscored: int
    owner: str
    stem: str
    reason: str
    n: int


def outcome(view: View) -> Outcome:
    """What became of the attempts of a view."""
    condition, params = where(view)
    found = ask(
        f"""SELECT coalesce(verdict, 'unscored') AS verdict, {OWNER} AS owner,
            {REASON_STEM} AS stem, count(*) AS n,
            CASE WHEN count(DISTINCT nullif(verdict_reason, '')) = 1 THEN max(verdict_reason) ELSE stem END AS reason
        FROM attempts WHERE {condition} GROUP BY verdict, owner, stem ORDER BY n DESC, stem, owner""",
        params,
    )
    counts = dict(found.group_by("verdict").agg(pl.col("n").sum()).iter_rows())
    rows = found.filter(verdict="failed").select("owner", "stem", "reason", "n").rows()
    worst = rows[0] if rows else ("", "", "", 0)
    passed, failed = counts.pop("passed", 0), counts.pop("failed", 0)
    return Outcome(passed, failed, sum(counts.values()), *worst)
