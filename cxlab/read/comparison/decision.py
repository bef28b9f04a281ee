"""What a choice between two sides of a ranking stands on: their gap, their prices, and where the order turns round."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from cxlab.metrics.paired import LEAST_CLUSTERS, compare_pairs, least_clusters
from cxlab.read.comparison.like_with_like import keep_alike
from cxlab.read.comparison.other_metrics import (
    OtherLead,
    OtherMetric,
    PassCount,
    compare_metrics,
    count_passed,
    find_other_leads,
)
from cxlab.read.comparison.ranking import SEED, Ranking, ends_of
from cxlab.read.kept.places import facet_of
from cxlab.records.benchmark_card import Declaration

# A facet with more values tells single samples apart.
_MOST_VALUES = 30
_CLOSED_FORM_FROM = 500


@dataclass(frozen=True)
class Slice:
    """One value of a facet, and how far the rival is ahead of the leader on its `n` samples (`by` > 0), with an
    interval that is corrected for all slices, None where it would be all that a difference can be; `sure` where that is
    clear of 0. `held`: facet → the values that are left of it where a slice is compared with others of its facet like
    with like."""

    facet: str
    value: str
    n: int
    by: float
    low: float | None
    high: float | None
    sure: bool
    held: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Decision:
    """The leader of a task against one rival.

    `gap`: the rival's row of `Ranking.gaps`. `slices`: where the rival is ahead, furthest first, of `looked_at` values
    of declared facets that have clusters enough for a test, which is `least` or more. `passed`: of either side.
    `other_leads`: who is first by the other metrics that may lead. `metrics`: the two on the other declared metrics,
    those that differ for sure first.
    """

    leader: str
    rival: str
    gap: dict[str, Any]
    slices: tuple[Slice, ...]
    looked_at: int
    passed: Mapping[str, PassCount]
    other_leads: tuple[OtherLead, ...]
    metrics: tuple[OtherMetric, ...]
    least: int = LEAST_CLUSTERS

    @property
    def decided(self) -> bool:
        """Whether the leader is ahead of this rival for sure."""
        return bool(self.gap["verdict"] == "worse")


def decide(about: Declaration, found: Ranking, rival: str = "") -> Decision | None:
    """The leader of a ranking against a rival in it, the second when none is named; None where nobody else is."""
    others = found.table["side"].to_list()[1:]
    if not others:
        return None
    rival = rival if rival in others else others[0]
    gap = next(row for row in found.gaps.iter_rows(named=True) if row["side"] == rival)
    slices, looked_at, least = _find_slices(about, found, rival)
    passed = count_passed(found, [found.leader, rival])
    metrics = compare_metrics(about, found, rival)
    others_lead = find_other_leads(about, found)
    return Decision(found.leader, rival, gap, slices, looked_at, passed, others_lead, metrics, least)


def _find_slices(about: Declaration, found: Ranking, rival: str) -> tuple[tuple[Slice, ...], int, int]:
    """Where the rival's mean is the better one, furthest first, how many slices were looked at, and how many clusters
    each of them has at least.

    All slices count in the correction, but only where the rival is ahead at all is anything to be tested.
    """
    pairs = _pair(about, found, rival)
    every: list[tuple[str, str, pl.DataFrame]] = []
    held: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {}
    for facet in about.facets:
        if facet.identifies or facet.id not in pairs.columns:
            continue
        known, alike = keep_alike(about, pairs.filter(pl.col(facet.id).is_not_null()), facet.id)
        held[facet.id] = tuple(alike.held.items()) if alike else ()
        parts = known.partition_by(facet.id, as_dict=True, include_key=False, maintain_order=True)
        if not 1 < len(parts) <= _MOST_VALUES:
            continue
        every += [(facet.id, str(value), part) for (value,), part in sorted(parts.items())]
    sizes = [np.unique(part["cluster"].to_numpy()).size for *_, part in every]
    least = least_clusters(sizes)
    looked_at = sum(size >= least for size in sizes)
    ahead = [
        each
        for each, size in zip(every, sizes, strict=True)
        if size >= least and np.mean(each[2]["theirs"].to_numpy() - each[2]["ours"].to_numpy()) > 0
    ]
    scale = about.card.scale(found.task.metric)
    span = None if scale is None else (-abs(scale[1] - scale[0]), abs(scale[1] - scale[0]))
    tested = compare_pairs(
        [(part["theirs"].to_numpy(), part["ours"].to_numpy()) for _, _, part in ahead],
        [part["cluster"].to_numpy() for _, _, part in ahead],
        seed=SEED, closed_form_from=_CLOSED_FORM_FROM, bounds=span, among=looked_at,
    )  # fmt: skip
    slices = [
        Slice(facet, value, each.found.n, each.found.difference, *ends_of(each.found, span),
              each.verdict == "above", held[facet])
        for (facet, value, _), each in zip(ahead, tested, strict=True)
    ]  # fmt: skip
    return tuple(sorted(slices, key=lambda each: (not each.sure, -each.by, each.facet, each.value))), looked_at, least


def _pair(about: Declaration, found: Ranking, rival: str) -> pl.DataFrame:
    """The samples of both (as numbers) with the values (more is better) and the facets: sample_id, ours (the leader's),
    theirs, cluster, a column each facet; one that differs between their attempts at a sample is null there."""
    means, rows = found.by_sample, found.compared.rows
    sign = 1 if found.task.higher_is_better else -1
    ours, theirs = (sign * means.of_side(side) for side in (found.leader, rival))
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    inside = rows.of_sides((found.leader, rival))
    columns = [pl.Series("sample_id", np.flatnonzero(both)), pl.Series("ours", ours[both]),
               pl.Series("theirs", theirs[both]), pl.Series("cluster", rows.clusters[both])]  # fmt: skip
    for facet in about.facets:
        if (told := facet_of(facet.id)) is None:
            continue
        own = told.places[rows.attempt[inside]]
        most = np.full(len(rows.clusters), -2, dtype=np.int64)
        least = np.full(len(rows.clusters), told.values.len(), dtype=np.int64)
        np.minimum.at(least, rows.sample[inside], own)
        np.maximum.at(most, rows.sample[inside], own)
        columns.append(told.of(np.where(least == most, most, -1)[both]).alias(facet.id))
    return pl.DataFrame(columns)
