"""Two sides of a ranking by everything but what ranks them: how many passed, other metrics that may lead, and the other
metrics that are declared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from cxlab.metrics.intervals import pooled_interval
from cxlab.metrics.paired import compare_pairs
from cxlab.read.comparison import score_sums
from cxlab.read.comparison.attempt_facts import join_facts
from cxlab.read.comparison.ranking import MANY, SEED, Ranking, by_sample, ends_of, rank_task
from cxlab.read.comparison.sets import with_values
from cxlab.read.kept.numbers import number
from cxlab.read.sample_clusters import add_cluster
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration

# The correction counts every metric that is looked at: more would hide what there is.
_MOST_METRICS = 12


@dataclass(frozen=True)
class PassCount:
    """How many attempts of a side passed, of those that passed or failed (`known`), of all that are compared (`tried`);
    the share of the known with its interval, both 0 to 1, clustered as everywhere; None where nothing is known."""

    passed: int
    known: int
    tried: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class OtherLead:
    """Who is first by another metric that may lead, how far ahead of `behind`, the next one, and whether ahead of all
    others for sure (`decided`). Where the metric's 0 is a constant agent: who is `below` it for sure, and who is `near`
    it, not above it for sure."""

    metric: str
    first: str
    behind: str
    by: float | None
    decided: bool
    below: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class OtherMetric:
    """Another metric of the two on the `n` samples that have it: the leader's mean (`ours`), the rival's (`theirs`),
    and how far the rival is the better one (`by` > 0, whichever way the metric runs), with an interval that is
    corrected for all metrics that were looked at; `sure` where that is clear of 0. `size`: `by` in parts of the
    metric's scale, by which differences of several metrics are put in order."""

    metric: str
    ours: float
    theirs: float
    n: int
    by: float
    low: float | None
    high: float | None
    sure: bool
    size: float


def count_passed(found: Ranking, sides: Sequence[str]) -> dict[str, PassCount]:
    """How many attempts of these sides passed on the comparison's samples."""
    every = join_facts(found.compared.results.filter(pl.col("side").is_in(sides)))
    tried = dict(every.group_by("side").len().iter_rows())
    told = every.filter(pl.col("verdict").is_in(["passed", "failed"]))
    own = add_cluster(told).group_by("side", "cluster", maintain_order=True).agg(
        passed=(pl.col("verdict") == "passed").sum(), known=pl.len()
    )  # fmt: skip
    counted = {}
    for side in sides:
        part = own.filter(pl.col("side") == side)
        share = pooled_interval(part["passed"].to_numpy(), part["known"].to_numpy(), (0.0, 1.0))
        ends = (_number(share.mean), _number(share.low), _number(share.high))
        counted[side] = PassCount(int(part["passed"].sum()), int(part["known"].sum()), tried.get(side, 0), *ends)
    return counted


def find_other_leads(about: Declaration, found: Ranking) -> tuple[OtherLead, ...]:
    """Who is first by each other metric that may lead the task."""
    declared = about.card.task(found.task.id)
    by_metric = _sums(found, [metric for metric in (declared.leads if declared else ()) if metric != found.task.metric])
    return tuple(filter(None, (_find_lead(about, found, metric, part) for metric, part in by_metric.items())))


def compare_metrics(about: Declaration, found: Ranking, rival: str) -> tuple[OtherMetric, ...]:
    """The leader against a rival on the other declared metrics, those that are sure and large first.

    Looked at are the parts of the headline and what heads an attempt where a benchmark names parts, else all that it
    declares, in that order; the first twelve that are scored and may not lead themselves.
    """
    card = about.card
    declared = card.task(found.task.id)
    leads = (found.task.metric, *(declared.leads if declared else ()))
    named = [*card.parts, *card.leading] if card.parts else list(card.metrics)
    by_metric = _sums(found, [metric for metric in dict.fromkeys(named) if metric not in leads])
    return _compare(about, found, rival, dict(list(by_metric.items())[:_MOST_METRICS]))


