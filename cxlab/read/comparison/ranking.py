"""Models ranked on a comparison set: each one's headline with its interval, what is between them, and who leads.

The unit is a sample: of a sample that was tried several times the mean over its trials, of a trial that is scored turn
by turn the mean over its turns. So each sample counts once, whatever its turns and trials; a difference of two models
is the mean of their differences by sample; and more trials make a ranking more certain, but weigh nothing anew. What
samples share (records/cluster.py) counts once in how sure that is: intervals and tests are clustered by it.
(`score_table` and `run` tell means over all turns; the two can differ a little.)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from cxlab.metrics.intervals import Bounds, clustered_interval
from cxlab.metrics.paired import CorrectedDifference, Paired, compare_pairs
from cxlab.read.comparison import score_sums
from cxlab.read.comparison.attempt_facts import join_facts
from cxlab.read.comparison.sample_means import SampleMeans
from cxlab.read.comparison.sets import (
    ComparisonSet,
    Customers,
    TaskSet,
    Unit,
    customers_of,
    find_set,
    with_values,
)
from cxlab.read.kept.chosen import passes
from cxlab.read.kept.numbers import number
from cxlab.read.kept.places import places_in
from cxlab.read.results.headlines import headline_of
from cxlab.read.sample_clusters import add_cluster
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration, Task

SEED = 20260101
MANY = 2_000
"""From so many clusters on intervals and p have a closed form: drawing patterns of signs agrees with it."""
_NUMBERS = ("value", "low", "high")
_COUNTS = {"samples": pl.Int64, "clusters": pl.Int64}
TABLE = {"side": pl.String, **dict.fromkeys(_NUMBERS, pl.Float64), **_COUNTS}
GAPS = {
    "side": pl.String, "grp": pl.String, "n": pl.Int64, "clusters": pl.Int64, "difference": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "p": pl.Float64, "p_corrected": pl.Float64, "wins": pl.Int64,
    "ties": pl.Int64, "losses": pl.Int64, "detectable": pl.Float64, "needed": pl.Float64, "verdict": pl.String,
}  # fmt: skip
SIDES = {
    "side": pl.String, **dict.fromkeys(_NUMBERS, pl.Float64), **_COUNTS, "model": pl.String,
    "simulated": pl.Boolean, "attempts": pl.Int64, "latency_s": pl.Float64, "cost_usd": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Ranking:
    """One task's models on its comparison set, the best first.

    `table`: side, value, low, high, samples, clusters. `floors`: side (a constant agent's model), name, value, samples:
    means over those of the set's samples that it has; never ranked. `gaps`: each side against the leader, as GAPS:
    difference = side - leader with interval and p corrected for their number, wins, ties and losses by sample,
    `detectable` (the smallest difference that as many samples find with 80 % power), `needed` (samples, as many a
    cluster, that would find the one seen), verdict (better, worse or cannot tell; of a group also too few).
    `customers`: whether they said the same to all.
    """

    task: Task
    compared: TaskSet
    table: pl.DataFrame
    floors: pl.DataFrame
    gaps: pl.DataFrame
    customers: Customers | None
    by_sample: SampleMeans
    """What all of it is made from; of constant agents, too."""

    @property
    def leader(self) -> str:
        """The side with the best mean, ahead for sure or not; "" where nobody is ranked."""
        return str(self.table["side"][0]) if self.table.height else ""

    @property
    def means(self) -> pl.DataFrame:
        """`by_sample` as a frame: side, grp (""), sample_id, value, cluster."""
        return self.by_sample.frame

    # A page keeps its rankings from one run to the next, and says each of them in many sentences: what these ask for is
    # worked out once.

    @cached_property
    def open(self) -> tuple[str, ...]:
        """The sides that cannot be told from the leader yet."""
        return tuple(
            side for side, verdict in zip(self.gaps["side"], self.gaps["verdict"], strict=True) if verdict != "worse"
        )

    @cached_property
    def best_floor(self) -> tuple[str, float] | None:
        """The best constant agent and its value; None where none was run."""
        sign = 1 if self.task.higher_is_better else -1
        known = [each for each in zip(self.floors["value"], self.floors["name"], strict=True) if each[0] is not None]
        value, name = max(known, key=lambda each: (sign * each[0], each[1]), default=(None, ""))
        return None if value is None else (str(name), float(value))

    @cached_property
    def success(self) -> Mapping[str, float]:
        """Of each side and constant agent the share of attempts that passed, as `took`; without those of whom nothing
        is known."""
        told = took(self.compared.results)
        return {side: rate for side, rate in zip(told["side"], told["success"], strict=True)
                if rate is not None and not math.isnan(rate)}  # fmt: skip

    @cached_property
    def simulated(self) -> frozenset[str]:
        """Those of the ranked sides that are stand-ins."""
        known = self.compared.coverage
        return frozenset(
            side
            for side, simulated, inside in zip(known["side"], known["simulated"], known["in_set"], strict=True)
            if simulated and inside
        )

    @cached_property
    def coverage(self) -> pl.DataFrame:
        """`TaskSet.coverage` with the task's title, `of` how many samples each has them, and how many are `shared`."""
        compared = self.compared
        return compared.coverage.with_columns(
            task=pl.lit(self.task.title), of=pl.lit(compared.known),
            shared=pl.when("in_set").then(pl.lit(compared.samples)).otherwise(None),
        )  # fmt: skip

    @cached_property
    def samples(self) -> frozenset[str]:
        """The samples that anything here stands on."""
        return frozenset(self.compared.results["sample_id"])

    @cached_property
    def runs(self) -> frozenset[str]:
        """The runs that the results are of."""
        return frozenset(places_in("run_id").of_attempts(self.compared.rows.attempt))

    @property
    def decided(self) -> bool:
        """Whether the leader is ahead of all others for sure."""
        return self.table.height > 1 and not self.open


@dataclass(frozen=True)
class Rankings:
    """The rankings of a benchmark's tasks on one set of conditions."""

    set: ComparisonSet
    tasks: tuple[Ranking, ...]


def rank(about: Declaration, view: View, unit: Unit = "model", metric: str = "") -> Rankings:
    """The rankings of a view of one benchmark, a task each; see `find_set` for what the view picks.

    By each task's headline, or by another `metric` on the same set.
    """
    found = find_set(about, view, unit)
    return Rankings(
        found, tuple(rank_task(about, view, task, metric) for task in found.tasks.values() if task.results.height)
    )


def rank_task(
    about: Declaration, view: View, found: TaskSet, metric: str = "", changes: pl.DataFrame | None = None
) -> Ranking:
    """One task's ranking; `view` tells what its results were read from.

    `changes` (run_id, attempt_id, change) are added to the values of these attempts.
    """
    task = task_by(about, found.task, metric or found.metric)
    values = found.values if task.metric == found.metric else _values_of(view, found, task.metric)
    if changes is not None:
        moved = found.results.join(changes, on=["run_id", "attempt_id"], how="left", maintain_order="left")
        values = values + moved["change"].fill_null(0.0).to_numpy()
    return replace(rank_means(about, task, found, SampleMeans.of(found.rows, values)), customers=customers_of(found))


def rank_means(about: Declaration, task: Task, found: TaskSet, means: SampleMeans) -> Ranking:
    """The ranking of a task by means, without its customers."""
    scale, less = about.card.scale(task.metric), not task.higher_is_better
    others = tuple(side for side in means.rows.sides if side not in found.sides)
    table, floors = summarise_sides(means, found.sides, scale), summarise_sides(means, others, scale)
    table = table.sort("value", "side", descending=[not less, False])
    leader = str(table["side"][0]) if table.height else ""
    gaps = _compare_sides(means, table["side"].to_list(), leader, less, scale)
    return Ranking(task, found, table, name_floors(about, floors, table), gaps, None, means)


def name_floors(about: Declaration, found: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Constant agents' means (`found`) as `Ranking.floors`; one that ran on fewer samples than the sides in `table` is
    named with how many, as its line stands beside means of more."""
    names = {floor.model: floor.name for floor in about.floors}
    most = max(table["samples"].to_list(), default=0)
    few = pl.format("{}, on {} of {}", pl.col("name"), pl.col("samples"), pl.lit(most))
    return found.with_columns(pl.col("side").replace(names).alias("name")).select(
        "side", pl.when(pl.col("samples") < most).then(few).otherwise("name").alias("name"), "value", "samples"
    )


def floors_of(about: Declaration, found: Ranking) -> list[tuple[str, float]]:
    """Name and value of all constant agents that a chart of the ranking draws: those that ran, and the one that the
    metric's 0 stands for (`Card.zeros`)."""
    ran = list(found.floors.select("name", "value").drop_nulls().iter_rows())
    return ran + zero_of(about, found.task.metric)


def zero_of(about: Declaration, metric: str) -> list[tuple[str, float]]:
    """The constant agent that a metric's 0 stands for, with that value; none where it stands for none."""
    zero = about.card.zeros.get(metric)
    return [(zero, 0.0)] if zero else []


def gaps_from(about: Declaration, found: Ranking, baseline: str) -> pl.DataFrame:
    """`Ranking.gaps` from another side than the leader."""
    task, sides = found.task, found.table["side"].to_list()
    return _compare_sides(found.by_sample, sides, baseline, not task.higher_is_better, about.card.scale(task.metric))


def task_by(about: Declaration, task: str, metric: str = "") -> Task:
    """A task with its headline, or with another metric in its place."""
    found = headline_of(about, task)
    if not metric or metric == found.metric:
        return replace(
            found, higher_is_better=found.higher_is_better and found.metric not in about.card.lower_is_better
        )
    return Task(found.id, found.title, metric, higher_is_better=metric not in about.card.lower_is_better)


def results_of(view: View, found: TaskSet, metric: str, facets: Sequence[str] = ()) -> pl.DataFrame:
    """The results of a set by any metric, and the facets named: as `TaskSet.results`; without a score left out."""
    tasks = (found.task,) if found.task else ()
    sums = score_sums.of_attempts(view.change(metric=metric, tasks=tasks, models=(), without=(), sets=()), facets)
    scored = with_values(sums).select("nth", *dict.fromkeys(facets), value=pl.col("value"))
    return number(found.results).drop("value").join(scored, on="nth", maintain_order="left")


def _values_of(view: View, found: TaskSet, metric: str) -> NDArray[np.float64]:
    """The values of `results_of`, a row each."""
    tasks = (found.task,) if found.task else ()
    lets_through = passes(view.change(metric="", tasks=tasks, models=(), without=(), sets=())).to_numpy()
    turns, whole = score_sums.by_number(metric, view.runs)
    inside = np.zeros(len(turns), dtype=bool)
    inside[: len(lets_through)] = lets_through
    values = turns if (inside & ~np.isnan(turns)).any() else whole
    return np.where(inside, values, np.nan)[found.rows.attempt]


def by_sample(results: pl.DataFrame, by: str = "") -> pl.DataFrame:
    """Results as means by sample: side, grp, sample_id, value, cluster."""
    group = pl.col(by).fill_null("") if by else pl.lit("")
    # In a steady order, or sums of floats would come out anew by some last digit.
    keys = ("side", "grp", "sample_id")
    means = results.group_by("side", group.alias("grp"), "sample_id").agg(pl.col("value").mean())
    return add_cluster(means.sort(keys))


def took(results: pl.DataFrame) -> pl.DataFrame:
    """What results took and came to: side, attempts, success, unscored, latency_s, cost_usd.

    success: passed of those that passed or failed, by their stored verdicts. latency_s and cost_usd are means of an
    attempt, judges left out; a cost is null where that of any attempt is unknown, and both are null of a simulated
    model: how fast a stand-in answers here and that it costs nothing says nothing of any real one.
    """
    verdict = pl.col("verdict")
    return (
        join_facts(results)
        .group_by("side")
        .agg(
            attempts=pl.len(),
            success=(verdict == "passed").sum() / verdict.is_in(["passed", "failed"]).sum(),
            unscored=(~verdict.fill_null("").is_in(["passed", "failed"])).sum(),
            latency_s=pl.when(~pl.col("simulated").any()).then(pl.col("latency_s").mean()),
            cost_usd=pl.when(~pl.col("simulated").any() & (pl.col("cost_usd").null_count() == 0)).then(
                pl.col("cost_usd").mean()
            ),
        )
        .sort("side")
    )


def describe_sides(found: Ranking) -> pl.DataFrame:
    """The ranked sides, the best first, each with its mean and what an attempt costs and takes (`took`), as SIDES."""
    compared = found.compared
    told = took(compared.results.filter(pl.col("side").is_in(compared.sides))).drop("success", "unscored")
    who = compared.coverage.select("side", "model", "simulated")
    return found.table.join(who, on="side", how="left", maintain_order="left").join(
        told, on="side", how="left", maintain_order="left"
    )


def summarise_sides(means: SampleMeans, sides: Sequence[str], scale: Bounds | None) -> pl.DataFrame:
    """Means of sides with their intervals, those that have any results, by name: as TABLE."""
    rows: list[tuple[Any, ...]] = []
    for side in means.rows.sides:
        if side in sides:
            told = clustered_interval(means.of_side(side), means.rows.clusters, scale)
            if not told.n:
                continue
            ends = (None if math.isnan(each) else each for each in (told.mean, told.low, told.high))
            rows.append((side, *ends, told.n, told.clusters))
    return pl.DataFrame(rows, schema=TABLE, orient="row")


def summarise(samples: pl.DataFrame, scale: Bounds | None, keys: Sequence[str] = ("side",)) -> pl.DataFrame:
    """Means over samples with their intervals: keys, value, low, high, samples, clusters."""
    rows = []
    for key, part in samples.group_by(keys, maintain_order=True):
        found = clustered_interval(part["value"].to_numpy(), part["cluster"].to_numpy(), scale)
        rows.append((*key, found.mean, found.low, found.high, found.n, found.clusters))
    schema = {**dict.fromkeys(keys, pl.String), **dict.fromkeys(_NUMBERS, pl.Float64), **_COUNTS}
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def differences(
    samples: pl.DataFrame, sides: Sequence[str], baseline: str, less: bool = False, scale: Bounds | None = None,
    least: int = 0,
) -> pl.DataFrame:  # fmt: skip
    """Each side minus the baseline on the samples that both have, group by group, as GAPS; corrected over all rows that
    are tested. With fewer than `least` clusters a row is not: it has no interval and no p, its verdict is "too few"."""
    keys, pairs, clusters = [], [], []
    for (group,), part in samples.sort("grp", "sample_id").group_by("grp", maintain_order=True):
        base = part.filter(pl.col("side") == baseline).select("sample_id", base="value")
        for side in sorted(set(sides) - {baseline}):
            own = part.filter(pl.col("side") == side)
            both = own.join(base, on="sample_id", maintain_order="left")
            if own.height or base.height:
                keys.append((side, str(group)))
                pairs.append((both["value"].to_numpy(), both["base"].to_numpy()))
                clusters.append(both["cluster"].to_numpy())
    return _test(keys, pairs, clusters, less, scale, least)


def _compare_sides(
    means: SampleMeans, sides: Sequence[str], baseline: str, less: bool, scale: Bounds | None
) -> pl.DataFrame:
    """Each side minus the baseline, as `differences` of all samples together."""
    base, others = means.of_side(baseline), sorted(set(sides) - {baseline})
    pairs = [(means.of_side(side), base) for side in others]
    return _test([(side, "") for side in others], pairs, [means.rows.clusters for _ in others], less, scale, 0)


def _test(
    keys: Sequence[tuple[str, str]], pairs: Sequence[tuple[ArrayLike, ArrayLike]], clusters: Sequence[NDArray[Any]],
    less: bool, scale: Bounds | None, least: int,
) -> pl.DataFrame:  # fmt: skip
    span = None if scale is None else (-abs(scale[1] - scale[0]), abs(scale[1] - scale[0]))
    few = [len(set(own)) < least for own in clusters]
    rows = []
    for untested in (False, True):
        chosen = [place for place, own in enumerate(few) if own is untested]
        told = compare_pairs(
            [pairs[place] for place in chosen], [clusters[place] for place in chosen], seed=SEED, closed_form_from=MANY,
            bounds=span,
        )  # fmt: skip
        rows += [(place, keys[place], _row(each, less, span)) for place, each in zip(chosen, told, strict=True)]
    rows.sort(key=lambda row: row[0])
    frame = pl.DataFrame([(*key, *row) for _, key, row in rows], schema=GAPS, orient="row")
    if any(few):
        tested = pl.Series([not own for own in few])
        numbers = ("low", "high", "p", "p_corrected", "detectable", "needed")
        frame = frame.with_columns(pl.when(tested).then(pl.col(name)).alias(name) for name in numbers).with_columns(
            verdict=pl.when(tested).then("verdict").otherwise(pl.lit("too few"))
        )
    return frame.with_columns(pl.col(pl.Float64).replace([math.nan, math.inf, -math.inf], None))


def ends_of(found: Paired, span: Bounds | None) -> tuple[float | None, float | None]:
    """The ends of a difference's interval; None where it has none, or is all that a difference can be, which tells
    nothing: so few clusters differ that no difference whatever could be rejected. None, too, where all pairs are tied:
    the test flips signs of differences, and of none there is no spread to measure; what `paired_difference` says there
    bounds differences of which not one was seen, and beside narrower ones of real differences that is misread."""
    if found.wins == found.losses == 0:
        return None, None
    if span is not None and found.low <= span[0] and found.high >= span[1]:
        return None, None
    low, high = (end if math.isfinite(end) else None for end in (found.low, found.high))
    return low, high


def _row(each: CorrectedDifference, less: bool, span: Bounds | None) -> tuple[float | int | str | None, ...]:
    found = each.found
    low, high = ends_of(found, span)
    wins, losses = (found.losses, found.wins) if less else (found.wins, found.losses)
    words = {"above": "worse", "below": "better"} if less else {"above": "better", "below": "worse"}
    return (
        found.n, found.clusters, found.difference, low, high, found.p, each.p, wins, found.ties, losses,
        each.detectable, each.needed, words.get(each.verdict, each.verdict),
    )  # fmt: skip
