"""How far work is that is done step by step: a generator of `Progress` that returns what it made."""

from collections.abc import Callable, Generator
from typing import NamedTuple, TypeVar

Out = TypeVar("Out")


class Progress(NamedTuple):
    """How far a stage is."""

    stage: str
    done: int
    total: int


def finish(steps: Generator[Progress, None, Out], tell: Callable[[str, int, int], object] | None = None) -> Out:
    """Work through the steps and give what they return; `tell` is called with each (stage, done, total)."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            made: Out = end.value
            return made
        if tell is not None:
            tell(*step)
