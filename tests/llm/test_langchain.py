"""LangChain both ways: their models as ours, ours as theirs."""

import asyncio
import json
import os
from typing import Any, TypedDict

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field

from cxlab.errors import NotConfigured
from cxlab.llm import ChatModel, Completion, Prices, ProviderFault, Request, ask, langchain_model, load
from cxlab.llm.langchain_model import LangchainModel, as_langchain, from_langchain, load_langchain
from cxlab.records import ToolCall, Usage

from .fault_server import FaultServer
from .intents import CHAT, INTENT, Inputs, Output, TextInputs, model_at


class Scripted(BaseChatModel):
    """A model of a foreign provider: says what it is told to, or raises it."""

    script: list[Any]
    seen: list[Any] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.seen.append((messages, kwargs))
        said = self.script.pop(0)
        if isinstance(said, BaseException):
            raise said
        return ChatResult(generations=[ChatGeneration(message=said)])

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=tools, **kwargs)


class ForeignError(Exception):
    def __init__(self, message: str, status_code: int | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code


class ResourceExhausted(Exception):
    """Named as gRPC providers name it."""


ForeignError.__module__ = ResourceExhausted.__module__ = "some_provider.errors"


def test_a_fake_without_tools_still_answers_typed_questions() -> None:
    # FakeListChatModel raises NotImplementedError for structured output; the shape then goes in words.
    model = from_langchain(FakeListChatModel(responses=['{"intent": "refund"}'] * 2), "fake")
    for _ in range(2):
        reply = asyncio.run(ask(model, INTENT, Inputs(message="a")))
        assert reply.output == Output(intent="refund")
        assert (reply.usage.prompt_tokens, reply.usage.calls, reply.cost_usd) == (None, 1, None)
    assert model.ladder.rung(Output) == "prompt"


def test_usage_endings_tool_calls_and_cost_come_through() -> None:
    message = AIMessage(
        content=[{"type": "text", "text": "Let me "}, {"type": "text", "text": "look."}],
        tool_calls=[{"name": "look_up", "args": {"id": "é"}, "id": "t1"}],
        invalid_tool_calls=[{"name": "look_up", "args": '{"id": ', "id": "t2", "error": "cut"}],
        usage_metadata={"input_tokens": 100, "output_tokens": 50, "total_tokens": 150},
        response_metadata={"stop_reason": "max_tokens"},
    )
    chat = Scripted(script=[message])
    model = from_langchain(chat, "foreign", Prices(10.0, 20.0))
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "t0", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "found", "tool_call_id": "t0"},
    ]
    done = asyncio.run(model.complete(Request(messages, tools=tools)))
    assert done.text == "Let me look."
    assert [(c.id, c.arguments) for c in done.tool_calls] == [("t1", '{"id": "é"}'), ("t2", '{"id": ')]
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.finish_reason) == (100, 50, "length")
    assert [m.type for m in chat.seen[0][0]] == ["system", "human", "ai", "tool"]
    assert chat.seen[0][1]["tools"] == tools


def test_a_forced_tool_carries_the_structured_answer() -> None:
    answer = AIMessage(content="", tool_calls=[{"name": "Output", "args": {"intent": "delivery"}, "id": "1"}])
    model = from_langchain(Scripted(script=[answer]), "foreign")
    reply = asyncio.run(ask(model, INTENT, Inputs(message="a")))
    assert reply.output == Output(intent="delivery")
    assert json.loads(reply.raw) == {"intent": "delivery"}
    assert model.ladder.rung(Output) == "native"


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (ForeignError("slow down", 429), "rate_limited", True),
        (ForeignError("broken", 529), "server_error", True),
        (ForeignError("who are you", 401), "auth", False),
        (ForeignError("odd"), "unknown", False),
        (ResourceExhausted("quota"), "rate_limited", True),
        (TimeoutError(), "timeout", True),
        (ConnectionResetError("gone"), "connection", True),
    ],
)
def test_provider_faults_are_told_apart(error: Exception, kind: str, retryable: bool) -> None:
    reply = asyncio.run(ask(from_langchain(Scripted(script=[error]), "foreign"), CHAT, TextInputs(message="a")))
    assert reply.failure is not None
    assert (reply.failure.where, reply.failure.type, reply.failure.retryable) == ("provider", kind, retryable)


def test_a_bug_is_not_dressed_up_as_a_provider_fault() -> None:
    with pytest.raises(KeyError):
        asyncio.run(ask(from_langchain(Scripted(script=[KeyError("oops")]), "foreign"), CHAT, TextInputs(message="a")))


