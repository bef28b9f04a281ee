"""The simulated agent: reads the talk and its tools' results, keeps to the policy's procedure, asks what it lacks.

How well it does follows from its profile: which wordings it knows, which rules it keeps, how long it remembers, how
surely it fills in a tool. What it is told of the customer (exposure) decides how it puts a request, and how many.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cxlab.benchmarks.mmtaup2 import floors
from cxlab.benchmarks.mmtaup2.phone_talk import knows, value_of
from cxlab.benchmarks.mmtaup2.prompts import AgentInputs, Line
from cxlab.benchmarks.mmtaup2.simulate_customer import written
from cxlab.llm.base import Completion
from cxlab.llm.simulated import Profile
from cxlab.records import ToolCall

# A profile's slips in filling in a tool and in keeping the form, as shares of what its skill leaves open.
TOOL_SLIPS, FORM_SLIPS = 0.3, 0.5


@dataclass(frozen=True)
class Step:
    """What the agent does next: a call, or a text; `tells` for a text that waits for no answer."""

    text: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] | None = None
    tells: bool = False


@dataclass(frozen=True)
class Made:
    """A call of the agent's own with what came back."""

    at: int
    tool: str
    arguments: dict[str, Any]
    value: Any
    error: bool


class Mind:
    """The talk as an agent of a profile has it in mind; early messages of the customer fade."""

    def __init__(self, inputs: AgentInputs, profile: Profile, rng: np.random.Generator) -> None:
        self.inputs, self.profile, self.rng = inputs, profile, rng
        self.now = max((line.turn for line in inputs.history), default=1)
        self.own: list[tuple[int, str]] = []
        self.theirs: list[tuple[int, str]] = []
        self.made: list[Made] = []
        waiting: list[tuple[int, Line]] = []
        opened = False
        self.case = ""
        for at, line in enumerate(inputs.history):
            if line.who == "Agent":
                self.own.append((at, line.text))
            elif line.who == "Customer":
                # What somebody got in touch for is not forgotten; what was said on the way is.
                if not opened or line.turn > self.now - profile.fatigue:
                    self.theirs.append((at, line.text))
                self.case = self.case or line.text
                opened = True
            elif line.who == "Call":
                waiting.append((at, line))
            elif line.who == "Result" and waiting:
                called_at, call = waiting.pop(0)
                name, emitted = call.call or ("", "{}")
                arguments = value_of(emitted)
                given = arguments if isinstance(arguments, dict) else {}
                self.made.append(Made(called_at, name, given, value_of(line.text), line.error))
        self.last = self.theirs[-1][1] if self.theirs else ""
        # Who it is tells one talk from another once it is known, better than how it began.
        who = next(
            (m for m in self.made if not m.error and m.tool.startswith(("get_customer_by", "find_user_id"))), None
        )
        self.case = f"{self.case} {next(iter(who.arguments.values()), '')}" if who else self.case

    @property
    def note(self) -> str:
        """What stands in the prompt about the customer, if this profile goes by it in this message.

        It takes noticing or caring: a profile with little of both falls back into its usual way now and then.
        """
        profile = self.profile
        share = 1 - (1 - profile.subtlety) * (1 - profile.empathy)
        return self.inputs.note if knows(profile, f"note {self.case} {len(self.own)}", share) else ""

    def done(self, tool: str, **arguments: Any) -> Made | None:
        """The last call of the tool that was carried out, with these arguments."""
        for made in reversed(self.made):
            if made.tool == tool and not made.error and arguments.items() <= made.arguments.items():
                return made
        return None

    def tried(self, tool: str, **arguments: Any) -> int:
        return sum(m.tool == tool and arguments.items() <= m.arguments.items() for m in self.made)

    def follows(self, rule: str, case: str, share: float) -> bool:
        """Whether a rule is kept in this case: the same for the whole talk, and for every talk about the case."""
        return knows(self.profile, f"{rule} {case}", share)

    def asked(self, pattern: re.Pattern[str]) -> int:
        return sum(bool(pattern.search(text)) for _, text in self.own)

    def said_since(self, at: int) -> list[str]:
        return [text for place, text in self.theirs if place > at]


def agent(inputs: AgentInputs, profile: Profile, rng: np.random.Generator) -> str | Completion:
    """The next move, in the form that was asked for."""
    if floors.is_floor(profile.name):
        return floors.move(inputs, profile.name)
    names = {tool["function"]["name"] for tool in inputs.tools}
    mind = Mind(inputs, profile, rng)
    if "refuel_data" in names:
        from cxlab.benchmarks.mmtaup2.simulate_phone_agent import plan
    else:
        from cxlab.benchmarks.mmtaup2.simulate_shop_agent import plan
    step = plan(mind)
    if not step.tool:
        return _slipped_text(step.text, mind)
    return _call(step, mind)


def _slipped_text(text: str, mind: Mind) -> str | Completion:
    if mind.rng.random() < (1 - mind.profile.format_reliability) * FORM_SLIPS:
        return Completion(text="")
    return written([], text, mind.inputs.as_text, len(mind.inputs.history))


def _call(step: Step, mind: Mind) -> str | Completion:
    arguments = dict(step.arguments or {})
    profile, rng, place = mind.profile, mind.rng, len(mind.inputs.history)
    tool = step.tool
    if rng.random() < (1 - profile.tool_skill) * TOOL_SLIPS:
        tool, arguments = _slipped(tool, arguments, mind.inputs.tools, rng)
    if rng.random() < (1 - profile.format_reliability) * FORM_SLIPS and not mind.inputs.as_text:
        emitted = json.dumps(arguments)
        if rng.random() < 0.5:
            # Cut off before the closing bracket.
            return Completion("", (ToolCall(id=f"call_{place}", name=tool, arguments=emitted[:-1]),))
        return Completion("One moment, please.", (ToolCall(id=f"call_{place}", name=tool, arguments=emitted),))
    return written([(tool, arguments)], "", mind.inputs.as_text, place)


def _slipped(
    tool: str, arguments: dict[str, Any], tools: Sequence[Mapping[str, Any]], rng: np.random.Generator
) -> tuple[str, dict[str, Any]]:
    """A call that is filled in wrong: an argument forgotten, one too many, or the name of another tool."""
    sort = rng.random()
    if sort < 0.4 and arguments:
        arguments.pop(list(arguments)[int(rng.random() * len(arguments))])
        return tool, arguments
    if sort < 0.7:
        return tool, {**arguments, "note": "as the customer asked"}
    return tool.replace("_by_", "_from_") if "_by_" in tool else f"{tool}_now", arguments
