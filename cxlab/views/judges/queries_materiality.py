"""What it matters for that judges differ: the reference of a turn, the scores, and the order of models."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl

from cxlab.metrics import agreement
from cxlab.metrics.intervals import Bounds
from cxlab.read.clusters import SHARE, summarise
from cxlab.read.coded import code, spell
from cxlab.read.kept.chosen import keep_among
from cxlab.read.kept.numbers import number
from cxlab.read.procedures import SINGLE_JUDGE_METRICS, name_single_judge_metrics
from cxlab.read.query import ask, cut, selection, version_of, where, widen
from cxlab.read.view import View
from cxlab.store import layout
from cxlab.views.judges.queries_agreement import facet_columns


def materiality(view: View, by: str | None = None, facets: Sequence[str] = ()) -> pl.DataFrame:
    """What splits change: slice, measure, n turns, clusters, mean (share 0..1; points for `range`), low, high. `by` is
    turn, model or one of the facets.

    Measures over turns on which two judges or more lead somewhere: `way` their fields alone lead different ways;
    `action` they end in different actions; `range` the metric that follows from the way, from the lowest judge to the
    highest.
    """
    kept = ("models", *facets)
    home, version = str(layout.home()), version_of(view)
    told = cut(_read_stakes(home, version, widen(view, kept), by == "turn", tuple(facets)), view, kept)
    piece = pl.lit("") if by is None else pl.col(by)
    # A cluster has a row a model and turn; it is summed before there is a row a measure.
    sums = told.group_by(piece.alias("slice"), "cluster").agg(
        pl.col("n", "way", "action", "ranged", "range").sum().cast(pl.Float64)
    )
    sums = sums.with_columns(pl.col("slice").cast(pl.String))
    parts = [
        sums.select("slice", "cluster", measure=pl.lit(name), n=n, total=name)
        for name, n in (("way", "n"), ("action", "n"), ("range", "ranged"))
    ]
    keys = ("slice", "measure")
    shares, ranges = summarise(pl.concat(parts[:-1]), keys, SHARE), summarise(parts[-1], keys, (0.0, 100.0))
    return pl.concat([shares, ranges]).sort(keys, nulls_last=True)


@lru_cache(maxsize=2)
def _read_stakes(home: str, version: str, wanted: View, by_turn: bool, facets: tuple[str, ...]) -> pl.DataFrame:
    """Sums by cluster (and turn): n turns on which two judges lead somewhere, on how many of them their ways and their
    actions differ, and the ranges of that metric (`ranged` of them known)."""
    condition, params = where(wanted, "traces", "t.")
    # Of each judge that leads somewhere; NULL for the others, which list functions leave out.
    led = "list_transform(t.single_judges, lambda a: CASE WHEN len(a.path) > 0 THEN {} END)"
    turn, columns = "turn, " if by_turn else "", "".join(f', "{name}"' for name in facets)
    found = ask(
        f"""
        WITH declared AS ({SINGLE_JUDGE_METRICS}), told AS (
            SELECT t.model, t.turn, t.sample_id {facet_columns(facets, "t")},
                {led.format("hash(a.path, a.action)")} AS ways, {led.format("a.action")} AS actions,
                {led.format("score_of(a.scores, d.metric)")} AS points
            FROM facetted('traces') t JOIN runs USING (run_id) LEFT JOIN declared d USING (benchmark) WHERE {condition}
        )
        SELECT model, {turn}sample_id {columns}, count(*) AS n,
            count(*) FILTER (len(list_distinct(ways)) > 1) AS way,
            count(*) FILTER (len(list_distinct(actions)) > 1) AS action,
            count(list_max(points)) AS ranged, coalesce(sum(list_max(points) - list_min(points)), 0)::DOUBLE AS range
        FROM told WHERE list_count(ways) > 1 GROUP BY ALL
        """,
        {**params, **name_single_judge_metrics("way")},
    )
    return code(found)


def alone(view: View, facets: Sequence[str] = ()) -> pl.DataFrame:
    """What each model would score with one judge alone: judge, model, n turns, clusters, mean, low, high (points).

    By the metric that models are ranked by. `judge` "panel" is the panel's own score. All over the same turns: those
    which panel and every judge can score.
    """
    return _summarise(_cut_alone(view, facets), ("judge", "model"), (0.0, 100.0))


def offsets(view: View, facets: Sequence[str] = ()) -> pl.DataFrame:
    """How that score would move with one judge alone: judge, n, clusters, mean, low, high (points, paired by turn)."""
    told = _cut_alone(view, facets).filter(pl.col("judge") != "panel")
    return _summarise(told.select("judge", "cluster", "n", total="moved"), ("judge",))


def _summarise(coded: pl.DataFrame, keys: Sequence[str], bounds: Bounds | None = None) -> pl.DataFrame:
    """`summarise` by keys that are categories, which are in the order of the texts only once they are texts."""
    return spell(summarise(coded, keys, bounds)).sort(keys)


def _cut_alone(view: View, facets: Sequence[str]) -> pl.DataFrame:
    """Sums by attempt over the turns that all can score: judge, model, cluster, n, total, moved (from the panel)."""
    return _cut_alone_once(str(layout.home()), version_of(view), selection(view).change(metric=""), tuple(facets))


# Both figures of a look are of one cut.
@lru_cache(maxsize=4)
def _cut_alone_once(home: str, version: str, view: View, facets: tuple[str, ...]) -> pl.DataFrame:
    kept = ("models", *facets)
    # Which attempts are compared changes with each filter: they are picked from what was read once.
    found = cut(_read_alone(home, version, widen(view.change(among=""), kept), facets), view, kept)
    return keep_among(found, view).select("judge", "model", "cluster", "n", "total", "moved")


@lru_cache(maxsize=2)
def _read_alone(home: str, version: str, wanted: View, facets: tuple[str, ...]) -> pl.DataFrame:
    condition, params = where(wanted, "traces", "t.")
    found = ask(
        _ALONE.format(declared=SINGLE_JUDGE_METRICS, condition=condition, facets=facet_columns(facets, "a"))
        + "SELECT * EXCLUDE (value, panel), count(*) AS n, sum(value) AS total, sum(value - panel) AS moved "
        "FROM kept GROUP BY ALL",
        {**params, **name_single_judge_metrics("whole")},
    )
    return code(number(found).drop("run_id", "attempt_id"))


_ALONE = """
    WITH declared AS ({declared}), asked AS (
        SELECT t.run_id, t.attempt_id, t.model, t.sample_id, s.value AS panel,
            list_transform(t.single_judges, lambda a: {{judge: a.judge, value: score_of(a.scores, metric)}}) AS judges
        FROM traces t JOIN scores s ON s.run_id = t.run_id AND s.attempt_id = t.attempt_id AND s.turn = t.turn
            JOIN declared USING (benchmark, metric)
        WHERE {condition} AND s.value IS NOT NULL AND len(judges) > 1
            AND len(list_filter(judges, lambda a: a.value IS NULL)) = 0
    ), each_alone AS (
        SELECT * EXCLUDE (judges), 'panel' AS judge, panel AS value FROM asked
        UNION ALL SELECT * EXCLUDE (judges, one), one.judge, one.value
        FROM (SELECT *, unnest(judges) AS one FROM asked)
    ), kept AS (
        SELECT e.* {facets} FROM each_alone e JOIN attempts a USING (run_id, attempt_id)
    ) """


class Stability(NamedTuple):
    """Ranks of models by judge (`panel` first), Kendall's tau-b of each to the panel, and leave-one-judge-out ranks."""

    ranks: pl.DataFrame
    tau: dict[str, float]
    out: pl.DataFrame


