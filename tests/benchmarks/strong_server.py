"""A real HTTP server that plays strong models: asked by the real client, it answers as the stand-ins would.

What a stand-in needs beside the messages (the inputs that they were rendered from) stays in this process: each body
carries a number under which it is found. Tokens are counted on what was really sent and answered, and kept by role:
`asked["agent"]` is (calls, prompt tokens, completion tokens).
"""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Self

import pytest
from aiohttp import web

from cxlab import llm
from cxlab.llm.base import Completion, Request
from cxlab.llm.openai_model import OpenAIModel
from tests.llm.local_server import RoleServer

STAND_INS = {"agent": "simulated:strong", "customer": "simulated:customer", "judge": "simulated:judge-fair"}
ROLES = tuple(STAND_INS)


class StrongServer(RoleServer):
    """`endpoint:agent`, `endpoint:customer` and `endpoint:judge`, on a free port, as long as the context lasts."""

    roles = ROLES

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.prompt: Counter[str] = Counter()
        self.completion: Counter[str] = Counter()
        self.form: Callable[[dict[str, Any]], dict[str, Any]] = dict
        """What becomes of a message before it is sent, as real models put theirs."""
        self._requests: dict[int, Request] = {}
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> Self:
        numbers = itertools.count()
        body_of = OpenAIModel._body

        def body(model: OpenAIModel, request: Request, rung: str | None) -> dict[str, Any]:
            number = next(numbers)
            self._requests[number] = request
            return {**body_of(model, request, rung), "number": number}

        self._patch.setattr(OpenAIModel, "_body", body)
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        self._patch.undo()
        super().__exit__()

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        self._models = {role: llm.load(name) for role, name in STAND_INS.items()}
        return super().routes()

    async def reply(self, role: str, body: dict[str, Any]) -> dict[str, Any]:
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
        return {"choices": [{"message": self.form(message), "finish_reason": "stop"}], "usage": usage}


def _tell(card: Any) -> str:
    """A customer as its card asks for: one or two things a message, and goodbye once all is told and answered."""
    told = tuple(sorted(card.untold, key=card.mistaken.__contains__))[: 1 + len(card.history) // 2 % 2]
    truths = " ".join(card.facts[number - 1].truth for number in told)
    said = {
        "reasoning": "They asked; this is what I have not said yet.",
        "message": truths or ("Thank you, goodbye." if card.may_leave else "I see. What will you do about it now?"),
        "told": told,
        "withheld": [],
        "taken_back": [number for number in told if number in card.mistaken],
        "done": bool(card.may_leave),
    }
    return json.dumps(said)
