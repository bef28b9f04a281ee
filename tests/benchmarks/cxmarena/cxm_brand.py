"""Small generated brands with articles and conversations, as the stages before the tasks make them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.cxmarena.brand import ledger, pack_files
from cxlab.benchmarks.cxmarena.brand.brand_pack import Brand
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger
from cxlab.benchmarks.cxmarena.conversations import conversation_plan, conversation_writer, noise
from cxlab.benchmarks.cxmarena.conversations.conversation_plan import ConversationPlan
from cxlab.benchmarks.cxmarena.conversations.noise import NoisyConversation
from cxlab.benchmarks.cxmarena.knowledge import article_writer as articles
from cxlab.benchmarks.cxmarena.knowledge import topic_tree
from cxlab.benchmarks.cxmarena.knowledge.topic_tree import Topic
from cxlab.benchmarks.generation import stages
from cxlab.llm import load
from cxlab.llm.base import ChatModel
from cxlab.records import Article, Conversation, Message


@dataclass(frozen=True)
class Made:
    """What the stages before the tasks leave."""

    ledger: Ledger
    topics: list[Topic]
    articles: list[Article]
    tools: list[dict[str, Any]]
    plans: list[ConversationPlan]
    conversations: list[Conversation]
    noisy: dict[str, NoisyConversation]
    model: ChatModel


@functools.cache
def make(brand: str = "hearthwise") -> Made:
    """33 information and 18 issue articles, 24 conversations; made once a test process."""
    return generate(pack_files.load(brand), 33, 18, 24)


def generate(pack: Brand, information: int, issues: int, conversations: int) -> Made:
    """So many articles and conversations of a brand, the conversations also with fragments and misheard words."""
    facts = ledger.make(pack, 1, topic_tree.plan(pack, information, issues))
    model = load("simulated:strong")
    topics = stages.finish(topic_tree.grow(facts, model, information, 1))
    found = stages.finish(articles.write_information(facts, topics, model, 1))
    plans = articles.plan_issues(facts, topics, issues, 1)
    about = {a.properties["subject"]: a.id for a in reversed(found) if a.properties["subject"]}
    found += stages.finish(articles.write_issues(facts, plans, model, 1, None, len(found) + 1, about))
    tools = articles.define_tools(pack, plans)
    cases = conversation_plan.plan_conversations(facts, found, tools, conversations, 1)
    talks = stages.finish(conversation_writer.write_conversations(facts, found, tools, cases, model, 1))
    heard = {
        c.id: noise.add_noise(c.messages, noise.Noise(seed=n, fragmentation=0.5, wer=0.05)) for n, c in enumerate(talks)
    }
    return Made(facts, topics, found, tools, cases, talks, heard, model)


def read_conversation(row: Mapping[str, Any]) -> Conversation:
    """A row of the table `conversations` as the clean conversation that it was."""
    return Conversation(
        id=row["conversation_id"],
        channel=row["channel"],
        messages=tuple(Message.model_validate(each) for each in json.loads(row["messages"])),
        persona=json.loads(row["persona"]),
        labels=json.loads(row["labels"]),
        grounding={int(index): tuple(ids) for index, ids in json.loads(row["grounding"]).items()},
    )
