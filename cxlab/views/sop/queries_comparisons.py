"""Comparisons over a whole benchmark: all procedures beside each other, and what an adversarial level costs a model."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from cxlab.metrics.intervals import Bounds
from cxlab.metrics.paired import compare_pairs
from cxlab.read.clusters import SHARE, summarise
from cxlab.read.view import View
from cxlab.views.sop.queries import divergences, leaf_levels
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


_KEPT = pl.col("way") == pl.col("wanted")


def compare_procedures(view: View, facet: str, procedures: Sequence[str]) -> pl.DataFrame:
    """One row a procedure, and one a procedure and model; the procedure that fewest turns keep first.

    Columns: procedure, model (null: all of the selection), dialogues, n turns, clusters, share (of turns whose way is
    the one due, from the first stage to the action), low, high, stage (where most turns leave for the first time; null
    where none does), left (turns that leave there), arrived (turns that got there in step).
    """
    rows: list[dict[str, Any]] = []
    for procedure in procedures:
        own = view.narrow(**{facet: (procedure,)})
        told = read_turns(own)
        turns = told.turns.filter(pl.col("pair").is_not_null()).join(
            told.pairs.select("pair", kept=_KEPT), on="pair", how="left"
        )
        leaks = divergences(own)
        for model in [None, *turns["model"].unique().sort()] if turns.height else []:
            part = turns if model is None else turns.filter(pl.col("model") == model)
            clusters = part.group_by("sample_id").agg(pl.col("n").sum(), total=pl.col("n").filter(pl.col("kept")).sum())
            found = summarise(clusters.with_columns(every=pl.lit(True)), ("every",), SHARE).row(0, named=True)
            rows.append(
                {
                    "procedure": procedure, "model": model,
                    "dialogues": part.select("run_id", "attempt_id").unique().height,
                    **{name: found[name] for name in ("n", "clusters", "low", "high")}, "share": found["mean"],
                    **_worst_leak(leaks if model is None else leaks.filter(pl.col("model") == model)),
                }
            )  # fmt: skip
    texts = dict.fromkeys(("procedure", "model", "stage"), pl.String)
    counts = dict.fromkeys(("dialogues", "n", "clusters", "left", "arrived"), pl.Int64)
    frame = pl.DataFrame(rows, schema_overrides={**texts, **counts}) if rows else _EMPTY
    whole = frame.filter(pl.col("model").is_null()).select("procedure", whole="share")
    return frame.join(whole, on="procedure").sort("whole", "procedure", "model", nulls_last=False).drop("whole")


_EMPTY = pl.DataFrame(schema={"procedure": pl.String, "model": pl.String, "share": pl.Float64})


def _worst_leak(divergences: pl.DataFrame) -> dict[str, Any]:
    left = divergences.group_by("stage").agg(pl.col("n").sum(), pl.col("arrived").sum()).sort("n", "stage").tail(1)
    stage, n, arrived = left.row(0) if left.height else (None, 0, 0)
    return {"stage": stage if n else None, "left": n, "arrived": arrived}
