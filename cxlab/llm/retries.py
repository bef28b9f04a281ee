"""Tries of one call: as many as are worth it, with waits between them."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from cxlab.llm import waits
from cxlab.llm.faults import FaultKind, RetryFault
from cxlab.llm.rate_limiter import RateLimiter
from cxlab.records import Usage

T = TypeVar("T")

# A date a hundred years ahead is as good as never.
_LONGEST_TOLD_S = 3e9


async def retrying(
    call: Callable[[], Awaitable[T]],
    attempts: int,
    longest_wait_s: float,
    first_wait_s: float = 0.5,
    give_up: Callable[[RetryFault], bool] | None = None,
    whom: str = "",
    limiter: RateLimiter | None = None,
) -> tuple[T, int]:
    """(result, retries) of up to `attempts` calls; raises the last fault as ProviderFault with its retries.

    Waits are exponential with jitter, so that a hundred callers do not come back together; the
    server's Retry-After is honoured up to `longest_wait_s`. Where it asks for more, nothing is asked again: coming back
    early is what it forbids, and minutes of silence are for whoever ordered the run to decide on. A timeout is tried
    only once more: each one costs the whole read timeout. `give_up` may end it early. While it waits for `whom`,
    `waits.describe` says so. With a `limiter` a wait that the server asks for is one for all that share it.
    """
    retries, timeouts = 0, 0
    while True:
        try:
            async with limiter.turn(whom, attempts, longest_wait_s) if limiter else nullcontext():
                return await call(), retries
        except RetryFault as fault:
            timeouts += fault.failure.type == "timeout"
            if fault.failure.retryable and fault.wait_s is not None and fault.wait_s > longest_wait_s:
                raise _as_too_long_a_wait(fault, longest_wait_s, retries) from None
            last = retries + 1 >= attempts or timeouts >= 2 or not fault.failure.retryable
            if last or (give_up is not None and give_up(fault)):
                fault.usage = with_retries(fault.usage, retries)
                raise
            # Jitter only spreads callers out; it reaches no result, so it needs no seed.
            wait = random.uniform(0.5, 1.0) * min(longest_wait_s, first_wait_s * 2**retries)
            if fault.wait_s is not None:
                wait = min(longest_wait_s, fault.wait_s * random.uniform(1.0, 1.1))
            retries += 1
            if limiter is not None and fault.wait_s is not None:
                continue
            why = fault.failure.message
        with waits.noted(whom, why, wait):
            await asyncio.sleep(wait)


def _as_too_long_a_wait(fault: RetryFault, longest_wait_s: float, retries: int) -> RetryFault:
    """The same fault with what the server asks for, and until when."""
    wait_s = fault.wait_s or 0.0
    until = datetime.now(UTC) + timedelta(seconds=min(wait_s, _LONGEST_TOLD_S))
    said = f"{fault.failure.message}; the server asks to wait {wait_s:,.0f} s, until {until:%H:%M} UTC, "
    said += f"which is more than longest_wait_s = {longest_wait_s:g} in models.toml"
    told = RetryFault(FaultKind(fault.failure.type, True), said, wait_s, fault.status, fault.broken_off)
    told.usage = with_retries(fault.usage, retries)
    return told


def with_retries(usage: Usage, retries: int, unanswered: int = 0) -> Usage:
    """The usage with this many retries counted, and requests that were broken off."""
    return usage.model_copy(update={"retries": retries, "unanswered": unanswered})
