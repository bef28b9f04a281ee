"""Models side by side on one comparison set: means, paired differences, samples, repeated trials.

Everything here stands on the set that `read.comparison.sets` finds for the view, one result a sample, trial and side;
the unit of a mean and of a pair is a sample (read/comparison/ranking.py).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.charts.numbers import largest
from cxlab.errors import UnknownName
from cxlab.metrics.intervals import mean_interval
from cxlab.metrics.passk import pass_hat_k
from cxlab.read import procedures
from cxlab.read.comparison import ranking, score_sums
from cxlab.read.comparison.decision import Decision, decide
from cxlab.read.comparison.history import HISTORY, headline_history
from cxlab.read.comparison.like_with_like import AlikeSamples, keep_alike
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.run_choice import RunChoice, choose_runs
from cxlab.read.comparison.run_floors import with_floors
from cxlab.read.comparison.sets import ComparisonSet, TaskSet, Unit, find_set
from cxlab.read.kept.places import facet_of
from cxlab.read.query import ask, facet, facet_ids, selection, version_of, where
from cxlab.read.view import View
from cxlab.store import layout
from cxlab.views.benchmarks import declared, published_tables

__all__ = ["Unit"]
MOST_SIDES = 6
"""So many stand beside each other in charts and tables."""


def compared(view: View, unit: Unit = "model") -> ComparisonSet:
    """The comparison set of the view, of its tasks and filters; what is asked for again is remembered."""
    return _compared(
        str(layout.home()), version_of(view), selection(view).change(metric="", sets=view.sets, lead=view.lead), unit
    )


@lru_cache(maxsize=8)
def _compared(home: str, version: str, view: View, unit: Unit) -> ComparisonSet:
    return find_set(declared(view.benchmark, view.lead), view, unit)


def task_of(view: View, unit: Unit) -> TaskSet | None:
    """The set of the view's task, the first one with results."""
    return next((task for task in compared(view, unit).tasks.values() if task.results.height), None)


def ranked(view: View, unit: Unit = "model") -> Ranking | None:
    """The ranking by the view's metric; None where nothing is compared."""
    return _ranked(str(layout.home()), version_of(view), selection(view).change(sets=view.sets, lead=view.lead), unit)


@lru_cache(maxsize=4)
def _ranked(home: str, version: str, view: View, unit: Unit) -> Ranking | None:
    task = task_of(view, unit)
    if task is None:
        return None
    about = declared(view.benchmark, view.lead)
    found = ranking.rank_task(about, view, task, view.metric)
    return with_floors(about, view, found) if unit == "run_id" else found


def decided(view: View, unit: Unit = "model", rival: str = "") -> Decision | None:
    """What a choice between the leader and a rival, the second when none is named, stands on."""
    found = ranked(view, unit)
    return None if found is None else decide(declared(view.benchmark, view.lead), found, rival)


def runs_to_compare(view: View) -> RunChoice:
    """The runs that the view picks, if any, and those to set beside them."""
    return choose_runs(declared(view.benchmark), view)


def history(view: View, unit: Unit = "model") -> pl.DataFrame:
    """The headline over time on the view's set, as `history.HISTORY`."""
    found = ranked(view, unit)
    about = declared(view.benchmark, view.lead)
    if found is None:
        return pl.DataFrame(schema=HISTORY)
    return headline_history(about, selection(view), found, compared(view, unit).conditions, unit)


def results(view: View, unit: Unit = "model", facets: Sequence[str] = ()) -> pl.DataFrame:
    """The results of the set by the view's metric: side, sample_id, trial, run_id, attempt_id, value, and facets."""
    task = task_of(view, unit)
    if task is None:
        columns = ("side", "sample_id", "run_id", "attempt_id", *facets)
        return pl.DataFrame(schema={**dict.fromkeys(columns, pl.String), "trial": pl.Int32, "value": pl.Float64})
    if view.metric == task.metric and not facets:
        return task.results
    return ranking.results_of(view, task, view.metric, facets)


def sample_means(view: View, unit: Unit = "model", by: str = "") -> pl.DataFrame:
    """The view's metric by side, group and sample: side, grp, sample_id, value, cluster. `by` is a facet or ""."""
    if by and by not in (known := facet_ids()):
        raise UnknownName("group", by, known)
    if not by:
        found = ranked(view, unit)
        return ranking.by_sample(results(view, unit)) if found is None else found.means
    return ranking.by_sample(_alike(view, unit, by)[0], by)


