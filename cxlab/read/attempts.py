"""Attempts: facets, rows without text a page at a time, and one whole record."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from cxlab.errors import UnknownName
from cxlab.read import procedures, troubles
from cxlab.read.query import COLUMNS, MADE, ask, facet, facet_ids, where
from cxlab.read.view import View
from cxlab.store import catalogue, frames, layout, load

ROWS_A_PAGE = 50
# The metric of the view decides which end of its scores is the worse one.
_ORDERS = {
    "newest": "a.started DESC",
    "oldest": "a.started",
    "costly": "a.cost_usd DESC NULLS LAST",
    "slow": "a.latency_s DESC",
    "long": "a.turns DESC",
    # The same for everybody, and telling nothing of what came of an attempt.
    "mixed": "md5(a.attempt_id)",
}
ORDERS = ("worst", "best", *_ORDERS)


@dataclass(frozen=True)
class Page:
    """One page of rows, and how many there are in all."""

    frame: pl.DataFrame
    total: int


@dataclass(frozen=True)
class StoredAttempt:
    """One attempt with all that is stored of it.

    `attempt`, `run` and `sample` are dicts with their JSON columns read; the frames are in order: messages by seq,
    the rest by turn.
    """

    attempt: dict[str, Any]
    run: dict[str, Any]
    sample: dict[str, Any]
    messages: pl.DataFrame
    scores: pl.DataFrame
    votes: pl.DataFrame
    judgements: pl.DataFrame
    traces: pl.DataFrame
    failures: pl.DataFrame
    annotations: pl.DataFrame

    def own_scores(self) -> dict[str, float]:
        """The scores of the attempt as a whole by metric; those without a value are left out."""
        whole = self.scores.filter(pl.col("turn").is_null() & pl.col("value").is_not_null())
        return dict(whole.select("metric", "value").iter_rows())


def facets(view: View, names: Sequence[str] | None = None) -> pl.DataFrame:
    """Which values each filter can take under the view: name (as in View.values), value, n attempts.

    The commonest first.

    `names`: of these filters only. What went wrong and where judges split must be looked up turn by turn, so a page
    that does not filter by them should not ask.
    """
    condition, params = where(view)
    columns_of = {**COLUMNS, **MADE, **{name: facet(name, "attempts") for name in facet_ids()}}
    wanted = {name: column for name, column in columns_of.items() if names is None or name in names}
    looked_up = {name: found for name, found in troubles.FACETS.items() if names is None or name in names}
    parts = [
        f"SELECT '{name}' AS name, {name} AS value, count(*) AS n FROM chosen WHERE {name} IS NOT NULL GROUP BY 2"
        for name in wanted
    ]
    parts += [
        f"SELECT '{name}' AS name, value, count(*) AS n FROM {found} SEMI JOIN chosen USING (run_id, attempt_id) "
        "GROUP BY 2"
        for name, found in looked_up.items()
    ]
    if not parts:
        return pl.DataFrame(schema={"name": pl.String, "value": pl.String, "n": pl.Int64})
    picked = [f"{column} AS {name}" for name, column in wanted.items()]
    columns = ", ".join([*(("run_id", "attempt_id") if looked_up else ()), *picked])
    return ask(
        f"WITH chosen AS MATERIALIZED (SELECT {columns} FROM attempts WHERE {condition}) "
        + " UNION ALL ".join(parts)
        + " ORDER BY 1, 3 DESC, 2",
        params,
    )


def benchmarks() -> pl.DataFrame:
    """The benchmarks that have attempts: benchmark, n."""
    return ask("SELECT benchmark, count(*) AS n FROM attempts GROUP BY 1 ORDER BY 2 DESC, 1")


def tasks_tried(view: View) -> set[tuple[str, str]]:
    """(benchmark, task) of all attempts under the view."""
    condition, params = where(view)
    return set(ask(f"SELECT DISTINCT benchmark, task FROM attempts WHERE {condition}", params).iter_rows())


def known_models() -> pl.DataFrame:
    """Every model that was ever run: model, simulated, in the order of their first runs (colours go by it)."""
    return ask(
        "SELECT model, bool_or(simulated) AS simulated FROM runs GROUP BY 1 ORDER BY min(created), min(run_id), 1"
    )


@dataclass(frozen=True)
class FullScore:
    """What an attempt at a task loses points against: the task's main figure and the best value it can have."""

    benchmark: str
    task: str
    metric: str
    best: float


