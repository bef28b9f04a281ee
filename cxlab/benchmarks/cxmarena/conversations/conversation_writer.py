"""Conversations between a customer and an agent, grounded in the articles.

    cases = plan_conversations(ledger, articles, tools, count=1994, seed=1)              # [ConversationPlan]
    conversations = stages.finish(write_conversations(ledger, articles, tools, cases, model, seed, folder))

Each is a records.Conversation "C_<n>": `messages`, `persona` (paper, figure 3), `grounding` {message index: article
ids}, and
`labels` {"issue_article", "issue", "family", "about" (its title), "subject", "quality": [{"id", "question", "answer",
"evidence"}]}.
Indices count from 0 over all messages, tool results among them. Message.data of an agent: {"class", "sources":
article ids, best first, "passages": the pieces of articles used, "facts"}; of a customer: {"facts", "details": what
was revealed, "asks": whether it asks for something that an article answers}; of a tool: {"tool", "result"}.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cxlab.benchmarks.cxmarena.brand.ledger import Ledger
from cxlab.benchmarks.cxmarena.conversations.conversation_plan import ConversationPlan
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex
from cxlab.benchmarks.cxmarena.conversations.written_dialogue import WrittenDialogue
from cxlab.benchmarks.generation import stages
from cxlab.errors import CxError
from cxlab.llm.base import ChatModel
from cxlab.records import Article, Conversation

# Who plays for stand-ins, looked up by name as the handlers of prompts are: without them the room does without it.
SCRIPTED = "cxlab.benchmarks.cxmarena.simulated.conversations.scripted_dialogue:write"
# Conversations in a row that come to nothing before a writer is given up.
MOST_LOST = 5


def write_conversations(
    ledger: Ledger,
    articles: Sequence[Article],
    tools: Sequence[Mapping[str, Any]],
    cases: Sequence[ConversationPlan],
    model: ChatModel,
    seed: int,
    folder: Path | None = None,
    short: bool = False,
) -> Generator[stages.Progress, None, list[Conversation]]:
    """One conversation a case, but for those that came to nothing; what an earlier try left in the folder is used.

    Real models write freely (`WrittenDialogue`), a few messages where it is to be `short`; stand-ins put a plan into
    words, with labels true by construction.
    """
    article_index = ArticleIndex(ledger, articles)
    by_name = {t["function"]["name"]: t for t in tools}
    scripted = pkgutil.resolve_name(SCRIPTED) if model.simulated else None

    async def write(case: ConversationPlan) -> stages.Row:
        if scripted is not None:
            row: stages.Row = scripted(ledger, article_index, by_name, case, seed)
            return row
        return await WrittenDialogue(ledger, article_index, by_name, case, model, seed, short).write()

    kept = lost = 0

    async def work(case: ConversationPlan) -> stages.Row:
        nonlocal kept, lost
        row = await write(case)
        kept, lost = kept + ("dropped" not in row), lost + ("dropped" in row)
        if not kept and lost >= min(MOST_LOST, len(cases)):
            raise CxError(
                f"{model.name}: none of its first {lost} conversations could be kept, the last one because "
                f"{row['dropped'].rstrip('.')}; it was asked no more"
            )
        return row

    rows = yield from stages.run("conversations", cases, lambda c: c.id, work, folder)
    return [read(row) for row in rows if "dropped" not in row]


def read(row: Mapping[str, Any]) -> Conversation:
    """A kept row as a record; JSON knows neither tuples nor numbers as keys."""
    grounding = {int(k): tuple(v) for k, v in row["grounding"].items()}
    return Conversation.model_validate({**row, "grounding": grounding})


def transcript(conversation: Conversation) -> str:
    """What was said, as lines "Customer: …" and "Agent: …"."""
    who = {"customer": "Customer", "agent": "Agent"}
    return "\n".join(f"{who[m.role]}: {m.text}" for m in conversation.messages if m.role in who and m.text)
