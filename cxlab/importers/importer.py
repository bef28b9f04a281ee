"""What a source of other people's files is, and what it tells of what it read."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from cxlab.records import Dataset
from cxlab.records.progress import Progress
from cxlab.records.settings import Settings


@dataclass(frozen=True)
class ImportReport:
    """What an import came to.

    `record` is what `import --json` prints and others read: its keys stay. `lines` are for a person, `complaints` what
    was not taken or did not hold. `failed`: a check that was asked for found something (exit code 1).
    """

    record: Mapping[str, Any]
    lines: tuple[str, ...]
    complaints: tuple[str, ...] = ()
    failed: bool = False


class Imported(Protocol):
    """Other people's files, read and checked; nothing is stored before `save`, which `report` comes after.

    `dataset` is None where only figures were read.
    """

    @property
    def dataset(self) -> Dataset | None: ...
    def save(self, home: Path | str | None = None) -> None: ...
    def report(self) -> ImportReport: ...


def read_late(place: str) -> Callable[[Path, Any], Imported]:
    """What reads a path for a source without flags of its own, by `module:function`; loaded when it is first used."""

    def read(path: Path, options: Any) -> Imported:
        del options
        module, _, name = place.partition(":")
        found: Imported = getattr(importlib.import_module(module), name)(path)
        return found

    return read


@dataclass(frozen=True)
class Importer:
    """A source of other people's files: `python -m cxlab import ID PATH --FLAG`; see cxlab/importers.

    `takes` says what PATH is. `read(path, options)` raises BadFile for what cannot be read at all. `Options` are the
    source's own flags. `read_named(options)` reads what those flags name where no PATH is given; None: it is needed.
    """

    id: str
    title: str
    takes: str
    read: Callable[[Path, Any], Imported]
    Options: type[Settings] = Settings
    read_named: Callable[[Any], Imported] | None = None
    in_steps: Callable[[Path, Any], Generator[Progress, None, Imported]] | None = None
    """`read`, and `named_in_steps` `read_named`, with progress, where reading takes longer than one waits."""
    named_in_steps: Callable[[Any], Generator[Progress, None, Imported]] | None = None
