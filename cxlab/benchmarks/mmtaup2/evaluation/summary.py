"""What many conversations come to: pooled figures with intervals, voice against text, pass^k, mm-tap.

Observations pool over conversations as the paper's ratios do, and intervals are clustered by task, for conversations
about one task are alike. Ratios of voice to text and mm-tap take a percentile bootstrap over tasks, seeded. A figure
that is undefined is None with the reason, and its interval is None where it cannot be told (fewer than two tasks).
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.mmtaup2.evaluation import composite, measured_metrics
from cxlab.benchmarks.mmtaup2.evaluation.events import ReferenceTask
from cxlab.errors import BadOption
from cxlab.metrics.intervals import pooled_interval
from cxlab.metrics.passk import pass_hat_k
from cxlab.records import Attempt

FACTORS = ("domain", "persona", "exposure", "modality")
RESAMPLES = 2000
METRICS = measured_metrics.METRICS | measured_metrics.EXTRA
_PLACE = {metric: place for place, metric in enumerate(METRICS)}
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ConversationResult:
    """One conversation with what it was made of and what it came to."""

    task: str
    domain: str
    persona: str
    exposure: int
    modality: str
    trial: int
    figures: Mapping[str, measured_metrics.Figure]

    @functools.cached_property
    def setting(self) -> tuple[str, str, str, int]:
        """All but modality and trial: what voice and text are compared on."""
        return self.domain, self.task, self.persona, self.exposure

    @functools.cached_property
    def cluster(self) -> str:
        """What intervals are clustered by."""
        return _name(self.setting)

    @functools.cached_property
    def sums(self) -> Floats:
        """Sum and number of the observations of every metric, in the order of METRICS."""
        seen = [self.figures[metric].observations if metric in self.figures else () for metric in METRICS]
        return np.array([(sum(each), len(each)) for each in seen], dtype=np.float64)

    def value(self, metric: str) -> float:
        found = self.figures[metric].value
        return math.nan if found is None else found


@dataclass(frozen=True)
class PooledFigure:
    """A figure with its 95 % interval from `n` observations of `clusters` tasks."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    reason: str | None = None
    partial: float | None = None
    """Of an undefined composite: what its other parts come to (score.Composite)."""


@dataclass(frozen=True)
class FigureRow:
    """One figure of one cell of a table."""

    keys: Mapping[str, Any]
    metric: str
    estimate: PooledFigure


def case(
    task: ReferenceTask, attempt: Attempt, figures: Mapping[str, measured_metrics.Figure] | None = None
) -> ConversationResult:
    """A case of an attempt; measured here, or `figures` of a panel (judged.py)."""
    told = attempt.output
    return ConversationResult(
        task=task.id,
        domain=task.domain,
        persona=str(told.get("persona", "none")),
        exposure=int(told.get("exposure", 0)),
        modality=str(told.get("modality", "text")),
        trial=attempt.trial,
        figures=measured_metrics.measure_attempt(task, attempt).figures if figures is None else figures,
    )


def table(
    cases: Sequence[ConversationResult],
    by: Sequence[str] = ("domain",),
    *,
    k: int = 1,
    seed: int = 0,
    weights: Sequence[float] = (),
) -> list[FigureRow]:
    """All figures of each cell: the twelve metrics, the further ones, `pass^1` to `pass^k`, and `mm_tap`."""
    rows: list[FigureRow] = []
    for keys, part in split(cases, by):
        _, sums = _sum_tasks(part)
        rows += [
            FigureRow(keys, metric, _pool(sums, metric)) for metric in METRICS if metric not in measured_metrics.PAIRED
        ]
        rows += [FigureRow(keys, f"pass^{trials}", pass_k(part, trials)) for trials in range(1, k + 1)]
        rows.append(FigureRow(keys, "modality_robustness", modality_robustness(part, seed=seed)))
        rows.append(FigureRow(keys, "turn_overhead", turn_overhead(part, seed=seed)))
        rows.append(FigureRow(keys, "mm_tap", mm_tap(part, weights or composite.WEIGHTS, seed=seed)))
    return rows


def split(
    cases: Sequence[ConversationResult], by: Sequence[str]
) -> list[tuple[dict[str, Any], list[ConversationResult]]]:
    """The cases by factors, cells in order."""
    if strange := set(by) - {*FACTORS, "task"}:
        raise BadOption(f"factor {', '.join(sorted(strange))}; take from {', '.join(FACTORS)}, task")
    cells: dict[tuple[Any, ...], list[ConversationResult]] = defaultdict(list)
    for one in cases:
        cells[tuple(getattr(one, name) for name in by)].append(one)
    return [(dict(zip(by, key, strict=True)), cells[key]) for key in sorted(cells)]


def pool(cases: Sequence[ConversationResult], metric: str) -> PooledFigure:
    """Mean over all observations of a metric, clustered by task."""
    return _pool(_sum_tasks(cases)[1], metric)


