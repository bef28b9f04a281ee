"""The frames of a generated dataset, typed, in the order of their ids: what lies beside the samples.

    articles(article_id, kind, topic, title, body, clean, format, corpus, facts, tools, relations, file,
             subject, style, acronyms)
    topics(topic_id, parent, title, description, depth, article_id)     facts(fact_id, subject, property, value, unit,
    shown, name)     tools(name, definition, issues)     acronyms(phrase, acronym, uses)     changes(kind, to, from,
    text, fact_id, value)     taxonomies(taxonomy, l1, l2, description)
    conversations(conversation_id, channel, persona, labels, grounding, messages, noisy, noise)

`body` is what readers get, `clean` the text without noise; `corpus` lists the corpora that an article is in.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from cxlab.benchmarks.cxmarena.brand.ledger import Ledger
from cxlab.benchmarks.cxmarena.conversations.noise import NoisyConversation
from cxlab.benchmarks.cxmarena.knowledge.formats import NoisyArticle
from cxlab.benchmarks.cxmarena.knowledge.refinement_corpus import RefinementCorpus, order_pair
from cxlab.benchmarks.cxmarena.knowledge.topic_tree import Topic
from cxlab.records import Article, Conversation

TEXTS = pl.List(pl.String)
# Ids of the refinement corpus: its articles are others than the searchable ones of the same number.
REFINEMENT = "RKB_"


def to_json(value: Any) -> str:
    """Compact JSON, umlauts as they are, keys in the order in which they were given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def article_rows(articles: Sequence[Article], served: Sequence[NoisyArticle], corpus: RefinementCorpus) -> pl.DataFrame:
    """The searchable articles with their noise, then the refinement corpus, which is served clean."""
    rows = [
        {
            **_about(article),
            "body": each.body,
            "clean": each.clean,
            "format": each.format,
            "style": each.style,
            "file": each.file,
            "acronyms": to_json(each.acronyms),
            "corpus": ["multi_turn"] if article.kind == "issue" else ["search", "multi_turn"],
        }
        for article, each in zip(articles, served, strict=True)
    ]
    rows += [
        {
            **_about(article),
            "body": article.body,
            "clean": article.body,
            "format": "text",
            "style": "plain",
            "file": None,
            "acronyms": "{}",
            "corpus": ["refinement"],
        }
        for article in corpus.articles
    ]
    texts = ("article_id", "kind", "title", "body", "clean", "format", "tools", "relations", "file", "subject")
    schema: dict[str, Any] = {
        **dict.fromkeys((*texts, "style", "acronyms"), pl.String),
        **dict.fromkeys(("topic", "corpus", "facts"), TEXTS),
    }
    order = ("article_id", "kind", "topic", "title", "body", "clean", "format", "corpus", "facts", "tools", "relations")
    return _frame(rows, {name: schema[name] for name in (*order, "file", "subject", "style", "acronyms")})


def _about(article: Article) -> dict[str, Any]:
    return {
        "article_id": article.id,
        "kind": article.kind,
        "topic": list(article.topic),
        "title": article.title,
        "facts": list(article.properties.get("facts", ())),
        "tools": to_json([tool["function"]["name"] for tool in article.tools]),
        "relations": to_json(article.relations),
        "subject": article.properties.get("subject"),
    }


def rename(corpus: RefinementCorpus) -> RefinementCorpus:
    """The refinement corpus under ids of its own, which no searchable article has."""

    def own(name: str) -> str:
        return REFINEMENT + name.removeprefix("KB_") if not name.startswith(REFINEMENT) else name

    return RefinementCorpus(
        [a.model_copy(update={"id": own(a.id)}) for a in corpus.articles],
        sorted(order_pair(own(a), own(b)) for a, b in corpus.similar),
        sorted(order_pair(own(a), own(b)) for a, b in corpus.contradictory),
        [{**c, "from": own(c["from"]), "to": own(c["to"])} for c in corpus.changes],
        corpus.lost,
    )


def topic_rows(topics: Sequence[Topic], articles: Sequence[Article]) -> pl.DataFrame:
    """The tree, parents before children, each with its article."""
    written = {a.properties.get("topic_id"): a.id for a in articles}
    rows = [
        {
            "topic_id": t.id,
            "parent": t.parent,
            "title": t.title,
            "description": t.description,
            "depth": t.depth,
            "article_id": written.get(t.id),
        }
        for t in topics
    ]
    texts = dict.fromkeys(("topic_id", "parent", "title", "description"), pl.String)
    return _frame(rows, {**texts, "depth": pl.Int64, "article_id": pl.String})


