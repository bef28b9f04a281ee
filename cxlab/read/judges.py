"""Judges: how far they agree, beyond chance and in what matters, who is strict, who is right, and what to look at.

Verdicts are pivoted in SQL to distinct patterns (one column a judge) with their number, so that a million verdicts
become some hundred rows; what is computed from them is exact. A field belongs to its scenario: the same name in two
scenarios is two fields. Only verdicts inside the options (`ok`) count as a judge's word.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.metrics import agreement
from cxlab.metrics.intervals import student_quantile
from cxlab.read.ask import Params, ask, where
from cxlab.read.troubles import WAYS_APART
from cxlab.read.view import View

SLICES = ("scenario", "level", "turn", "model", "field")
# Of these, kappa says little: one label has nearly all votes.
FEW = 30
_BOOTSTRAP = 1_000


class Pair(NamedTuple):
    """Two judges on one field: 95 % intervals clustered by sample; kappa's from a seeded bootstrap over samples."""

    labels: tuple[str, ...]
    table: NDArray[np.float64]
    n: int
    share: float
    share_low: float
    share_high: float
    kappa: float
    kappa_low: float
    kappa_high: float


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


def panel(view: View) -> pl.DataFrame:
    """The judges under the view: judge, turns, valid, failed (votes), oov, missing (verdicts), cost_usd, latency_s."""
    condition, params = where(view, "votes", "v.")
    of_judgements, more = where(view, "judgements", "j.")
    return ask(
        f"""
        WITH votes_by AS (
            SELECT judge, count(*) AS turns, count(*) FILTER (valid) AS valid, count(*) FILTER (NOT valid) AS failed,
                avg(cost_usd) AS cost_usd, avg(latency_s) AS latency_s FROM votes v WHERE {condition} GROUP BY 1
        ), verdicts AS (
            SELECT judge, count(*) AS verdicts, count(*) FILTER (status = 'oov') AS oov,
                count(*) FILTER (status = 'missing') AS missing FROM judgements j WHERE {of_judgements} GROUP BY 1
        )
        SELECT * FROM votes_by LEFT JOIN verdicts USING (judge) ORDER BY judge
        """,
        {**params, **more},
    )


def patterns(view: View, judges: Sequence[str], by: str | None = None) -> pl.DataFrame:
    """Distinct patterns of verdicts: kind, name, slice, v0, v1, ... (one a judge, null = no word), n turns.

    `name` is `SCENARIO.FIELD` for a field and the dimension's own name for a grade.
    """
    condition, params = where(view, "judgements", "j.")
    columns = ", ".join(
        f"max(CASE WHEN judge = $judge_{place} AND status = 'ok' THEN verdict END) AS v{place}"
        for place in range(len(judges))
    )
    names = {f"judge_{place}": judge for place, judge in enumerate(judges)}
    piece = {None: "''", "turn": "lpad(j.turn::VARCHAR, 3, '0')", "field": "''"}.get(by, f"j.{by}")
    listed = ", ".join(f"v{place}" for place in range(len(judges)))
    return ask(
        f"""
        WITH items AS (
            SELECT kind, scenario, field, {piece} AS slice, {columns} FROM judgements j WHERE {condition}
            GROUP BY kind, scenario, field, {piece}, run_id, attempt_id, turn
        )
        SELECT kind, CASE WHEN kind = 'field' THEN concat(scenario, '.', field) ELSE field END AS name, slice, {listed},
            count(*) AS n
        FROM items GROUP BY ALL ORDER BY ALL
        """,
        {**params, **names},
    )


def pairs(found: pl.DataFrame, judges: Sequence[str]) -> pl.DataFrame:
    """Each two judges on each field: kind, name, a, b, n, agree (share), kappa (weighted quadratically for grades)."""
    rows: list[dict[str, Any]] = []
    for (kind, name), part in found.group_by("kind", "name", maintain_order=True):
        labels, codes, times = _encode(part, len(judges), str(kind))
        for a, b in combinations(range(len(judges)), 2):
            table = _cross(codes[:, a], codes[:, b], times, len(labels))
            n = int(table.sum())
            if n:
                kappa = agreement.kappa_of_table(table, "quadratic" if kind == "dimension" else None)
                rows.append(
                    {"kind": kind, "name": name, "a": judges[a], "b": judges[b], "n": n,
                     "agree": float(table.trace()) / n, "kappa": _known(kappa)}
                )  # fmt: skip
    return pl.DataFrame(rows, schema=_PAIRS)