def _sum_tasks(
    cases: Sequence[ConversationResult], among: Sequence[ConversationResult] | None = None
) -> tuple[list[str], Floats]:
    """Tasks (those of `among`, else of the cases), and the sums of their cases: tasks x metrics x 2."""
    names = sorted({one.cluster for one in (cases if among is None else among)})
    place = {name: at for at, name in enumerate(names)}
    sums = np.zeros((len(names), len(METRICS), 2))
    if cases:
        np.add.at(sums, [place[one.cluster] for one in cases], np.stack([one.sums for one in cases]))
    return names, sums


def _pool(sums: Floats, metric: str) -> PooledFigure:
    what = METRICS[metric]
    return _estimate(sums[:, _PLACE[metric]], what)


def pass_k(cases: Sequence[ConversationResult], k: int = 1) -> PooledFigure:
    """pass^k: the chance that k trials of one setting all reach the goal, a mean over settings tried k times."""
    return _over_trials(cases, k, pass_hat_k)


def modality_robustness(cases: Sequence[ConversationResult], k: int = 1, *, seed: int = 0) -> PooledFigure:
    """pass^k by voice / pass^k by text over the settings that have both; undefined where text never passes."""
    names, up, down = _paired_rates(cases, k)
    if not names:
        return _nothing("no setting has both voice and text")
    return _ratio(up, down, names, 0.0, "text never reached the goal", seed)


def turn_overhead(cases: Sequence[ConversationResult], *, seed: int = 0) -> PooledFigure:
    """Turns by voice / turns by text - 1 over the settings that have both; means over trials first."""
    both = _paired_turns(cases)
    if not both:
        return _nothing("no setting has both voice and text")
    up, down = (np.array([each[side] for each in both]) for side in (1, 2))
    return _ratio(up, down, [_name(setting) for setting, _, _ in both], -1.0, "text took no turn", seed)


