"""Models behind an OpenAI-compatible server, through the `openai` SDK on one shared aiohttp client."""

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cxlab.llm import openai_clients, rate_limiter
from cxlab.llm.base import Completion, ProviderFault, Request
from cxlab.llm.completions import StreamedCompletion, read_completion, read_listed
from cxlab.llm.faults import (
    FaultKind,
    RetryFault,
    kind_of_status,
    name_status,
    no_json,
    read_message,
    redact,
    retry_after_s,
)
from cxlab.llm.ladder import Ladder, response_format, with_instruction
from cxlab.llm.metering import Prices
from cxlab.llm.openai_clients import OPENAI_URL, EndpointOptions
from cxlab.llm.parsing import hide_thinking
from cxlab.llm.rate_limiter import RateLimiter
from cxlab.llm.retries import retrying, with_retries
from cxlab.records import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# Words by which a server says that it does not take a parameter, rather than that its value is too large.
_REFUSALS = ("unsupported", "not support", "unrecognized", "unknown", "unexpected", "extra", "not permitted", "instead")
# Words by which a server says that the answer's limit is more than it has.
_TOO_LARGE = ("too large", "context length", "context_length", "maximum context", "context window", "completion tokens")
# Few: a prompt is rather thought longer than it is, or the server would refuse the sum.
_CHARACTERS_A_TOKEN = 3
_LEAST_ROOM = 256


