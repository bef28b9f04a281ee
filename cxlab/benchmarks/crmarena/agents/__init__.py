"""The agents under test: how a model works a question, from what it is told to its answer.

`play(episode, model, given, options, seed)` lets a model work one question in the framework of a run's options.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cxlab.benchmarks.crmarena.agents import function_calling, tagged
from cxlab.benchmarks.crmarena.agents.conversation import AgentConversation
from cxlab.benchmarks.crmarena.agents.episode import Episode
from cxlab.benchmarks.crmarena.options import CrmOptions
from cxlab.benchmarks.crmarena.prompts import agent_prompts
from cxlab.benchmarks.crmarena.prompts.agent_prompts import QueryInputs, ToolInputs
from cxlab.benchmarks.crmarena.tools import DEFINITIONS, GENERIC, schemas
from cxlab.llm import ChatModel

__all__ = ["Episode", "play"]


async def play(episode: Episode, model: ChatModel, given: Mapping[str, Any], options: CrmOptions, seed: int) -> None:
    """Work a question until the episode has ended. `given`: the sample's inputs, of which agents are told query,
    required and, when aided, optional."""
    told: dict[str, Any] = {
        "question": episode.question,
        "context": str(given.get("required", "")).strip(),
        "guidance": str(given.get("optional", "")).strip() if options.aided else "",
        "actions": options.actions,
    }
    if options.framework in ("act", "react"):
        think = options.framework == "react"
        prompt = agent_prompts.REACT if think else agent_prompts.ACT
        inputs = QueryInputs(**told, objects=agent_prompts.list_objects(episode.sandbox.schema), think=think)
        await tagged.play(episode, AgentConversation(model, prompt, inputs, seed))
        return
    tools = ToolInputs(**told, tools=schemas(sorted(episode.tools, key=_place)))
    if options.framework == "create_agent":
        from cxlab.benchmarks.crmarena.agents import langchain_agent

        await langchain_agent.play(episode, model, tools, seed)
        return
    await function_calling.play(episode, model, tools, seed, options.tool_calls)


def _place(name: str) -> tuple[bool, int]:
    return name in GENERIC, list(DEFINITIONS).index(name)
