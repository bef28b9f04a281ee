"""Replies that were already paid for: one SQLite file in WAL mode, shared by any number of processes."""

import hashlib
import json
import logging
import sqlite3
import threading
import time
from pathlib import Path

from cxlab.errors import BadStore
from cxlab.llm.base import Completion, Request
from cxlab.llm.ladder import schema_of
from cxlab.records import ToolCall, Usage

_LOG = logging.getLogger(__name__)
_SCHEMA = """
create table if not exists replies (
    key text primary key,
    model text not null,
    prompt text not null,
    reply text not null,
    stored real not null
) without rowid
"""
# Long enough for another process's batch, short enough not to look like a hang.
_BUSY_S = 5.0


class ReplyCache:
    """Completions by prompt hash, rendered messages, model, parameters and seed.

    A hit costs nothing: its usage says `cached_calls=1`, no call and no tokens, so that adding up usage
    counts each paid call once. Faults are never stored, and replies without a word only with `empty`. A cache that
    cannot be written (disk full, lock held too long) is logged and left out: it must not spoil a run.
    """

    def __init__(self, path: Path, empty: bool = False) -> None:
        self.path, self._empty = Path(path), empty
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma synchronous=normal")
            self._db.execute(_SCHEMA)
        except sqlite3.DatabaseError as error:
            raise BadStore(f"{self.path}: not a reply cache ({error}); delete the file to start a new one") from None

    @staticmethod
    def key(model: str, request: Request) -> str:
        """Digest of everything that decides the reply; a schema and a tool list are part of it."""
        prompt = request.prompt.hash if request.prompt is not None else ""
        schema = schema_of(request.schema) if request.schema is not None and not prompt else None
        # Left out where it is not asked for, so that what was stored before it existed is still found.
        asked_for = ["require_tool"] if request.require_tool else []
        asked_for += [f"top_p {request.top_p}"] if request.top_p is not None else []
        parts = (prompt, list(request.messages), schema, request.tools, model, request.temperature, request.max_tokens)
        text = json.dumps((*parts, request.seed, *asked_for), sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()

    def get(self, key: str) -> Completion | None:
        """The stored completion, marked as cached; None when there is none or it cannot be read."""
        started = time.perf_counter()
        try:
            with self._lock:
                row = self._db.execute("select reply from replies where key = ?", (key,)).fetchone()
        except sqlite3.OperationalError as error:
            _LOG.warning("reply cache %s cannot be read: %s", self.path, error)
            return None
        if row is None:
            return None
        found = json.loads(row[0])
        return Completion(
            text=found["text"],
            tool_calls=tuple(ToolCall(**tool_call) for tool_call in found["tool_calls"]),
            usage=Usage(prompt_tokens=0, completion_tokens=0, cached_calls=1),
            latency_s=time.perf_counter() - started,
            finish_reason=found["finish_reason"],
            reasoning=found.get("reasoning", ""),
            limit=found.get("limit"),
        )

    def takes(self, completion: Completion) -> bool:
        """Whether this completion is one to be stored."""
        return self._empty or bool(completion.text or completion.tool_calls)

    def put(self, key: str, completion: Completion, model: str = "", prompt: str = "") -> None:
        """Store a completion; the first one stored under a key stays, so that every reader agrees."""
        reply = json.dumps(
            {
                "text": completion.text,
                "tool_calls": [tool_call.model_dump() for tool_call in completion.tool_calls],
                "finish_reason": completion.finish_reason,
                "reasoning": completion.reasoning,
                "limit": completion.limit,
                "usage": completion.usage.model_dump(),
                "latency_s": completion.latency_s,
            }
        )
        try:
            with self._lock:
                self._db.execute(
                    "insert or ignore into replies values (?, ?, ?, ?, ?)", (key, model, prompt, reply, time.time())
                )
        except sqlite3.OperationalError as error:
            _LOG.warning("reply cache %s cannot be written: %s", self.path, error)

    def __len__(self) -> int:
        with self._lock:
            return int(self._db.execute("select count(*) from replies").fetchone()[0])

    def close(self) -> None:
        """Close the file; other processes are not affected."""
        with self._lock:
            self._db.close()
