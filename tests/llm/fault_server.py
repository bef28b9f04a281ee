"""A real HTTP server on this machine that misbehaves on request; other tests may use it too.

    with FaultServer() as server:
        scene = server.scene("rate_limited", times=2, retry_after="0.1")
        ... ask the model at scene.url ...
        assert scene.calls == 3

Each scene is a base URL of its own, so tests can run side by side on one server. It counts calls and the
peak in flight and keeps what was sent.
"""

import asyncio
import base64
import contextlib
import json
import re
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.llm.local_server import LocalServer

Body = dict[str, Any]

MODES = (
    "ok",
    "rate_limited",
    "server_error",
    "hang",
    "close",
    "close_mid_reply",
    "trickle",
    "empty",
    "null",
    "refusal",
    "bad_utf8",
    "not_json_body",
    "error_in_200",
    "truncated",
    "no_usage",
    "no_choices",
    "status",
    "no_schema_500",
    "no_schema_400",
    "ignores_schema",
    "no_temperature",
    "no_top_p",
    "new_limit_name",
    "no_effort",
    "small_limit",
    "no_key",
    "reasons",
    "reasons_too_long",
    "tools",
    "stream",
    "stream_broken",
    "stream_cut",
    "stream_error",
    "stream_no_usage",
    "stream_tools",
    "stream_no_tools",
    "no_stream",
    "no_stream_options",
    "base64",
    "vector_missing",
    "vector_nan",
)


@dataclass
class Scene:
    """One behaviour of the server. `times`: misbehave that often, then answer; None = always."""

    mode: str
    url: str = ""
    reply: str | Callable[[Body], str] = '{"intent": "refund"}'
    latency_s: float = 0.0
    times: int | None = None
    status: int = 400
    message: str = "bad"
    lists: Sequence[str] = ("tiny",)
    """The models that it says it has."""
    most_texts: int | None = None
    """How many texts a request for embeddings may hold."""
    retry_after: str | None = None
    piece_s: float = 0.0
    """Seconds before each piece of a stream."""
    go_on: threading.Event | None = None
    """The last piece with words in it waits for this."""
    calls: int = 0
    in_flight: int = 0
    peak: int = 0
    bodies: list[Body] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def misbehaves(self) -> bool:
        """Whether this call is one of those that go wrong."""
        return self.times is None or self.calls <= self.times


