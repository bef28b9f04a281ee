"""What became of attempts, read once for all that a page says of a comparison set."""

from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.read.kept.numbers import facts, look_up, number, spread
from cxlab.read.query import ask, measured
from cxlab.store import catalogue, layout


def join_facts(attempts: pl.DataFrame) -> pl.DataFrame:
    """The attempts (run_id, attempt_id) with verdict, simulated, latency_s, cost_usd, and of the customer: script and
    opening (hashes of what it follows and of its first words; null where there is none) and spoke (any first words)."""
    runs = tuple(sorted(attempts["run_id"].unique()))
    known = _read(str(layout.home()), catalogue.data_version(), runs)
    return attempts.hstack(look_up(known, number(attempts)["nth"]))


def passed_of(attempts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each of these attempts (their numbers) 1 where it passed, 0 where it failed, nan where it did neither."""
    return _read_passed(str(layout.home()), catalogue.data_version(), facts().height)[attempts]


@lru_cache(maxsize=2)
def _read_passed(home: str, version: str, many: int) -> NDArray[np.float64]:
    verdicts = facts()["verdict"]
    found = np.full(many, np.nan)
    found[(verdicts == "passed").fill_null(False).to_numpy()] = 1.0
    found[(verdicts == "failed").fill_null(False).to_numpy()] = 0.0
    return found


# Filters by facet leave the runs as they are, so that a change of them reads nothing anew.
@lru_cache(maxsize=4)
def _read(home: str, version: str, runs: tuple[str, ...]) -> pl.DataFrame:
    found = ask(
        f"""SELECT run_id, attempt_id, verdict, simulated, {measured("latency_s")} AS latency_s,
            {measured("cost_usd")} AS cost_usd,
            CASE WHEN script IS NOT NULL THEN hash(script) END AS script,
            CASE WHEN opening IS NOT NULL THEN hash(opening) END AS opening, length(coalesce(opening, '')) > 0 AS spoke
        FROM (SELECT *, json_extract_string(output, '$.script') AS script FROM attempts
            WHERE run_id IN (SELECT unnest($runs)))""",
        {"runs": list(runs)},
    )
    return spread(number(found)).drop("nth", "run_id", "attempt_id")
