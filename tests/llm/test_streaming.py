"""Text as it is written: the real openai client and LangChain's against a real server that streams, well and badly."""

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from cxlab.llm import ChatModel, Completion, ProviderFault, Request
from cxlab.llm.completions import StreamedCompletion, read_completion
from cxlab.llm.langchain_model import LangchainModel, from_langchain

from .fault_server import FaultServer, Scene
from .intents import model_at

WORDS = "Let me look at your line first."


def stream(model: ChatModel, times: int = 1) -> tuple[Completion, list[str]]:
    """The last of some completions, and all texts that came while they were written."""
    seen: list[str] = []

    async def run() -> Completion:
        try:
            for _ in range(times):
                done = await model.complete(Request([{"role": "user", "content": "hello"}], on_text=seen.append))
        finally:
            await model.aclose()
        return done

    return asyncio.run(run()), seen


def foreign(scene: Scene) -> LangchainModel:
    """LangChain's own client of such a server."""
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    chat = ChatOpenAI(model="tiny", base_url=scene.url, api_key=SecretStr("none"), max_retries=0, stream_usage=True)
    return from_langchain(chat, "foreign")


@pytest.mark.parametrize("make", [lambda scene: model_at(scene.url), foreign], ids=["openai", "langchain"])
def test_the_text_grows_word_by_word_and_usage_is_counted(
    server: FaultServer, make: Callable[[Scene], ChatModel]
) -> None:
    scene = server.scene("stream", reply=WORDS)
    done, seen = stream(make(scene))
    words = WORDS.split()
    assert seen[0] == ""
    assert [text for text in seen if text] == [
        " ".join(words[:n]) + (" " if n < len(words) else "") for n in range(1, len(words) + 1)
    ]
    assert (done.text, done.finish_reason) == (WORDS, "stop")
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.usage.calls) == (100, 20, 1)
    assert scene.bodies[0]["stream"] is True


def test_words_are_seen_before_the_last_one_is_written(server: FaultServer) -> None:
    # The last word is not written before a first one was seen: whoever waited for the whole would wait for good.
    scene = server.scene("stream", reply=WORDS, go_on=threading.Event())
    seen: list[str] = []

    def look(text: str) -> None:
        seen.append(text)
        scene.go_on.set()

    async def run() -> Completion:
        model = model_at(scene.url)
        done = await model.complete(Request([{"role": "user", "content": "hello"}], on_text=look))
        await model.aclose()
        return done

    assert asyncio.run(run()).text == WORDS != seen[0]


@pytest.mark.parametrize("make", [lambda scene: model_at(scene.url), foreign], ids=["openai", "langchain"])
def test_calls_are_put_together_from_their_pieces(server: FaultServer, make: Callable[[Scene], ChatModel]) -> None:
    done, _ = stream(make(server.scene("stream_tools", reply="One moment.")))
    assert [(one.id, one.name, one.arguments) for one in done.tool_calls] == [
        ("c1", "refund", '{"order": "A-17",'),
        ("c2", "close", "{}"),
    ]
    assert (done.text, done.finish_reason) == ("One moment.", "tool_calls")


@pytest.mark.parametrize(
    ("mode", "kind"), [("stream_broken", "connection"), ("stream_cut", "connection"), ("stream_error", "server_error")]
)
def test_a_stream_that_breaks_in_the_middle_is_tried_again_from_the_beginning(
    server: FaultServer, mode: str, kind: str
) -> None:
    scene = server.scene(mode, reply=WORDS, times=1)
    # The second time it answers as a whole, for a server may do either.
    done, seen = stream(model_at(scene.url))
    assert (done.text, done.usage.retries, scene.calls) == (WORDS, 1, 2)
    assert seen[-1] == "Let me look "
    with pytest.raises(ProviderFault) as broken:
        stream(model_at(server.scene(mode, reply=WORDS).url))
    failure = broken.value.failure
    assert (failure.where, failure.type, failure.retryable) == ("provider", kind, True)
    assert broken.value.usage.retries == 3


