"""How a stored dataset is copied to a system outside, and taken away again: `python -m cxlab upload DATASET`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.generation.stages import Progress
from cxlab.records.settings import Settings

Steps = Generator[Progress, None, "UploadReport"]


@dataclass(frozen=True)
class UploadReport:
    """What an upload would do or came to.

    `record` is what `upload --json` prints, `lines` are for a person, `complaints` what stands in the way or was
    refused. `whole`: nothing is left to be done.
    """

    record: Mapping[str, Any]
    lines: tuple[str, ...]
    complaints: tuple[str, ...] = ()
    whole: bool = True


@dataclass(frozen=True)
class Uploader:
    """Where a benchmark's datasets can be copied to; `to` names it, credentials come from the environment alone.

    `preview(dataset_id, options, undo)` says what would be done and changes nothing. `upload` and `undo` do it, telling
    of their progress; each goes on where it was stopped. `undo` takes away what `upload` made, and nothing else.
    """

    to: str
    preview: Callable[[str, Any, bool], UploadReport]
    upload: Callable[[str, Any], Steps]
    undo: Callable[[str, Any], Steps]
    Options: type[Settings] = Settings
