"""Conversations between people, from CSV, Parquet or JSON Lines: to be read, and to be mixed into realism studies.

One message a row, in the order in which it was said: conversation_id, role, text; or, in JSON Lines, one conversation
a line with `messages`. Rows count from 1, without the header. Nothing is evaluated on them: they have no gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field

from cxlab.errors import BadFile, BadOption
from cxlab.files import read_json_lines
from cxlab.importers.cells import as_text, to_json
from cxlab.importers.folders import files_below, read_table
from cxlab.importers.imported import ImportResult, RejectedRow
from cxlab.importers.importer import Importer
from cxlab.metrics import text_statistics
from cxlab.records import Conversation, Dataset, Message, Role, content_id
from cxlab.records.settings import Settings
from cxlab.voice import LANGUAGES

SUFFIXES = (".csv", ".parquet", ".jsonl")
LARGEST_TEXT = 20_000  # characters of one message; a long one has some hundred
LONGEST_ID = 200
# Names of a column in other people's files, the first that is there.
NAMES = {
    "id": ("conversation_id", "conversation", "dialogue_id", "call_id", "id"),
    "role": ("role", "speaker", "who", "participant"),
    "text": ("text", "message", "utterance", "content"),
}
ROLES: dict[str, Role] = {
    **dict.fromkeys(("customer", "user", "client", "caller", "c"), "customer"),
    **dict.fromkeys(("agent", "assistant", "representative", "advisor", "a"), "agent"),
    **dict.fromkeys(("ivr", "bot", "ivr_bot", "menu"), "ivr"),
    "system": "system",
}


def read_folder(folder: Path | str, language: str = "en", licence: str = "") -> ImportResult:
    """Read and check a folder (or one file); BadFile for what cannot be read at all."""
    if language not in LANGUAGES:
        raise BadOption(f"unknown language {language!r}; known: {', '.join(LANGUAGES)}")
    root = Path(folder)
    if not root.exists():
        raise BadFile(root, None, "does not exist", "give a file or a folder with CSV, Parquet or JSON Lines")
    files = [root] if root.is_file() else files_below(root)
    rejected: list[RejectedRow] = []
    rows: dict[str, int] = {}
    ignored: list[str] = []
    said: dict[str, list[Message]] = {}
    for path in files:
        name = path.name if root.is_file() else path.relative_to(root).as_posix()
        if path.suffix.lower() not in SUFFIXES:
            ignored.append(name)
            continue
        rows[name] = 0
        for row, given in _rows(path):
            rows[name] = row
            if isinstance(given, BadFile):
                rejected.append(RejectedRow(name, row, None, given.problem))
            else:
                _take(name, row, given, said, rejected)
    if not rows:
        raise BadFile(root, None, "no CSV, Parquet or JSON Lines file in it")
    kept = {each: messages for each, messages in said.items() if _is_talk(each, messages, rejected)}
    if not kept:
        first = f"; the first problem: {rejected[0]}" if rejected else ""
        raise BadFile(
            root, None, f"no conversation could be used{first}", "one message a row: conversation_id, role, text"
        )
    return _build(root, kept, rejected, ignored, rows, language, licence)


class TranscriptOptions(Settings):
    """What the files do not say of themselves."""

    language: Literal["en", "fr", "de"] = Field("en", description="The language that is spoken.")
    licence: str = Field("", description="What may be done with them.")


IMPORTER = Importer(
    id="transcripts",
    title="conversations between people",
    takes="a folder with CSV, Parquet or JSON Lines, or one such file: conversation_id, role and text a row",
    read=lambda path, options: read_folder(path, options.language, options.licence),
    Options=TranscriptOptions,
)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | BadFile]]:
    """(row, cells) of a file, or in the cells' place what is wrong with a line of JSON."""
    if path.suffix.lower() == ".jsonl":
        for number, found in read_json_lines(path):
            yield number, found if isinstance(found, dict | BadFile) else {}
        return
    frame = read_table(path)
    lacking = [NAMES[kind][0] for kind in NAMES if not any(name in frame.columns for name in NAMES[kind])]
    if lacking:
        raise BadFile(path, None, f"no column {', '.join(lacking)}", f"it has: {', '.join(frame.columns)}")
    yield from enumerate(frame.iter_rows(named=True), 1)


