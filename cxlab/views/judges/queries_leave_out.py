"""What a panel would be without one of its judges: how often the rest is right, and how it would rank models."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.metrics.agreement import kendall_tau_b
from cxlab.metrics.intervals import change_of_mean, pooled_interval
from cxlab.read.query import ask, cut, version_of, where, widen
from cxlab.read.sample_clusters import clusters_of
from cxlab.read.view import View
from cxlab.records.evaluation import MEASURED
from cxlab.store import layout
from cxlab.views.judges.queries_agreement import facet_columns


def votes_with_truth(
    view: View, judges: Sequence[str], opinions: Sequence[str] = (), facets: Sequence[str] = ()
) -> pl.DataFrame:
    """How judges voted where the truth is known: sample_id, gold, v0, v1, ... (one a judge, null = no word), n.
    `opinions`: fields of which the log holds no truth.

    The truth is what the customer was made from, on the last turn, when all that was to be said has been; or what the
    world's log has.
    """
    kept, home, version = ("models", *facets), str(layout.home()), version_of(view)
    found = _read_votes(home, version, widen(view, kept), tuple(judges), tuple(opinions), tuple(facets))
    said = [f"v{place}" for place in range(len(judges))]
    return cut(found, view, kept).group_by("sample_id", "gold", *said).agg(pl.col("n").sum())


@lru_cache(maxsize=2)
def _read_votes(
    home: str, version: str, wanted: View, judges: tuple[str, ...], opinions: tuple[str, ...], facets: tuple[str, ...]
) -> pl.DataFrame:
    condition, params = where(wanted, "judgements", "j.")
    columns = ", ".join(
        f"max(CASE WHEN judge = $judge_{place} AND status = 'ok' THEN verdict END) AS v{place}"
        for place in range(len(judges))
    )
    return ask(
        f"""
        WITH items AS (
            SELECT run_id, attempt_id, turn, field, {columns},
                max(CASE WHEN judge = '{MEASURED}' AND status = 'ok' THEN verdict END) AS log
            FROM judgements j
            WHERE {condition} AND kind = 'field' AND field NOT IN (SELECT unnest($opinions::VARCHAR[]))
            GROUP BY run_id, attempt_id, turn, field
        ), known AS (
            SELECT run_id, attempt_id, turn, CAST(gold_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS gold_map
            FROM traces WHERE last AND parsed
        )
        SELECT a.model, a.sample_id {facet_columns(facets, "a")}, coalesce(k.gold_map[i.field], i.log) AS gold,
            COLUMNS('^v[0-9]+$'), count(*) AS n
        FROM items i LEFT JOIN known k USING (run_id, attempt_id, turn) JOIN attempts a USING (run_id, attempt_id)
        WHERE coalesce(k.gold_map[i.field], i.log) IS NOT NULL GROUP BY ALL
        """,
        {**params, "opinions": list(opinions), **{f"judge_{place}": judge for place, judge in enumerate(judges)}},
    )


def without_each(votes: pl.DataFrame, judges: Sequence[str]) -> pl.DataFrame:
    """Each judge left out: judge, n (verdicts of known truth that it voted on), clusters, whole and rest (share that
    the majority of all, and of the others, has right), change (rest minus whole), low, high (paired,
    corrected for the number of judges), undecided (share that the others leave in a tie), alone
    (share that it has right), and least (whether its change is above that of every other judge, beyond
    chance and corrected).

    A tie is right as often as lots drawn among its labels would be; else two judges would be worse than either of them.
    A judge without others beside it is not listed.
    """
    # Votes are few labels, so only what can be said of a truth is judged, not each item.
    said_of = votes.columns[1:-1]
    known = votes.select(said_of).unique()
    votes = votes.with_columns(cluster=clusters_of(votes["sample_id"]))
    parts = ("voted", "whole", "rest", "undecided", "alone")
    columns = {f"{part}{place}": pl.Float64 for place in range(len(judges)) for part in parts}
    rights = [
        [value for place in range(len(judges)) for value in _rights(said, gold, place)] for gold, *said in known.rows()
    ]
    # Of all judges the same clusters in the same order.
    by_cluster = (
        votes.join(known.hstack(pl.DataFrame(rights, schema=columns, orient="row")), on=said_of, nulls_equal=True)
        .group_by("cluster")
        .agg((pl.col(*columns) * pl.col("n")).sum())
        .sort("cluster")
    )
    sums: dict[str, dict[str, NDArray[np.float64]]] = {}
    for place, judge in enumerate(judges):
        own = {part: by_cluster[f"{part}{place}"].to_numpy() for part in parts}
        if own["voted"].sum():
            sums[judge] = own
    found = []
    for judge, own in sums.items():
        n, total = own["voted"], own["voted"].sum()
        change = pooled_interval(own["rest"] - own["whole"], n, level=1 - 0.05 / len(sums))
        shares = {name: own[name].sum() / total for name in ("whole", "rest", "undecided", "alone")}
        least = len(sums) > 1 and all(
            _is_above(own, other, 1 - 0.05 / (len(sums) - 1)) for name, other in sums.items() if name != judge
        )
        found.append({"judge": judge, "n": change.n, "clusters": change.clusters, **shares, "change": change.mean,
                      "low": change.low, "high": change.high, "least": least})  # fmt: skip
    numbers = ("whole", "rest", "undecided", "alone", "change", "low", "high")
    schema = {"judge": pl.String, "n": pl.Int64, "clusters": pl.Int64, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(found, schema={**schema, "least": pl.Boolean}, orient="row").fill_nan(None)


def _is_above(one: Mapping[str, NDArray[np.float64]], other: Mapping[str, NDArray[np.float64]], level: float) -> bool:
    """Whether less is lost without the one than without the other, beyond chance; paired by sample."""
    sums = [each["rest"] - each["whole"] for each in (other, one)]
    return change_of_mean(sums[0], other["voted"], sums[1], one["voted"], level).low > 0


def _rights(said: Sequence[str | None], gold: str, place: int) -> tuple[float, float, float, float, float]:
    """Whether the judge at `place` voted beside others, how right all and the others are, whether the others tie, and
    whether it is right itself; else zeros."""
    own = said[place]
    others = [value for at, value in enumerate(said) if at != place and value is not None]
    if own is None or not others:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    tied = len(_find_top(others)) > 1
    return 1.0, _is_right([*others, own], gold), _is_right(others, gold), float(tied), float(own == gold)


def _is_right(values: Sequence[str], gold: str) -> float:
    """Whether the majority has it right, 0 or 1; of a tie the chance that a lot drawn among its labels has."""
    top = _find_top(values)
    return float(gold in top) / len(top)


def _find_top(values: Sequence[str]) -> list[str]:
    counts = Counter(values)
    most = max(counts.values())
    return [value for value, n in counts.items() if n == most]


def ranks_without(scores: pl.DataFrame) -> pl.DataFrame:
    """How the order of models moves without each judge: judge, models, tau (Kendall's tau-b of the mean of the others
    to the mean of all), moved (models whose rank is another). `scores`: `queries_materiality.alone`."""
    own = scores.filter(pl.col("judge") != "panel")
    judges, models = sorted(set(own["judge"])), sorted(set(own["model"]))
    value = {(judge, model): mean for judge, model, mean in own.select("judge", "model", "mean").iter_rows()}
    table = np.array([[value.get((judge, model), np.nan) for model in models] for judge in judges], dtype=np.float64)
    schema = {"judge": pl.String, "models": pl.Int64, "tau": pl.Float64, "moved": pl.Int64}
    if len(judges) < 2 or len(models) < 2:
        return pl.DataFrame(schema=schema)
    whole = table.mean(axis=0)
    rows = []
    for place, judge in enumerate(judges):
        rest = np.delete(table, place, axis=0).mean(axis=0)
        moved = sum(one != other for one, other in zip(_rank(whole), _rank(rest), strict=True))
        rows.append((judge, len(models), kendall_tau_b(whole, rest), moved))
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def _rank(values: np.ndarray) -> list[int]:
    return [int((values > each + 1e-9).sum()) for each in values]
