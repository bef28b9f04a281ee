"""What became of attempts on a comparison set: samples that one side fixes and breaks, whose doing failures were, and
samples whose label may be wrong."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import polars as pl

from cxlab.metrics.paired import mcnemar_exact, sign_flip_p
from cxlab.read.annotations import RIGHT_LABEL, WRONG_LABEL
from cxlab.read.comparison import score_sums
from cxlab.read.comparison.attempt_facts import passed_of
from cxlab.read.comparison.ranking import SEED
from cxlab.read.comparison.sets import Unit, attempts_of
from cxlab.read.failure_kinds import OWNER
from cxlab.read.kept.numbers import look_up, number, spread
from cxlab.read.query import ask, facet_ids, selection
from cxlab.read.sample_clusters import clusters_of
from cxlab.read.view import View
from cxlab.store import catalogue, layout
from cxlab.views.benchmarks import declared
from cxlab.views.compare import queries

_COLUMNS = (
    f"run_id, attempt_id, verdict, {OWNER} AS owner, "
    "replace(coalesce(verdict_reason, ''), chr(10), ' · ') AS reason, coalesce(verdict_stage, '') AS stage, "
    "coalesce(verdict_field, '') AS field, coalesce(verdict_tool, '') AS tool"
)
_ATTEMPTS = {"side": pl.String, "sample_id": pl.String, "trial": pl.Int32, "run_id": pl.String,
             "attempt_id": pl.String, "nth": pl.UInt32}  # fmt: skip
_FLIPS = {"sample_id": pl.String, "first_passed": pl.Int64, "second_passed": pl.Int64, "trials": pl.Int64,
          "flip": pl.String}  # fmt: skip


def flips(view: View, first: str, second: str, unit: Unit = "model") -> pl.DataFrame:
    """The set's samples by verdict: sample_id, first_passed and second_passed (trials), trials, flip: "fixed" where the
    first side passed more of its trials than the second, "broken" where fewer, else "same".

    A sample is left out where an attempt of either was neither passed nor failed.
    """
    task = queries.task_of(view, unit)
    if task is None:
        return pl.DataFrame(schema=_FLIPS)
    rows = task.rows
    passed, many = passed_of(rows.attempt), len(rows.clusters)
    ours, theirs = (rows.of_sides((side,)) for side in (first, second))
    trials, others, unknown = (
        np.bincount(rows.sample[inside], minlength=many)
        for inside in (ours, theirs, (ours | theirs) & np.isnan(passed))
    )
    inside = np.flatnonzero((trials > 0) & (others > 0) & (unknown == 0))
    counts = [np.bincount(rows.sample[side & (passed == 1)], minlength=many)[inside] for side in (ours, theirs)]
    words = pl.Series(["broken", "same", "fixed"]).gather(np.sign(counts[0] - counts[1]) + 1)
    ids = task.results["sample_id"].gather(rows.first[inside])
    return pl.DataFrame(dict(zip(_FLIPS, (ids, *counts, trials[inside], words), strict=True)), schema=_FLIPS)


def flip_counts(view: View, first: str, second: str, unit: Unit = "model") -> tuple[int, int, float]:
    """`count_flips` of the view's set."""
    return count_flips(flips(view, first, second, unit))


def count_flips(found: pl.DataFrame) -> tuple[int, int, float]:
    """Samples fixed and broken, and p of both being as likely: McNemar's exact test, where samples share something the
    signs of whole clusters flipped."""
    fixed, broken = (int((found["flip"] == word).sum()) for word in ("fixed", "broken"))
    net = found.select(cluster=clusters_of(found["sample_id"]), net=(pl.col("flip") == "fixed").cast(pl.Int64)
                       - (pl.col("flip") == "broken").cast(pl.Int64))  # fmt: skip
    if net["cluster"].n_unique() == net.height:
        return fixed, broken, mcnemar_exact(fixed, broken)
    sums = net.group_by("cluster").agg(pl.col("net").sum()).sort("cluster")["net"]
    return fixed, broken, sign_flip_p(sums.cast(pl.Float64).to_numpy(), np.random.default_rng(SEED))


