"""The simulated agent: reads the talk and its tools' results, keeps to the policy's procedure, asks what it lacks.

How well it does follows from its profile: which wordings it knows, which rules it keeps, how long it remembers, how
surely it fills in a tool. What it is told of the customer (exposure) decides how it puts a request, and how many.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from cxlab.benchmarks.mmtaup2.evaluation import baselines
from cxlab.benchmarks.mmtaup2.evaluation.events import TRANSFER
from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import AgentInputs
from cxlab.benchmarks.mmtaup2.simulated.dialogue_state import DialogueState, NextAction
from cxlab.benchmarks.mmtaup2.simulated.move_format import written
from cxlab.benchmarks.mmtaup2.simulated.retail import agent as retail_agent
from cxlab.benchmarks.mmtaup2.simulated.telecom import agent as telecom_agent
from cxlab.llm.base import Completion
from cxlab.llm.simulated import Profile
from cxlab.records import ToolCall

# A profile's slips in filling in a tool and in keeping the form, as shares of what its skill leaves open.
TOOL_SLIPS, FORM_SLIPS = 0.3, 0.5


def agent(inputs: AgentInputs, profile: Profile, rng: np.random.Generator) -> str | Completion:
    """The next move, in the form that was asked for."""
    if baselines.is_baseline(profile.name):
        return _baseline_move(inputs, profile.name)
    names = {tool["function"]["name"] for tool in inputs.tools}
    mind = DialogueState(inputs, profile, rng)
    step = telecom_agent.plan(mind) if "refuel_data" in names else retail_agent.plan(mind)
    if not step.tool:
        return _slipped_text(step.text, mind)
    return _call(step, mind)


def _slipped_text(text: str, mind: DialogueState) -> str | Completion:
    if mind.rng.random() < (1 - mind.profile.format_reliability) * FORM_SLIPS:
        return Completion(text="")
    return written([], text, mind.inputs.as_text, len(mind.inputs.history))


def _call(step: NextAction, mind: DialogueState) -> str | Completion:
    arguments = dict(step.arguments or {})
    profile, rng, place = mind.profile, mind.rng, len(mind.inputs.history)
    tool = step.tool
    if rng.random() < (1 - profile.tool_skill) * TOOL_SLIPS:
        tool, arguments = _slipped(tool, arguments, rng)
    if rng.random() < (1 - profile.format_reliability) * FORM_SLIPS and not mind.inputs.as_text:
        emitted = json.dumps(arguments)
        if rng.random() < 0.5:
            # Cut off before the closing bracket.
            return Completion("", (ToolCall(id=f"call_{place}", name=tool, arguments=emitted[:-1]),))
        return Completion("One moment, please.", (ToolCall(id=f"call_{place}", name=tool, arguments=emitted),))
    return written([(tool, arguments)], "", mind.inputs.as_text, place)


def _slipped(tool: str, arguments: dict[str, Any], rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    """A call that is filled in wrong: an argument forgotten, one too many, or the name of another tool."""
    sort = rng.random()
    if sort < 0.4 and arguments:
        arguments.pop(list(arguments)[int(rng.random() * len(arguments))])
        return tool, arguments
    if sort < 0.7:
        return tool, {**arguments, "note": "as the customer asked"}
    return tool.replace("_by_", "_from_") if "_by_" in tool else f"{tool}_now", arguments


def _baseline_move(inputs: AgentInputs, profile: str) -> str | Completion:
    """The floor's next move: its one tool call if offered and not made yet, else its sentence."""
    floor = baselines.find(f"simulated:{profile}")
    offered = any(tool.get("function", {}).get("name") == TRANSFER for tool in inputs.tools)
    made = any(line.call is not None and line.call[0] == TRANSFER for line in inputs.history)
    if floor.transfers and offered and not made:
        return written([(TRANSFER, baselines.SUMMARY)], "", inputs.as_text, len(inputs.history))
    return written([], floor.says, inputs.as_text, len(inputs.history))
