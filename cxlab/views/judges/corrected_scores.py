"""The page Judges: each metric of each model with people's decisions in the place of judges' verdicts, beside it as
judged."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from cxlab.benchmarks.scores import corrected as corrected_scores
from cxlab.metrics.intervals import change_of_mean, pooled_interval
from cxlab.read import View, decisions
from cxlab.read.decisions import describe_attempts
from cxlab.read.sample_clusters import add_cluster
from cxlab.records.correction import PASSED, Corrections, Effect, changed, same
from cxlab.views.benchmarks import declared
from cxlab.views.judges.queries_review import SUMS, sums

_MOST_METRICS = 8


def correct(states: pl.DataFrame) -> Corrections:
    """The effect of what is settled of these items, as `decisions.outcomes`."""
    return corrected_scores.correct(decisions.on_stored(decisions.settled(states)))


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

    In the order of `metrics_of`. Over all runs of the view, means over turns where a metric has any; intervals are
    clustered. Models none of whose attempts were decided are left out.
    """
    rows = []
    keys = pl.DataFrame(list(found.effects), schema={"run_id": pl.String, "attempt_id": pl.String}, orient="row")
    decided = describe_attempts(keys)
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
            place = metrics.index(str(metric))
            rows.append((benchmark, place, model, {"benchmark": benchmark, "metric": metric, "model": model, **row}))
    if not rows:
        return pl.DataFrame()
    # What heads an attempt comes first, as at each item.
    return pl.DataFrame([row for *_, row in sorted(rows, key=lambda each: each[:3])])


def _list_moves(part: pl.DataFrame, effects: Mapping[tuple[str, str], Effect], metrics: Sequence[str]) -> pl.DataFrame:
    """What decisions add to the sums of samples: the columns of SUMS, more (values), added (to their sum)."""
    rows = []
    for row in part.iter_rows(named=True):
        effect = effects[row["run_id"], row["attempt_id"]]
        for key in effect.before.keys() | effect.after.keys():
            (n, total), (m, other) = effect.before.get(key, (0, 0.0)), effect.after.get(key, (0, 0.0))
            if key[0] in metrics and not same((n, total), (m, other)):
                rows.append((row["benchmark"], *key, row["model"], row["sample_id"], m - n, other - total))
    types = dict(zip(SUMS, (pl.String, pl.String, pl.Boolean, pl.String, pl.String), strict=True))
    frame = pl.DataFrame(rows, schema={**types, "more": pl.Int64, "added": pl.Float64}, orient="row")
    return frame.group_by(SUMS).agg(pl.col("more", "added").sum(), attempts=pl.len())


def _compare_one(own: pl.DataFrame, moved: pl.DataFrame, scale: tuple[float, float] | None) -> dict[str, float | None]:
    rows = own.join(moved, on=SUMS, how="left").with_columns(pl.col("more", "added", "attempts").fill_null(0))
    summed = ("n", "total", "more", "added", "attempts")
    both = add_cluster(rows).group_by("cluster", maintain_order=True).agg(pl.col(summed).sum())
    old, sizes = both["total"].to_numpy(), both["n"].to_numpy()
    new, new_sizes = (both["total"] + both["added"]).to_numpy(), (both["n"] + both["more"]).to_numpy()
    before, after = pooled_interval(old, sizes, scale), pooled_interval(new, new_sizes, scale)
    change = change_of_mean(old, sizes, new, new_sizes)
    found: dict[str, float | None] = {"n": after.n, "attempts": int(both["attempts"].sum())}
    for name, each in (("", before), ("corrected_", after), ("change_", change)):
        value = {"": "mean", "corrected_": "corrected", "change_": "change"}[name]
        found |= {value: each.mean, f"{name}low": each.low, f"{name}high": each.high}
    return {name: None if isinstance(value, float) and value != value else value for name, value in found.items()}
