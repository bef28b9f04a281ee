import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cxlab.errors import BadOption, BadStore
from cxlab.llm import Budget, MeteredModel, Prices, Request, ask, call, load
from cxlab.llm.cache import ReplyCache
from cxlab.llm.metering import Spending
from cxlab.llm.openai_clients import EndpointOptions
from cxlab.llm.openai_model import OpenAIModel
from cxlab.records import Usage

from .fault_server import FaultServer, Scene
from .intents import CHAT, INTENT, Inputs, TextInputs

# One call of the fault server reports 100 + 20 tokens: a cent at these prices.
CENT = Prices(prompt_usd=50.0, completion_usd=250.0)


def priced(scene: Scene, prices: Prices | None = CENT) -> OpenAIModel:
    return OpenAIModel("endpoint:t", "tiny", scene.url, None, prices=prices, options=EndpointOptions(attempts=1))


def test_prices_are_per_million_and_never_guessed() -> None:
    prices = Prices(2.0, 8.0)
    assert prices.cost(Usage(prompt_tokens=1_000_000, completion_tokens=500_000)) == 6.0
    assert prices.cost(Usage(prompt_tokens=10)) is None


def test_a_budget_stops_calls_without_calling(server: FaultServer) -> None:
    scene = server.scene()

    async def spend() -> Budget:
        model, budget = priced(scene), Budget(0.025)
        replies = [await ask(model, INTENT, Inputs(message=str(i)), budget=budget) for i in range(5)]
        await model.aclose()
        assert [reply.output is not None for reply in replies] == [True, True, True, False, False]
        assert [round(reply.cost_usd or 0, 6) for reply in replies] == [0.01, 0.01, 0.01, 0, 0]
        failure = replies[4].failure
        assert failure is not None
        assert (failure.where, failure.type, failure.retryable) == ("provider", "budget", False)
        return budget

    budget = asyncio.run(spend())
    assert scene.calls == 3
    assert budget.exhausted
    assert round(budget.spent_usd, 6) == 0.03


def test_calls_in_flight_count_against_the_budget(server: FaultServer) -> None:
    scene = server.scene(latency_s=0.05)

    async def spend() -> Budget:
        model, budget = priced(scene), Budget(0.1)
        await ask(model, INTENT, Inputs(message="first"), budget=budget)
        await asyncio.gather(*(ask(model, INTENT, Inputs(message=str(i)), budget=budget) for i in range(50)))
        await model.aclose()
        return budget

    budget = asyncio.run(spend())
    assert scene.calls == 10
    assert round(budget.spent_usd, 6) == 0.1


def test_a_budget_lets_nothing_through_after_a_call_of_unknown_cost(server: FaultServer) -> None:
    scene = server.scene("no_usage")

    async def spend() -> Budget:
        model, budget = priced(scene), Budget(0.01)
        assert (await ask(model, INTENT, Inputs(message="a"), budget=budget)).cost_usd is None
        refused = (await ask(model, INTENT, Inputs(message="b"), budget=budget)).failure
        await model.aclose()
        assert refused is not None
        assert (refused.type, "reported no tokens" in refused.message) == ("budget", True)
        return budget

    budget = asyncio.run(spend())
    assert (budget.unpriced_calls, budget.priced_calls, budget.exhausted) == (1, 0, True)
    assert scene.calls == 1


def test_an_uncounted_call_makes_a_sum_of_tokens_unknown_and_no_call_does_not() -> None:
    known, uncounted, none = Usage(prompt_tokens=7, completion_tokens=2, calls=1), Usage(calls=1), Usage(retries=2)
    assert (known + none).prompt_tokens == (none + known).prompt_tokens == 7
    assert (known + uncounted).prompt_tokens is (uncounted + known).prompt_tokens is None
    assert (known + known).tokens == 18
    assert (uncounted + known).calls == 2
    assert (none + none).tokens is None
    assert Prices(1.0, 1.0).cost(known + uncounted) is None


def test_kept_and_reasoning_tokens_have_prices_of_their_own() -> None:
    used = Usage(prompt_tokens=1000, completion_tokens=500, calls=1, cached_tokens=600, reasoning_tokens=400)
    assert Prices(2.0, 8.0).cost(used) == pytest.approx(0.006)
    assert Prices(2.0, 8.0, cached_usd=0.5).cost(used) == pytest.approx((400 * 2 + 600 * 0.5 + 500 * 8) / 1e6)
    assert Prices(2.0, 8.0, reasoning_usd=1.0).cost(used) == pytest.approx((1000 * 2 + 100 * 8 + 400) / 1e6)
    uncounted = Usage(prompt_tokens=1000, completion_tokens=500, calls=1)
    assert Prices(2.0, 8.0, cached_usd=0.5).cost(uncounted) == pytest.approx(0.006), "nothing says that any was kept"


