"""LangChain's `create_agent` with the same tools, prompt and limits: its loop, our model and our trace.

Our model stands inside LangChain's chat model, so each request and reply passes here: replies are counted, calls beyond
the first left out, faults kept. An agent that stops without calling submit is reminded and goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cxlab.benchmarks.crmarena.agents.conversation import AgentConversation
from cxlab.benchmarks.crmarena.agents.episode import Episode, read_arguments
from cxlab.benchmarks.crmarena.agents.function_calling import send_back
from cxlab.benchmarks.crmarena.agents.observations import Observation
from cxlab.benchmarks.crmarena.prompts import agent_prompts
from cxlab.benchmarks.crmarena.prompts.agent_prompts import ToolInputs
from cxlab.benchmarks.crmarena.tools import find
from cxlab.llm import ChatModel, Completion, ProviderFault, Request, call
from cxlab.llm.langchain_model import as_langchain
from cxlab.llm.parsing import without_thinking
from cxlab.records import ToolCall

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


class _NoMoreReplies(Exception):
    """Ends LangChain's loop where no reply is left."""


@dataclass
class _Watched:
    """Our model as LangChain's agent asks it: what passes is taken up in the trace."""

    talk: AgentConversation
    episode: Episode
    calls: dict[str, ToolCall] = field(default_factory=dict)
    simulated: bool = True
    name: str = ""

    def __post_init__(self) -> None:
        self.name, self.simulated = self.talk.model.name, self.talk.model.simulated

    async def complete(self, request: Request) -> Completion:
        episode, model = self.episode, self.talk.model
        self._take_over(request)
        if episode.ended:
            raise _NoMoreReplies
        done = await call(model, self.talk.prompted(request, episode))
        took = episode.count(done)
        if done.completion is None:
            raise ProviderFault(
                done.failure.type if done.failure else "bad_reply", done.failure.message if done.failure else ""
            )
        said = done.completion
        text = without_thinking(said.text).strip()
        if not said.tool_calls:
            send_back(episode, model, said, text, took, agent_prompts.WRONG_FORM_TOOLS)
            return replace(said, text=text or "(no answer)")
        first = said.tool_calls[0]
        action = first.model_copy(update={"id": first.id or f"call_{episode.turn}"})
        episode.say(text, took, action, reasoning=said.reasoning, ignored=len(said.tool_calls) - 1)
        self.calls[action.id] = action
        # LangChain ends at a call whose arguments it cannot read; carried out, it is an error that can be put right.
        readable = action
        if read_arguments(action.arguments)[1] is not None:
            readable = action.model_copy(update={"arguments": "{}"})
        return replace(said, text=text, tool_calls=(readable,))

    def _take_over(self, request: Request) -> None:
        """Note what LangChain answered by itself: a call of a tool that there is not."""
        for message in request.messages:
            call = self.calls.pop(str(message.get("tool_call_id")), None)
            if call is not None:
                text = str(message.get("content"))
                self.episode.show(call, Observation(text, None, len(text), "tool"))

    async def aclose(self) -> None:
        await self.talk.model.aclose()


async def play(episode: Episode, model: ChatModel, inputs: ToolInputs, seed: int) -> None:
    """Let LangChain's agent work until there is an answer or no reply is left."""
    from langchain.agents import create_agent

    talk = AgentConversation(model, agent_prompts.TOOLS, inputs, seed)
    watched = _Watched(talk, episode)
    system, question = (message["content"] for message in talk.messages)
    tools = [_to_tool(name, episode, watched) for name in [each["function"]["name"] for each in inputs.tools]]
    agent = create_agent(as_langchain(watched, seed=seed), tools, system_prompt=system)
    messages: list[Any] = [{"role": "user", "content": question}]
    try:
        while not episode.ended:
            # A reply and its call are two of LangChain's steps.
            found = await agent.ainvoke({"messages": messages}, {"recursion_limit": 2 * episode.most + 10})
            messages = [*found["messages"], {"role": "user", "content": agent_prompts.WRONG_FORM_TOOLS}]
    except (_NoMoreReplies, ProviderFault):
        return  # the trace says which


def _to_tool(name: str, episode: Episode, watched: _Watched) -> BaseTool:
    """A tool of LangChain's that is carried out in the trace."""
    from langchain_core.tools import StructuredTool

    tool = find(name)

    async def carry_out(**arguments: Any) -> str:
        action = watched.calls.pop(next(reversed(watched.calls)))
        del arguments  # as LangChain read them; the trace has them as they were sent
        return (await episode.act(action)).text

    return StructuredTool.from_function(
        coroutine=carry_out,
        name=tool.name,
        description=tool.description,
        args_schema=tool.parameters,
        return_direct=tool.name == "submit",
    )
