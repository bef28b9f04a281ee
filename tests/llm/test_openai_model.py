"""The real openai client against a real server that misbehaves."""

import asyncio
import email.utils
import gc
import re
import time
import warnings
from typing import Any

import pytest

from cxlab.llm import Reply, Request, ask, waits
from cxlab.llm.faults import FaultKind, RetryFault, no_json, redact, retry_after_s
from cxlab.llm.openai_clients import _CLIENTS, EndpointOptions
from cxlab.llm.openai_model import OpenAIModel
from cxlab.llm.retries import retrying

from .fault_server import FaultServer, Scene
from .intents import CHAT, INTENT, Inputs, Output, TextInputs, model_at


def asked(scene: Scene, **options: Any) -> Reply[Output]:
    async def once() -> Reply[Output]:
        model = model_at(scene.url, **options)
        try:
            return await ask(model, INTENT, Inputs(message="hello"), seed=7)
        finally:
            await model.aclose()

    return asyncio.run(once())


def test_an_answer_comes_with_usage_and_real_latency(server: FaultServer) -> None:
    scene = server.scene(latency_s=0.05)
    reply = asked(scene)
    assert reply.output == Output(intent="refund")
    assert reply.failure is None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.calls) == (100, 20, 1)
    assert 0.05 <= reply.latency_s < 2
    sent = scene.bodies[0]
    assert (sent["model"], sent["temperature"], sent["seed"]) == ("tiny", 0.0, 7)
    assert "max_tokens" not in sent, "no limit is fixed in code"
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert sent["response_format"]["json_schema"]["schema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    ("mode", "calls", "where", "kind"),
    [
        ("rate_limited", 4, "provider", "rate_limited"),
        ("close", 4, "provider", "connection"),
        ("close_mid_reply", 4, "provider", "connection"),
        ("not_json_body", 4, "provider", "bad_reply"),
        ("no_choices", 4, "provider", "bad_reply"),
        ("error_in_200", 4, "provider", "server_error"),
        ("empty", 1, "format", "empty"),
        ("null", 1, "format", "empty"),
        ("refusal", 1, "format", "refusal"),
        ("truncated", 1, "format", "truncated"),
    ],
)
def test_faults_are_told_apart_and_never_raised(
    server: FaultServer, mode: str, calls: int, where: str, kind: str
) -> None:
    scene = server.scene(mode)
    reply = asked(scene)
    assert reply.output is None
    assert reply.failure is not None
    assert (reply.failure.where, reply.failure.type) == (where, kind)
    assert scene.calls == calls
    assert reply.usage.retries == calls - 1
    assert reply.usage.calls == (1 if where == "format" else 0)


def test_a_silent_server_is_a_timeout_tried_twice(server: FaultServer) -> None:
    for mode in ("hang", "trickle"):
        scene = server.scene(mode)
        started = time.perf_counter()
        reply = asked(scene, read_timeout_s=0.2, answer_timeout_s=0.3)
        assert reply.failure is not None
        assert (reply.failure.type, reply.failure.retryable, scene.calls) == ("timeout", True, 2)
        # Far from the ten minutes for which the server would be silent, so that a busy machine does not fail it.
        assert 0.4 <= time.perf_counter() - started < 120


def test_nobody_listening_is_a_connection_fault() -> None:
    reply = asked(Scene("ok", "http://127.0.0.1:9/v1"))
    assert reply.failure is not None
    assert (reply.failure.type, reply.usage.retries) == ("connection", 3)


@pytest.mark.parametrize(
    ("status", "message", "kind", "retryable", "calls"),
    [
        (401, "bad key", "auth", False, 1),
        (403, "not yours", "auth", False, 1),
        (404, "no such model", "not_found", False, 1),
        (404, "No endpoints found that support tool use", "no_tools", False, 1),
        (402, "Insufficient Balance", "quota", False, 1),
        (403, "Your credit balance is too low", "quota", False, 1),
        (400, "maximum context length is 8192 tokens", "too_long", False, 2),
        (408, "too slow", "timeout", True, 2),
        (400, "prompt triggered content_filter", "filtered", False, 1),
        (429, "insufficient_quota: pay first", "quota", False, 1),
        (503, "overloaded", "server_error", True, 4),
    ],
)
def test_status_codes(server: FaultServer, status: int, message: str, kind: str, retryable: bool, calls: int) -> None:
    scene = server.scene("status", status=status, message=message)
    reply = asked(scene)
    assert reply.failure is not None
    assert (reply.failure.type, reply.failure.retryable, scene.calls) == (kind, retryable, calls)
    assert message in reply.failure.message
    assert reply.failure.where == ("format" if kind == "filtered" else "provider")


