"""Comparisons over a whole benchmark: all procedures beside each other, and what an adversarial level costs a model."""

from collections.abc import Sequence

import polars as pl

from cxlab.metrics.intervals import Bounds
from cxlab.metrics.paired import compare_pairs
from cxlab.read.clusters import SHARE, summarise
from cxlab.read.coded import spell
from cxlab.read.kept.numbers import column_of, facts, look_up
from cxlab.read.view import View
from cxlab.views.sop.queries import count_divergences, leaf_levels
from cxlab.views.sop.queries_chosen_turns import read_turns

_SEED = 20260101


def level_differences(view: View, base: str = "zero", bounds: Bounds | None = (0.0, 100.0)) -> pl.DataFrame:
    """Each level against `base`, leaf by leaf (the leaf's mean at either): one row a model and level.

    Columns: model, level, n (leaves that have both), unmatched, difference, low, high, p, p_corrected (like low and
    high for the number of rows). `bounds` are the ends of the metric's scale.
    """
    means = leaf_levels(view.narrow(level=()))
    shown = set(view.values("level")) or set(means["level"])
    keys: list[tuple[str, str]] = []
    pairs: list[pl.DataFrame] = []
    for model in means["model"].unique().sort():
        own = means.filter(pl.col("model") == model)
        start = own.filter(pl.col("level") == base).select("scenario", "leaf", start="mean")
        for level in sorted(set(own["level"]) & shown - {base}):
            pair = own.filter(pl.col("level") == level).join(start, on=["scenario", "leaf"], how="full", coalesce=True)
            keys.append((model, level))
            pairs.append(pair.select(pl.col("mean", "start").fill_null(float("nan"))))
    span = None if bounds is None else (-abs(bounds[1] - bounds[0]), abs(bounds[1] - bounds[0]))
    told = compare_pairs(
        [(pair["mean"].to_numpy(), pair["start"].to_numpy()) for pair in pairs], seed=_SEED, bounds=span
    )
    rows = [
        (*key, each.found.n, pair.height - each.found.n, each.found.difference, each.found.low, each.found.high,
         each.found.p, each.p)
        for key, pair, each in zip(keys, pairs, told, strict=True)
    ]  # fmt: skip
    schema = {"model": pl.String, "level": pl.String, "n": pl.Int64, "unmatched": pl.Int64}
    numbers = dict.fromkeys(("difference", "low", "high", "p", "p_corrected"), pl.Float64)
    return pl.DataFrame(rows, schema={**schema, **numbers}, orient="row").fill_nan(None)


def compare_procedures(view: View, facet: str, procedures: Sequence[str]) -> pl.DataFrame:
    """One row a procedure, and one a procedure and model; the procedure that fewest turns keep first.

    Columns: procedure, model (null: all of the selection), dialogues, n turns, clusters, share (of turns whose way is
    the one due, from the first stage to the action), low, high, stage (where most turns leave for the first time; null
    where none does), left (turns that leave there), arrived (turns that got there in step).
    """
    known = facts()
    if column_of(facet) not in known.columns:
        return _EMPTY
    # All of them from one reading, and each figure of all of them at once.
    told = read_turns(view.narrow(**{facet: procedures}))
    turns = told.turns.filter(pl.col("pair").is_not_null())
    turns = turns.with_columns(procedure=look_up(known.select(column_of(facet)), turns["nth"]).to_series())
    if turns.is_empty():
        return _EMPTY
    ways = told.pairs.with_columns(kept=pl.col("way") == pl.col("wanted"))
    counted = spell(turns.group_by("procedure", "model", "pair").agg(pl.col("n").sum())).join(ways, on="pair")
    leaks = count_divergences(counted, ("procedure", "model"))
    clusters = turns.join(ways.select("pair", "kept"), on="pair").group_by("procedure", "model", "cluster").agg(
        pl.col("n").sum(), total=pl.col("n").filter("kept").sum()
    )  # fmt: skip
    clusters, turns = spell(clusters), spell(turns.select("procedure", "model", "nth"))
    parts = []
    for keys in (["procedure"], ["procedure", "model"]):
        found = summarise(clusters, keys, SHARE).rename({"mean": "share"})
        dialogues = turns.group_by(keys).agg(dialogues=pl.col("nth").n_unique().cast(pl.Int64))
        joined = found.join(dialogues, on=keys).join(_worst_leaks(leaks, keys), on=keys, how="left")
        parts.append(joined.with_columns(pl.col("left", "arrived").fill_null(0)))
    frame = pl.concat(parts, how="diagonal").select(
        "procedure", "model", "dialogues", "n", "clusters", "low", "high", "share", "stage", "left", "arrived"
    )
    whole = frame.filter(pl.col("model").is_null()).select("procedure", whole="share")
    return frame.join(whole, on="procedure").sort("whole", "procedure", "model", nulls_last=False).drop("whole")


_EMPTY = pl.DataFrame(schema={"procedure": pl.String, "model": pl.String, "share": pl.Float64})


def _worst_leaks(divergences: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    left = divergences.group_by(*keys, "stage").agg(left=pl.col("n").sum(), arrived=pl.col("arrived").sum())
    worst = left.sort("left", "stage").group_by(keys).last()
    return worst.with_columns(stage=pl.when(pl.col("left") > 0).then("stage")).select(*keys, "stage", "left", "arrived")
