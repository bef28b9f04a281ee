"""Each framework with a real model over HTTP: what is sent is what servers take, and the answer is found."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from cxlab import llm
from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.crmarena.options import CrmOptions
from cxlab.benchmarks.crmarena.run import run
from cxlab.records import Attempt, Sample
from tests.benchmarks.crmarena.agents.strong_crm_model import THOUGHT, StrongCrmModel
from tests.benchmarks.crmarena.crm_play import values_of, verdict_of

FRAMEWORKS = {
    "act": ("tools", {"framework": "act"}, 2),
    "react": ("tools", {"framework": "react"}, 2),
    "native": ("tools", {"framework": "function_calling"}, 6),
    "create_agent": ("tools", {"framework": "create_agent"}, 6),
    "refused": ("plain", {"framework": "function_calling"}, 6),
    "in words": ("plain", {"framework": "function_calling", "tool_calls": "text"}, 6),
}


async def work(sample: Sample, name: str, options: dict[str, str]) -> Attempt:
    model = llm.load(f"endpoint:{name}")
    setup = Setup(model=model, customer=None, judges=(), run_id="r", options=CrmOptions.read(options))
    try:
        return await run(sample, setup, 0)
    finally:
        await model.aclose()


@pytest.fixture(scope="module")
def server(small_store: tuple[Path, list[Sample]]) -> Iterator[StrongCrmModel]:
    home = small_store[0]
    with pytest.MonkeyPatch.context() as patch, StrongCrmModel() as model:
        patch.setenv("CXLAB_HOME", str(home))
        (home / "models.toml").write_text(model.settings())
        yield model
        (home / "models.toml").unlink()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_strong_model_finds_the_answer(
    server: StrongCrmModel, small_store: tuple[Path, list[Sample]], framework: str
) -> None:
    sample = next(each for each in small_store[1] if each.task == "best_region_identification")
    endpoint, options, turns = FRAMEWORKS[framework]
    sent = server.bodies[endpoint]
    sent.clear()
    attempt = asyncio.run(work(sample, endpoint, options))
    assert attempt.output["answer"] == sample.expected["answer"], [m.text[:200] for m in attempt.messages]
    assert (attempt.outcome, attempt.ended_by, attempt.failures) == ("ok", "submit", ())
    assert verdict_of(sample, attempt).value == "passed"
    assert values_of(sample, attempt)["turns"] == turns
    refused = framework == "refused"
    assert len(sent) == turns + refused
    assert attempt.usage.calls >= turns
    assert attempt.cost_usd is not None
    assert attempt.cost_usd > 0
    # Every reply has its own tokens, seconds and cost; together they are the attempt's.
    replies = [message for message in attempt.messages if message.role == "agent"]
    assert sum(message.usage.completion_tokens or 0 for message in replies if message.usage) == 20 * turns
    assert sum(message.cost_usd or 0 for message in replies) == pytest.approx(attempt.cost_usd)
    assert not any(THOUGHT in message.text for message in attempt.messages)
    assert THOUGHT not in str([body["messages"] for body in sent])
    assert all((body["temperature"], body["top_p"]) == (0, 1) for body in sent)
    native = framework in ("native", "create_agent")
    assert [bool(body.get("tools")) for body in sent] == [native or refused, *[native] * (len(sent) - 1)]
