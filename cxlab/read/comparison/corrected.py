"""A ranking with people's decisions in the place of judges' verdicts, beside the one as judged."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from cxlab.read.comparison.attempt_facts import join_facts
from cxlab.read.comparison.ranking import Ranking, rank_task
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration
from cxlab.records.correction import Corrections, Effect

_KEYS = ["run_id", "attempt_id"]
# Sums of the same floats in another order differ by their last digit.
_LEAST = 1e-9


class CorrectedRanking(NamedTuple):
    """`ranking`: as corrected, on the same samples. `beside`: a row a side, in the order as judged: side, value,
    corrected, corrected_low, corrected_high, change (corrected minus judged), and the success rates on the same samples
    passed and passed_corrected (0 to 1). `decided`: how many decisions that settle something are on attempts of it; of
    how many attempts they change the value (`values`) and the verdict (`verdicts`); `left_out`: run → why it cannot be
    corrected."""

    ranking: Ranking
    beside: pl.DataFrame
    decided: int
    values: int
    verdicts: int
    left_out: Mapping[str, str]


def correct_ranking(about: Declaration, view: View, found: Ranking, made: Corrections) -> CorrectedRanking:
    """A ranking of `view` with what decisions come to in the scores of attempts."""
    results, metric = found.compared.results, found.task.metric
    moved = pl.DataFrame(
        [(*key, change_of(each, metric), each.verdict, each.corrected) for key, each in made.effects.items()],
        schema={**dict.fromkeys(_KEYS, pl.String), "change": pl.Float64, "judged": pl.String, "corrected": pl.String},
        orient="row",
    ).join(results, on=_KEYS, how="semi")
    turned = moved.filter(pl.col("judged") != pl.col("corrected"))
    ranking = rank_task(about, view, found.compared, metric, moved.select(*_KEYS, "change"))
    own = set(results.select(_KEYS).iter_rows())
    runs = {run for run, _ in own}
    return CorrectedRanking(
        ranking,
        _set_beside(found, ranking, _passed(results.filter(pl.col("side").is_in(found.compared.sides)), turned)),
        sum(count for key, count in made.decided.items() if key in own),
        moved.filter(pl.col("change").abs() > _LEAST).height,
        turned.height,
        {run: why for run, why in made.left_out.items() if run in runs},
    )


def keep_decided(found: Ranking, settled: pl.DataFrame) -> pl.DataFrame:
    """What was settled of a ranking's attempts."""
    return settled.join(found.compared.results, on=_KEYS, how="semi")


def change_of(effect: Effect, metric: str) -> float | None:
    """Corrected minus judged of an attempt's value: of its turns' mean where the metric is scored by turn; None where
    either is unknown."""
    whole = (metric, False) not in effect.before and (metric, False) not in effect.after
    (n, total), (m, other) = (side.get((metric, whole), (0, 0.0)) for side in (effect.before, effect.after))
    return other / m - total / n if n and m else None


def _passed(results: pl.DataFrame, turned: pl.DataFrame) -> pl.DataFrame:
    """The success rates of sides as judged, and with the verdicts that decisions turn."""
    known = join_facts(results).join(turned.select(*_KEYS, "corrected"), on=_KEYS, how="left")
    verdicts = {"passed": pl.col("verdict"), "passed_corrected": pl.coalesce("corrected", "verdict")}
    return known.group_by("side").agg(
        ((verdict == "passed").sum() / verdict.is_in(["passed", "failed"]).sum()).alias(name)
        for name, verdict in verdicts.items()
    )


def _set_beside(judged: Ranking, corrected: Ranking, passed: pl.DataFrame) -> pl.DataFrame:
    means = corrected.table.select("side", corrected="value", corrected_low="low", corrected_high="high")
    rows = judged.table.select("side", "value").join(means, on="side", how="left", maintain_order="left")
    # Rounded, and no zero with a sign.
    change = (pl.col("corrected") - pl.col("value")).round(9) + 0.0
    return rows.with_columns(change=change).join(
        passed.with_columns(pl.col("passed", "passed_corrected").fill_nan(None)), on="side", how="left",
        maintain_order="left",
    )  # fmt: skip
