"""What the tasks of a comparison come to together: passing is the one measure that all of them have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxlab.read.comparison.attempt_facts import join_facts
from cxlab.read.comparison.ranking import Ranking, by_sample, differences, took


@dataclass(frozen=True)
class Together:
    """`passed`: side → the share of its attempts with a verdict that passed, in all tasks, the highest first. `gap`:
    the second against the first as a row of `ranking.GAPS` in points, paired by the samples of which both have a
    verdict; None where there are no two."""

    passed: dict[str, float]
    gap: dict[str, Any] | None


def pass_together(found: Sequence[Ranking]) -> Together:
    """How the sides that are ranked in any of these tasks passed over all of them."""
    ranked = sorted({side for each in found for side in each.table["side"]})
    results = pl.concat([each.compared.results for each in found]).filter(pl.col("side").is_in(ranked))
    told = took(results).drop_nulls("success").drop_nans("success")
    rates = sorted(zip(told["side"], told["success"], strict=True), key=lambda each: (-each[1], each[0]))
    if len(rates) < 2:
        return Together(dict(rates), None)
    verdict = join_facts(results)["verdict"]
    passed = results.with_columns(value=pl.when(verdict == "passed").then(100.0).otherwise(0.0))
    known = passed.filter(verdict.is_in(["passed", "failed"]).fill_null(False))
    (first, _), (second, _) = rates[:2]
    gaps = differences(by_sample(known), [side for side, _ in rates], first, scale=(0.0, 100.0))
    return Together(dict(rates), next((row for row in gaps.iter_rows(named=True) if row["side"] == second), None))
