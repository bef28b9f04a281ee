"""The messages that go to a model: what it is told and asked, then its replies with what came of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cxlab.benchmarks.crmarena.agents.episode import Episode
from cxlab.benchmarks.crmarena.prompts.agent_prompts import AgentInputs
from cxlab.llm import ChatModel, Prompt, Request

# As published.
TOP_P = 1.0
# Servers refuse a reply without content.
_SILENCE = "(no answer)"


@dataclass
class AgentConversation:
    """A model, its prompt with what it is rendered from, and all that came after the question."""

    model: ChatModel
    prompt: Prompt[Any, Any]
    inputs: AgentInputs
    seed: int = 0
    tools: list[dict[str, Any]] | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.messages += self.prompt.render(self.inputs)

    def request(self, episode: Episode) -> Request:
        """The next question to the model: everything so far."""
        return self.prompted(Request(list(self.messages), tools=self.tools), episode)

    def prompted(self, request: Request, episode: Episode) -> Request:
        """A request with what stand-ins read: the prompt, and the attempt so far."""
        inputs = type(self.inputs).model_construct(**{**self.inputs.__dict__, "history": episode.messages[1:]})
        return Request(
            request.messages,
            tools=request.tools,
            temperature=self.prompt.temperature,
            top_p=TOP_P,
            seed=self.seed,
            prompt=self.prompt,
            inputs=inputs,
            draw=episode.question,
        )

    def add(self, reply: str, shown: str) -> None:
        """A reply in words, and what came of it."""
        self.messages.append({"role": "assistant", "content": reply or _SILENCE})
        self.messages.append({"role": "user", "content": shown})
