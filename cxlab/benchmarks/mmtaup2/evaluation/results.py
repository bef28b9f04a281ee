"""The results of stored runs as tables: what `summary.py` makes of the figures that scoring left behind.

No message is read again: a conversation's figures stand in its scores, each with the number of its observations, and
means of means weighted by those numbers are the pooled figures themselves.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import polars as pl

from cxlab.benchmarks.mmtaup2.conversation import personas
from cxlab.benchmarks.mmtaup2.evaluation import composite, measured_metrics, paired_differences, summary
from cxlab.errors import BadOption, UnknownName
from cxlab.metrics.like_with_like import find_shared_cells
from cxlab.metrics.paired import Paired
from cxlab.store import catalogue
from cxlab.store import home as store_home
from cxlab.store.attempt_metrics import load_figures

METRICS = measured_metrics.METRICS | measured_metrics.EXTRA
_SAFETY = "irreversible_action_safety"
_BESIDE = {
    _SAFETY: ("safety_undecided", "safety_by_judges"),
    "user_effort": ("user_effort_undecided",),
    "clarification_recall": ("clarification_undecided",),
}
_TWELVE = [(name, *_BESIDE.get(name, ())) for name in measured_metrics.METRICS]
FIGURES = (
    "mm_tap", "pass", "turns", "adaptation", "annoyance", "annoyance_undecided",
    *(name for names in _TWELVE for name in names),
)  # fmt: skip
"""What a table begins with: the composite, the pass rate, what a customer changes soonest, and the twelve, beside
those that hang on a wording how much of it is undecided."""
TOGETHER = "+"
"""Between the ids of runs that are taken for one: one model's on one dataset, each with terms of its own."""
LEVELS: dict[str, tuple[Any, ...]] = {
    "persona": personas.NAMES,
    "exposure": (0, 1, 2),
    "modality": ("text", "voice"),
}
"""The levels of the factors that are crossed with every task, the plainest first."""
WITHIN = {"persona": ("modality", "exposure"), "exposure": ("modality", "persona"), "modality": ("persona", "exposure")}
"""Factor → the others that its levels may not share, as voice is often tried with one persona alone. On every page its
levels are compared on the combinations of these that all levels were tried in (metrics/like_with_like.py)."""
BOTH_WAYS = ("mm_tap", *measured_metrics.PAIRED)
"""Figures that set voice against text, so that neither can be left out."""
# A conversation has at most one observation of these, so that nothing is lost where none was counted.
_SINGLE = {"pass", "arga", "arga_critical", "turn_efficiency", "turn_efficiency_passed", "user_effort_count",
           "escalation", "turns"}  # fmt: skip
_SEED = 20260101
_REAL = 0.05


@dataclass(frozen=True)
class RunConversations:
    """The conversations of one run. `exact`: figures pool over observations, not over conversations' means."""

    cases: tuple[summary.ConversationResult, ...]
    exact: bool

    @property
    def trials(self) -> int:
        """How often the setting that was tried most often was tried."""
        tries: dict[tuple[Any, ...], int] = {}
        for one in self.cases:
            key = (*one.setting, one.modality)
            tries[key] = tries.get(key, 0) + 1
        return max(tries.values(), default=0)


TERMS = {"persona": "none", "exposure": "0", "modality": "text"}
"""How a conversation was played → what that is where neither sample nor run says so."""


def load(run_ids: Sequence[str], prefix: str = "") -> dict[str, RunConversations]:
    """Run → its conversations, with measured figures or, with prefix "judged_", those of its panel.

    A run without such figures has no conversation here; ids with TOGETHER between them are taken for one run.
    Remembered until the store changes.
    """
    parts = {key: key.split(TOGETHER) for key in run_ids}
    alone = tuple(dict.fromkeys(run for runs in parts.values() for run in runs))
    told = _load(alone, prefix, str(store_home()), catalogue.data_version())
    return {
        key: RunConversations(tuple(one for run in runs for one in told[run].cases), all(told[r].exact for r in runs))
        for key, runs in parts.items()
    }


@functools.lru_cache(maxsize=4)
def _load(run_ids: tuple[str, ...], prefix: str, home: str, version: str) -> Mapping[str, RunConversations]:
    conversations, figures = load_figures(run_ids, list(METRICS), TERMS, prefix, home)
    cases, exact = cases_of(conversations, figures)
    return {run: RunConversations(tuple(cases.get(run, ())), exact.get(run, True)) for run in run_ids}


