"""Our models as a LangChain `BaseChatModel`; imports langchain_core, so only `as_langchain` imports it."""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ConfigDict, create_model

from cxlab.llm.base import Completion, Request
from cxlab.llm.parsing import extract_objects, parse


class CxChatModel(BaseChatModel):
    """A chat model of CX Lab for LangChain code: invoke, batch, stream, tools, structured output.

    `tool_choice` naming one tool offers only that tool; "any" cannot be enforced, because servers differ.
    A ProviderFault goes through to the caller.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    cx_model: Any
    temperature: float = 0.0
    max_tokens: int | None = None
    seed: int = 0

    @property
    def _llm_type(self) -> str:
        return "cxlab"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.cx_model.name, "temperature": self.temperature, "seed": self.seed}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        # One loop in one thread for all callers without a loop: a shared HTTP client belongs to one loop.
        return asyncio.run_coroutine_threadsafe(self._answer(messages, stop, kwargs), _background_loop()).result()

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await self._answer(messages, stop, kwargs)

    async def _answer(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]) -> ChatResult:
        asked = convert_to_openai_messages(messages)
        request = Request(
            messages=asked if isinstance(asked, list) else [asked],
            schema=kwargs.get("cx_schema"),
            tools=kwargs.get("tools") or None,
            temperature=kwargs.get("temperature", self.temperature),
            max_tokens=kwargs.get("max_tokens", self.max_tokens),
            seed=kwargs.get("seed", self.seed),
        )
        completion: Completion = await self.cx_model.complete(request)
        message = _message(completion, self.cx_model.name, stop)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | Any],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with these tools offered on each call."""
        offered = [convert_to_openai_tool(tool) for tool in tools]
        if tool_choice == "none":
            offered = []
        named = [tool for tool in offered if tool["function"]["name"] == tool_choice]
        return self.bind(tools=named or offered, **kwargs)

    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, Any]:
        """The model returning a pydantic object, or a dict for a JSON schema or TypedDict."""
        shape = schema if isinstance(schema, type) and issubclass(schema, BaseModel) else _shape(schema)
        as_dict = shape is not schema

        def read(message: AIMessage) -> Any:
            text = str(message.text)
            found, failure, _ = parse(text, shape, finish_reason=message.response_metadata.get("finish_reason"))
            if failure is not None:
                raise OutputParserException(f"{failure.type}: {failure.message}", llm_output=text)
            return extract_objects(text)[0] if as_dict else found

        def read_all(message: AIMessage) -> dict[str, Any]:
            try:
                return {"raw": message, "parsed": read(message), "parsing_error": None}
            except OutputParserException as error:
                return {"raw": message, "parsed": None, "parsing_error": error}

        return self.bind(cx_schema=shape) | RunnableLambda(read_all if include_raw else read)

    def get_num_tokens(self, text: str) -> int:
        """An estimate of four characters a token: LangChain's default would fetch a tokenizer."""
        return -(-len(text) // 4)


def _message(completion: Completion, model_name: str, stop: list[str] | None) -> AIMessage:
    text = completion.text
    for mark in stop or []:
        text = text.split(mark, 1)[0]
    calls: list[Any] = []
    broken: list[Any] = []
    for call in completion.tool_calls:
        try:
            args = json.loads(call.arguments or "{}")
        except ValueError as error:
            args = None
            problem = str(error)
        else:
            problem = "the arguments are not a JSON object"
        if isinstance(args, dict):
            calls.append({"name": call.name, "args": args, "id": call.id, "type": "tool_call"})
        else:
            broken.append(
                {
                    "name": call.name,
                    "args": call.arguments,
                    "id": call.id,
                    "error": problem,
                    "type": "invalid_tool_call",
                }
            )
    usage = completion.usage
    counted = None
    if usage.prompt_tokens is not None and usage.completion_tokens is not None:
        counted = {
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        }
    return AIMessage(
        content=text,
        tool_calls=calls,
        invalid_tool_calls=broken,
        usage_metadata=counted,
        # LangChain's usage callback leaves out messages without a model name.
        response_metadata={"model_name": model_name, "finish_reason": completion.finish_reason},
    )


def _shape(schema: dict[str, Any] | type) -> type[BaseModel]:
    """A pydantic model that stands for a JSON schema: it carries the schema and lets any object pass."""
    function = convert_to_openai_tool(schema)["function"]
    json_schema = function["parameters"]

    class Shape(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
            return dict(json_schema)

    required: dict[str, Any] = dict.fromkeys(json_schema.get("required", []), (Any, ...))
    return create_model(function["name"], __base__=Shape, **required)


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="cxlab-langchain", daemon=True).start()
    return loop
