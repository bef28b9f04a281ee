"""What an agent did, reply by reply: its thought, what it asked, what it was shown, and where it left the way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.tools import FINAL, GENERIC
from cxlab.read.attempts import read_object, read_objects


@dataclass(frozen=True)
class Turn:
    """One reply of the agent and what came of it.

    `query` is what it asked in SOQL or SOSL, else `tool` was called with `arguments`; neither where no action could be
    read, and then `reminder` is what it was told. `answer` ends the attempt. `seen` is what it was shown (None:
    nothing), `result` the same as data where it can be read; `records` how many it holds, `error` its code.
    """

    number: int
    thought: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] | None = None
    query: str | None = None
    answer: str | None = None
    raw: str = ""
    seen: str | None = None
    result: Any = None
    records: int | None = None
    error: str | None = None
    reminder: str = ""
    latency_s: float | None = None
    tokens: int | None = None


def read_turns(messages: pl.DataFrame | Iterable[Mapping[str, Any]]) -> list[Turn]:
    """The replies of an attempt in order, each with what came of its action; see agents/episode.py for the form."""
    rows = list(messages.iter_rows(named=True) if isinstance(messages, pl.DataFrame) else messages)
    seen = {str(read_object(row.get("data")).get("call")): row for row in rows if row["role"] == "tool"}
    told = {row["turn"]: str(row["text"] or "") for row in rows if row["role"] == "system"}
    return [_read_turn(row, seen, told.get(row["turn"], "")) for row in rows if row["role"] == "agent"]


def _read_turn(row: Mapping[str, Any], seen: Mapping[str, Mapping[str, Any]], reminder: str) -> Turn:
    data = read_object(row.get("data"))
    calls = read_objects(row.get("tool_calls"))
    call = calls[0] if calls else {}
    name = str(call.get("name") or "")
    arguments = read_object(call.get("arguments"))
    came = seen.get(str(call.get("id"))) if call else None
    noted = read_object(came.get("data")) if came else {}
    text = None if came is None else str(came["text"] or "")
    tokens = [row.get(each) for each in ("prompt_tokens", "completion_tokens")]
    return Turn(
        number=int(row["turn"] or 0),
        thought=str(row["text"] or "") if call else "",
        tool=name,
        arguments=arguments if call else None,
        query=str(arguments.get("query", "")) if name in GENERIC else None,
        answer=str(arguments.get("content", "")) if name in FINAL else None,
        raw=str(data.get("raw") or ("" if call else row["text"]) or ""),
        seen=text,
        result=None if text is None or noted.get("error") else _read_result(text),
        records=noted.get("records"),
        error=noted.get("error"),
        reminder=reminder,
        latency_s=row.get("latency_s"),
        tokens=sum(each for each in tokens if each is not None) if any(each is not None for each in tokens) else None,
    )


def _read_result(text: str) -> Any:
    """An observation as data; a note about what was left out stands on a line of its own."""
    for part in (text, text.partition("\n")[0]):
        try:
            return json.loads(part)
        except ValueError:
            continue
    return None


@dataclass(frozen=True)
class StoredDeparture:
    """Where an attempt left the way, by its stored verdict: why, the reply (None: no single one), and the solver's
    tool that it should have been like ("" where there is none).
    """

    reason: str
    turn: int | None
    step: str


def read_departure(attempt: Mapping[str, Any]) -> StoredDeparture | None:
    """The first departure of a failed attempt; None for one that passed or was not scored."""
    if attempt.get("verdict") != "failed":
        return None
    turn = attempt.get("verdict_turn")
    return StoredDeparture(
        str(attempt.get("verdict_reason") or "not told"),
        None if turn is None else int(turn),
        str(attempt.get("verdict_stage") or ""),
    )
