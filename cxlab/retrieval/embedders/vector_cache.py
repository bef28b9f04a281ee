"""Vectors that were computed before: one SQLite file in WAL mode, by embedder and content."""

import hashlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadStore
from cxlab.retrieval.embedders.embedder import Embedder, embed_queries
from cxlab.store import layout

_LOG = logging.getLogger(__name__)
_SCHEMA = "create table if not exists vectors (key blob primary key, vector blob not null, stored real) without rowid"
_BUSY_S = 5.0
# Asked for at once (SQLite's own limit on parameters is 32,766); kept at once, so that little is lost by a stop.
_READ, _KEEP = 1_000, 1_024
# Computed between two reports of progress.
_STEP = 64


class CachedEmbedder:
    """An embedder that computes each text once; itself an embedder of the same name.

    A cache that cannot be written (disk full, lock held too long) is logged and left out.
    """

    def __init__(self, embedder: Embedder, path: Path | None = None) -> None:
        self.inner = embedder
        self.path = Path(path) if path is not None else layout.home() / "embeddings.sqlite"

    @property
    def name(self) -> str:
        """The inner embedder's."""
        return self.inner.name

    @property
    def dim(self) -> int:
        """The inner embedder's."""
        return self.inner.dim

    def count_cut(self, texts: Sequence[str]) -> int | None:
        """The inner embedder's; None where it does not say."""
        count = getattr(self.inner, "count_cut", None)
        return None if count is None else count(texts)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, from the file where it is there; what is new is kept in it, 1,024 texts at a time."""
        return self._rows(texts, self.inner.embed, "")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same for questions, kept apart where the inner embedder tells them from passages."""
        if getattr(self.inner, "embed_queries", None) is None:
            return self.embed(texts)
        return self._rows(texts, partial(embed_queries, self.inner), "query")

    def _rows(
        self, texts: Sequence[str], compute: Callable[[Sequence[str]], NDArray[np.float32]], side: str
    ) -> NDArray[np.float32]:
        keys = [self._key(text, side) for text in texts]
        known = self._read(list(dict.fromkeys(keys)))
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        wanted = list(new)
        for start in range(0, len(wanted), _KEEP):
            some = wanted[start : start + _KEEP]
            fresh = dict(zip(some, compute([new[key] for key in some]), strict=True))
            self._write(fresh)
            known.update(fresh)
        if not keys:
            return np.zeros((0, self.dim), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def fill(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Compute and keep what the file lacks, so that other processes find it there; yields (done, of) as it goes."""
        keys = {self._key(text): text for text in texts}
        known = self._read(list(keys))
        # Texts of like length side by side: padding is what a mixed batch spends its time on.
        wanted = sorted((text for key, text in keys.items() if key not in known), key=len)
        for start in range(0, len(wanted), _STEP):
            yield start, len(wanted)
            self.embed(wanted[start : start + _STEP])
        if wanted:
            yield len(wanted), len(wanted)

    def _key(self, text: str, side: str = "") -> bytes:
        # Passages are kept as they always were, so that what is there is found.
        said = f"{self.name}{side and chr(1) + side}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(said, digest_size=16).digest()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own for each use: any thread may ask."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_BUSY_S)
        try:
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=normal")
            connection.execute(_SCHEMA)
            with connection:
                yield connection
        except sqlite3.OperationalError as error:
            _LOG.warning("the cache of vectors %s cannot be used: %s", self.path, error)
        except sqlite3.DatabaseError as error:
            raise BadStore(f"{self.path}: not a cache of vectors ({error}); delete the file to start anew") from None
        finally:
            connection.close()

    def _read(self, keys: list[bytes]) -> dict[bytes, NDArray[np.float32]]:
        found: dict[bytes, NDArray[np.float32]] = {}
        with self._open() as connection:
            for start in range(0, len(keys), _READ):
                some = keys[start : start + _READ]
                marks = ",".join("?" * len(some))
                rows = connection.execute(f"select key, vector from vectors where key in ({marks})", some)
                found.update((key, np.frombuffer(vector, dtype="<f4").astype(np.float32)) for key, vector in rows)
        return found

    def _write(self, vectors: dict[bytes, NDArray[np.float32]]) -> None:
        stored = time.time()
        with self._open() as connection:
            connection.executemany(
                "insert or ignore into vectors values (?, ?, ?)",
                [(key, vector.astype("<f4").tobytes(), stored) for key, vector in vectors.items()],
            )
