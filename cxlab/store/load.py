"""Turn stored rows back into records: for scoring a run anew, and for looking at one attempt."""

import json
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import orjson
import polars as pl

from cxlab.errors import UnknownName
from cxlab.records import (
    Attempt,
    Failure,
    Judgement,
    Message,
    Score,
    SingleJudgeTrace,
    ToolCall,
    Trace,
    Usage,
    Verdict,
    Vote,
)
from cxlab.records.base import Record
from cxlab.store import catalogue, frames, layout, tables
from cxlab.store.compact import recover_folder

# Attempts that are records at the same time; 1,000 conversations are about 20 MB.
_AT_ONCE = 1_000
# How often a read is begun anew because a compaction moved the files meanwhile; one takes some milliseconds.
_TRIES, _PAUSE_S = 8, 0.02
# Columns of traces whose text is JSON.
_FIELDS = ("predicted_fields", "panel_fields", "gold_fields")
AnyRecord = TypeVar("AnyRecord", bound=Record)


@dataclass(frozen=True)
class StoredScored:
    """What scoring one attempt had yielded, as stored."""

    scores: tuple[Score, ...] = ()
    votes: tuple[Vote, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    traces: tuple[Trace, ...] = ()
    verdict: Verdict | None = None


def load_attempts(
    run_id: str, home: Path | str | None = None, among: Collection[str] | None = None
) -> Iterator[tuple[Attempt, StoredScored]]:
    """All attempts of a run with their scores, sorted by attempt id; holds 1,000 in memory at a time.

    `among`: these alone, as far as the run has them.
    """
    base = layout.resolve_home(home)
    folder = layout.run_folder(base, run_id)
    recover_folder(base, folder)
    with catalogue.naming_damage("run", run_id, base):
        ids = _scan(folder, "attempts").select("attempt_id").collect().get_column("attempt_id").sort().to_list()
    if among is not None:
        ids = sorted(set(ids) & set(among))
    for start in range(0, len(ids), _AT_ONCE):
        with catalogue.naming_damage("run", run_id, base):
            loaded = list(_load(folder, pl.col("attempt_id").is_in(ids[start : start + _AT_ONCE])))
        yield from loaded


def load_outcomes(
    run_id: str, names: Collection[str], metrics: Collection[str] | None = None, home: Path | str | None = None
) -> Iterator[tuple[str, Attempt, StoredScored]]:
    """Task, attempt and what it was scored, of all attempts of a run, read quickly: what verdicts rest on.

    Attempts come without messages and output. Of scores, votes, judgements and traces those are read that are named; of
    scores those of `metrics` (None: all), of votes one an attempt without its text; traces without each judge's own.
    """
    base = layout.resolve_home(home)
    folder = layout.run_folder(base, run_id)
    recover_folder(base, folder)
    attempts = _scan(folder, "attempts").select("attempt_id", "run_id", "sample_id", "trial", "task", "outcome")
    listed = attempts.with_columns(started=pl.lit(datetime(1970, 1, 1, tzinfo=UTC))).sort("attempt_id").collect()
    wanted = {"failures": _scan(folder, "failures").sort("seq", maintain_order=True)}
    wanted |= {name: _scan(folder, name).sort("turn", maintain_order=True) for name in names}
    if "scores" in wanted and metrics is not None:
        wanted["scores"] = wanted["scores"].filter(pl.col("metric").is_in(list(metrics)))
    if "votes" in wanted:
        wanted["votes"] = wanted["votes"].select("attempt_id", "turn", "judge", "valid").unique("attempt_id")
    if "traces" in wanted:
        wanted["traces"] = wanted["traces"].drop("single_judges", "moves")
    usage = Usage()
    for chunk in listed.iter_slices(10 * _AT_ONCE):
        mine = pl.col("attempt_id").is_in(chunk["attempt_id"].implode())
        frames = pl.collect_all([frame.filter(mine) for frame in wanted.values()])
        found: dict[str, Mapping[str, list[dict[str, Any]]]] = {name: {} for name in tables.PARTS}
        found |= zip(wanted, map(_by_attempt, frames), strict=True)
        for row in chunk.iter_rows(named=True):
            key = row["attempt_id"]
            scored = StoredScored(
                scores=tuple(_trust(Score, each) for each in found["scores"].get(key, ())),
                votes=tuple(_trust(Vote, each | {"raw": "", "usage": usage}) for each in found["votes"].get(key, ())),
                judgements=tuple(_trust(Judgement, each) for each in found["judgements"].get(key, ())),
                traces=tuple(
                    _trust(Trace, each | {name: orjson.loads(each[name]) for name in _FIELDS})
                    for each in found["traces"].get(key, ())
                ),
            )
            failures = tuple(_record(Failure, each, where=each["where_"]) for each in found["failures"].get(key, ()))
            yield row["task"], _trust(Attempt, row | {"id": key, "failures": failures, "usage": usage}), scored


def load_attempt(run_id: str, attempt_id: str, home: Path | str | None = None) -> tuple[Attempt, StoredScored]:
    """One attempt with its scores; UnknownName when the run holds no such attempt."""
    base = layout.resolve_home(home)
    folder = layout.run_folder(base, run_id)
    recover_folder(base, folder)
    with catalogue.naming_damage("run", run_id, base):
        for found in _load(folder, pl.col("attempt_id") == attempt_id):
            return found
        known = _scan(folder, "attempts").select("attempt_id").limit(5).collect().get_column("attempt_id").to_list()
    raise UnknownName(f"attempt of run {run_id!r}", attempt_id[:80], known, "(the first five are listed)")


def load_rows(
    run_id: str, attempt_id: str, names: Sequence[str], home: Path | str | None = None
) -> dict[str, pl.DataFrame]:
    """The rows of one attempt in these tables, columns as in tables.py, as stored; no rows for an unknown attempt.

    Reads the files of the one run with Polars, which for a few rows takes a third of what a query of the views takes.
    """
    base = layout.resolve_home(home)
    folder = layout.run_folder(base, run_id)
    for tries in range(_TRIES, -1, -1):
        before = layout.swap_count(base)
        recover_folder(base, folder)
        try:
            with catalogue.naming_damage("run", run_id, base):
                found = pl.collect_all([_rows_of(folder, name, attempt_id) for name in names])
        except FileNotFoundError:
            # A compaction moved the files between listing and reading.
            if tries == 0:
                raise
            continue
        if (before % 2 == 0 and layout.swap_count(base) == before) or tries == 0:
            break
        time.sleep(_PAUSE_S)
    return dict(zip(names, found, strict=True))


def _scan(folder: Path, table: str) -> pl.LazyFrame:
    """A table's parts, with null in columns that parts of an older version lack."""
    files = [path for batch in layout.batches(folder) if (path := batch / f"{table}.parquet").is_file()]
    schema = tables.PARTS[table]
    if not files:
        return pl.LazyFrame(schema=schema)
    return pl.scan_parquet(files, schema=schema, missing_columns="insert", extra_columns="ignore")


def _rows_of(folder: Path, table: str, attempt_id: str) -> pl.LazyFrame:
    rows, wanted = _scan(folder, table), pl.col("attempt_id") == attempt_id
    if not any(dtype.is_nested() for dtype in tables.PARTS[table].values()):
        return rows.filter(wanted)
    # Lists are put together also of the rows that a filter leaves out, but for those before and after a slice.
    places = rows.select("attempt_id").with_row_index("place").filter(wanted).select("place").collect()["place"]
    first, last = (places[0], places[-1]) if places.len() else (0, -1)
    return rows.slice(first, last - first + 1).filter(wanted)


def _load(folder: Path, wanted: pl.Expr) -> Iterator[tuple[Attempt, StoredScored]]:
    order = {"attempts": "attempt_id", "messages": "seq", "failures": "seq"}
    frames = {
        table: _scan(folder, table).filter(wanted).sort(order.get(table, "turn"), maintain_order=True).collect()
        for table in tables.PARTS
    }
    rows = {table: _by_attempt(frame) for table, frame in frames.items() if table != "attempts"}
    for row in frames["attempts"].iter_rows(named=True):
        key = row["attempt_id"]
        yield (
            _attempt(row, rows["messages"][key], rows["failures"][key]),
            StoredScored(
                scores=tuple(_record(Score, r) for r in rows["scores"][key]),
                votes=tuple(_record(Vote, r, usage=_usage(r)) for r in rows["votes"][key]),
                judgements=tuple(_record(Judgement, r) for r in rows["judgements"][key]),
                traces=tuple(_trace(r) for r in rows["traces"][key]),
                verdict=_verdict(row),
            ),
        )


def _verdict(row: dict[str, Any]) -> Verdict | None:
    if row["verdict"] is None:
        return None
    places = {name: row[f"verdict_{name}"] for name in ("reason", "owner", "turn", "stage", "field", "tool")}
    return Verdict(attempt_id=row["attempt_id"], value=row["verdict"], **places)


def _by_attempt(frame: pl.DataFrame) -> defaultdict[str, list[dict[str, Any]]]:
    rows: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        rows[row["attempt_id"]].append(row)
    return rows


def _record(kind: type[AnyRecord], row: dict[str, Any], **made: Any) -> AnyRecord:
    """A record from the row's columns of the same names, with `made` in place of those that are stored otherwise."""
    return kind(**{name: row[name] for name in kind.model_fields if name in row} | made)


def _trust(kind: type[AnyRecord], row: dict[str, Any]) -> AnyRecord:
    """As `_record`, for rows that need no conversion: unchecked, which takes a tenth of the time."""
    return kind.model_construct(**{name: row[name] for name in kind.model_fields if name in row})


def _attempt(row: dict[str, Any], messages: list[dict[str, Any]], failures: list[dict[str, Any]]) -> Attempt:
    return _record(
        Attempt,
        row,
        id=row["attempt_id"],
        output=json.loads(row["output"]),
        offers=tuple(row["offers"] or ()),
        usage=_usage(row),
        messages=tuple(_message(m) for m in messages),
        failures=tuple(_record(Failure, f, where=f["where_"]) for f in failures),
    )


def _message(row: dict[str, Any]) -> Message:
    calls = json.loads(row["tool_calls"]) if row["tool_calls"] else ()
    data = json.loads(row["data"]) if row["data"] else {}
    usage = _usage(row) if row["calls"] is not None else None
    return _record(Message, row, tool_calls=tuple(ToolCall(**call) for call in calls), data=data, usage=usage)


def _trace(row: dict[str, Any]) -> Trace:
    return _record(
        Trace,
        row,
        moves=tuple((move["move"], move["stage"]) for move in row["moves"]),
        single_judges=tuple(
            SingleJudgeTrace(**one | {"scores": frames.read_entries(one["scores"])})
            for one in row["single_judges"] or ()
        ),
        **{name: json.loads(row[name]) for name in _FIELDS},
    )


def _usage(row: dict[str, Any]) -> Usage:
    return _record(Usage, row)
