"""What a real writer costs: every paid call counted once over all tries, a budget that ends it, nothing paid twice."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab import jobs, llm
from cxlab.benchmarks.cxmarena.brand import brand_pack
from cxlab.benchmarks.cxmarena.generation import cost_estimate, dataset_config, pipeline
from cxlab.benchmarks.cxmarena.knowledge import article_prompts
from cxlab.benchmarks.generation import Generated, GenerationContext, stages
from cxlab.benchmarks.generation.budget import GenerationBudget, GenerationSpending, OutOfBudget, describe
from cxlab.cli import main
from cxlab.errors import BadOption
from cxlab.llm.base import Completion, ProviderFault, Request
from cxlab.records import Usage
from tests.benchmarks.cxmarena import strong_writer
from tests.llm.fault_server import FaultServer, Scene

# The server counts 100 tokens in and 20 out a call: $0.0001 + $0.0002.
PRICE = 'prompt_usd = 1.0\ncompletion_usd = 10.0\nas_of = "2026-01-01"\nsource = "test"\n'
CALL_USD = 0.0003
GOOD = "Schauen Sie in Ruhe nach, wir sind gern da."


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes `endpoint:writer` the scene, with a price or without."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.delenv("CXLAB_MODELS", raising=False)

    def write(scene: Scene, price: str = PRICE) -> None:
        text = f'[endpoints.writer]\nbase_url = "{scene.url}"\nmodel = "tiny"\nmax_connections = 2\n{price}'
        (tmp_path / "models.toml").write_text(text, encoding="utf-8")

    return write


def answer(body: dict[str, Any]) -> str:
    """Topics are not divided further; articles state their facts, and nothing else."""
    if "response_format" in body:
        return '{"children": []}'
    told = body["messages"][-1]["content"].partition("Facts that have to be stated:")[2].partition("\n\n")[0]
    return f"{GOOD}{told.replace(chr(10) + '- ', ' ')} {GOOD}"


def make(home: Path, generation_budget: GenerationBudget, **more: Any) -> Generated:
    given = {"brand": "talvero", "size": "37", "model": "endpoint:writer", "noise": "none", **more}
    return stages.finish(pipeline.build(dataset_config.read_config(given, 1), home, 1, generation_budget))


def read_kept(home: Path) -> dict[str, Any]:
    """The lines of the one work folder."""
    (path,) = (home / "work").glob("*/paid/spent.jsonl")
    return stages.load(path)


def test_a_budget_stops_it_a_higher_one_goes_on_and_nothing_is_paid_for_twice(
    server: FaultServer, place: Callable[..., None], tmp_path: Path
) -> None:
    scene = server.scene(reply=answer)
    place(scene)
    seen: list[GenerationSpending] = []
    with pytest.raises(OutOfBudget, match=r"budget of \$0\.003 .* is spent; .*with a higher --budget"):
        make(tmp_path, GenerationBudget(10 * CALL_USD, seen.append))
    assert len(read_kept(tmp_path)) == scene.calls == seen[-1].calls
    # Two connections: what was in flight when the money went out came back and is counted.
    assert 10 <= scene.calls <= 12
    cost = pytest.approx(CALL_USD * scene.calls)
    assert seen[-1] == GenerationSpending(scene.calls, 100 * scene.calls, 20 * scene.calls, cost, known_usd=cost)
    before = scene.calls
    with pytest.raises(OutOfBudget):  # the budget is of all tries together
        make(tmp_path, GenerationBudget(10 * CALL_USD))
    assert scene.calls == before
    again = GenerationBudget(30 * CALL_USD)
    with pytest.raises(OutOfBudget):
        make(tmp_path, again)
    assert 28 <= scene.calls <= 32
    assert again.spent.calls == scene.calls == len(read_kept(tmp_path))
    assert again.spent.cost_usd == pytest.approx(scene.calls * CALL_USD)
    asked = [json.dumps(body["messages"]) for body in scene.bodies]
    assert len(asked) == len(set(asked)), "a question that was paid for was asked again"
    assert not (tmp_path / "datasets").exists()


def test_a_sample_of_the_texts_is_held_to_a_budget_and_told_of_as_it_goes(
    server: FaultServer, place: Callable[..., None], tmp_path: Path
) -> None:
    scene = server.scene(reply=answer)
    place(scene)
    spent = GenerationBudget(3 * CALL_USD)
    config = dataset_config.read_config({"brand": "talvero", "model": "endpoint:writer"}, 1)
    steps = pipeline.write_excerpts(config, GenerationContext(1, tmp_path, budget=spent))
    reached = []
    with pytest.raises(OutOfBudget):
        reached.extend(step.stage for step in steps)
    assert 3 <= scene.calls == spent.spent.calls <= 5
    assert not list((tmp_path / "datasets").glob("*"))
    # A simulated writer's is free, and whole.
    free = pipeline.write_excerpts(replace(config, model="simulated:strong"), GenerationContext(1, tmp_path))
    assert [one.kind for one in stages.finish(free)] == ["article", "conversation"]


def test_the_command_leaves_with_3_and_tells_the_page(
    server: FaultServer,
    place: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place(server.scene(reply=answer))
    monkeypatch.setenv("CXLAB_JOB", "job-9")
    words = ["generate", "cxmarena", "--size", "37", "--model", "endpoint:writer", "--budget", "0.0015", "--json"]
    monkeypatch.setattr(sys, "argv", ["cxlab", *words])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 3
    out, err = capsys.readouterr()
    assert "endpoint:writer: about" in err
    assert "run the same command with a higher --budget" in err
    told = json.loads(out.splitlines()[-1])
    assert told["stopped"] == "budget"
    spent, why = jobs.spending("job-9")
    assert why.startswith("the budget of $0.0015")
    assert (
        spent["calls"] == told["spending"]["calls"] == sum(one["calls"] for one in told["spending"]["stages"].values())
    )
    assert jobs.spending("job-10") == ({}, "")
    monkeypatch.setattr(sys, "argv", ["cxlab", *words, "--plan"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code in (0, None)
    plan = json.loads(capsys.readouterr().out)["plan"]
    expected = cost_estimate.estimate("endpoint:writer", "37")
    assert plan == asdict(expected)
    assert plan["cost_usd"] == pytest.approx((plan["prompt_tokens"] + 10 * plan["completion_tokens"]) / 1e6)


def test_what_is_unknown_is_never_nothing(server: FaultServer, place: Callable[..., None], tmp_path: Path) -> None:
    free = server.scene(reply=answer)
    place(free, price="")
    with pytest.raises(BadOption, match="no price of endpoint:writer is noted"):
        make(tmp_path, GenerationBudget(1.0))
    assert free.calls == 0
    assert not (tmp_path / "work").exists()
    with pytest.raises(BadOption, match="--budget 0"):
        GenerationBudget(0)
    silent = server.scene("no_usage", reply=answer)
    place(silent)
    generation_budget = GenerationBudget(1.0)
    with pytest.raises(OutOfBudget, match=r"reported no tokens.*without --budget"):
        make(tmp_path, generation_budget)
    assert generation_budget.spent.calls == generation_budget.spent.uncounted == silent.calls
    assert generation_budget.spent.cost_usd is None
    assert generation_budget.spent.describe().endswith("tokens unknown, cost unknown")
    assert (GenerationSpending(1, 5, 5, 0.25) + generation_budget.spent).cost_usd is None
    assert "at least 5 tokens in" in describe(asdict(GenerationSpending(1, 5, 5, 0.25) + generation_budget.spent))


def test_a_reply_that_cannot_be_used_is_asked_for_again_by_the_next_try(
    server: FaultServer, place: Callable[..., None], tmp_path: Path
) -> None:
    replies = iter(["", *[GOOD] * 2])
    scene = server.scene(reply=lambda body: next(replies))
    place(scene)
    request = Request(messages=[{"role": "user", "content": "x"}], prompt=article_prompts.REPHRASE)
    generation_budget = GenerationBudget()
    generation_budget.open(tmp_path)
    generation_budget.keep_replies(tmp_path)
    model = generation_budget.meter(llm.load("endpoint:writer"))

    async def ask() -> list[str]:
        try:
            return [(await model.complete(request)).text for _ in range(3)]
        finally:
            await model.aclose()

    assert asyncio.run(ask()) == ["", GOOD, GOOD]
    assert generation_budget.spent.calls == scene.calls == 2


class Paid:
    """The strong writer with a bill; its line is cut after `left` calls."""

    def __init__(self, left: int) -> None:
        self.left, self.asked = left, 0
        self.name, self.simulated, self.prices = "openai:paid", False, llm.Prices(1.0, 10.0)

    async def complete(self, request: Request) -> Completion:
        if self.asked >= self.left:
            raise ProviderFault("timeout", "no answer", True)
        self.asked += 1
        text = strong_writer.answer({"messages": request.messages})
        return Completion(text, (), Usage(prompt_tokens=100, completion_tokens=20, calls=1), 0.0, "stop")

    async def aclose(self) -> None:
        pass


def test_a_resumed_dataset_keeps_what_all_its_tries_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Paid(200)
    monkeypatch.setattr(llm, "load", lambda name: model)
    # A brief's brand costs, too, and its cost goes to the first dataset that is made of it.
    folder = tmp_path / "brands" / "x"
    generation_budget = GenerationBudget()
    generation_budget.open_brand(folder)
    generation_budget.book(Usage(prompt_tokens=100, completion_tokens=20, calls=1), CALL_USD)
    given = {"brand": "talvero", "size": "37", "model": "openai:paid", "noise": "none", "validate": False}
    config = dataset_config.read_config(given, 1)
    (folder / "talvero.yaml").write_bytes((brand_pack.FOLDER / "talvero.yaml").read_bytes())
    config = replace(config, brief="A maker of telephones.")
    monkeypatch.setattr(pipeline, "find_brand", lambda *_: found(folder / "talvero.yaml"))
    with pytest.raises(stages.GenerationStopped):
        stages.finish(pipeline.build(config, tmp_path, 1, GenerationBudget()))
    model.left = 10**6
    told: list[GenerationSpending] = []
    built = stages.finish(pipeline.build(config, tmp_path, 1, GenerationBudget(watch=told.append)))
    spending = built.dataset.config["spending"]
    assert told[0].calls == 201
    assert spending["calls"] == model.asked + 1 == told[-1].calls
    assert spending["prompt_tokens"] == 100 * spending["calls"]
    assert spending["cost_usd"] == pytest.approx(CALL_USD * spending["calls"])
    assert spending["stages"]["brand"]["calls"] == 1
    assert {"information", "issues", "conversations", "detect", "queries"} <= set(spending["stages"])
    assert sum(one["calls"] for one in spending["stages"].values()) == spending["calls"]
    expected = cost_estimate.estimate("openai:paid", "37", validate=False)
    assert expected is not None
    assert expected.calls == pytest.approx(spending["calls"], rel=0.25)
    assert not (folder / "spent.jsonl").exists()


def test_a_tiny_dataset_tries_a_writer_with_under_150_calls(
    server: FaultServer, place: Callable[..., None], tmp_path: Path
) -> None:
    scene = server.scene(reply=strong_writer.answer)
    place(scene)
    given = {"brand": "hearthwise", "size": "tiny", "model": "endpoint:writer", "noise": "none"}
    built = stages.finish(pipeline.build(dataset_config.read_config(given, 1), tmp_path, 1, GenerationBudget()))
    assert scene.calls < 150
    expected = cost_estimate.estimate("endpoint:writer", "tiny")
    assert expected is not None
    assert expected.calls == pytest.approx(scene.calls, rel=0.25)
    assert built.dataset.config["left_out"] == {"articles": 0, "conversations": 0, "copies": 0, "intent names": 0}
    # Every fact that an article is said to state stands in it, as is promised of a real writer's texts.
    articles, facts = (pl.read_parquet(built.folder / f"{name}.parquet") for name in ("articles", "facts"))
    shown = dict(facts.select("fact_id", "shown").iter_rows())
    written = articles.filter(pl.col("corpus").list.contains("multi_turn"))
    assert written.height == 8
    claimed = [(fact, body) for found, body in written.select("facts", "clean").iter_rows() for fact in found]
    assert len(claimed) > 8
    assert all(shown[fact].lower() in " ".join(body.lower().split()) for fact, body in claimed)
    assert {"intent", "quality", "multi_turn", "kb_refinement", "article_search"} <= set(built.tasks)


def found(path: Path) -> Iterator[stages.Progress]:
    """A brand that is there already."""
    yield stages.Progress("brand", 1, 1)
    return path


def test_an_estimate_grows_with_the_size_and_says_nothing_of_simulated_models() -> None:
    sizes = ("40", "small", "399", "400", "1199", "1200", "paper")
    each = [cost_estimate.estimate("openai:no-such-price", size) for size in sizes]
    calls = [one.calls for one in each if one is not None]
    assert calls == sorted(calls)
    assert len(calls) == len(sizes)
    assert calls[3] / calls[2] < 1.06
    assert all(one.cost_usd is None and "cost unknown" in one.describe() for one in each if one is not None)
    assert cost_estimate.estimate("simulated:strong", "paper") is None
    unchecked = cost_estimate.estimate("endpoint:local", "small", validate=False)
    assert unchecked is not None
    assert each[1] is not None
    assert unchecked.calls < each[1].calls


def test_a_call_that_was_never_answered_is_told_and_costs_an_unknown_sum() -> None:
    class Silent(Paid):
        async def complete(self, request: Request) -> Completion:
            if self.asked:
                raise ProviderFault("timeout", "no answer", True, Usage(retries=1, unanswered=2))
            return await super().complete(request)

    budget = GenerationBudget()
    model = budget.meter(Silent(1))
    request = Request([{"role": "system", "content": "You maintain the glossary"}, {"role": "user", "content": "-"}])
    asyncio.run(model.complete(request))
    assert (budget.spent.calls, budget.spent.cost_usd) == (1, pytest.approx(CALL_USD))
    with pytest.raises(ProviderFault):
        asyncio.run(model.complete(replace(request, seed=1)))
    assert (budget.spent.calls, budget.spent.uncounted, budget.spent.cost_usd) == (3, 2, None)
    assert budget.spent.known_usd == pytest.approx(CALL_USD)
    assert f"cost unknown, at least ${CALL_USD:.4f}" in budget.spent.describe()
