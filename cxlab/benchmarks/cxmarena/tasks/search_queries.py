"""Queries for article search: each asks for what a single leaf article states, and no other.

    found = stages.finish(make(articles, topics, ledger, model, seed))
    found[0]      # {"query", "article_id", "answer", "facts": [fact ids]}

A query names the subject and the properties, never a value; the answer comes from the ledger. It asks for one fact
that only this article states; where there is none, for two or three that only this article states together. A small
brand has few leaves: there an article gets several queries, each for other facts. What articles state is read from
the texts themselves, not from what their writer was given.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cxlab.benchmarks.cxmarena.brand.ledger import Fact, Ledger, TemplateVars, rng_for, say
from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import Passage
from cxlab.benchmarks.cxmarena.knowledge.article_writer import statements
from cxlab.benchmarks.cxmarena.knowledge.topic_tree import Topic
from cxlab.benchmarks.cxmarena.tasks import task_prompts
from cxlab.benchmarks.generation import stages
from cxlab.files import grammar
from cxlab.llm import ask
from cxlab.llm.base import ChatModel
from cxlab.records import Article

# Table 8: 797 queries for 1,743 information articles; a small brand has more of them, so that a mean says something.
# Some will fail the check, so that a few more are made than are to remain.
SHARE, FEWEST = 797 / 1743, 46
LONGEST = 6000
Query = dict[str, Any]


class Target(NamedTuple):
    """A leaf article and what it alone states: facts of one subject with the sentences that give them."""

    article: Article
    facts: tuple[Fact, ...]
    sentences: tuple[str, ...]


def make(
    articles: Sequence[Article],
    topics: Sequence[Topic],
    ledger: Ledger,
    model: ChatModel,
    seed: int,
    folder: Path | None = None,
    count: int | None = None,
) -> Generator[stages.Progress, None, list[Query]]:
    """`count` queries, by default as many as the published share; fewer where fewer articles hold a fact alone."""
    searched = [a for a in articles if a.kind != "issue"]
    wanted = max(round(SHARE * len(searched)), FEWEST) if count is None else count
    targets = choose(searched, topics, ledger, wanted, seed)

    async def question(target: Target) -> stages.Row:
        inputs = question_inputs(target, ledger, seed)
        reply = await ask(model, task_prompts.QUESTION, inputs, seed=seed)
        # A question that gives its answer away is no query; the article then has none.
        return {"query": " ".join(reply.output.question.split()) if reply.output else None}

    rows = yield from stages.run(
        "queries", targets, lambda t: "+".join((t.article.id, *(f.id for f in t.facts))), question, folder
    )
    return [
        {
            "query": row["query"],
            "article_id": target.article.id,
            "answer": " ".join(f"{say(ledger, f, rng_for('answer', seed, f.id))}." for f in target.facts),
            "facts": [f.id for f in target.facts],
        }
        for target, row in zip(targets, rows, strict=True)
        if row["query"]
    ]


def choose(articles: Sequence[Article], topics: Sequence[Topic], ledger: Ledger, count: int, seed: int) -> list[Target]:
    """What leaf articles alone state: one target an article in a drawn order, then a second one of each, and so on."""
    inner = {t.parent for t in topics}
    leaves = {t.id for t in topics if t.id not in inner}
    told = {a.id: dict(reversed(statements(a, ledger))) for a in articles}
    holders: dict[str, set[str]] = {}
    for key, stated in told.items():
        for fact in stated:
            holders.setdefault(fact, set()).add(key)
    rng = rng_for("queries", seed)
    piles = []
    for n in rng.permutation(len(articles)).tolist():
        article = articles[n]
        if article.properties.get("topic_id") in leaves:
            piles.append((article, list[set[str]](), list(_alone(article, told[article.id], holders, ledger, rng))))
    found: list[Target] = []
    while piles and len(found) < count:
        rest = []
        for article, asked, facts in piles:
            one = _next(asked, facts)
            if one is None or len(found) >= count:
                continue
            asked.append({fact.id for fact in one})
            found.append(Target(article, one, tuple(told[article.id][f.id] for f in one)))
            rest.append((article, asked, facts))
        piles = rest
    return found


def _next(asked: Sequence[set[str]], facts: Sequence[tuple[Fact, ...]]) -> tuple[Fact, ...] | None:
    """What an article is asked next: things that nobody asked for before, then such with one, then other mixtures."""
    used = set().union(*asked)
    for most in (0, 1, 2):
        for one in facts:
            keys = {fact.id for fact in one}
            repeats = any(keys <= before or before <= keys for before in asked)
            if not repeats and len(keys & used) <= most:
                return one
    return None


def _alone(
    article: Article, told: dict[str, str], holders: dict[str, set[str]], ledger: Ledger, rng: np.random.Generator
) -> Iterator[tuple[Fact, ...]]:
    """Facts that the article alone states, then twos and threes of one subject that it alone states together.

    An article on one thing that tells something of another is found by chance; its own facts come first.
    """
    own = [f for f in told if ledger.facts[f].subject == article.properties.get("subject")]
    for facts in (own, [f for f in told if f not in own]):
        order = [facts[n] for n in rng.permutation(len(facts)).tolist()]
        yield from ((ledger.facts[f],) for f in order if len(holders[f]) == 1)
        shared = [f for f in order if len(holders[f]) > 1]
        for size in (2, 3):
            for some in itertools.combinations(shared, size):
                one_subject = len({ledger.facts[f].subject for f in some}) == 1
                if one_subject and len(set.intersection(*(holders[f] for f in some))) == 1:
                    yield tuple(ledger.facts[f] for f in some)


def question_inputs(target: Target, ledger: Ledger, seed: int) -> task_prompts.QuestionInputs:
    """What the prompt gets: the article, the facts, and how the brand's customers ask for them."""
    language = ledger.brand.language
    asked = []
    for fact, sentence in zip(target.facts, target.sentences, strict=True):
        spec, rng = ledger.brand.properties[fact.property], rng_for("question", seed, fact.id)
        lines = [language.polish(grammar.say(line, rng, TemplateVars(ledger, fact.subject, rng))) for line in spec.asks]
        asked.append(
            task_prompts.QueryFact(aspect=spec.the, sentence=sentence, value=ledger.show(fact), questions=tuple(lines))
        )
    return task_prompts.QuestionInputs(
        language=language.name,
        passage=Passage(id=target.article.id, text=target.article.body[:LONGEST]),
        subject=target.facts[0].subject,
        facts=tuple(asked),
    )


__all__ = ["Query", "Target", "choose", "make", "question_inputs"]