class FaultServer(LocalServer):
    def __init__(self) -> None:
        super().__init__()
        self.scenes: dict[str, Scene] = {}

    def scene(self, mode: str = "ok", **settings: Any) -> Scene:
        """A new base URL that behaves like this."""
        if mode not in MODES:
            raise ValueError(f"unknown mode {mode!r}; known: {', '.join(MODES)}")
        name = f"{mode}-{len(self.scenes)}"
        scene = Scene(mode, f"http://127.0.0.1:{self.port}/{name}/v1", **settings)
        self.scenes[name] = scene
        return scene

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.post("/{scene}/v1/chat/completions", self._complete),
            web.post("/{scene}/v1/embeddings", self._complete),
            web.get("/{scene}/v1/models", self._models),
        ]

    async def _models(self, request: web.Request) -> web.Response:
        scene = self.scenes[request.match_info["scene"]]
        if scene.mode == "no_key":
            return _error(401, "who are you")
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in scene.lists]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        scene = self.scenes[request.match_info["scene"]]
        scene.calls += 1
        scene.in_flight += 1
        scene.peak = max(scene.peak, scene.in_flight)
        body = await request.json()
        scene.bodies.append(body)
        scene.headers.append({key.lower(): value for key, value in request.headers.items()})
        try:
            if scene.latency_s:
                await asyncio.sleep(scene.latency_s)
            if scene.misbehaves():
                return await self._misbehave(scene, body, request)
            return _embeddings(scene, body) if "input" in body else _answer(scene, body)
        finally:
            scene.in_flight -= 1

    async def _misbehave(self, scene: Scene, body: Body, request: web.Request) -> web.StreamResponse:
        mode = scene.mode
        shape = (body.get("response_format") or {}).get("type")
        if mode == "rate_limited":
            headers = {"Retry-After": scene.retry_after} if scene.retry_after is not None else {}
            return _error(429, "too many requests", headers)
        if mode == "server_error":
            return _error(500, "something broke")
        if mode == "status":
            return _error(scene.status, scene.message)
        if mode == "hang":
            await asyncio.sleep(600)
        if mode == "close":
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        if mode == "close_mid_reply":
            response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "5000"})
            await response.prepare(request)
            await response.write(b'{"choices": [{"message": {"content": "half of')
            if request.transport is not None:
                request.transport.close()
            return response
        if mode == "trickle":
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            with contextlib.suppress(ConnectionError):  # the client gives up first, which is the point
                for _ in range(12_000):
                    await response.write(b" ")
                    await asyncio.sleep(0.05)
            return response
        if mode == "no_schema_500" and shape == "json_schema":
            return _error(500, "Internal Server Error")
        if mode == "no_schema_400" and shape in ("json_schema", "json_object"):
            return _error(400, f"response_format {shape} is not available")
        if mode == "ignores_schema":
            words = "Answer with one JSON object" in json.dumps(body["messages"])
            asked_again = "could not be used" in json.dumps(body["messages"])
            return _completion(_reply(scene, body) if words or asked_again else "Sure! I would call that a refund.")
        if mode == "no_temperature" and "temperature" in body:
            return _error(400, "Unsupported value: 'temperature' does not support 0.0 with this model.")
        if mode == "no_top_p" and "top_p" in body and "temperature" in body:
            return _error(400, "`temperature` and `top_p` cannot both be specified for this model, unsupported.")
        if mode == "new_limit_name" and "max_tokens" in body:
            return _error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        if mode == "no_effort" and "reasoning_effort" in body:
            return _error(400, "Unrecognized request argument supplied: reasoning_effort")
        if mode == "small_limit" and "max_tokens" in body:
            return _error(400, "max_tokens is too large: this model supports at most 4096 completion tokens")
        if mode == "reasons":
            made = _completion_body('{"intent": "refund"}')
            made["choices"][0]["message"]["reasoning_content"] = 'They want money back. {"intent": "cancel"}'
            thought, kept = {"reasoning_tokens": 300}, {"cached_tokens": 64}
            made["usage"] |= {"completion_tokens_details": thought, "prompt_tokens_details": kept, "total_tokens": 420}
            return web.json_response(made)
        if mode == "reasons_too_long":
            made = _completion_body("", finish_reason="length")
            spent = {"completion_tokens": 900, "completion_tokens_details": {"reasoning_tokens": 900}}
            made["usage"] = {"prompt_tokens": 100, **spent, "total_tokens": 1000}
            return web.json_response(made)
        if mode == "no_stream" and body.get("stream"):
            return _error(400, "Streaming is not enabled on this server.")
        if mode == "no_stream_options" and "stream_options" in body:
            return _error(422, "stream_options: extra inputs are not permitted")
        if mode == "stream_no_tools" and "tools" in body:
            return _error(400, "tools are not available with this model")
        if mode.startswith("stream") and body.get("stream"):
            return await _stream(scene, body, request)
        if mode == "error_in_200":
            return web.json_response({"error": {"code": 502, "message": "upstream is away"}})
        if mode == "not_json_body":
            return web.Response(body=b"<html>proxy</html>", content_type="application/json")
        if mode == "bad_utf8":
            whole = json.dumps(_completion_body('{"intent": "refund", "note": "X"}')).encode()
            return web.Response(body=whole.replace(b"X", b"\xff"), content_type="application/json")
        if mode == "no_choices":
            return web.json_response({"id": "x", "choices": []})
        if mode == "tools":
            return _completion("", tool_calls=True)
        special: dict[str, dict[str, Any]] = {
            "empty": {"content": ""},
            "null": {"content": None},
            "refusal": {"content": None, "refusal": "I cannot help with that."},
            "truncated": {"content": '{"intent": "ref', "finish_reason": "length"},
        }
        if mode in special:
            return web.json_response(_completion_body(**special[mode]))
        return _embeddings(scene, body) if "input" in body else _answer(scene, body)


