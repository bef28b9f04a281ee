"""The border to LangChain, both ways: their models as ours, and ours as theirs (langchain_adapter)."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from cxlab.errors import NotConfigured
from cxlab.llm.base import ChatModel, Completion, ProviderFault, Request
from cxlab.llm.faults import FaultKind, RetryFault, kind_of_status, redact, retry_after_s
from cxlab.llm.ladder import Ladder, with_instruction, without_docstrings
from cxlab.llm.metering import Prices
from cxlab.llm.parsing import hide_thinking
from cxlab.llm.retries import retrying, with_retries
from cxlab.records import ToolCall, Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# What providers call the same endings.
_ENDINGS = {
    "max_tokens": "length",
    "max_output_tokens": "length",
    "length": "length",
    "safety": "content_filter",
    "prohibited_content": "content_filter",
    "content_filter": "content_filter",
    "refusal": "refusal",
}
# Class names by which providers without HTTP status codes tell their faults apart (gRPC and the like).
_BY_NAME = (
    (("RateLimit", "ResourceExhausted", "TooManyRequests", "Throttl"), FaultKind("rate_limited", True)),
    (("Timeout", "DeadlineExceeded"), FaultKind("timeout", True)),
    (("Connect", "ServiceUnavailable", "RemoteProtocol"), FaultKind("connection", True)),
    (("Authentication", "PermissionDenied", "Unauthenticated", "Forbidden"), FaultKind("auth", False)),
    (("InternalServer", "ServerError", "Overloaded"), FaultKind("server_error", True)),
    (("NotFound",), FaultKind("not_found", False)),
    (("BadRequest", "InvalidArgument", "ContextOverflow"), FaultKind("bad_request", False)),
)


class LangchainModel:
    """Any `BaseChatModel` as one of ours.

    `make(temperature, max_tokens)` yields the LangChain object for those settings; None leaves either to the
    provider. `max_output_tokens` is what one answer may hold where a request does not say. The providers' SDKs
    retry by themselves, so `attempts` is 1 unless asked.
    Structured output is tried through LangChain's own `with_structured_output`, then in words.
    """

    simulated = False

    def __init__(
        self,
        name: str,
        make: "Callable[[float | None, int | None], BaseChatModel]",
        prices: Prices | None = None,
        attempts: int = 1,
        secrets: tuple[str, ...] = (),
        answer_timeout_s: float = 300.0,
        max_output_tokens: int | None = None,
    ) -> None:
        self.name = name
        self.prices = prices
        self.ladder = Ladder(("native", "prompt"))
        self.attempts = attempts
        self.answer_timeout_s = answer_timeout_s
        self.max_output_tokens = max_output_tokens
        self._make = make
        self._made: dict[tuple[float | None, int | None], BaseChatModel] = {}
        self._key_variables = secrets
        self._no_temperature = self._no_stream = False

    def __repr__(self) -> str:
        return f"LangchainModel({self.name!r})"

    def _chat(self, request: Request) -> "BaseChatModel":
        settings = (None if self._no_temperature else request.temperature, self.room(request))
        if settings not in self._made:
            self._made[settings] = self._make(*settings)
        return self._made[settings]

    def room(self, request: Request) -> int | None:
        return self.max_output_tokens if request.max_tokens is None else request.max_tokens

    async def complete(self, request: Request) -> Completion:
        """One completion; faults that LangChain's providers raise come back as ProviderFault."""
        sent, unanswered = 0, 0
        schema = request.schema
        # Tools and a forced schema exclude each other at most providers, so the schema goes in words then.
        rung = None if schema is None else "prompt" if request.tools else self.ladder.rung(schema)

        async def once() -> Completion:
            nonlocal sent, unanswered
            sent += 1
            asked = asyncio.run_coroutine_threadsafe(self._once(heard, rung), _providers_loop(os.getpid()))
            try:
                return await asyncio.wrap_future(asked)
            except RetryFault as fault:
                unanswered += fault.failure.type == "timeout"
                raise

        heard = _heard_here(request)
        while True:
            try:
                completion, _ = await retrying(once, self.attempts, longest_wait_s=120.0, whom=self.name)
            except NotImplementedError:
                if schema is None or rung != "native":
                    raise
                self.ladder.refused(schema, rung, surely=True)
                rung = "prompt"
                continue
            except RetryFault as fault:
                said = fault.failure.message.lower()
                if fault.failure.type == "bad_request" and "temperature" in said and not self._no_temperature:
                    self._no_temperature = True
                    continue
                if fault.failure.type == "bad_request" and "stream" in said and not self._no_stream:
                    self._no_stream = True
                    continue
                if fault.failure.type == "bad_request" and rung == "native" and schema is not None:
                    self.ladder.refused(schema, rung, surely=True)
                    rung = "prompt"
                    continue
                usage = with_retries(Usage(), sent - 1, unanswered)
                raise ProviderFault(fault.failure.type, fault.failure.message, fault.failure.retryable, usage) from None
            usage = with_retries(completion.usage, sent - 1, unanswered)
            return replace(completion, usage=usage, limit=self.room(request))

    async def _once(self, request: Request, rung: str | None) -> Completion:
        from langchain_core.messages import AIMessage, convert_to_messages

        chat: Any = self._chat(request)
        messages = list(request.messages)
        if request.tools:
            # "any" is LangChain's word for it, which its providers translate.
            choice = {"tool_choice": "any"} if request.require_tool else {}
            chat = chat.bind_tools(request.tools, **choice)
        if request.schema is not None and rung == "native":
            try:
                chat = chat.with_structured_output(without_docstrings(request.schema), include_raw=True)
            except (ValueError, TypeError) as error:
                # A provider that cannot express this schema says so before any call.
                raise NotImplementedError(str(error)) from error
        elif request.schema is not None:
            messages = with_instruction(messages, request.schema)
        started = time.perf_counter()
        streams = request.on_text is not None and rung != "native" and not self._no_stream
        with _FaultsToldApart(self._secret_values()):
            async with asyncio.timeout(self.answer_timeout_s):
                asked = convert_to_messages(messages)
                answer = await (_stream(chat, asked, request.on_text) if streams else chat.ainvoke(asked))
        spent = time.perf_counter() - started
        native = isinstance(answer, dict)
        message = answer["raw"] if native else answer
        if not isinstance(message, AIMessage):
            raise RetryFault(
                FaultKind("bad_reply", True), f"LangChain returned {type(message).__name__}, not a message"
            )
        text, calls = _text(message.content), tool_calls_of(message)
        if native and calls:
            # The schema was sent as a forced tool: its arguments are the answer.
            text, calls = calls[0].arguments, ()
        return Completion(text, calls, _usage(message), spent, _ending(message), _reasoning(message))

    def _secret_values(self) -> list[str | None]:
        return [os.environ.get(variable) for variable in self._key_variables]

    async def aclose(self) -> None:
        """LangChain's models own their clients; dropping them is all that can be done."""
        self._made.clear()


