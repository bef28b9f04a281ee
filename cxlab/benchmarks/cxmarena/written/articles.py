"""The articles of a written brand, and the pairs of them that repeat or contradict each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cxlab.benchmarks.cxmarena.knowledge.refinement_corpus import RefinementCorpus, order_pair
from cxlab.benchmarks.cxmarena.written.brand_files import (
    WrittenArticle,
    WrittenBrand,
)
from cxlab.benchmarks.cxmarena.written.proof import shared_passage
from cxlab.metrics.text_statistics import SENTENCE
from cxlab.records import Article

RULES = ("Rights and rules", "Rechte und Regeln", "Droits et règles")


def make_article(brand: WrittenBrand, one: WrittenArticle, number: str, tools: Mapping[str, dict[str, Any]]) -> Article:
    topic = one.head["topic"]
    return Article(
        id=number,
        kind="issue" if one.issue else "policy" if topic in RULES else "information",
        topic=path_of(brand, one),
        title=one.title,
        body=f"{one.title}\n\n{one.body.text}",
        properties={"subject": None, "facts": list(one.body.facts)},
        tools=tuple(tools[name] for name in one.listed("tools")),
        relations=_beside(brand, one),
    )


def path_of(brand: WrittenBrand, one: WrittenArticle) -> tuple[str, ...]:
    """The article's topic, for an issue with the area of its cause below it."""
    cause = brand.causes.get(one.head.get("intent", ""))
    return (one.head["topic"], cause[0]) if cause else (one.head["topic"],)


def _beside(brand: WrittenBrand, one: WrittenArticle) -> dict[str, tuple[str, ...]]:
    """The other articles of the topic that share a fact with it."""
    own = set(one.body.facts)
    near = [
        f"KB_{n}"
        for n, other in enumerate(brand.articles, 1)
        if other.slug != one.slug and own & set(other.body.facts) and other.head["topic"] == one.head["topic"]
    ]
    return {"siblings": tuple(near)} if near else {}


def refine(brand: WrittenBrand, found: Sequence[Article], tools: Mapping[str, dict[str, Any]]) -> RefinementCorpus:
    """The searchable articles and those that repeat or contradict them, with the pairs that follow."""
    first = len(found) + 1
    ids = {one.slug: article.id for one, article in zip(brand.articles, found, strict=True)}
    ids |= {one.slug: f"KB_{n}" for n, one in enumerate(brand.refinement, first)}
    corpus = RefinementCorpus()
    for one in (*brand.articles, *brand.refinement):
        corpus.articles.append(make_article(brand, one, ids[one.slug], tools).model_copy(update={"relations": {}}))
    everything = (*brand.articles, *brand.refinement)
    for one in brand.refinement:
        for kind, change in (("copy of", "copy"), ("passage of", "insertion")):
            if origin := one.head.get(kind):
                source = next(article for article in brand.articles if article.slug == origin)
                text = shared_passage(one, source) or ""
                corpus.similar.append(order_pair(ids[origin], ids[one.slug]))
                corpus.changes.append({"kind": change, "from": ids[origin], "to": ids[one.slug], "text": text})
        for mark in (mark for mark in one.body.marks if mark.planted):
            right = [o for o in everything if any(m.fact == mark.fact and not m.planted for m in o.body.marks)]
            for other in right:
                corpus.contradictory.append(order_pair(ids[other.slug], ids[one.slug]))
            corpus.changes.append(
                {
                    "kind": "contradiction",
                    "from": ids[right[0].slug],
                    "to": ids[one.slug],
                    "text": _sentence(one.body.text, mark.words),
                    "fact": mark.fact,
                    "value": mark.words,
                }
            )
    corpus.similar.sort()
    corpus.contradictory.sort()
    return corpus


def find_paragraph(text: str, words: str) -> str:
    """The line of a text that holds the words."""
    return next((line.strip() for line in text.split("\n") if words in line), "")


def _sentence(text: str, words: str) -> str:
    """The sentence of a text that holds the words."""
    return next((one for one in SENTENCE.split(find_paragraph(text, words)) if words in one), "")
