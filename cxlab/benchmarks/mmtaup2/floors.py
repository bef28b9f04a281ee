"""Agents that cannot do anything, as floors: one hands every customer to a person at once, one only says hello.

Each is a simulated model like any other (a profile of that name, `python -m cxlab run mmtaup2 --model
simulated:floor-transfer`), whose moves as an agent are made here. What they score is what a figure is worth to
somebody who understands nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxlab.benchmarks.mmtaup2.events import TRANSFER
from cxlab.benchmarks.mmtaup2.simulate_customer import written
from cxlab.errors import UnknownName

if TYPE_CHECKING:
    from cxlab.benchmarks.mmtaup2.prompts import AgentInputs
    from cxlab.benchmarks.mmtaup2.tasks import Task
    from cxlab.benchmarks.mmtaup2.worlds import World
    from cxlab.llm.base import Completion


@dataclass(frozen=True)
class Floor:
    """What a floor does: hand over first or not, and what it says from then on."""

    title: str
    transfers: bool
    says: str


FLOORS: dict[str, Floor] = {
    "simulated:floor-transfer": Floor(
        "always hands over", True, "A colleague takes over from here. Please stay on the line."
    ),
    "simulated:floor-nothing": Floor("does nothing", False, "Thank you for getting in touch."),
}
"""By the names of their models."""
_SUMMARY = {"summary": "The customer asked for help."}


def is_floor(profile: str) -> bool:
    """Whether the simulated model of this profile is a floor of this benchmark."""
    return f"simulated:{profile}" in FLOORS


def move(inputs: AgentInputs, profile: str) -> str | Completion:
    """The floor's next move: its one tool call if offered and not made yet, else its sentence."""
    floor = find(f"simulated:{profile}")
    offered = any(tool.get("function", {}).get("name") == TRANSFER for tool in inputs.tools)
    made = any(line.call is not None and line.call[0] == TRANSFER for line in inputs.history)
    if floor.transfers and offered and not made:
        return written([(TRANSFER, _SUMMARY)], "", inputs.as_text, len(inputs.history))
    return written([], floor.says, inputs.as_text, len(inputs.history))


def find(name: str) -> Floor:
    """A floor by the name of its model."""
    if name not in FLOORS:
        raise UnknownName("floor", name, FLOORS)
    return FLOORS[name]


def mark(task: Task, name: str, world: World | None = None) -> dict[str, Any]:
    """What a floor comes to on a task without a word of conversation: `tasks.evaluate`'s breakdown.

    It depends on the world alone, so a whole set of tasks is marked in the time of one conversation. `world`: for
    imported tasks, as in `tasks.begin`.
    """
    from cxlab.benchmarks.mmtaup2 import tasks

    floor = find(name)
    end = tasks.begin(task, world)
    if floor.transfers:
        end.call("agent", TRANSFER, _SUMMARY)
    return tasks.evaluate(task, end, end.log, (floor.says,))
