"""Scores with people's decisions in the place of judges' verdicts, beside the scores as judged."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.stored_scores import Decision, correct_attempts, why_uncorrected
from cxlab.errors import CxError
from cxlab.metrics.intervals import change_of_mean, pooled_interval
from cxlab.read import View, decisions
from cxlab.store import catalogue, layout, write
from cxlab.views.benchmarks import declared
from cxlab.views.judges.queries_review import PASSED, SUMS, runs_of, sums

_MOST_KEPT = 20_000
_MOST_METRICS = 8
Sums = Mapping[tuple[str, bool], tuple[int, float]]
"""Metric and whether it is the attempt's own → number of values and their sum."""


class Effect(NamedTuple):
    """What the decisions on one attempt come to: its scores and verdict as judged, and corrected."""

    before: Sums
    after: Sums
    verdict: str
    corrected: str


class Corrections(NamedTuple):
    """`effects` by (run, attempt); `attempts`: run_id, attempt_id, benchmark, model, sample_id of them; `left_out`:
    run → why its scores cannot be corrected."""

    effects: Mapping[tuple[str, str], Effect]
    attempts: pl.DataFrame
    left_out: Mapping[str, str]


_kept: dict[tuple[str, ...], Effect] = {}
_keeping = threading.Lock()


def correct(states: pl.DataFrame) -> Corrections:
    """The effect of every settled decision of `decisions.outcomes`; what was worked out once is remembered."""
    settled = decisions.settled(states)
    attempts = runs_of(settled)
    known = set(attempts.select("run_id", "attempt_id").iter_rows())
    by_run: dict[str, dict[str, list[Decision]]] = {}
    for run_id, attempt_id, turn, field, value in settled.select(*decisions.ITEM, "value").iter_rows():
        if (run_id, attempt_id) in known:
            by_run.setdefault(run_id, {}).setdefault(attempt_id, []).append(Decision(turn, field, value))
    effects: dict[tuple[str, str], Effect] = {}
    left_out: dict[str, str] = {}
    for run_id, decided in by_run.items():
        found = _correct_run(run_id, decided)
        if isinstance(found, str):
            left_out[run_id] = found
        else:
            effects.update({(run_id, attempt_id): effect for attempt_id, effect in found.items()})
    return Corrections(effects, attempts, left_out)


def _correct_run(run_id: str, decided: Mapping[str, Sequence[Decision]]) -> dict[str, Effect] | str:
    """The effects by attempt, or why there are none."""
    try:
        return _score_anew(run_id, decided)
    except (CxError, FileNotFoundError) as fault:
        return f"its record or dataset cannot be read ({fault})"


def _score_anew(run_id: str, decided: Mapping[str, Sequence[Decision]]) -> dict[str, Effect] | str:
    run = write.load_run(run_id)
    benchmark = REGISTRY.get(run.setup.get("benchmark", run.benchmark))
    if benchmark is None:
        return f"{run.benchmark} is not installed here"
    if why := why_uncorrected(benchmark, run):
        return why
    place = (str(layout.home()), catalogue.data_version(), run_id)
    keys = {attempt: (*place, attempt, repr(sorted(said))) for attempt, said in decided.items()}
    lacking = {attempt: decided[attempt] for attempt, key in keys.items() if key not in _kept}
    fresh = {
        each.attempt.id: Effect(_sum_up(each.before), _sum_up(each.after), *map(_verdict, (each.before, each.after)))
        for each in (correct_attempts(benchmark, run, lacking) if lacking else ())
    }
    with _keeping:
        _kept.update({keys[attempt]: effect for attempt, effect in fresh.items()})
        while len(_kept) > _MOST_KEPT:
            del _kept[next(iter(_kept))]
    return fresh | {attempt: _kept[key] for attempt, key in keys.items() if attempt not in fresh and key in _kept}


def _verdict(scored: Scored) -> str:
    return scored.verdict.value if scored.verdict else "unscored"


def _sum_up(scored: Scored) -> Sums:
    found: dict[tuple[str, bool], tuple[int, float]] = {}
    for score in scored.scores:
        n, total = found.get(key := (score.metric, score.turn is None), (0, 0.0))
        found[key] = (n, total) if score.value is None else (n + 1, total + score.value)
    verdict = _verdict(scored)
    found[PASSED, True] = (int(verdict in ("passed", "failed")), 100.0 * (verdict == "passed"))
    return found


def changed(effect: Effect) -> set[str]:
    """The metrics that decisions move, `passed` among them."""
    keys = effect.before.keys() | effect.after.keys()
    return {key[0] for key in keys if not _same(effect.before.get(key), effect.after.get(key))}


def _same(one: tuple[int, float] | None, other: tuple[int, float] | None) -> bool:
    # Sums of the same floats in another order differ by their last digit.
    return one == other or (one is not None and other is not None and one[0] == other[0]
                            and abs(one[1] - other[1]) < 1e-9)  # fmt: skip


