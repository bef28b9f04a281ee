"""Measured or judged: the same metrics of the same conversations, once from the world's log and once by a panel.

A metric NAME stands beside `judged_NAME` in the scores of an attempt. Only conversations in which both have a value are
compared with each other; how many have one only is counted apart.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl

from cxlab.benchmarks.contract import Contrast
from cxlab.read.clusters import summarise
from cxlab.read.query import ask, selection, version_of, where
from cxlab.read.view import View
from cxlab.records.evaluation import MEASURED
from cxlab.store import layout

PREFIX = "judged_"
PANEL = "panel"
# Values closer than this are one: they differ by rounding.
CLOSE = 0.05
# Fewer pairs correlate by chance.
_LEAST_FOR_R = 10
Values = Callable[[Mapping[int, Mapping[str, str]], int], Mapping[str, float | None]]


def runs(view: View, first: str) -> tuple[str, ...]:
    """The runs that have both: those asked for, else each run with judged metrics, or if it has none itself, the
    newest judging of its conversations (`python -m cxlab score`). `first`: the metric that tells."""
    held = ask(
        """SELECT run_id, coalesce(json_extract_string(setup, '$.rescored_from'), run_id) AS root FROM runs
        WHERE run_id IN (SELECT run_id FROM scores WHERE metric = $metric AND value IS NOT NULL)
        ORDER BY (root = run_id) DESC, created DESC, run_id""",
        {"metric": f"{PREFIX}{first}"},
    )
    if not view.runs:
        held = held.unique("root", keep="first", maintain_order=True)
    among = tuple(run for run in held["run_id"] if not view.runs or run in view.runs)
    if not among:
        return ()
    # With runs that are named, judgings anew are not left out.
    condition, params = where(view.change(runs=among), "attempts", "a.")
    left = set(ask(f"SELECT DISTINCT a.run_id FROM attempts a WHERE {condition}", params)["run_id"])
    return tuple(run for run in among if run in left)


def judges(among: tuple[str, ...]) -> list[str]:
    """The judges that voted in these runs, the log's own record left out."""
    if not among:
        return []
    found = ask(
        "SELECT DISTINCT judge FROM judgements WHERE run_id IN (SELECT unnest($runs)) AND judge <> $log ORDER BY 1",
        {"runs": list(among), "log": MEASURED},
    )
    return found["judge"].to_list()


def pairs(view: View, among: tuple[str, ...]) -> pl.DataFrame:
    """Each conversation and metric with both values: run_id, attempt_id, sample_id, metric, measured, judged (either
    may be None, not both)."""
    return _read(str(layout.home()), version_of(view), selection(view), among)


# Not among what pages remember: that is copied whenever it is looked at, and these are rows.
@lru_cache(maxsize=2)
def _read(home: str, version: str, view: View, among: tuple[str, ...]) -> pl.DataFrame:
    condition, params = where(view.change(runs=among), "scores", "s.")
    return ask(
        f"""
        SELECT s.run_id, s.attempt_id, any_value(s.sample_id) AS sample_id,
            CASE WHEN starts_with(s.metric, '{PREFIX}') THEN s.metric[{len(PREFIX) + 1}:] ELSE s.metric END AS name,
            max(s.value) FILTER (NOT starts_with(s.metric, '{PREFIX}')) AS measured,
            max(s.value) FILTER (starts_with(s.metric, '{PREFIX}')) AS judged
        FROM scores s WHERE {condition} AND s.turn IS NULL
        GROUP BY s.run_id, s.attempt_id, name
        HAVING count(*) FILTER (starts_with(s.metric, '{PREFIX}')) > 0 AND (measured IS NOT NULL OR judged IS NOT NULL)
        ORDER BY name, s.run_id, s.attempt_id
        """,
        params,
    ).rename({"name": "metric"})


def pairs_of(view: View, among: tuple[str, ...], judge: str, values: Values) -> pl.DataFrame:
    """`pairs` with one judge's verdicts alone in the panel's place; `values` makes metrics of verdicts by turn."""
    return _read_alone(str(layout.home()), version_of(view), selection(view), among, judge, values)


