"""How well indexes find what is right: rankings of the tasks that declare a corpus to rank, run by run.

An index is what a run searched with: retrieval method, chunk size, overlap. Figures are worked out from the rankings
that attempts keep (`metrics.retrieval`, on 0 to 100 here), so that every cut-off can be shown; they equal the scores
of the run where it has them. Attempts that a provider cut short are left out and counted as `lost`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.benchmarks import REGISTRY
from cxlab.metrics.complete_sets import largest_complete, shared
from cxlab.metrics.intervals import clustered_interval
from cxlab.metrics.paired import compare_pairs
from cxlab.metrics.retrieval import evaluate_each
from cxlab.read.query import ask, measured, repeated_runs
from cxlab.store import catalogue, layout
from cxlab.views.benchmarks import declared
from cxlab.views.retrieval import relations
from cxlab.views.retrieval.queries_datasets import benchmark_of, search_of, searchable

DEPTH = 20
"""How many results an attempt keeps at least; a right one that comes later counts as not found."""
METRICS = {
    "hit@1": "acc@1", "hit@5": "acc@5", "hit@10": "acc@10", "precision@10": "p@10", "recall@10": "r@10",
    "recall@20": "r@20", "mrr@10": "mrr@10", "ndcg@10": "ndcg@10",
}  # fmt: skip
"""Our metrics and their names in `metrics.retrieval`."""
PUBLIC = "public@10"
"""As the public evaluator counts: what stands behind the first ten chunks, nothing refilled."""
_SEED = 20260101
_MANY = 4_000  # queries from which the closed form is as good as drawing
_SHAPE = """{"ranked": ["VARCHAR"], "chunks": ["VARCHAR"], "query": "VARCHAR", "index": {"retrieval": "VARCHAR",
    "name": "VARCHAR", "unit": "VARCHAR", "chunk": "INTEGER", "overlap": "INTEGER", "embedder": "VARCHAR",
    "chunks": "INTEGER", "documents": "INTEGER"}, "steps": {"search": {"latency_s": "DOUBLE", "build_s": "DOUBLE"}}}"""


@dataclass(frozen=True)
class TaskRankings:
    """One task's rankings of all runs on one dataset. `rows`: one row an attempt; `figures`: metric → a value a row,
    0 to 100, with hit@k and recall@k for every k up to DEPTH."""

    rows: pl.DataFrame
    figures: dict[str, NDArray[np.float64]]
    runs: pl.DataFrame


def past_seconds(dataset_id: str) -> dict[str, float]:
    """What building an index and asking it everything took in earlier runs, at most: method → seconds, both tasks."""
    times: dict[str, float] = {}
    for task, count in searchable().get(dataset_id, {}).items():
        known = load(dataset_id, task)
        found = price(dataset_id, task, known.runs["run_id"].to_list(), "hit@10").drop_nulls("search_s")
        method = pl.col("build_s").fill_null(0.0) + count * pl.col("search_s")
        for name, took in found.group_by("retrieval").agg(method.max()).iter_rows():
            times[name] = times.get(name, 0.0) + took
    return times


def load(dataset_id: str, task: str) -> TaskRankings:
    """The rankings of a task on a dataset; kept in memory until the store changes."""
    return _load(str(layout.home()), catalogue.data_version(), dataset_id, task)


@lru_cache(maxsize=4)
def _load(home: str, version: str, dataset_id: str, task: str) -> TaskRankings:
    search = search_of(dataset_id, task)
    again = repeated_runs()
    skipped = "".join(f" AND a.run_id <> $again_{place}" for place in range(len(again)))
    params = {
        "dataset": dataset_id,
        "task": task,
        "area": search.area,
        **{f"again_{p}": run for p, run in enumerate(again)},
    }
    rows = ask(
        f"""
        WITH kept AS (
            SELECT a.run_id, a.attempt_id, a.sample_id, a.trial, a.outcome,
                {measured("cost_usd", "a")} AS cost_usd, {measured("latency_s", "a")} AS latency_s,
                coalesce(a.facets[$area], '') AS facet, a.verdict_stage AS stage,
                json_transform(a.output, '{_SHAPE}') AS out
            FROM attempts a JOIN runs r USING (run_id) WHERE r.dataset_id = $dataset AND a.task = $task{skipped}
        ), asked AS (
            SELECT sample_id, any_value(json_transform(expected, '{{"{search.relevant}": ["VARCHAR"]}}')) AS gold,
                any_value(json_extract_string(expected, '$.{search.relevant}')) AS one,
                any_value(json_extract_string(inputs, '$.query')) AS query
            FROM samples WHERE dataset_id = $dataset AND task = $task GROUP BY 1
        )
        SELECT run_id, attempt_id, sample_id, trial, outcome, cost_usd, latency_s, facet, stage,
            coalesce(out.ranked, []) AS ranked, coalesce(out.chunks, []) AS chunks, out.index AS about,
            coalesce(asked.query, out.query, '') AS query, asked.query IS NULL AS asked_by_model,
            out.steps.search.latency_s AS search_s, out.steps.search.build_s AS build_s,
            coalesce(gold.{search.relevant}, CASE WHEN one IS NULL THEN [] ELSE [one] END) AS gold
        FROM kept JOIN asked USING (sample_id) ORDER BY run_id, sample_id, trial
        """,
        params,
    )
    runs = _describe(dataset_id, rows, written=rows["asked_by_model"].any())
    whole = rows.filter(pl.col("outcome") != "provider").drop("about", "outcome", "build_s", "asked_by_model")
    rankings, gold = whole["ranked"].to_list(), whole["gold"].to_list()
    each = evaluate_each(rankings, gold, cutoffs=tuple(range(1, DEPTH + 1)))
    figures = {metric: 100 * each[name] for metric, name in METRICS.items()}
    for k in range(1, DEPTH + 1):
        figures[f"hit@{k}"], figures[f"recall@{k}"] = 100 * each[f"acc@{k}"], 100 * each[f"r@{k}"]
    chunks = whole["chunks"].to_list()
    counted = evaluate_each([one[:10] for one in chunks], gold, cutoffs=(10,))["r@10"]
    # A hybrid index ranks no chunks at all, so the public way has nothing to count there; elsewhere none means nothing
    # was found, which counts 0.
    ranks = whole.select(some=(pl.col("chunks").list.len() > 0).any().over("run_id"))["some"].to_numpy()
    figures[PUBLIC] = np.where(ranks, 100 * np.nan_to_num(counted), np.nan)
    found = whole.with_columns(
        pl.Series("rank", [_first(r, g) for r, g in zip(rankings, gold, strict=True)], dtype=pl.Int32),
        top=pl.col("ranked").list.first(),
        words=pl.col("query").str.count_matches(r"\w+"),
    )
    placed = relations.place(found, relations.load(dataset_id, Path(home), search))
    if search.area:
        facet = declared(benchmark_of(dataset_id)).facet(search.area)
        named = pl.col("facet").replace(dict(facet.labels) if facet else {})
        placed = placed.with_columns(area=named, branch=named)
    if search.misses:
        told = pl.col("stage").is_in([stage for stage, _ in search.misses])
        placed = placed.with_columns(first=pl.when(told).then("stage").otherwise("first"))
    codes = placed["sample_id"].rank("dense").cast(pl.Int64)
    return TaskRankings(placed.drop("ranked", "chunks", "facet", "stage").with_columns(code=codes), figures, runs)


def _first(ranked: Sequence[str], gold: Sequence[str]) -> int | None:
    """Rank of the first right document, repeated ids counted once; None: it is not there."""
    return next((rank for rank, one in enumerate(dict.fromkeys(ranked), 1) if one in gold), None)


def _describe(dataset_id: str, rows: pl.DataFrame, written: bool) -> pl.DataFrame:
    """One row a run in the order of creation: its index and its name, what it took, how many attempts were lost.

    `name` is the index's, and `whole` the run's where several have one index. `written`: a model writes the queries, so
    that how and by which is part of the name. Of the runs with one index `shown` is the one with the most queries, the
    latest of those: what found is the same, whoever answers.
    """
    told = rows.group_by("run_id").agg(
        about=pl.col("about").drop_nulls().first(),
        n=pl.len(),
        lost=(pl.col("outcome") == "provider").sum(),
        build_s=pl.col("build_s").max(),
    )
    made = ask(
        """SELECT run_id, model, simulated, created, json_extract_string(setup, '$.options.retrieval') AS retrieval,
            json_extract_string(setup, '$.options.query') AS query,
            json_extract_string(setup, '$.options.unit') AS unit,
            TRY_CAST(json_extract_string(setup, '$.options.chunk') AS INTEGER) AS chunk,
            TRY_CAST(json_extract_string(setup, '$.options.overlap') AS INTEGER) AS overlap
        FROM runs WHERE dataset_id = $dataset ORDER BY created, run_id""",
        {"dataset": dataset_id},
    )
    runs = made.join(told, on="run_id", how="inner", maintain_order="left").to_dicts()
    many = written and len({run["model"] for run in runs}) > 1
    usual = read_defaults(benchmark_of(dataset_id))
    for run in runs:
        run["written"] = written
        about = run.pop("about") or {}
        # What the attempts noted is what was really used; a run of before has only its options and their defaults.
        for name in ("retrieval", "unit", "chunk", "overlap"):
            stated = (about.get(name), run[name], usual.get(name))
            run[name] = next((value for value in stated if value is not None), None)
        run["embedder"], run["pieces"], run["documents"] = (about.get(k) for k in ("embedder", "chunks", "documents"))
        made_of = (run["chunk"], run["overlap"], run["embedder"], run["unit"])
        name = about.get("name") or name_index(run["retrieval"] or "", *made_of)
        name += f", query: {run['query']}" if written and run["query"] not in (None, usual.get("query")) else ""
        name += f", {run['model'].removeprefix('simulated:')}" if many else ""
        run["name"] = run["whole"] = name
    tell_apart(runs)
    best = {run["name"]: run for run in sorted(runs, key=lambda run: run["n"] - run["lost"])}
    for run in runs:
        run["shown"] = best[run["name"]] is run
    texts = dict.fromkeys(("run_id", "model", "name", "whole", "retrieval", "unit", "embedder", "query"), pl.String)
    counts = dict.fromkeys(("n", "lost", "chunk", "overlap", "pieces", "documents"), pl.Int64)
    created = pl.Datetime("us", "UTC")
    flags = dict.fromkeys(("simulated", "written", "shown"), pl.Boolean)
    schema: dict[str, Any] = {**texts, **counts, **flags, "build_s": pl.Float64, "created": created}
    return pl.DataFrame(runs, schema=schema, orient="row")


def tell_apart(runs: list[dict[str, Any]]) -> None:
    """Give runs of one index a `whole` name: by their models where these differ, else by a number."""
    models: dict[str, set[str]] = {}
    for run in runs:
        models.setdefault(run["name"], set()).add(run["model"])
    names: dict[str, int] = {}
    for run in runs:
        several = len(models[run["name"]]) > 1
        name = f"{run['name']}, {run['model'].removeprefix('simulated:')}" if several else run["name"]
        names[name] = names.get(name, 0) + 1
        run["whole"] = f"{name} ({names[name]})" if names[name] > 1 else name


def read_defaults(benchmark: str) -> dict[str, Any]:
    """What a run of the benchmark is set to where nothing is said, by option."""
    options = REGISTRY[benchmark].Options.switches() if benchmark in REGISTRY else ()
    return {switch.name: switch.default for switch in options}


def name_index(
    retrieval: str, chunk: int | None, overlap: int | None, embedder: str | None = None, unit: str | None = None
) -> str:
    """An index for people: "Hybrid with MiniLM 500/50" (chunk size / overlap in characters), "BM25 window"."""
    kind, _, vectors = retrieval.partition(":") if retrieval.startswith(("hybrid", "chroma")) else ("", "", retrieval)
    known = {"bm25": "BM25", "lexical": "Lexical", "minilm": "MiniLM", "hashing": "Hashing"}
    used = vectors or embedder or ""
    used = "minilm" if "minilm" in used.lower() else "hashing" if used.startswith("hashing") else used
    shown = known.get(used, used.rpartition(":")[2])
    method = (f"{kind.capitalize()} with {shown}" if shown else kind.capitalize()) if kind else shown
    sizes = "" if chunk is None else f"{chunk}/{overlap or 0}"
    return " ".join(filter(None, (method, unit, sizes)))


def board(dataset_id: str, task: str, runs: Sequence[str]) -> pl.DataFrame:
    """One row a run and metric: run_id, metric, mean, low, high n queries.

    95 % intervals: Wilson's for hits, else Student's t; clustered by query where one was tried several times.
    """
    known = load(dataset_id, task)
    return _means(known, runs, [*METRICS, PUBLIC]).drop("grp")


def curves(dataset_id: str, task: str, runs: Sequence[str]) -> pl.DataFrame:
    """hit and recall at each cut-off: run_id, kind, k, mean, low, high, n."""
    names = [f"{kind}@{k}" for kind in ("hit", "recall") for k in range(1, DEPTH + 1)]
    found = _means(load(dataset_id, task), runs, names).drop("grp")
    return found.with_columns(
        kind=pl.col("metric").str.split("@").list.first(), k=pl.col("metric").str.split("@").list.last().cast(pl.Int64)
    ).drop("metric")


def areas(dataset_id: str, task: str, runs: Sequence[str], metric: str) -> pl.DataFrame:
    """The metric by area (root of the right document's topic): run_id, area, mean, low, high, n; no topics: empty."""
    known = load(dataset_id, task)
    return _means(known, runs, [metric], by="area").rename({"grp": "area"}).filter(pl.col("area") != "")


class ComparedIndexes(NamedTuple):
    """Which runs are compared on the same queries: the `runs`, how many `queries` (and trials) all of them have, and
    how many of these each of the others has."""

    runs: tuple[str, ...]
    queries: int
    others: dict[str, int]


def compare_runs(dataset_id: str, task: str, runs: Sequence[str], whole: bool) -> ComparedIndexes:
    """The largest complete set of the runs, as of models on Overview; `whole`: all that were picked, if they share
    anything."""
    rows = load(dataset_id, task).rows.filter(pl.col("run_id").is_in(list(runs)))
    having = [run for run in runs if run in set(rows["run_id"])]
    bits = {run: 1 << place for place, run in enumerate(having)}
    masks = rows.group_by("sample_id", "trial").agg(pl.col("run_id").unique())
    keys = [sum(bits[run] for run in each) for each in masks["run_id"]]
    held = dict(Counter(keys))
    every = (1 << len(having)) - 1
    chosen, count = every, shared(held, every)
    if not count or not whole:
        # Runs are in the order in which they were made.
        chosen, count = largest_complete(held, list(range(len(having))))
    inside = tuple(run for run in having if bits[run] & chosen)
    others = {run: shared(held, chosen | bits[run]) for run in having if run not in inside}
    return ComparedIndexes(inside, count, others)


def _share(known: TaskRankings, runs: Sequence[str]) -> pl.Series:
    """Of each row whether all of the runs that have any have its query and trial."""
    mine = pl.col("run_id").is_in(list(runs))
    tried = known.rows.select(
        mine=mine, n=pl.when(mine).then("run_id").drop_nulls().n_unique().over("sample_id", "trial")
    )
    return tried["mine"] & (tried["n"] == known.rows.filter(mine)["run_id"].n_unique())


def _means(known: TaskRankings, runs: Sequence[str], metrics: Sequence[str], by: str | None = None) -> pl.DataFrame:
    groups: dict[tuple[str, str], list[int]] = {}
    columns = known.rows.select("run_id", by).iter_rows() if by else ((run, "") for run in known.rows["run_id"])
    for place, ((run, group), inside) in enumerate(zip(columns, _share(known, runs), strict=True)):
        if inside:
            groups.setdefault((run, group), []).append(place)
    codes = known.rows["code"].to_numpy()
    rows = []
    for (run, group), places in groups.items():
        at = np.asarray(places)
        own = codes[at]
        # As a rule each query was tried once: then there are no clusters to sort out.
        clusters = own if len(np.unique(own)) < len(own) else None
        for metric in metrics:
            values = known.figures[metric][at]
            found = clustered_interval(values, clusters, (0.0, 100.0))
            rows.append((run, group, metric, found.mean, found.low, found.high, found.clusters))
    numbers = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    schema: dict[str, Any] = {"run_id": pl.String, "grp": pl.String, "metric": pl.String, **numbers, "n": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def several_right(dataset_id: str, task: str) -> bool:
    """Whether a query has more than one right answer, so that hit and recall differ."""
    return bool((load(dataset_id, task).rows["gold"].list.len() > 1).any())


def floors(dataset_id: str, task: str) -> pl.DataFrame:
    """What needs no search: name, metric, value. `chance`: a random order of the corpus, exactly; `commonest`: always
    the results that are right most often, which looks at the gold and is still blind to the query."""
    known = load(dataset_id, task)
    first = known.rows.unique("sample_id", maintain_order=True)
    gold, size = first["gold"].to_list(), known.runs["documents"].max()
    rows = []
    if isinstance(size, int) and size > 0:
        chance = relations.expect_by_chance(np.array([len(set(one)) for one in gold if one]), size)
        rows += [("chance", metric, chance[metric]) for metric in METRICS]
    counts = pl.Series([one for ids in gold for one in set(ids)], dtype=pl.String).value_counts()
    usual = counts.sort("count", counts.columns[0], descending=[True, False]).head(DEPTH)[counts.columns[0]].to_list()
    if usual:
        each = evaluate_each([usual] * len(gold), gold, cutoffs=(1, 5, 10, 20))
        rows += [("commonest", metric, 100 * float(np.nanmean(each[name]))) for metric, name in METRICS.items()]
    return pl.DataFrame(rows, schema={"name": pl.String, "metric": pl.String, "value": pl.Float64}, orient="row")


def price(dataset_id: str, task: str, runs: Sequence[str], metric: str) -> pl.DataFrame:
    """Quality against what it takes: run_id, mean, low, high, n, search_s (median of a query's search), slow_s (95 %
    are faster), cost_usd (mean of a query's model calls, null without a price), build_s, pieces."""
    known = load(dataset_id, task)
    took = known.rows.group_by("run_id").agg(
        search_s=pl.col("search_s").median(),
        slow_s=pl.col("search_s").quantile(0.95, "linear"),
        cost_usd=pl.when(pl.col("cost_usd").null_count() == 0).then(pl.col("cost_usd").mean()).otherwise(None),
    )
    found = _means(known, runs, [metric]).drop("grp", "metric")
    about = known.runs.select("run_id", "build_s", "pieces", "chunk", "retrieval")
    return found.join(took, on="run_id", how="left").join(about, on="run_id", how="left")


def differences(dataset_id: str, task: str, runs: Sequence[str], baseline: str, metric: str) -> pl.DataFrame:
    """Each run minus the baseline on the queries that both have.

    Columns: run_id, n, unmatched, difference, low, high, p (sign-flip permutation), p_corrected (like low and high for
    the number of rows), wins, ties, losses, verdict (better, worse, cannot tell at 5 %).
    """
    known = load(dataset_id, task)
    means = known.rows.select("run_id", "sample_id", value=pl.Series(known.figures[metric]).fill_nan(None)).drop_nulls()
    means = means.group_by("run_id", "sample_id").agg(pl.col("value").mean())
    base = means.filter(pl.col("run_id") == baseline).select("sample_id", base="value")
    others = [run for run in runs if run != baseline]
    joined = [
        means.filter(pl.col("run_id") == run).join(base, on="sample_id", how="full", coalesce=True).sort("sample_id")
        for run in others
    ]
    return compare_joined(("run_id",), [(run,) for run in others], joined, _SEED)


def compare_joined(
    names: Sequence[str], keys: Sequence[tuple[str, ...]], joined: Sequence[pl.DataFrame], seed: int
) -> pl.DataFrame:
    """A row a frame of (value, base), one row a query with null where a side lacks it: `names` from `keys`, and what
    `differences` tells."""
    told = compare_pairs(
        [(pairs["value"].to_numpy(), pairs["base"].to_numpy()) for pairs in joined],
        seed=seed, closed_form_from=_MANY, bounds=(-100.0, 100.0),
    )  # fmt: skip
    words = {"above": "better", "below": "worse"}
    rows = [
        (*key, each.found.n, pairs.height - each.found.n, each.found.difference, each.found.low, each.found.high,
         each.found.p, each.p, each.found.wins, each.found.ties, each.found.losses,
         words.get(each.verdict, each.verdict))
        for key, pairs, each in zip(keys, joined, told, strict=True)
    ]  # fmt: skip
    texts = dict.fromkeys(names, pl.String)
    numbers = dict.fromkeys(("difference", "low", "high", "p", "p_corrected"), pl.Float64)
    counts = dict.fromkeys(("wins", "ties", "losses"), pl.Int64)
    schema: dict[str, Any] = {**texts, "n": pl.Int64, "unmatched": pl.Int64, **numbers, **counts}
    return pl.DataFrame(rows, schema=schema | {"verdict": pl.String}, orient="row").fill_nan(None)
