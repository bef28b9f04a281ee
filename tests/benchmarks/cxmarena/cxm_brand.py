"""A small generated brand with conversations, made once a test process: what tasks are derived from."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks import generation_stages
from cxlab.benchmarks.cxmarena.brand import ledger, pack_files
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger
from cxlab.benchmarks.cxmarena.conversations import conversation_plan, noise
from cxlab.benchmarks.cxmarena.conversations import conversation_writer as conversations
from cxlab.benchmarks.cxmarena.conversations.noise import NoisyConversation
from cxlab.benchmarks.cxmarena.knowledge import article_writer as articles
from cxlab.benchmarks.cxmarena.knowledge import topic_tree
from cxlab.benchmarks.cxmarena.knowledge.topic_tree import Topic
from cxlab.llm import load
from cxlab.llm.base import ChatModel
from cxlab.records import Article, Conversation


@dataclass(frozen=True)
class Made:
    """What the stages before the tasks leave."""

    ledger: Ledger
    topics: list[Topic]
    articles: list[Article]
    tools: list[dict[str, Any]]
    conversations: list[Conversation]
    noisy: dict[str, NoisyConversation]
    model: ChatModel


@functools.cache
def make() -> Made:
    """33 information and 18 issue articles, 24 conversations with fragments and misheard words."""
    pack = pack_files.load("hearthwise")
    facts = ledger.make(pack, 1, topic_tree.plan(pack, 33, 18))
    model = load("simulated:strong")
    topics = generation_stages.finish(topic_tree.grow(facts, model, 33, 1))
    found = generation_stages.finish(articles.write_information(facts, topics, model, 1))
    plans = articles.plan_issues(facts, topics, 18, 1)
    about = {a.properties["subject"]: a.id for a in reversed(found) if a.properties["subject"]}
    found += generation_stages.finish(articles.write_issues(facts, plans, model, 1, None, len(found) + 1, about))
    tools = articles.define_tools(pack, plans)
    cases = conversation_plan.plan_conversations(facts, found, tools, 24, 1)
    talks = generation_stages.finish(conversations.write_conversations(facts, found, tools, cases, model, 1, None))
    heard = {
        c.id: noise.add_noise(c.messages, noise.Noise(seed=n, fragmentation=0.5, wer=0.05)) for n, c in enumerate(talks)
    }
    return Made(facts, topics, found, tools, talks, heard, model)
