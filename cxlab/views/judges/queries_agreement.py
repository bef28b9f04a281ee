"""Judges: how far they agree, beyond chance, on what, and in which slices.

Verdicts are pivoted in SQL to distinct patterns (one column a judge) with their number, so that a million verdicts
become some hundred rows; what is computed from them is exact. A field belongs to its procedure: the same name in two
procedures is two fields. Only verdicts inside the options (`ok`) count as a judge's word.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.metrics import agreement
from cxlab.metrics.intervals import pooled_interval
from cxlab.read.clusters import SHARE
from cxlab.read.coded import code, spell
from cxlab.read.procedures import select_procedure
from cxlab.read.query import ask, cut, facet, version_of, where, widen
from cxlab.read.view import View
from cxlab.records.evaluation import MEASURED
from cxlab.store import catalogue, layout

_BOOTSTRAP = 500


def facet_columns(facets: Sequence[str], table: str) -> str:
    """SQL of facets as columns of their names, each with a comma before it.

    Filters by them and by model change from look to look: they are applied to what was read, so that a change of them
    reads nothing anew.
    """
    return "".join(f', {facet(name, table)} AS "{name}"' for name in facets)


class Panel(NamedTuple):
    """Judges that were asked of the same attempts, the runs in which they were, and of how many attempts."""

    judges: tuple[str, ...]
    runs: tuple[str, ...]
    attempts: int


class Pair(NamedTuple):
    """Two judges on one field: clustered 95 % intervals; kappa's from a seeded bootstrap over clusters."""

    labels: tuple[str, ...]
    table: NDArray[np.float64]
    n: int
    share: float
    share_low: float
    share_high: float
    kappa: float
    kappa_low: float
    kappa_high: float


def panels(view: View) -> list[Panel]:
    """The panels of the view's runs, that of most attempts first: judges of different panels share no turn."""
    return _read_panels(str(layout.home()), catalogue.data_version(), View(benchmark=view.benchmark, runs=view.runs))


@lru_cache(maxsize=8)
def _read_panels(home: str, version: str, wanted: View) -> list[Panel]:
    condition, params = where(wanted, "votes", "v.")
    found = ask(
        f"""SELECT judges, list(run_id ORDER BY run_id) AS runs, sum(attempts)::BIGINT AS attempts FROM (
            SELECT run_id, list(DISTINCT judge ORDER BY judge) AS judges, count(DISTINCT attempt_id) AS attempts
            FROM votes v WHERE {condition} AND judge <> '{MEASURED}' GROUP BY run_id)
        GROUP BY judges ORDER BY attempts DESC, judges""",
        params,
    )
    return [Panel(tuple(judges), tuple(runs), n) for judges, runs, n in found.iter_rows()]


def panel(view: View, facets: Sequence[str] = ()) -> pl.DataFrame:
    """The judges under the view: judge, turns, valid, failed (votes), oov, missing (verdicts), cost_usd, latency_s."""
    kept = ("models", *facets)
    home, version = str(layout.home()), version_of(view)
    votes, verdicts = _read_panel(home, version, widen(view, kept), tuple(facets))
    told = (
        cut(votes, view, kept)
        .group_by("judge")
        .agg(
            pl.col("turns", "valid", "failed").sum(),
            cost_usd=pl.col("cost_usd").sum() / pl.col("priced").sum(),
            latency_s=pl.col("latency_s").sum() / pl.col("timed").sum(),
        )
        .with_columns(pl.col("cost_usd", "latency_s").fill_nan(None))
    )
    said = cut(verdicts, view, kept).group_by("judge").agg(pl.col("verdicts", "oov", "missing").sum())
    # The log's own record stands among the judges so that they can be compared with it; it is none.
    return told.join(said, on="judge", how="left").filter(pl.col("judge") != MEASURED).sort("judge")