def attempts(
    view: View, limit: int = ROWS_A_PAGE, offset: int = 0, order: str | None = None, less_is_better: bool = False,
    mains: Sequence[FullScore] = (),
) -> Page:  # fmt: skip
    """One page of attempts with the view's metric as `score`; filtered, counted and cut in SQL.

    `order` is one of ORDERS (None: the view's, else newest); `less_is_better` says so of the view's metric. `score` is
    the attempt's own, else the mean over its turns; null when nothing was scored (last in either order). With `mains`
    it is each one's own main figure instead, as the attempts of several benchmarks share no metric.
    """
    condition, params = where(view, "attempts", "a.")
    scored, figures = scored_by(view.metric, mains)
    # What is shown of an attempt is read for the rows of the page alone.
    frame = ask(
        f"""
        WITH chosen AS MATERIALIZED (
            SELECT run_id, attempt_id, started, cost_usd, latency_s, turns FROM attempts a WHERE {condition}
        ), {scored}, page AS MATERIALIZED (
            SELECT a.run_id, a.attempt_id, scored.score, count(*) OVER () AS total
            FROM chosen a LEFT JOIN scored USING (run_id, attempt_id)
            ORDER BY {(ordering := order_by(view, order, less_is_better))} LIMIT $limit OFFSET $offset
        )
        SELECT a.run_id, a.attempt_id, a.sample_id, a.trial, a.benchmark, a.model, a.simulated, a.task,
            {shown_columns()} a.outcome, a.ended_by, a.failure, a.turns, scored.score, a.verdict, a.verdict_reason,
            a.verdict_owner, a.latency_s, a.cost_usd, a.started, left(a.opening, 200) AS opening, scored.total
        FROM attempts a JOIN page scored USING (run_id, attempt_id) ORDER BY {ordering}
        """,
        {**params, **figures, "limit": limit, "offset": offset},
    )
    if frame.height:
        return Page(frame.drop("total"), int(frame["total"][0]))
    total = int(ask(f"SELECT count(*) AS n FROM attempts a WHERE {condition}", params)["n"][0]) if offset else 0
    return Page(frame.drop("total"), total)