def test_a_rate_limit_is_waited_out_as_long_as_the_server_says(server: FaultServer) -> None:
    scene = server.scene("rate_limited", times=2, retry_after="0.2")
    started = time.perf_counter()
    reply = asked(scene)
    assert time.perf_counter() - started >= 0.4
    assert reply.output == Output(intent="refund")
    assert (reply.usage.calls, reply.usage.retries, scene.calls) == (1, 2, 3)


@pytest.mark.parametrize("attempts", [1, 4])
def test_a_server_that_asks_for_a_longer_wait_than_the_cap_is_not_asked_again(
    server: FaultServer, attempts: int
) -> None:
    # An hour is longer than any test may take.
    scene = server.scene("rate_limited", times=1, retry_after="3600")
    failure = asked(scene, longest_wait_s=90.0, attempts=attempts).failure
    assert failure is not None
    assert (failure.type, failure.retryable, scene.calls) == ("rate_limited", True, 1)
    assert "too many requests; the server asks to wait 3,600 s, until " in failure.message
    assert "longest_wait_s = 90" in failure.message


def test_a_wait_is_told_while_it_lasts() -> None:
    """Cancelled in the middle of it, so that no test waits."""

    async def limited() -> None:
        raise RetryFault(FaultKind("rate_limited", True), "HTTP 429: slow down", wait_s=600)

    async def look() -> tuple[str, str]:
        calls = [asyncio.create_task(retrying(limited, 4, 3600, whom="endpoint:busy")) for _ in range(2)]
        await asyncio.sleep(0)
        during = waits.describe()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return during, waits.describe()

    during, after = asyncio.run(look())
    assert re.fullmatch(r"waiting for endpoint:busy, 6\d\d s \(2 calls\): HTTP 429: slow down", during)
    assert after == ""


def test_what_one_prompt_holds_says_nothing_of_the_form_that_is_asked_for(server: FaultServer) -> None:
    """A prompt that is too long, or that a filter holds back, is refused with 400, as an unknown form is."""
    scene = server.scene("status", status=400, message="maximum context length is 8192 tokens", times=1)

    async def twice() -> None:
        model = model_at(scene.url)
        for _ in range(2):
            await ask(model, INTENT, Inputs(message="hello"))
        await model.aclose()

    asyncio.run(twice())
    assert {body["response_format"]["type"] for body in scene.bodies} == {"json_schema"}


def test_one_prompt_that_is_too_long_costs_the_next_answers_no_limit(server: FaultServer) -> None:
    """Without the answer's limit it may fit; where it does not, the limit was not to blame."""
    scene = server.scene("status", status=400, message="maximum context length is 8192 tokens")

    async def twice() -> None:
        model = model_at(scene.url, max_output_tokens=900)
        for _ in range(2):
            await ask(model, INTENT, Inputs(message="hello"))
        await model.aclose()

    asyncio.run(twice())
    assert [body.get("max_tokens") for body in scene.bodies] == [900, None, 900, None]


@pytest.mark.parametrize(
    ("content", "told", "billed"),
    [
        (b"<html><head><title> Sign\nin</title>", "a page of HTML ('Sign in') came instead of JSON", False),
        (b"", "the server's reply is empty", False),
        (b'{"choices": [{"mess', "the server's reply is not JSON: ", True),
    ],
)
def test_what_came_instead_of_json_is_named(content: bytes, told: str, billed: bool) -> None:
    fault = no_json(content)
    assert fault.failure.message.startswith(told)
    assert (fault.failure.type, fault.failure.retryable, fault.broken_off) == ("bad_reply", True, billed)


def test_retry_after_is_read_as_seconds_or_date() -> None:
    assert retry_after_s("1.5") == 1.5
    assert retry_after_s("-3") == 0
    assert retry_after_s(email.utils.formatdate(1_000_030, usegmt=True), now=1_000_000) == 30
    for nonsense in (None, "", "soon", "nan", "inf", "Mon, 99 Foo"):
        assert retry_after_s(nonsense) is None