def load_langchain(
    name: str,
    provider: str,
    model: str,
    prices: Prices | None = None,
    key_variable: str | None = None,
    max_output_tokens: int | None = None,
    reasoning_effort: str | None = None,
) -> LangchainModel:
    """`PROVIDER:MODEL` through `init_chat_model`; raises NotConfigured when a package is missing."""
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise NotConfigured(f"model {name!r} needs LangChain: pip install langchain") from None

    def make(temperature: float | None, max_tokens: int | None) -> "BaseChatModel":
        given = {"temperature": temperature, "max_tokens": max_tokens, "reasoning_effort": reasoning_effort}
        settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        made: BaseChatModel = init_chat_model(model, model_provider=provider, **settings)
        return made

    try:
        make(0.0, 16)
    except ImportError as error:
        raise NotConfigured(f"model {name!r}: {error}") from None
    except ValueError as error:
        # pydantic's ValidationError is one: the provider's class misses a setting, as a rule its key.
        raise NotConfigured(f"model {name!r}: {redact(str(error))}") from None
    secrets = (key_variable,) if key_variable else ()
    return LangchainModel(name, make, prices, secrets=secrets, max_output_tokens=max_output_tokens)


def from_langchain(chat: "BaseChatModel", name: str, prices: Prices | None = None) -> LangchainModel:
    """A LangChain chat model object as one of ours; its own temperature and limits stay as they are."""
    return LangchainModel(name, lambda _temperature, _max_tokens: chat, prices)


def as_langchain(
    model: ChatModel, temperature: float = 0.0, max_tokens: int | None = None, seed: int = 0
) -> "BaseChatModel":
    """One of our models as a LangChain `BaseChatModel`, with tools and structured output."""
    from cxlab.llm.langchain_adapter import CxChatModel

    return CxChatModel(cx_model=model, temperature=temperature, max_tokens=max_tokens, seed=seed)


