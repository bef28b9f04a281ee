"""Which record of a live organisation is which of a stored one, where it was uploaded.

A file a dataset and host in the store, `uploads/DATASET/HOST.tsv`: stored id and the server's, a line each. A third
column names the object of a record that the upload made (`upload.py`); lines with two are a person's. "-" in place of
the server's id takes an earlier line back. Beside it `HOST.sending` keeps the batch under way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from cxlab.errors import BadFile
from cxlab.store import layout

_GONE = "-"


class Pair(NamedTuple):
    """The server's id of a stored record, and its object where the upload made it."""

    id: str
    object: str


class SentBatch(NamedTuple):
    """A batch whose answer is not known: its object, when it was sent, and what was sent by stored id."""

    object: str
    since: datetime
    bodies: Mapping[str, Mapping[str, Any]]


def find_file(dataset_id: str, host: str, home: Path | str | None) -> Path:
    """Where the ids of a dataset at a host are noted."""
    return (
        layout.resolve_home(home) / "uploads" / layout.check_id("dataset", dataset_id) / f"{host.replace(':', '_')}.tsv"
    )


def read_ids(dataset_id: str, host: str, home: Path | str | None) -> dict[str, str]:
    """Stored id → the server's; none where no file pairs them."""
    return {ours: pair.id for ours, pair in _read(find_file(dataset_id, host, home)).items()}


def _read(path: Path) -> dict[str, Pair]:
    if not path.is_file():
        return {}
    pairs: dict[str, Pair] = {}
    # A line that was cut short has no end and does not count.
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], 1):
        ours, theirs, *rest = [*line.strip().split("\t"), ""]
        if not (ours and theirs):
            raise BadFile(path, number, "is no pair of ids", "write the dataset's id, a tab and the organisation's")
        if theirs == _GONE:
            pairs.pop(ours, None)
        else:
            pairs[ours] = Pair(theirs, rest[0])
    return pairs


@dataclass
class UploadLog:
    """The ids of one upload as they come and go, each noted at once."""

    path: Path
    pairs: dict[str, Pair]
    ids: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = {ours: pair.id for ours, pair in self.pairs.items()}

    def list_made(self, object_name: str) -> dict[str, str]:
        """Stored id → the server's of the records of an object that the upload made."""
        return {ours: pair.id for ours, pair in self.pairs.items() if pair.object == object_name}

    def add(self, object_name: str, made: Mapping[str, str]) -> None:
        """Note records that were made."""
        self._append(f"{ours}\t{theirs}\t{object_name}\n" for ours, theirs in made.items())
        self.pairs |= {ours: Pair(theirs, object_name) for ours, theirs in made.items()}
        self.ids |= made

    def drop(self, gone: Mapping[str, str]) -> None:
        """Note records that are no longer there."""
        self._append(f"{ours}\t{_GONE}\n" for ours in gone)
        for ours in gone:
            del self.pairs[ours], self.ids[ours]

    def _append(self, lines: Iterator[str]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(lines)

    @property
    def _sending(self) -> Path:
        return self.path.with_suffix(".sending")

    def begin(self, object_name: str, bodies: Mapping[str, Mapping[str, Any]]) -> None:
        """Note a batch before it is sent: where its answer is lost it may have been made all the same."""
        noted = {"object": object_name, "since": datetime.now(UTC).isoformat(), "bodies": bodies}
        layout.write_whole(self._sending, json.dumps(noted).encode())

    def end(self) -> None:
        """The answer came and its ids are noted."""
        self._sending.unlink(missing_ok=True)

    def find_lost(self) -> SentBatch | None:
        """The batch that an earlier try sent without hearing of it."""
        if not self._sending.is_file():
            return None
        noted = json.loads(self._sending.read_text(encoding="utf-8"))
        return SentBatch(noted["object"], datetime.fromisoformat(noted["since"]), noted["bodies"])


def look_at(dataset_id: str, host: str, home: Path | str | None = None) -> UploadLog:
    """What was uploaded so far, to be looked at."""
    path = find_file(dataset_id, host, home)
    return UploadLog(path, _read(path))


@contextmanager
def hold(dataset_id: str, host: str, home: Path | str | None = None) -> Iterator[UploadLog]:
    """What was uploaded so far, for the one process that changes it; Busy for a second one."""
    path = find_file(dataset_id, host, home)
    path.parent.mkdir(parents=True, exist_ok=True)
    with layout.lock(path.with_suffix(".lock"), busy=f"{dataset_id} is being uploaded to {host} already"):
        if path.is_file() and not (noted := path.read_bytes()).endswith(b"\n"):
            layout.write_whole(path, noted[: noted.rfind(b"\n") + 1])
        yield UploadLog(path, _read(path))
