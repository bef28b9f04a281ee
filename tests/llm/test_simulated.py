import asyncio
import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from numpy.random import Generator

from cxlab.errors import BadOption, UnknownName
from cxlab.llm import Completion, Prompt, Request, ask, load
from cxlab.llm.simulated import PROFILES, Profile, SimulatedModel
from cxlab.llm.simulated.profiles import Role
from cxlab.records import ToolCall

from .intents import CHAT, INTENT, Inputs, Output, TextInputs


def said(name: str, message: str = "hello", seed: int = 0) -> str:
    return asyncio.run(ask(load(name), INTENT, Inputs(message=message), seed=seed)).raw


def test_same_seed_same_bytes_and_anything_else_other_bytes() -> None:
    first = said("simulated:strong")
    assert said("simulated:strong") == first
    others = [said("simulated:strong", seed=1), said("simulated:base"), said("simulated:strong", message="hello!")]
    assert len({first, *others}) == 4


def draw_of(prompt: Prompt[Any, Any], **given: Any) -> str:
    """What a stand-in makes of one request of a prompt; `given` are fields of the request."""
    inputs = given.pop("inputs", Inputs(message="hello"))
    request = Request(prompt.render(inputs), prompt=prompt, inputs=inputs, **given)
    return asyncio.run(load("simulated:strong").complete(request)).text


def test_the_wording_of_a_prompt_decides_no_draw(tmp_path: Path) -> None:
    other = tmp_path / "intent.md"
    other.write_text("# user\n\nQuite other words for {{ message }} and {{ options | json }}.\n")
    reworded = Prompt("intent", 2, other, Inputs, Output, simulate=INTENT.simulate)
    renamed = Prompt("purpose", 1, INTENT.template, Inputs, Output, simulate=INTENT.simulate)
    assert draw_of(reworded) == draw_of(INTENT) != draw_of(renamed)


def test_what_names_a_draw_stands_in_for_the_inputs() -> None:
    inputs = Inputs(message="good morning")
    assert draw_of(INTENT, inputs=inputs) != draw_of(INTENT)
    assert draw_of(INTENT, inputs=inputs, draw="sample 1") == draw_of(INTENT, draw="sample 1")
    assert (
        draw_of(INTENT, draw="sample 2") != draw_of(INTENT, draw="sample 1") != draw_of(INTENT, draw="sample 1", seed=1)
    )


def test_a_second_ask_draws_anew() -> None:
    inputs = Inputs(message="hello")
    asked = Request(INTENT.render(inputs), prompt=INTENT, inputs=inputs, draw="sample 1")
    wish = [{"role": "assistant", "content": "?"}, {"role": "user", "content": "Once more."}]
    again = dataclasses.replace(asked, messages=[*asked.messages, *wish])
    model = load("simulated:strong")
    assert asyncio.run(model.complete(asked)).text != asyncio.run(model.complete(again)).text


def test_another_process_says_the_same_bytes() -> None:
    code = (
        "import asyncio; from tests.llm.intents import INTENT, Inputs; from cxlab.llm import ask, load; "
        "print(asyncio.run(ask(load('simulated:strong'), INTENT, Inputs(message='hello'))).raw)"
    )
    root = Path(__file__).resolve().parents[2]
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stdout.strip() == said("simulated:strong")


def test_the_order_and_company_of_calls_change_nothing() -> None:
    async def many(seeds: list[int]) -> dict[int, str]:
        model = load("simulated:weak")
        replies = await asyncio.gather(*(ask(model, INTENT, Inputs(message="hi"), seed=seed) for seed in seeds))
        return {seed: reply.raw for seed, reply in zip(seeds, replies, strict=True)}

    seeds = list(range(40))
    assert asyncio.run(many(seeds)) == asyncio.run(many(seeds[::-1]))


def test_form_breaks_as_often_as_the_profile_says() -> None:
    async def share() -> float:
        model = load("simulated:strong?format_reliability=0.7")
        request = [
            Request(INTENT.render(Inputs(message="x")), seed=i, prompt=INTENT, inputs=Inputs(message="x"))
            for i in range(2000)
        ]
        replies = [await model.complete(one) for one in request]
        return sum(reply.text.startswith("{") for reply in replies) / len(replies)

    assert abs(asyncio.run(share()) - 0.7) < 0.04  # four standard errors


def test_a_repair_is_a_fresh_draw() -> None:
    async def share() -> float:
        model = load("simulated:strong?format_reliability=0.7")
        replies = [await ask(model, INTENT, Inputs(message="x"), seed=seed) for seed in range(1000)]
        assert {reply.usage.calls for reply in replies} == {1, 2}
        return sum(reply.output is not None for reply in replies) / len(replies)

    assert abs(asyncio.run(share()) - 0.91) < 0.04


