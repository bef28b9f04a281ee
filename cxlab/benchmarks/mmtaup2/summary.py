"""What many conversations come to: pooled figures with intervals, voice against text, pass^k, mm-tap, differences.

Observations pool over conversations as the paper's ratios do, and intervals are clustered by task, for conversations
about one task are alike. Ratios of voice to text and mm-tap take a percentile bootstrap over tasks, seeded. A figure
that is undefined is None with the reason, and its interval is None where it cannot be told (fewer than two tasks).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.mmtaup2 import score
from cxlab.benchmarks.mmtaup2.events import Goal
from cxlab.errors import BadOption
from cxlab.metrics.intervals import clustered_interval
from cxlab.metrics.paired import Paired, holm, paired_difference
from cxlab.metrics.passk import pass_at_k, pass_hat_k
from cxlab.records import Attempt

FACTORS = ("domain", "persona", "exposure", "modality")
RESAMPLES = 2000
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """One conversation with what it was made of and what it came to."""

    task: str
    domain: str
    persona: str
    exposure: int
    modality: str
    trial: int
    figures: Mapping[str, score.Figure]

    @property
    def setting(self) -> tuple[str, str, str, int]:
        """All but modality and trial: what voice and text are compared on."""
        return self.domain, self.task, self.persona, self.exposure

    def value(self, metric: str) -> float:
        found = self.figures[metric].value
        return math.nan if found is None else found


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval from `n` observations of `clusters` tasks."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    reason: str | None = None


@dataclass(frozen=True)
class Row:
    """One figure of one cell of a table."""

    keys: Mapping[str, Any]
    metric: str
    estimate: Estimate


def case(task: Goal, attempt: Attempt, figures: Mapping[str, score.Figure] | None = None) -> Case:
    """A case of an attempt; measured here, or `figures` of a panel (judged.py)."""
    told = attempt.output
    return Case(
        task=task.id,
        domain=task.domain,
        persona=str(told.get("persona", "none")),
        exposure=int(told.get("exposure", 0)),
        modality=str(told.get("modality", "text")),
        trial=attempt.trial,
        figures=score.measure_attempt(task, attempt).figures if figures is None else figures,
    )


def table(
    cases: Sequence[Case], by: Sequence[str] = ("domain",), *, k: int = 1, seed: int = 0, weights: Sequence[float] = ()
) -> list[Row]:
    """All figures of each cell: the twelve metrics, the further ones, `pass^k` and `mm_tap`."""
    rows: list[Row] = []
    for keys, part in split(cases, by):
        for metric in (*score.METRICS, *score.EXTRA):
            if metric not in score.PAIRED:
                rows.append(Row(keys, metric, pool(part, metric)))
        rows.append(Row(keys, f"pass^{k}", pass_k(part, k)))
        rows.append(Row(keys, "modality_robustness", modality_robustness(part, k, seed=seed)))
        rows.append(Row(keys, "turn_overhead", turn_overhead(part, seed=seed)))
        rows.append(Row(keys, "mm_tap", mm_tap(part, weights or score.WEIGHTS, seed=seed)))
    return rows


def split(cases: Sequence[Case], by: Sequence[str]) -> list[tuple[dict[str, Any], list[Case]]]:
    """The cases by factors, cells in order."""
    if strange := set(by) - {*FACTORS, "task"}:
        raise BadOption(f"factor {', '.join(sorted(strange))}; take from {', '.join(FACTORS)}, task")
    cells: dict[tuple[Any, ...], list[Case]] = defaultdict(list)
    for one in cases:
        cells[tuple(getattr(one, name) for name in by)].append(one)
    return [(dict(zip(by, key, strict=True)), cells[key]) for key in sorted(cells)]


def pool(cases: Sequence[Case], metric: str) -> Estimate:
    """Mean over all observations of a metric, clustered by task."""
    values = [value for one in cases for value in one.figures[metric].observations]
    names = [_cluster(one) for one in cases for _ in one.figures[metric].observations]
    what = (score.METRICS | score.EXTRA)[metric]
    return _within(_estimate(values, names, what.undefined), what)


def pass_k(cases: Sequence[Case], k: int = 1) -> Estimate:
    """pass^k: the chance that k trials of one setting all reach the goal, a mean over settings."""
    return _over_trials(cases, k, pass_hat_k)


def pass_any(cases: Sequence[Case], k: int = 1) -> Estimate:
    """pass@k: the chance that at least one of k trials does."""
    return _over_trials(cases, k, pass_at_k)


def arga_k(cases: Sequence[Case], k: int = 1) -> Estimate:
    """The paper's P(pass^k | ASR error): pass^k over the trials in which something was misheard.

    Settings with fewer than k such trials are left out.
    """
    heard = [one for one in cases if one.figures["arga"].observations]
    tries = _tries(heard)
    enough = {setting for setting, (_, n) in tries.items() if n >= k}
    return _over_trials([one for one in heard if (*one.setting, one.modality) in enough], k, pass_hat_k)


def modality_robustness(cases: Sequence[Case], k: int = 1, *, seed: int = 0) -> Estimate:
    """pass^k by voice / pass^k by text over the settings that have both; undefined where text never passes."""
    pairs = _paired_tries(cases)
    if not pairs:
        return _nothing("no setting has both voice and text")
    up = np.array([pass_hat_k(*voice, k) for _, voice, _ in pairs])
    down = np.array([pass_hat_k(*text, k) for _, _, text in pairs])
    return _ratio(up, down, [name for name, _, _ in pairs], 0.0, "text never reached the goal", seed)


def turn_overhead(cases: Sequence[Case], *, seed: int = 0) -> Estimate:
    """Turns by voice / turns by text - 1 over the settings that have both; means over trials first."""
    turns: dict[tuple[Any, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in cases:
        if one.figures["turns"].observations:
            turns[one.setting][one.modality].append(one.value("turns"))
    both = {setting: found for setting, found in turns.items() if {"voice", "text"} <= found.keys()}
    if not both:
        return _nothing("no setting has both voice and text")
    up = np.array([np.mean(found["voice"]) for found in both.values()])
    down = np.array([np.mean(found["text"]) for found in both.values()])
    return _ratio(up, down, [f"{s[0]}\0{s[1]}" for s in both], -1.0, "text took no turn", seed)


def mm_tap(cases: Sequence[Case], weights: Sequence[float] = score.WEIGHTS, *, seed: int = 0) -> Estimate:
    """The composite of a cell: its parts from the voice conversations, robustness and overhead from both.

    Undefined while a part is; `reason` names what is missing and what the rest comes to.
    """
    voice = [one for one in cases if one.modality == "voice"]
    values: dict[str, float | None] = {
        metric: pool(voice, metric).value for metric in score.PARTS.values() if metric not in score.PAIRED
    }
    values["modality_robustness"] = modality_robustness(cases, seed=seed).value
    values["turn_overhead"] = turn_overhead(cases, seed=seed).value
    found = score.composite(values, weights)
    if found.value is None:
        rest = "" if found.partial is None else f"; the rest comes to {found.partial:.3f}"
        return _nothing(f"undefined: {', '.join(found.missing)}{rest}")
    names, sums = _task_sums(cases)
    low, high = _resample_tap(sums, weights, seed) if len(names) > 1 else (None, None)
    return Estimate(found.value, low, high, len(voice), len(names))


def contrast(
    cases: Sequence[Case], factor: str, a: Any, b: Any, metrics: Iterable[str] = (), *, seed: int = 0
) -> dict[str, tuple[Paired, float]]:
    """Metric → the paired difference a - b of a factor on otherwise equal conversations, and p after Holm's correction.

    Conversations pair when task, trial and all other factors are equal; pairs in which the metric is undefined on a
    side are left out (`n` counts the rest).
    """
    if factor not in FACTORS:
        raise BadOption(f"factor {factor!r}; take one of {', '.join(FACTORS)}")
    others = [name for name in (*FACTORS, "task", "trial") if name != factor]
    sides: dict[Any, dict[tuple[Any, ...], Case]] = {a: {}, b: {}}
    for one in cases:
        if getattr(one, factor) in sides:
            sides[getattr(one, factor)][tuple(getattr(one, name) for name in others)] = one
    shared = [key for key in sides[a] if key in sides[b]]
    clusters = [_cluster(sides[a][key]) for key in shared]
    chosen = tuple(metrics) or tuple(m for m in (*score.METRICS, "pass") if m not in score.PAIRED)
    found = {
        metric: paired_difference(
            [sides[a][key].value(metric) for key in shared],
            [sides[b][key].value(metric) for key in shared],
            clusters,
            seed=seed,
            resamples=RESAMPLES,
        )
        for metric in chosen
    }
    corrected = holm([one.p for one in found.values()])
    return {metric: (one, float(p)) for (metric, one), p in zip(found.items(), corrected, strict=True)}


def _cluster(one: Case) -> str:
    # Domains number their tasks on their own.
    return f"{one.domain}\0{one.task}"


def _nothing(reason: str) -> Estimate:
    return Estimate(None, None, None, 0, 0, reason)


def _estimate(values: Sequence[float], names: Sequence[str], undefined: str) -> Estimate:
    if not values:
        return _nothing(undefined)
    found = clustered_interval(values, names)
    return Estimate(found.mean, _known(found.low), _known(found.high), found.n, found.clusters)


def _within(found: Estimate, what: score.Metric) -> Estimate:
    """The interval cut at the metric's bounds: Student's t knows nothing of them."""
    if found.low is None or found.high is None:
        return found
    high = found.high if what.high is None else min(found.high, what.high)
    return replace(found, low=max(found.low, what.low), high=high)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _tries(cases: Sequence[Case]) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Setting and modality → (trials that reached the goal, trials that were decided)."""
    counts: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0])
    for one in cases:
        for reached in one.figures["pass"].observations:
            counts[(*one.setting, one.modality)][0] += int(reached)
            counts[(*one.setting, one.modality)][1] += 1
    return {key: (hits, tries) for key, (hits, tries) in counts.items()}


