"""Replies that attempts under way have had, kept in the run's folder until nothing of the run is left to do.

For attempts that ask so many questions that one fault, or a stop, must not cost all of them. A hit costs nothing: what
it took was counted where it was first given.
"""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from cxlab.store import layout

if TYPE_CHECKING:
    from cxlab.llm.cache import ReplyCache


class KeptReplies:
    """The kept replies of one run; the file appears with the first of them."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / layout.REPLIES
        self._cache: ReplyCache | None = None

    def open(self) -> "ReplyCache":
        """Where they are kept. An empty reply is one as well: it came, and was paid for."""
        if self._cache is None:
            from cxlab.llm.cache import ReplyCache  # late: SQLite, which few runs need

            self._cache = ReplyCache(self._path, empty=True)
        return self._cache

    def close(self) -> None:
        """Close the file, if it was opened."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None


def take_over(source: Path, folder: Path) -> None:
    """What was kept in the folder of one run is known to that in another from now on."""
    if not (source / layout.REPLIES).is_file():
        return
    import sqlite3

    with (
        closing(sqlite3.connect(source / layout.REPLIES)) as old,
        closing(sqlite3.connect(folder / layout.REPLIES)) as new,
    ):
        old.backup(new)


def drop(folder: Path) -> None:
    """Forget them: the run is whole."""
    for beside in ("", "-wal", "-shm"):
        (folder / f"{layout.REPLIES}{beside}").unlink(missing_ok=True)
