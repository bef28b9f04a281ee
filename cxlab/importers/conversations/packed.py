"""Many conversations in little memory: each is kept as compressed JSON, and made anew when it is asked for."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Self

from cxlab.errors import BadStore
from cxlab.records import Conversation

if TYPE_CHECKING:
    import polars as pl

# The fastest: higher ones take several times as long for a few per cent.
_LEVEL = 1


class PackedConversations(MutableMapping[str, Conversation]):
    """Conversations by id, in the order in which they came.

    As objects 100,000 conversations of 270 words take some 1.3 GB, packed a tenth of that. Each look makes a new
    object, in tens of microseconds: keep the one at hand instead of asking twice.
    """

    def __init__(self, given: Mapping[str, Conversation] | None = None) -> None:
        self._packed: dict[str, bytes] = {}
        if isinstance(given, PackedConversations):
            self._packed = dict(given._packed)
        elif given is not None:
            self.update(given)

    @classmethod
    def from_table(cls, table: pl.DataFrame, dataset_id: str) -> Self:
        """Those of a dataset's table of conversations, in its order; BadStore for a table that lacks a column."""
        if lacking := {"conversation_id", "messages"} - set(table.columns):
            raise BadStore(f"dataset {dataset_id!r}: its table of conversations lacks {', '.join(sorted(lacking))}")
        found = cls()
        labels = table["labels"] if "labels" in table.columns else [None] * table.height
        for id, messages, told in zip(table["conversation_id"], table["messages"], labels, strict=True):
            found.put_stored(id, messages, told)
        return found

    def put_stored(self, id: str, messages: str | None, labels: str | None) -> None:
        """Take one whose messages and labels are JSON already; what they hold is checked when it is asked for."""
        text = f'{{"messages":{messages or "[]"},"labels":{labels or "{}"}}}'
        self._packed[id] = zlib.compress(text.encode(), _LEVEL)

    def move(self, id: str, origin: PackedConversations) -> None:
        """Take one over from others as it is."""
        self._packed[id] = origin._packed.pop(id)

    def __getitem__(self, id: str) -> Conversation:
        return Conversation.model_validate_json(
            b'{"id":' + json.dumps(id).encode() + b"," + zlib.decompress(self._packed[id])[1:]
        )

    def __setitem__(self, id: str, talk: Conversation) -> None:
        text = talk.model_dump_json(exclude={"id"}, exclude_defaults=True)
        self._packed[id] = zlib.compress(text.encode(), _LEVEL)

    def __delitem__(self, id: str) -> None:
        del self._packed[id]

    def __contains__(self, id: object) -> bool:
        return id in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)