@lru_cache(maxsize=4)
def _read_alone(
    home: str, version: str, view: View, among: tuple[str, ...], judge: str, values: Values
) -> pl.DataFrame:
    both = pairs(view, among)
    condition, params = where(view.change(runs=among), "judgements", "j.")
    told = ask(
        f"""SELECT j.run_id, j.attempt_id, list({{'turn': j.turn, 'field': j.field, 'verdict': j.verdict}}) AS said
        FROM judgements j WHERE {condition} AND j.judge = $judge AND j.status = 'ok' AND j.kind = 'field'
        GROUP BY 1, 2""",
        {**params, "judge": judge},
    )
    rows: list[tuple[str, str, str, float | None]] = []
    for run_id, attempt_id, said in told.iter_rows():
        turns: dict[int, dict[str, str]] = {}
        for one in said:
            turns.setdefault(one["turn"], {})[one["field"]] = one["verdict"]
        for metric, value in values(turns, len(turns)).items():
            rows.append((run_id, attempt_id, metric, value))
    schema = {"run_id": pl.String, "attempt_id": pl.String, "metric": pl.String, "judged": pl.Float64}
    alone = pl.DataFrame(rows, schema=schema, orient="row")
    # The log's side does not hang on the panel: a metric may be measured where the panel had no word on it.
    condition, params = where(view.change(runs=among), "scores", "s.")
    measured = ask(
        f"""SELECT s.run_id, s.attempt_id, s.sample_id, s.metric, s.value AS measured FROM scores s
        WHERE {condition} AND s.turn IS NULL AND s.metric IN (SELECT unnest($metrics))""",
        {**params, "metrics": sorted(set(both["metric"]))},
    )
    return (
        measured.join(alone, on=["run_id", "attempt_id", "metric"], how="left")
        .filter(pl.col("measured").is_not_null() | pl.col("judged").is_not_null())
        .select(both.columns)
        .sort("metric", "run_id", "attempt_id")
    )


def pairs_by(view: View, among: tuple[str, ...], judge: str, values: Values) -> pl.DataFrame:
    """`pairs` of the panel, or of one judge."""
    return pairs(view, among) if judge == PANEL else pairs_of(view, among, judge, values)


def compared(view: View, among: tuple[str, ...], judge: str, values: Values) -> pl.DataFrame:
    """`compare` of `pairs_by`: one value to be remembered, for sums of floats come out anew by some last digit, and a
    chart that is another one forgets what was clicked in it."""
    return compare(pairs_by(view, among, judge, values))


def compare(both: pl.DataFrame) -> pl.DataFrame:
    """`pairs` metric by metric: metric, n conversations, clusters (samples), measured and judged (means over the same
    conversations), mean (judged - measured), low, high (clustered, corrected for the number of metrics),
    differ (share whose values differ), off (mean absolute difference), r (Pearson; None where one side does not vary),
    only_measured, only_judged."""
    held = both.filter(pl.col("measured").is_not_null() & pl.col("judged").is_not_null())
    gap = pl.col("judged") - pl.col("measured")
    sums = held.group_by("metric", "sample_id").agg(n=pl.len().cast(pl.Int64), total=gap.sum())
    about = summarise(sums, ("metric",), level=1 - 0.05 / max(1, sums["metric"].n_unique()))
    varies = (pl.col("measured").std() > 0) & (pl.col("judged").std() > 0) & (pl.len() >= _LEAST_FOR_R)
    means = held.group_by("metric").agg(
        pl.col("measured", "judged").mean(),
        differ=(gap.abs() > CLOSE).mean(),
        off=gap.abs().mean(),
        r=pl.when(varies).then(pl.corr("measured", "judged")),
    )
    alone = both.group_by("metric").agg(
        only_measured=pl.col("judged").is_null().sum().cast(pl.Int64),
        only_judged=pl.col("measured").is_null().sum().cast(pl.Int64),
    )
    found = about.join(means, on="metric").join(alone, on="metric")
    return found.select(
        "metric", "n", "clusters", "measured", "judged", "mean", "low", "high", "differ", "off", "r", "only_measured",
        "only_judged",
    ).sort("metric")  # fmt: skip