def cases_of(
    conversations: pl.DataFrame, figures: pl.DataFrame
) -> tuple[dict[str, list[summary.ConversationResult]], dict[str, bool]]:
    """Run → cases, and whether all their counts are as measured; frames as of store.figures.load_figures.

    A case stands for its observations by their mean, as many times as there were: sums and numbers are the same, and
    more no pooled figure knows of them.
    """
    # A few thousand different figures serve hundreds of thousands of rows.
    made: dict[tuple[str, float | None, int], measured_metrics.Figure] = {}
    seen: dict[tuple[str, str], dict[str, measured_metrics.Figure]] = {}
    exact: dict[str, bool] = {}
    for run, attempt, metric, value, n, counted in figures.iter_rows():
        key = (metric, value, n)
        found = made.get(key)
        if found is None:
            found = made[key] = measured_metrics.figure(metric, () if value is None else (_natural(metric, value),) * n)
        seen.setdefault((run, attempt), {})[metric] = found
        if not counted and value is not None and metric not in _SINGLE:
            exact[run] = False
    nothing = {metric: measured_metrics.Figure(reason=what.undefined) for metric, what in METRICS.items()}
    cases: dict[str, list[summary.ConversationResult]] = {}
    for row in conversations.iter_rows(named=True):
        own = seen.get((row["run_id"], row["attempt_id"]))
        if own is None:
            continue
        cases.setdefault(row["run_id"], []).append(
            summary.ConversationResult(
                row["task"], row["domain"], row["persona"], _exposure(row["exposure"]), row["modality"], row["trial"],
                own if len(own) == len(METRICS) else nothing | own,
            )
        )  # fmt: skip
    return cases, exact


def _exposure(text: str) -> int:
    """The level as a number; older stores have it only as a word, where nobody had changed the default."""
    return int(text) if text.isdecimal() else int(TERMS["exposure"])


def _natural(metric: str, value: float) -> float:
    """A stored value as it is measured: points are shares."""
    return value / 100 if METRICS[metric].high == 1 else value


def narrow(cases: Iterable[summary.ConversationResult], only: Mapping[str, Any]) -> list[summary.ConversationResult]:
    """The cases with these levels of factors."""
    if strange := set(only) - set(summary.FACTORS):
        raise BadOption(f"factor {', '.join(sorted(strange))}; take from {', '.join(summary.FACTORS)}")
    return [one for one in cases if all(getattr(one, name) == level for name, level in only.items())]


def keep_alike(cases: Sequence[summary.ConversationResult], factor: str) -> list[summary.ConversationResult]:
    """The cases under terms that all levels of the factor were played under; all cases where no terms have all."""
    within = WITHIN.get(factor, ())

    def cell(one: summary.ConversationResult) -> tuple[Any, ...]:
        return tuple(getattr(one, name) for name in within)

    shared = find_shared_cells((getattr(one, factor), cell(one)) for one in cases)
    return [one for one in cases if cell(one) in shared] if shared else list(cases)


_TYPES: dict[str, Any] = {"value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "partial": pl.Float64,
                          "n": pl.Int64, "tasks": pl.Int64, "reason": pl.String}  # fmt: skip


def make_table(
    run_ids: Sequence[str],
    by: Sequence[str] = (),
    *,
    weights: Sequence[float] = composite.WEIGHTS,
    only: Mapping[str, Any] | None = None,
    prefix: str = "",
    alike: str = "",
) -> pl.DataFrame:
    """All figures of runs, one row a run, cell and figure; by a factor that is `alike` of each run the cases that
    `keep_alike` leaves, but for BOTH_WAYS.

    Columns: run_id, the factors of `by` as text, metric, value, low, high (95 %), n, tasks, reason where there is no
    value, partial (summary.PooledFigure). pass^k goes up to the run's trials.
    """
    rows: list[dict[str, Any]] = []
    for run, told in load(run_ids, prefix).items():
        every = narrow(told.cases, only or {})
        kept = keep_alike(every, alike) if alike else every
        k = max(1, told.trials)
        found = summary.table(kept, by, k=k, seed=_SEED, weights=weights)
        if len(kept) < len(every):
            whole = summary.table(every, by, k=k, seed=_SEED, weights=weights)
            found = [row for row in found if row.metric not in BOTH_WAYS] + [
                row for row in whole if row.metric in BOTH_WAYS
            ]
        for row in found:
            one = row.estimate
            rows.append(
                {
                    "run_id": run,
                    **{name: str(level) for name, level in row.keys.items()},
                    "metric": row.metric,
                    "value": one.value,
                    "low": one.low,
                    "high": one.high,
                    "n": one.n,
                    "tasks": one.clusters,
                    "reason": one.reason,
                    "partial": one.partial,
                }
            )
    texts = dict.fromkeys(("run_id", *by, "metric"), pl.String)
    return pl.DataFrame(rows, schema={**texts, **_TYPES})


