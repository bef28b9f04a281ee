"""Queries that one leaf article alone answers; the value is never in the query."""

import json

import pytest

from cxlab.benchmarks.cxmarena.knowledge import article_writer
from cxlab.benchmarks.cxmarena.tasks import search_queries
from cxlab.benchmarks.generation import stages
from cxlab.llm.base import Completion, Request
from tests.benchmarks.cxmarena.cxm_brand import make


@pytest.fixture(scope="module")
def found():
    made = make()
    return stages.finish(search_queries.make(made.articles, made.topics, made.ledger, made.model, 1))


def test_only_its_article_states_what_a_query_asks_for(found):
    made = make()
    told = {a.id: {f for f, _ in article_writer.statements(a, made.ledger)} for a in made.articles if a.kind != "issue"}
    assert len(found) >= 8
    for one in found:
        holders = [key for key, facts in told.items() if set(one["facts"]) <= facts]
        assert holders == [one["article_id"]]
        assert 1 <= len(one["facts"]) <= 3


def test_queries_are_about_leaves_name_the_subject_and_hide_the_value(found):
    made = make()
    inner = {t.parent for t in made.topics}
    topic = {a.id: a.properties.get("topic_id") for a in made.articles}
    for one in found:
        assert topic[one["article_id"]] not in inner
        for key in one["facts"]:
            fact = made.ledger.facts[key]
            shown = made.ledger.show(fact)
            assert fact.subject in one["query"]
            assert shown not in one["query"].replace(fact.subject, "")
            assert shown in one["answer"]


def test_as_many_as_asked_for_the_same_for_a_seed():
    made = make()
    three = stages.finish(search_queries.make(made.articles, made.topics, made.ledger, made.model, 1, count=3))
    assert len(three) == 3
    assert three == stages.finish(search_queries.make(made.articles, made.topics, made.ledger, made.model, 1, count=3))
    other = stages.finish(search_queries.make(made.articles, made.topics, made.ledger, made.model, 2, count=3))
    assert [q["article_id"] for q in other] != [q["article_id"] for q in three]


class Chatterbox:
    """Tells the answer in the question."""

    simulated = False
    name = "x:chatterbox"

    async def complete(self, request: Request) -> Completion:
        given = request.inputs
        said = f"Is it true that {given.subject} has {given.facts[0].value}?"
        return Completion(json.dumps({"question": said}))

    async def aclose(self) -> None:
        """Nothing to close."""


def test_a_model_that_gives_the_value_away_makes_no_query():
    made = make()
    assert stages.finish(search_queries.make(made.articles, made.topics, made.ledger, Chatterbox(), 1, count=3)) == []