def alike(view: View, unit: Unit, by: str) -> AlikeSamples | None:
    """What `sample_means` leaves out so that the values of a facet are compared like with like; None is nothing."""
    return _alike(view, unit, by)[1]


def _alike(view: View, unit: Unit, by: str) -> tuple[pl.DataFrame, AlikeSamples | None]:
    about = declared(view.benchmark, view.lead)
    declared_as = about.facet(by)
    within = declared_as.within if declared_as else ()
    known = facet_ids()
    return keep_alike(about, results(view, unit, (by, *(name for name in within if name in known))), by)


def table(view: View, unit: Unit = "model", by: str = "") -> pl.DataFrame:
    """Means with intervals: side, grp, mean, low, high, n samples, clusters; constant agents too."""
    scale, judged = declared(view.benchmark).card.scale(view.metric), None if by else ranked(view, unit)
    if judged is not None:
        means = judged.by_sample
        found = ranking.summarise_sides(means, means.rows.sides, scale).insert_column(1, pl.lit("").alias("grp"))
    else:
        found = ranking.summarise(sample_means(view, unit, by), scale, ("side", "grp"))
    return found.rename({"value": "mean", "samples": "n"}).sort("side", "grp")


def differences(
    view: View, baseline: str, unit: Unit = "model", by: str = "", sides: Sequence[str] = (), least: int = 0
) -> pl.DataFrame:
    """Each side of the set, or of those named, minus the baseline, group by group, as `ranking.GAPS`; corrected over
    all rows that are tested. A group with fewer than `least` clusters is too small for a test."""
    about, task = declared(view.benchmark), task_of(view, unit)
    if task is None:
        return pl.DataFrame(schema=ranking.GAPS)
    less = view.metric in about.card.lower_is_better
    return ranking.differences(
        sample_means(view, unit, by), sides or task.sides, baseline, less, about.card.scale(view.metric), least,
    )  # fmt: skip


def count_values(view: View, unit: Unit, facets: Sequence[str]) -> dict[str, int]:
    """How many values each of these facets has on the samples of the set."""
    task = task_of(view, unit)
    if task is None:
        return {}
    own = task.rows.attempt[task.rows.of_sides(task.sides[:1] or task.rows.sides)]
    known = {name: places for name in facets if (places := facet_of(name)) is not None}
    return {name: len(places.of_attempts(own)) for name, places in known.items()}


def sides(view: View, unit: Unit = "model") -> pl.DataFrame:
    """Each side of the set with its mean on the view's metric, the best first, as `ranking.describe_sides`."""
    found = ranked(view, unit)
    return pl.DataFrame(schema=ranking.SIDES) if found is None else ranking.describe_sides(found)


def sample_pairs(
    view: View, first: str, second: str, unit: Unit = "model", limit: int = 200, samples: Sequence[str] | None = None
) -> pl.DataFrame:
    """Samples of the set, or those of it that are named, the largest difference of two sides first.

    Columns: sample_id, a column for each facet of the store, opening, first, second (means), difference, and the
    attempts to open (of the lowest trial): first_run, first_attempt, second_run, second_attempt.
    """
    facets, found = facet_ids(), ranked(view, unit)
    scored = results(view, unit)
    if found is not None:
        scored = scored.filter(_are_furthest(found, first, second, limit, samples))
    means = (
        scored.sort("trial", "run_id")
        .group_by("side", "sample_id")
        .agg(
            mean=pl.col("value").mean(),
            run=pl.col("run_id").first(),
            attempt=pl.col("attempt_id").first(),
            nth=pl.col("nth").first(),
        )
    )
    one, other = (means.filter(pl.col("side") == side).drop("side") for side in (first, second))
    pairs = (
        one.rename({"mean": "first", "run": "first_run", "attempt": "first_attempt"})
        .join(other.select("sample_id", second="mean", second_run="run", second_attempt="attempt"), on="sample_id")
        .with_columns(difference=pl.col("first") - pl.col("second"))
        .sort(pl.col("difference").abs(), "sample_id", descending=[True, False])
    )
    pairs = score_sums.facets_of(pairs, facets)
    opened = ask(
        """SELECT run_id AS first_run, attempt_id AS first_attempt, left(opening, 160) AS opening
        FROM attempts
        WHERE attempt_id IN (SELECT unnest($attempts))""",
        {"attempts": pairs["first_attempt"].to_list()},
    )
    return pairs.join(opened, on=["first_run", "first_attempt"], how="left", maintain_order="left").select(
        "sample_id", *facets, "opening", "first", "second", "difference",
        "first_run", "first_attempt", "second_run", "second_attempt",
    )  # fmt: skip


