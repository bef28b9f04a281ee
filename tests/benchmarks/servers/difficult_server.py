"""The strong server on a bad day: any of its roles, at any of its calls, meets what real servers and models do wrong.

`plan(role, n)` names the difficulty of a role's n-th question, None for a good answer:

    with DifficultServer() as server:
        server.begin(lambda role, n: "rate_limited" if role == "judge" and n % 3 == 0 else None)

What is asked again, word for word, is answered well, or with `again` meets the same difficulty.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from aiohttp import web

from tests.benchmarks.strong_server import StrongServer
from tests.llm.local_server import RoleServer

Body = dict[str, Any]
KEY = "sk-live-0123456789abcdef"
"""What servers quote in their messages, and nobody may ever read."""
PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in to the proxy.</body></html>"
LONG = 200_000
"""Characters of a huge reply."""


def _in_minutes(minutes: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(minutes=minutes), usegmt=True)


# Name → status, what the body says, further headers.
REFUSALS: Mapping[str, tuple[int, Any, Callable[[], dict[str, str]]]] = {
    "rate_limited": (429, {"message": "Rate limit reached"}, lambda: {"Retry-After": "1"}),
    "rate_limited_until": (429, {"message": "Rate limit reached"}, lambda: {"Retry-After": _in_minutes(0)}),
    "rate_limited_long": (429, {"message": "Daily limit reached"}, lambda: {"Retry-After": "600"}),
    "rate_limited_long_until": (429, {"message": "Daily limit reached"}, lambda: {"Retry-After": _in_minutes(10)}),
    "server_error": (500, {"message": "The server had an error"}, dict),
    "bad_gateway": (502, PAGE, dict),
    "unavailable": (503, {"message": "Overloaded"}, dict),
    "key_revoked": (401, {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}, dict),
    "no_credit": (402, {"message": "Insufficient Balance", "code": "invalid_request_error"}, dict),
    "no_quota": (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, dict),
    "no_model": (404, {"message": "The model `strong` does not exist", "code": "model_not_found"}, dict),
    "too_long": (
        400,
        {"message": "This model's maximum context length is 8192 tokens", "code": "context_length_exceeded"},
        dict,
    ),
    "filtered_prompt": (400, {"message": "The response was filtered", "code": "content_filter"}, dict),
}
# Name → what of a request the server refuses, with its words.
PARAMETERS: Mapping[str, tuple[Callable[[Body], bool], str]] = {
    "no_temperature": (
        lambda body: "temperature" in body,
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported.",
    ),
    "new_limit_name": (
        lambda body: "max_tokens" in body,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    "no_response_format": (lambda body: "response_format" in body, "response_format is not supported by this model"),
    "no_tools": (lambda body: "tools" in body, "tools is not supported by this model"),
}


def _say(message: Body, text: str | None, **more: Any) -> Body:
    return {**message, "content": text, **more}


def _calls(message: Body, change: Callable[[Body], Body]) -> Body:
    return {**message, "tool_calls": [change(call) for call in message.get("tool_calls", ())]}


def _function(call: Body, **members: str) -> Body:
    return {**call, "function": {**call["function"], **members}}


def _twice(message: Body) -> Body:
    calls = message.get("tool_calls") or []
    return {**message, "tool_calls": [*calls, *({**call, "id": f"{call['id']}-again"} for call in calls)]}


# Name → (message, finish_reason) of what would have been said well.
Said = tuple[Body, str | None]
REPLIES: Mapping[str, Callable[[Body], Said]] = {
    "thought_ate_the_limit": lambda m: ({"role": "assistant", "content": ""}, "length"),
    "only_reasoning": lambda m: (
        {"role": "assistant", "content": None, "reasoning_content": m["content"] or "Let me think."},
        "stop",
    ),
    "null": lambda m: ({"role": "assistant", "content": None}, "stop"),
    "refusal": lambda m: ({"role": "assistant", "content": None, "refusal": "I'm sorry, I can't help."}, "stop"),
    "content_filter": lambda m: ({"role": "assistant", "content": ""}, "content_filter"),
    "fence": lambda m: (_say(m, f"```json\n{m['content']}\n```") if m["content"] else m, "stop"),
    "prose": lambda m: (_say(m, f"Certainly. Here it is:\n\n{m['content']}") if m["content"] else m, "stop"),
    "cut_off": lambda m: (_calls(_say(m, m["content"][: len(m["content"]) // 2]), _cut_arguments), "length"),
    "plain_text": lambda m: ({"role": "assistant", "content": "I think the second one fits best."}, "stop"),
    "broken_arguments": lambda m: (_calls(m, _cut_arguments), "tool_calls"),
    "unknown_tool": lambda m: (_calls(m, lambda call: _function(call, name="do_what_is_needed")), "tool_calls"),
    "several_calls": lambda m: (_twice(m), "tool_calls"),
    "call_and_text": lambda m: (_say(m, m["content"] or "One moment, I will look that up."), "tool_calls"),
    "odd_finish": lambda m: (m, "eos_token_found"),
    "no_finish": lambda m: (m, None),
    "huge": lambda m: (_say(m, "word " * (LONG // 5)), "stop"),
    "loop": lambda m: ({"role": "assistant", "content": "I will look into that right away."}, "stop"),
}
# Name → the usage that is told with a good answer.
USAGES: Mapping[str, Callable[[Body], Any]] = {
    "no_usage": lambda usage: None,
    "odd_usage": lambda usage: {"prompt_tokens": "many", "completion_tokens": -3, "total_tokens": 1.5},
    "usage_details_null": lambda usage: {**usage, "prompt_tokens_details": None, "completion_tokens_details": []},
}
WIRE = ("cut_body", "dropped", "never", "bad_utf8", "page", "empty_body", "error_in_200")
DIFFICULTIES = (*REFUSALS, *PARAMETERS, *REPLIES, *USAGES, *WIRE)


def _cut_arguments(call: Body) -> Body:
    return _function(call, arguments=call["function"]["arguments"][:-1])


class Difficulties(RoleServer):
    """A server with a plan of difficulties; `met` counts them by (role, difficulty), `numbers` questions."""

    def __init__(self, *given: Any, **options: float) -> None:
        super().__init__(*given)
        self.plan: Callable[[str, int], str | None] = lambda role, number: None
        self.options: dict[str, float] = {"first_wait_s": 0.001, "longest_wait_s": 2.0, **options}
        self.met: Counter[tuple[str, str]] = Counter()
        self.numbers: Counter[str] = Counter()
        self._again = False
        self._asked: dict[tuple[str, str], str | None] = {}

    def settings(self, **options: float) -> str:
        """models.toml with these settings of all endpoints."""
        lines = "".join(f"{name} = {value}\n" for name, value in {**self.options, **options}.items())
        return super().settings().replace("key_required = false\n", f"key_required = false\n{lines}")

    def begin(self, plan: Callable[[str, int], str | None] = lambda role, number: None, again: bool = False) -> None:
        """From now on this plan, with nothing counted."""
        self.plan, self._again = plan, again
        self._asked.clear()
        self.met.clear()
        self.numbers.clear()
        for bodies in self.bodies.values():
            bodies.clear()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        role, body = request.match_info["role"], await request.json()
        self.bodies[role].append(body)
        name = self._choose(role, json.dumps(body["messages"]))
        if name in PARAMETERS and not PARAMETERS[name][0](body):
            name = None
        if name is None:
            return web.json_response(await self.reply(role, body))
        self.met[role, name] += 1
        if name in REFUSALS or name in PARAMETERS:
            self.forget(body)
            return _refuse(name)
        if name in WIRE:
            return await self._break(name, request, role, body)
        said = await self.reply(role, body)
        choice = said["choices"][0]
        if name in REPLIES:
            choice["message"], choice["finish_reason"] = REPLIES[name](choice["message"])
        else:
            said["usage"] = USAGES[name](said["usage"])
        return web.json_response(said)

    def forget(self, body: Body) -> None:
        """What is refused is not answered."""

    def _choose(self, role: str, messages: str) -> str | None:
        known = self._asked.get((role, messages), "")
        if known != "":
            return known if self._again or known in PARAMETERS else None
        self.numbers[role] += 1
        name = self._asked[role, messages] = self.plan(role, self.numbers[role])
        return name

    async def _break(self, name: str, request: web.Request, role: str, body: Body) -> web.StreamResponse:
        said = json.dumps(await self.reply(role, body)).encode()
        transport = request.transport
        if name == "never":
            await asyncio.sleep(600)
        if name == "dropped" and transport is not None:
            transport.abort()
        if name == "cut_body":
            response = web.StreamResponse(
                headers={"Content-Type": "application/json", "Content-Length": str(len(said))}
            )
            await response.prepare(request)
            await response.write(said[: len(said) // 2])
            if transport is not None:
                transport.close()
            return response
        if name == "page":
            return web.Response(text=PAGE, content_type="text/html")
        if name == "bad_utf8":
            # A byte that is none of UTF-8, at the end of what is said.
            said = said.replace(b'"tool_calls"', b'"odd": "\xff", "tool_calls"').replace(b'", "role"', b'\xff", "role"')
            broken = said.replace(b'"content": "', b'"content": "\xff')
            return web.Response(body=broken, content_type="application/json")
        if name == "error_in_200":
            return web.json_response({"error": {"code": 503, "message": "upstream is overloaded"}})
        return web.Response(body=b"")


def _refuse(name: str) -> web.Response:
    if name in PARAMETERS:
        error = {"message": PARAMETERS[name][1], "type": "invalid_request_error", "code": "unsupported_parameter"}
        return web.json_response({"error": error}, status=400)
    status, said, headers = REFUSALS[name]
    if isinstance(said, str):
        return web.Response(text=said, status=status, content_type="text/html", headers=headers())
    return web.json_response({"error": said}, status=status, headers=headers())


class DifficultServer(Difficulties, StrongServer):
    """The strong server on a bad day."""

    def forget(self, body: Body) -> None:
        self._requests.pop(body["number"], None)
