"""The verdicts that judged metrics are made of, field by field, compared with the world's log."""

from functools import lru_cache

import polars as pl

from cxlab.metrics.classification import matthews_of_table
from cxlab.metrics.prevalence import corrected_prevalence
from cxlab.read.clusters import SHARE, summarise
from cxlab.read.query import ask, selection, version_of, where
from cxlab.read.view import View
from cxlab.records.evaluation import MEASURED
from cxlab.store import layout


def fields(view: View, among: tuple[str, ...]) -> pl.DataFrame:
    """How often each judge's verdict on a field is another than the log's: judge, field, n turns, clusters, mean
    (share that differs), low, high, mcc (Matthews' correlation; None where a side has one label only), yes_no (whether
    the field's options are yes and no)."""
    counts = _counts(str(layout.home()), version_of(view), selection(view), among)
    sums = counts.group_by("judge", "field", "sample_id").agg(
        pl.col("n").sum(), total=pl.col("n").filter(pl.col("log") != pl.col("said")).sum().cast(pl.Float64)
    )
    about = summarise(sums, ("judge", "field"), SHARE)
    parts = counts.group_by("judge", "field").agg(
        yes_no=(pl.col("log").is_in(["yes", "no"]) & pl.col("said").is_in(["yes", "no"])).all()
    )
    mcc = [
        (judge, field, _matthews(part))
        for (judge, field), part in counts.group_by("judge", "field", maintain_order=True)
    ]
    schema = {"judge": pl.String, "field": pl.String, "mcc": pl.Float64}
    known = pl.DataFrame(mcc, schema=schema, orient="row").with_columns(pl.col("mcc").fill_nan(None))
    keys = ["judge", "field"]
    return about.join(known, on=keys, maintain_order="left").join(parts, on=keys, maintain_order="left")


def verdicts(view: View, among: tuple[str, ...], judge: str, field: str) -> pl.DataFrame:
    """What the log has and what a judge said of a field: log, said, n."""
    counts = _counts(str(layout.home()), version_of(view), selection(view), among)
    mine = counts.filter((pl.col("judge") == judge) & (pl.col("field") == field))
    return mine.group_by("log", "said").agg(pl.col("n").sum()).sort("log", "said")


def prevalence(view: View, among: tuple[str, ...], field: str, seed: int = 0) -> pl.DataFrame:
    """How often a yes-or-no field is yes, by each judge, corrected, and by the log: judge, n, clusters (samples),
    observed, tpr, tnr, corrected, low, high, log. See `metrics.prevalence`."""
    counts = _counts(str(layout.home()), version_of(view), selection(view), among).filter(pl.col("field") == field)
    cells = [("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no")]
    rows = []
    for (judge,), part in counts.group_by(["judge"], maintain_order=True):
        table = part.group_by("sample_id").agg(
            pl.col("n").filter((pl.col("log") == log) & (pl.col("said") == said)).sum().alias(f"{log}{said}")
            for log, said in cells
        )
        table = table.sort("sample_id").select(f"{log}{said}" for log, said in cells)
        about = corrected_prevalence(table.to_numpy(), seed=seed)
        total = table.sum().row(0)
        rows.append((judge, *about, (total[0] + total[1]) / max(sum(total), 1)))
    names = ("observed", "tpr", "tnr", "corrected", "low", "high", "log")
    schema = {"judge": pl.String, "n": pl.Int64, "clusters": pl.Int64, **dict.fromkeys(names, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(*names).fill_nan(None)).sort("judge")


# Three looks at the same counts follow on each other.
@lru_cache(maxsize=2)
def _counts(home: str, version: str, view: View, among: tuple[str, ...]) -> pl.DataFrame:
    """Judge, field, sample_id, log, said, n; verdicts outside the options are left out."""
    if not among:
        texts = dict.fromkeys(("judge", "field", "sample_id", "log", "said"), pl.String)
        return pl.DataFrame(schema={**texts, "n": pl.Int64})
    condition, params = where(view.change(runs=among), "judgements", "j.")
    return ask(
        f"""
        WITH log AS (
            SELECT run_id, attempt_id, turn, field, verdict AS log FROM judgements j
            WHERE {condition} AND j.judge = '{MEASURED}'
        )
        SELECT j.judge, j.field, a.sample_id, log.log, j.verdict AS said, count(*) AS n
        FROM judgements j JOIN log USING (run_id, attempt_id, turn, field) JOIN attempts a USING (run_id, attempt_id)
        WHERE {condition} AND j.judge <> '{MEASURED}' AND j.status = 'ok' GROUP BY ALL ORDER BY ALL
        """,
        params,
    )


def _matthews(part: pl.DataFrame) -> float:
    labels = sorted({*part["log"], *part["said"]})
    counts = {(log, said): n for log, said, n in part.group_by("log", "said").agg(pl.col("n").sum()).iter_rows()}
    return matthews_of_table([[counts.get((a, b), 0) for b in labels] for a in labels])
