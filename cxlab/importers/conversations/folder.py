"""All conversations of a file, or of a folder with several, by a mapping that is guessed for each and corrected."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from cxlab.errors import BadFile, BadOption
from cxlab.importers.conversations.mapping import ConversationMapping, correct, guess, guess_id
from cxlab.importers.conversations.read import ReadConversations, preview, read_in_steps
from cxlab.importers.conversations.rows import SUFFIXES
from cxlab.importers.folders import files_below
from cxlab.importers.imported import RejectedRow
from cxlab.records.progress import Progress, finish
from cxlab.records.settings import Settings

NONE = "-"
"""What is written for a column that there is none of."""


class MappingOptions(Settings):
    """Which column is what, where the guess is wrong; what is not given is guessed."""

    shape: Literal["messages", "transcript", "exchange", "rows"] | None = Field(
        None,
        description="What a row is: a conversation with a list of messages, one as a single text with speakers, a "
        "question with its answer, or one message.",
    )
    id: str | None = Field(None, description="The column with the conversation's id; - where there is none.")
    messages: str | None = Field(None, description="The column with the list of messages.")
    role: str | None = Field(None, description="The column, or the key of a message, that says who speaks.")
    text: str | None = Field(None, description="The column, or the key of a message, with the text.")
    reply: str | None = Field(None, description="Of a question with its answer, the column with the answer.")
    order: str | None = Field(None, description="The column by which messages are sorted; - for the order in the file.")
    speakers: str | None = Field(
        None,
        description="Who speaks behind other names, as bob=agent,anna=customer; agent, customer, system or tool. "
        'Names with commas as JSON: {"Lee, Ann": "agent"}.',
    )

    def changes(self) -> dict[str, Any]:
        """What is to be changed in a guess."""
        given = {name: getattr(self, name) for name in ("shape", "id", "messages", "role", "text", "reply", "order")}
        changes: dict[str, Any] = {
            name: None if value == NONE else value for name, value in given.items() if value is not None
        }
        if self.speakers and self.speakers.lstrip().startswith("{"):
            try:
                changes["roles"] = json.loads(self.speakers)
            except ValueError:
                raise BadOption("speakers: no JSON; write it as name=agent,other=customer") from None
        elif self.speakers:
            pairs = [pair.partition("=") for pair in self.speakers.split(",")]
            if wrong := [name for name, sign, _ in pairs if not sign]:
                raise BadOption(f"speakers: {wrong[0][:40]!r} names nobody; write it as name=agent")
            changes["roles"] = {name.strip(): role.strip() for name, _, role in pairs}
        return changes


@dataclass
class FolderConversations(ReadConversations):
    """What the files came to together. `ignored`: files of another kind; `rows_of`: rows by file."""

    ignored: list[str] = field(default_factory=list)
    rows_of: dict[str, int] = field(default_factory=dict)


def read_conversations(root: Path | str, changes: Mapping[str, Any] | None = None) -> FolderConversations:
    """Read a file or all files below a folder; an id that comes in a second file, and a file that holds no
    conversations beside others that do, are rejected.

    BadFile for what is not there, holds no file of a kind that is known, or cannot be read.
    """
    return finish(read_folder_in_steps(root, changes))


def _map_columns(path: Path, changes: Mapping[str, Any]) -> ConversationMapping:
    """The guess with what was said of it; where nothing can be guessed, what was said alone, if it finds anything."""
    try:
        first = guess(path)
    except BadFile:
        if "shape" not in changes:
            raise
        known = None if changes["shape"] == "rows" else guess_id(path)
        mapping = correct(ConversationMapping(shape=changes["shape"], id=known), **changes)
        if not preview(path, mapping).conversations:
            raise
        return mapping
    return correct(first, **changes)


def read_folder_in_steps(
    root: Path | str, changes: Mapping[str, Any] | None = None
) -> Generator[Progress, None, FolderConversations]:
    """The same with progress; BadFile where nothing in it is of a form that is read."""
    root = Path(root)
    if not root.exists():
        raise BadFile(
            root, None, "does not exist", "give a file or a folder with CSV, Parquet, JSON Lines or transcripts"
        )
    found = FolderConversations()
    where: dict[str, str] = {}
    faults: list[BadFile] = []
    for path in [root] if root.is_file() else files_below(root):
        name = path.name if root.is_file() else path.relative_to(root).as_posix()
        if path.suffix.lower() not in SUFFIXES:
            found.ignored.append(name)
            continue
        try:
            one = yield from read_in_steps(path, _map_columns(path, changes or {}))
        except BadFile as fault:
            # A schema beside the conversations, say: the others are taken all the same.
            faults.append(fault)
            found.rejected.append(RejectedRow(name, fault.line, None, fault.problem))
            continue
        found.rows_of[name] = one.rows
        found.rows += one.rows
        found.rejected += [replace(each, file=name) for each in one.rejected]
        found.notices += [replace(each, file=name) for each in one.notices]
        for speaker, count in one.unknown_roles.items():
            found.unknown_roles[speaker] = found.unknown_roles.get(speaker, 0) + count
        for id in list(one.conversations):
            if id in where:
                problem = f"conversation {id[:80]!r} is in {where[id]}, too; this one is left out"
                found.rejected.append(RejectedRow(name, None, None, problem))
            else:
                where[id] = name
                found.conversations.move(id, one.conversations)
    if not found.rows_of:
        raise faults[0] if faults else BadFile(root, None, "no CSV, Parquet, JSON Lines or text file in it")
    return found