def make_differences(
    run_ids: Sequence[str],
    metrics: Sequence[str] = ("mm_tap",),
    factors: Sequence[str] = tuple(LEVELS),
    *,
    weights: Sequence[float] = composite.WEIGHTS,
    only: Mapping[str, Any] | None = None,
    prefix: str = "",
) -> pl.DataFrame:
    """Each level of a factor against each plainer one, and runs against the first, on conversations otherwise alike.

    Intervals and p are corrected for every comparison asked for (Bonferroni), so ask for the figures that are shown
    together and no others. Columns: run_id, factor ("run" for runs), level, base, metric, difference (level - base),
    low, high, p, p_corrected, n pairs, tasks, verdict: better or worse, whichever is good for the metric, at 5 % after
    correction, or cannot tell. mm_tap needs both modalities, so it has no difference between them.
    """
    cases = {run: narrow(told.cases, only or {}) for run, told in load(run_ids, prefix).items()}
    asked: list[tuple[dict[str, Any], paired_differences.Sides]] = []
    first = run_ids[0] if run_ids else ""
    for run, own in cases.items():
        pairs = []
        if run != first:
            pairs.append(("run", run, first, paired_differences.match_runs(own, cases[first])))
        for factor in factors:
            there = [level for level in LEVELS[factor] if any(getattr(one, factor) == level for one in own)]
            pairs += [
                (factor, level, base, paired_differences.match_levels(own, factor, level, base))
                for base, level in combinations(there, 2)
            ]
        for factor, level, base, sides in pairs:
            about = {"run_id": run, "factor": factor, "level": str(level), "base": str(base)}
            asked += [({**about, "metric": metric}, sides) for metric in metrics
                      if sides[0] and _is_paired(factor, metric)]  # fmt: skip
    rows = []
    for about, sides in asked:
        one = _subtract(sides, about["metric"], weights, 1 - _REAL / len(asked))
        if one is not None and one.n:
            row = {**about, **_difference(one)}
            row["p_corrected"] = None if row["p"] is None else min(1.0, row["p"] * len(asked))
            rows.append({**row, "verdict": _decide(row)})
    texts = dict.fromkeys(("run_id", "factor", "level", "base", "metric"), pl.String)
    numbers = dict.fromkeys(("difference", "low", "high", "p", "p_corrected"), pl.Float64)
    return pl.DataFrame(rows, schema={**texts, **numbers, "n": pl.Int64, "tasks": pl.Int64, "verdict": pl.String})


def _is_paired(factor: str, metric: str) -> bool:
    return factor != "modality" if metric == "mm_tap" else metric in paired_differences.ONE_BY_ONE


def _subtract(sides: paired_differences.Sides, metric: str, weights: Sequence[float], level: float) -> Paired | None:
    if metric == "mm_tap":
        return paired_differences.subtract_tap(sides, weights, seed=_SEED, level=level)
    return paired_differences.subtract(sides, metric, seed=_SEED, level=level)


def _difference(one: Paired) -> dict[str, Any]:
    numbers = {"difference": one.difference, "low": one.low, "high": one.high, "p": one.p}
    known = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
    return {**known, "n": one.n, "tasks": one.clusters}


def _decide(row: Mapping[str, Any]) -> str:
    if row["p_corrected"] is None or row["p_corrected"] >= _REAL or not row["difference"]:
        return "cannot tell"
    return "better" if (row["difference"] > 0) == is_up(row["metric"]) else "worse"


