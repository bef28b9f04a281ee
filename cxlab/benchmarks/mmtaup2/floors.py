"""Agents that cannot do anything, as floors: one hands every customer to a person at once, one only says hello.

They are models like any other (`ChatModel`): they answer natively with a tool call where they are offered tools, and as
a JSON move where the prompt asks for one, so a conversation needs to know nothing about them. What they score is what
a figure is worth to somebody who understands nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxlab.benchmarks.mmtaup2.events import TRANSFER
from cxlab.errors import UnknownName
from cxlab.llm.base import Completion, Request
from cxlab.llm.metering import FREE
from cxlab.records import ToolCall, Usage

if TYPE_CHECKING:
    from cxlab.benchmarks.mmtaup2.tasks import Task
    from cxlab.benchmarks.mmtaup2.worlds import World


@dataclass(frozen=True)
class Floor:
    """What a floor does: hand over first or not, and what it says from then on."""

    name: str
    title: str
    explains: str
    transfers: bool
    says: str


FLOORS: dict[str, Floor] = {
    floor.name: floor
    for floor in (
        Floor(
            "floor:always-transfer",
            "Always transfer",
            "Hands the customer to a person before anything else: right exactly where the task calls for a person.",
            True,
            "A colleague takes over from here. Please stay on the line.",
        ),
        Floor(
            "floor:do-nothing",
            "Do nothing",
            "Greets and does nothing: right only where the first state is already the wanted one.",
            False,
            "Thank you for getting in touch.",
        ),
    )
}


_SUMMARY = {"summary": "The customer asked for help."}


class FloorModel:
    """A floor as a model: deterministic, free, marked as simulated."""

    simulated = True
    prices = FREE

    def __init__(self, floor: Floor) -> None:
        self.floor = floor
        self.name = floor.name

    def __repr__(self) -> str:
        return f"FloorModel({self.name!r})"

    async def complete(self, request: Request) -> Completion:
        """The floor's next move: its one tool call if offered and not made yet, else its sentence."""
        hand_over = self.floor.transfers and _is_offered(request) and not _was_made(request)
        if request.schema is not None:
            calls = [{"name": TRANSFER, "arguments": _SUMMARY}] if hand_over else []
            written = {"calls": calls, "message": "" if hand_over else self.floor.says}
            return Completion(json.dumps(written), usage=Usage(calls=1), finish_reason="stop")
        if hand_over:
            call = ToolCall(id=f"call_{len(request.messages)}", name=TRANSFER, arguments=json.dumps(_SUMMARY))
            return Completion("", (call,), Usage(calls=1), finish_reason="tool_calls")
        return Completion(self.floor.says, usage=Usage(calls=1), finish_reason="stop")

    async def aclose(self) -> None:
        """Nothing to close."""


def load(name: str) -> FloorModel:
    """A floor by its name, such as "floor:do-nothing"."""
    if name not in FLOORS:
        raise UnknownName("floor", name, FLOORS)
    return FloorModel(FLOORS[name])


def mark(task: Task, name: str, world: World | None = None) -> dict[str, Any]:
    """What a floor comes to on a task without a word of conversation: `tasks.evaluate`'s breakdown.

    It depends on the world alone, so a whole set of tasks is marked in the time of one conversation. `world`: for
    imported tasks, as in `tasks.begin`.
    """
    from cxlab.benchmarks.mmtaup2 import tasks

    floor = load(name).floor
    end = tasks.begin(task, world)
    if floor.transfers:
        end.call("agent", TRANSFER, _SUMMARY)
    return tasks.evaluate(task, end, end.log, (floor.says,))


def _is_offered(request: Request) -> bool:
    """Whether the tool is there; a prompt that prints its tools carries them in its inputs."""
    tools: Any = request.tools or getattr(request.inputs, "tools", None) or []
    return any(tool.get("function", {}).get("name") == TRANSFER for tool in tools)


def _was_made(request: Request) -> bool:
    """Whether the talk already holds the call, as a message of tool calls or as a printed line."""
    for message in request.messages:
        if any(call.get("function", {}).get("name") == TRANSFER for call in message.get("tool_calls") or ()):
            return True
    history: Any = getattr(request.inputs, "history", None) or []
    return any(getattr(line, "call", None) and line.call[0] == TRANSFER for line in history)
