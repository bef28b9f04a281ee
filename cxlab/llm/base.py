"""The model boundary's contract: one request in, one completion out, faults told apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from cxlab.records import Failure, ToolCall, Usage

Out = TypeVar("Out", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked.

    `messages` are OpenAI-style dicts, those of a prompt rendered when they are read. `schema` asks for one JSON object
    of that shape. `prompt` and `inputs` are only read by simulated models: the inputs are exactly what the messages are
    rendered from. `seed` separates repeated samples of the same prompt; `draw`, which only simulated models read,
    tells draws of the same prompt and seed apart ("": the inputs do). `require_tool` asks the server for a call
    instead of leaving the choice to the model; a server that refuses to is left to choose. `on_text` is
    called with the whole text so far while it is written, from the beginning again after a broken attempt;
    a model or a server that cannot stream does not call it. `max_tokens` None: the model's own limit, as models.toml
    has it. `top_p` None is not sent; models through LangChain are never sent one.
    """

    messages: Sequence[dict[str, Any]]
    schema: type[BaseModel] | None = None
    tools: list[dict[str, Any]] | None = None
    temperature: float = 0.0
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int = 0
    prompt: Any = None
    inputs: BaseModel | None = None
    require_tool: bool = False
    on_text: Callable[[str], None] | None = None
    draw: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered; `text` is "" when the server sent null content.

    `reasoning` is what it thought aloud, as the server sent it apart or as it stood between tags in the text; nobody
    but the reader of a log ever sees it. `finish_reason` "length": cut off at the limit, which is `limit` tokens where
    one was sent.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    latency_s: float = 0.0
    finish_reason: str | None = None
    reasoning: str = ""
    limit: int | None = None

    @property
    def raw(self) -> str:
        """All that the model wrote, its reasoning between tags in front."""
        return f"<think>{self.reasoning}</think>\n{self.text}" if self.reasoning else self.text


class ProviderFault(Exception):
    """The provider did not deliver: never the model's answer, recorded as a `Failure`."""

    def __init__(self, type: str, message: str, retryable: bool = False, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(where="provider", type=type, message=message, retryable=retryable)
        self.usage = usage or Usage()


class ChatModel(Protocol):
    """A model that can be asked; raises ProviderFault, never a provider's own exception."""

    name: str
    simulated: bool

    async def complete(self, request: Request) -> Completion: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Reply(Generic[Out]):
    """An answer to a prompt: `output` when it could be parsed, else `failure` (format or provider).

    `raw` is all that was written, reasoning included.
    """

    output: Out | None
    raw: str
    usage: Usage = field(default_factory=Usage)
    latency_s: float = 0.0
    cost_usd: float | None = None
    failure: Failure | None = None
