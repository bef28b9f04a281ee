"""Models side by side: paired differences on the same samples, the front of quality and price, repeated trials.

The unit of a pair is a sample: the mean of all that was scored of it (turns, trials) by either side. So the difference
of two sides is a mean over samples, while a leaderboard's mean is over turns; the two can differ a little.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from cxlab.errors import UnknownName
from cxlab.metrics.paired import holm, paired_difference
from cxlab.metrics.passk import pass_hat_k
from cxlab.read import scenarios, score_sums
from cxlab.read.query import ask, facet, facet_ids, where
from cxlab.read.view import View
from cxlab.views.benchmarks import published_tables

Unit = Literal["model", "run_id"]
_SEED = 20260101
# From here on an interval needs no bootstrap: the closed form agrees with it.
_MANY = 2_000


def sample_means(view: View, unit: Unit = "model", by: str = "") -> pl.DataFrame:
    """The view's metric by side, group and sample: side, grp, sample_id, mean, n scores.

    Over scores of turns; over those of whole attempts where the metric has no other. `by` is a facet, "task" or "".
    """
    if by and by not in (known := ("task", *facet_ids())):
        raise UnknownName("group", by, known)
    scored = score_sums.of_attempts(view, (by,)).filter(pl.col("n") > 0)
    turns = not scored["whole"].all()
    group = pl.col(by).fill_null("") if by else pl.lit("")
    return (
        scored.filter(pl.col("whole") != turns)
        .group_by(side=unit, grp=group, sample_id="sample_id")
        .agg(mean=pl.col("total").sum() / pl.col("n").sum(), n=pl.col("n").sum())
        .sort("side", "grp", "sample_id")
    )


def differences(
    view: View, baseline: str, unit: Unit = "model", by: str = "", less_is_better: bool = False
) -> pl.DataFrame:
    """Each side minus the baseline on the samples that both have, group by group.

    Columns: side, grp, n (pairs), unmatched (samples only one side has), difference, low, high (bootstrap over
    samples), p (sign-flip permutation), p_holm (corrected over all rows), wins, ties, losses (samples), verdict:
    better, worse or "cannot tell" at 5 % after correction; `less_is_better` says so of the metric.
    """
    means = sample_means(view, unit, by)
    rows = []
    for (group,), part in means.group_by("grp", maintain_order=True):
        base = part.filter(pl.col("side") == baseline).select("sample_id", base="mean")
        for side in part["side"].unique().sort():
            if side == baseline:
                continue
            own = part.filter(pl.col("side") == side).select("sample_id", "mean")
            pairs = own.join(base, on="sample_id", how="full", coalesce=True)
            both = pairs.drop_nulls()
            found = paired_difference(
                both["mean"].to_numpy(),
                both["base"].to_numpy(),
                seed=_SEED,
                resamples=4_000,
                closed_form_from=_MANY,
            )
            rows.append(
                (side, group, found.n, pairs.height - both.height, found.difference, found.low, found.high, found.p,
                 found.wins, found.ties, found.losses)
            )  # fmt: skip
    counts = dict.fromkeys(("n", "unmatched"), pl.Int64)
    numbers = dict.fromkeys(("difference", "low", "high", "p"), pl.Float64)
    results = dict.fromkeys(("wins", "ties", "losses"), pl.Int64)
    schema = {"side": pl.String, "grp": pl.String, **counts, **numbers, **results}
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))
    corrected = holm(frame["p"].fill_null(float("nan")).to_numpy())
    if less_is_better:
        frame = frame.rename({"wins": "losses", "losses": "wins"})
    good = (pl.col("difference") < 0) if less_is_better else (pl.col("difference") > 0)
    sure = pl.col("p_holm").is_not_null() & (pl.col("p_holm") < 0.05)
    return frame.with_columns(p_holm=pl.Series(corrected, dtype=pl.Float64).fill_nan(None)).with_columns(
        verdict=pl.when(sure & good)
        .then(pl.lit("better"))
        .when(sure)
        .then(pl.lit("worse"))
        .otherwise(pl.lit("cannot tell"))
    )


def sample_pairs(view: View, first: str, second: str, unit: Unit = "model", limit: int = 200) -> pl.DataFrame:
    """Samples that both sides have, the largest difference first.

    Columns: sample_id, a column for each facet of the store, opening, first, second (means), difference, and the
    attempts to open (of the lowest trial): first_run, first_attempt, second_run, second_attempt.
    """
    facets = facet_ids()
    scored = score_sums.of_attempts(view, facets).filter(pl.col("n") > 0, pl.col(unit).is_in([first, second]))
    turns = not scored["whole"].all()
    sides = (
        scored.filter(pl.col("whole") != turns)
        .sort("trial", "run_id")
        .group_by(side=unit, sample_id="sample_id")
        .agg(
            *(pl.col(name).first() for name in facets),
            mean=pl.col("total").sum() / pl.col("n").sum(),
            run=pl.col("run_id").first(),
            attempt=pl.col("attempt_id").first(),
        )
    )
    one, other = (sides.filter(pl.col("side") == side).drop("side") for side in (first, second))
    pairs = (
        one.rename({"mean": "first", "run": "first_run", "attempt": "first_attempt"})
        .join(other.select("sample_id", second="mean", second_run="run", second_attempt="attempt"), on="sample_id")
        .with_columns(difference=pl.col("first") - pl.col("second"))
        .sort(pl.col("difference").abs(), "sample_id", descending=[True, False])
        .head(limit)
    )
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


def counterpart(view: View, run_id: str, attempt_id: str, side: str, unit: Unit = "model") -> tuple[str, str] | None:
    """The attempt of another side on the same sample (lowest trial), as (run, attempt); None where there is none."""
    condition, params = where(view, "attempts", "a.")
    found = ask(
        f"""
        SELECT a.run_id, a.attempt_id FROM attempts a WHERE a.{unit} = $side AND {condition} AND a.sample_id =
            (SELECT sample_id FROM attempts WHERE run_id = $run AND attempt_id = $attempt)
        ORDER BY a.trial, a.run_id LIMIT 1
        """,
        {**params, "side": side, "run": run_id, "attempt": attempt_id},
    )
    return None if found.is_empty() else (found["run_id"][0], found["attempt_id"][0])


def trials(view: View, unit: Unit = "model") -> pl.DataFrame:
    """pass^k where samples were tried more than once: side, k, samples, share.

    A trial passes by its stored verdict; one that could not be scored is no trial. share: mean over samples of the
    chance that k trials drawn without replacement all pass. Every sample counts that was tried at least k times.
    """
    condition, params = where(view)
    tried = ask(
        f"""SELECT {unit} AS side, sample_id, count(*) AS n, count(*) FILTER (verdict = 'passed') AS passed
        FROM attempts WHERE verdict IN ('passed', 'failed') AND {condition} GROUP BY ALL ORDER BY ALL""",
        params,
    )
    rows = []
    for (side,), part in tried.group_by("side", maintain_order=True):
        for k in range(1, int(part["n"].max() or 0) + 1):  # type: ignore[arg-type]  # an integer column
            enough = part.filter(pl.col("n") >= k)
            share = np.mean(pass_hat_k(enough["passed"].to_numpy(), enough["n"].to_numpy(), k))
            rows.append((side, k, enough.height, float(share)))
    schema = {"side": pl.String, "k": pl.Int64, "samples": pl.Int64, "share": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame if (frame["k"] > 1).any() else frame.clear()


# What a trace holds the metric against.
_CONSTANT = {"path_exact": "t.reference_path", "action": "t.reference_action"}


def floors(view: View, by: str = "") -> pl.DataFrame:
    """What a constant answer would score on these turns: grp, value, name; only for metrics where that is known.

    For what traces of a procedure are held against: in each procedure always the reference that is commonest there.
    """
    answer = _CONSTANT.get(view.metric)
    empty = pl.DataFrame(schema={"grp": pl.String, "value": pl.Float64, "name": pl.String})
    if answer is None or (by and by not in facet_ids()):
        return empty
    condition, params = where(view, "traces", "t.")
    group = f"coalesce({facet(by, 't')}, '')" if by else "''"
    found = ask(
        f"""
        WITH told AS (
            SELECT {group} AS grp, {facet(scenarios.FACET, "t")} AS scenario, {answer} AS answer
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


def sides(view: View, unit: Unit = "model") -> pl.DataFrame:
    """Each side with its mean on the view's metric.

    Columns: side, model, simulated, value, low, high, n, attempts, cost_usd, latency_s.
    Cost and time are means of a dialogue, judges left out; cost is null where no price is known.
    """
    condition, params = where(view)
    told = ask(
        f"""SELECT {unit} AS side, any_value(model) AS model, bool_or(simulated) AS simulated, count(*) AS attempts,
            avg(cost_usd) AS cost_usd, avg(latency_s) AS latency_s
        FROM attempts WHERE {condition} GROUP BY 1 ORDER BY 1""",
        params,
    )
    means = score_sums.table(view, (unit,)).select(
        pl.col(unit).alias("side"), "n", pl.col("mean").alias("value"), "low", "high"
    )
    return told.join(means, on="side", how="inner")
