"""What an adversarial level costs a model: differences paired by leaf, corrected for how many are shown."""

import polars as pl

from cxlab.metrics.paired import holm, paired_difference
from cxlab.read.view import View
from cxlab.views.sop.queries import leaf_levels

_SEED = 20260101


def level_differences(view: View, base: str = "zero") -> pl.DataFrame:
    """Each level against `base`, leaf by leaf (the leaf's mean at either): one row a model and level.

    Columns: model, level, n (leaves that have both), unmatched, difference, low, high, p, p_holm (over all rows).
    """
    means = leaf_levels(view.narrow(level=()))
    shown = set(view.values("level")) or set(means["level"])
    rows = []
    for model in means["model"].unique().sort():
        own = means.filter(pl.col("model") == model)
        start = own.filter(pl.col("level") == base).select("scenario", "leaf", start="mean")
        for level in sorted(set(own["level"]) & shown - {base}):
            pair = own.filter(pl.col("level") == level).join(start, on=["scenario", "leaf"], how="full", coalesce=True)
            both = pair.drop_nulls(["mean", "start"])
            found = paired_difference(both["mean"].to_numpy(), both["start"].to_numpy(), seed=_SEED, resamples=4000)
            rows.append(
                (model, level, found.n, pair.height - both.height, found.difference, found.low, found.high, found.p)
            )
    schema = {"model": pl.String, "level": pl.String, "n": pl.Int64, "unmatched": pl.Int64}
    numbers = dict.fromkeys(("difference", "low", "high", "p"), pl.Float64)
    frame = pl.DataFrame(rows, schema={**schema, **numbers}, orient="row").with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )
    corrected = holm(frame["p"].fill_null(float("nan")).to_numpy())
    return frame.with_columns(p_holm=pl.Series(corrected, dtype=pl.Float64).fill_nan(None))