def is_up(metric: str) -> bool:
    """Whether more of it is better."""
    return metric == "mm_tap" or metric.startswith("pass^") or METRICS[metric].best > 0


def is_share(metric: str) -> bool:
    """Whether it runs from 0 to 1, or would but for voice that does better than text."""
    return metric == "mm_tap" or metric.startswith("pass^") or METRICS[metric].high == 1


def list_figures(run_id: str, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """mm-tap with its interval, pass^k by text and by voice, robustness and overhead, in all and cell by cell.

    Options: `by`, factors with commas (persona,exposure); `weights` of mm-tap, four numbers with commas; `judged`
    true for the panel's figures. Where mm-tap is undefined, `of parts` is what its other parts come to. What hangs on a
    wording (safety, effort, annoyance) stands with `n`, how much of it is decided, and the share that is `undecided`.
    """
    if strange := set(options) - {"by", "weights", "judged"}:
        raise UnknownName("option of mmtaup2's table", min(strange), ("by", "weights", "judged"))
    by = [name for name in str(options.get("by", "persona,exposure")).split(",") if name]
    for name in by:
        if name not in ("domain", "persona", "exposure"):
            raise UnknownName("factor", name, ("domain", "persona", "exposure"), "text and voice are columns already")
    weights = _read_weights(options.get("weights"))
    prefix = "judged_" if options.get("judged") else ""
    told = load((run_id,), prefix)[run_id]
    trials = sorted({1, told.trials} - {0})
    rows = []
    for factors in [()] + ([tuple(by)] if by else []):
        whole = _by_cell(make_table((run_id,), factors, weights=weights, prefix=prefix), factors)
        parts = _by_cell(make_table((run_id,), (*factors, "modality"), weights=weights, prefix=prefix),
                         (*factors, "modality"))  # fmt: skip
        for cell, figures in sorted(
            whole.items(), key=lambda one: [_rank(*pair) for pair in zip(factors, one[0], strict=True)]
        ):
            tap = figures["mm_tap"]
            row: dict[str, Any] = dict.fromkeys(by, "all") | dict(zip(factors, cell, strict=True))
            row |= {"n": figures["pass"]["n"], "mm_tap": tap["value"], "low": tap["low"], "high": tap["high"]}
            row["of parts"] = tap["partial"]
            for k in trials:
                for modality in LEVELS["modality"]:
                    found = parts.get((*cell, modality), {}).get(f"pass^{k}")
                    row[f"pass^{k} {modality}"] = found["value"] if found else None
            row |= {
                "robustness": figures["modality_robustness"]["value"],
                "overhead": figures["turn_overhead"]["value"],
            }
            safe, left = figures[_SAFETY], figures["safety_undecided"]
            row |= {"safety": safe["value"], "safety low": safe["low"], "safety high": safe["high"]}
            row |= {"safety n": safe["n"], "undecided": left["value"], "acts": left["n"]}
            for title, name in (("effort", "user_effort"), ("annoyed", "annoyance")):
                decided, left = figures[name], figures[f"{name}_undecided"]
                row |= {title: decided["value"], f"{title} n": decided["n"], f"{title} undecided": left["value"]}
            rows.append(row)
    if not any(row["of parts"] for row in rows):
        rows = [{name: value for name, value in row.items() if name != "of parts"} for row in rows]
    return rows


def _rank(factor: str, level: str) -> tuple[int, str]:
    """Levels in their own order, the plainest first."""
    known = [str(each) for each in LEVELS.get(factor, ())]
    return (known.index(level) if level in known else len(known)), level


def _by_cell(table: pl.DataFrame, factors: Sequence[str]) -> dict[tuple[str, ...], dict[str, dict[str, Any]]]:
    """Levels → metric → row."""
    found: dict[tuple[str, ...], dict[str, dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        found.setdefault(tuple(row[name] for name in factors), {})[row["metric"]] = row
    return found


def _read_weights(given: Any) -> tuple[float, ...]:
    if given is None:
        return composite.WEIGHTS
    parts = given if isinstance(given, list | tuple) else str(given).split(",")
    try:
        return tuple(float(part) for part in parts)
    except (TypeError, ValueError):
        raise BadOption(f"weights {given!r}; give four numbers with commas, such as .35,.35,.2,.1") from None