def test_nothing_is_charged_and_no_token_is_invented() -> None:
    reply = asyncio.run(ask(load("simulated:strong"), INTENT, Inputs(message="refund please")))
    assert (reply.usage.calls, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1, None, None)
    assert reply.cost_usd == 0.0


def test_without_a_prompt_it_says_what_it_is() -> None:
    done = asyncio.run(load("simulated:base").complete(Request([{"role": "user", "content": "Tell me a joke"}])))
    assert "simulated:base" in done.text
    assert "no free-text skills" in done.text


def call_a_tool(inputs: TextInputs, profile: Profile, rng: Generator) -> Completion:
    return Completion("", (ToolCall(id="1", name="look_up", arguments="{}"),), finish_reason="tool_calls")


def test_a_handler_may_call_tools() -> None:
    prompt = type(CHAT)("tools", 1, CHAT.template, TextInputs, simulate=f"{__name__}:call_a_tool")
    inputs = TextInputs(message="a")
    request = Request(prompt.render(inputs), prompt=prompt, inputs=inputs)
    done = asyncio.run(load("simulated:strong").complete(request))
    assert [call.name for call in done.tool_calls] == ["look_up"]
    assert (done.usage.calls, done.finish_reason) == (1, "tool_calls")


def test_latency_is_slept_side_by_side_and_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    sleep, all_asleep, asleep = asyncio.sleep, asyncio.Event(), 0

    async def sleep_till_all_do(seconds: float) -> None:
        nonlocal asleep
        asleep += seconds > 0
        if asleep == 50:
            all_asleep.set()
        # Whoever slept one after the other would wait here for good.
        await asyncio.wait_for(all_asleep.wait(), 60)
        await sleep(seconds)

    async def both() -> list[float]:
        model = load("simulated:strong?latency=0.05")
        assert model.name == "simulated:strong"
        monkeypatch.setattr(asyncio, "sleep", sleep_till_all_do)
        replies = await asyncio.gather(*(ask(model, CHAT, TextInputs(message="a"), seed=i) for i in range(50)))
        return [reply.latency_s for reply in replies]

    assert min(asyncio.run(both())) >= 0.05
    assert asleep == 50


def test_latency_changes_no_reply_and_a_knob_changes_the_name() -> None:
    assert said("simulated:strong?latency=0.001") == said("simulated:strong")
    model = load("simulated:strong?comprehension=0.5&negation=false&words=12")
    assert isinstance(model, SimulatedModel)
    assert (model.profile.comprehension, model.profile.negation, model.profile.words) == (0.5, False, 12)
    assert model.name == "simulated:strong?comprehension=0.5&negation=0&words=12"
    assert load(model.name).name == model.name


@pytest.mark.parametrize(
    "name",
    [
        "simulated:strong?latency=-1",
        "simulated:strong?latency=soon",
        "simulated:base?words=x",
        "simulated:base?empathy=1.5",
        "simulated:base?words=-1",
    ],
)
def test_settings_that_make_no_sense_are_refused(name: str) -> None:
    with pytest.raises(BadOption):
        load(name)


@pytest.mark.parametrize("name", ["simulated:strongest", "simulated:strong?charm=1", "simulated:strong?title=x"])
def test_unknown_profiles_and_knobs_are_named(name: str) -> None:
    with pytest.raises(UnknownName, match="known"):
        load(name)


def test_long_runs_leave_room_for_other_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    # However fast the machine is: each call is as long after the last pause as a pause is due.
    monkeypatch.setattr("cxlab.llm.simulated.model._YIELD_EVERY_S", 0)

    async def both() -> int:
        model, beats = load("simulated:strong"), 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(beat())
        for _ in range(500):
            await ask(model, CHAT, TextInputs(message="a"))
        task.cancel()
        return beats

    assert asyncio.run(both()) >= 400


def test_profiles_are_frozen_and_explained() -> None:
    assert {p.name for p in PROFILES.values() if p.role == "agent"} == {
        "strong",
        "base",
        "weak",
        "eloquent",
        "curt",
        "floor",
    }
    assert {p.role for p in PROFILES.values()} == set(get_args(Role))
    for profile in PROFILES.values():
        assert profile.explains.endswith(".")
    with pytest.raises(dataclasses.FrozenInstanceError):
        PROFILES["strong"].words = 3
    assert PROFILES["judge-partial"].family == PROFILES["eloquent"].family
    assert (
        PROFILES["judge-strict"].strictness > PROFILES["judge-fair"].strictness > PROFILES["judge-lenient"].strictness
    )
