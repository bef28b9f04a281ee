"""Embeddings through the real openai client, against a server that misbehaves."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from cxlab.errors import BadOption, NotConfigured
from cxlab.llm import Budget, Prices, ProviderFault
from cxlab.llm.embeddings import EmbeddingModel, EmbeddingReply, load_embedding
from cxlab.llm.openai_clients import EndpointOptions
from cxlab.llm.openai_model import OpenAIModel

from .fault_server import FaultServer, Scene

PRICES = Prices(1.0, 0.0)


def embed(
    scene: Scene, texts: list[str], budget: Budget | None = None, prices: Prices | None = PRICES
) -> EmbeddingReply:
    async def once() -> EmbeddingReply:
        server = OpenAIModel("endpoint:test/tiny", "tiny", scene.url, None, options=EndpointOptions(first_wait_s=0.01))
        model = EmbeddingModel("endpoint:test/tiny", server, prices)
        try:
            return await model.embed(texts, budget)
        finally:
            await model.aclose()

    return asyncio.run(once())


@pytest.mark.parametrize("mode", ["ok", "base64"])
def test_each_text_gets_its_own_vector_whatever_order_they_come_in(server: FaultServer, mode: str) -> None:
    scene = server.scene(mode)
    found = embed(scene, ["lamp", "aei", "x" * 10])
    assert found.vectors.dtype == np.float32
    assert found.vectors.tolist() == [[4, 1, 1], [3, 3, 1], [10, 0, 1]]
    assert (found.usage.prompt_tokens, found.usage.completion_tokens, found.usage.calls) == (17, 0, 1)
    assert found.cost_usd == pytest.approx(17e-6)
    assert found.latency_s > 0
    assert scene.bodies[0] == {"input": ["lamp", "aei", "x" * 10], "encoding_format": "float", "model": "tiny"}


def test_many_texts_go_in_batches_some_at_a_time(server: FaultServer) -> None:
    scene = server.scene(latency_s=0.05)
    texts = [f"{number:05d}" + "a" * (number % 7) for number in range(3_000)]
    found = embed(scene, texts)
    assert found.vectors[:, 1].tolist() == [number % 7 for number in range(3_000)]
    assert scene.calls == 12  # of 256
    assert 1 < scene.peak <= 8
    assert (found.usage.calls, found.usage.prompt_tokens) == (12, sum(map(len, texts)))
    scene = server.scene()
    embed(scene, ["x" * 150_000] * 3)
    assert scene.calls == 3  # 200,000 characters at most


def test_a_batch_that_is_too_large_is_halved(server: FaultServer) -> None:
    scene = server.scene(most_texts=10)
    texts = ["a" * number for number in range(1, 60)]
    assert embed(scene, texts).vectors[:, 0].tolist() == list(range(1, 60))
    assert max(len(body["input"]) for body in scene.bodies) == 59


def test_nothing_asks_nothing(server: FaultServer) -> None:
    scene = server.scene()
    found = embed(scene, [])
    assert (len(found.vectors), found.cost_usd, scene.calls) == (0, 0.0, 0)


@pytest.mark.parametrize(
    ("mode", "calls", "kind"),
    [
        ("rate_limited", 4, "rate_limited"),
        ("server_error", 4, "server_error"),
        ("close", 4, "connection"),
        ("vector_missing", 4, "bad_reply"),
        ("vector_nan", 4, "bad_reply"),
        ("not_json_body", 4, "bad_reply"),
        ("null", 4, "bad_reply"),
        ("status", 1, "bad_request"),
    ],
)
def test_faults_are_told_apart(server: FaultServer, mode: str, calls: int, kind: str) -> None:
    scene = server.scene(mode)
    with pytest.raises(ProviderFault) as caught:
        embed(scene, ["lamp"])
    assert (caught.value.failure.type, scene.calls) == (kind, calls)


def test_what_passes_is_tried_again_and_counted(server: FaultServer) -> None:
    found = embed(server.scene("server_error", times=2), ["lamp"])
    assert (found.usage.retries, found.usage.calls) == (2, 1)


def test_a_failed_batch_ends_the_others(server: FaultServer) -> None:
    scene = server.scene("status", status=401, message="who are you", times=8, latency_s=0.02)
    with pytest.raises(ProviderFault, match="who are you"):
        embed(scene, ["lamp"] * 256 * 100)
    assert scene.calls < 40


def test_cost_is_unknown_without_a_price_or_tokens(server: FaultServer) -> None:
    assert embed(server.scene(), ["lamp"], prices=None).cost_usd is None
    silent = embed(server.scene("no_usage"), ["lamp"])
    assert (silent.cost_usd, silent.usage.prompt_tokens, silent.usage.calls) == (None, None, 1)


def test_a_budget_stops_it(server: FaultServer) -> None:
    budget = Budget(0.001)
    scene = server.scene(latency_s=0.01)
    with pytest.raises(ProviderFault) as caught:
        embed(scene, ["x" * 100] * 256 * 50, budget)
    assert caught.value.failure.type == "budget"
    assert scene.calls <= 8  # the first wave: no cost is known yet
    assert budget.spent_usd >= 0.001


def test_names_are_checked_before_anything_is_called(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("simulated:strong", "endpoint:local", "openai:", "lamp"):
        with pytest.raises(BadOption, match="write openai:MODEL or endpoint:NAME/MODEL"):
            load_embedding(name)
    with pytest.raises(NotConfigured, match="OPENAI_API_KEY"):
        load_embedding("openai:text-embedding-3-small")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    prices = load_embedding("openai:text-embedding-3-small").prices
    assert prices is not None
    assert (prices.prompt_usd, prices.completion_usd) == (0.02, 0.0)
    local = load_embedding("endpoint:local/bge-m3")
    assert (local.server.model, local.prices and local.prices.prompt_usd) == ("bge-m3", 0.0)
