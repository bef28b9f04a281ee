"""A Chroma collection that is kept and brought up to date by what has changed: one process writes it, any may ask.

It lies in a folder, or on a server (`chroma run --path FOLDER --port 8000`) where $CXLAB_CHROMA names one, as
http://127.0.0.1:8000. A process sees nothing of what another one writes into a folder before it opens it anew; so what
an index holds stands in a file beside it, and who asks opens the collection again when that file has changed.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption, BadStore, CxError, NotConfigured, Unreachable
from cxlab.records import new_id
from cxlab.retrieval.documents import readable
from cxlab.retrieval.embedders.embedder import Embedder
from cxlab.store import layout

SERVER = "CXLAB_CHROMA"
"""The environment variable with the address of a Chroma server."""
WAIT_S = 600.0
"""How long one process waits for another that writes the same index."""
STEP = 512
"""Pieces that are embedded and added between two words of progress."""
_STATE = "index.json"
# How widely the graph is searched; below what is asked for Chroma would miss results.
_SEARCH_WIDTH = 400
_OPENED: dict[Path, tuple[str, Any, Any]] = {}
_OPENING = threading.Lock()


class Piece(NamedTuple):
    """A text, and short values that come back with it."""

    text: str
    note: dict[str, str | int]


class NearestPiece(NamedTuple):
    """A piece that was found, with the cosine."""

    note: dict[str, Any]
    score: float


class State(NamedTuple):
    """What a finished index holds: `holds` is its maker's word for it; `stamp` changes with each writing."""

    stamp: str
    holds: str
    pieces: int
    server: str


def read_state(folder: Path) -> State | None:
    """What the index of that folder holds; None while it is written, after that broke off, and before the first time.

    An index of another server, or of none, is not there.
    """
    try:
        found = State(**json.loads((folder / _STATE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    return found if found.server == os.environ.get(SERVER, "") else None


def update(folder: Path, pieces: Mapping[str, Piece], embedder: Embedder, holds: str) -> Iterator[tuple[int, int]]:
    """Bring an index to hold exactly these pieces by id; yields (added, to be added) as it goes.

    What it holds already is left as it is, so that a change costs what has changed and a build that broke off goes on;
    an id has to change with its text. Waits for another process that writes it, Busy after WAIT_S. BadStore where
    the index does not hold in the end what it should.
    """
    from chromadb.errors import ChromaError

    busy = f"another process writes the index {folder.name}; wait for it"
    with layout.lock(folder / ".writer.lock", WAIT_S, busy):
        (folder / _STATE).unlink(missing_ok=True)
        _release(folder)
        client, collection = _connect_to_write(folder)
        try:
            held = set(collection.get(include=[])["ids"])
            gone, lacking = sorted(held - pieces.keys()), [each for each in pieces if each not in held]
            yield 0, len(lacking)
            most = client.get_max_batch_size()
            for start in range(0, len(gone), most):
                collection.delete(ids=gone[start : start + most])
            for start in range(0, len(lacking), STEP):
                some = lacking[start : start + STEP]
                vectors = embedder.embed(readable(pieces[each].text for each in some))
                collection.add(ids=some, embeddings=vectors, metadatas=[pieces[each].note for each in some])
                yield start + len(some), len(lacking)
            count = int(collection.count())
        except ChromaError as error:
            raise BadStore(f"Chroma cannot write the index {folder.name}: {str(error)[:200]}") from None
        finally:
            client.close()
        if count != len(pieces):
            raise BadStore(f"the index {folder.name} holds {count:,} of {len(pieces):,} pieces; build it once more")
        state = State(new_id("index"), holds, count, os.environ.get(SERVER, ""))
        layout.write_whole(folder / _STATE, json.dumps(state._asdict()).encode())


def find_near(folder: Path, vector: NDArray[np.float32], count: int) -> list[NearestPiece]:
    """The pieces nearest to a vector, best first, fewer where it holds fewer; none for a vector of zeros.

    Approximate: pieces may be missing. BadOption where the index is not there or not finished, BadStore where
    it cannot be read.
    """
    state = read_state(folder)
    if state is None:
        raise BadOption("this index is not built; bring it up to date first")
    if not vector.any() or not state.pieces:
        return []
    collection = _open(folder, state)
    most = min(max(count, min(_SEARCH_WIDTH, state.pieces)), state.pieces)
    from chromadb.errors import ChromaError

    try:
        told = collection.query(
            query_embeddings=vector[None], n_results=most, include=["distances", "metadatas"]
        )  # fmt: skip
    except ChromaError as error:
        raise BadStore(f"Chroma cannot read the index {folder.name}: {str(error)[:200]}; build it anew") from None
    rows = zip(told["metadatas"][0], told["distances"][0], strict=True)
    found = [NearestPiece(dict(note), float(1 - distance)) for note, distance in rows]
    found.sort(key=lambda near: -near.score)
    return found[:count]


def _open(folder: Path, state: State) -> Any:
    with _OPENING:
        kept = _OPENED.get(folder)
        if kept is not None and kept[0] == state.stamp:
            return kept[2]
        if kept is not None:
            kept[1].close()
        client = _connect(folder)
        try:
            collection = client.get_collection(_name(folder), embedding_function=None)
        except Exception as error:  # of a server and of a folder they are of many kinds, and all mean the same
            client.close()
            raise BadStore(f"Chroma does not have the index {folder.name} ({error}); build it anew") from None
        _OPENED[folder] = (state.stamp, client, collection)
        return collection


def _release(folder: Path) -> None:
    """Let go of what this process has opened to read: it would hold the old state."""
    with _OPENING:
        if (kept := _OPENED.pop(folder, None)) is not None:
            kept[1].close()


def _connect_to_write(folder: Path) -> tuple[Any, Any]:
    """(client, collection); a folder that Chroma cannot read is begun anew."""
    try:
        return _make(folder)
    except CxError:
        raise
    except Exception:
        if os.environ.get(SERVER):
            raise
        # Under another name: Chroma keeps what it has opened by its path, also when its files are gone.
        with suppress(OSError):
            shutil.rmtree(_data(folder))
        (folder / new_id("chroma")).mkdir()
        return _make(folder)


def _make(folder: Path) -> tuple[Any, Any]:
    client = _connect(folder)
    try:
        collection = client.get_or_create_collection(
            _name(folder),
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine", "ef_search": _SEARCH_WIDTH}},
        )
    except BaseException:
        client.close()
        raise
    return client, collection


def _connect(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    address = os.environ.get(SERVER, "")
    if not address:
        _data(folder).mkdir(parents=True, exist_ok=True)
        return chromadb.PersistentClient(str(_data(folder)), settings)
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NotConfigured(f"{SERVER}={address[:80]!r} is no address; write it as http://127.0.0.1:8000")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 8000)
        return chromadb.HttpClient(parts.hostname, port, ssl=parts.scheme == "https", settings=settings)
    except ValueError as error:
        raise Unreachable(
            f"no Chroma server answers at {address} ({error}); start one with: chroma run --path FOLDER --port PORT"
        ) from None


def _data(folder: Path) -> Path:
    return next(iter(sorted(folder.glob("chroma*"))), folder / "chroma")


def _name(folder: Path) -> str:
    return f"cxlab-{folder.name}"
