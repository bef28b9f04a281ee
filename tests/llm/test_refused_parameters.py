"""Parameters that a server refuses are left out, whether one request finds that out or many side by side."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from cxlab.llm import ProviderFault, Request, ask
from cxlab.llm.cache import ReplyCache

from .fault_server import FaultServer, Scene
from .intents import CHAT, INTENT, Inputs, TextInputs, model_at
from .local_server import LocalServer

TOGETHER = 6
REFUSALS: dict[str, tuple[int, dict[str, Any]]] = {
    "temperature": (
        400,
        {"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model."}},
    ),
    "max_tokens": (
        400,
        {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}},
    ),
    "seed": (
        422,
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
    ),
    "reasoning_effort": (400, {"error": "reasoning_effort is not supported by this model"}),
}


class PickyServer(LocalServer):
    """Refuses one parameter, and says so only when as many requests have come with it as are made at once."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.bodies: list[dict[str, Any]] = []
        self._all_came = asyncio.Event()

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [web.post("/v1/chat/completions", self._complete)]

    async def _complete(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        if self.name in body:
            if len(self.bodies) == TOGETHER:
                self._all_came.set()
            await self._all_came.wait()
            status, said = REFUSALS[self.name]
            return web.json_response(said, status=status)
        message = {"role": "assistant", "content": json.dumps({"intent": "refund"})}
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}]})


@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("structured", [False, True], ids=["text", "schema"])
def test_requests_that_are_refused_side_by_side_are_all_made_again(name: str, structured: bool) -> None:
    with PickyServer(name) as server:

        async def together() -> list[Any]:
            model = model_at(f"http://127.0.0.1:{server.port}/v1", max_output_tokens=900, reasoning_effort="low")
            questions = [
                ask(model, INTENT, Inputs(message=str(number)))
                if structured
                else ask(model, CHAT, TextInputs(message=str(number)))
                for number in range(TOGETHER)
            ]
            replies = await asyncio.gather(*questions)
            await model.aclose()
            return replies

        replies = asyncio.run(together())
    assert [reply.failure for reply in replies] == [None] * TOGETHER
    assert [name in body for body in server.bodies] == [True] * TOGETHER + [False] * TOGETHER
    if structured:
        shapes = {body["response_format"]["type"] for body in server.bodies}
        assert shapes == {"json_schema"}, "a refused parameter says nothing of the schema"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"detail": [{"loc": ["body", "messages", 0], "msg": "Field required"}]}, "body.messages.0: Field required"),
        ({"detail": "Not allowed here"}, "Not allowed here"),
        ({"error": "model 'tiny' not found"}, "model 'tiny' not found"),
        ({"object": "error", "message": "no such model"}, "no such model"),
        ("model is still loading", "model is still loading"),
        ("<html><title>Bad request</title></html>", "Bad Request"),
    ],
)
def test_what_a_refusal_says_is_told_in_whichever_form_it_comes(body: Any, told: str) -> None:
    class Refusing(LocalServer):
        def routes(self) -> Iterable[web.AbstractRouteDef]:
            return [web.post("/v1/chat/completions", self._refuse)]

        async def _refuse(self, _: web.Request) -> web.Response:
            said = body if isinstance(body, str) else json.dumps(body)
            return web.Response(text=said, status=400, content_type="application/json")

    with Refusing() as server:

        async def once() -> None:
            model = model_at(f"http://127.0.0.1:{server.port}/v1")
            try:
                await model.complete(Request([{"role": "user", "content": "hi"}]))
            finally:
                await model.aclose()

        with pytest.raises(ProviderFault) as caught:
            asyncio.run(once())
    assert caught.value.failure.message == f"HTTP 400: {told}"


def test_parameters_that_a_server_refuses_are_left_out_from_then_on(server: FaultServer) -> None:
    for mode, name in (
        ("no_temperature", "temperature"),
        ("new_limit_name", "max_tokens"),
        ("no_effort", "reasoning_effort"),
    ):
        scene = server.scene(mode)

        async def twice(scene: Scene = scene) -> None:
            model = model_at(scene.url, max_output_tokens=900, reasoning_effort="low")
            for message in ("a", "b"):
                assert (await ask(model, CHAT, TextInputs(message=message))).output is not None
            await model.aclose()

        asyncio.run(twice())
        assert [name in body for body in scene.bodies] == [True, False, False]


def test_top_p_is_sent_where_it_is_given_and_goes_first_where_a_server_refuses_it(server: FaultServer) -> None:
    scene = server.scene("no_top_p")

    async def twice() -> None:
        model = model_at(scene.url)
        for _ in range(2):
            await model.complete(Request([{"role": "user", "content": "hi"}], top_p=1.0))
        await model.complete(Request([{"role": "user", "content": "hi"}]))
        await model.aclose()

    asyncio.run(twice())
    sent = [(body.get("temperature"), body.get("top_p")) for body in scene.bodies]
    assert sent == [(0.0, 1.0), (0.0, None), (0.0, None), (0.0, None)]
    plain = Request([{"role": "user", "content": "hi"}])
    assert ReplyCache.key("m", plain) != ReplyCache.key("m", replace(plain, top_p=1.0))


def test_a_limit_that_the_server_finds_too_large_is_left_to_the_server(server: FaultServer) -> None:
    scene = server.scene("small_limit")

    async def twice() -> None:
        model = model_at(scene.url, max_output_tokens=16_384)
        for message in ("a", "b"):
            assert (await ask(model, CHAT, TextInputs(message=message))).output is not None
        await model.aclose()

    asyncio.run(twice())
    assert ["max_tokens" in body for body in scene.bodies] == [True, False, False]