def test_one_passing_server_error_changes_nothing(server: FaultServer) -> None:
    scene = server.scene("server_error", times=1)

    async def twice() -> None:
        model = model_at(scene.url)
        assert (await ask(model, INTENT, Inputs(message="a"))).output is not None
        assert (await ask(model, INTENT, Inputs(message="b"))).output is not None
        await model.aclose()

    asyncio.run(twice())
    # The second question begins at the top again: one error is no proof against the schema.
    assert [body["response_format"]["type"] for body in scene.bodies] == ["json_schema", "json_object", "json_schema"]


@pytest.mark.parametrize(
    ("mode", "rungs"),
    [
        ("no_schema_500", ["json_schema", "json_object", "json_schema", "json_object", "json_object"]),
        ("no_schema_400", ["json_schema", "json_object", None, None, None]),
        # Calls 2 and 4 are repairs of replies that ignored the shape; the second one steps down.
        ("ignores_schema", ["json_schema", "json_schema", "json_schema", "json_object", "json_object"]),
    ],
)
def test_what_works_is_remembered(server: FaultServer, mode: str, rungs: list[str | None]) -> None:
    scene = server.scene(mode)

    async def three() -> None:
        model = model_at(scene.url)
        for message in ("a", "b", "c"):
            assert (await ask(model, INTENT, Inputs(message=message))).output == Output(intent="refund")
        await model.aclose()

    asyncio.run(three())
    assert [(body.get("response_format") or {}).get("type") for body in scene.bodies] == rungs
    assert "JSON schema" in scene.bodies[-1]["messages"][-1]["content"]
    assert "JSON schema" not in scene.bodies[0]["messages"][-1]["content"]


def test_a_reply_that_is_no_json_is_asked_for_once_more(server: FaultServer) -> None:
    replies = iter(["Refund, I would say.", 'Sorry: ```json\n{"intent": "delivery"}\n```'])
    scene = server.scene(reply=lambda body: next(replies))
    reply = asked(scene)
    assert reply.output == Output(intent="delivery")
    assert (scene.calls, reply.usage.calls, reply.usage.prompt_tokens) == (2, 2, 200)
    told = scene.bodies[1]["messages"][-2:]
    assert told[0] == {"role": "assistant", "content": "Refund, I would say."}
    assert "no JSON object" in told[1]["content"]


def test_an_unknown_option_stays_a_failure_after_the_repair(server: FaultServer) -> None:
    scene = server.scene(reply='{"intent": "dance"}')
    reply = asked(scene)
    assert reply.output is None
    assert reply.failure is not None
    assert reply.failure.type == "invalid"
    assert "'intent': 'dance'" in reply.failure.message
    assert (scene.calls, reply.raw) == (2, '{"intent": "dance"}')


def test_forgiving_of_form(server: FaultServer) -> None:
    for text in ('Sure!\n```json\n{"intent": "refund",}\n```', '<think>x</think>{"intent": "refund"} Good?'):
        scene = server.scene(reply=text)
        reply = asked(scene)
        assert (reply.output, reply.raw, scene.calls) == (Output(intent="refund"), text, 1)


def test_missing_usage_is_none_and_a_broken_byte_is_marked(server: FaultServer) -> None:
    reply = asked(server.scene("no_usage"))
    assert reply.output is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.calls) == (None, None, 1)
    assert reply.cost_usd is None
    reply = asked(server.scene("bad_utf8"))
    assert reply.output is not None
    assert "\ufffd" in reply.raw


def test_only_openai_itself_gets_the_new_name_of_the_limit() -> None:
    body = OpenAIModel("openai:x", "x", None, None, options=EndpointOptions(max_output_tokens=900))._body(
        Request([]), None
    )
    assert body["max_completion_tokens"] == 900
    assert "max_tokens" not in body
    assert model_at("http://127.0.0.1:1/v1", max_output_tokens=900)._body(Request([]), None)["max_tokens"] == 900


def test_an_answer_never_asks_for_more_than_the_context_has_left() -> None:
    model = model_at("http://127.0.0.1:1/v1", context_tokens=4096, max_output_tokens=3000)
    assert model._body(Request([{"role": "user", "content": "a" * 30}]), None)["max_tokens"] == 3000
    assert 256 < model._body(Request([{"role": "user", "content": "a" * 9000}]), None)["max_tokens"] < 1100
    assert model._body(Request([{"role": "user", "content": "a" * 30000}]), None)["max_tokens"] == 256


