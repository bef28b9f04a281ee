"""Agents that cannot do anything, as floors: one hands every customer to a person at once, one only says hello.

Each is a simulated model like any other (a profile of that name in simulated/floors.py, `python -m cxlab run
mmtaup2 --model simulated:floor-transfer`), whose moves as an agent are made here. What they score is what a figure is
worth to somebody who understands nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxlab.benchmarks.mmtaup2.evaluation.events import TRANSFER
from cxlab.errors import UnknownName

if TYPE_CHECKING:
    from cxlab.benchmarks.mmtaup2.tasks import Task
    from cxlab.benchmarks.mmtaup2.worlds import World


@dataclass(frozen=True)
class BaselineAgent:
    """What a floor does: hand over first or not, and what it says from then on."""

    title: str
    transfers: bool
    says: str


BASELINES: dict[str, BaselineAgent] = {
    "simulated:floor-transfer": BaselineAgent(
        "always hands over", True, "A colleague takes over from here. Please stay on the line."
    ),
    "simulated:floor-nothing": BaselineAgent("does nothing", False, "Thank you for getting in touch."),
}
"""By the names of their models."""
SUMMARY = {"summary": "The customer asked for help."}


def is_baseline(profile: str) -> bool:
    """Whether the simulated model of this profile is a floor of this benchmark."""
    return f"simulated:{profile}" in BASELINES


def find(name: str) -> BaselineAgent:
    """A floor by the name of its model."""
    if name not in BASELINES:
        raise UnknownName("floor", name, BASELINES)
    return BASELINES[name]


def mark(task: Task, name: str, world: World | None = None) -> dict[str, Any]:
    """What a floor comes to on a task without a word of conversation: `tasks.evaluate`'s breakdown.

    It depends on the world alone, so a whole set of tasks is marked in the time of one conversation. `world`: for
    imported tasks, as in `tasks.begin`.
    """
    from cxlab.benchmarks.mmtaup2 import tasks

    floor = find(name)
    end = tasks.begin(task, world)
    if floor.transfers:
        end.call("agent", TRANSFER, SUMMARY)
    return tasks.evaluate(task, end, end.log, (floor.says,))