# Of fewer samples none stands for the others.
_LEAST_TYPICAL = 3


def typical_pairs(view: View, first: str, second: str, unit: Unit = "model") -> pl.DataFrame:
    """The sample in the middle of those that are "fixed", and of those "broken", by `flips`: flip, n, sample_id,
    run_id, attempt_id (of the first side, its lowest trial), first, second (mean scores), mid_first and mid_second
    (medians over the n samples).

    The middle is the two medians; a distance from one is taken as a share of how far the samples reach in it, and both
    are added. Of those equally near it is the first by id. None of fewer than three samples.
    """
    flipped = flips(view, first, second, unit).filter(pl.col("flip") != "same").select("sample_id", "flip")
    means = (
        queries.results(view, unit)
        .filter(pl.col("side").is_in([first, second]))
        .sort("trial", "run_id")
        .group_by("side", "sample_id")
        .agg(pl.col("value").mean(), pl.col("run_id").first(), pl.col("attempt_id").first())
    )
    one, other = (means.filter(pl.col("side") == side).drop("side") for side in (first, second))
    pairs = (
        one.rename({"value": "first"})
        .join(other.select("sample_id", second="value"), on="sample_id")
        .join(flipped, on="sample_id")
        .drop_nulls(["first", "second"])
    )
    reach = {name: (pl.max(name) - pl.min(name)).over("flip") for name in ("first", "second")}
    pairs = pairs.with_columns(
        n=pl.len().over("flip").cast(pl.Int64),
        **{f"mid_{name}": pl.median(name).over("flip") for name in reach},
    ).with_columns(
        far=pl.sum_horizontal(
            pl.when(span > 0).then((pl.col(name) - pl.col(f"mid_{name}")).abs() / span).otherwise(0.0)
            for name, span in reach.items()
        )
    )
    return (
        pairs.filter(pl.col("n") >= _LEAST_TYPICAL)
        .sort("flip", "far", "sample_id")
        .group_by("flip", maintain_order=True)
        .first()
        .select("flip", "n", "sample_id", "run_id", "attempt_id", "first", "second", "mid_first", "mid_second")
    )


def owners(view: View, unit: Unit = "model") -> pl.DataFrame:
    """Whose doing failed and unscored attempts were: side, verdict, owner, n, tried (the side's attempts in all); the
    most frequent owner first. Of the comparison's sides on the samples that all have tried, scored or not."""
    every = _attempts(view, unit)
    told = _with_verdicts(every).with_columns(pl.col("verdict").fill_null("unscored"), tried=pl.len().over("side"))
    wrong = told.filter(pl.col("verdict") != "passed")
    counted = wrong.group_by("side", "verdict", "owner").agg(n=pl.len(), tried=pl.col("tried").first())
    often = counted.group_by("owner").agg(often=pl.col("n").sum())
    return counted.join(often, on="owner").sort(
        "often", "owner", "verdict", "side", descending=[True, False, False, False]
    ).drop("often")  # fmt: skip


def runs_behind(view: View, unit: Unit = "model") -> tuple[str, ...]:
    """The runs that the attempts of `owners` are of."""
    return tuple(_attempts(view, unit)["run_id"].unique().sort())


