"""Where two models go different ways through a procedure, step by step, and which differences are sure."""

import numpy as np
import polars as pl

from cxlab.metrics.paired import compare_pairs
from cxlab.read.sample_clusters import clusters_of
from cxlab.read.view import View
from cxlab.records.procedure import Procedure
from cxlab.views.sop.queries_chosen_turns import read_turns

_SEED = 20260102
_ENOUGH = 30
_LEAST = 0.01


def step_differences(view: View, procedure: Procedure, models: tuple[str, str]) -> pl.DataFrame:
    """Share of turns that take each transition between nodes, of either model, on the samples that both have.

    Columns: source, target, first, second (means over samples of the share of the sample's turns), difference, low,
    high (95 %), p, n samples, sure. Intervals and p are paired by sample, clustered, and corrected for all transitions
    compared: those of the procedure, and others that at least one turn in a hundred takes.
    """
    told = read_turns(view.change(models=models))
    turns = (
        told.turns.filter(pl.col("pair").is_not_null()).group_by("model", "sample_id", "pair").agg(pl.col("n").sum())
    )
    per_sample = turns.group_by("model", "sample_id").agg(of=pl.col("n").sum())
    shared = _by_model(per_sample, "of", models).drop_nulls()
    nodes = dict.fromkeys(procedure.plans, procedure.plan_action)
    steps = (
        told.pairs.select("pair", source="way", target=pl.col("way").list.slice(1))
        .with_columns(pl.col("source").list.head(pl.col("source").list.len().cast(pl.Int64) - 1))
        .explode("source", "target", empty_as_null=False)
        .with_columns(pl.col("source", "target").replace(nodes))
        .unique()
    )
    counted = turns.join(steps, on="pair").group_by("model", "sample_id", "source", "target").agg(pl.col("n").sum())
    shares = counted.join(per_sample, on=["model", "sample_id"]).with_columns(share=pl.col("n") / pl.col("of"))
    known = sorted(procedure.steps())
    common = shares.filter(pl.col("sample_id").is_in(shared["sample_id"].implode()))
    often = common.group_by("source", "target", "model").agg(pl.col("share").sum() / max(shared.height, 1))
    others = often.filter(pl.col("share") >= _LEAST).select("source", "target").unique().sort("source", "target").rows()
    wanted = [*known, *(step for step in others if step not in set(known))]
    samples = {sample: place for place, sample in enumerate(shared["sample_id"].sort())}
    found = {(step, model): np.zeros(len(samples)) for step in wanted for model in models}
    for model, sample, source, target, share in common.select(
        "model", "sample_id", "source", "target", "share"
    ).iter_rows():
        if (column := found.get(((source, target), model))) is not None:
            column[samples[sample]] = share
    pairs = [(found[step, models[0]], found[step, models[1]]) for step in wanted]
    shares_of = clusters_of(pl.Series(list(samples), dtype=pl.String)).to_numpy()
    told_apart = (
        compare_pairs(pairs, [shares_of] * len(pairs), seed=_SEED, closed_form_from=_ENOUGH, bounds=(-1.0, 1.0))
        if samples
        else []
    )
    rows = [
        (*step, float(one.mean()), float(other.mean()), each.found.difference, each.found.low, each.found.high, each.p,
         len(samples), each.verdict != "cannot tell")
        for step, (one, other), each in zip(wanted, pairs, told_apart, strict=False)
    ]  # fmt: skip
    names = dict.fromkeys(("source", "target"), pl.String)
    numbers = dict.fromkeys(("first", "second", "difference", "low", "high", "p"), pl.Float64)
    schema = {**names, **numbers, "n": pl.Int64, "sure": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def _by_model(frame: pl.DataFrame, value: str, models: tuple[str, str]) -> pl.DataFrame:
    """One row a sample with a column for either model; null where it has none."""
    sides = [
        frame.filter(pl.col("model") == model).select("sample_id", pl.col(value).alias(side))
        for side, model in zip(("first", "second"), models, strict=True)
    ]
    return sides[0].join(sides[1], on="sample_id", how="full", coalesce=True)
