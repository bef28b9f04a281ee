"""A conversation on a real world: bad calls are recorded as what they are, models of every kind can take part."""

import json
from typing import Any

import pytest

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.benchmark import BENCHMARK
from cxlab.benchmarks.mmtaup2.conversation import model_sides
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import (
    GREETING,
    ConversationSettings,
    TaskDialogue,
    begin,
    read_arguments,
)
from cxlab.benchmarks.mmtaup2.prompts import dialogue_prompts
from cxlab.benchmarks.mmtaup2.run import run
from cxlab.benchmarks.mmtaup2.score import score
from cxlab.benchmarks.mmtaup2.tasks import samples, telecom_tasks
from cxlab.dialogue import Limits, Move
from cxlab.errors import BadOption
from cxlab.llm import load
from cxlab.llm.base import Completion, ProviderFault, Request
from cxlab.records import ToolCall, Usage

STRONG, CUSTOMER = load("simulated:strong"), load("simulated:customer")


def task(*names: str, family: str = "service") -> tasks.Task:
    return telecom_tasks.compose(family, names, 3)


async def play(given: tasks.Task, agent: Any = STRONG, customer: Any = CUSTOMER, **terms: Any) -> TaskDialogue:
    talk = begin(given, ConversationSettings(**terms), agent, customer)
    await talk.duet.greet(GREETING[given.domain])
    await talk.duet.run()
    return talk


def call(name: str, arguments: str) -> ToolCall:
    return ToolCall(id="x", name=name, arguments=arguments)


async def test_every_sort_of_bad_call_is_kept_with_its_kind_and_changes_nothing() -> None:
    bad = [
        call("get_customer_by_phone", "{}"),
        call("get_customer_by_phone", '{"phone_number": 5, "x": 1}'),
        call("get_customer_by_phone", '{"phone_number": "555'),
        call("get_customer_by_phone", "[1]"),
        call("get_customer_by_phone", '{"phone_number": "000-000-0000"}'),
        call("delete_customer", "{}"),
        call("reboot_device", "{}"),
    ]
    talk = begin(task("airplane_mode_on"), ConversationSettings(limits=Limits(errors=20)), STRONG, CUSTOMER)
    before = talk.world.state_hash()
    await talk.duet.greet("Hello")
    await talk.duet.take(Move("My phone has no service."))
    await talk.duet.take(Move(calls=tuple(bad)))
    results = await talk.duet.step()
    kinds = [m.data["kind"] for m in results]
    assert kinds == ["arguments"] * 4 + ["refused", "unknown_tool", "unknown_tool"]
    assert all(m.text.startswith("Error: ") for m in results)
    assert results[2].data["arguments"] == '{"phone_number": "555'
    assert (talk.world.state_hash(), talk.duet.errors) == (before, 7)
    assert [f.type for f in talk.duet.failures] == kinds
    # The history goes back to servers that refuse arguments which are no JSON object.
    sent = dialogue_prompts.chat(talk.duet.messages, "agent")
    assert all(isinstance(json.loads(c["function"]["arguments"]), dict) for m in sent for c in m.get("tool_calls", ()))


def test_arguments_as_models_emit_them() -> None:
    assert read_arguments("") == {}
    assert read_arguments(' {"a": 1}') == {"a": 1}
    assert read_arguments("{" * 100_000) == "{" * 100_000


async def test_both_hands_mend_a_line_and_the_log_says_who_did_what() -> None:
    talk = await play(task("airplane_mode_on", "overdue_bill_suspension"))
    output = talk.output()
    assert output["passed"], output
    assert (output["ended"], output["stop"], output["transferred"]) == ("customer_stop", "done", False)
    did = [(m.data["side"], m.data["tool"]) for m in talk.duet.messages if m.role == "tool" and m.data["write"]]
    assert ("agent", "send_payment_request") in did
    assert ("customer", "make_payment") in did
    sent = next(i for i, m in enumerate(talk.duet.messages) if m.data.get("tool") == "send_payment_request")
    earlier = [m.data for m in talk.duet.messages[:sent] if m.role != "tool"]
    assert [d["confirms"] for d in earlier if "confirms" in d] == ["send_payment_request"] * 2  # asked, then agreed
    assert any(d.get("asks") == "phone_number" for d in earlier)


async def test_a_locked_sim_ends_with_a_person_and_that_is_right() -> None:
    given = task("lock_sim_card_pin")
    output = (await play(given)).output()
    assert given.transfer_right
    assert (output["passed"], output["transferred"], output["stop"]) == (True, True, "transfer")