def test_reasoning_is_kept_counted_and_no_part_of_the_answer(server: FaultServer) -> None:
    reply = asked(server.scene("reasons"))
    assert reply.output == Output(intent="refund")
    assert reply.raw == '<think>They want money back. {"intent": "cancel"}</think>\n{"intent": "refund"}'
    assert (reply.usage.reasoning_tokens, reply.usage.cached_tokens) == (300, 64)
    assert reply.usage.completion_tokens == 320, "counted beside the completion, as the total shows"


def test_a_reply_that_is_cut_off_says_at_what_limit_and_how_to_raise_it(server: FaultServer) -> None:
    failure = asked(server.scene("reasons_too_long"), max_output_tokens=900).failure
    assert failure is not None
    assert (failure.where, failure.type) == ("format", "truncated")
    assert "limit of 900 tokens after 900 tokens of reasoning" in failure.message
    assert "max_output_tokens" in failure.message


def test_tool_calls_keep_their_arguments_as_emitted(server: FaultServer) -> None:
    scene = server.scene("tools")

    async def once() -> Any:
        model = model_at(scene.url)
        tool = {"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}
        done = await model.complete(Request([{"role": "user", "content": "refund A-17"}], tools=[tool]))
        await model.aclose()
        return done

    done = asyncio.run(once())
    assert (done.text, done.finish_reason) == ("", "tool_calls")
    assert [(c.id, c.name, c.arguments) for c in done.tool_calls] == [("c1", "refund", '{"order": "A-17",')]
    assert scene.bodies[0]["tools"][0]["function"]["name"] == "refund"


def test_a_key_is_sent_but_never_shown(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "my-very-private-value-123"
    monkeypatch.setenv("CX_TEST_KEY", secret)
    scene = server.scene("status", status=401, message=f"Incorrect API key provided: {secret}; see sk-abc***xyz")
    reply = asked(scene, key_variable="CX_TEST_KEY")
    assert scene.headers[0]["authorization"] == f"Bearer {secret}"
    assert reply.failure is not None
    assert secret not in repr(reply)
    assert "sk-abc" not in repr(reply)
    assert "[key]" in reply.failure.message
    assert secret not in repr(vars(model_at(scene.url, "CX_TEST_KEY")))
    assert redact("Authorization: Bearer abc.def", [None, ""]) == "Authorization: [key]"


def test_the_openai_key_never_reaches_another_server(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-private-private")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    scene = server.scene()
    assert asked(scene).output is not None
    assert "private" not in str(scene.headers)


def test_a_hundred_calls_run_at_once_on_one_client(server: FaultServer) -> None:
    scene = server.scene(latency_s=0.3)

    async def many() -> tuple[int, int]:
        models = [model_at(scene.url) for _ in range(4)]
        calls = [ask(models[i % 4], CHAT, TextInputs(message=str(i))) for i in range(100)]
        replies = await asyncio.gather(*calls)
        clients = len(_CLIENTS[asyncio.get_running_loop()])
        for model in models:
            await model.aclose()
        assert all(reply.output for reply in replies)
        return clients, len(_CLIENTS[asyncio.get_running_loop()])

    assert asyncio.run(many()) == (1, 0)
    assert scene.peak > 50


def test_closing_leaves_nothing_open(server: FaultServer) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asked(server.scene())
        gc.collect()
    assert not [w for w in caught if "nclosed" in str(w.message)]


def test_the_first_listed_model_is_used_when_none_is_named(server: FaultServer) -> None:
    scene = server.scene()

    async def once() -> str | None:
        model = OpenAIModel("endpoint:x", None, scene.url, None, options=EndpointOptions())
        await ask(model, CHAT, TextInputs(message="a"))
        await model.aclose()
        return model.model

    assert asyncio.run(once()) == "tiny"
    assert scene.bodies[0]["model"] == "tiny"


def test_text_that_has_no_utf8_form_is_a_bad_request(server: FaultServer) -> None:
    async def once() -> Reply[Any]:
        model = model_at(server.scene().url)
        reply = await ask(model, CHAT, TextInputs.model_construct(message="\ud83d"))
        await model.aclose()
        return reply

    failure = asyncio.run(once()).failure
    assert failure is not None
    assert failure.type == "bad_request"