def audit(view: View, unit: Unit = "model") -> tuple[tuple[str, ...], pl.DataFrame]:
    """The strong sides, and the samples that all of them failed in every trial: perhaps the label is wrong.

    Strong is the better half of a ranking, two sides at least. Columns: sample_id, a column for each facet of the
    store, alike (all for the same reason at the same place), reason, passed_by (weaker sides that passed it: then the
    label is likely right), marked (tagged as WRONG_LABEL), confirmed (as RIGHT_LABEL), opened ("SIDE", "RUN", "ATTEMPT"
    of each strong side's first trial). Those that failed alike and that nobody passed come first.
    """
    found = queries.ranked(view, unit)
    strong = tuple(found.table["side"].to_list()[: max(2, -(-found.table.height // 2))]) if found is not None else ()
    facets = facet_ids()
    if len(strong) < 2:
        return strong, pl.DataFrame()
    told = _with_verdicts(_attempts(view, unit))
    inside = told.filter(pl.col("side").is_in(strong))
    failed = inside.group_by("sample_id").agg(
        sides=pl.col("side").n_unique(), all_failed=(pl.col("verdict") == "failed").fill_null(False).all()
    )
    failed = failed.filter("all_failed", pl.col("sides") == len(strong)).select("sample_id")
    # All else is asked of the few samples that are left.
    told = told.join(failed, on="sample_id", how="semi").sort("sample_id", "side", "trial")
    marked = ask("""SELECT run_id, attempt_id, bool_or(value = $wrong) AS marked, bool_or(value = $right) AS confirmed
                 FROM attempt_tags WHERE value IN ($wrong, $right) GROUP BY ALL""",
                 {"wrong": WRONG_LABEL, "right": RIGHT_LABEL})  # fmt: skip
    inside = told.filter(pl.col("side").is_in(strong)).join(
        marked, on=["run_id", "attempt_id"], how="left", maintain_order="left"
    )
    failed = inside.group_by("sample_id", maintain_order=True).agg(
        alike=pl.struct("owner", "reason", "stage", "field", "tool").n_unique() == 1,
        reason=pl.col("reason").mode(maintain_order=True).first(),
        marked=pl.col("marked").fill_null(False).any(),
        confirmed=pl.col("confirmed").fill_null(False).any(),
    )
    passed = (
        told.filter(~pl.col("side").is_in(strong) & (pl.col("verdict") == "passed"))
        .group_by("sample_id").agg(passed_by=pl.col("side").unique().sort())
    )  # fmt: skip
    first = inside.unique(["sample_id", "side"], keep="first", maintain_order=True)
    opened = first.group_by("sample_id", maintain_order=True).agg(opened=pl.concat_list("side", "run_id", "attempt_id"))
    own = score_sums.facets_of(first.unique("sample_id", keep="first", maintain_order=True), facets)
    rows = (
        failed.join(passed, on="sample_id", how="left")
        .join(opened, on="sample_id")
        .join(own.select("sample_id", *(name for name in facets if name in own.columns)), on="sample_id", how="left")
        .with_columns(pl.col("passed_by").fill_null([]))
    )
    return strong, rows.sort(
        pl.col("passed_by").list.len() > 0, "alike", "reason", "sample_id", descending=[False, True, False, False]
    )


def _attempts(view: View, unit: Unit) -> pl.DataFrame:
    """The attempts of the set's sides, scored or not, on what all of them tried: side, sample_id, trial, run_id,
    attempt_id, nth."""
    about, found = declared(view.benchmark, view.lead), queries.compared(view, unit)
    task = queries.task_of(view, unit)
    if task is None:
        return pl.DataFrame(schema=_ATTEMPTS)
    rows = attempts_of(about, selection(view), found, task, unit).filter(pl.col("side").is_in(task.sides))
    return rows.select(_ATTEMPTS.keys())


def _with_verdicts(attempts: pl.DataFrame) -> pl.DataFrame:
    runs = tuple(attempts["run_id"].unique().sort())
    known = _read_verdicts(str(layout.home()), catalogue.data_version(), runs)
    return attempts.hstack(look_up(known, number(attempts)["nth"]))


# By runs, which filters by facet leave as they are, so that a change of these reads nothing anew.
@lru_cache(maxsize=32)
def _read_verdicts(home: str, version: str, runs: tuple[str, ...]) -> pl.DataFrame:
    found = ask(f"SELECT {_COLUMNS} FROM attempts WHERE run_id IN (SELECT unnest($runs))", {"runs": list(runs)})
    return spread(number(found)).drop("nth", "run_id", "attempt_id")


def only(found: pl.DataFrame, flip: str) -> Sequence[str]:
    """The samples of `flips` with this flip."""
    return found.filter(pl.col("flip") == flip)["sample_id"].to_list()