def test_faults_charge_nothing_and_free_their_place(server: FaultServer) -> None:
    async def spend() -> Budget:
        model, budget = priced(server.scene("status", status=404)), Budget(1.0)
        reply = await ask(model, CHAT, TextInputs(message="a"), budget=budget)
        await model.aclose()
        assert reply.failure is not None
        return budget

    budget = asyncio.run(spend())
    assert (budget.spent_usd, budget._in_flight, budget.priced_calls) == (0.0, 0, 0)


def test_simulated_models_need_no_budget() -> None:
    budget = Budget(0.0)
    reply = asyncio.run(ask(load("simulated:strong"), INTENT, Inputs(message="refund"), budget=budget))
    assert reply.output is not None
    assert not budget.exhausted
    with pytest.raises(BadOption):
        Budget(float("nan"))


def test_a_cached_reply_is_free_and_counted_once(server: FaultServer, tmp_path: Path) -> None:
    scene = server.scene()
    cache = ReplyCache(tmp_path / "cache.sqlite")

    async def twice() -> None:
        model, budget = priced(scene), Budget(0.01)
        one = await ask(model, INTENT, Inputs(message="a"), cache=cache, budget=budget)
        two = await ask(model, INTENT, Inputs(message="a"), cache=cache, budget=budget)
        await model.aclose()
        assert two.output == one.output
        assert two.raw == one.raw
        total = one.usage + two.usage
        assert (total.calls, total.cached_calls, total.prompt_tokens, total.completion_tokens) == (1, 1, 100, 20)
        assert one.cost_usd == pytest.approx(0.01)
        # The budget is spent by the first; what is already paid for is still given out.
        assert two.cost_usd == 0.0

    asyncio.run(twice())
    assert (scene.calls, len(cache)) == (1, 1)
    cache.close()


def test_the_key_holds_everything_that_decides_the_reply() -> None:
    inputs = Inputs(message="a")
    base = Request(INTENT.render(inputs), INTENT.schema, prompt=INTENT, inputs=inputs)
    variants = [
        base,
        Request(INTENT.render(Inputs(message="b")), INTENT.schema, prompt=INTENT, inputs=inputs),
        Request(base.messages, INTENT.schema, prompt=CHAT, inputs=inputs),
        Request(base.messages, INTENT.schema, prompt=INTENT, seed=1),
        Request(base.messages, INTENT.schema, prompt=INTENT, temperature=0.5),
        Request(base.messages, INTENT.schema, prompt=INTENT, max_tokens=5),
        Request(base.messages, INTENT.schema, prompt=INTENT, tools=[{"type": "function"}]),
        Request(base.messages, INTENT.schema),
        Request(base.messages),
    ]
    keys = [ReplyCache.key("m", request) for request in variants] + [ReplyCache.key("n", base)]
    assert len(set(keys)) == len(keys)
    assert ReplyCache.key("m", base) == keys[0]


def test_faults_and_empty_replies_are_not_kept(server: FaultServer, tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "cache.sqlite")

    async def once(scene: Scene) -> None:
        model = priced(scene)
        await ask(model, CHAT, TextInputs(message="a"), cache=cache)
        await model.aclose()

    for mode in ("empty", "server_error", "close"):
        asyncio.run(once(server.scene(mode)))
    assert len(cache) == 0
    cache.close()


def test_a_wrapped_model_is_a_model(server: FaultServer, tmp_path: Path) -> None:
    scene, cache, budget = server.scene(), ReplyCache(tmp_path / "c.sqlite"), Budget(1.0)

    async def twice() -> None:
        model = MeteredModel(priced(scene), budget, cache)
        assert (model.name, model.simulated) == ("endpoint:t", False)
        for _ in range(2):
            assert (await ask(model, INTENT, Inputs(message="a"))).output is not None
        await model.aclose()

    asyncio.run(twice())
    assert (scene.calls, round(budget.spent_usd, 6)) == (1, 0.01)
    cache.close()


_WORKER = """
import sys
from pathlib import Path
from cxlab.llm import Completion
from cxlab.llm.cache import ReplyCache
from cxlab.llm.metering import Spending
cache = ReplyCache(Path(sys.argv[1]))
for i in range(300):
    key = f"{i:04d}"
    cache.put(key, Completion(f"{sys.argv[2]} says {i}"), "m", "p")
    assert cache.get(key).text.endswith(f" says {i}")
cache.close()
"""


