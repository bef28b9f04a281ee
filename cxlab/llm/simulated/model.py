"""The embedded default model: deterministic, in this process, without a network."""

import asyncio
import hashlib
import importlib
import time
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from cxlab.llm.base import Completion, Request
from cxlab.llm.metering import FREE
from cxlab.llm.prompts import RenderedMessages
from cxlab.llm.simulated.profiles import Profile
from cxlab.records import Usage

if TYPE_CHECKING:
    from numpy.random import Generator

# A simulated call never waits, so without this a run of thousands would starve the tasks beside it.
_YIELD_EVERY_S = 0.01
_ONE_CALL = Usage(calls=1)


class SimulatedModel:
    """A profile that answers through the prompt's own `simulate` handler.

    Same profile, prompt, seed, number of replies so far and `draw` (or, without one, the same inputs): same draw. The
    wording of a prompt decides none, so that an edit of it changes what it says and nothing else. `latency_s` sleeps
    that long per call (asynchronously) to show live progress; it changes no reply. Usage counts the call and leaves
    the tokens None: nothing was tokenised, and an invented number would look like a measurement.
    """

    simulated = True
    prices = FREE

    def __init__(self, profile: Profile, latency_s: float = 0.0, name: str | None = None) -> None:
        # Late, because a list of models needs no numpy; here, so that no call's latency includes the import.
        importlib.import_module("numpy.random")

        self.profile = profile
        self.latency_s = latency_s
        self.name = name or f"simulated:{profile.name}"
        self._yielded = time.perf_counter()

    def __repr__(self) -> str:
        return f"SimulatedModel({self.name!r})"

    async def complete(self, request: Request) -> Completion:
        """The handler's reply; a plain statement of what this is when the prompt has no handler."""
        started = time.perf_counter()
        if self.latency_s > 0:
            await asyncio.sleep(self.latency_s)
        elif started - self._yielded > _YIELD_EVERY_S:
            await asyncio.sleep(0)
            self._yielded = time.perf_counter()
        handler = request.prompt.handler if request.prompt is not None else None
        if handler is None or request.inputs is None:
            said: Any = (
                f"This is {self.name}, a simulated model of CX Lab. It answers only prompts that come with a "
                "simulation and has no free-text skills."
            )
        else:
            said = handler(request.inputs, self.profile, self._rng(request))
        spent = time.perf_counter() - started
        if isinstance(said, Completion):
            # A handler that calls tools returns a whole completion; what it took is still ours to measure.
            return Completion(said.text, said.tool_calls, _ONE_CALL, spent, said.finish_reason or "stop")
        return Completion(said, (), _ONE_CALL, spent, "stop")

    def _rng(self, request: Request) -> "Generator":
        from numpy.random import PCG64, Generator

        # How often the model has replied tells the steps of a talk apart, and a second ask from the first; a
        # prompt alone holds no reply, and need not be rendered to see that.
        replies = 0
        if not isinstance(request.messages, RenderedMessages):
            replies = sum(message["role"] == "assistant" for message in request.messages)
        key = f"{self.name}\0{request.seed}\0{request.prompt.name}\0{replies}\0{request.draw}"
        digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16)
        if not request.draw:
            digest.update(_data(request.prompt, request.inputs))
        return Generator(PCG64(int.from_bytes(digest.digest(), "little")))

    async def aclose(self) -> None:
        """Nothing to close."""


def _data(prompt: Any, inputs: Any) -> bytes:
    """What a prompt is rendered from, as bytes; a stand-in's own script beside it decides no draw either."""
    given = inputs.__dict__
    # Not the model's own dump: inputs made without validation would warn of each field that is of another type.
    shown = {name: given[name] for name in prompt.rendered_fields if name in given}
    return to_json(shown, fallback=repr)
