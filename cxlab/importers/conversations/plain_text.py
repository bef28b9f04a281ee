"""Text files with conversations: ParlAI's, with fields as `name:value` and tabs between, DailyDialog's, with one
conversation a line and a mark behind each message, and plain transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cxlab.errors import BadFile

LARGEST = 20_000_000
"""Bytes of a file of transcripts, which is read whole."""
DIALOGUE, ROUND, SPEAKER = "dialogue_id", "round_id", "speaker_to_eval"
_SPEAKERS = ("human", "bot")
MARK, DIALOG = "__eou__", "dialog"
"""What DailyDialog writes behind each message, and what the list of messages is called in its other form."""
_RULE = re.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,})[ \t]*$", re.MULTILINE)


def read_text_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """(number, cells): of ParlAI's lines the fields of each; of DailyDialog's {"dialog": texts}; else
    {"transcript": text} of each part of the file, which lines of three dashes or more set apart. BadFile where a line
    has no fields, or for a file that is too large."""
    with path.open(encoding="utf-8-sig", newline="\n") as lines:
        first = next((line for line in lines if line.strip()), "")
    if "text" in _read_fields(first):
        yield from _read_parlai(path)
        return
    if MARK in first:
        with path.open(encoding="utf-8-sig", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, {DIALOG: [said.strip() for said in line.split(MARK) if said.strip()]}
        return
    if path.stat().st_size > LARGEST:
        raise BadFile(path, None, f"a text file of more than {LARGEST:,} bytes", "give JSON Lines, Parquet or CSV")
    parts = [part.strip() for part in _RULE.split(path.read_text(encoding="utf-8-sig"))]
    yield from ((number, {"transcript": part}) for number, part in enumerate(filter(None, parts), 1))


def _read_parlai(path: Path) -> Iterator[tuple[int, Any]]:
    """A line with the field `speaker_to_eval` holds the dialogue so far (Bot-Adversarial Dialogue: human and bot take
    turns, the human begins): it becomes a row for each message that the line before did not have, with the number of
    the dialogue and the message's place."""
    before: list[str] = []
    dialogue = -1
    # Not by splitlines: it also splits at characters that a text may hold.
    with path.open(encoding="utf-8-sig", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            cells = _read_fields(line)
            if "text" not in cells:
                yield number, BadFile(path, number, "no field text: in this line", "")
                continue
            if SPEAKER not in cells:
                yield number, cells
                continue
            said = cells["text"].split("\n")
            if len(said) <= len(before) or said[: len(before)] != before:
                dialogue, before = dialogue + 1, []
            for place in range(len(before), len(said)):
                row = {DIALOGUE: dialogue, ROUND: place, SPEAKER: _SPEAKERS[place % 2], "text": said[place]}
                yield number, row
            before = said


def _read_fields(line: str) -> dict[str, str]:
    fields = dict(part.split(":", 1) for part in line.rstrip("\r\n").split("\t") if ":" in part)
    return {name: value.replace("\\n", "\n").replace("__PIPE__", "|") for name, value in fields.items()}
