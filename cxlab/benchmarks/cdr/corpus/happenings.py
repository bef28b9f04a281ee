"""What can happen in a generated conversation (data/cdr/happenings.yaml): told to writers, asked for by queries."""

from __future__ import annotations

import functools
from typing import Annotated

from pydantic import Field

from cxlab import resources
from cxlab.benchmarks.cdr.corpus.written import AREAS, DOMAINS
from cxlab.errors import BadFile
from cxlab.files import load_model
from cxlab.records.base import Record

PATH = resources.data("cdr", "happenings.yaml")
Lines = Annotated[tuple[str, ...], Field(min_length=1)]


class Happening(Record):
    """One thing that happens. `means` is for the writer, `queries` are for who searches, in other words; `backwards`
    names what runs the opposite way."""

    area: str
    means: str
    queries: Lines
    backwards: str | None = None


class Happenings(Record):
    """The whole file; `topics`: domain → what conversations are about."""

    happenings: dict[str, Happening]
    topics: dict[str, Lines]


@functools.cache
def load_happenings() -> Happenings:
    """The file that ships; BadFile for what is wrong with it."""
    found = load_model(PATH, Happenings, "see the head of the file")
    for name, one in found.happenings.items():
        if one.area not in AREAS:
            raise BadFile(PATH, None, f"{name}: {one.area!r} is no area")
        if one.backwards is not None and one.backwards not in found.happenings:
            raise BadFile(PATH, None, f"{name}: {one.backwards!r} does not happen here")
    if lost := found.topics.keys() ^ DOMAINS.keys():
        raise BadFile(PATH, None, f"topics: {min(lost)!r} is no domain, or lacks topics")
    return found
