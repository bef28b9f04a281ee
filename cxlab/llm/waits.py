"""Which calls of this process are waiting for a server at the moment, because it asked for it or had a fault."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# Shorter ones are over before anybody has read of them.
_WORTH_TELLING_S = 2.0


@dataclass(eq=False, slots=True)
class _Wait:
    whom: str
    why: str
    until: float


_WAITS: set[_Wait] = set()
_LISTENERS: list[Callable[[str], None]] = []


@contextmanager
def noted(whom: str, why: str, seconds: float) -> Iterator[None]:
    """Tell of a wait as long as the context lasts."""
    wait = _Wait(whom, why, time.monotonic() + seconds)
    if seconds >= _WORTH_TELLING_S:
        _WAITS.add(wait)
        _tell()
    try:
        yield
    finally:
        if wait in _WAITS:
            _WAITS.discard(wait)
            _tell()


def _tell() -> None:
    told = describe()
    for listener in _LISTENERS:
        listener(told)


@contextmanager
def told_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Tell the listener of each wait that begins or ends as long as the context lasts: what `describe` says then."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


@dataclass(frozen=True, slots=True)
class Waiting:
    """All calls that wait at one moment, told by the one that waits longest; `until` in seconds since 1970, so that
    another process can tell what is left of it."""

    whom: str
    why: str
    calls: int
    until: float

    def describe(self) -> str:
        """How many calls wait, for whom, how long still and why."""
        left = max(0.0, self.until - time.time())
        calls = "1 call" if self.calls == 1 else f"{self.calls} calls"
        return f"waiting for {self.whom or 'a server'}, {left:.0f} s ({calls}): {self.why}"


def find() -> Waiting | None:
    """What this process waits for; None where no call does."""
    if not _WAITS:
        return None
    longest = max(_WAITS, key=lambda wait: wait.until)
    # The clock that waits are measured by is of this process alone.
    until = time.time() + longest.until - time.monotonic()
    return Waiting(longest.whom, longest.why, len(_WAITS), until)


def describe() -> str:
    """What this process waits for, in words; "" where no call does."""
    waiting = find()
    return waiting.describe() if waiting is not None else ""
