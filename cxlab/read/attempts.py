"""Attempts: facets, rows without text a page at a time, and one whole record."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from cxlab.errors import UnknownName
from cxlab.read import procedures
from cxlab.read.comparison.score_sums import FullScore, score_attempts
from cxlab.read.kept import troubles
from cxlab.read.kept.chosen import LOOKED_UP, choose, count_values
from cxlab.read.kept.numbers import column_of, facts, look_up
from cxlab.read.query import COLUMNS, MADE, ask, facet, facet_ids
from cxlab.read.view import View
from cxlab.store import catalogue, frames, layout, load

ROWS_A_PAGE = 50
# The metric of the view decides which end of its scores is the worse one.
# Column and whether the largest come first.
_ORDERS = {
    "newest": ("started", True),
    "oldest": ("started", False),
    "costly": ("cost_usd", True),
    "slow": ("latency_s", True),
    "long": ("turns", True),
    # The same for everybody, and telling nothing of what came of an attempt.
    "mixed": ("mixed", False),
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
    known = [*COLUMNS, *MADE, *facet_ids(), *troubles.FACETS]
    wanted = [name for name in known if names is None or name in names]
    chosen = choose(view)
    parts = [count_values(chosen, wanted)]
    made = {name: MADE[name] for name in wanted if name in MADE}
    looked_up = {name: troubles.FACETS[name] for name in wanted if name in {*troubles.FACETS} - {*LOOKED_UP}}
    if made or looked_up:
        # What only a query can tell, of the attempts that were chosen.
        columns = ", ".join(["a.run_id", "a.attempt_id", *(f"{column} AS {name}" for name, column in made.items())])
        counted = [f"SELECT '{name}' AS name, {name} AS value, count(*) AS n FROM chosen WHERE {name} IS NOT NULL "
                   "GROUP BY 2" for name in made]  # fmt: skip
        counted += [f"SELECT '{name}' AS name, value, count(*) AS n FROM {found} "
                    "SEMI JOIN chosen_attempts USING (run_id, attempt_id) GROUP BY 2"
                    for name, found in looked_up.items()]  # fmt: skip
        parts.append(ask(
            f"WITH chosen AS MATERIALIZED (SELECT {columns} FROM attempts a SEMI JOIN chosen_attempts USING "
            f"(run_id, attempt_id)) {' UNION ALL '.join(counted)}",
            beside={"chosen_attempts": chosen.select("run_id", "attempt_id").to_arrow()},
        ))  # fmt: skip
    return pl.concat(parts).sort("name", "n", "value", descending=[False, True, False])


def benchmarks() -> pl.DataFrame:
    """The benchmarks that have attempts: benchmark, n."""
    return ask("SELECT benchmark, count(*) AS n FROM attempts GROUP BY 1 ORDER BY 2 DESC, 1")


def tasks_tried(view: View) -> set[tuple[str, str]]:
    """(benchmark, task) of all attempts under the view."""
    return set(choose(view, "benchmark", "task").unique().iter_rows())


def known_models() -> pl.DataFrame:
    """Every model that was ever run: model, simulated, in the order of their first runs (colours go by it)."""
    return ask(
        "SELECT model, bool_or(simulated) AS simulated FROM runs GROUP BY 1 ORDER BY min(created), min(run_id), 1"
    )


def attempts(
    view: View, limit: int = ROWS_A_PAGE, offset: int = 0, order: str | None = None, less_is_better: bool = False,
    mains: Sequence[FullScore] = (),
) -> Page:  # fmt: skip
    """One page of attempts with the view's metric as `score`.

    `order` is one of ORDERS (None: the view's, else newest); `less_is_better` says so of the view's metric. `score` is
    the attempt's own, else the mean over its turns; null when nothing was scored (last in either order). With `mains`
    it is each one's own main figure instead, as the attempts of several benchmarks share no metric.
    """
    listed = list_attempts(view, order, less_is_better, mains)
    page = listed.slice(offset, limit)
    # What is shown of an attempt and is not kept is read for the rows of the page alone.
    told = ask(
        """SELECT a.run_id, a.attempt_id, a.simulated, a.verdict_reason, a.verdict_owner,
            left(a.opening, 200) AS opening
        FROM attempts a JOIN page_of_attempts USING (run_id, attempt_id)""",
        beside={"page_of_attempts": page.select("run_id", "attempt_id").to_arrow()},
    )
    kept = look_up(facts(), page["nth"]).drop("nth", "run_id", "attempt_id")
    named = {name: pl.col(column_of(name)) for name in facet_ids() if column_of(name) in kept.columns}
    frame = page.hstack(kept).join(told, on=["run_id", "attempt_id"], how="left", maintain_order="left")
    columns: tuple[str | pl.Expr, ...] = (
        *("run_id", "attempt_id", "sample_id", "trial", "benchmark", "model", "simulated", "task"),
        *(column.alias(name) for name, column in named.items()),
        *("outcome", "ended_by", "failure", "turns", "score", "verdict", "verdict_reason", "verdict_owner"),
        *("latency_s", "cost_usd", "started", "opening"),
    )
    return Page(frame.select(columns), listed.height)


def list_attempts(
    view: View, order: str | None, less_is_better: bool = False, mains: Sequence[FullScore] = ()
) -> pl.DataFrame:
    """The attempts of a view in one of ORDERS (None: the view's, else newest): run_id, attempt_id, score, nth.

    UnknownName for another order.
    """
    chosen = order or view.order or "newest"
    if chosen not in ORDERS:
        raise UnknownName("order", chosen, ORDERS)
    by, falling = _ORDERS.get(chosen, ("score", (chosen == "best") != less_is_better))
    found = choose(view, "nth", "run_id", "attempt_id", *([by] if by != "score" else []))
    scored = score_attempts(found["nth"], view, mains).select("nth", "score")
    return (
        found.join(scored, on="nth", how="left", maintain_order="left")
        .sort(by, "run_id", "attempt_id", descending=[falling, False, False],
              nulls_last=True)
        .select("run_id", "attempt_id", "score", "nth")
    )  # fmt: skip


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
    listed = list_attempts(view, order, less_is_better, mains)
    run_id, attempt_id = view.opened
    at = listed.select((pl.col("run_id") == run_id) & (pl.col("attempt_id") == attempt_id)).to_series().arg_max()
    if at is None or listed.row(at)[:2] != view.opened:
        return "", ""
    keys = ["/".join(listed.row(place)[:2]) if 0 <= place < listed.height else "" for place in (at - 1, at + 1)]
    return keys[0], keys[1]


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