@cache
def _providers_loop(_process: int) -> asyncio.AbstractEventLoop:
    """The one event loop of a process on which providers are asked.

    Their packages keep HTTP clients for the whole process. A connection belongs to the loop that opened it, and a
    process has several loops one after the other: that of the preflight, of each run, of a page.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="providers", daemon=True).start()
    return loop


def _heard_here(request: Request) -> Request:
    """The request with an `on_text` that is called on the loop which asks."""
    here, on_text = asyncio.get_running_loop(), request.on_text
    if on_text is None:
        return request

    def pass_on(text: str) -> None:
        here.call_soon_threadsafe(on_text, text)

    return replace(request, on_text=pass_on)


class _FaultsToldApart:
    """Turns what a provider's SDK raises into an Interrupted; our own bugs and cancellation go through.

    Providers bring exceptions of their own, which cannot be named here without importing them all: they
    are told by status code, class name and module.
    """

    def __init__(self, secrets: list[str | None]) -> None:
        self._secrets = secrets

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ProviderFault):
            # One of our own models, wrapped twice.
            kind = FaultKind(error.failure.type, error.failure.retryable)
            raise RetryFault(kind, error.failure.message) from None
        found = _kind_of(error) if isinstance(error, Exception) else None
        if found is not None:
            kind, status, wait_s = found
            message = redact(f"{type(error).__name__}: {error}", self._secrets)
            raise RetryFault(kind, message, wait_s, status) from None


def _kind_of(error: Exception) -> tuple[FaultKind, int | None, float | None] | None:
    """(kind, HTTP status, wait) of a provider's exception, None when it is none."""
    response = getattr(error, "response", None)
    for candidate in (getattr(error, "status_code", None), getattr(error, "code", None), response):
        status = getattr(candidate, "status_code", candidate)
        if isinstance(status, int) and 400 <= status < 600:
            headers = getattr(response, "headers", None)
            wait = retry_after_s(headers.get("retry-after")) if headers is not None else None
            return kind_of_status(status, "", str(error)), status, wait
    if isinstance(error, TimeoutError):
        return FaultKind("timeout", True), None, None
    if isinstance(error, ConnectionError):
        return FaultKind("connection", True), None, None
    for words, kind in _BY_NAME:
        if any(word in type(error).__name__ for word in words):
            return kind, None, None
    if type(error).__module__.partition(".")[0] in ("builtins", "cxlab"):
        return None
    return FaultKind("unknown", False), None, None


async def _stream(chat: Any, messages: list[Any], on_text: Any) -> Any:
    """The message put together from its pieces; `on_text` gets the text so far whenever it has grown."""
    whole: Any = None
    on_text("")  # an attempt before this one may have broken off in the middle
    async for piece in chat.astream(messages):
        whole = piece if whole is None else whole + piece
        if _text(piece.content):
            on_text(hide_thinking(_text(whole.content)))
    return whole


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [part if isinstance(part, str) else part.get("text", "") for part in content or []]
    return "".join(parts)


def tool_calls_of(message: Any) -> tuple[ToolCall, ...]:
    """Tool calls of an AIMessage with arguments as text: the raw text where the provider kept it."""
    raw = {
        call.get("id"): call["function"]["arguments"]
        for call in message.additional_kwargs.get("tool_calls") or []
        if isinstance(call.get("function"), dict) and isinstance(call["function"].get("arguments"), str)
    }
    # Of a message that came in pieces: what was emitted stands in them, and nowhere else.
    raw |= {call["id"]: call["args"] for call in getattr(message, "tool_call_chunks", ()) if call.get("args")}
    found = []
    for number, call in enumerate([*message.tool_calls, *message.invalid_tool_calls], 1):
        arguments = raw.get(call.get("id"))
        if arguments is None:
            args = call.get("args")
            arguments = args if isinstance(args, str) else json.dumps(args or {}, ensure_ascii=False)
        found.append(ToolCall(id=call.get("id") or f"call-{number}", name=call.get("name") or "", arguments=arguments))
    return tuple(found)


def _usage(message: Any) -> Usage:
    reported = message.usage_metadata or {}
    return Usage(
        prompt_tokens=reported.get("input_tokens"),
        completion_tokens=reported.get("output_tokens"),
        calls=1,
        cached_tokens=(reported.get("input_token_details") or {}).get("cache_read"),
        reasoning_tokens=(reported.get("output_token_details") or {}).get("reasoning"),
    )


def _reasoning(message: Any) -> str:
    """What the model thought aloud: a part of the content, or beside it as some providers have it."""
    parts = message.content if isinstance(message.content, list) else []
    kept = [part.get("thinking") or part.get("reasoning") for part in parts if isinstance(part, dict)]
    beside = message.additional_kwargs.get("reasoning_content")
    return "".join(each for each in [*kept, beside] if isinstance(each, str))


def _ending(message: Any) -> str | None:
    told = message.response_metadata
    ending = told.get("finish_reason") or told.get("stop_reason") or told.get("done_reason")
    return _ENDINGS.get(str(ending).lower(), str(ending)) if ending else None