def _sums(found: Ranking, metrics: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Of those metrics that any of the comparison's attempts is scored by, the sums of `score_sums.of_metrics`."""
    if not metrics:
        return {}
    sums = score_sums.of_metrics(found.compared.results, metrics)
    parts = {str(metric): part for (metric,), part in sums.group_by("metric", maintain_order=True)}
    return {metric: parts[metric] for metric in metrics if metric in parts}


def _values(found: Ranking, sums: pl.DataFrame) -> pl.DataFrame:
    """The comparison's results by another metric, as `TaskSet.results`; without a score left out."""
    values = with_values(sums).select("nth", "value")
    return number(found.compared.results).drop("value").join(values, on="nth", maintain_order="left")


def _find_lead(about: Declaration, found: Ranking, metric: str, sums: pl.DataFrame) -> OtherLead | None:
    # As a comparison by this metric has it: only what all sides have a score for.
    results, sides = _values(found, sums).filter(pl.col("value").is_not_null()), found.compared.sides
    held = results.filter(pl.col("side").is_in(sides)).group_by("sample_id", "trial").agg(pl.col("side").n_unique())
    common = held.filter(pl.col("side") == len(sides))
    results = results.join(common, on=["sample_id", "trial"], how="semi", maintain_order="left")
    compared = replace(found.compared, metric=metric, results=results)
    other = rank_task(about, View(benchmark=about.card.id), compared, metric)
    if other.table.height < 2:
        return None
    behind = str(other.table["side"][1])
    gap = next(row for row in other.gaps.iter_rows(named=True) if row["side"] == behind)
    by = None if gap["difference"] is None else abs(gap["difference"])
    spans = list(other.table.drop_nulls(["low", "high"]).select("side", "low", "high").iter_rows())
    below = tuple(side for side, _, high in spans if metric in about.card.zeros and high < 0)
    near = tuple(side for side, low, high in spans if metric in about.card.zeros and low <= 0 <= high)
    return OtherLead(metric, other.leader, behind, by, other.decided, below, near)


def _is_the_same(found: Ranking, both: pl.DataFrame, rival: str) -> bool:
    """Whether two sides have the same values by a metric (`value`, `theirs` a sample) as by the ranking's own."""
    for side, name in ((found.leader, "value"), (rival, "theirs")):
        own = found.means.filter(pl.col("side") == side).select("sample_id", own="value")
        if (
            own.height != both.height
            or not both.join(own, on="sample_id").select((pl.col(name) == pl.col("own")).all()).item()
        ):
            return False
    return True


def _compare(
    about: Declaration, found: Ranking, rival: str, sums: Mapping[str, pl.DataFrame]
) -> tuple[OtherMetric, ...]:
    card, pairs = about.card, {}
    for metric, part in sums.items():
        means = by_sample(_values(found, part).filter(pl.col("side").is_in([found.leader, rival])))
        ours, theirs = (means.filter(pl.col("side") == side) for side in (found.leader, rival))
        both = ours.join(theirs.select("sample_id", theirs="value"), on="sample_id", maintain_order="left")
        # What says the same of every sample as the ranking's own metric adds nothing.
        if both.height and not _is_the_same(found, both, rival):
            pairs[metric] = both
    tested = [
        compare_pairs(
            [(both["theirs"].to_numpy(), both["value"].to_numpy())], [both["cluster"].to_numpy()],
            seed=SEED, closed_form_from=MANY, bounds=_span(about, metric), among=len(pairs),
        )[0]
        for metric, both in pairs.items()
    ]  # fmt: skip
    told = []
    for (metric, both), each in zip(pairs.items(), tested, strict=True):
        sign = -1 if metric in card.lower_is_better else 1
        our_mean, their_mean = both.select(pl.col("value", "theirs").mean()).row(0)
        ends = ends_of(each.found, _span(about, metric))
        low, high = sorted(sign * end for end in ends if end is not None) if None not in ends else (None, None)
        scale = card.scale(metric)
        width = abs(scale[1] - scale[0]) if scale else max(abs(our_mean), abs(their_mean))
        by = sign * each.found.difference
        size = abs(by) / width if width else 0.0
        sure, n = each.verdict != "cannot tell", each.found.n
        told.append(OtherMetric(metric, our_mean, their_mean, n, by, low, high, sure, size))
    return tuple(sorted(told, key=lambda each: (not each.sure, -each.size, each.metric)))


def _span(about: Declaration, metric: str) -> tuple[float, float] | None:
    scale = about.card.scale(metric)
    return None if scale is None else (-abs(scale[1] - scale[0]), abs(scale[1] - scale[0]))


def _number(value: float) -> float | None:
    return value if abs(value) < float("inf") else None
