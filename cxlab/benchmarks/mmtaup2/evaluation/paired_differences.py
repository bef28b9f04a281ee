"""Is a difference real: conversations that are alike but for one thing, one side against the other, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cxlab.benchmarks.mmtaup2.evaluation import composite, measured_metrics, summary
from cxlab.benchmarks.mmtaup2.evaluation.summary import FACTORS, RESAMPLES, ConversationResult
from cxlab.errors import BadOption
from cxlab.metrics.paired import Paired, paired_difference

COMPARED = ("pass", *(name for name in measured_metrics.METRICS if name not in measured_metrics.PAIRED))
"""What has a value of one conversation and so is compared pair by pair."""
ONE_BY_ONE = (*COMPARED, "turns", "adaptation")
"""What else has a value of one conversation, for those who ask for it."""
Sides = tuple[list[ConversationResult], list[ConversationResult]]


def match_levels(cases: Sequence[ConversationResult], factor: str, a: Any, b: Any) -> Sides:
    """The conversations with `a` and with `b` of a factor that are otherwise alike, in step."""
    if factor not in FACTORS:
        raise BadOption(f"factor {factor!r}; take one of {', '.join(FACTORS)}")
    others = [name for name in (*FACTORS, "task", "trial") if name != factor]
    left, right = ([one for one in cases if getattr(one, factor) == level] for level in (a, b))
    return _match(left, right, others)


def match_runs(first: Sequence[ConversationResult], second: Sequence[ConversationResult]) -> Sides:
    """The conversations of two runs about the same tasks under the same terms, in step."""
    return _match(first, second, (*FACTORS, "task", "trial"))


def _match(first: Sequence[ConversationResult], second: Sequence[ConversationResult], names: Sequence[str]) -> Sides:
    one, other = ({tuple(getattr(case, name) for name in names): case for case in side} for side in (first, second))
    shared = [key for key in one if key in other]
    return [one[key] for key in shared], [other[key] for key in shared]


def subtract(sides: Sides, metric: str, *, seed: int = 0, level: float = 0.95) -> Paired:
    """The mean difference of a metric of single conversations, tasks as clusters."""
    left, right = sides
    what = summary.METRICS.get(metric)
    high = None if what is None or what.high is None else what.high - what.low
    return paired_difference(
        [one.value(metric) for one in left],
        [one.value(metric) for one in right],
        [one.cluster for one in left],
        seed=seed,
        resamples=RESAMPLES,
        level=level,
        bounds=None if high is None else (-high, high),
    )


def subtract_tap(
    sides: Sides, weights: Sequence[float] = composite.WEIGHTS, *, seed: int = 0, level: float = 0.95
) -> Paired | None:
    """The difference of mm-tap on the tasks that both have; None where it is undefined of either.

    A composite has no value of a single conversation, so whole tasks are drawn, the same for both sides. p: twice the
    smaller share of resamples on one side of 0 (each counts itself), as the percentile interval has it. Wins, ties and
    losses are not known of it.
    """
    left, right = (summary.task_sums(side) for side in sides)
    values = [summary.compose(sums.sum(axis=0), weights).value for _, sums in (left, right)]
    if values[0] is None or values[1] is None:
        return None
    tasks, n, apart = len(left[0]), sum(one.modality == "voice" for one in sides[0]), values[0] - values[1]
    if tasks < 2:
        return Paired(n, tasks, apart, math.nan, math.nan, math.nan, 0, 0, 0)
    drawn = summary.draw(tasks, seed)
    gaps = summary.resample_tap(left[1], weights, drawn) - summary.resample_tap(right[1], weights, drawn)
    low, high = (math.nan if end is None else end for end in summary.middle(gaps, level))
    kept = gaps[np.isfinite(gaps)]
    tail = 1 + min(int((kept <= 0).sum()), int((kept >= 0).sum()))
    return Paired(n, tasks, apart, low, high, min(1.0, 2 * tail / (1 + len(kept))), 0, 0, 0)