def samples_of_rows(rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """The samples of a page of attempts by their ids: dataset_id, inputs and expected as objects."""
    found = ask(
        "SELECT sample_id, dataset_id, inputs, expected FROM samples WHERE sample_id IN (SELECT unnest($ids))",
        {"ids": rows["sample_id"].unique().to_list()},
    )
    return {
        row["sample_id"]: {**row, **{name: read_object(row[name]) for name in ("inputs", "expected")}}
        for row in found.iter_rows(named=True)
    }


def shown_columns() -> str:
    """The facets of the store, a column each, with a comma behind each."""
    return "".join(f"{facet(name)} AS {name}, " for name in facet_ids())


def neighbours(
    view: View, order: str | None = None, less_is_better: bool = False, mains: Sequence[FullScore] = ()
) -> tuple[str, str]:
    """The attempts before and after the open one in the view's order, as `RUN/ATTEMPT`; "" at either end."""
    if view.opened is None:
        return "", ""
    condition, params = where(view, "attempts", "a.")
    scored, figures = scored_by(view.metric, mains)
    found = ask(
        f"""
        WITH chosen AS MATERIALIZED (
            SELECT run_id, attempt_id, started, cost_usd, latency_s, turns FROM attempts a WHERE {condition}
        ), {scored}, listed AS (
            SELECT a.run_id || '/' || a.attempt_id AS key, lag(key) OVER sorted AS before,
                lead(key) OVER sorted AS after
            FROM chosen a LEFT JOIN scored USING (run_id, attempt_id)
            WINDOW sorted AS (ORDER BY {order_by(view, order, less_is_better)})
        )
        SELECT coalesce(before, ''), coalesce(after, '') FROM listed WHERE key = $opened
        """,
        {**params, **figures, "opened": view.attempt},
    )
    return ("", "") if found.is_empty() else found.row(0)


def scored_by(metric: str, mains: Sequence[FullScore] = ()) -> tuple[str, dict[str, Any]]:
    """SQL of `scored`: the score of each attempt of `chosen` by a metric, or by its own task's main figure; and its
    parameters."""
    value = "SELECT run_id, attempt_id, coalesce(avg(value) FILTER (turn IS NULL), avg(value)) AS score"
    source = "FROM scores SEMI JOIN chosen USING (run_id, attempt_id)"
    if not mains:
        return f"scored AS ({value} {source} WHERE metric = $metric GROUP BY 1, 2)", {"metric": metric}
    names = ("benchmark", "task", "metric")
    listed = ", ".join(f"unnest($main_{name}) AS {name}" for name in names)
    return (
        f"mains AS (SELECT {listed}), scored AS ({value} {source} JOIN mains USING ({', '.join(names)}) "
        "WHERE metric IN (SELECT unnest($main_metric)) GROUP BY 1, 2)",
        {f"main_{name}": [getattr(each, name) for each in mains] for name in names},
    )


def order_by(view: View, order: str | None, less_is_better: bool) -> str:
    """SQL that puts attempts `a` with their `scored` in an order (None: the view's, else newest).

    UnknownName for another order.
    """
    chosen = order or view.order or "newest"
    if chosen not in ORDERS:
        raise UnknownName("order", chosen, ORDERS)
    falling = (chosen == "best") != less_is_better
    first = _ORDERS.get(chosen) or f"scored.score {'DESC' if falling else 'ASC'} NULLS LAST"
    return f"{first}, a.run_id, a.attempt_id"


def attempt(run_id: str, attempt_id: str) -> StoredAttempt:
    """The whole record of one attempt; UnknownName when there is none."""
    kept = _read_attempt(str(layout.home()), catalogue.data_version(), run_id, attempt_id)
    row = _read_json(kept["attempts"].row(0, named=True), "output")
    row |= frames.read_entries(row.pop("facets"))
    return StoredAttempt(
        attempt=row,
        run={} if kept["runs"].is_empty() else _read_json(kept["runs"].row(0, named=True), "setup", "prompts"),
        sample={} if kept["samples"].is_empty()
        else _read_json(kept["samples"].row(0, named=True), "inputs", "expected"),
        messages=kept["messages"].sort("seq"),
        scores=kept["scores"],
        votes=kept["votes"].sort("turn", "judge"),
        judgements=kept["judgements"],
        traces=kept["traces"]
        .sort("turn")
        .with_columns(procedure=pl.lit(row.get(procedures.facet_of(row["benchmark"])), pl.String)),
        failures=kept["failures"].sort("seq"),
        annotations=_rows_of("annotations", "created", run_id, attempt_id),
    )  # fmt: skip


# A page that shows an attempt asks for it again at every click on it.
@lru_cache(maxsize=4)
def _read_attempt(home: str, version: str, run_id: str, attempt_id: str) -> dict[str, pl.DataFrame]:
    """What is stored of an attempt, but for annotations, by table."""
    kept = {name: pl.DataFrame() for name in _LOOKED_UP}
    if run_id in catalogue.read().runs:
        kept = load.load_rows(run_id, attempt_id, _LOOKED_UP)
    if kept["attempts"].is_empty():
        raise UnknownName("attempt", f"{run_id}/{attempt_id}", ["those listed on the page Failures"])
    runs = ask("SELECT * FROM runs WHERE run_id = $run", {"run": run_id})
    samples = ask(
        """SELECT * EXCLUDE (facet_list) REPLACE (to_json(facets) AS facets) FROM samples
        WHERE sample_id = $sample LIMIT 1""",
        {"sample": kept["attempts"]["sample_id"][0]},
    )
    # Their files are sorted for means over many attempts, and one attempt is found by Bloom filters.
    scores = _rows_of("scores", "turn NULLS FIRST, metric", run_id, attempt_id)
    judgements = _rows_of("judgements", "turn, field, judge", run_id, attempt_id)
    return {**kept, "runs": runs, "samples": samples, "scores": scores, "judgements": judgements}


def _rows_of(table: str, order: str, run_id: str, attempt_id: str) -> pl.DataFrame:
    return ask(
        f"SELECT * FROM {table} WHERE run_id = $run AND attempt_id = $attempt ORDER BY {order}",
        {"run": run_id, "attempt": attempt_id},
    )


def read_object(value: Any) -> dict[str, Any]:
    """A JSON column of a stored row as an object; {} where it holds none."""
    found = _read_any(value)
    return found if isinstance(found, dict) else {}


def read_objects(value: Any) -> list[dict[str, Any]]:
    """A JSON column of a stored row as a list of objects; what is no object is left out."""
    found = _read_any(value)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list | tuple) else []


def _read_any(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


# What lies together by attempt, so that it is found without a query of the views.
_LOOKED_UP = ("attempts", "messages", "votes", "traces", "failures")


def _read_json(row: dict[str, Any], *columns: str) -> dict[str, Any]:
    return {**row, **{name: json.loads(row[name]) if row[name] else None for name in columns}}
