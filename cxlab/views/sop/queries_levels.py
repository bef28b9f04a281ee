"""What an adversarial level costs a model: differences paired by leaf, corrected for how many are shown."""

import polars as pl

from cxlab.metrics.intervals import Bounds
from cxlab.metrics.paired import compare_pairs
from cxlab.read.view import View
from cxlab.views.sop.queries import leaf_levels

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