def _are_furthest(
    found: Ranking, first: str, second: str, limit: int, samples: Sequence[str] | None
) -> NDArray[np.bool_]:
    """Which results are of the samples, of those named, on which the two sides' means are furthest apart."""
    rows = found.compared.rows
    apart = np.abs(found.by_sample.of_side(first) - found.by_sample.of_side(second))
    if samples is not None:
        apart[~found.compared.results["sample_id"].gather(rows.first).is_in(samples).to_numpy()] = np.nan
    # Samples are in the order of their ids, and those that not both have come last.
    order = np.argsort(-apart, kind="stable")[:limit]
    chosen = np.zeros(len(apart), dtype=bool)
    chosen[order] = ~np.isnan(apart[order])
    inside: NDArray[np.bool_] = chosen[rows.sample] & rows.of_sides((first, second))
    return inside


def counterpart(view: View, run_id: str, attempt_id: str, side: str, unit: Unit = "model") -> tuple[str, str] | None:
    """The attempt of another side on the same sample, as (run, attempt); None where there is none.

    The same trial where it has it, and of several the newest.
    """
    condition, params = where(view, "attempts", "a.")
    found = ask(
        f"""
        WITH given AS (SELECT sample_id, trial FROM attempts WHERE run_id = $run AND attempt_id = $attempt)
        SELECT a.run_id, a.attempt_id FROM attempts a JOIN given USING (sample_id)
        WHERE a.{unit} = $side AND {condition}
        ORDER BY a.trial <> given.trial, a.trial, a.run_id DESC LIMIT 1
        """,
        {**params, "side": side, "run": run_id, "attempt": attempt_id},
    )
    return None if found.is_empty() else (found["run_id"][0], found["attempt_id"][0])


def profile(view: View, metrics: Sequence[str], unit: Unit = "model") -> pl.DataFrame:
    """Several metrics of the set's sides: side, metric, mean, low, high, n samples; without a score left out."""
    about, task = declared(view.benchmark), task_of(view, unit)
    parts: list[pl.DataFrame] = []
    if task is not None:
        # All metrics in one frame: what samples share is then looked up once, and not for each of them.
        every = [
            (task.results if metric == task.metric else ranking.results_of(view, task, metric)).select(
                "side", "sample_id", "value", metric=pl.lit(metric)
            )
            for metric in metrics
        ]
        ours = pl.concat(every).filter(pl.col("side").is_in(task.sides)) if every else pl.DataFrame()
        means = ranking.by_sample(ours, "metric") if ours.height else ours
        for metric in metrics if means.height else ():
            own = means.filter(pl.col("grp") == metric)
            found = ranking.summarise(own, about.card.scale(metric))
            parts.append(found.select("side", pl.lit(metric).alias("metric"), "value", "low", "high", "samples"))
    schema = {"side": pl.String, "metric": pl.String, **dict.fromkeys(("value", "low", "high"), pl.Float64)}
    frame = pl.concat([pl.DataFrame(schema={**schema, "samples": pl.Int64}), *parts])
    return frame.rename({"value": "mean", "samples": "n"})


