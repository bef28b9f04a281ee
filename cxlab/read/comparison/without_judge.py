"""A ranking as it would be without one judge of the panel, beside the one as judged."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from cxlab.read.comparison.corrected import change_of
from cxlab.read.comparison.ranking import Ranking, rank_task
from cxlab.read.comparison.words import say_leader
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration
from cxlab.records.correction import Corrections

_KEYS = ["run_id", "attempt_id"]
# Sums of the same floats in another order differ by their last digit.
_LEAST = 1e-9


class WithoutJudge(NamedTuple):
    """`ranking` without `judge`, on the samples that it leaves a score for; `beside`: a row a side, in the order as
    judged: side, value, without, low, high. `values`: of how many attempts it changes the value; `lost`: how many
    samples have no score without it, as of a tie; `left_out`: run → why it cannot be scored anew."""

    judge: str
    ranking: Ranking
    beside: pl.DataFrame
    values: int
    lost: int
    left_out: dict[str, str]

    def changes(self, judged: Ranking) -> bool:
        """Whether the decision is another one: who is first, or whether that is sure."""
        return (self.ranking.leader, self.ranking.decided) != (judged.leader, judged.decided)


def compared_attempts(found: Ranking) -> dict[str, tuple[str, ...]]:
    """Run → the attempts of it that a ranking compares."""
    rows = found.compared.results.filter(pl.col("side").is_in(found.compared.sides))
    parts = rows.sort(_KEYS).partition_by("run_id", as_dict=True, maintain_order=True)
    return {str(run): tuple(part["attempt_id"]) for (run,), part in parts.items()}


def rank_without(about: Declaration, view: View, found: Ranking, judge: str, made: Corrections) -> WithoutJudge:
    """A ranking of `view` with what leaving `judge` out comes to in the scores of attempts."""
    results, metric, sides = found.compared.results, found.task.metric, found.compared.sides
    rows = [(*key, change_of(each, metric)) for key, each in made.effects.items()]
    schema = {**dict.fromkeys(_KEYS, pl.String), "change": pl.Float64}
    changes = pl.DataFrame(rows, schema=schema, orient="row").join(results, on=_KEYS, how="semi")
    ranked = pl.col("side").is_in(sides)
    gone = changes.filter(pl.col("change").is_null())
    # A sample counts for all sides or for none.
    lost = results.filter(ranked).join(gone, on=_KEYS, how="semi").select("sample_id", "trial").unique()
    kept = results.join(lost, on=["sample_id", "trial"], how="anti", maintain_order="left")
    compared = replace(found.compared, results=kept, samples=kept.filter(ranked)["sample_id"].n_unique())
    ranking = rank_task(about, view, compared, metric, changes)
    means = ranking.table.select("side", "low", "high", without="value")
    beside = found.table.select("side", "value").join(means, on="side", how="left", maintain_order="left")
    moved = changes.filter(pl.col("change").abs() > _LEAST).join(results.filter(ranked), on=_KEYS, how="semi").height
    return WithoutJudge(judge, ranking, beside, moved, lost["sample_id"].n_unique(), dict(made.left_out))


def say_without(found: WithoutJudge, judged: Ranking, name: Callable[[str], str], judge: str) -> str:
    """Whether the decision is another one without a judge, who is called `judge`."""
    if not found.values and not found.lost:
        return f"Without {judge} nothing changes: its votes have no say in this figure"
    if found.ranking.table.height < 2:
        return f"Without {judge} nothing is left to compare"
    told = say_leader(found.ranking, name)
    if found.changes(judged):
        return f"Without {judge} the decision changes: {told}"
    return f"Without {judge} the decision stays: {told}"


def say_reach(found: WithoutJudge, many: str) -> str:
    """How much leaving the judge out changes; `many` is what attempts are called."""
    samples = "1 sample has" if found.lost == 1 else f"{found.lost:,} samples have"
    lost = f" {samples} no score without it, as the others tie or none is left; left out for all." if found.lost else ""
    return f"It changes the value of {found.values:,} {many}.{lost} From stored votes; nobody was asked anew."
