"""A View's filters as parameterised SQL."""

from collections.abc import Sequence
from functools import lru_cache

import polars as pl

from cxlab.errors import UnknownName
from cxlab.read.asking import AttemptSet as AttemptSet
from cxlab.read.asking import Params as Params
from cxlab.read.asking import among_rows as among_rows
from cxlab.read.asking import ask as ask
from cxlab.read.asking import followed as followed
from cxlab.read.asking import kept_rows as kept_rows
from cxlab.read.asking import say_annotations_read as say_annotations_read
from cxlab.read.failure_kinds import OWNER, REASON_STEM
from cxlab.read.kept import troubles
from cxlab.read.view import View
from cxlab.read.word_search.attempts import find_attempts
from cxlab.store import catalogue, layout, write

# Which column of `attempts` a filter of the View narrows.
COLUMNS = {
    "runs": "run_id",
    "models": "model",
    "tasks": "task",
    "outcomes": "outcome",
    "failures": "failure",
    "ends": "ended_by",
}
# As a comparison counts (comparison/sets.py, attempts_of): of each side, sample and trial the newest attempt, where all
# sides have one. These are the sides of the runs `f_sides`.
_SHARED = {
    side: f"""SELECT (run_id, attempt_id) FROM (
            SELECT run_id, attempt_id, count(*) OVER (PARTITION BY sample_id, trial) AS sides FROM (
                SELECT a.run_id, a.attempt_id, a.sample_id, a.trial FROM attempts a JOIN runs r USING (run_id)
                WHERE a.run_id IN (SELECT unnest($f_sides))
                QUALIFY row_number() OVER (PARTITION BY a.{side}, a.sample_id, a.trial
                    ORDER BY r.created DESC, a.run_id DESC, a.attempt_id DESC) = 1))
        WHERE sides = (SELECT count(DISTINCT {side}) FROM attempts WHERE run_id IN (SELECT unnest($f_sides)))"""
    for side in ("model", "run_id")
}
_NOT_PASSED = "CASE WHEN coalesce(verdict, '') <> 'passed' THEN {} END"
MADE = {"owners": _NOT_PASSED.format(OWNER), "reasons": _NOT_PASSED.format(REASON_STEM)}
"""Filters of the View that columns of `attempts` make up: the SQL of their value."""
# What other tables hold of these themselves; the rest is looked up in `attempts`.
_OWN = {
    "attempts": {"benchmark", *COLUMNS.values()},
    "scores": {"benchmark", "run_id", "model", "task"},
    "judgements": {"benchmark", "run_id", "model"},
    "votes": {"run_id"},
    "traces": {"run_id", "model"},
    "failures": {"run_id", "model"},
    "messages": {"run_id"},
}


