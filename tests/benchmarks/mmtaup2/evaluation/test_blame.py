"""Whose doing a missed goal is: conversations by hand in which the customer turns what nobody had asked for."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from cxlab.benchmarks.contract import Scored, Setup
from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.benchmark import BENCHMARK
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import tool_executor
from cxlab.benchmarks.mmtaup2.evaluation import unasked
from cxlab.benchmarks.mmtaup2.live.live_session import Variant
from cxlab.benchmarks.mmtaup2.live.stored_session import StoredConversation
from cxlab.benchmarks.mmtaup2.score import rescore
from cxlab.benchmarks.mmtaup2.simulated.telecom.phrases import phrases
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.files import grammar
from cxlab.llm import load
from cxlab.records import Attempt, Message, ToolCall, Verdict

TASK = next(
    task
    for task in tasks.make("telecom", 1, 40)
    if task.issues == ("bad_network_preference", "break_app_both_permissions")
)
SAMPLE = samples.to_sample(TASK, "d")
ASKS = {
    "network": "Please set the network mode to 5G and 4G.",
    "permissions": "Now allow the messaging app to use storage and SMS.",
}
Step = str | tuple[str, str] | tuple[str, dict[str, Any]]


def play(*steps: Step, ended: str = "customer_stop") -> Attempt:
    """A conversation: a text is the agent's (two: as said and as heard), a tool with its arguments the customer's."""
    world = tasks.begin(TASK)
    act = tool_executor(world)
    messages = [Message(role="customer", text="I can't send pictures.", turn=1)]
    for turn, step in enumerate(steps, 1):
        if isinstance(step, tuple) and isinstance(step[1], dict):
            side = "agent" if step[0] == "transfer_to_human_agents" else "customer"
            call = ToolCall(id=f"c{turn}", name=step[0], arguments=json.dumps(step[1]))
            done = act(side, call, turn)
            messages.append(Message(role="tool", text=done.text, turn=turn, data={**done.data, "side": side}))
        else:
            meant, heard = step if isinstance(step, tuple) else (step, step)
            data = {"meant": meant, "heard": heard, "delivered": True}
            messages.append(Message(role="agent", text=str(heard), turn=turn, data=data))
    messages.append(Message(role="customer", text="Goodbye.", turn=len(steps) + 1))
    reward = tasks.evaluate(TASK, world, world.log, [])
    over = ended == "customer_stop"
    return Attempt(
        id="a", run_id="r", sample_id=SAMPLE.id, trial=1, messages=tuple(messages), ended_by=ended,
        output={
            "reward": {**reward, "over": over},
            "passed": over and reward["reward"] == 1,
            "transferred": any(call.tool == "transfer_to_human_agents" for call in world.log),
        },
        started=datetime(2026, 3, 1, tzinfo=UTC),
    )  # fmt: skip


def judge(attempt: Attempt) -> Verdict:
    """The verdict as it is stored, by way of scoring it again."""
    setup = Setup(model=load("simulated:strong"), customer=None, judges=(), run_id="r", options={})
    found = rescore(SAMPLE, attempt, Scored((), (), ()), setup)
    verdict = BENCHMARK.complete("telecom", attempt, found).verdict
    assert verdict is not None
    right = next(row for row in found.scores if row.metric == "right")
    assert (right.value, right.reason or "") == (100.0 * (verdict.value == "passed"), verdict.reason)
    return verdict


GOOD: tuple[Step, ...] = (
    ASKS["network"],
    ("set_network_mode_preference", {"mode": "4g_5g_preferred"}),
    ASKS["permissions"],
    ("grant_app_permission", {"app_name": "messaging", "permission": "storage"}),
    ("grant_app_permission", {"app_name": "messaging", "permission": "sms"}),
)
STRAY: Step = ("toggle_data", {})


def test_what_the_agent_asked_for_reaches_the_goal() -> None:
    assert judge(play(*GOOD, "Thank you.")).value == "passed"
    # Put back, it stands between nobody and the goal.
    assert judge(play(*GOOD[:2], STRAY, STRAY, *GOOD[2:])).value == "passed"


@pytest.mark.parametrize(
    "asked",
    ["Is mobile data on?", "Please check whether mobile data is on and tell me.", "How is your data usage?", "Thanks."],
)
def test_what_the_customer_turned_unasked_is_the_customers_doing(asked: str) -> None:
    verdict = judge(play(*GOOD, asked, STRAY, "All done."))
    assert (verdict.value, verdict.owner) == ("failed", "customer")
    assert verdict.reason == "the customer did what nobody had asked for: toggle_data"
    assert (verdict.tool, verdict.turn) == ("toggle_data", 7)


def test_of_several_unasked_calls_the_fewest_that_explain_it_are_named() -> None:
    verdict = judge(play(*GOOD, ("toggle_wifi", {}), STRAY, STRAY, STRAY, "All done."))
    assert (verdict.owner, verdict.reason) == (
        "customer",
        "the customer did what nobody had asked for: toggle_data",
    )
    both = judge(play(*GOOD, STRAY, ("toggle_airplane_mode", {}), "All done."))
    assert (both.owner, both.reason.split(": ")[1]) == ("customer", "toggle_data, toggle_airplane_mode")


@pytest.mark.parametrize(
    "steps",
    [
        # It was asked for, plainly, among others, as it was heard, or by a name that nobody foresaw.
        (*GOOD, "Please turn mobile data off and on again.", STRAY),
        ("Switch off data roaming and mobile data, please.", *GOOD, STRAY),
        (*GOOD, ("Please restart it.", "Please turn the data off."), STRAY),
        (*GOOD, "Now touch the little arrows beside the battery.", STRAY),
        (*GOOD, "Please try all the switches.", STRAY),
        # Something else is lacking, too.
        (*GOOD[:4], STRAY, "All done."),
        # Handed over without need.
        (*GOOD, STRAY, ("transfer_to_human_agents", {"summary": "It does not work."})),
        # The wrong thing was done with a tool of the gold actions.
        (*GOOD, ("set_network_mode_preference", {"mode": "2g_only"}), "All done."),
    ],
)
def test_whatever_else_goes_wrong_is_the_agents(steps: tuple[Step, ...]) -> None:
    verdict = judge(play(*steps))
    assert (verdict.value, verdict.owner) == ("failed", "agent")


ENOUGH = "I have had enough. Goodbye."


def leave(steps: tuple[Step, ...], said: str, stop: str) -> str:
    """The reason of a conversation that the customer ends with these words and this mark."""
    attempt = play(*steps)
    last = Message(role="customer", text=said, turn=len(steps) + 1, data={"stop": stop})
    return judge(attempt.model_copy(update={"messages": (*attempt.messages, last)})).reason


@pytest.mark.parametrize(
    ("asked", "said", "stop", "reason"),
    [
        ("Please check the network mode and tell me which one it shows.", ENOUGH, "out_of_scope", "never, gave up"),
        ("Please check the network mode and tell me which one it shows.", "", "out_of_scope", "never"),
        ("Where are you at the moment?", "Bye.", "done", "never"),
        ("Please set the network mode to 5G and 4G.", ENOUGH, "out_of_scope", "asked"),
        ("Now touch the little arrows beside the battery.", ENOUGH, "out_of_scope", "open"),
    ],
)
def test_a_step_of_the_customers_that_is_missing_says_whether_it_was_asked_for(
    asked: str, said: str, stop: str, reason: str
) -> None:
    tool = "set_network_mode_preference"
    told = {
        "never, gave up": f"the agent never asked the customer to {tool}, who gave up",
        "never": f"the agent never asked the customer to {tool}",
        "asked": f"the customer did not {tool}, though the agent seems to have asked",
        "open": f"the customer did not {tool}, and the words leave open whether the agent had asked",
    }
    assert leave((asked,), said, stop) == told[reason]


def test_what_the_customer_looked_up_in_answer_leaves_nothing_open() -> None:
    looked = ("Please open the settings and touch the first entry.", ("check_status_bar", {}), "Where are you?")
    assert leave(looked, ENOUGH, "out_of_scope").startswith("the agent never asked")
    assert unasked.was_asked("check_status_bar", play(*looked).messages) is None


def test_a_conversation_without_an_end_is_the_agents() -> None:
    verdict = judge(play(*GOOD, STRAY, "All done.", ended="loop"))
    assert (verdict.owner, verdict.reason) == ("agent", "went in circles")


def test_the_lab_says_at_the_end_whose_doing_it_was() -> None:
    ends = {}
    for name, steps in {"customer": (*GOOD, STRAY), "agent": (*GOOD, "Turn mobile data off.", STRAY), "": GOOD}.items():
        session = StoredConversation(TASK, Variant("hard"), play(*steps))
        seen = [session.frame]
        while not session.idle:
            session.beat()
            seen.append(session.frame)
        assert not any(frame.by_customer for frame in seen[:-1])
        ends[name] = (seen[-1].passed, seen[-1].by_customer)
    assert ends == {"customer": (False, True), "agent": (False, False), "": (True, False)}


def test_every_switch_of_the_phone_has_words_by_which_it_is_asked_for() -> None:
    world = tasks.begin(TASK)
    names = {tool["function"]["name"] for tool in world.tools("customer")}
    assert {name for name in names if world.is_write("customer", name)} == set(unasked.SETTINGS)
    # The tool's own description asks for it, as a policy's words for it do.
    for tool in world.tools("customer"):
        name = tool["function"]["name"]
        if name in unasked.SETTINGS:
            assert unasked.SETTINGS[name].search(tool["function"]["description"]), name


def test_what_a_simulated_agent_asks_for_in_any_words_counts_as_asked_for() -> None:
    nothing = TASK.model_copy(update={"gold": ()})
    asked = [one for one in phrases().requests.values() if one.tool in unasked.SETTINGS]
    assert len(asked) > 10
    for one in asked:
        for words in (one.named, one.plain):
            for text in grammar.every(words):
                said = Message(role="agent", text=text, turn=1)
                did = Message(
                    role="tool", text="", turn=2, data={"side": "customer", "tool": one.tool, "changed": True}
                )
                assert not unasked.find_unasked(nothing, [said, did]), text