def test_a_key_in_a_providers_message_is_blanked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREIGN_KEY", "private-value-9")
    chat = Scripted(script=[ForeignError("key private-value-9 is wrong", 401)])
    model = LangchainModel("foreign", lambda temperature, limit: chat, secrets=("FOREIGN_KEY",))
    reply = asyncio.run(ask(model, CHAT, TextInputs(message="a")))
    assert reply.failure is not None
    assert reply.failure.message == "ForeignError: key [key] is wrong"


def test_retries_are_counted_when_asked_for() -> None:
    chat = Scripted(script=[ForeignError("slow down", 429), AIMessage(content="hi")])
    model = LangchainModel("foreign", lambda temperature, limit: chat, attempts=2)
    reply = asyncio.run(ask(model, CHAT, TextInputs(message="a")))
    assert reply.output is not None
    assert reply.output.text == "hi"
    assert (reply.usage.calls, reply.usage.retries) == (1, 1)


def test_a_refused_temperature_is_left_to_the_provider() -> None:
    made: list[float | None] = []
    script = [ForeignError("temperature may not be set", 400), AIMessage(content="a"), AIMessage(content="b")]

    def make(temperature: float | None, max_tokens: int) -> BaseChatModel:
        made.append(temperature)
        return Scripted.model_construct(script=script, seen=[])

    model = LangchainModel("foreign", make)
    for _ in range(2):
        assert asyncio.run(ask(model, CHAT, TextInputs(message="a"))).output is not None
    assert made == [0.0, None]