def _over_trials(cases: Sequence[Case], k: int, rate: Any) -> Estimate:
    tries = _tries(cases)
    values = [float(rate(hits, n, k)) for hits, n in tries.values()]
    what = score.EXTRA["pass"]
    return _within(_estimate(values, [f"{key[0]}\0{key[1]}" for key in tries], what.undefined), what)


def _paired_tries(cases: Sequence[Case]) -> list[tuple[str, tuple[int, int], tuple[int, int]]]:
    """(cluster, voice's hits and trials, text's) of the settings that have both."""
    tries = _tries(cases)
    settings = {key[:4] for key in tries}
    return [
        (f"{s[0]}\0{s[1]}", tries[(*s, "voice")], tries[(*s, "text")])
        for s in sorted(settings)
        if (*s, "voice") in tries and (*s, "text") in tries
    ]


def _ratio(up: Floats, down: Floats, names: Sequence[str], shift: float, undefined: str, seed: int) -> Estimate:
    """sum(up) / sum(down) + shift with a bootstrap over clusters."""
    if down.sum() == 0:
        return _nothing(undefined)
    codes = np.unique(names, return_inverse=True)[1]
    sums = np.stack([np.bincount(codes, weights=side) for side in (up, down)], axis=1)
    value = float(up.sum() / down.sum()) + shift
    if len(sums) < 2:
        return Estimate(value, None, None, len(up), len(sums))
    drawn = _draw(len(sums), seed) @ sums
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = _middle(drawn[:, 0] / drawn[:, 1] + shift)
    return Estimate(value, low, high, len(up), len(sums))


