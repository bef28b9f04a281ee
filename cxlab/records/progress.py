"""How far work is that is done step by step: a generator of `Progress` that returns what it made."""

from collections.abc import Generator
from typing import NamedTuple, TypeVar

Out = TypeVar("Out")


class Progress(NamedTuple):
    """How far a stage is."""

    stage: str
    done: int
    total: int


def finish(steps: Generator[Progress, None, Out]) -> Out:
    """Work through the steps and give what they return; for callers who need no progress."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            made: Out = end.value
            return made