class Ratio(NamedTuple):
    """A metric under one value of a facet over that under another in `tasks` tried both ways, as measured and as
    judged, and judged minus measured with a bootstrap interval over tasks (None where it cannot be told)."""

    tasks: int
    measured: float
    judged: float
    difference: float
    low: float | None
    high: float | None


def contrast(
    view: View, among: tuple[str, ...], judge: str, values: Values, wanted: Contrast, seed: int = 0
) -> Ratio | None:
    """A contrast both ways, which no conversation has by itself; None where nothing was tried both ways, or the metric
    is nowhere above 0 under the base. A task counts with its means."""
    passed = pairs_by(view, among, judge, values).filter(pl.col("metric") == wanted.metric).drop_nulls()
    if passed.is_empty():
        return None
    same = {f"same_{place}": f"$.{path}" for place, path in enumerate(wanted.same)}
    terms = ", ".join(["a.model", *(f"json_extract_string(s.inputs, ${name})" for name in same)])
    about = ask(
        f"""SELECT a.run_id, a.attempt_id, facet_of(a.facet_list, $facet) AS way, concat_ws(' ', {terms}) AS task
        FROM attempts a JOIN (SELECT DISTINCT ON (sample_id) sample_id, inputs FROM samples) s USING (sample_id)
        WHERE a.run_id IN (SELECT unnest($runs)) AND facet_of(a.facet_list, $facet) IN ($base, $value)""",
        {"runs": list(among), "facet": wanted.facet, "base": wanted.base, "value": wanted.value, **same},
    )
    means = (
        passed.join(about, on=["run_id", "attempt_id"]).group_by("task", "way").agg(pl.col("measured", "judged").mean())
    )
    base, other = (means.filter(pl.col("way") == name).drop("way") for name in (wanted.base, wanted.value))
    both = base.join(other, on="task", suffix="_other").sort("task")
    table = both.select("measured", "measured_other", "judged", "judged_other").to_numpy()
    if not len(table) or not (table.sum(axis=0)[[0, 2]] > 0).all():
        return None
    draws = np.random.default_rng(seed).multinomial(len(table), np.full(len(table), 1 / len(table)), size=1_000) @ table
    draws = draws[(draws[:, 0] > 0) & (draws[:, 2] > 0)]
    gaps = draws[:, 3] / draws[:, 2] - draws[:, 1] / draws[:, 0]
    told = len(table) > 1 and len(gaps) >= 950
    low, high = map(float, np.quantile(gaps, (0.025, 0.975))) if told else (None, None)
    sums = table.sum(axis=0)
    measured, judged = float(sums[1] / sums[0]), float(sums[3] / sums[2])
    return Ratio(len(table), measured, judged, judged - measured, low, high)


def apart(both: pl.DataFrame, metric: str, facets: Sequence[str] = (), most: int = 200) -> pl.DataFrame:
    """The conversations in which a metric's two values lie furthest apart, the furthest first: run_id, attempt_id,
    model, a column a facet, measured, judged, difference."""
    held = both.filter(pl.col("metric") == metric).drop_nulls(["measured", "judged"])
    far = (
        held.with_columns(difference=pl.col("judged") - pl.col("measured"))
        .filter(pl.col("difference").abs() > CLOSE)
        .sort(pl.col("difference").abs(), "run_id", "attempt_id", descending=[True, False, False])
        .head(most)
    )
    if far.is_empty():
        return far.drop("metric", "sample_id")
    named = {f"facet_{place}": facet for place, facet in enumerate(facets)}
    columns = "".join(f", facet_of(facet_list, ${name}) AS {name}" for name in named)
    about = ask(
        f"""SELECT run_id, attempt_id, model{columns} FROM attempts
        WHERE run_id IN (SELECT unnest($runs)) AND attempt_id IN (SELECT unnest($attempts))""",
        {"runs": sorted(set(far["run_id"])), "attempts": far["attempt_id"].to_list(), **named},
    ).rename(named)
    return far.join(about, on=["run_id", "attempt_id"], maintain_order="left").select(
        "run_id", "attempt_id", "model", *facets, "measured", "judged", "difference"
    )
