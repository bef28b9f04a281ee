"""How judges lean: how strict each is, whom it favours, how often it is right, and whether it says the same twice."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.metrics import agreement
from cxlab.metrics.correlation import correlation_of_sums
from cxlab.metrics.intervals import pooled_interval
from cxlab.read.clusters import SHARE, means, summarise
from cxlab.read.coded import code, spell
from cxlab.read.procedures import select_procedure
from cxlab.read.query import ask, cut, rescored_runs, version_of, where, widen
from cxlab.read.view import View
from cxlab.store import layout
from cxlab.views.judges.queries_agreement import facet_columns


class Favour(NamedTuple):
    """Mean grades judges x models, what is left of them after double centring with how far its intervals reach
    (clustered, corrected for the number of cells; nan where unknown), and the test on family cells."""

    judges: tuple[str, ...]
    models: tuple[str, ...]
    grades: NDArray[np.float64]
    n: NDArray[np.int64]
    residuals: NDArray[np.float64]
    reach: NDArray[np.float64]
    samples: int
    own: NDArray[np.bool_]
    difference: float
    p: float


def severity(view: View, lengths: Mapping[str, str], facets: Sequence[str] = ()) -> pl.DataFrame:
    """How strict each judge grades: judge, n grades, clusters, mean (offset from the panel's mean), low, high,
    grade (plain mean), three, six, nine (shares), length (correlation of a turn's grade with the reply's words), and
    length_low, length_high (its 95 % interval, clustered, corrected for the number of judges), and gap,
    gap_low, gap_high (how much milder it is than the strictest, paired by sample, corrected for the number of pairs).

    Over the grades that every judge gave. `lengths`: benchmark → the metric that counts the words of a reply.
    """
    by_cluster = _cut_grades(view, lengths, facets).group_by("judge", "cluster").agg(pl.col(_GRADE_SUMS).sum())
    by_cluster = spell(by_cluster).sort("judge", "cluster")
    offsets = summarise(by_cluster.select("judge", "cluster", "n", total="off"), ("judge",))
    offsets = _add_gaps(offsets, by_cluster.select("judge", "cluster", "n", total="off"))
    shares = by_cluster.group_by("judge").agg(
        pl.col("total", "three", "six", "nine").sum() / pl.col("n").sum()
    ).rename({"total": "grade"})  # fmt: skip
    rows = []
    for (judge,), part in by_cluster.group_by("judge"):
        about = correlation_of_sums(part.select("pairs", "x", "y", "xx", "yy", "xy").to_numpy(),
                                    level=1 - 0.05 / offsets.height)  # fmt: skip
        rows.append((judge, about.r, about.low, about.high))
    names = ("length", "length_low", "length_high")
    schema = {"judge": pl.String, **dict.fromkeys(names, pl.Float64)}
    found = pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)
    return offsets.join(shares, on="judge", how="left").join(found, on="judge", how="left")


def _cut_grades(view: View, lengths: Mapping[str, str], facets: Sequence[str]) -> pl.DataFrame:
    """Sums over the grades that every judge gave: judge, model, cluster, the facets, and those of _GRADE_SUMS."""
    kept, home, version = ("models", *facets), str(layout.home()), version_of(view)
    found = _read_grades(home, version, widen(view, kept), tuple(lengths.items()), tuple(facets))
    return cut(found, view, kept)


# Grades, how far they lie from the panel's mean, their sum and kinds; and of the turns whose reply's words are known
# the pairs, with the sums of words (x) and of the turn's mean grade (y).
_GRADE_SUMS = ("n", "off", "total", "three", "six", "nine", "pairs", "x", "y", "xx", "yy", "xy")


@lru_cache(maxsize=2)
def _read_grades(
    home: str, version: str, wanted: View, lengths: tuple[tuple[str, str], ...], facets: tuple[str, ...]
) -> pl.DataFrame:
    condition, params = where(wanted, "judgements", "j.")
    found = ask(
        f"""
        WITH graded AS (
            SELECT run_id, attempt_id, turn, field, list({{'judge': judge, 'grade': verdict::DOUBLE}}) AS votes
            FROM judgements j WHERE {condition} AND kind = 'dimension' AND status = 'ok' GROUP BY 1, 2, 3, 4
        ), most AS (SELECT max(len(votes)) AS judges FROM graded),
        turns AS (
            SELECT run_id, attempt_id, turn, vote.judge AS judge, avg(vote.grade) AS grade, count(*) AS n,
                sum(vote.grade - panel) AS off, count(*) FILTER (vote.grade <= 3) AS three,
                count(*) FILTER (vote.grade > 3 AND vote.grade < 9) AS six, count(*) FILTER (vote.grade >= 9) AS nine
            FROM (SELECT run_id, attempt_id, turn, list_avg(list_transform(votes, lambda v: v.grade)) AS panel,
                unnest(votes) AS vote FROM graded WHERE len(votes) = (SELECT judges FROM most))
            GROUP BY 1, 2, 3, 4
        ), replies AS (
            SELECT run_id, attempt_id, turn, value AS words FROM scores JOIN
                (SELECT unnest($of::VARCHAR[]) AS benchmark, unnest($metrics::VARCHAR[]) AS metric)
                USING (benchmark, metric) WHERE value IS NOT NULL
        )
        SELECT t.judge, a.model, a.sample_id {facet_columns(facets, "a")}, sum(t.n)::BIGINT AS n, sum(t.off) AS off,
            sum(t.grade * t.n) AS total, sum(three)::BIGINT AS three, sum(six)::BIGINT AS six,
            sum(nine)::BIGINT AS nine, count(words)::DOUBLE AS pairs, coalesce(sum(words), 0) AS x,
            coalesce(sum(grade) FILTER (words IS NOT NULL), 0) AS y,
            coalesce(sum(words ** 2), 0) AS xx, coalesce(sum(grade ** 2) FILTER (words IS NOT NULL), 0) AS yy,
            coalesce(sum(words * grade), 0) AS xy
        FROM turns t JOIN attempts a USING (run_id, attempt_id) LEFT JOIN replies USING (run_id, attempt_id, turn)
        GROUP BY ALL
        """,
        {**params, "of": [name for name, _ in lengths], "metrics": [metric for _, metric in lengths]},
    )
    return code(found)


def _add_gaps(offsets: pl.DataFrame, by_cluster: pl.DataFrame) -> pl.DataFrame:
    """`severity` with how much milder each judge is than the strictest."""
    if offsets.is_empty():
        return offsets
    strictest = offsets.sort("mean", "judge")["judge"][0]
    level = 1 - 0.05 / max(1, math.comb(offsets.height, 2))
    base = by_cluster.filter(pl.col("judge") == strictest).select("cluster", strict="total")
    rows = []
    for (judge,), part in by_cluster.group_by("judge"):
        both = part.join(base, on="cluster").sort("cluster")
        about = pooled_interval((both["total"] - both["strict"]).to_numpy(), both["n"].to_numpy(), level=level)
        rows.append((judge, *about[:3]))
    names = ("gap", "gap_low", "gap_high")
    schema = {"judge": pl.String, **dict.fromkeys(names, pl.Float64)}
    return offsets.join(pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None), on="judge", how="left")


def favour(
    view: View, lengths: Mapping[str, str] | None = None, facets: Sequence[str] = (), seed: int = 0
) -> Favour | None:
    """Do judges grade their own family above what strictness and quality explain? None for one judge or model. Over the
    grades that every judge gave; `lengths` as in `severity`, whose reading serves for both."""
    cut_grades = _cut_grades(view, lengths or {}, facets)
    frame = spell(cut_grades.group_by("judge", "model", "cluster").agg(pl.col("total", "n").sum()))
    judges, models, clusters = (tuple(frame[name].unique().sort()) for name in ("judge", "model", "cluster"))
    if len(judges) < 2 or len(models) < 2:
        return None
    at = tuple(
        frame[name].replace_strict(list(known), range(len(known)), return_dtype=pl.Int64).to_numpy()
        for name, known in (("cluster", clusters), ("judge", judges), ("model", models))
    )
    sums = np.zeros((len(clusters), len(judges), len(models)))
    sizes = np.zeros(sums.shape)
    sums[at], sizes[at] = frame["total"].to_numpy(), frame["n"].to_numpy()
    n = sizes.sum(axis=0).astype(np.int64)
    grades = np.divide(sums.sum(axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    own = np.array([[family(judge) == family(model) for model in models] for judge in judges])
    test = agreement.self_preference(grades, own, seed)
    left, reach = agreement.double_centred(grades), agreement.double_centred_reach(sums, sizes)
    return Favour(judges, models, grades, n, left, reach, len(clusters), own, test.difference, test.p)


# Of the built-in simulations two are made alike: the wordy agent, and the judge that likes words.
_SIMULATED_FAMILIES = {"simulated:eloquent": "simulated, wordy", "simulated:judge-partial": "simulated, wordy"}


def family(model: str) -> str:
    """Whose model it is: the vendor in front of the colon; each simulated model and each endpoint is its own."""
    if model.startswith(("simulated:", "endpoint:")):
        return _SIMULATED_FAMILIES.get(model, model)
    return model.partition(":")[0]


def against_gold(view: View, by: tuple[str, ...] = ("judge", "name"), facets: Sequence[str] = ()) -> pl.DataFrame:
    """How often each judge reads what the customer was made from: judge ("panel" too), name, n, clusters, mean, low,
    high; by judge alone over all fields; on the last turn of each dialogue, when all that was to be said has been."""
    right = (pl.col("verdict") == pl.col("gold")) * pl.col("n")
    sums = _cut_gold(view, facets).group_by(*by, "sample_id").agg(pl.col("n").sum(), total=right.sum())
    return summarise(sums, by, SHARE)


def gold_confusion(view: View, name: str, facets: Sequence[str] = ()) -> pl.DataFrame:
    """What a field was and what each judge read: judge, gold, verdict, n; last turns only."""
    keys = ("judge", "gold", "verdict")
    return _cut_gold(view, facets).filter(pl.col("name") == name).group_by(keys).agg(pl.col("n").sum()).sort(keys)


def _cut_gold(view: View, facets: Sequence[str]) -> pl.DataFrame:
    kept, home, version = ("models", *facets), str(layout.home()), version_of(view)
    return cut(_read_gold(home, version, widen(view, kept), tuple(facets)), view, kept)


@lru_cache(maxsize=2)
def _read_gold(home: str, version: str, wanted: View, facets: tuple[str, ...]) -> pl.DataFrame:
    """What each judge and the panel read on last turns: judge, name, gold, verdict, model, sample_id, the facets, n."""
    condition, params = where(wanted, "traces", "t.")
    own = "".join(f', "{name}"' for name in facets)
    return ask(
        f"""
        WITH lasting AS (
            SELECT run_id, attempt_id, turn, model, {select_procedure("facet_list")} AS procedure, sample_id
                {facet_columns(facets, "t")}, CAST(gold_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS gold_map,
                CAST(panel_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS panel_map
            FROM facetted('traces') t WHERE {condition} AND t.last AND t.parsed
        ), said AS (
            SELECT j.judge, concat(l.procedure, '.', j.field) AS name, l.gold_map[j.field] AS gold, j.verdict,
                l.model, l.sample_id {own}
            FROM judgements j JOIN lasting l USING (run_id, attempt_id, turn)
            WHERE j.kind = 'field' AND j.status = 'ok' AND l.gold_map[j.field] IS NOT NULL
            UNION ALL
            SELECT 'panel', concat(procedure, '.', field), gold_map[field], panel_map[field], model, sample_id {own}
            FROM (SELECT *, unnest(map_keys(panel_map)) AS field FROM lasting)
            WHERE panel_map[field] IS NOT NULL AND gold_map[field] IS NOT NULL
        )
        SELECT *, count(*) AS n FROM said GROUP BY ALL
        """,
        params,
    )


def retest(view: View) -> pl.DataFrame:
    """The same judge on the same reply twice (`python -m cxlab score RUN`): judge, kind, n, clusters, mean (share of
    verdicts that stayed), low, high."""
    if not rescored_runs():
        keys = {"judge": pl.String, "kind": pl.String, "n": pl.Int64, "clusters": pl.Int64}
        return pl.DataFrame(schema=keys | dict.fromkeys(("mean", "low", "high"), pl.Float64))
    condition, params = where(view.change(runs=()), "judgements", "j.")
    wanted = "AND base IN (SELECT unnest($wanted_runs))" if view.runs else ""
    # `where` leaves re-scored runs out, so its condition serves for the first run; the second is found through it.
    return means(
        f"""
        WITH lineage AS (
            SELECT run_id, json_extract_string(setup, '$.rescored_from') AS base FROM runs
            WHERE json_extract_string(setup, '$.rescored_from') IS NOT NULL {wanted}
        ), twins AS (SELECT base AS one, run_id AS two FROM lineage),
        first AS (
            SELECT j.judge, j.kind, {select_procedure("a.facet_list")} AS scenario, j.field, j.turn, j.verdict,
                a.sample_id, a.trial, twins.two
            FROM judgements j JOIN twins ON twins.one = j.run_id JOIN attempts a USING (run_id, attempt_id)
            WHERE j.status = 'ok' AND {condition}
        ), second AS (
            SELECT j.judge, j.field, j.turn, j.verdict, a.sample_id, a.trial, j.run_id AS two
            FROM judgements j JOIN attempts a USING (run_id, attempt_id)
            WHERE j.status = 'ok' AND j.run_id IN (SELECT two FROM twins)
        )
        SELECT first.judge, first.kind, first.sample_id, count(*) AS n,
            count(*) FILTER (first.verdict = second.verdict)::DOUBLE AS total
        FROM first JOIN second USING (two, judge, field, turn, sample_id, trial) GROUP BY ALL
        """,
        ("judge", "kind"),
        {**params, **({"wanted_runs": list(view.runs)} if view.runs else {})},
        SHARE,
    )
