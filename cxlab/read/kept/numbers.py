"""A number for each attempt of a store, the same for as long as the process lives.

What is kept of attempts is put together by it: to join by two texts takes longer than all else that a filter asks for.
"""

import threading
from functools import lru_cache

import polars as pl

from cxlab.read.query import ask, facet, facet_ids, measured
from cxlab.store import catalogue, layout

_KEYS = ["run_id", "attempt_id"]
_NONE = pl.DataFrame(schema={"run_id": pl.String, "attempt_id": pl.String, "nth": pl.UInt32})
# By home. Only ever grow: what was read before some attempts came or went still means the same ones.
_known: dict[str, pl.DataFrame] = {}
_numbering = threading.Lock()


def number(attempts: pl.DataFrame) -> pl.DataFrame:
    """The rows (with run_id and attempt_id) in their order with `nth`, the number of their attempt; as they are where
    they have it."""
    if "nth" in attempts.columns:
        return attempts
    home = str(layout.home())
    if home not in _known:
        # In the order of their ids, whoever asks first: sums of floats are the same in each process.
        facts()
    return _number(home, attempts)


def _number(home: str, attempts: pl.DataFrame) -> pl.DataFrame:
    found = attempts.join(_known.get(home, _NONE), on=_KEYS, how="left", maintain_order="left")
    if home in _known and not found["nth"].null_count():
        return found
    with _numbering:
        known = _known.get(home, _NONE)
        new = attempts.select(_KEYS).unique().join(known, on=_KEYS, how="anti").sort(_KEYS)
        new = new.with_row_index("nth", offset=known.height).select(_NONE.columns)
        _known[home] = pl.concat([known, new])
    return attempts.join(_known[home], on=_KEYS, how="left", maintain_order="left")


def count() -> int:
    """How many attempts have had a number."""
    return _known.get(str(layout.home()), _NONE).height


def facts() -> pl.DataFrame:
    """What attempts are chosen and put in order by. Row n is the attempt of number n; nulls where it is not stored.

    nth, run_id, attempt_id, sample_id, trial, benchmark, model, task, outcome, failure, ended_by, turns, started,
    cost_usd, latency_s, verdict, verdict_turn, mixed (an order that tells nothing), and `facet:NAME` of each facet.
    """
    home = str(layout.home())
    return _pad(_read_facts(home, catalogue.data_version()), _known[home].height)


def _pad(spread_out: pl.DataFrame, many: int) -> pl.DataFrame:
    # Attempts that came since it was read.
    lacking = many - spread_out.height
    return pl.concat([spread_out, spread_out.clear(lacking)]) if lacking > 0 else spread_out


@lru_cache(maxsize=2)
def _read_facts(home: str, version: str) -> pl.DataFrame:
    facets = "".join(f', {facet(name)} AS "{column_of(name)}"' for name in facet_ids())
    found = ask(
        f"""SELECT a.run_id, a.attempt_id, a.sample_id, a.trial, a.benchmark, a.model, a.task, a.outcome, a.failure,
            a.ended_by, a.turns, a.started, {measured("cost_usd", "a")} AS cost_usd,
            {measured("latency_s", "a")} AS latency_s, a.verdict, a.verdict_turn,
            md5(a.attempt_id) AS mixed{facets}
        FROM attempts a"""
    )
    return _spread(home, _number(home, found))


def _spread(home: str, numbered: pl.DataFrame) -> pl.DataFrame:
    every = pl.DataFrame({"nth": pl.int_range(_known[home].height, dtype=pl.UInt32, eager=True)})
    # Of an attempt that was stored twice the first row counts, so that rows stay at their numbers.
    return every.join(numbered.unique("nth", keep="first"), on="nth", how="left", maintain_order="left")


def spread(numbered: pl.DataFrame) -> pl.DataFrame:
    """A row an attempt put where `look_up` finds it: row n is the attempt of number n, of nulls where it has none."""
    return _spread(str(layout.home()), numbered)


def look_up(spread_out: pl.DataFrame, numbers: pl.Series) -> pl.DataFrame:
    """The rows of these attempts, in their order."""
    return _pad(spread_out, count())[numbers]


def column_of(facet_id: str) -> str:
    """The column of a facet among the facts; one may be called as a column of attempts is."""
    return f"facet:{facet_id}"