def test_a_langchain_stream_that_breaks_is_a_fault_of_the_provider(server: FaultServer) -> None:
    with pytest.raises(ProviderFault) as broken:
        stream(foreign(server.scene("stream_broken", reply=WORDS)))
    assert broken.value.failure.retryable


def test_silence_in_the_middle_is_a_timeout(server: FaultServer) -> None:
    scene = server.scene("stream", reply=WORDS, piece_s=0.5)
    with pytest.raises(ProviderFault) as silent:
        stream(model_at(scene.url, read_timeout_s=0.1, attempts=1))
    assert silent.value.failure.type == "timeout"


def test_a_server_that_does_not_stream_answers_as_a_whole(server: FaultServer) -> None:
    for mode, calls in (("ok", 2), ("no_stream", 3)):
        scene = server.scene(mode, reply=WORDS)
        done, seen = stream(model_at(scene.url), times=2)
        assert (done.text, scene.calls) == (WORDS, calls)
        assert not any(seen)
    assert ["stream" in body for body in scene.bodies] == [True, False, False]
    done, _ = stream(foreign(server.scene("no_stream", reply=WORDS)))
    assert done.text == WORDS


def test_usage_that_is_not_sent_is_unknown_and_what_is_refused_is_left_out(server: FaultServer) -> None:
    done, _ = stream(model_at(server.scene("stream_no_usage", reply=WORDS).url))
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.usage.calls) == (None, None, 1)
    scene = server.scene("no_stream_options", reply=WORDS)
    done, _ = stream(model_at(scene.url), times=2)
    assert done.text == WORDS
    assert [("stream" in body, "stream_options" in body) for body in scene.bodies] == [
        (True, True), (True, False), (True, False),
    ]  # fmt: skip


def test_who_does_not_look_on_is_not_streamed_to(server: FaultServer) -> None:
    scene = server.scene("stream", reply=WORDS)

    async def run() -> Completion:
        model = model_at(scene.url)
        done = await model.complete(Request([{"role": "user", "content": "hello"}]))
        await model.aclose()
        return done

    assert asyncio.run(run()).text == WORDS
    assert "stream" not in scene.bodies[0]


def test_a_langchain_model_that_cannot_stream_gives_its_answer_at_once() -> None:
    done, seen = stream(from_langchain(FakeListChatModel(responses=["abc"]), "fake"))
    assert done.text == seen[-1] == "abc"


def test_pieces_as_servers_differ() -> None:
    pieces = StreamedCompletion()
    # No index, ids sent twice, arguments as an object, a name repeated, usage with every piece, a refusal.
    for calls in (
        [{"id": "a", "function": {"name": "look", "arguments": "{"}}],
        [{"id": "a", "function": {"name": "look", "arguments": "}"}}],
        [{"id": "b", "function": {"name": "end", "arguments": {"now": True}}}],
        ["nonsense"],
    ):
        pieces.add({"choices": [{"delta": {"tool_calls": calls}}], "usage": {"prompt_tokens": 5}})
    odds: tuple[Any, ...] = (None, [], {"choices": None}, {"choices": [{"delta": None}]}, {"usage": 3})
    assert not any(pieces.add(odd) for odd in odds)
    assert pieces.add({"choices": [{"delta": {"content": [{"type": "text", "text": "Hi"}]}}]})
    assert not pieces.add_line("data: [DONE]")
    done = read_completion(pieces.body(), 0.1)
    assert [(one.id, one.name, json.loads(one.arguments)) for one in done.tool_calls] == [
        ("a", "look", {}), ("b", "end", {"now": True}),
    ]  # fmt: skip
    assert (done.text, done.usage.prompt_tokens, done.usage.completion_tokens) == ("Hi", 5, None)
    pieces.add({"choices": [{"delta": {"refusal": "No."}, "finish_reason": "stop"}]})
    assert (read_completion(pieces.body(), 0.1).text, pieces.finished) == ("No.", True)
    with pytest.raises(ProviderFault, match="not JSON"):
        StreamedCompletion().add_line("data: {half")