def fact_rows(ledger: Ledger) -> pl.DataFrame:
    """The ledger; `value` is canonical, `shown` and the property's `name` as the brand's language writes them."""
    rows = [
        {
            "fact_id": f.id,
            "subject": f.subject,
            "property": f.property,
            "value": str(f.value),
            "unit": f.unit,
            "shown": ledger.show(f),
            "name": ledger.brand.properties[f.property].name,
        }
        for f in ledger.facts.values()
    ]
    return _frame(rows, dict.fromkeys(("fact_id", "subject", "property", "value", "unit", "shown", "name"), pl.String))


def tool_rows(tools: Sequence[Mapping[str, Any]], articles: Sequence[Article]) -> pl.DataFrame:
    """Definitions in OpenAI's form, the most used first, and in how many issue articles each stands."""
    uses = Counter(tool["function"]["name"] for a in articles for tool in a.tools)
    rows = [
        {"name": t["function"]["name"], "definition": to_json(t), "issues": uses[t["function"]["name"]]} for t in tools
    ]
    return _frame(rows, {"name": pl.String, "definition": pl.String, "issues": pl.Int64})


def acronym_rows(acronyms: Mapping[str, str], served: Sequence[NoisyArticle]) -> pl.DataFrame:
    """The glossary, and how often each acronym stands for its phrase."""
    uses: Counter[str] = Counter()
    for each in served:
        uses.update(each.acronyms)
    rows = [{"phrase": p, "acronym": a, "uses": uses[p]} for p, a in acronyms.items()]
    return _frame(rows, {"phrase": pl.String, "acronym": pl.String, "uses": pl.Int64})


def change_rows(corpus: RefinementCorpus) -> pl.DataFrame:
    """What was done to make similar and contradictory pairs."""
    rows = [
        {
            "kind": c["kind"],
            "to": c["to"],
            "from": c["from"],
            "text": c["text"],
            "fact_id": c.get("fact"),
            "value": None if c.get("value") is None else str(c["value"]),
        }
        for c in corpus.changes
    ]
    return _frame(rows, dict.fromkeys(("kind", "to", "from", "text", "fact_id", "value"), pl.String))


def conversation_rows(conversations: Sequence[Conversation], noisy: Sequence[NoisyConversation]) -> pl.DataFrame:
    """Clean and served messages side by side; `noise` is what `add_noise` needs to make the one of the other."""
    rows = [
        {
            "conversation_id": c.id,
            "channel": c.channel,
            "persona": to_json(c.persona),
            "labels": to_json(c.labels),
            "grounding": to_json(c.grounding),
            "messages": to_json([m.model_dump(mode="json") for m in c.messages]),
            "noisy": to_json([m.model_dump(mode="json") for m in each.messages]),
            "noise": each.noise.model_dump_json(),
        }
        for c, each in zip(conversations, noisy, strict=True)
    ]
    names = ("conversation_id", "channel", "persona", "labels", "grounding", "messages", "noisy", "noise")
    return _frame(rows, dict.fromkeys(names, pl.String))


def taxonomy_rows(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The labels of the three taxonomies."""
    return _frame(rows, dict.fromkeys(("taxonomy", "l1", "l2", "description"), pl.String))


def read_by(articles: Sequence[Article], served: Sequence[NoisyArticle]) -> dict[str, dict[str, str]]:
    """RefinementCorpus → article → text as readers get it."""
    texts = {each.article_id: each.body for each in served}
    return {"multi_turn": texts, "search": {a.id: texts[a.id] for a in articles if a.kind != "issue"}}


def _frame(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=dict(schema), orient="row")


def digest(tables: Mapping[str, pl.DataFrame], more: Iterator[Any]) -> str:
    """A hash of all rows and of `more`, the same on any machine and with any version of the file format."""
    state = hashlib.blake2b(digest_size=6)
    for name in sorted(tables):
        state.update(f"{name} {tables[name].columns}\n".encode())
        for row in tables[name].iter_rows():
            state.update(to_json(row).encode("utf-8", "surrogatepass"))
    for part in more:
        state.update(json.dumps(part, sort_keys=True, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))
    return state.hexdigest()
