"""Lines and calls of a conversation back from the form in which judges get them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any, cast

from cxlab.benchmarks.mmtaup2.prompts.judge_prompts import (
    TranscriptLine,
    Who,
)

LINE = re.compile(r"^\[(\d+)\] (Customer|Agent|Tool): (.*?)(?: \(arrived as: (.*)\))?$")
CALL = re.compile(r"^(agent|customer) uses ([\w ]*?)(?: \((.*?)\))? -> ([\w ]+): ?(.*)$", re.DOTALL)


@dataclass(frozen=True)
class PrintedCall:
    """A tool call as printed."""

    turn: int
    side: str
    tool: str
    arguments: dict[str, Any]
    done: bool
    result: str


@functools.lru_cache(maxsize=20_000)
def _parse(text: str) -> tuple[str, str, tuple[tuple[str, Any], ...], bool, str] | None:
    found = CALL.match(text)
    if found is None:
        return None
    parts = (part.partition(": ") for part in (found[3] or "").split("; ") if ": " in part)
    arguments = tuple((name.replace(" ", "_"), _value(said)) for name, _, said in parts)
    return found[1], found[2].replace(" ", "_"), arguments, found[4] == "done", found[5]


def _value(said: str) -> Any:
    """A printed value as it may have been given: a number, several in a row, or a text."""
    several = said.split(", ")
    if len(several) > 1 and all(any(char.isdigit() for char in one) and " " not in one for one in several):
        return several
    try:
        return float(said) if "." in said else said
    except ValueError:
        return said


def read_call(line: TranscriptLine) -> PrintedCall | None:
    """A call from its printed line; None for a line that is none."""
    parts = _parse(line.text)
    if parts is None:
        return None
    side, tool, arguments, done, result = parts
    return PrintedCall(line.turn, side, tool, dict(arguments), done, result)


@functools.lru_cache(maxsize=256)
def read_lines(talk: str) -> tuple[TranscriptLine, ...]:
    """The lines back from their printed form; what has no such form is not read."""
    return tuple(line for line in map(_read_line, talk.split("\n")) if line)


# A line is read again at each later turn.
@functools.lru_cache(maxsize=20_000)
def _read_line(text: str) -> TranscriptLine | None:
    m = LINE.match(text)
    return TranscriptLine(int(m[1]), cast("Who", m[2]), m[3], m[4] or "") if m else None
