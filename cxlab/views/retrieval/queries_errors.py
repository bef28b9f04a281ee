"""Searches that went wrong, by kind and one by one, and what was answered from what they found."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.errors import UnknownName
from cxlab.metrics.intervals import proportion_interval
from cxlab.read.query import ask
from cxlab.records.benchmark_card import Search
from cxlab.store import layout
from cxlab.views.retrieval import relations
from cxlab.views.retrieval.queries import load
from cxlab.views.retrieval.queries_datasets import search_of
from cxlab.views.retrieval.relations import SHORT

VERDICTS = ("correct", "incorrect", "hallucinated", "refusal")
ROWS = 500
"""At most so many queries are listed; counts are of all."""


def _classed(dataset_id: str, task: str, runs: Sequence[str], k: int) -> pl.DataFrame:
    """The rows of the runs whose first result is not right, with `where` (a key of relations.WHERE) and `short`.

    A query that has no right document at all cannot go wrong and is left out.
    """
    rank = pl.col("rank")
    where = pl.when(pl.col("top").is_null()).then(pl.lit("empty")).when(rank.is_null()).then(pl.lit("missing"))
    rows = load(dataset_id, task).rows.filter(pl.col("run_id").is_in(list(runs)), pl.col("gold").list.len() > 0)
    return rows.filter(rank.is_null() | (rank > 1)).with_columns(
        where=where.when(rank > k).then(pl.lit("beyond")).otherwise(pl.lit("late")), short=pl.col("words") <= SHORT
    )


def counts(dataset_id: str, task: str, runs: Sequence[str], k: int) -> pl.DataFrame:
    """How often each thing went wrong: run_id, where, first, n, short (of them with a short query), queries (all of
    the run that have a right document)."""
    found = (
        _classed(dataset_id, task, runs, k)
        .group_by("run_id", "where", "first")
        .agg(n=pl.len().cast(pl.Int64), short=pl.col("short").sum().cast(pl.Int64))
    )
    whole = load(dataset_id, task).rows.filter(pl.col("gold").list.len() > 0)
    asked = whole.group_by("run_id").agg(queries=pl.len().cast(pl.Int64))
    return found.join(asked, on="run_id", how="left").sort("run_id", "where", "first")


def short_queries(dataset_id: str, task: str, runs: Sequence[str], metric: str) -> pl.DataFrame:
    """The metric on short queries and on the others: run_id, short, mean, n."""
    known = load(dataset_id, task)
    rows = known.rows.select("run_id", short=pl.col("words") <= SHORT, value=pl.Series(known.figures[metric]))
    chosen = rows.filter(pl.col("run_id").is_in(list(runs))).with_columns(pl.col("value").fill_nan(None))
    return (
        chosen.group_by("run_id", "short")
        .agg(mean=pl.col("value").mean(), n=pl.col("value").count())
        .sort("run_id", "short")
    )


def rows(
    dataset_id: str, task: str, run: str, k: int, where: str = "", first: str = "", area: str = "", short: bool = False
) -> pl.DataFrame:
    """The queries of a run that went wrong, worst first, narrowed by kind and area.

    Columns: run_id, attempt_id, sample_id, query, rank (null: not found), where, first, area, right, right_title,
    top, top_title, words.
    """
    frame = _classed(dataset_id, task, [run], k)
    for name, value in (("where", where), ("first", first), ("area", area)):
        if value:
            frame = frame.filter(pl.col(name) == value)
    if short:
        frame = frame.filter("short")
    frame = frame.sort("rank", "sample_id", descending=[True, False], nulls_last=False)
    titles = titles_of(dataset_id, search_of(dataset_id, task))
    right = frame.with_columns(right=pl.col("gold").list.first())
    named = right.with_columns(
        right_title=pl.col("right").replace_strict(titles, default=pl.col("right")),
        top_title=pl.col("top").replace_strict(titles, default=pl.col("top")),
    )
    return named.select(
        "run_id", "attempt_id", "sample_id", "query", "rank", "where", "first", "area", "right", "right_title", "top",
        "top_title", "words",
    )  # fmt: skip


def queries(dataset_id: str, task: str, runs: Sequence[str], words: str = "", limit: int = ROWS) -> pl.DataFrame:
    """The queries with the rank of the right document in each run: sample_id, query, area, and a column a run (null:
    not found); those on which the runs differ most come first. `words`: only queries that hold all of them."""
    known = load(dataset_id, task).rows.filter(pl.col("run_id").is_in(list(runs)))
    for word in words.lower().split():
        known = known.filter(pl.col("query").str.to_lowercase().str.contains(word, literal=True))
    far = pl.col("rank").fill_null(99)
    told = known.group_by("sample_id", maintain_order=True).agg(
        query=pl.col("query").first(), area=pl.col("area").first(), gap=far.max() - far.min()
    )
    top = told.sort("gap", "sample_id", descending=[True, False]).head(limit)
    for run in runs:
        own = known.filter(pl.col("run_id") == run).unique("sample_id", keep="first", maintain_order=True)
        top = top.join(
            own.select("sample_id", pl.col("rank").alias(run)), on="sample_id", how="left", maintain_order="left"
        )
    return top


@dataclass(frozen=True)
class QueryRanking:
    """One query as one run searched it. `ranking`: rank, document_id, title, score, start, end (of the best piece; null
    where an older run kept none), right. `attempt`: its id, to open it."""

    run_id: str
    attempt: str
    query: str
    response: str
    ranking: pl.DataFrame


def one_query(
    dataset_id: str, task: str, sample_id: str, runs: Sequence[str]
) -> tuple[dict[str, Any], list[QueryRanking]]:
    """The sample (query, transcript, corpus, gold, its titles, answer) and how each run ranked for it, first trials."""
    found = ask(
        "SELECT inputs, expected FROM samples WHERE sample_id = $id AND dataset_id = $dataset AND task = $task LIMIT 1",
        {"id": sample_id, "dataset": dataset_id, "task": task},
    )
    if found.is_empty():
        raise UnknownName("query", sample_id, ["those listed on the page Retrieval"])
    inputs, expected = json.loads(found["inputs"][0]), json.loads(found["expected"][0])
    search = search_of(dataset_id, task)
    right = expected.get(search.relevant) or []
    gold = right if isinstance(right, list) else [right]
    titles = titles_of(dataset_id, search)
    sample = {
        "query": inputs.get("query", ""),
        "transcript": inputs.get("transcript", ""),
        "corpus": inputs.get("corpus") or search.corpus,
        "gold": gold,
        "titles": {one: titles.get(one, one) for one in gold},
        "answer": expected.get("answer") or "",
    }
    params = {"id": sample_id, **{f"run_{place}": run for place, run in enumerate(runs)}}
    listed = ", ".join(f"$run_{place}" for place in range(len(runs)))
    rows = ask(
        f"SELECT run_id, attempt_id, output FROM attempts WHERE sample_id = $id AND run_id IN ({listed}) "
        "ORDER BY trial",
        params,
    ) if runs else pl.DataFrame(schema={"run_id": pl.String})  # fmt: skip
    asked = []
    for run in runs:
        own = rows.filter(pl.col("run_id") == run).head(1)
        for row in own.iter_rows(named=True):
            output = json.loads(row["output"])
            ids = list(dict.fromkeys(output.get("ranked") or []))
            spans, scores = output.get("spans") or [], output.get("scores") or []
            ranking = pl.DataFrame(
                {
                    "rank": list(range(1, len(ids) + 1)),
                    "document_id": ids,
                    "title": [titles.get(one, one) for one in ids],
                    "score": [*scores, *[None] * len(ids)][: len(ids)],
                    "start": [*[span[0] for span in spans], *[None] * len(ids)][: len(ids)],
                    "end": [*[span[1] for span in spans], *[None] * len(ids)][: len(ids)],
                    "right": [one in gold for one in ids],
                },
                schema={
                    "rank": pl.Int64, "document_id": pl.String, "title": pl.String, "score": pl.Float64,
                    "start": pl.Int64, "end": pl.Int64, "right": pl.Boolean,
                },
            )  # fmt: skip
            query, said = output.get("query") or sample["query"], output.get("response") or ""
            asked.append(QueryRanking(run, row["attempt_id"], query, said, ranking))
    return sample, asked


def answers(dataset_id: str, task: str, runs: Sequence[str]) -> pl.DataFrame:
    """What the judges made of the answers: run_id, kind (a verdict, or `split`, `unread`, `silent`, `unjudged`), n,
    share (0 to 1), low, high (Wilson), of all attempts that were to answer.

    Judge errors stay apart: `unread` no judge's reply could be read, `split` they share no majority, `silent` there was
    no answer to judge, `unjudged` no judge was asked.
    """
    prefix = search_of(dataset_id, task).answers
    names = {f"name_{place}": f"{prefix}_{verdict}" for place, verdict in enumerate(VERDICTS)}
    listed = ", ".join(f"${name}" for name in names)
    found = ask(
        f"""
        SELECT s.run_id, s.attempt_id, arg_max(s.metric, s.value) FILTER (s.value > 0) AS verdict,
            bool_and(s.value IS NULL) AS open, any_value(s.reason) AS reason
        FROM scores s JOIN runs r USING (run_id)
        WHERE r.dataset_id = $dataset AND s.task = $task AND s.metric IN ({listed}) GROUP BY 1, 2
        """,
        {"dataset": dataset_id, "task": task, **names},
    ).filter(pl.col("run_id").is_in(list(runs)))
    reasons = {
        "the judges are split": "split",
        "no judge's reply could be read": "unread",
        "there is no response": "silent",
        "no judges": "unjudged",
    }
    kind = pl.col("reason").replace_strict(reasons, default="unread", return_dtype=pl.String)
    told = found.with_columns(
        kind=pl.when(pl.col("open")).then(kind).otherwise(pl.col("verdict").str.strip_prefix(f"{prefix}_"))
    )
    sums = told.group_by("run_id", "kind").agg(n=pl.len().cast(pl.Int64)).sort("run_id", "kind")
    totals = sums.group_by("run_id").agg(total=pl.col("n").sum())
    joined = sums.join(totals, on="run_id").drop_nulls("kind")
    spans = [proportion_interval(n, total) for n, total in joined.select("n", "total").iter_rows()]
    numbers = {name: [getattr(each, field) for each in spans] for name, field in _SPAN.items()}
    return joined.with_columns(pl.Series(name, values, dtype=pl.Float64) for name, values in numbers.items())


_SPAN = {"share": "mean", "low": "low", "high": "high"}


def judge_errors(dataset_id: str, task: str, runs: Sequence[str]) -> pl.DataFrame:
    """Share of single judges' replies that could not be read: run_id, share (0 to 1), n answers."""
    found = ask(
        """SELECT s.run_id, avg(s.value) / 100 AS share, count(s.value) AS n FROM scores s JOIN runs r USING (run_id)
        WHERE r.dataset_id = $dataset AND s.task = $task AND s.metric = 'judge_error' GROUP BY 1 ORDER BY 1""",
        {"dataset": dataset_id, "task": task},
    )
    return found.filter(pl.col("run_id").is_in(list(runs)))


def titles_of(dataset_id: str, search: Search) -> dict[str, str]:
    """Id → title of what a search of a dataset ranks; the id itself where there is no title."""
    documents = relations.load(dataset_id, Path(layout.home()), search)
    return {row[0]: row[1] or row[0] for row in documents.select("document_id", "title").iter_rows()}