def metrics_of(benchmark: str, effects: Iterable[Effect]) -> list[str]:
    """What a benchmark's corrected scores are shown by: success, its headlines, and what decisions move most often."""
    card = declared(benchmark).card
    moved: dict[str, int] = {}
    for effect in effects:
        for metric in changed(effect):
            moved[metric] = moved.get(metric, 0) + 1
    first = [PASSED, *(task.metric for task in card.tasks if task.metric in moved), *card.leading, *card.parts]
    scored = [metric for metric in card.metrics if metric in moved]
    ranked = sorted(scored, key=lambda metric: -moved[metric])
    wanted = [metric for metric in dict.fromkeys((*first, *ranked)) if metric == PASSED or metric in moved]
    return wanted[:_MOST_METRICS]


def compare(view: View, found: Corrections) -> pl.DataFrame:
    """Each metric of each model as judged and corrected: benchmark, metric, model, n, mean, low, high, corrected,
    corrected_low, corrected_high, change, change_low, change_high, attempts (how many change).

    Over all runs of the view, means over turns where a metric has any; intervals are clustered by sample. Models
    none of whose attempts were decided are left out.
    """
    rows = []
    decided = found.attempts.filter(
        pl.concat_str("run_id", pl.lit("/"), "attempt_id").is_in([f"{run}/{attempt}" for run, attempt in found.effects])
    )
    if view.benchmark:
        decided = decided.filter(pl.col("benchmark") == view.benchmark)
    for (benchmark,), part in decided.group_by("benchmark", maintain_order=True):
        effects = {key: found.effects[key] for key in part.select("run_id", "attempt_id").iter_rows()}
        metrics = metrics_of(str(benchmark), effects.values())
        models = tuple(part["model"].unique().sort())
        shown = tuple(model for model in models if not view.models or model in view.models)
        if not shown:
            continue
        stored = sums(view.change(benchmark=str(benchmark), models=shown), metrics)
        moved = _list_moves(part, effects, metrics)
        scales = declared(str(benchmark)).card
        for (metric, model), own in stored.group_by("metric", "model", maintain_order=True):
            grain = own.filter(~pl.col("whole")) if not own["whole"].all() else own
            row = _compare_one(grain, moved, scales.scale(str(metric)) if metric != PASSED else (0.0, 100.0))
            rows.append({"benchmark": benchmark, "metric": metric, "model": model, **row})
    if not rows:
        return pl.DataFrame()
    order = {metric: place for place, metric in enumerate(dict.fromkeys(row["metric"] for row in rows))}
    listed = {PASSED: -1} | order
    return pl.DataFrame(sorted(rows, key=lambda row: (row["benchmark"], listed[row["metric"]], row["model"])))


def _list_moves(part: pl.DataFrame, effects: Mapping[tuple[str, str], Effect], metrics: Sequence[str]) -> pl.DataFrame:
    """What decisions add to the sums of samples: the columns of SUMS, more (values), added (to their sum)."""
    rows = []
    for row in part.iter_rows(named=True):
        effect = effects[row["run_id"], row["attempt_id"]]
        for key in effect.before.keys() | effect.after.keys():
            (n, total), (m, other) = effect.before.get(key, (0, 0.0)), effect.after.get(key, (0, 0.0))
            if key[0] in metrics and not _same((n, total), (m, other)):
                rows.append((row["benchmark"], *key, row["model"], row["sample_id"], m - n, other - total))
    types = dict(zip(SUMS, (pl.String, pl.String, pl.Boolean, pl.String, pl.String), strict=True))
    frame = pl.DataFrame(rows, schema={**types, "more": pl.Int64, "added": pl.Float64}, orient="row")
    return frame.group_by(SUMS).agg(pl.col("more", "added").sum(), attempts=pl.len())


def _compare_one(own: pl.DataFrame, moved: pl.DataFrame, scale: tuple[float, float] | None) -> dict[str, float | None]:
    both = own.join(moved, on=SUMS, how="left").with_columns(pl.col("more", "added", "attempts").fill_null(0))
    old, sizes = both["total"].to_numpy(), both["n"].to_numpy()
    new, new_sizes = (both["total"] + both["added"]).to_numpy(), (both["n"] + both["more"]).to_numpy()
    before, after = pooled_interval(old, sizes, scale), pooled_interval(new, new_sizes, scale)
    change = change_of_mean(old, sizes, new, new_sizes)
    found: dict[str, float | None] = {"n": after.n, "attempts": int(both["attempts"].sum())}
    for name, each in (("", before), ("corrected_", after), ("change_", change)):
        value = {"": "mean", "corrected_": "corrected", "change_": "change"}[name]
        found |= {value: each.mean, f"{name}low": each.low, f"{name}high": each.high}
    return {name: None if isinstance(value, float) and value != value else value for name, value in found.items()}
