"""How the parts of a weighted sum go together with it, turn by turn and over models."""

from collections.abc import Mapping
from functools import lru_cache

import polars as pl

from cxlab.metrics.correlation import Correlation, clustered_correlation
from cxlab.read.kept.chosen import keep_among, keep_facets
from cxlab.read.kept.numbers import number
from cxlab.read.query import ask, cut, version_of, where, widen
from cxlab.read.sample_clusters import clusters_of
from cxlab.read.view import View
from cxlab.store import layout

_SEED = 20260103


def part_correlations(view: View, whole: str, parts: Mapping[str, float]) -> pl.DataFrame:
    """Pearson's r of each part with the whole, and with the whole without it: one row a part.

    Columns: part, r, low, high, rest, rest_low, rest_high, n turns, clusters, r2_models (of models' means,
    as papers plot them; null for fewer than three) and models. `parts`: metric → its weight in the whole. A part is in
    the whole, so r is high even where judges grade by chance; `rest` is not. Turns that have all of them count.
    Intervals are by drawing clusters.
    """
    # Filters that change from look to look are applied to what was read, so that a change of them reads nothing anew.
    filters = ("models", *(name for name, _ in view.facets))
    wanted = widen(view, filters).change(metric="", among="")
    turns = cut(_read_turns(str(layout.home()), version_of(view), wanted, (whole, *parts)), view, ("models",))
    wide = keep_among(keep_facets(turns, view), view)
    means = wide.group_by("model").agg(pl.col(whole, *parts).mean()).sort("model")
    rows = []
    for name, weight in parts.items():
        found = _correlate(wide, name, pl.col(whole))
        rest = _correlate(wide, name, pl.col(whole) - weight * pl.col(name))
        over = clustered_correlation(means[name], means[whole], range(means.height), seed=_SEED, resamples=1)
        r2 = over.r**2 if means.height >= 3 else None
        rows.append((name, *found[:3], *rest[:3], found.n, found.clusters, r2, means.height))
    numbers = ("r", "low", "high", "rest", "rest_low", "rest_high")
    counts = {"n": pl.Int64, "clusters": pl.Int64, "r2_models": pl.Float64, "models": pl.Int64}
    schema = {"part": pl.String, **dict.fromkeys(numbers, pl.Float64), **counts}
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def _correlate(wide: pl.DataFrame, part: str, whole: pl.Expr) -> Correlation:
    pair = wide.select(part=part, whole=whole)
    return clustered_correlation(pair["part"], pair["whole"], clusters_of(wide["sample"]).to_list(), seed=_SEED)


@lru_cache(maxsize=2)
def _read_turns(home: str, version: str, wanted: View, metrics: tuple[str, ...]) -> pl.DataFrame:
    """The turns that have all of the metrics: run_id, attempt_id, sample, model, and a column a metric."""
    condition, params = where(wanted, "scores", "s.")
    values = ", ".join(f"any_value(s.value) FILTER (s.metric = $m{place}) AS m{place}" for place in range(len(metrics)))
    found = ask(
        f"""
        SELECT s.run_id, s.attempt_id, s.turn, any_value(s.sample_id) AS sample, any_value(s.model) AS model, {values}
        FROM scores s WHERE s.turn IS NOT NULL AND s.value IS NOT NULL
            AND s.metric IN (SELECT unnest($metrics::VARCHAR[])) AND {condition}
        GROUP BY ALL ORDER BY ALL
        """,
        {**params, **{f"m{place}": name for place, name in enumerate(metrics)}, "metrics": list(metrics)},
    )
    return number(found.drop("turn")).rename({f"m{place}": name for place, name in enumerate(metrics)}).drop_nulls()