_PAIRS: dict[str, Any] = {
    "kind": pl.String, "name": pl.String, "a": pl.String, "b": pl.String, "n": pl.Int64, "agree": pl.Float64,
    "kappa": pl.Float64,
}  # fmt: skip


def summarise(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Pairs pooled over fields: means weighted by n; fields whose kappa is undefined do not count in it."""
    defined = pl.col("kappa").is_not_null()
    return (
        frame.group_by(keys, maintain_order=True)
        .agg(
            n=pl.col("n").sum(),
            agree=(pl.col("agree") * pl.col("n")).sum() / pl.col("n").sum(),
            kappa=(pl.col("kappa") * pl.col("n")).sum() / pl.col("n").filter(defined).sum(),
            fields=pl.len(),
        )
        .with_columns(kappa=pl.col("kappa").fill_nan(None))
    )


def reliability(found: pl.DataFrame, judges: int, of_slices: bool = True) -> pl.DataFrame:
    """How reliable the panel is: kind, slice (or name), n items, agree (mean over pairs), unanimous, fleiss, alpha.

    Fleiss' kappa over the items that all judges rated, Krippendorff's alpha over all with two ratings: nominal for
    fields, ordinal for grades; each computed by field and pooled by n.
    """
    key = "slice" if of_slices else "name"
    rows: list[dict[str, Any]] = []
    for (kind, slice_, name), part in found.group_by("kind", "slice", "name", maintain_order=True):
        labels, codes, times = _encode(part, judges, str(kind))
        counts = np.stack([(codes == code).sum(axis=1) for code in range(len(labels))], axis=1)
        raters = counts.sum(axis=1)
        counts, times, raters = counts[raters >= 2], times[raters >= 2], raters[raters >= 2]
        n = int(times.sum())
        if not n:
            continue
        agreeing = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
        items = np.repeat(counts, times, axis=0)
        full = items[items.sum(axis=1) == judges]
        level = "ordinal" if kind == "dimension" else "nominal"
        rows.append(
            {"kind": kind, key: slice_ if of_slices else name, "n": n, "agree": float((agreeing * times).sum() / n),
             "unanimous": float(times[counts.max(axis=1) == raters].sum() / n),
             "fleiss": _known(agreement.fleiss_kappa(full)),
             "alpha": _known(agreement.alpha_of_counts(items, level, labels))}  # type: ignore[arg-type]  # one of two literals
        )  # fmt: skip
    schema = {"kind": pl.String, key: pl.String, "n": pl.Int64}
    frame = pl.DataFrame(rows, schema={**schema, **dict.fromkeys(("agree", "unanimous", "fleiss", "alpha"), pl.Float64)})
    weighted = {
        name: ((pl.col(name) * pl.col("n")).sum() / pl.col("n").filter(pl.col(name).is_not_null()).sum()).fill_nan(None)
        for name in ("agree", "unanimous", "fleiss", "alpha")
    }
    return frame.group_by("kind", key, maintain_order=True).agg(pl.col("n").sum(), **weighted).sort("kind", key)


def splits(found: pl.DataFrame, judges: int) -> pl.DataFrame:
    """How votes fell on each field: name, split (unanimous, majority, tie, one vote, no vote), n, share."""
    rows: list[tuple[str, str, str, int]] = []
    for (kind, name), part in found.group_by("kind", "name", maintain_order=True):
        labels, codes, times = _encode(part, judges, str(kind))
        counts = np.sort(np.stack([(codes == code).sum(axis=1) for code in range(max(len(labels), 2))], axis=1), axis=1)
        if counts.shape[1] < 2:
            counts = np.pad(counts, ((0, 0), (1, 0)))
        top, second, total = counts[:, -1], counts[:, -2], counts.sum(axis=1)
        words = np.select(
            [total == 0, total == 1, top == total, top == second], ["no vote", "one vote", "unanimous", "tie"], "majority"
        )
        rows += [(str(kind), str(name), str(word), int(times[words == word].sum())) for word in np.unique(words)]
    frame = pl.DataFrame(rows, schema={"kind": pl.String, "name": pl.String, "split": pl.String, "n": pl.Int64}, orient="row")
    return frame.with_columns(share=pl.col("n") / pl.col("n").sum().over("kind", "name"))


def pair(view: View, name: str, a: str, b: str, seed: int = 0) -> Pair | None:
    """Two judges on one field in full; None when they share no turn."""
    condition, params = where(view, "judgements", "j.")
    scenario, _, field = name.rpartition(".")
    frame = ask(
        f"""
        WITH items AS (
            SELECT run_id, attempt_id, turn, max(verdict) FILTER (judge = $a) AS va, max(verdict) FILTER (judge = $b) AS vb
            FROM judgements j WHERE {condition} AND field = $field AND ($scenario = '' OR scenario = $scenario)
                AND status = 'ok' AND judge IN ($a, $b)
            GROUP BY ALL HAVING va IS NOT NULL AND vb IS NOT NULL
        )
        SELECT sample_id, va, vb, count(*) AS n FROM items JOIN attempts USING (run_id, attempt_id) GROUP BY ALL
        """,
        {**params, "a": a, "b": b, "field": field, "scenario": scenario},
    )
    if frame.is_empty():
        return None
    labels = tuple(sorted({*frame["va"], *frame["vb"]}))
    size = len(labels)
    place = {label: code for code, label in enumerate(labels)}
    cluster = frame["sample_id"].rank("dense").to_numpy().astype(np.int64) - 1
    tables = np.zeros((int(cluster.max()) + 1, size, size))
    codes = [np.array([place[value] for value in frame[side]]) for side in ("va", "vb")]
    np.add.at(tables, (cluster, *codes), frame["n"].to_numpy().astype(np.float64))
    weights = None if scenario else "quadratic"
    table = tables.sum(axis=0)
    agreeing, totals = np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))
    share = agreeing.sum() / totals.sum()
    reach = _reach(len(totals), float(np.sqrt(((agreeing - share * totals) ** 2).sum()) / totals.sum()))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(tables), np.full(len(tables), 1 / len(tables)), size=_BOOTSTRAP)
    again = (drawn @ tables.reshape(len(tables), -1)).reshape(_BOOTSTRAP, size, size)
    kappas = [agreement.kappa_of_table(each, weights) for each in again]  # type: ignore[arg-type]  # literal or None
    low, high = np.nanpercentile(kappas, [2.5, 97.5]) if not np.isnan(kappas).all() else (math.nan, math.nan)
    kappa = agreement.kappa_of_table(table, weights)  # type: ignore[arg-type]  # literal or None
    return Pair(labels, table, int(table.sum()), float(share), max(0.0, float(share) - reach),
                min(1.0, float(share) + reach), kappa, float(low), float(high))  # fmt: skip


def materiality(view: View, by: str | None = None) -> pl.DataFrame:
    """What splits change: slice, measure, n turns, clusters, mean (share 0..1; points for `range`), low, high.

    Measures over turns on which two judges or more lead somewhere: `way` their fields alone lead different ways;
    `action` they end in different actions; `range` the turn's logic score from the lowest judge to the highest.
    """
    condition, params = where(view, "traces", "t.")
    piece = "''" if by is None else f"t.{by}::VARCHAR"
    led = "list_filter(t.alone, lambda a: len(a.path) > 0)"
    actions = f"len(list_distinct(list_transform({led}, lambda a: a.action)))"
    return _means(
        f"""
        WITH turns AS (
            SELECT {piece} AS slice, t.sample_id, {WAYS_APART} AS way, {actions} > 1 AS action,
                list_max(list_transform({led}, lambda a: a.logic)) - list_min(list_transform({led}, lambda a: a.logic))
                AS range
            FROM traces t WHERE {condition} AND len({led}) > 1
        )
        SELECT slice, measure, sample_id, count(value) AS n, sum(value) AS total
        FROM (UNPIVOT (SELECT slice, sample_id, way::DOUBLE AS way, action::DOUBLE AS action, range::DOUBLE AS range
            FROM turns) ON way, action, range INTO NAME measure VALUE value) GROUP BY ALL
        """,
        ("slice", "measure"),
        params,
    )


def alone(view: View) -> pl.DataFrame:
    """What each model would score with one judge alone: judge, model, n turns, clusters, mean, low, high (overall).

    `judge` "panel" is the panel's own score. All over the same turns: those which panel and every judge can score.
    """
    return _means(
        _ALONE.format(condition=where(view, "traces", "t.")[0])
        + "SELECT judge, model, sample_id, count(*) AS n, sum(value) AS total FROM kept GROUP BY ALL",
        ("judge", "model"),
        where(view, "traces", "t.")[1],
    )


def offsets(view: View) -> pl.DataFrame:
    """How overall would move with one judge alone: judge, n, clusters, mean, low, high (points, paired by turn)."""
    return _means(
        _ALONE.format(condition=where(view, "traces", "t.")[0])
        + "SELECT judge, sample_id, count(*) AS n, sum(value - panel) AS total FROM kept WHERE judge <> 'panel' GROUP BY ALL",
        ("judge",),
        where(view, "traces", "t.")[1],
    )


_ALONE = """
    WITH asked AS (
        SELECT t.run_id, t.attempt_id, t.turn, t.model, t.sample_id, t.alone, s.value AS panel
        FROM traces t JOIN scores s ON s.metric = 'overall' AND s.run_id = t.run_id AND s.attempt_id = t.attempt_id
            AND s.turn = t.turn
        WHERE {condition} AND s.value IS NOT NULL AND len(t.alone) > 1
            AND len(list_filter(t.alone, lambda a: a.overall IS NULL)) = 0
    ), kept AS (
        SELECT model, sample_id, panel, 'panel' AS judge, panel AS value FROM asked
        UNION ALL SELECT model, sample_id, panel, one.judge, one.overall
        FROM (SELECT model, sample_id, panel, unnest(alone) AS one FROM asked)
    ) """


def severity(view: View) -> pl.DataFrame:
    """How strict each judge grades: judge, n grades, clusters, mean (offset from the panel's mean), low, high,
    grade (plain mean), three, six, nine (shares), length (correlation of a turn's grade with the reply's words).

    Over the grades that every judge gave.
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
    means = _means(
        items
        + """SELECT judge, sample_id, sum(n) AS n, sum(off) AS total
        FROM turns JOIN attempts USING (run_id, attempt_id) GROUP BY ALL""",
        ("judge",),
        params,
    )
    shares = ask(
        items
        + """SELECT judge, sum(grade * n) / sum(n) AS grade, sum(three) / sum(n) AS three, sum(six) / sum(n) AS six,
            sum(nine) / sum(n) AS nine, corr(grade, s.value) AS length
        FROM turns LEFT JOIN scores s ON s.metric = 'chat_words' AND s.run_id = turns.run_id
            AND s.attempt_id = turns.attempt_id AND s.turn = turns.turn GROUP BY 1""",
        params,
    )
    return means.join(shares, on="judge", how="left").with_columns(pl.col("length").fill_nan(None))


def favour(view: View, seed: int = 0) -> Favour | None:
    """Do judges grade their own family above what strictness and quality explain? None without two judges and models."""
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


def against_gold(view: View) -> pl.DataFrame:
    """How often each judge reads what the customer was made from: judge ("panel" too), name, n, clusters, mean, low,
    high; on the last turn of each dialogue, when all has been said that was to be said."""
    condition, params = where(view, "traces", "t.")
    return _means(
        _GOLD.format(condition=condition)
        + """SELECT judge, name, sample_id, count(*) AS n, sum((verdict = gold)::INT)::DOUBLE AS total
        FROM said GROUP BY ALL""",
        ("judge", "name"),
        params,
        1.0,
    )


def gold_confusion(view: View, name: str) -> pl.DataFrame:
    """What a field was and what each judge read: judge, gold, verdict, n; last turns only."""
    condition, params = where(view, "traces", "t.")
    return ask(
        _GOLD.format(condition=condition)
        + "SELECT judge, gold, verdict, count(*) AS n FROM said WHERE name = $name GROUP BY ALL ORDER BY ALL",
        {**params, "name": name},
    )


_GOLD = """
    WITH lasting AS (
        SELECT run_id, attempt_id, turn, scenario, sample_id,
            CAST(gold_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS gold_map,
            CAST(panel_fields::JSON AS MAP(VARCHAR, VARCHAR)) AS panel_map
        FROM traces t WHERE {condition} AND t.last AND t.parsed
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
    condition, params = where(view.change(runs=()), "judgements", "j.")
    wanted = "AND base IN (SELECT unnest($wanted_runs))" if view.runs else ""
    # `where` leaves re-scored runs out, so its condition serves for the first run; the second is found through it.
    return _means(
        f"""
        WITH lineage AS (
            SELECT run_id, json_extract_string(setup, '$.rescored_from') AS base FROM runs
            WHERE json_extract_string(setup, '$.rescored_from') IS NOT NULL {wanted}
        ), twins AS (SELECT base AS one, run_id AS two FROM lineage),
        first AS (
            SELECT j.judge, j.kind, j.scenario, j.field, j.turn, j.verdict, a.sample_id, a.trial, twins.two
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
        1.0,
    )


def _encode(part: pl.DataFrame, judges: int, kind: str) -> tuple[list[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Labels in order (grades as numbers), codes patterns x judges (-1 = no word), and how often each occurs."""
    columns = [part[f"v{place}"].to_list() for place in range(judges)]
    values = {value for column in columns for value in column if value is not None}
    labels = sorted(values, key=float) if kind == "dimension" else sorted(values)
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([[place.get(value, -1) for value in column] for column in columns], dtype=np.int64).T
    numbers = [float(label) for label in labels] if kind == "dimension" else labels
    return list(numbers), codes.reshape(part.height, judges), part["n"].to_numpy().astype(np.int64)


def _cross(a: NDArray[np.int64], b: NDArray[np.int64], times: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    both = (a >= 0) & (b >= 0)
    table = np.zeros((size, size))
    np.add.at(table, (a[both], b[both]), times[both])
    return table


def _means(sql: str, keys: Iterable[str], params: Params | Mapping[str, Any], top: float | None = None) -> pl.DataFrame:
    """Means with 95 % intervals clustered by sample from rows of keys, sample_id, n, total; cut to 0..top if given."""
    listed = ", ".join(keys)
    frame = ask(
        f"""
        WITH clusters AS ({sql}), centred AS (
            SELECT *, sum(total) OVER grouped / sum(n) OVER grouped AS mean
            FROM clusters WHERE n > 0 WINDOW grouped AS (PARTITION BY {listed})
        )
        SELECT {listed}, sum(n)::BIGINT AS n, count(*) AS clusters, any_value(mean) AS mean,
            sqrt(sum((total - mean * n) ** 2)) / sum(n) AS spread
        FROM centred GROUP BY {listed} ORDER BY {listed}
        """,
        params,
    )
    reaches = [_reach(count, spread) for count, spread in frame.select("clusters", "spread").iter_rows()]
    reach = pl.Series("reach", reaches, dtype=pl.Float64).fill_nan(None)
    frame = frame.with_columns(low=pl.col("mean") - reach, high=pl.col("mean") + reach).drop("spread")
    return frame if top is None else frame.with_columns(pl.col("low").clip(0, None), pl.col("high").clip(None, top))


def _reach(clusters: int, spread: float) -> float:
    if clusters < 2:
        return math.nan
    return float(student_quantile(clusters - 1) * math.sqrt(clusters / (clusters - 1)) * spread)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