def test_several_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    workers = [
        subprocess.Popen([sys.executable, "-c", _WORKER, str(path), name], stderr=subprocess.PIPE, text=True)
        for name in ("one", "two", "three")
    ]
    for worker in workers:
        _, problems = worker.communicate(timeout=300)
        assert worker.returncode == 0, problems
        assert "cannot be" not in problems
    cache = ReplyCache(path)
    assert len(cache) == 300
    first = cache.get("0000")
    assert first is not None
    assert first.usage == Usage(prompt_tokens=0, completion_tokens=0, cached_calls=1)
    cache.close()


def test_a_cache_that_cannot_be_written_does_not_spoil_the_call(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cache = ReplyCache(path)
    cache._db.execute("pragma busy_timeout = 10")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    model = load("simulated:strong")
    reply = asyncio.run(ask(model, INTENT, Inputs(message="refund"), cache=cache))
    assert reply.output is not None
    other.execute("rollback")
    other.close()
    assert len(cache) == 0
    cache.close()


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    with pytest.raises(BadStore, match=r"cache\.sqlite"):
        ReplyCache(path)


def test_call_gives_tools_conversations_the_same_care(server: FaultServer) -> None:
    async def once() -> None:
        model = priced(server.scene("tools"))
        done = await call(model, Request([{"role": "user", "content": "x"}]))
        assert done.completion is not None
        assert done.completion.tool_calls[0].name == "refund"
        assert done.cost_usd == pytest.approx(0.01)
        assert done.failure is None
        await model.aclose()
        model = priced(server.scene("status", status=401))
        done = await call(model, Request([{"role": "user", "content": "x"}]))
        assert done.completion is None
        assert done.failure is not None
        assert done.failure.type == "auth"
        await model.aclose()

    asyncio.run(once())


def test_a_call_that_was_broken_off_costs_an_unknown_sum_and_at_most_its_limit(server: FaultServer) -> None:
    """A server may bill what it wrote for nobody: that is no $0, and a budget holds back what it can have been."""

    async def spend(mode: str) -> tuple[float | None, int, Budget, Spending]:
        budget, spending = Budget(1.0), Spending()
        options = EndpointOptions(attempts=1, read_timeout_s=0.2, answer_timeout_s=0.3, max_output_tokens=500)
        model = OpenAIModel("endpoint:t", "tiny", server.scene(mode).url, None, prices=CENT, options=options)
        metered = MeteredModel(model, budget, spending=spending)
        reply = await ask(metered, CHAT, TextInputs(message="a"))
        await model.aclose()
        assert reply.failure is not None
        return reply.cost_usd, reply.usage.unanswered, budget, spending

    cost, unanswered, budget, spending = asyncio.run(spend("hang"))
    assert (cost, unanswered, spending.unanswered, spending.usd) == (None, 1, 1, 0.0)
    # 500 tokens of an answer at $250 a million, and a prompt of some 100 characters at $50.
    assert spending.unanswered_usd is not None
    assert 0.125 < spending.unanswered_usd < 0.15
    assert budget.spent_usd == pytest.approx(spending.unanswered_usd)
    # A connection that is cut after the request went out leaves as much open.
    for mode in ("close", "close_mid_reply"):
        cost, unanswered, budget, spending = asyncio.run(spend(mode))
        assert (cost, unanswered, spending.unanswered) == (None, 1, 1), mode
    # Refused is not broken off.
    cost, unanswered, budget, spending = asyncio.run(spend("server_error"))
    assert (cost, unanswered, spending.unanswered, budget.spent_usd) == (0.0, 0, 0, 0.0)


def test_a_first_try_that_was_broken_off_is_told_beside_the_answer(server: FaultServer) -> None:
    async def spend() -> tuple[float | None, Usage, Spending]:
        spending = Spending()
        options = EndpointOptions(attempts=2, first_wait_s=0.01, read_timeout_s=0.3, answer_timeout_s=5.0)
        scene = server.scene("hang", times=1)
        model = OpenAIModel("endpoint:t", "tiny", scene.url, None, prices=CENT, options=options)
        reply = await ask(MeteredModel(model, spending=spending), INTENT, Inputs(message="refund"))
        await model.aclose()
        return reply.cost_usd, reply.usage, spending

    cost, usage, spending = asyncio.run(spend())
    assert (usage.calls, usage.retries, usage.unanswered) == (1, 1, 1)
    assert cost == pytest.approx(0.01), "what the answer cost is known"
    assert (round(spending.usd, 6), spending.unanswered) == (0.01, 1)