def _paired_turns(cases: Sequence[ConversationResult]) -> list[tuple[tuple[Any, ...], float, float]]:
    """(setting, turns by voice, turns by text) of the settings that have both."""
    turns: dict[tuple[Any, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in cases:
        if seen := one.figures["turns"].observations:
            turns[one.setting][one.modality].extend(seen)
    return [
        (setting, sum(found["voice"]) / len(found["voice"]), sum(found["text"]) / len(found["text"]))
        for setting, found in turns.items()
        if found.keys() >= {"voice", "text"}
    ]


def mm_tap(
    cases: Sequence[ConversationResult], weights: Sequence[float] = composite.WEIGHTS, *, seed: int = 0
) -> PooledFigure:
    """The composite of a cell: its parts from the voice conversations, robustness and overhead from both.

    Undefined while a part is; `reason` names what is missing, and `partial` is what the rest comes to.
    """
    names, sums = task_sums(cases)
    found = compose(sums.sum(axis=0), weights)
    if found.value is None:
        return replace(_nothing(f"undefined: {', '.join(found.missing)}"), partial=found.partial)
    low, high = middle(resample_tap(sums, weights, draw(len(names), seed))) if len(names) > 1 else (None, None)
    return PooledFigure(found.value, low, high, sum(one.modality == "voice" for one in cases), len(names))


def compose(sums: Floats, weights: Sequence[float]) -> composite.Composite:
    """The composite of parts given as sums and numbers of observations; see task_sums."""
    values: dict[str, float | None] = {
        metric: float(total / n) if n else None
        for metric, (total, n) in zip((*_POOLED, *measured_metrics.PAIRED), sums, strict=True)
    }
    if values["turn_overhead"] is not None:
        values["turn_overhead"] -= 1
    return composite.composite(values, weights)


def _name(setting: tuple[Any, ...]) -> str:
    # Domains number their tasks on their own.
    return f"{setting[0]}\0{setting[1]}"


def _nothing(reason: str) -> PooledFigure:
    return PooledFigure(None, None, None, 0, 0, reason)


def _estimate(sums: Floats, what: measured_metrics.Metric) -> PooledFigure:
    """From sum and number of observations of each task: tasks x 2. What has one end alone is cut there."""
    bounds = None if what.high is None else (what.low, what.high)
    found = pooled_interval(sums[:, 0], sums[:, 1], bounds)
    if not found.n:
        return _nothing(what.undefined)
    low = _known(found.low)
    return PooledFigure(
        found.mean, None if low is None else max(low, what.low), _known(found.high), found.n, found.clusters
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _tries(cases: Sequence[ConversationResult]) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Setting and modality → (trials that reached the goal, trials that were decided)."""
    counts: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0])
    for one in cases:
        for reached in one.figures["pass"].observations:
            counts[(*one.setting, one.modality)][0] += int(reached)
            counts[(*one.setting, one.modality)][1] += 1
    return {key: (hits, tries) for key, (hits, tries) in counts.items()}


def _over_trials(cases: Sequence[ConversationResult], k: int, rate: Any) -> PooledFigure:
    tries = {setting: told for setting, told in _tries(cases).items() if told[1] >= k}
    what = measured_metrics.EXTRA["pass"]
    if not tries:
        return _nothing(f"nothing was tried {k} times" if k > 1 else what.undefined)
    hits, n = np.array(list(tries.values())).T
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
    for key, value in zip(tries, rate(hits, n, k).tolist(), strict=True):
        sums[_name(key)][0] += value
        sums[_name(key)][1] += 1
    return _estimate(np.array(list(sums.values())), what)


def _paired_rates(cases: Sequence[ConversationResult], k: int = 1) -> tuple[list[str], Floats, Floats]:
    """Of the settings that have both: cluster, pass^k by voice, pass^k by text."""
    tries = {key: told for key, told in _tries(cases).items() if told[1] >= k}
    both = [key[:4] for key in tries if key[4] == "voice" and (*key[:4], "text") in tries]
    if not both:
        return [], np.zeros(0), np.zeros(0)
    spoken, written = (np.array([tries[(*key, how)] for key in both]).T for how in ("voice", "text"))
    rates = [np.asarray(pass_hat_k(hits, n, k), dtype=np.float64) for hits, n in (spoken, written)]
    return [_name(key) for key in both], rates[0], rates[1]


def _ratio(up: Floats, down: Floats, names: Sequence[str], shift: float, undefined: str, seed: int) -> PooledFigure:
    """sum(up) / sum(down) + shift with a bootstrap over clusters."""
    if down.sum() == 0:
        return _nothing(undefined)
    codes = np.unique(names, return_inverse=True)[1]
    sums: Floats = np.stack([np.bincount(codes, weights=side) for side in (up, down)], axis=1).astype(np.float64)
    value = float(up.sum() / down.sum()) + shift
    if len(sums) < 2:
        return PooledFigure(value, None, None, len(up), len(sums))
    drawn = resample(draw(len(sums), seed), sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = middle(drawn[:, 0] / drawn[:, 1] + shift)
    return PooledFigure(value, low, high, len(up), len(sums))


@functools.lru_cache(maxsize=16)
def draw(clusters: int, seed: int) -> Floats:
    """How often each cluster is drawn, a row a resample; all cells of a table have the same draws."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=RESAMPLES).astype(np.float64)


def resample(drawn: Floats, sums: Floats) -> Floats:
    """The totals of each resample of tasks: resamples x what one task has."""
    # Not a matrix product: those go to several threads, which on a busy machine wait ten times as long as this takes.
    flat = np.ascontiguousarray(sums.reshape(len(sums), -1).T)
    found: Floats = np.einsum("rt,kt->rk", drawn, flat).reshape(len(drawn), *sums.shape[1:])
    return found


def middle(values: Floats, level: float = 0.95) -> tuple[float | None, float | None]:
    """The middle of that share; None where half of the resamples have no value."""
    kept = values[np.isfinite(values)]
    if len(kept) < len(values) / 2:
        return None, None
    low, high = np.quantile(kept, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


_POOLED = tuple(metric for metric in composite.PARTS.values() if metric not in measured_metrics.PAIRED)


def task_sums(cases: Sequence[ConversationResult]) -> tuple[list[str], Floats]:
    """Tasks, and for each the sum and number of every part's observations: tasks x parts x 2.

    Robustness and overhead stand as the sums of voice and of text over the settings that have both.
    """
    names, of_voice = _sum_tasks([one for one in cases if one.modality == "voice"], cases)
    place = {name: at for at, name in enumerate(names)}
    metrics = (*_POOLED, *measured_metrics.PAIRED)
    sums = np.zeros((len(names), len(metrics), 2))
    sums[:, : len(_POOLED)] = of_voice[:, [_PLACE[metric] for metric in _POOLED]]
    for name, voice, text in zip(*_paired_rates(cases), strict=True):
        sums[place[name], metrics.index("modality_robustness")] += voice, text
    for setting, spoken, written in _paired_turns(cases):
        sums[place[_name(setting)], metrics.index("turn_overhead")] += spoken, written
    return names, sums


def resample_tap(sums: Floats, weights: Sequence[float], drawn: Floats) -> Floats:
    """The composite of each resample of tasks; nan where one of its parts is undefined."""
    totals = resample(drawn, sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = totals[..., 0] / totals[..., 1]
        part = {metric: ratios[:, at] for at, metric in enumerate((*_POOLED, *measured_metrics.PAIRED))}
        a, b, g, d = weights
        values: Floats = (
            a * part["critical_field_accuracy"] * part["pass"]
            + b * (part["modality_robustness"] + part["arga"] + part["error_recovery_rate"]) / 3
            # Overhead is a ratio less 1, so 1 / (1 + TO) is text's turns over voice's.
            + g * (part["turn_efficiency"] + 1 / (1 + part["user_effort"]) + 1 / part["turn_overhead"]) / 3
            + d * part["irreversible_action_safety"]
        )
    return values