def repeated(view: View, unit: Unit = "model") -> pl.DataFrame:
    """How steady a figure is from trial to trial: side, trials, mean, low, high, lowest, highest; none with one trial.

    Each trial's mean over the set's samples is one value; the interval is over the trials (appendix G of CXMArena): it
    tells of the model's own chance, not of other samples.
    """
    scale = declared(view.benchmark).card.scale(view.metric)
    found = results(view, unit).group_by("side", "trial").agg(pl.col("value").mean()).sort("side", "trial")
    rows: list[tuple[Any, ...]] = []
    for (side,), part in found.group_by("side", maintain_order=True):
        if part.height > 1:
            told = mean_interval(part["value"].to_numpy(), scale)
            rows.append((side, part.height, told.mean, told.low, told.high, part["value"].min(), part["value"].max()))
    numbers = ("mean", "low", "high", "lowest", "highest")
    schema = {"side": pl.String, "trials": pl.Int64, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def trials(view: View, unit: Unit = "model") -> pl.DataFrame:
    """pass^k where the set's samples were tried more than once: side, k, samples, share.

    A trial passes by its stored verdict; one that could not be scored is no trial. share: mean over samples of the
    chance that k trials drawn without replacement all pass. Every sample counts that was tried at least k times.
    """
    task = task_of(view, unit)
    schema = {"side": pl.String, "k": pl.Int64, "samples": pl.Int64, "share": pl.Float64}
    if task is None or task.trials == task.samples:
        return pl.DataFrame(schema=schema)
    inside = task.results.filter(pl.col("side").is_in(task.sides))
    verdicts = ask(
        """SELECT run_id, attempt_id, verdict FROM attempts
        WHERE verdict IN ('passed', 'failed') AND run_id IN (SELECT unnest($runs))""",
        {"runs": inside["run_id"].unique().to_list()},
    )
    tried = (
        inside.join(verdicts, on=["run_id", "attempt_id"])
        .group_by("side", "sample_id")
        .agg(n=pl.len(), passed=(pl.col("verdict") == "passed").sum())
        .sort("side", "sample_id")
    )
    rows = []
    for (side,), part in tried.group_by("side", maintain_order=True):
        for k in range(1, int(largest(part["n"], 0)) + 1):
            enough = part.filter(pl.col("n") >= k)
            share = np.mean(pass_hat_k(enough["passed"].to_numpy(), enough["n"].to_numpy(), k))
            rows.append((side, k, enough.height, float(share)))
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame if (frame["k"] > 1).any() else frame.clear()


def floors(view: View, by: str = "") -> pl.DataFrame:
    """What a constant answer would score on these turns: grp, value, name; only for metrics where that is known.

    For what traces of a procedure are compared with: in each procedure always the reference that is commonest there.
    """
    answer = procedures.reference_of(view.metric)
    empty = pl.DataFrame(schema={"grp": pl.String, "value": pl.Float64, "name": pl.String})
    if answer is None or (by and by not in facet_ids()):
        return empty
    condition, params = where(view, "traces", "t.")
    group = f"coalesce({facet(by, 't')}, '')" if by else "''"
    found = ask(
        f"""
        WITH told AS (
            SELECT {group} AS grp, {procedures.select_procedure("t.facet_list")} AS scenario, {answer} AS answer
            FROM facetted('traces') t
            WHERE {condition} AND t.parsed AND len(t.reference_path) > 0
        ), best AS (SELECT scenario, mode(answer) AS answer FROM told GROUP BY 1)
        SELECT grp, 100 * avg((told.answer = best.answer)::DOUBLE) AS value, 'always the commonest answer' AS name
        FROM told JOIN best USING (scenario) GROUP BY 1 ORDER BY 1
        """,
        params,
    )
    return found if found.height else empty


def published_points(
    benchmark: str, metric: str, headline: str, by: str = "", groups: Sequence[str] = (), narrowed: Sequence[str] = ()
) -> pl.DataFrame:
    """Figures of a paper for the metric: grp, entity, value, source; empty where it prints none.

    A paper's leaderboard prints the headline, other metrics under their own ids, and the headline by group where a
    column bears a group's name. `narrowed` are the facet values that are looked at: a figure over all does not belong
    beside a choice of some. Other data, other judges: to be looked at beside ours, never paired with them.
    """
    empty = pl.DataFrame(schema={"grp": pl.String, "entity": pl.String, "value": pl.Float64, "source": pl.String})
    table = next((each for each in published_tables(benchmark) if each.entity and each.metric), None)
    if table is None or table.entity is None or table.metric is None:
        return empty
    columns = {column.id for column in table.columns}
    whole = table.metric if metric == headline else metric
    shown: list[tuple[str, str]] = []
    if by and metric == headline:
        shown = [(name, name) for name in groups if name in columns]
    elif not by and whole in columns:
        only = narrowed[0] if len(narrowed) == 1 and metric == headline and narrowed[0] in columns else None
        shown = [("", only or whole)] if only or not narrowed else []
    parts = [
        table.frame.select(
            grp=pl.lit(group), entity=pl.col(table.entity).cast(pl.String), value=pl.col(column).cast(pl.Float64),
            source=pl.lit(table.source),
        ).drop_nulls("value")
        for group, column in shown
    ]  # fmt: skip
    return pl.concat(parts) if parts else empty
