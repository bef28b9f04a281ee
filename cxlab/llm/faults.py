"""Provider faults: told apart, and cleaned of keys."""

import email.utils
import json
import math
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from cxlab.llm.base import ProviderFault
from cxlab.records import Failure

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


# Spent money answers like a rate limit or a bad request, but never recovers within a run. "Exceeded your current quota"
# is not among the words: some say so of a limit by the minute.
_NO_MONEY = ("insufficient_quota", "insufficient_balance", "insufficient balance", "credit balance")


# How servers say that a model or they themselves do not take tools.
_TOOLS = re.compile(r"\b(?:tools?|tool[ _-]?(?:use|choice|calls?)|function[ _-]?call\w*)\b")
_NOT_TAKEN = ("not support", "unsupported", "no endpoints found", "requires", "not available", "not enabled", "unknown")


def refuses_tools(failure: Failure | None) -> bool:
    """Whether a call with tools may succeed without: what a server says of a request is not always to be understood."""
    return failure is not None and failure.where == "provider" and failure.type in ("no_tools", "bad_request")


def kind_of_status(status: int, code: str = "", message: str = "") -> FaultKind:
    """The kind of an HTTP error; `code` is the provider's own word for it, if it sent one."""
    said = f"{code} {message}".lower()
    if status == 402 or (status in (400, 403, 429) and any(words in said for words in _NO_MONEY)):
        return FaultKind("quota", False)
    if status == 429:
        return FaultKind("rate_limited", True)
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
    if status in (400, 404, 422, 501) and _TOOLS.search(said) and any(words in said for words in _NOT_TAKEN):
        return FaultKind("no_tools", False)
    if status in (404, 410) or "model_not_found" in said:
        return FaultKind("not_found", False)
    return FaultKind("bad_request", False)


def read_message(body: Any) -> str:
    """What a refusal says, in whichever of the forms that servers give it; "" for a page of HTML or nothing.

    `{"message": …}`, `{"error": …}`, `{"detail": …}`, a list of what is wrong with `loc` and `msg`, or plain text.
    """
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else " ".join(body.split())
    if isinstance(body, list):
        return "; ".join(filter(None, map(read_message, body)))
    if not isinstance(body, dict):
        return ""
    said = next(filter(None, (read_message(body.get(key)) for key in ("message", "error", "detail", "msg"))), "")
    place = body.get("loc")
    return f"{'.'.join(map(str, place))}: {said}" if said and isinstance(place, list) else said


def name_status(status: int) -> str:
    """The name of a status that came without a message: alone or with a page of HTML."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "no message"


def no_json(content: bytes, secrets: Iterable[str | None] = ()) -> "RetryFault":
    """The fault of a reply that is not JSON, which is worth a second try: nothing, a page, or a half."""
    text = content.decode("utf-8", "replace").strip()
    if not text:
        told = "the server's reply is empty"
    elif text.startswith("<"):
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.DOTALL | re.IGNORECASE)
        named = f" ({' '.join(title[1].split())[:80]!r})" if title else ""
        told = f"a page of HTML{named} came instead of JSON: a proxy stands before the server, or the address is wrong"
    else:
        told = f"the server's reply is not JSON: {text[:100]!r}"
    # Half an answer was written and may be billed; a page was not written by the model.
    return RetryFault(FaultKind("bad_reply", True), redact(told, secrets), broken_off=text.startswith("{"))


def read_json(content: bytes) -> dict[str, Any]:
    """The JSON object of a server's reply, {} for JSON of another kind; what is not JSON is worth a second try."""
    try:
        body = json.loads(content)
    except ValueError:
        raise no_json(content) from None
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
