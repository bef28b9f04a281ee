"""Provider faults: told apart, cleaned of keys, and retried where that can help."""

import asyncio
import email.utils
import json
import math
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from cxlab.llm.base import ProviderFault
from cxlab.records import Usage

T = TypeVar("T")

# What a key looks like when a provider quotes one in its message, whole or half masked.
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|AIza)[-_A-Za-z0-9*.]{6,}|(?i:bearer)\s+\S+")


def redact(message: str, secrets: Iterable[str | None] = ()) -> str:
    """The message with every given secret, and whatever looks like a key, replaced; at most 500 characters."""
    for secret in secrets:
        if secret:
            message = message.replace(secret, "[key]")
    message = _KEY_LIKE.sub("[key]", message)
    return message if len(message) <= 500 else message[:499] + "…"


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A fault's type and whether a second try can help."""

    type: str
    retryable: bool


def kind_of_status(status: int, code: str = "", message: str = "") -> FaultKind:
    """The kind of an HTTP error; `code` is the provider's own word for it, if it sent one."""
    said = f"{code} {message}".lower()
    if status == 429:
        # A spent quota answers like a rate limit but never recovers within a run.
        return FaultKind("rate_limited", "insufficient_quota" not in said)
    if status in (401, 403):
        return FaultKind("auth", False)
    if status == 408:
        return FaultKind("timeout", True)
    if status >= 500:
        return FaultKind("server_error", True)
    if "content_filter" in said or "content_policy" in said:
        return FaultKind("refused", False)
    if status in (400, 413) and any(words in said for words in ("context_length", "context length", "maximum context")):
        return FaultKind("too_long", False)
    return FaultKind("bad_request", False)


def read_json(content: bytes) -> dict[str, Any]:
    """The JSON object of a server's reply, {} for JSON of another kind; what is not JSON is worth a second try."""
    try:
        body = json.loads(content)
    except ValueError:
        said = redact(content[:100].decode("utf-8", "replace"))
        raise RetryFault(FaultKind("bad_reply", True), f"the server's reply is not JSON: {said!r}") from None
    return body if isinstance(body, dict) else {}


def retry_after_s(header: str | None, now: float | None = None) -> float | None:
    """Seconds to wait by a Retry-After header (a number or an HTTP date); None when it says nothing usable."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - (time.time() if now is None else now)
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


class RetryFault(ProviderFault):
    """A fault on the way to a retry: it also knows how long the server asked us to wait.

    `broken_off`: the request had gone out, and its answer did not come (to its end): the server may bill it.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        wait_s: float | None = None,
        status: int | None = None,
        broken_off: bool = False,
    ) -> None:
        super().__init__(kind.type, message, kind.retryable)
        self.wait_s = wait_s
        self.status = status
        self.broken_off = broken_off


async def retrying(
    call: Callable[[], Awaitable[T]],
    attempts: int,
    longest_wait_s: float,
    first_wait_s: float = 0.5,
    give_up: Callable[[RetryFault], bool] | None = None,
) -> tuple[T, int]:
    """(result, retries) of up to `attempts` calls; raises the last fault as ProviderFault with its retries.

    Waits are exponential with jitter, so that a hundred callers do not come back together; the
    server's Retry-After is honoured up to `longest_wait_s`. A timeout is tried only once more: each one
    costs the whole read timeout. `give_up` may end it early.
    """
    retries, timeouts = 0, 0
    while True:
        try:
            return await call(), retries
        except RetryFault as fault:
            timeouts += fault.failure.type == "timeout"
            last = retries + 1 >= attempts or timeouts >= 2 or not fault.failure.retryable
            if last or (give_up is not None and give_up(fault)):
                fault.usage = with_retries(fault.usage, retries)
                raise
            # Jitter only spreads callers out; it reaches no result, so it needs no seed.
            wait = random.uniform(0.5, 1.0) * min(longest_wait_s, first_wait_s * 2**retries)
            if fault.wait_s is not None:
                wait = min(longest_wait_s, fault.wait_s * random.uniform(1.0, 1.1))
            retries += 1
        await asyncio.sleep(wait)


def with_retries(usage: Usage, retries: int, unanswered: int = 0) -> Usage:
    """The usage with this many retries counted, and requests that were broken off."""
    return usage.model_copy(update={"retries": retries, "unanswered": unanswered})