def _draw(clusters: int, seed: int) -> Floats:
    """How often each cluster is drawn, a row a resample."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=RESAMPLES).astype(np.float64)


def _middle(values: Floats) -> tuple[float | None, float | None]:
    """The middle 95 %; None where half of the resamples have no value."""
    kept = values[np.isfinite(values)]
    if len(kept) < len(values) / 2:
        return None, None
    low, high = np.quantile(kept, (0.025, 0.975))
    return float(low), float(high)


_POOLED = tuple(metric for metric in score.PARTS.values() if metric not in score.PAIRED)


def _task_sums(cases: Sequence[Case]) -> tuple[list[str], Floats]:
    """Tasks, and for each the sum and number of every part's observations: tasks x parts x 2.

    Robustness and overhead stand as the sums of voice and of text over the settings that have both.
    """
    names = sorted({_cluster(one) for one in cases})
    place = {name: at for at, name in enumerate(names)}
    metrics = (*_POOLED, *score.PAIRED)
    sums = np.zeros((len(names), len(metrics), 2))
    for one in cases:
        if one.modality == "voice":
            for at, metric in enumerate(_POOLED):
                seen = one.figures[metric].observations
                sums[place[_cluster(one)], at] += sum(seen), len(seen)
    for name, voice, text in _paired_tries(cases):
        sums[place[name], metrics.index("modality_robustness")] += pass_hat_k(*voice, 1), pass_hat_k(*text, 1)
    turns: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for one in cases:
        turns[(*one.setting, one.modality)].extend(one.figures["turns"].observations)
    for key, spoken in turns.items():
        written = turns.get((*key[:4], "text"))
        if key[4] == "voice" and spoken and written:
            sums[place[f"{key[0]}\0{key[1]}"], metrics.index("turn_overhead")] += np.mean(spoken), np.mean(written)
    return names, sums


def _resample_tap(sums: Floats, weights: Sequence[float], seed: int) -> tuple[float | None, float | None]:
    drawn = np.tensordot(_draw(len(sums), seed), sums, axes=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = drawn[..., 0] / drawn[..., 1]
        part = {metric: ratios[:, at] for at, metric in enumerate((*_POOLED, *score.PAIRED))}
        a, b, g, d = weights
        values = (
            a * part["critical_field_accuracy"] * part["pass"]
            + b * (part["modality_robustness"] + part["arga"] + part["error_recovery_rate"]) / 3
            # Overhead is a ratio less 1, so 1 / (1 + TO) is text's turns over voice's.
            + g * (part["turn_efficiency"] + 1 / (1 + part["user_effort"]) + 1 / part["turn_overhead"]) / 3
            + d * part["irreversible_action_safety"]
        )
    return _middle(values)
