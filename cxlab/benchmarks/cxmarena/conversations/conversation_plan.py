"""Which conversations there are to be, and what one is kept as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.cxmarena.brand.ledger import Ledger, rng_for
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.generation import stages
from cxlab.errors import BadOption
from cxlab.records import Article


@dataclass(frozen=True)
class ConversationPlan:
    """One conversation to be simulated: about which issue of which subject, with what at hand."""

    id: str
    article: str
    issue: str
    subject: str
    family: str
    articles: tuple[str, ...]
    tools: tuple[str, ...]


def plan_conversations(
    ledger: Ledger, articles: Sequence[Article], tools: Sequence[Mapping[str, Any]], count: int, seed: int
) -> list[ConversationPlan]:
    """`count` cases over the issue articles, each article used once before any is used twice."""
    issues = [a for a in articles if a.kind == "issue"]
    if not issues:
        raise BadOption("no issue articles; a conversation needs one: write issues first")
    article_index = ArticleIndex(ledger, articles)
    names = {t["function"]["name"] for t in tools}
    order: list[int] = []
    found = []
    for number in range(1, count + 1):
        if not order:
            order = [int(i) for i in rng_for("cases", seed, number).permutation(len(issues))]
        article = issues[order.pop()]
        found.append(
            ConversationPlan(
                id=f"C_{number}",
                article=article.id,
                issue=str(article.properties["issue"]),
                subject=str(article.properties["subject"]),
                family=str(article.properties["family"]),
                articles=article_index.near(article, rng_for("near", seed, number)),
                tools=tuple(n for t in article.tools if (n := t["function"]["name"]) in names),
            )
        )
    return found


def to_row(
    case: ConversationPlan,
    person: Persona,
    messages: Sequence[Mapping[str, Any]],
    grounding: Mapping[int, Sequence[str]],
    quality: Sequence[Mapping[str, Any]],
) -> stages.Row:
    """A conversation as a stage keeps it, whoever wrote it; `quality` with evidence as places of messages."""
    return {
        "id": case.id,
        "messages": messages,
        "channel": "text",
        "persona": {
            "customer": {
                "name": person.customer,
                "traits": list(person.traits),
                "casual": person.casual,
                "life": person.life,
                "problem": person.problem,
                "masked": [{"detail": k, "value": v} for k, v in person.masked.items()],
                "details": person.details,
            },
            "agent": {
                "name": person.agent,
                "articles": list(case.articles),
                "issue": case.article,
                "quality": [{"id": q["id"], "question": q["question"], "answer": q["answer"]} for q in quality],
                "tools": list(case.tools),
            },
        },
        "labels": {
            "issue_article": case.article,
            "issue": case.issue,
            "family": case.family,
            "about": person.brand.families[case.family].title,
            "subject": case.subject,
            "quality": quality,
        },
        "grounding": {str(k): list(v) for k, v in grounding.items()},
    }
