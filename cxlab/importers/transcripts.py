"""Conversations between people, from CSV, Parquet or JSON Lines: to be read, and to be mixed into realism studies.

Read as cxlab/importers/conversations reads them. Rows count from 1, without the header. Nothing is evaluated on them:
they have no gold.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field

from cxlab.errors import BadFile, BadOption
from cxlab.importers.cells import to_json
from cxlab.importers.conversations import FolderConversations, MappingOptions, read_conversations
from cxlab.importers.imported import ImportResult, RejectedRow, build_rejected
from cxlab.importers.importer import Importer
from cxlab.metrics import text_statistics
from cxlab.records import Conversation, Dataset, content_id
from cxlab.voice import LANGUAGES


def read_folder(
    folder: Path | str, language: str = "en", licence: str = "", changes: dict[str, Any] | None = None
) -> ImportResult:
    """Read and check a folder (or one file); BadFile for what cannot be read at all, BadOption for a language."""
    if language not in LANGUAGES:
        raise BadOption(f"unknown language {language!r}; known: {', '.join(LANGUAGES)}")
    root = Path(folder)
    found = read_conversations(root, changes)
    talks = [talk for talk in found.conversations.values() if _is_talk(talk, found.rejected)]
    if not talks:
        first = f"; the first problem: {found.rejected[0]}" if found.rejected else ""
        raise BadFile(
            root, None, f"no conversation could be used{first}", "one message a row: conversation_id, role, text"
        )
    return _build(root, talks, found, language, licence)


class TranscriptOptions(MappingOptions):
    """What the files do not say of themselves."""

    language: Literal["en", "fr", "de"] = Field("en", description="The language that is spoken.")
    licence: str = Field("", description="What may be done with them.")


IMPORTER = Importer(
    id="transcripts",
    title="conversations between people",
    takes="a folder with CSV, Parquet or JSON Lines, or one such file: conversations with lists of messages, as one "
    "text each, or one message a row",
    read=lambda path, options: read_folder(path, options.language, options.licence, options.changes()),
    Options=TranscriptOptions,
)


def _is_talk(talk: Conversation, rejected: list[RejectedRow]) -> bool:
    """Whether two people talk; one alone is no conversation."""
    roles = Counter(message.role for message in talk.messages if message.text)
    if roles["customer"] and roles["agent"]:
        return True
    who = "no customer" if not roles["customer"] else "no agent"
    rejected.append(
        RejectedRow(f"conversation {talk.id[:80]}", None, None, f"{who} speaks; the conversation is left out")
    )
    return False


def _build(
    root: Path, talks: list[Conversation], found: FolderConversations, language: str, licence: str
) -> ImportResult:
    dumped = [to_json([message.model_dump(mode="json") for message in talk.messages]) for talk in talks]
    texts = ("conversation_id", "persona", "labels", "messages", "noisy", "noise")
    tables = {
        "conversations": pl.DataFrame(
            [(talk.id, "{}", "{}", messages, "[]", "{}") for talk, messages in zip(talks, dumped, strict=True)],
            schema=dict.fromkeys(texts, pl.String),
            orient="row",
        ),
        "rejected": build_rejected(found.rejected),
    }
    dataset = Dataset(
        id="transcripts-" + content_id(dumped, [talk.id for talk in talks]),
        benchmark="transcripts",
        name=f"Conversations, imported from {root.resolve().name}",
        source="imported",
        config={
            "conversations": "real",
            "options": {"language": language},
            "rows": found.rows_of,
            "rejected": len(found.rejected),
            "ignored": found.ignored,
            "statistics": text_statistics.conversations(talks, language),
        },
        seed=None,
        licence=licence.strip() or "not stated: ask whoever gave you the data",
        created=datetime.now(UTC),
    )
    return ImportResult(dataset, [], tables, found.rejected, found.ignored, found.rows_of)