def where(view: View, table: str = "attempts", prefix: str = "") -> tuple[str, Params]:
    """The condition that a View puts on a table, and its parameters; "true" when it puts none.

    `table` is one of the store's views, `prefix` the alias it has in the query ("s."). Left out unless they are asked
    for are runs whose attempts stand in another one, too, which would count them twice (`repeated_runs`), and runs of
    conversations that nobody has labelled, of which nobody can say what passed.
    """
    own = _OWN[table]
    here: list[str] = []
    there: list[str] = []
    params: Params = {}
    wanted: list[tuple[str, tuple[str, ...]]] = [(COLUMNS[name], getattr(view, name)) for name in COLUMNS]
    if view.benchmark:
        wanted.append(("benchmark", (view.benchmark,)))
    for column, values in wanted:
        if column == "benchmark" and column not in own and values:
            # A run is of one benchmark, so this needs no look at its attempts.
            others = _runs_of_others(str(layout.home()), catalogue.data_version(), view.benchmark)
            if others:
                params["f_others"] = list(others)
                here.append(f"{prefix}run_id NOT IN (SELECT unnest($f_others))")
        elif values:
            names = [f"f_{column}_{place}" for place in range(len(values))]
            params.update(zip(names, values, strict=True))
            listed = ", ".join(f"${name}" for name in names)
            if column in own:
                here.append(f"{prefix}{column} IN ({listed})")
            else:
                there.append(f"{column} IN ({listed})")
    for name, made in MADE.items():
        if values := view.values(name):
            params[f"f_{name}"] = list(values)
            (here if table == "attempts" else there).append(f"{made} IN (SELECT unnest($f_{name}))")
    if view.without:
        params["f_without"] = list(view.without)
        (here if "model" in own else there).append(
            f"{prefix if 'model' in own else ''}model NOT IN (SELECT unnest($f_without))"
        )
    if view.without_samples:
        params["f_without_samples"] = list(view.without_samples)
        own_samples = table in ("attempts", "scores")
        (here if own_samples else there).append(
            f"{prefix if own_samples else ''}sample_id NOT IN (SELECT unnest($f_without_samples))"
        )
    for place, (facet, values) in enumerate(view.facets):
        params[f"f_facet_{place}"], params[f"f_values_{place}"] = facet, list(values)
        condition = f"facet_of({{}}facet_list, $f_facet_{place}) IN (SELECT unnest($f_values_{place}))"
        if table == "attempts":
            here.append(condition.format(prefix))
        else:
            there.append(condition.format(""))
    if there:
        here.append(
            f"({prefix}run_id, {prefix}attempt_id) IN (SELECT (run_id, attempt_id) FROM attempts "
            f"WHERE {' AND '.join(there)})"
        )
    for part, found in troubles.conditions(view, prefix, own_verdict=table == "attempts"):
        here.append(part)
        params.update(found)
    if view.shared in _SHARED and view.runs:
        params["f_sides"] = list(view.runs)
        here.append(f"({prefix}run_id, {prefix}attempt_id) IN ({_SHARED[view.shared]})")
    if view.among:
        here.append(f"({prefix}run_id, {prefix}attempt_id) IN (SELECT (run_id, attempt_id) FROM {view.among})")
    if view.search:
        held = find_attempts(view.search, view.speaker).attempts.keep()
        condition = f"({prefix}run_id, {prefix}attempt_id) IN (SELECT (run_id, attempt_id) FROM {held})"
        if not view.speaker:
            # An attempt is found by its id, too, which nobody says.
            params["f_search"] = view.search
            condition = f"(contains(lower({prefix}attempt_id), lower($f_search)) OR {condition})"
        here.append(condition)
    if not view.runs and (again := left_out_runs()):
        names = [f"f_again_{place}" for place in range(len(again))]
        params.update(zip(names, again, strict=True))
        here.append(f"{prefix}run_id NOT IN ({', '.join(f'${name}' for name in names)})")
    return " AND ".join(here) or "true", params


def left_out_runs() -> tuple[str, ...]:
    """The runs that `where` leaves out unless runs are asked for by name."""
    return (*repeated_runs(), *unlabelled_runs())


def selection(view: View) -> View:
    """The view with what `where` looks at and the metric, and nothing else: what a read is remembered by."""
    others = ("facets", "benchmark", *troubles.FACETS, "alike", "decides", "verdict", "search", "metric", "without")
    others = (*others, "without_samples", "among", "shared", "speaker")
    names = (*COLUMNS, *MADE, *others)
    return View(**{name: getattr(view, name) for name in names})


def version_of(view: View) -> str:
    """The store's version for what is read under this view: a note or a tag is part of it only where the view is
    narrowed by them, or by words, which are looked for in notes, too; so that writing one leaves all else that was read
    as it is."""
    if not (view.tags or view.written or view.search):
        return catalogue.data_version()
    say_annotations_read()  # what is remembered by this version asks no more
    return catalogue.version()


def widen(view: View, names: Sequence[str]) -> View:
    """The selection without these filters (of COLUMNS), for a read that serves all their values; see `cut`."""
    kept = selection(view)
    # Constant agents are left out by default and come back where a model is chosen: no reason to read anew.
    kept = kept.change(without=()) if "models" in names else kept
    return kept.narrow(**dict.fromkeys(names, ()))


