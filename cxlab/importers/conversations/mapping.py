"""Which column of somebody's file is what: guessed from names and values, and corrected by a person."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from cxlab.errors import BadFile, BadOption
from cxlab.importers.cells import as_text
from cxlab.importers.conversations.rows import Row, read_rows
from cxlab.importers.conversations.transcript_text import ROLES, find_names, split_transcript
from cxlab.records import Role
from cxlab.records.base import Record

Shape = Literal["messages", "transcript", "exchange", "rows"]
# Rows that are looked at for a guess.
SAMPLE = 50
# Names of columns and keys, the first that is there; in small letters.
IDS = (
    *("conversation_id", "dialogue_id", "conversation_hash", "session_id", "chat_id", "thread_id", "call_id"),
    *("convo_id", "ticket_id", "case_id", "id", "fname"),
)
MESSAGES = ("messages", "conversation", "conversations", "turns", "dialogue", "dialog", "chat", "traj", "trajectory")
ROLE_NAMES = (
    *("role", "speaker", "from", "author", "sender", "who", "participant", "speaker_role"),
    "speaker_to_eval",  # Bot-Adversarial Dialogue
)
ORDERS = (
    *("turn", "turn_id", "round_id", "position", "message_index", "index", "timestamp", "time"),
    *("created_at", "sent_at", "date"),
)
TEXTS = ("content", "text", "message", "utterance", "value", "body")
ASKED, ANSWERED = (
    ("instruction", "question", "prompt", "query"),
    ("response", "answer", "reply", "completion", "output"),
)
SPEAKER, TEXT = "speaker", "text"
"""The keys of a message that was a text without a speaker."""
# What a column with ids is called in some way or other.
_LIKE_ID = re.compile(r"(?:^|[ _-])(?:id|nr|no|number|ticket|case|call|chat|conversation|session|thread)$")
# What some call the agent, where nobody else answers.
_STAND_FOR_AGENT = ("system", "bot", "chatbot", "computer")
_SPEAKERS = {*_STAND_FOR_AGENT, *(name for name in ROLES if len(name) > 1)}
TRANSCRIPTS = ("transcript", "conversation", "dialogue", "dialog", "chat", "text", "content", "body", "messages")


class ConversationMapping(Record):
    """What a row is and which column is what.

    `shape`: messages (a row is a conversation, `messages` its list; of a list of texts the customer says the first,
    and two take turns; an entry may also hold what several say, each under its own name), transcript (a row is a
    conversation, `text` the column with all of it), exchange (a row is what the customer asked, `text`, and what the
    agent answered, `reply`), rows (a row is one message). `id` None: conversations are numbered by row. `messages`
    None: the row itself is the list. `order`: a column to sort messages by. `roles`: names of speakers, in small
    letters, beside those that are known anyway.
    """

    shape: Shape
    id: str | None = None
    messages: str | None = None
    role: str | None = None
    text: str | None = None
    reply: str | None = None
    order: str | None = None
    roles: dict[str, Role] = {}


def guess(path: Path | str) -> ConversationMapping:
    """The most likely mapping of a file, from its first 50 rows; BadFile where nothing looks like a conversation."""
    file = Path(path)
    sample = [row for _, row in zip(range(SAMPLE), read_rows(file), strict=False)]
    good = [row for row in sample if not isinstance(row.cells, BadFile)]
    if not good:
        told = next((row.cells for row in sample if isinstance(row.cells, BadFile)), None)
        raise told or BadFile(file, None, "holds no rows", "give a file with conversations in it")
    columns = list(dict.fromkeys(name for row in good if isinstance(row.cells, dict) for name in row.cells))
    found = _guess_messages(good, columns) or _guess_rows(columns) or _guess_transcript(good, columns)
    found = found or _guess_exchange(good, columns) or _guess_rows_by_values(good, columns)
    if found is None:
        raise BadFile(
            file,
            None,
            f"no conversations recognised in the columns {', '.join(columns[:20]) or '(none)'}",
            "say which column is what: shape, id, role, text",
        )
    return found.model_copy(update={"roles": _guess_roles(found, good)})


def guess_id(path: Path | str) -> str | None:
    """Of a file whose rows are conversations: the column with their ids, from its first 50 rows."""
    sample = [row for _, row in zip(range(SAMPLE), read_rows(Path(path)), strict=False)]
    good = [row for row in sample if isinstance(row.cells, dict)]
    return _guess_id(good, list(dict.fromkeys(str(name) for row in good for name in row.cells)))


def correct(mapping: ConversationMapping, **changes: Any) -> ConversationMapping:
    """The mapping with a person's changes; BadOption for a field or a value that does not exist."""
    given = {**mapping.model_dump(), **changes}
    if isinstance(given["roles"], Mapping):
        given["roles"] = {str(name).strip().casefold(): role for name, role in given["roles"].items()}
    try:
        return ConversationMapping.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise BadOption(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def as_messages(value: Any) -> list[Any] | None:
    """A list of messages, also one that is written as JSON text; None for anything else.

    Of a list of texts two take turns, and of one whose entries hold what each says under their own name, such as
    {"HUMAN": "...", "COMPUTER": "..."}, each is a message: both get the keys SPEAKER and TEXT.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list | tuple):
        return None
    if len(value) > 1 and all(isinstance(each, str) for each in value):
        return [{SPEAKER: ("user", "assistant")[place % 2], TEXT: each} for place, each in enumerate(value)]
    if not all(isinstance(each, dict) for each in value):
        return None
    named = [_read_named(each) for each in value]
    return [one for said in named for one in said] if named and all(named) else list(value)


def _read_named(entry: dict[Any, Any]) -> list[dict[str, str]]:
    """What an entry holds under speakers' names, in its order; none where it has a text or a speaker of its own."""
    keys = {str(key).strip().casefold() for key in entry}
    if keys & {*ROLE_NAMES, *TEXTS}:
        return []
    return [
        {SPEAKER: str(key), TEXT: said}
        for key, said in entry.items()
        if isinstance(said, str) and said.strip() and str(key).strip().casefold() in _SPEAKERS
    ]


def _first(names: tuple[str, ...], columns: list[str]) -> str | None:
    lower = {_plain(column): column for column in reversed(columns)}
    return next((lower[name] for name in names if name in lower), None)


def _plain(name: str) -> str:
    """A column's name as the lists above have it: `Created at` and `created-at` are `created_at`."""
    return re.sub(r"[ \-]+", "_", name.strip().casefold())


def _guess_id(good: list[Row], columns: list[str]) -> str | None:
    """Of rows that are conversations: a usual name, else one like it whose values are short and never the same."""
    if named := _first(IDS, columns):
        return named
    for name in columns:
        held = [as_text(row.cells.get(name)) for row in good if _has(row)]
        if _LIKE_ID.search(_plain(name)) and len(set(held)) == len(held) and all(0 < len(each) <= 40 for each in held):
            return name
    return None


def _guess_messages(good: list[Row], columns: list[str]) -> ConversationMapping | None:
    named: list[str | None] = [name for name in columns if name.strip().casefold() in MESSAGES]
    if any(isinstance(row.cells, list) for row in good):
        named = [None]
    for name in named:
        held = [row.cells if name is None else row.cells.get(name) for row in good if name is None or _has(row)]
        lists = [found for value in held if (found := as_messages(value))]
        keys = list(dict.fromkeys(str(key) for found in lists for message in found for key in message))
        role, text = _first(ROLE_NAMES, keys), _first(TEXTS, keys)
        if role and text:
            return ConversationMapping(
                shape="messages", id=_guess_id(good, columns), messages=name, role=role, text=text
            )
    return None


def _guess_rows(columns: list[str]) -> ConversationMapping | None:
    name, role, text = _first(IDS, columns), _first(ROLE_NAMES, columns), _first(TEXTS, columns)
    if not (name and role and text):
        return None
    return ConversationMapping(shape="rows", id=name, role=role, text=text, order=_first(ORDERS, columns))


def _guess_rows_by_values(good: list[Row], columns: list[str]) -> ConversationMapping | None:
    """Columns with names of one's own: a few speakers who take turns, the longest texts, and what stays the same for
    several rows."""
    values = {name: [as_text(row.cells.get(name)).strip() for row in good if _has(row)] for name in columns}
    speaking = {name: {each.casefold() for each in held} for name, held in values.items()}
    role = _first(ROLE_NAMES, columns)
    role = role or next((name for name in columns if len(speaking[name]) > 1 and speaking[name] <= _SPEAKERS), None)
    others = [name for name in columns if name != role]
    text = _first(TEXTS, others) or max(others, key=lambda name: sum(map(len, values[name])), default=None)
    keys = [name for name in others if name != text and 1 < len(set(values[name])) <= len(values[name]) / 2]
    # The rows of a conversation mostly lie together, those of a channel or a product do not.
    together = [name for name in keys if len(set(values[name])) == _count_runs(values[name])]
    key = next((name for name in (*together, *keys) if _LIKE_ID.search(_plain(name))), next(iter(together), None))
    if not (role and text and key):
        return None
    return ConversationMapping(shape="rows", id=key, role=role, text=text, order=_first(ORDERS, others))


def _count_runs(values: list[str]) -> int:
    return sum(place == 0 or values[place - 1] != value for place, value in enumerate(values))


def _guess_transcript(good: list[Row], columns: list[str]) -> ConversationMapping | None:
    """The column in which most texts have two speakers in front of lines: known ones, or in half of all texts any."""
    ordered = sorted(columns, key=lambda name: (name.strip().casefold() not in TRANSCRIPTS, columns.index(name)))
    best, most = None, 0
    for name in ordered:
        texts = [value for row in good if _has(row) and isinstance(value := row.cells.get(name), str)]
        spoken = sum(len(split_transcript(text)[1]) > 1 for text in texts)
        if not spoken and (named := sum(bool(find_names(text)) for text in texts)) * 2 >= len(texts):
            spoken = named
        if spoken > most:
            best, most = name, spoken
    return ConversationMapping(shape="transcript", id=_guess_id(good, columns), text=best) if best else None


def _guess_exchange(good: list[Row], columns: list[str]) -> ConversationMapping | None:
    text, reply = _first(ASKED, columns), _first(ANSWERED, columns)
    if not (text and reply):
        return None
    return ConversationMapping(shape="exchange", id=_guess_id(good, columns), text=text, reply=reply)


def _guess_roles(mapping: ConversationMapping, good: list[Row]) -> dict[str, Role]:
    """Some call the agent the system, the bot or the computer: so it is where nobody else answers, and it speaks about
    as often."""
    if mapping.shape == "messages":
        held = [row.cells if mapping.messages is None else row.cells.get(mapping.messages) for row in good if _has(row)]
        said = [message.get(mapping.role) for value in held for message in as_messages(value) or ()]
    elif mapping.shape == "exchange":
        said = []
    elif mapping.shape == "rows":
        said = [row.cells.get(mapping.role) for row in good if _has(row)]
    else:
        said = [who for row in good if _has(row) for who, _ in split_transcript(str(row.cells.get(mapping.text)))[1]]
    names = [str(who).strip().casefold() for who in said]
    if any(ROLES.get(name) == "agent" for name in names):
        return {}
    return {name: "agent" for name in _STAND_FOR_AGENT if names.count(name) * 4 > len(names)}


def _has(row: Row) -> bool:
    return isinstance(row.cells, dict)
