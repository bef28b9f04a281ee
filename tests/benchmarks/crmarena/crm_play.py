"""How tests let an agent work a question: with replies that are written out, or a stand-in."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from cxlab import llm
from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.crmarena.options import CrmOptions
from cxlab.benchmarks.crmarena.run import run
from cxlab.benchmarks.crmarena.score import measure
from cxlab.llm.base import Completion, ProviderFault, Request
from cxlab.records import Attempt, Sample, ToolCall, Usage, Verdict

Reply = str | tuple[str, str] | Completion | ProviderFault


class Scripted:
    """A model that gives these replies one after the other; a pair is a call of a tool with its arguments."""

    simulated = False
    prices = None
    name = "scripted"

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.replies, self.requests = list(replies), list[Request]()

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, ProviderFault):
            raise reply
        if isinstance(reply, Completion):
            return reply
        usage = Usage(prompt_tokens=10, completion_tokens=5, calls=1)
        if isinstance(reply, tuple):
            calls = (ToolCall(id=f"c{len(self.requests)}", name=reply[0], arguments=reply[1]),)
            return Completion("", calls, usage, 0.5, "tool_calls")
        return Completion(reply, (), usage, 0.5, "stop")

    async def aclose(self) -> None:
        """Nothing to close."""


def play(sample: Sample, model: Any, options: Mapping[str, Any], trial: int = 0) -> Attempt:
    """The attempt of a model, or of a stand-in by its name."""
    model = llm.load(model) if isinstance(model, str) else model
    setup = Setup(model=model, customer=None, judges=(), run_id="r", options=CrmOptions.read(options))
    return asyncio.run(run(sample, setup, trial))


def values_of(sample: Sample, attempt: Attempt) -> dict[str, float | None]:
    """Metric → value."""
    return {score.metric: score.value for score in measure(sample, attempt).scores}


def verdict_of(sample: Sample, attempt: Attempt) -> Verdict:
    found = measure(sample, attempt).verdict
    assert found is not None
    return found