async def test_an_unfinished_talk_has_no_reward_whatever_the_world_looks_like() -> None:
    given = task("airplane_mode_on")
    talk = begin(given, ConversationSettings(limits=Limits(steps=3)), STRONG, CUSTOMER)
    for action in given.gold:
        talk.world.call(action.side, action.tool, action.arguments)
    await talk.duet.run()
    output = talk.output()
    assert (output["ended"], output["reward"]["over"]) == ("max_steps", False)
    assert (output["reward"]["env_assertions"], output["reward"]["reward"], output["passed"]) == (1.0, 0.0, False)


async def test_same_seed_same_talk_and_another_seed_another() -> None:
    given = task("unseat_sim_card")
    texts = [[m.text for m in (await play(given, seed=seed)).duet.messages] for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


class Stub:
    """A model that answers from a list; what it was asked is kept."""

    name, simulated, prices = "stub", False, None

    def __init__(self, *replies: Any) -> None:
        self.replies, self.requests = list(replies), []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        reply = self.replies.pop(0) if self.replies else Completion("Bye.", usage=Usage(calls=1))
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def aclose(self) -> None:
        """Nothing to close."""


def told(text: str = "", *calls: ToolCall, **more: Any) -> Completion:
    return Completion(text, calls, usage=Usage(calls=1), **more)


@pytest.mark.parametrize("last", ["Thanks, I will hold.", "", "<think>The agent hands me over.</think>"])
async def test_a_talk_ends_with_the_hand_over_though_the_customer_forgets_its_mark(last: str) -> None:
    over = call("transfer_to_human_agents", '{"summary": "The SIM card is locked."}')
    agent = Stub(told("", over), told("A colleague will take over from here."), *[told("Still here?")] * 9)
    customer = Stub(told("My phone has no service."), told(last), *[told("Yes, I am holding the line.")] * 9)
    talk = await play(task("lock_sim_card_pin"), agent, customer)
    output = talk.output()
    assert (output["ended"], output["stop"], output["passed"]) == ("customer_stop", "transfer", True)
    assert (len(agent.requests), len(customer.requests)) == (2, 2)


@pytest.mark.parametrize(
    "reply",
    [
        told("<think>Hm.</think>"),
        told("", finish_reason="length"),
        told("I cannot take part in this.", finish_reason="refusal"),
    ],
    ids=["only thought", "cut", "declined"],
)
async def test_a_customer_that_cannot_be_read_is_no_failure_of_the_agent(reply: Completion) -> None:
    given = task("airplane_mode_on")
    sample = samples.to_sample(given, "d")
    setup = Setup(STRONG, Stub(told("My phone has no service."), *[reply] * 9), (judge := Stub(),), "r", 0, {})
    attempt = await run(sample, setup, 0)
    assert (attempt.ended_by, attempt.failures[-1].where) == ("unreadable", "customer")
    scored = BENCHMARK.complete(sample.task, attempt, await score(sample, attempt, setup))
    rows = {row.metric: row.value for row in scored.scores}
    assert not judge.requests  # nothing is left to judge, so nothing is paid for it
    assert "I cannot take part in this." not in [message.text for message in attempt.messages]
    assert {rows[name] for name in ("right", "pass", "turn_efficiency", "user_effort")} == {None}
    assert not {"db", "actions", "env_assertions"} & rows.keys()
    assert scored.verdict is not None
    assert (scored.verdict.value, scored.verdict.owner) == ("unscored", "customer")


async def test_a_hand_over_that_was_refused_or_not_told_yet_ends_nothing() -> None:
    wrong = call("transfer_to_human_agents", '{"reason": "locked"}')
    agent = Stub(told("", wrong), told("Somebody else will look after it."), told("Goodbye."))
    customer = Stub(told("My phone has no service."), told("Who?"), told("Bye. ###STOP###"))
    talk = await play(task("lock_sim_card_pin"), agent, customer)
    assert (talk.output()["stop"], len(customer.requests)) == ("done", 3)
    over = call("transfer_to_human_agents", '{"summary": "Locked."}')
    talk = begin(task("lock_sim_card_pin"), ConversationSettings(), Stub(), Stub())
    await talk.duet.take(Move("My phone has no service."))
    await talk.duet.take(Move(calls=(over,)))
    await talk.duet.step()
    assert not model_sides.is_handed_over(talk.duet.messages)


async def test_a_server_without_tool_calls_is_asked_in_json_from_then_on() -> None:
    wish = {"calls": [{"name": "get_customer_by_phone", "arguments": {"phone_number": "1"}}], "message": ""}
    agent = Stub(
        ProviderFault("bad_request", "tools are not supported"),
        Completion(json.dumps(wish)),
        Completion('{"calls": [], "message": "What is your number?"}'),
    )
    talk = await play(task("airplane_mode_on"), agent, limits=Limits(steps=4))
    assert [bool(r.tools) for r in agent.requests] == [True, False, False]
    assert "get_customer_by_phone" in agent.requests[1].messages[0]["content"]
    assert [m.data["kind"] for m in talk.duet.messages if m.role == "tool"] == ["refused"]
    assert talk.duet.messages[-1].text == "What is your number?"


async def test_simulated_sides_can_do_it_in_json_as_well() -> None:
    talk = await play(task("airplane_mode_on"), tool_calls="json")
    assert talk.output()["passed"]
    assert any(m.tool_calls for m in talk.duet.messages)


async def test_a_native_talk_is_sent_as_chat_with_roles_by_side() -> None:
    agent = Stub(Completion("", (call("get_customer_by_phone", '{"phone_number": "1"}'),)), Completion("Sorry?"))
    talk = await play(task("airplane_mode_on"), agent, limits=Limits(steps=4))
    roles = [m["role"] for m in agent.requests[1].messages]
    assert roles == ["system", "assistant", "user", "assistant", "tool"]
    assert agent.requests[1].messages[-1]["tool_call_id"] == agent.requests[1].messages[-2]["tool_calls"][0]["id"]
    assert dialogue_prompts.chat(talk.duet.messages, "customer")[0]["role"] == "user"


@pytest.mark.parametrize(
    ("said", "text", "stop"),
    [
        ("Thanks! ###STOP###", "Thanks!", "done"),
        ("###TRANSFER###", "", "transfer"),
        ("###OUT-OF-SCOPE###", "", "out_of_scope"),
        ("No ### here", "No ### here", None),
    ],
)
def test_stop_marks(said: str, text: str, stop: str | None) -> None:
    assert dialogue_prompts.stop_of(said) == (text, stop)


async def test_provider_faults_of_agent_and_customer_end_the_talk() -> None:
    fault = ProviderFault("timeout", "too late", retryable=True)
    for stubs in ({"agent": Stub(fault)}, {"customer": Stub(fault)}):
        talk = await play(task("airplane_mode_on"), **stubs)
        assert (talk.duet.ended_by, talk.duet.outcome) == ("provider", "provider")


def test_ids_of_calls_are_told_apart() -> None:
    twins = (call("a", "{}"), call("b", "{}"))
    move = model_sides._native("", twins, None, Move())
    assert len({one.id for one in move.calls}) == 2


async def test_run_keeps_an_attempt_and_the_samples_terms_hold() -> None:
    given = task("airplane_mode_on", family="mobile_data")
    sample = samples.to_sample(given, "d", {"persona": "hard", "modality": "voice"})
    setup = Setup(STRONG, CUSTOMER, (), "r", 5, {"exposure": 1, "wer": 0.05, "persona": "easy"})
    attempt = await run(sample, setup, 2)
    output = attempt.output
    assert (output["persona"], output["modality"], output["exposure"], output["wer"]) == ("hard", "voice", 1, 0.05)
    assert attempt.messages[0].data["greeting"]
    again = await run(sample, setup, 2)
    assert [(m.text, m.data) for m in attempt.messages] == [(m.text, m.data) for m in again.messages]
    for role, totals in (("agent", attempt.usage.calls), ("customer", 0)):
        asked = [m.usage.calls for m in attempt.messages if m.role == role and m.usage]
        assert asked
        assert sum(asked) == (totals or len(asked))
    assert json.loads(attempt.model_dump_json())["output"]["snapshot"]["customer"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"exposure": 3}, BadOption),
        ({"exposure": "much"}, BadOption),
        ({"wer": 2}, BadOption),
        ({"modality": "smoke"}, BadOption),
        ({"persona": "kind"}, BadOption),
        ({"tool_calls": "maybe"}, BadOption),
    ],
)
async def test_bad_options_are_refused_by_name(options: dict[str, Any], error: type[Exception]) -> None:
    sample = samples.to_sample(task("airplane_mode_on"), "d")
    if "wer" in options:
        options = {**options, "modality": "voice"}
    with pytest.raises(error):
        await run(sample, Setup(STRONG, CUSTOMER, (), "r", 0, options), 0)


async def test_without_a_customer_there_is_no_talk() -> None:
    with pytest.raises(BadOption, match="--customer"):
        await run(samples.to_sample(task("airplane_mode_on"), "d"), Setup(STRONG, None, (), "r"), 0)


@pytest.mark.parametrize("said", ["Hello", 'Say "yes"\n\\ now', "Zoë 😀 ok", ""])
def test_a_message_that_is_written_as_json_is_read_as_far_as_it_has_come(said: str) -> None:
    for ascii in (True, False):
        whole = json.dumps({"calls": [{"name": "look", "arguments": {"q": "x"}}], "message": said}, ensure_ascii=ascii)
        seen = [model_sides.message_in(whole[:end]) for end in range(len(whole) + 1)]
        assert seen[-1] == said
        assert all(said.startswith(part) for part in seen)
        assert seen == sorted(seen, key=len)
