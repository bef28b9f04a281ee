"""How judges lean: how strict each is, whom it favours, how often it is right, and whether it says the same twice."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.metrics import agreement
from cxlab.read.clusters import SHARE, means
from cxlab.read.procedures import select_procedure
from cxlab.read.query import ask, rescored_runs, where
from cxlab.read.view import View


class Favour(NamedTuple):
    """Mean grades judges x models, what is left of them after double centring, and the test on family cells."""

    judges: tuple[str, ...]
    models: tuple[str, ...]
    grades: NDArray[np.float64]
    n: NDArray[np.int64]
    residuals: NDArray[np.float64]
    own: NDArray[np.bool_]
    difference: float
    p: float


def severity(view: View, lengths: Mapping[str, str]) -> pl.DataFrame:
    """How strict each judge grades: judge, n grades, clusters, mean (offset from the panel's mean), low, high,
    grade (plain mean), three, six, nine (shares), length (correlation of a turn's grade with the reply's words).

    Over the grades that every judge gave. `lengths`: benchmark → the metric that counts the words of a reply.
    """
    condition, params = where(view, "judgements", "j.")
    items = f"""
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
        ) """
    offsets = means(
        items
        + """SELECT judge, sample_id, sum(n) AS n, sum(off) AS total
        FROM turns JOIN attempts USING (run_id, attempt_id) GROUP BY ALL""",
        ("judge",),
        params,
    )
    shares = ask(
        items
        + """SELECT judge, sum(grade * turns.n) / sum(turns.n) AS grade, sum(three) / sum(turns.n) AS three,
            sum(six) / sum(turns.n) AS six,
            sum(nine) / sum(turns.n) AS nine, corr(grade, s.value) AS length
        FROM turns LEFT JOIN (
            SELECT run_id, attempt_id, turn, value FROM scores JOIN
                (SELECT unnest($of::VARCHAR[]) AS benchmark, unnest($metrics::VARCHAR[]) AS metric)
                USING (benchmark, metric)
        ) s USING (run_id, attempt_id, turn) GROUP BY 1""",
        {**params, "of": list(lengths), "metrics": list(lengths.values())},
    )
    return offsets.join(shares, on="judge", how="left").with_columns(pl.col("length").fill_nan(None))


def favour(view: View, seed: int = 0) -> Favour | None:
    """Do judges grade their own family above what strictness and quality explain? None for one judge or model."""
    condition, params = where(view, "judgements", "j.")
    frame = ask(
        f"""SELECT judge, model, avg(verdict::DOUBLE) AS grade, count(*) AS n FROM judgements j
        WHERE {condition} AND kind = 'dimension' AND status = 'ok' GROUP BY 1, 2 ORDER BY 1, 2""",
        params,
    )
    judges, models = tuple(sorted(set(frame["judge"]))), tuple(sorted(set(frame["model"])))
    if len(judges) < 2 or len(models) < 2:
        return None
    grades, n = np.full((len(judges), len(models)), np.nan), np.zeros((len(judges), len(models)), dtype=np.int64)
    for judge, model, grade, count in frame.iter_rows():
        grades[judges.index(judge), models.index(model)] = grade
        n[judges.index(judge), models.index(model)] = count
    own = np.array([[family(judge) == family(model) for model in models] for judge in judges])
    test = agreement.self_preference(grades, own, seed)
    return Favour(judges, models, grades, n, agreement.double_centred(grades), own, test.difference, test.p)


# Of the built-in simulations two are made alike: the wordy agent, and the judge that likes words.
_SIMULATED_FAMILIES = {"simulated:eloquent": "simulated, wordy", "simulated:judge-partial": "simulated, wordy"}


def family(model: str) -> str:
    """Whose model it is: the vendor in front of the colon; each simulated model and each endpoint is its own."""
    if model.startswith(("simulated:", "endpoint:")):
        return _SIMULATED_FAMILIES.get(model, model)
    return model.partition(":")[0]


def against_gold(view: View, by: tuple[str, ...] = ("judge", "name")) -> pl.DataFrame:
    """How often each judge reads what the customer was made from: judge ("panel" too), name, n, clusters, mean, low,
    high; by judge alone over all fields; on the last turn of each dialogue, when all that was to be said has been."""
    condition, params = where(view, "traces", "t.")
    return means(
        _GOLD.format(condition=condition, procedure=select_procedure("facet_list"))
        + """SELECT judge, name, sample_id, count(*) AS n, sum((verdict = gold)::INT)::DOUBLE AS total
        FROM said GROUP BY ALL""",
        by,
        params,
        SHARE,
    )


def gold_confusion(view: View, name: str) -> pl.DataFrame:
    """What a field was and what each judge read: judge, gold, verdict, n; last turns only."""
    condition, params = where(view, "traces", "t.")
    return ask(
        _GOLD.format(condition=condition, procedure=select_procedure("facet_list"))
        + "SELECT judge, gold, verdict, count(*) AS n FROM said WHERE name = $name GROUP BY ALL ORDER BY ALL",
        {**params, "name": name},
    )


_GOLD = """
    WITH lasting AS (
        SELECT run_id, attempt_id, turn, {procedure} AS scenario, sample_id,
            CAST(gold_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS gold_map,
            CAST(panel_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS panel_map
        FROM facetted('traces') t WHERE {condition} AND t.last AND t.parsed
    ), said AS (
        SELECT j.judge, concat(l.scenario, '.', j.field) AS name, l.sample_id, l.gold_map[j.field] AS gold, j.verdict
        FROM judgements j JOIN lasting l USING (run_id, attempt_id, turn)
        WHERE j.kind = 'field' AND j.status = 'ok' AND l.gold_map[j.field] IS NOT NULL
        UNION ALL
        SELECT 'panel', concat(scenario, '.', field), sample_id, gold_map[field], panel_map[field]
        FROM (SELECT *, unnest(map_keys(panel_map)) AS field FROM lasting)
        WHERE panel_map[field] IS NOT NULL AND gold_map[field] IS NOT NULL
    ) """


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
