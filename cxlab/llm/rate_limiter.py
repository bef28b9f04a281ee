"""One pause and one limit of calls at a time for all that ask the same server with the same key.

A server that answers "too many requests" means all of them: each call that waited for itself would spend its tries on
what the first one was told already. So a wait that is asked for (Retry-After) holds all back, and after each refusal
half as many are let out at a time as were; one more again for each round of answers.
"""

import asyncio
import math
import random
import time
import weakref
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from cxlab.llm import waits
from cxlab.llm.faults import FaultKind, RetryFault


class RateLimiter:
    """Who may ask a server now, on one event loop. `limit`: calls at a time, None for as many as like."""

    def __init__(self) -> None:
        self.limit: int | None = None
        self._most = self._out = self._answers = self._fruitless = 0
        self._until = self._cut = -math.inf
        self._told: RetryFault | None = None
        self._moved: asyncio.Event | None = None

    @asynccontextmanager
    async def turn(self, whom: str, attempts: int, longest_wait_s: float) -> AsyncIterator[None]:
        """Wait until a call may go out, and heed what comes of it.

        After `attempts` pauses in a row that brought no answer their fault is raised as long as the last one holds.
        """
        await self._wait(whom, attempts)
        self._out += 1
        begun = time.monotonic()
        try:
            yield
            self._note_answer()
        except RetryFault as fault:
            wait_s = fault.wait_s if fault.failure.retryable else None
            if fault.failure.type == "rate_limited" or wait_s is not None:
                self._slow_down(fault, begun, None if (wait_s or 0.0) > longest_wait_s else wait_s)
            raise
        finally:
            self._out -= 1
            if self._moved is not None:
                self._moved.set()
                self._moved = None

    async def _wait(self, whom: str, attempts: int) -> None:
        while True:
            left = self._until - time.monotonic()
            if left > 0 and self._told is not None:
                if self._fruitless >= attempts:
                    raise _give_up(self._told, self._fruitless)
                with waits.noted(whom, self._told.failure.message, left):
                    await asyncio.sleep(left)
            elif self.limit is not None and self._out >= self.limit:
                self._moved = self._moved or asyncio.Event()
                await self._moved.wait()
            else:
                return

    def _slow_down(self, fault: RetryFault, begun: float, wait_s: float | None) -> None:
        now = time.monotonic()
        if wait_s is not None:
            # Spread a little: there may be other processes that were told the same.
            self._until, self._told = max(self._until, now + wait_s * random.uniform(1.0, 1.1)), fault
        if begun < self._cut:
            return  # it went out before the last refusal, and says nothing of how it is now
        self._cut = now
        self._fruitless += wait_s is not None
        self._most = max(self._most, self._out)
        self.limit, self._answers = max(1, self._out // 2), 0

    def _note_answer(self) -> None:
        self._fruitless = 0
        if self.limit is None:
            return
        self._answers += 1
        if self._answers >= self.limit:
            self.limit, self._answers = self.limit + 1, 0
        if self.limit >= self._most:
            self.limit, self._most = None, 0


def _give_up(fault: RetryFault, pauses: int) -> RetryFault:
    said = f"{fault.failure.message}; {pauses} pauses in a row as long as it asked for brought no answer"
    return RetryFault(FaultKind(fault.failure.type, False), said, None, fault.status)


_LIMITERS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, RateLimiter]] = (
    weakref.WeakKeyDictionary()
)


def of(server: Hashable) -> RateLimiter:
    """The one of this loop for a server and key."""
    return _LIMITERS.setdefault(asyncio.get_running_loop(), {}).setdefault(server, RateLimiter())
