"""What the simulated agents of both domains do alike: call, hand over, and say a thing as suits the customer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from typing import Any

from cxlab.benchmarks.mmtaup2.evaluation.events import TRANSFER
from cxlab.benchmarks.mmtaup2.simulated.dialogue_state import DialogueState, NextAction

MOST = 3
"""So often the same is asked."""


class AgentSteps(ABC):
    """An agent at one point of a talk; `reasons` and `gently`: how this customer is spoken to."""

    reasons: bool
    gently: bool

    def __init__(self, mind: DialogueState) -> None:
        self.mind, self.profile = mind, mind.profile

    @abstractmethod
    def spent(self, tool: str, **arguments: Any) -> bool:
        """Whether it is of no use to make this very call again."""

    def call(self, tool: str, arguments: Mapping[str, Any]) -> NextAction:
        if self.spent(tool, **arguments):
            return self.hand_over(f"{tool} does not go through.")
        return NextAction(tool=tool, arguments=arguments)

    def hand_over(self, summary: str) -> NextAction:
        return NextAction(tool=TRANSFER, arguments={"summary": summary})

    def suited(self, kind: str, known: Container[str]) -> str:
        """The kind of line that suits this customer, among those that are known: with its reason, gently, or plain."""
        ways = [f"{kind}_reason"] * self.reasons + [f"{kind}_gentle"] * self.gently
        return next((way for way in ways if way in known), kind)
