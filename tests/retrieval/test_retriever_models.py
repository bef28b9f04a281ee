"""Retrievers in the place of models under test, and the floors among them."""

import asyncio

import numpy as np
import pytest

from cxlab import llm, retrieval
from cxlab.benchmarks import REGISTRY
from cxlab.errors import BadOption, UnknownName
from cxlab.llm.base import ProviderFault, Request
from cxlab.runner.request import RunRequest, check

TEXTS = ["user: the train was late", "user: the train was cancelled and late", "assistant: bake it", "user: thanks"]


def test_a_retriever_is_loaded_by_name_and_costs_nothing_here() -> None:
    model = llm.load("retriever:bm25")
    assert (model.name, model.simulated, llm.role_of(model.name)) == ("retriever:bm25", False, "retriever")
    assert llm.role_of("simulated:strong") == llm.role_of("openai:any") == "agent"
    prices = llm.prices("retriever:bm25")
    assert prices is not None
    assert prices.prompt_usd == prices.completion_usd == 0
    names = [row.name for row in llm.known_as("retriever")]
    assert {"retriever:bm25", "retriever:conversation", "retriever:random", "retriever:hub"} <= {*names}
    assert not {*names} & {row.name for row in llm.known()}


def test_what_is_no_retriever_is_refused_before_anything_runs() -> None:
    with pytest.raises(UnknownName):
        llm.load("retriever:no-such-thing")
    for name in REGISTRY:
        if "retriever" not in REGISTRY[name].model_roles:
            with pytest.raises(BadOption, match="evaluates no retrievers"):
                check(RunRequest(name, ("retriever:bm25",)))


def test_nobody_talks_to_a_retriever() -> None:
    model = llm.load("retriever:bm25")
    with pytest.raises(ProviderFault):
        asyncio.run(model.complete(Request(messages=[])))
    assert asyncio.run(model.reach()) is None


def test_the_random_floor_orders_anew_for_each_query_and_never_for_the_same() -> None:
    floor = retrieval.load("random")
    floor.fit(TEXTS)
    assert np.array_equal(floor.scores("late trains"), floor.scores("late trains"))
    assert not np.array_equal(floor.scores("late trains"), floor.scores("late train"))
    many = retrieval.load("random")
    many.fit(["x"] * 50)
    first = [int(many.scores(f"query {n}").argmax()) for n in range(2_000)]
    counts = np.bincount(first, minlength=50)
    assert counts.min() > 10
    assert counts.max() < 90


def test_the_hub_floor_is_blind_to_the_query_and_puts_the_most_usual_text_first() -> None:
    floor = retrieval.load("hub")
    floor.fit(TEXTS)
    assert np.array_equal(floor.scores("bake"), floor.scores("late trains"))
    assert int(floor.scores("bake").argmax()) in (0, 1)
    assert int(floor.scores("bake").argmin()) == 2
    for empty in ([], ["", "?!"]):
        blank = retrieval.load("hub")
        blank.fit(empty)
        assert blank.scores("bake").tolist() == [0.0] * len(empty)
