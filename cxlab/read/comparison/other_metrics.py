"""Two sides of a ranking by everything but what ranks them: how many passed, other metrics that may lead, and the other
metrics that are declared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cxlab.metrics.intervals import number_clusters, pooled_interval, sum_clusters
from cxlab.metrics.paired import compare_pairs
from cxlab.read.comparison import score_sums
from cxlab.read.comparison.attempt_facts import passed_of
from cxlab.read.comparison.ranking import MANY, SEED, Ranking, ends_of, rank_means, task_by
from cxlab.read.comparison.sample_means import SampleMeans
from cxlab.records.benchmark_card import Declaration

Floats = NDArray[np.float64]
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
    rows = found.compared.rows
    passed, counted = passed_of(rows.attempt), {}
    for side in sides:
        own = rows.of_sides((side,))
        known, codes, groups = number_clusters(passed[own], rows.clusters[rows.sample[own]])
        sums, sizes = sum_clusters(known, codes, groups)
        share = pooled_interval(sums, sizes, (0.0, 1.0))
        ends = (_number(share.mean), _number(share.low), _number(share.high))
        counted[side] = PassCount(int(known.sum()), known.size, int(own.sum()), *ends)
    return counted


def find_other_leads(about: Declaration, found: Ranking) -> tuple[OtherLead, ...]:
    """Who is first by each other metric that may lead the task."""
    declared = about.card.task(found.task.id)
    leads = [metric for metric in (declared.leads if declared else ()) if metric != found.task.metric]
    told = (_find_lead(about, found, metric, values) for metric, values in _values(found, leads).items())
    return tuple(filter(None, told))


def compare_metrics(about: Declaration, found: Ranking, rival: str) -> tuple[OtherMetric, ...]:
    """The leader against a rival on the other declared metrics, those that are sure and large first.

    Looked at are the parts of the headline and what heads an attempt where a benchmark names parts, else all that it
    declares, in that order; the first twelve that are scored and may not lead themselves.
    """
    card = about.card
    declared = card.task(found.task.id)
    leads = (found.task.metric, *(declared.leads if declared else ()))
    named = [*card.parts, *card.leading] if card.parts else list(card.metrics)
    by_metric = _values(found, [metric for metric in dict.fromkeys(named) if metric not in leads])
    return _compare(about, found, rival, dict(list(by_metric.items())[:_MOST_METRICS]))


def _values(found: Ranking, metrics: Sequence[str]) -> dict[str, Floats]:
    """The comparison's results by those metrics that any of its attempts is scored by, a value a row of results."""
    rows = found.compared.rows
    runs = tuple(sorted(found.runs))
    every = ((metric, score_sums.values_of(metric, runs, rows.attempt)) for metric in metrics)
    return {metric: values for metric, values in every if not np.isnan(values).all()}


def _find_lead(about: Declaration, found: Ranking, metric: str, values: Floats) -> OtherLead | None:
    # As a comparison by this metric has it: only what all sides have a score for.
    rows, sides = found.compared.rows, found.compared.sides
    scored = rows.of_sides(sides) & ~np.isnan(values)
    common = np.bincount(rows.cells[scored], minlength=int(rows.cells.max(initial=0)) + 1) == len(sides)
    if not common.any():
        return None
    means = SampleMeans.of(rows, np.where(common[rows.cells], values, np.nan))
    other = rank_means(about, task_by(about, found.task.id, metric), found.compared, means)
    if other.table.height < 2:
        return None
    behind = str(other.table["side"][1])
    gap = next(row for row in other.gaps.iter_rows(named=True) if row["side"] == behind)
    by = None if gap["difference"] is None else abs(gap["difference"])
    spans = list(other.table.drop_nulls(["low", "high"]).select("side", "low", "high").iter_rows())
    below = tuple(side for side, _, high in spans if metric in about.card.zeros and high < 0)
    near = tuple(side for side, low, high in spans if metric in about.card.zeros and low <= 0 <= high)
    return OtherLead(metric, other.leader, behind, by, other.decided, below, near)


def _is_the_same(found: Ranking, pair: Sequence[tuple[str, Floats]], both: NDArray[np.bool_]) -> bool:
    """Whether two sides have the same means by a metric, on the samples that `both` have, as by the ranking's own."""
    own = {side: found.by_sample.of_side(side) for side, _ in pair}
    if any(np.count_nonzero(~np.isnan(own[side])) != np.count_nonzero(both) for side, _ in pair):
        return False
    return all((own[side][both] == means[both]).all() for side, means in pair)


def _compare(
    about: Declaration, found: Ranking, rival: str, values: Mapping[str, Floats]
) -> tuple[OtherMetric, ...]:  # fmt: skip
    card, rows = about.card, found.compared.rows
    pairs: dict[str, tuple[Floats, Floats, NDArray[np.int64]]] = {}
    for metric, own in values.items():
        means = SampleMeans.of(rows, own)
        ours, theirs = means.of_side(found.leader), means.of_side(rival)
        both = ~np.isnan(ours) & ~np.isnan(theirs)
        # What says the same of every sample as the ranking's own metric adds nothing.
        if both.any() and not _is_the_same(found, [(found.leader, ours), (rival, theirs)], both):
            pairs[metric] = ours[both], theirs[both], rows.clusters[both]
    tested = [
        compare_pairs(
            [(theirs, ours)], [clusters], seed=SEED, closed_form_from=MANY, bounds=_span(about, metric),
            among=len(pairs),
        )[0]
        for metric, (ours, theirs, clusters) in pairs.items()
    ]  # fmt: skip
    told = []
    for (metric, (ours, theirs, _)), each in zip(pairs.items(), tested, strict=True):
        sign = -1 if metric in card.lower_is_better else 1
        our_mean, their_mean = float(ours.mean()), float(theirs.mean())
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
