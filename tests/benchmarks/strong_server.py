"""A real HTTP server that plays strong models: asked by the real client, it answers as the stand-ins would.

What a stand-in needs beside the messages (the inputs that they were rendered from) stays in this process: each body
carries a number under which it is found. Tokens are counted on what was really sent and answered, and kept by role:
`asked["agent"]` is (calls, prompt tokens, completion tokens).
"""

import asyncio
import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

import pytest
from aiohttp import web

from cxlab import llm
from cxlab.llm.base import Completion, Request
from cxlab.llm.openai_model import OpenAIModel

STAND_INS = {"agent": "simulated:strong", "customer": "simulated:customer", "judge": "simulated:judge-fair"}
ROLES = tuple(STAND_INS)


class StrongServer:
    """`endpoint:agent`, `endpoint:customer` and `endpoint:judge`, on a free port, as long as the context lasts."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.prompt: Counter[str] = Counter()
        self.completion: Counter[str] = Counter()
        self.port = 0
        self.form: Callable[[dict[str, Any]], dict[str, Any]] = dict
        """What becomes of a message before it is sent, as real models put theirs."""
        self._requests: dict[int, Request] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> Self:
        numbers = itertools.count()
        body_of = OpenAIModel._body

        def body(model: OpenAIModel, request: Request, rung: str | None) -> dict[str, Any]:
            number = next(numbers)
            self._requests[number] = request
            return {**body_of(model, request, rung), "number": number}

        self._patch.setattr(OpenAIModel, "_body", body)
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.undo()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def settings(self) -> str:
        """models.toml for the three endpoints, a dollar per million tokens each."""
        return "\n".join(
            f'[endpoints.{role}]\nbase_url = "http://127.0.0.1:{self.port}/{role}/v1"\nmodel = "{role}"\n'
            "key_required = false\nprompt_usd = 1.0\ncompletion_usd = 1.0\n"
            for role in ROLES
        )

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/{role}/v1/chat/completions", self._complete)
        runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        self._loop.run_until_complete(runner.setup())
        self._loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
        self.port = runner.addresses[0][1]
        self._models = {role: llm.load(name) for role, name in STAND_INS.items()}
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _complete(self, request: web.Request) -> web.Response:
        role, body = request.match_info["role"], await request.json()
        asked = self._requests.pop(body["number"])
        # A stand-in that plays a customer may need a script, which real ones are not given: they have their card.
        if getattr(asked.inputs, "_script", "none asked for") is None:
            done = Completion(_tell(asked.inputs))
        else:
            done = await self._models[role].complete(asked)
        calls = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in done.tool_calls
        ]
        sent = {key: body[key] for key in ("messages", "tools", "response_format") if key in body}
        usage = {
            "prompt_tokens": len(json.dumps(sent, ensure_ascii=False)) // 4,
            "completion_tokens": len(done.text + "".join(one.arguments for one in done.tool_calls)) // 4,
        }
        self.calls[role] += 1
        self.prompt[role] += usage["prompt_tokens"]
        self.completion[role] += usage["completion_tokens"]
        message = {"role": "assistant", "content": done.text, **({"tool_calls": calls} if calls else {})}
        message = self.form(message)
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})


def _tell(card: Any) -> str:
    """A customer as its card asks for: one or two things a message, and goodbye once all is told and answered."""
    told = tuple(card.untold)[: 1 + len(card.history) // 2 % 2]
    truths = " ".join(card.facts[number - 1].truth for number in told)
    said = {
        "reasoning": "They asked; this is what I have not said yet.",
        "message": truths or ("Thank you, goodbye." if card.may_leave else "I see. What will you do about it now?"),
        "told": told,
        "withheld": [],
        "taken_back": [],
        "done": bool(card.may_leave),
    }
    return json.dumps(said)