class OpenAIModel:
    """`openai:MODEL` and `endpoint:NAME[/MODEL]`.

    `key_variable` names the environment variable that holds the key; it is read when the client is made
    and blanked out of every message. `model` None asks the server for its first one.
    """

    simulated = False

    def __init__(
        self,
        name: str,
        model: str | None,
        base_url: str | None,
        key_variable: str | None,
        *,
        prices: Prices | None = None,
        options: EndpointOptions | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
        self.key_variable = key_variable
        self.prices = prices
        self.options = options or EndpointOptions()
        self.ladder = Ladder()
        # Only OpenAI itself is known to take the newer name; some servers ignore it and run on for ever.
        self._limit = "max_completion_tokens" if "//api.openai.com" in self.base_url else "max_tokens"
        self.listed: tuple[str, ...] = ()
        """The names that the server listed when it was asked last."""
        self._limit_changed = self._unlimited = False
        self._dropped: set[str] = set() if self.options.temperature else {"temperature"}

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r})"

    @property
    def dropped(self) -> frozenset[str]:
        """Parameters that the server refused and that are no longer sent."""
        return frozenset(self._dropped)

    def _key(self) -> str | None:
        return os.environ.get(self.key_variable) if self.key_variable else None

    def _redact(self, message: str) -> str:
        return redact(message, [self._key()])

    def _client(self) -> "AsyncOpenAI":
        return openai_clients.take(self, self.base_url, self._key(), self.options)

    def limiter(self) -> RateLimiter:
        """What all calls to this server with this key wait for together."""
        return rate_limiter.of((self.base_url, self._key()))

    async def complete(self, request: Request) -> Completion:
        """One completion; `latency_s` is that of the answered request, earlier ones are in `usage.retries`."""
        sent, unanswered = 0, 0
        form = self._form()
        rung = self.ladder.rung(request.schema) if request.schema is not None else None
        refused: list[tuple[str, bool]] = []

        async def once() -> Completion:
            nonlocal sent, unanswered, form
            sent += 1
            form = self._form()
            try:
                return await self._once(request, rung)
            except RetryFault as fault:
                unanswered += fault.broken_off
                raise

        while True:
            doubtful = (
                request.schema is not None and rung is not None and not self.ladder.is_proven(request.schema, rung)
            )
            plainer = self.ladder.below(rung) if rung is not None else None
            step_down = doubtful and plainer is not None
            try:
                completion, _ = await retrying(
                    once,
                    self.options.attempts,
                    self.options.longest_wait_s,
                    self.options.first_wait_s,
                    give_up=_may_be_the_rung if step_down else None,
                    whom=self.name,
                    limiter=self.limiter(),
                )
            except RetryFault as fault:
                if self._adapt(fault, form):
                    continue
                about_schema = fault.status in (400, 422) and _names_schema(fault.failure.message)
                if rung is not None and plainer and ((step_down and _may_be_the_rung(fault)) or about_schema):
                    refused.append((rung, fault.status not in (500, 501)))
                    rung = plainer
                    continue
                # Too long without a limit as well: then the limit was not to blame, and ends the next answers again.
                self._unlimited = self._unlimited and fault.failure.type != "too_long"
                raise ProviderFault(
                    fault.failure.type,
                    fault.failure.message,
                    fault.failure.retryable,
                    with_retries(Usage(), max(0, sent - 1), unanswered),
                ) from None
            if request.schema is not None and rung is not None:
                for higher, surely in refused:
                    self.ladder.refused(request.schema, higher, surely)
                self.ladder.worked(request.schema, rung)
            usage = with_retries(completion.usage, sent - 1, unanswered)
            return replace(completion, usage=usage, limit=self.room(request))

    def _form(self) -> "_Form":
        return _Form(self._limit, self._unlimited, frozenset(self._dropped))

    def _adapt(self, fault: RetryFault, sent: "_Form") -> bool:
        """Stop sending a parameter that this server refuses; True when a request is made otherwise than `sent` was.

        Requests that go out side by side are refused alike: those that come back after the first find it changed.
        """
        said = fault.failure.message.lower()
        if fault.status in (400, 422) and not sent.unlimited and any(words in said for words in _TOO_LARGE):
            # What the server allows is less than what was noted: then it is left to the server.
            self._unlimited = True
            return True
        refusal = fault.status in (400, 422) and any(word in said for word in _REFUSALS)
        if not refusal and not (fault.status in (400, 422, 501) and "stream" in said):
            return False
        if sent.limit in said and sent.limit != self._limit:
            return True
        if not self._limit_changed and self._limit in said:
            self._limit = "max_tokens" if self._limit == "max_completion_tokens" else "max_completion_tokens"
            self._limit_changed = True
            return True
        # Some refuse both of the first two together: then top_p goes.
        for name in ("top_p", "temperature", "seed", "reasoning_effort", "tool_choice", "stream_options", "stream"):
            if re.search(rf"\b{name}(ing)?\b", said) and name not in sent.dropped:
                self._dropped.add(name)
                return True
        return False

    def _body(self, request: Request, rung: str | None) -> dict[str, Any]:
        messages = list(request.messages)
        room = self.room(request)
        body: dict[str, Any] = {} if room is None else {self._limit: room}
        if self.options.reasoning_effort is not None and "reasoning_effort" not in self._dropped:
            body["reasoning_effort"] = self.options.reasoning_effort
        if "temperature" not in self._dropped:
            body["temperature"] = request.temperature
        if request.top_p is not None and "top_p" not in self._dropped:
            body["top_p"] = request.top_p
        if "seed" not in self._dropped:
            body["seed"] = request.seed
        if request.tools:
            body["tools"] = request.tools
            if request.require_tool and "tool_choice" not in self._dropped:
                body["tool_choice"] = "required"
        if request.schema is not None and rung is not None:
            shape = response_format(request.schema, rung)
            if shape is not None:
                body["response_format"] = shape
            if rung != "json_schema":
                messages = with_instruction(messages, request.schema)
        return {**body, **self.options.extra_body, "model": self.model, "messages": messages}

    def room(self, request: Request) -> int | None:
        """The tokens that the answer may take; None leaves it to the server."""
        asked, context = request.max_tokens, self.options.context_tokens
        if self._unlimited:
            return asked
        limit = self.options.max_output_tokens if asked is None else asked
        if context is None:
            return limit
        prompt = len(json.dumps([list(request.messages), request.tools], ensure_ascii=False)) // _CHARACTERS_A_TOKEN
        left = max(_LEAST_ROOM, context - prompt)
        return left if limit is None else min(limit, left)

    async def _once(self, request: Request, rung: str | None) -> Completion:
        if request.on_text is not None and "stream" not in self._dropped:
            return await self._stream(request, rung, request.on_text)
        content, latency_s = await self.post("/chat/completions", lambda: self._body(request, rung))
        return self._read(content, latency_s)

    async def post(
        self, path: str, body: Callable[[], dict[str, Any]], files: dict[str, tuple[str, bytes, str]] | None = None
    ) -> tuple[bytes, float]:
        """One HTTP request, never repeated: (what came, seconds); every fault becomes an Interrupted.

        `body` is made once the model's name is known. With `files` (field: name, content, type) it goes as a form.
        """
        async with self._sent(path, body, stream=False, files=files) as (response, started):
            return response.content, time.perf_counter() - started

    async def _stream(self, request: Request, rung: str | None, on_text: Callable[[str], None]) -> Completion:
        """One request whose reply is read as it is written; a server that does not stream answers as a whole."""

        def body() -> dict[str, Any]:
            usage = {} if "stream_options" in self._dropped else {"stream_options": {"include_usage": True}}
            return {**self._body(request, rung), "stream": True, **usage}

        pieces = StreamedCompletion()
        async with self._sent("/chat/completions", body, stream=True) as (response, started):
            if "json" in response.headers.get("content-type", ""):
                return self._read(await response.aread(), time.perf_counter() - started)
            on_text("")  # an attempt before this one may have broken off in the middle
            with self._redacted():
                async for line in response.aiter_lines():
                    if pieces.add_line(line):
                        on_text(hide_thinking(pieces.text))
                latency_s = time.perf_counter() - started
                if not pieces.finished:
                    raise RetryFault(
                        FaultKind("connection", True), "the stream broke off before its end", broken_off=True
                    )
                return read_completion(pieces.body(), latency_s)

    @asynccontextmanager
    async def _sent(
        self,
        path: str,
        body: Callable[[], dict[str, Any]],
        stream: bool,
        files: dict[str, tuple[str, bytes, str]] | None = None,
        method: str = "post",
    ) -> AsyncIterator[tuple[Any, float]]:
        """The response to one request and when it was sent; faults on the way and while it is read are told apart."""
        client = self._client()
        import aiohttp
        import httpx2
        import openai

        try:
            async with asyncio.timeout(self.options.answer_timeout_s):
                if self.model is None and method == "post":
                    self.model = await self._first_model(client)
                started = time.perf_counter()
                if method == "get":
                    yield await client.get(path, cast_to=httpx2.Response), started
                    return
                # The SDK's raw post: its typed `create` walks the whole body again, 0.4 ms for a schema.
                form: Any = {"headers": {"Content-Type": "multipart/form-data"}} if files else {}
                response: Any = await client.post(
                    path, cast_to=httpx2.Response, body=body(), files=files, options=form, stream=stream
                )
                try:
                    yield response, started
                finally:
                    if stream:
                        await response.aclose()
        except openai.APIStatusError as error:
            raise self._status_fault(error) from None
        except (openai.APIConnectionError, httpx2.HTTPError, aiohttp.ClientError, TimeoutError) as error:
            raise self._connection_fault(error) from None
        except UnicodeEncodeError:
            # Half a surrogate pair in a message has no UTF-8 form; no server could be sent it.
            raise RetryFault(FaultKind("bad_request", False), "a message holds a lone surrogate character") from None

    async def reach(self) -> RetryFault | None:
        """Ask the server which models it has, once; the fault, or None where it answered whatever it said."""
        try:
            async with self._sent("/models", dict, stream=False, method="get") as (response, _):
                self.listed = read_listed(response.content)
                return None
        except RetryFault as fault:
            return fault

    async def _first_model(self, client: "AsyncOpenAI") -> str:
        import openai

        try:
            listed = await client.models.list()
        except openai.APIStatusError:
            # Some servers list nothing and accept any name.
            return "default"
        return listed.data[0].id if listed.data else "default"

    def _status_fault(self, error: Any) -> RetryFault:
        status = int(error.status_code)
        body = error.body if isinstance(error.body, dict) else {}
        code = str(body.get("code") or body.get("type") or "")
        message = self._redact(f"HTTP {status}: {read_message(error.body) or name_status(status)}")
        wait = retry_after_s(error.response.headers.get("retry-after"))
        return RetryFault(kind_of_status(status, code, message), message, wait, status)

    def _connection_fault(self, error: BaseException) -> RetryFault:
        import aiohttp

        # The SDK's transport calls a dropped connection a timeout; the cause at the bottom knows better.
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, aiohttp.ClientPayloadError):
                said = "the connection was cut in the middle of the reply"
                return RetryFault(FaultKind("connection", True), said, broken_off=True)
            if isinstance(cause, aiohttp.ClientError) and not isinstance(cause, TimeoutError):
                said = self._redact(str(cause) or type(cause).__name__)
                # Where nobody took the call, nobody bills it; where the server left without a word, it may have begun.
                went_out = not isinstance(cause, aiohttp.ClientConnectorError)
                return RetryFault(FaultKind("connection", True), f"the connection failed: {said}", broken_off=went_out)
            if isinstance(cause, TimeoutError):
                options = self.options
                limits = f"{options.read_timeout_s:g} s of silence, {options.answer_timeout_s:g} s in all"
                went_out = not isinstance(cause, aiohttp.ConnectionTimeoutError)
                message = f"no answer in time (limits: {limits})"
                return RetryFault(FaultKind("timeout", True), message, broken_off=went_out)
            cause = cause.__cause__
        said = self._redact(str(error.__cause__ or error) or type(error).__name__)
        import openai

        late = isinstance(error, openai.APITimeoutError)
        kind = FaultKind("timeout" if late else "connection", True)
        return RetryFault(kind, f"the connection failed: {said}", broken_off=late)

    def _read(self, content: bytes, latency_s: float) -> Completion:
        try:
            # A reply cut inside a character leaves a broken byte: it becomes U+FFFD, the rest is kept.
            body = json.loads(content.decode("utf-8", "replace"))
        except ValueError:
            raise no_json(content, [self._key()]) from None
        with self._redacted():
            return read_completion(body, latency_s)

    @contextmanager
    def _redacted(self) -> Iterator[None]:
        """What a server says of a fault may quote the key."""
        try:
            yield
        except RetryFault as fault:
            kind = FaultKind(fault.failure.type, fault.failure.retryable)
            said = self._redact(fault.failure.message)
            raise RetryFault(kind, said, fault.wait_s, fault.status, fault.broken_off) from None

    async def aclose(self) -> None:
        """Give the shared client back; the last model to do so closes it."""
        await openai_clients.give_back(self)


@dataclass(frozen=True, slots=True)
class _Form:
    """What of its own a model put into a request: the limit's name, whether it is left out, what else is."""

    limit: str
    unlimited: bool
    dropped: frozenset[str]


def _may_be_the_rung(fault: RetryFault) -> bool:
    """Whether a request was perhaps refused for the form in which JSON was asked for, and not for what it holds."""
    return fault.failure.type in ("bad_request", "server_error") and fault.status in (400, 415, 422, 500, 501)


def _names_schema(message: str) -> bool:
    said = message.lower()
    return any(word in said for word in ("response_format", "json_schema", "schema", "grammar"))