def test_init_chat_model_reaches_a_real_server(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = server.scene(reply="hello from afar")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-needed")
    monkeypatch.setenv("OPENAI_BASE_URL", scene.url)
    model = load_langchain("openai:tiny", "openai", "tiny")
    reply = asyncio.run(ask(model, CHAT, TextInputs(message="hi"), temperature=0.3, max_tokens=33))
    assert reply.output is not None
    assert reply.output.text == "hello from afar"
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (100, 20)
    assert scene.bodies[0]["temperature"] == 0.3
    assert 33 in scene.bodies[0].values()


class Part(BaseModel):
    """What programmers read of a part."""

    kind: str = Field(description="one of three")


class Documented(BaseModel):
    """What programmers read."""

    parts: list[Part]


def test_several_event_loops_ask_one_provider(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    # Providers' packages keep their clients for the process; a preflight and each run have a loop of their own.
    scene = server.scene(reply="hello")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-needed")
    monkeypatch.setenv("OPENAI_BASE_URL", scene.url)
    for _ in range(3):
        reply = asyncio.run(ask(load_langchain("openai:tiny", "openai", "tiny"), CHAT, TextInputs(message="hi")))
        assert reply.output is not None, reply.failure
    assert scene.calls == 3


def test_no_docstring_reaches_a_provider(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = server.scene(reply='{"parts": []}')
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-needed")
    monkeypatch.setenv("OPENAI_BASE_URL", scene.url)
    request = Request([{"role": "user", "content": "Parts?"}], schema=Documented)
    asyncio.run(load_langchain("openai:tiny", "openai", "tiny").complete(request))
    assert scene.bodies[0]["response_format"]["json_schema"]["name"] == "Documented"
    # Other providers get the class as a tool, by what LangChain makes of it.
    chat = Scripted(
        script=[AIMessage(content="", tool_calls=[{"name": "Documented", "args": {"parts": []}, "id": "1"}])]
    )
    asyncio.run(from_langchain(chat, "foreign").complete(request))
    [offered] = chat.seen[0][1]["tools"]
    for sent in (str(scene.bodies[0]), str(convert_to_openai_tool(offered))):
        assert "one of three" in sent
        assert "programmers" not in sent


def test_a_missing_package_is_named() -> None:
    with pytest.raises(NotConfigured, match="langchain-anthropic"):
        load_langchain("anthropic:x", "anthropic", "x")


class Stub:
    """One of our models, answering from a list of completions."""

    name = "stub"
    simulated = False

    def __init__(self, *replies: Completion) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return self.replies.pop(0)

    async def aclose(self) -> None:
        pass


def said(text: str, *calls: ToolCall, ending: str = "stop") -> Completion:
    return Completion(text, calls, Usage(prompt_tokens=7, completion_tokens=3, calls=1), finish_reason=ending)


@tool
def look_up(order: str) -> str:
    """Look up an order."""
    return f"{order} is on its way"


def test_ours_as_theirs_invokes_batches_and_reports_usage() -> None:
    stub: ChatModel = Stub(said("one"), said("two"), said("three"), said("fo#ur"))
    chat = as_langchain(stub)
    with get_usage_metadata_callback() as counted:
        assert chat.invoke("hi").content == "one"
        assert {m.content for m in chat.batch(["a", "b"])} == {"two", "three"}
    assert counted.usage_metadata["stub"]["total_tokens"] == 30
    assert chat.invoke("x", stop=["#"]).content == "fo"
    assert chat.get_num_tokens("12345") == 2


async def test_ours_as_theirs_works_inside_a_running_loop() -> None:
    chat = as_langchain(Stub(said("one"), said("two"), said("three")))
    assert (await chat.ainvoke([HumanMessage("a")])).content == "one"
    assert chat.invoke("sync in a loop").content == "two"
    assert "".join([chunk.text async for chunk in chat.astream("c")]) == "three"


def test_bind_tools_offers_calls_and_keeps_broken_arguments() -> None:
    good = ToolCall(id="1", name="look_up", arguments='{"order": "A"}')
    broken = ToolCall(id="2", name="look_up", arguments='{"order": ')
    stub = Stub(said("", good, broken), said("done"))
    chat = as_langchain(stub).bind_tools([look_up])
    message = chat.invoke("where is A")
    assert [c["args"] for c in message.tool_calls] == [{"order": "A"}]
    assert [c["args"] for c in message.invalid_tool_calls] == ['{"order": ']
    assert stub.requests[0].tools is not None
    assert stub.requests[0].tools[0]["function"]["name"] == "look_up"


def test_create_agent_runs_on_ours() -> None:
    from langchain.agents import create_agent

    call = ToolCall(id="1", name="look_up", arguments='{"order": "A-17"}')
    stub = Stub(said("", call), said("It is on its way."))
    state = create_agent(as_langchain(stub), tools=[look_up]).invoke({"messages": [HumanMessage("Where is A-17?")]})
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai"]
    assert state["messages"][2].content == "A-17 is on its way"
    # The tool's result and the call it answers went back to our model in OpenAI's form.
    sent = stub.requests[1].messages
    assert [m["role"] for m in sent] == ["user", "assistant", "tool"]
    assert sent[1]["tool_calls"][0]["function"]["name"] == "look_up"


def test_create_agent_runs_on_a_simulated_model() -> None:
    from langchain.agents import create_agent

    agent = create_agent(as_langchain(load("simulated:strong")), tools=[look_up])
    assert "simulated" in agent.invoke({"messages": [HumanMessage("hi")]})["messages"][-1].content


class OrderDict(TypedDict):
    """An order."""

    order: str


def test_structured_output_as_class_dict_and_schema() -> None:
    schema = {
        "title": "order",
        "description": "d",
        "type": "object",
        "properties": {"order": {"type": "string"}},
        "required": ["order"],
    }
    stub = Stub(said('{"intent": "refund"}'), said('{"order": "A"}'), said('{"order": "B", "more": 1}'))
    chat = as_langchain(stub)
    assert chat.with_structured_output(Output).invoke("x") == Output(intent="refund")
    assert chat.with_structured_output(OrderDict).invoke("x") == {"order": "A"}
    assert chat.with_structured_output(schema).invoke("x") == {"order": "B", "more": 1}
    assert stub.requests[2].schema is not None
    assert stub.requests[2].schema.model_json_schema()["required"] == ["order"]


def test_structured_output_says_what_went_wrong() -> None:
    chat = as_langchain(Stub(said('{"intent": "dance"}'), said("{}"), said("no")))
    with pytest.raises(OutputParserException, match="'intent': 'dance'"):
        chat.with_structured_output(Output).invoke("x")
    with pytest.raises(OutputParserException, match="missing"):
        chat.with_structured_output(OrderDict).invoke("x")
    both: Any = chat.with_structured_output(Output, include_raw=True).invoke("x")
    assert both["parsed"] is None
    assert both["raw"].content == "no"
    assert "not_json" in str(both["parsing_error"])


async def closed(model: ChatModel) -> None:
    """Close a model that was asked through LangChain, and so on the loop of providers, and one asked here."""
    there = asyncio.run_coroutine_threadsafe(model.aclose(), langchain_model._providers_loop(os.getpid()))
    await asyncio.gather(model.aclose(), asyncio.wrap_future(there))


def test_there_and_back_again(server: FaultServer) -> None:
    async def once() -> None:
        inner = model_at(server.scene().url)
        model = from_langchain(as_langchain(inner), "round")
        reply = await ask(model, INTENT, Inputs(message="a"))
        assert reply.output == Output(intent="refund")
        assert reply.usage.prompt_tokens == 100
        await closed(inner)
        inner = model_at(server.scene("status", status=401).url)
        refused = await ask(from_langchain(as_langchain(inner), "round"), CHAT, TextInputs(message="a"))
        assert refused.failure is not None
        assert refused.failure.type == "auth"
        with pytest.raises(ProviderFault):
            await as_langchain(inner).ainvoke("x")
        await closed(inner)

    asyncio.run(once())
