"""What the model under test of a run was offered: each system prompt with its tools once a run, beside its parts.

Attempts name theirs by id (`Attempt.offers`). A benchmark that puts a sample's own texts into the system prompt offers
something else each time: of a run at most MOST are kept, and attempts with others name none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from cxlab.records.offer import Offer
from cxlab.store import layout

MOST = 200
LARGEST = 4_000_000
"""Bytes of one offer; what is larger is not read."""


class OfferLog:
    """Stores what one process' calls of a run offer; `folder` is the run's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / layout.OFFERS
        self._known: dict[tuple[str, bytes, bool], str | None] = {}
        self._kept = {path.stem for path in self._folder.glob("*.json")}
        self._current: ContextVar[set[str | None] | None] = ContextVar("offers", default=None)

    @contextmanager
    def collect(self) -> Iterator[set[str | None]]:
        """The ids of what is offered meanwhile, in this task and in those that it starts; None for one not kept."""
        found: set[str | None] = set()
        token = self._current.set(found)
        try:
            yield found
        finally:
            self._current.reset(token)

    def note(self, messages: Sequence[dict[str, Any]], tools: list[dict[str, Any]] | None, chat: bool) -> None:
        """A call is made with these messages and tools; nothing is noted of one with neither system prompt nor tool."""
        first = messages[0] if messages else {}
        said = first.get("content") if first.get("role") in ("system", "developer") else ""
        system = said if isinstance(said, str) else ""
        if not system and not tools:
            return
        key = (system, orjson.dumps(tools or ()), chat)
        if key not in self._known:
            self._known[key] = self._keep(Offer(system=system, tools=tuple(tools or ()), chat=chat))
        if (current := self._current.get()) is not None:
            current.add(self._known[key])

    def _keep(self, offer: Offer) -> str | None:
        id = offer.id
        if id in self._kept:
            return id
        if len(self._kept) >= MOST:
            return None
        self._folder.mkdir(exist_ok=True)
        layout.write_whole(self._folder / f"{id}.json", offer.model_dump_json(indent=1).encode())
        self._kept.add(id)
        return id


def load_offers(run_id: str, home: Path | str | None = None) -> Mapping[str, Offer]:
    """Id → offer of a run; without those that cannot be read, and empty for a run of before they were kept."""
    found: dict[str, Offer] = {}
    for path in sorted((layout.run_folder(layout.resolve_home(home), run_id) / layout.OFFERS).glob("*.json"))[:MOST]:
        try:
            if path.stat().st_size <= LARGEST:
                found[path.stem] = Offer.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            continue
    return found