@lru_cache(maxsize=4)
def _read_panel(home: str, version: str, wanted: View, facets: tuple[str, ...]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Votes and verdicts of each judge, summed by model and facets."""
    condition, params = where(wanted, "votes", "v.")
    votes = ask(
        f"""SELECT judge, model {facet_columns(facets, "attempts")},
            count(*) AS turns, count(*) FILTER (valid) AS valid,
            count(*) FILTER (NOT valid) AS failed, sum(v.cost_usd) AS cost_usd, count(v.cost_usd) AS priced,
            sum(v.latency_s) AS latency_s, count(v.latency_s) AS timed
        FROM votes v JOIN attempts USING (run_id, attempt_id) WHERE {condition} GROUP BY ALL""",
        params,
    )
    condition, params = where(wanted, "judgements", "j.")
    verdicts = ask(
        f"""SELECT judge, model {facet_columns(facets, "j")},
            count(*) AS verdicts, count(*) FILTER (status = 'oov') AS oov,
            count(*) FILTER (status = 'missing') AS missing
        FROM facetted('judgements') j WHERE {condition} GROUP BY ALL""",
        params,
    )
    return votes, verdicts


def patterns(view: View, judges: Sequence[str], by: str | None = None, facets: Sequence[str] = ()) -> pl.DataFrame:
    """Distinct patterns of verdicts: kind, name, slice, v0, v1, ... (one a judge, null = no word), n turns. `by` is
    turn, model or one of the facets.

    `name` is `PROCEDURE.FIELD` for a field and the dimension's own name for a grade.
    """
    pieces = {"turn": pl.col("turn").cast(pl.String).str.zfill(3), None: pl.lit(""), "field": pl.lit("")}
    voices = [f"v{place}" for place in range(len(judges))]
    kept = ("models", *facets)
    home, version = str(layout.home()), version_of(view)
    found = _read_patterns(home, version, widen(view, kept), tuple(judges), tuple(facets))
    summed = (
        cut(found, view, kept)
        .group_by("kind", "name", pieces.get(by, pl.col(by or "")).alias("slice"), *voices)
        .agg(pl.col("n").sum())
    )
    return spell(summed).sort("kind", "name", "slice", *voices, nulls_last=True)


# Slices, kinds and single fields of a page are all cut from one reading.
@lru_cache(maxsize=4)
def _read_patterns(
    home: str, version: str, wanted: View, judges: tuple[str, ...], facets: tuple[str, ...]
) -> pl.DataFrame:
    condition, params = where(wanted, "judgements", "j.")
    columns = ", ".join(
        f"max(CASE WHEN judge = $judge_{place} AND status = 'ok' THEN verdict END) AS v{place}"
        for place in range(len(judges))
    )
    names = {f"judge_{place}": judge for place, judge in enumerate(judges)}
    found = ask(
        f"""
        WITH items AS (
            SELECT kind, field, model, turn, run_id, attempt_id, {columns} FROM judgements j
            WHERE {condition} AND judge <> '{MEASURED}' GROUP BY kind, field, model, turn, run_id, attempt_id
        )
        SELECT kind, CASE WHEN kind = 'field' THEN concat({select_procedure("a.facet_list")} || '.', field)
                ELSE field END AS name, items.model {facet_columns(facets, "a")},
            turn, COLUMNS('^v[0-9]+$'), count(*) AS n
        FROM items JOIN attempts a USING (run_id, attempt_id) GROUP BY ALL
        """,
        {**params, **names},
    )
    return code(found)


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
                    {
                        "kind": kind,
                        "name": name,
                        "a": judges[a],
                        "b": judges[b],
                        "n": n,
                        "agree": float(table.trace()) / n,
                        "kappa": _known(kappa),
                    }
                )
    return pl.DataFrame(rows, schema=_PAIRS)


_PAIRS: dict[str, Any] = {
    "kind": pl.String,
    "name": pl.String,
    "a": pl.String,
    "b": pl.String,
    "n": pl.Int64,
    "agree": pl.Float64,
    "kappa": pl.Float64,
}


def lowest(frame: pl.DataFrame, measure: str) -> dict[str, Any]:
    """The row of `pairs` (or of its summary) whose measure is the lowest; one without a value only where all are."""
    names = [name for name in ("name", "a", "b") if name in frame.columns]
    return frame.sort(measure, *names, nulls_last=True).row(0, named=True)


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
        if not len(labels):
            continue  # every vote on it was outside the options
        counts = np.stack([(codes == code).sum(axis=1) for code in range(len(labels))], axis=1)
        raters = counts.sum(axis=1)
        counts, times, raters = counts[raters >= 2], times[raters >= 2], raters[raters >= 2]
        n = int(times.sum())
        if not n:
            continue
        agreeing = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
        full = raters == judges
        level: agreement.Level = "ordinal" if kind == "dimension" else "nominal"
        rows.append(
            {
                "kind": kind,
                key: slice_ if of_slices else name,
                "n": n,
                "agree": float((agreeing * times).sum() / n),
                "unanimous": float(times[counts.max(axis=1) == raters].sum() / n),
                "fleiss": _known(agreement.fleiss_kappa(counts[full], times[full])),
                "alpha": _known(agreement.alpha_of_counts(counts, level, labels, times)),
            }
        )
    schema = {"kind": pl.String, key: pl.String, "n": pl.Int64}
    frame = pl.DataFrame(
        rows, schema={**schema, **dict.fromkeys(("agree", "unanimous", "fleiss", "alpha"), pl.Float64)}
    )
    weighted = {
        name: ((pl.col(name) * pl.col("n")).sum() / pl.col("n").filter(pl.col(name).is_not_null()).sum()).fill_nan(None)
        for name in ("agree", "unanimous", "fleiss", "alpha")
    }
    return frame.group_by("kind", key, maintain_order=True).agg(pl.col("n").sum(), **weighted).sort("kind", key)


def splits(found: pl.DataFrame, judges: int) -> pl.DataFrame:
    """How verdicts fell on each field: name, split (unanimous, majority, tie, one verdict, no verdict), n, share."""
    rows: list[tuple[str, str, str, int]] = []
    for (kind, name), part in found.group_by("kind", "name", maintain_order=True):
        labels, codes, times = _encode(part, judges, str(kind))
        counts = np.sort(np.stack([(codes == code).sum(axis=1) for code in range(max(len(labels), 2))], axis=1), axis=1)
        if counts.shape[1] < 2:
            counts = np.pad(counts, ((0, 0), (1, 0)))
        top, second, total = counts[:, -1], counts[:, -2], counts.sum(axis=1)
        words = np.select(
            [total == 0, total == 1, top == total, top == second],
            ["no verdict", "one verdict", "unanimous", "tie"],
            "majority",
        )
        rows += [(str(kind), str(name), str(word), int(times[words == word].sum())) for word in np.unique(words)]
    frame = pl.DataFrame(
        rows, schema={"kind": pl.String, "name": pl.String, "split": pl.String, "n": pl.Int64}, orient="row"
    )
    return frame.with_columns(share=pl.col("n") / pl.col("n").sum().over("kind", "name"))


def pair(view: View, name: str, a: str, b: str, facets: Sequence[str] = (), seed: int = 0) -> Pair | None:
    """Two judges on one field in full; None when they share no turn."""
    kept = ("models", *facets)
    home, version = str(layout.home()), version_of(view)
    procedure, _, field = name.rpartition(".")
    judges, said = _read_field(home, version, widen(view, kept), field, tuple(facets))
    if not {a, b} <= set(judges):
        return None
    sides = {side: pl.col(f"v{judges.index(judge)}") for side, judge in (("va", a), ("vb", b))}
    of_procedure = pl.col("procedure") == procedure if procedure else pl.lit(True)
    found = cut(said.filter(of_procedure), view, kept).with_columns(**sides).drop_nulls(["va", "vb"])
    frame = spell(found.group_by("cluster", "va", "vb").agg(pl.col("n").sum())).sort("cluster", "va", "vb")
    if frame.is_empty():
        return None
    labels = tuple(sorted({*frame["va"].unique(), *frame["vb"].unique()}))
    size = len(labels)
    place = {label: code for code, label in enumerate(labels)}
    cluster = frame["cluster"].rank("dense").to_numpy().astype(np.int64) - 1
    one, other = (frame[side].replace_strict(place, return_dtype=pl.Int64).to_numpy() for side in ("va", "vb"))
    cells = (cluster * size + one) * size + other
    count = int(cluster.max()) + 1
    tables = np.bincount(cells, weights=frame["n"].to_numpy(), minlength=count * size * size)
    tables = tables.reshape(count, size, size)
    weights: agreement.Weights | None = "quadratic" if found["kind"][0] == "dimension" else None
    table = tables.sum(axis=0)
    agreeing, totals = np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))
    share = agreeing.sum() / totals.sum()
    about = pooled_interval(agreeing, totals, SHARE)
    rng = np.random.default_rng(seed)
    # Clusters with the same counts are drawn together: the same distribution from some dozen numbers a draw.
    flat = pl.DataFrame(tables.reshape(len(tables), -1))
    counted = flat.group_by(flat.columns).agg(often=pl.len()).sort(flat.columns)
    kinds, often = counted.drop("often").to_numpy(), counted["often"].to_numpy()
    drawn = rng.multinomial(len(tables), often / len(tables), size=_BOOTSTRAP)
    kappas = agreement.kappas_of_tables((drawn.astype(np.float64) @ kinds).reshape(_BOOTSTRAP, size, size), weights)
    low, high = np.nanpercentile(kappas, [2.5, 97.5]) if not np.isnan(kappas).all() else (math.nan, math.nan)
    kappa = agreement.kappa_of_table(table, weights)
    return Pair(
        labels,
        table,
        int(table.sum()),
        float(share),
        about.low,
        about.high,
        kappa,
        float(low),
        float(high),
    )


# All pairs of judges, and the procedures that have the field, are cut from one reading.
@lru_cache(maxsize=4)
def _read_field(
    home: str, version: str, wanted: View, field: str, facets: tuple[str, ...]
) -> tuple[tuple[str, ...], pl.DataFrame]:
    """The judges who said something of a field, and what they said, counted by model, facets and sample: kind,
    procedure, model, cluster, v0, v1, ... (one a judge, null = no word), n."""
    condition, params = where(wanted, "judgements", "j.")
    params["field"] = field
    condition += " AND field = $field AND status = 'ok'"
    judges = tuple(ask(f"SELECT DISTINCT judge FROM judgements j WHERE {condition} ORDER BY 1", params)["judge"])
    voices = "".join(f", max(verdict) FILTER (judge = $judge_{place}) AS v{place}" for place in range(len(judges)))
    found = ask(
        f"""
        WITH items AS (
            SELECT run_id, attempt_id, turn, any_value(kind) AS kind {voices}
            FROM judgements j WHERE {condition} GROUP BY run_id, attempt_id, turn
        )
        SELECT kind, {select_procedure("a.facet_list")} AS procedure, a.model, a.sample_id
            {"".join(f", v{place}" for place in range(len(judges)))}, count(*) AS n {facet_columns(facets, "a")}
        FROM items JOIN attempts a USING (run_id, attempt_id) GROUP BY ALL
        """,
        {**params, **{f"judge_{place}": judge for place, judge in enumerate(judges)}},
    )
    return judges, code(found)


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


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
