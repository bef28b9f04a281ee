"""The simulated agent: reads the question, looks up what it takes, one action at a time, and answers.

It sees what a real model is sent: the rendered prompt and its own actions with what came of them. How well it does
follows from its profile: periods misread, a condition forgotten, the first of those level taken, a field misspelled, a
reply without its tags. It never sees a gold answer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cxlab.benchmarks.crmarena.agents.function_calling import write_call
from cxlab.benchmarks.crmarena.agents.tagged import TaggedReply, write_reply
from cxlab.benchmarks.crmarena.prompts.agent_prompts import AgentInputs, QueryInputs, ToolInputs
from cxlab.benchmarks.crmarena.simulated import floors, query_plan, question, tool_plan
from cxlab.benchmarks.crmarena.simulated.progress import Action, AttemptProgress, read_history
from cxlab.llm.base import Completion
from cxlab.records import ToolCall

if TYPE_CHECKING:
    from numpy.random import Generator

    from cxlab.llm.simulated.profiles import Profile

_MISSPELLED = (
    ("OrderItemId__r", "OrderItem__r"),
    ("IssueId__c", "Issue__c"),
    ("CaseId__c", "CaseId"),
    ("OwnerId", "Owner"),
)


def act(inputs: AgentInputs, profile: Profile, rng: Generator) -> str | Completion:
    """The next reply, in the form that was asked for."""
    asked = question.read(inputs.question, inputs.context)
    if profile.family == "floor":
        action = Action("submit", {"content": floors.find_answer(profile.name, asked.kind)})
    else:
        offers = frozenset(each["function"]["name"] for each in inputs.tools) if isinstance(inputs, ToolInputs) else ()
        at = AttemptProgress(asked, read_history(inputs.history), profile, rng, frozenset(offers))
        action = query_plan.plan(at) if isinstance(inputs, QueryInputs) else tool_plan.plan(at)
        action = _slip(action, at)
    turn = 1 + sum(message.role == "agent" for message in inputs.history)
    last = inputs.history[-1] if inputs.history else None
    # Whoever was just reminded of the form keeps it.
    careless = last is None or last.role != "system"
    loses_form = careless and rng.random() < 1 - profile.format_reliability
    if isinstance(inputs, QueryInputs):
        return _in_tags(action, inputs.think, loses_form)
    return _as_call(action, inputs.as_text if isinstance(inputs, ToolInputs) else False, turn, loses_form)


def _slip(action: Action, at: AttemptProgress) -> Action:
    """The action with what this profile gets wrong in writing it."""
    if action.tool == "submit":
        content = str(action.arguments["content"])
        if len(content) < 20 and at.slips(at.profile.format_reliability, 0.6):
            return Action("submit", {"content": f"The answer is {content}."}, action.thought)
        return action
    query = action.arguments.get("query")
    # What failed is written with care the next time.
    if not isinstance(query, str) or at.stumbled or not at.slips(at.profile.tool_skill, 0.4):
        return action
    for right, wrong in _MISSPELLED:
        if right in query:
            return Action(action.tool, {"query": query.replace(right, wrong, 1)}, action.thought)
    return action


def _in_tags(action: Action, think: bool, loses_form: bool) -> str:
    if loses_form:
        return str(action.arguments.get("query") or action.arguments.get("content"))
    thought = action.thought if think else ""
    if action.tool == "submit":
        return write_reply(TaggedReply(thought, answer=str(action.arguments["content"])))
    return write_reply(TaggedReply(thought, query=str(action.arguments["query"])))


def _as_call(action: Action, as_text: bool, turn: int, loses_form: bool) -> str | Completion:
    arguments = json.dumps(action.arguments, ensure_ascii=False)
    if loses_form:
        return f"I will use {action.tool} now." if as_text else Completion(f"I will use {action.tool} now.")
    call = ToolCall(id=f"call_{turn}", name=action.tool, arguments=arguments)
    return write_call(action.thought, call) if as_text else Completion(action.thought, (call,))