def stability(scores: pl.DataFrame) -> Stability:
    """How far the ranking of models hangs on the judge; `scores` is what `alone` returns."""
    models = sorted(set(scores["model"]))
    judges = [judge for judge in sorted(set(scores["judge"])) if judge != "panel"]
    value = {(judge, model): mean for judge, model, mean in scores.select("judge", "model", "mean").iter_rows()}
    matrix = np.array([[value.get((judge, model), math.nan) for model in models] for judge in judges], dtype=np.float64)
    of_panel = [value.get(("panel", model), math.nan) for model in models]
    rows: list[tuple[str, str, float, float]] = []
    for judge, line in [("panel", of_panel), *zip(judges, matrix, strict=True)]:
        ranks = [float(1 + sum(other > mine + 1e-9 for other in line)) for mine in line]
        rows += [(judge, model, rank, float(mean)) for model, rank, mean in zip(models, ranks, line, strict=True)]
    tau = {judge: agreement.kendall_tau_b(of_panel, line) for judge, line in zip(judges, matrix, strict=True)}
    left = agreement.leave_one_out_ranks(matrix)
    ranked = pl.DataFrame(
        {"model": models, "rank": left.ranks.tolist(), "best": left.best.tolist(), "worst": left.worst.tolist()},
        schema={"model": pl.String, "rank": pl.Float64, "best": pl.Float64, "worst": pl.Float64},
    )
    schema = {"judge": pl.String, "model": pl.String, "rank": pl.Float64, "mean": pl.Float64}
    return Stability(pl.DataFrame(rows, schema=schema, orient="row"), tau, ranked)