async def _stream(scene: Scene, body: Body, request: web.Request) -> web.StreamResponse:
    """The reply word by word as server-sent events, or what goes wrong half way."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    calls = [
        [{"index": 0, "id": "c1", "type": "function", "function": {"name": "refund", "arguments": ""}}],
        [{"index": 0, "function": {"arguments": '{"order": '}}],
        [{"index": 1, "id": "c2", "type": "function", "function": {"name": "close", "arguments": "{}"}}],
        [{"index": 0, "function": {"arguments": '"A-17",'}}],
    ]
    words = re.findall(r"\S+\s*", _reply(scene, body))
    deltas: list[Body] = [{"role": "assistant", "content": None}, *({"content": word} for word in words)]
    if scene.mode == "stream_tools":
        deltas += [{"tool_calls": one} for one in calls]
    events: list[Body | str] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if scene.mode in ("stream_broken", "stream_cut", "stream_error"):
        events = events[: 1 + len(words) // 2]
    if scene.mode == "stream_error":
        events.append({"error": {"code": 503, "message": "the worker is gone"}})
    whole = scene.mode not in ("stream_broken", "stream_cut", "stream_error")
    if whole:
        ending = "tool_calls" if scene.mode == "stream_tools" else "stop"
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": ending}]})
        if scene.mode != "stream_no_usage" and (body.get("stream_options") or {}).get("include_usage"):
            events.append({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}})
        events.append("[DONE]")
    with contextlib.suppress(ConnectionError):
        await response.write(b": a comment keeps the connection alive\n\n")
        for at, event in enumerate(events):
            await asyncio.sleep(scene.piece_s)
            while at == len(deltas) - 1 and scene.go_on is not None and not scene.go_on.is_set():
                await asyncio.sleep(0.01)
            data = event if isinstance(event, str) else json.dumps(event)
            await response.write(f"data: {data}\n\n".encode())
        if scene.mode == "stream_broken" and request.transport is not None:
            request.transport.close()
    return response


def _reply(scene: Scene, body: Body) -> str:
    return scene.reply(body) if callable(scene.reply) else scene.reply


def _answer(scene: Scene, body: Body) -> web.Response:
    made = _completion_body(_reply(scene, body))
    if scene.mode == "no_usage":
        del made["usage"]
    return web.json_response(made)


def _embeddings(scene: Scene, body: Body) -> web.Response:
    """Vectors of (characters, vowels, 1), sent last first: only their index says which is whose."""
    texts = body["input"]
    if scene.most_texts is not None and len(texts) > scene.most_texts:
        return _error(413, f"at most {scene.most_texts} inputs")
    rows: list[Any] = [[float(len(text)), float(sum(map(text.count, "aeiou"))), 1.0] for text in texts]
    if scene.mode == "base64":
        rows = [base64.b64encode(struct.pack("<3f", *row)).decode() for row in rows]
    if scene.mode == "vector_missing":
        rows = rows[:-1]
    if scene.mode == "vector_nan":
        rows[0] = [None, 1.0, 1.0]
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    made: Body = {"object": "list", "model": body["model"], "data": data[::-1]}
    if scene.mode != "no_usage":
        made["usage"] = {"prompt_tokens": sum(map(len, texts)), "total_tokens": sum(map(len, texts))}
    return web.json_response(made)


def _completion(content: str, tool_calls: bool = False) -> web.Response:
    made = _completion_body(content)
    if tool_calls:
        # Arguments as broken as models make them: they must arrive as they were emitted.
        call = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"order": "A-17",'}}
        made["choices"][0]["message"].update(content=None, tool_calls=[call])
        made["choices"][0]["finish_reason"] = "tool_calls"
    return web.json_response(made)


def _completion_body(content: str | None, finish_reason: str = "stop", refusal: str | None = None) -> Body:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "error"}}, status=status, headers=headers)


if __name__ == "__main__":
    # A server of its own process, for measurements: prints its URL and ends with its standard input.
    with FaultServer() as standing:
        print(standing.scene("ok", latency_s=float(sys.argv[1]) if len(sys.argv) > 1 else 0.0).url, flush=True)
        sys.stdin.read()