def cut(frame: pl.DataFrame, view: View, names: Sequence[str]) -> pl.DataFrame:
    """The rows that the view's filters of these names leave of what was read for the widened view.

    The frame has a facet as a column of the facet's name.
    """
    kept = [pl.col(COLUMNS.get(name, name)).is_in(values) for name in names if (values := view.values(name))]
    if view.without and "models" in names:
        kept.append(~pl.col("model").is_in(view.without))
    return frame.filter(*kept) if kept else frame


def facet(name: str, table: str = "a") -> str:
    """The SQL of a facet of a table with the column `facet_list`: attempts, samples, what `facetted` gives."""
    if not name.isidentifier():
        raise UnknownName("facet", name, ())
    return f"facet_of({table}.facet_list, '{name}')"


def measured(column: str, table: str = "") -> str:
    """The SQL of what an attempt took, its `cost_usd`, tokens or `latency_s`; null where replies came from the cache,
    of which nobody knows what making them took. What a run took over of another one it keeps."""
    at = table and f"{table}."
    cached = f"{at}cached_calls > 0 AND ({at}calls > 0 OR coalesce({at}prompt_tokens, 0) = 0)"
    return f"CASE WHEN NOT coalesce({cached}, false) THEN {at}{column} END"


def facet_ids() -> tuple[str, ...]:
    """The facets that attempts of the store have, by name."""
    return _facet_ids(str(layout.home()), catalogue.data_version())


@lru_cache(maxsize=8)
def _facet_ids(home: str, version: str) -> tuple[str, ...]:
    found = ask('SELECT DISTINCT each."key" AS facet FROM (SELECT unnest(facet_list) AS each FROM attempts) ORDER BY 1')
    return tuple(found["facet"])


def rescored_runs() -> tuple[str, ...]:
    """Ids of the runs that score another run's attempts with other judges."""
    return _rescored(str(layout.home()), catalogue.data_version())


@lru_cache(maxsize=8)
def _rescored(home: str, version: str) -> tuple[str, ...]:
    frame = ask("SELECT run_id FROM runs WHERE json_extract_string(setup, '$.rescored_from') IS NOT NULL ORDER BY 1")
    return tuple(frame["run_id"])


def repeated_runs() -> tuple[str, ...]:
    """Ids of the runs whose attempts stand in another run as well: those that only score again, and those of which a
    later run tried the faults again and has all the rest."""
    return (*rescored_runs(), *replaced_runs())


def replaced_runs() -> tuple[str, ...]:
    """Ids of the runs of which a later one tried the faults again (`run --resume RUN --faults`) and has all the
    rest."""
    return _replaced(str(layout.home()), catalogue.data_version())


@lru_cache(maxsize=8)
def _replaced(home: str, version: str) -> tuple[str, ...]:
    tried = "SELECT run_id, json_extract_string(setup, '$.retried_from') AS source FROM runs WHERE source IS NOT NULL"
    if ask(tried).is_empty():
        return ()
    frame = ask(
        f"""WITH held AS (SELECT run_id, count(*) AS n FROM attempts GROUP BY 1)
        SELECT DISTINCT source FROM ({tried}) JOIN held USING (run_id) JOIN held first ON first.run_id = source
        WHERE held.n >= first.n ORDER BY 1"""
    )
    return tuple(frame["source"])


def unlabelled_runs() -> tuple[str, ...]:
    """Ids of the runs on conversations that nobody has labelled (`unlabelled` of their dataset)."""
    return _unlabelled(str(layout.home()), catalogue.data_version())


@lru_cache(maxsize=8)
def _unlabelled(home: str, version: str) -> tuple[str, ...]:
    without = [each.id for each in write.list_datasets() if each.unlabelled]
    if not without:
        return ()
    wanted = {"datasets": without}
    frame = ask("SELECT run_id FROM runs WHERE dataset_id IN (SELECT unnest($datasets)) ORDER BY 1", wanted)
    return tuple(frame["run_id"])


@lru_cache(maxsize=8)
def _runs_of_others(home: str, version: str, benchmark: str) -> tuple[str, ...]:
    """Ids of the runs of all other benchmarks: none where a store knows one benchmark only."""
    frame = ask("SELECT run_id FROM runs WHERE benchmark <> $benchmark ORDER BY 1", {"benchmark": benchmark})
    return tuple(frame["run_id"])