def _take(
    file: str, row: int, given: dict[str, Any], said: dict[str, list[Message]], rejected: list[RejectedRow]
) -> None:
    """Add a row's message, or all messages of a conversation that is one line."""
    cells = {kind: next((given[name] for name in names if name in given), None) for kind, names in NAMES.items()}
    found = as_text(cells["id"])
    messages = given.get("messages")
    if isinstance(messages, list):
        for each in messages:
            inner = each if isinstance(each, dict) else {}
            _take(file, row, {**inner, "conversation_id": found or f"{file}-{row}", "messages": None}, said, rejected)
        return
    text, spoken = as_text(cells["text"]), as_text(cells["role"]).lower()
    role = ROLES.get(spoken)
    problem = None
    if not found:
        problem = ("conversation_id", "empty, or the line is no JSON object")
    elif len(found) > LONGEST_ID:
        problem = ("conversation_id", f"{len(found):,} characters; the limit is {LONGEST_ID}")
    elif "\0" in found + text:
        problem = ("text", "holds the character NUL")
    elif role is None:
        problem = ("role", f"{spoken[:40]!r} is none of {', '.join(sorted(set(ROLES.values())))}")
    elif not text:
        problem = ("text", "empty")
    elif len(text) > LARGEST_TEXT:
        problem = ("text", f"{len(text):,} characters in one message; the limit is {LARGEST_TEXT:,}")
    if problem or role is None:
        rejected.append(RejectedRow(file, row, *(problem or ("role", "empty"))))
        return
    before = said.setdefault(found, [])
    turn = (before[-1].turn if before else 0) + (role == "customer" and (not before or before[-1].role != "customer"))
    before.append(Message(role=role, text=text, turn=turn))


def _is_talk(name: str, messages: list[Message], rejected: list[RejectedRow]) -> bool:
    """Whether two people talk; one alone is no conversation."""
    roles = Counter(message.role for message in messages)
    if roles["customer"] and roles["agent"]:
        return True
    who = "no customer" if not roles["customer"] else "no agent"
    rejected.append(RejectedRow(f"conversation {name[:80]}", None, None, f"{who} speaks; the conversation is left out"))
    return False


def _build(
    root: Path, kept: dict[str, list[Message]], rejected: list[RejectedRow], ignored: list[str], rows: dict[str, int],
    language: str, licence: str,
) -> ImportResult:  # fmt: skip
    talks = [Conversation(id=name, messages=tuple(messages)) for name, messages in kept.items()]
    dumped = [to_json([message.model_dump(mode="json") for message in talk.messages]) for talk in talks]
    texts = ("conversation_id", "persona", "labels", "messages", "noisy", "noise")
    tables = {
        "conversations": pl.DataFrame(
            [(talk.id, "{}", "{}", messages, "[]", "{}") for talk, messages in zip(talks, dumped, strict=True)],
            schema=dict.fromkeys(texts, pl.String),
            orient="row",
        ),
        "rejected": pl.DataFrame(
            [vars(one) for one in rejected],
            schema={"file": pl.String, "row": pl.Int64, "column": pl.String, "problem": pl.String},
        ),
    }
    dataset = Dataset(
        id="transcripts-" + content_id(dumped, [talk.id for talk in talks]),
        benchmark="transcripts",
        name=f"Conversations, imported from {root.resolve().name}",
        source="imported",
        config={
            "conversations": "real",
            "options": {"language": language},
            "rows": rows,
            "rejected": len(rejected),
            "ignored": ignored,
            "statistics": text_statistics.conversations(talks, language),
        },
        seed=None,
        licence=licence.strip() or "not stated: ask whoever gave you the data",
        created=datetime.now(UTC),
    )
    return ImportResult(dataset, [], tables, rejected, ignored, rows)
