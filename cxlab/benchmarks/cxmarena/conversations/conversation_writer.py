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

import json
import re
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cxlab.benchmarks import generation_stages
from cxlab.benchmarks.cxmarena.brand.fact_statements import contradictions
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger, rng_for
from cxlab.benchmarks.cxmarena.conversations import dialogue_plan as outlines
from cxlab.benchmarks.cxmarena.conversations import dialogue_prompts, personas, phrasebook
from cxlab.benchmarks.cxmarena.conversations.conversation_plan import ConversationPlan, to_row
from cxlab.benchmarks.cxmarena.conversations.dialogue_script import DialogueMove
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.conversations.written_dialogue import WrittenDialogue
from cxlab.benchmarks.cxmarena.knowledge.article_writer import missing_text_error
from cxlab.errors import CxError
from cxlab.llm import ask
from cxlab.llm.base import ChatModel
from cxlab.metrics.text_statistics import SENTENCE
from cxlab.records import Article, Conversation, Message, ToolCall

# Messages of the past that a speaker is shown: enough to know what it is about and what was said already.
MEMORY = 60
# Conversations in a row that come to nothing before a writer is given up.
MOST_LOST = 5
# Acts of a customer who wants to know what stands in an article; to hear the same again is none.
ASKING = frozenset({"ask_fact", "ask_why"})


def write_conversations(
    ledger: Ledger,
    articles: Sequence[Article],
    tools: Sequence[Mapping[str, Any]],
    cases: Sequence[ConversationPlan],
    model: ChatModel,
    seed: int,
    folder: Path | None = None,
    short: bool = False,
) -> Generator[generation_stages.Progress, None, list[Conversation]]:
    """One conversation a case, but for those that came to nothing; what an earlier try left in the folder is used.

    Real models write freely (`WrittenDialogue`), a few messages where it is to be `short`; stand-ins put a plan into
    words, with labels true by construction.
    """
    article_index = ArticleIndex(ledger, articles)
    by_name = {t["function"]["name"]: t for t in tools}

    def write(case: ConversationPlan) -> _ScriptedDialogue | WrittenDialogue:
        if model.simulated:
            return _ScriptedDialogue(ledger, article_index, by_name, case, model, seed)
        return WrittenDialogue(ledger, article_index, by_name, case, model, seed, short)

    kept = lost = 0

    async def work(case: ConversationPlan) -> generation_stages.Row:
        nonlocal kept, lost
        row = await write(case).write()
        kept, lost = kept + ("dropped" not in row), lost + ("dropped" in row)
        if not kept and lost >= min(MOST_LOST, len(cases)):
            raise CxError(
                f"{model.name}: none of its first {lost} conversations could be kept, the last one because "
                f"{row['dropped'].rstrip('.')}; it was asked no more"
            )
        return row

    rows = yield from generation_stages.run("conversations", cases, lambda c: c.id, work, folder)
    return [read(row) for row in rows if "dropped" not in row]


def read(row: Mapping[str, Any]) -> Conversation:
    """A kept row as a record; JSON knows neither tuples nor numbers as keys."""
    grounding = {int(k): tuple(v) for k, v in row["grounding"].items()}
    return Conversation.model_validate({**row, "grounding": grounding})


class _ScriptedDialogue:
    """One conversation while stand-ins put a plan into words."""

    def __init__(
        self,
        ledger: Ledger,
        article_index: ArticleIndex,
        tools: Mapping[str, Any],
        case: ConversationPlan,
        model: ChatModel,
        seed: int,
    ) -> None:
        self.ledger, self.article_index, self.case, self.model, self.seed = ledger, article_index, case, model, seed
        rng = rng_for("conversation", ledger.brand.id, seed, case.id)
        self.words = phrasebook.load(ledger.brand.language_id)
        self.person: Persona = personas.make(ledger, self.words, article_index.articles[case.article], rng)
        self.person.articles = case.articles
        self.outline = outlines.DialoguePlan(
            self.person, article_index, {n: tools[n] for n in case.tools if n in tools}, rng
        )
        self.messages: list[dict[str, Any]] = []
        self.history: list[str] = []
        self.turn = 0
        self.places: list[int] = []
        self.grounding: dict[int, tuple[str, ...]] = {}

    async def write(self) -> generation_stages.Row:
        for move in self.outline.moves:
            if move.role == "customer" or self.turn == 0:
                last = self.messages[-1]["role"] if self.messages else ""
                self.turn += not (move.role == "customer" and (last == "customer" or len(self.messages) == 1))
            text = await self._say(move)
            self.places.append(len(self.messages))
            if move.role == "customer":
                asks = any(kind in ASKING for kind, _ in move.acts)
                data: dict[str, Any] = {"facts": move.facts, "details": move.details, "asks": asks}
                self._add("customer", text, data)
            else:
                self._agent(move, text)
        return self._row()

    def _add(self, role: str, text: str, data: dict[str, Any], calls: Sequence[ToolCall] = ()) -> None:
        self.messages.append(
            {
                "role": role,
                "text": text,
                "turn": max(self.turn, 1),
                "tool_calls": [c.model_dump() for c in calls],
                "data": data,
            }
        )
        if role != "tool":
            self.history.append(f"{'Customer' if role == 'customer' else 'Agent'}: {text}")

    def _agent(self, move: DialogueMove, text: str) -> None:
        ranked = self.article_index.rank(text, move.sources, self.case.articles, move.facts)
        passages = list(dict.fromkeys(p.text for p in move.sources))
        data = {
            "class": move.cls,
            "sources": list(ranked),
            "passages": passages,
            "facts": list(dict.fromkeys(move.facts)),
        }
        if ranked:
            self.grounding[len(self.messages)] = ranked
        if move.call is None:
            self._add("agent", text, data)
            return
        number = sum(bool(m["tool_calls"]) for m in self.messages) + 1
        arguments = json.dumps(move.call["arguments"], ensure_ascii=False)
        self._add("agent", text, data, [ToolCall(id=f"call_{number}", name=move.call["tool"], arguments=arguments)])
        result = move.call["result"]
        self._add("tool", json.dumps(result, ensure_ascii=False), {"tool": move.call["tool"], "result": result})

    async def _say(self, move: DialogueMove) -> str:
        """The words of a move; a statement that the ledger does not hold is asked for anew, then left out."""
        inputs = self._inputs(move)
        prompt: Any = dialogue_prompts.CUSTOMER_TURN if move.role == "customer" else dialogue_prompts.AGENT_TURN
        text = ""
        for attempt in range(2):
            reply = await ask(self.model, prompt, inputs, seed=self.seed)
            if reply.output is None:
                raise missing_text_error(prompt.name, reply.failure)
            text = str(reply.output.text).strip()
            wrong = self._wrong(text)
            if not wrong:
                return text
            if attempt == 0:
                told = tuple(" ".join(map(str, t)) for t in sorted(wrong, key=str))
                inputs = inputs.model_copy(update={"complaints": told})
        kept = [s for s in SENTENCE.split(text) if not self._wrong(s)]
        return " ".join(kept) or "…"

    def _wrong(self, text: str) -> set[Any]:
        """What is stated of the brand and not held by its ledger; the conversation's own values do not count."""
        return contradictions(plain(text, self.person.details.values()), self.ledger, self.person.subject)

    def _inputs(self, move: DialogueMove) -> Any:
        person, brand = self.person, self.ledger.brand
        common: dict[str, Any] = {
            "language": brand.language.name,
            "language_id": brand.language_id,
            "brand": brand.name,
            "customer": person.customer,
            "subject": person.subject,
            "history": "\n".join(self.history[-MEMORY:]),
            "complaints": (),
        }
        if move.role == "customer":
            return dialogue_prompts.CustomerTurnInputs.model_construct(
                **common,
                traits=person.traits,
                manner=tuple(self.words.traits[t] for t in person.traits),
                life=person.life,
                casual=person.casual,
                problem=person.problem,
                acts=tuple(dialogue_prompts.customer_act(kind, about) for kind, about in move.acts),
            )
        return dialogue_prompts.AgentTurnInputs.model_construct(
            **common,
            agent=person.agent,
            passages=tuple(dict.fromkeys(p.text for p in move.sources)),
            acts=tuple(dialogue_prompts.agent_act(kind, about) for kind, about in move.acts),
        )

    def _row(self) -> generation_stages.Row:
        quality = outlines.quality(self.outline)
        for one in quality:
            one["evidence"] = [self.places[i] for i in one["evidence"]]
        return to_row(self.case, self.person, self.messages, self.grounding, quality)


def plain(text: str, details: Sequence[str] | Any) -> str:
    """The text without the values that belong to the conversation alone."""
    for value in sorted({str(d) for d in details}, key=len, reverse=True):
        # A short number may also stand inside another figure, which is none of this conversation's.
        if value in text and any(c.isdigit() for c in value):
            text = re.sub(rf"(?<![\w.,]){re.escape(value)}(?!\w|[.,]\d)", "…", text)
    return text


def transcript(conversation: Conversation) -> str:
    """What was said, as lines "Customer: …" and "Agent: …"."""
    who = {"customer": "Customer", "agent": "Agent"}
    return "\n".join(f"{who[m.role]}: {m.text}" for m in conversation.messages if m.role in who and m.text)


def messages_of(row: Mapping[str, Any]) -> tuple[Message, ...]:
    """The messages of a kept row as records."""
    return tuple(Message.model_validate(m) for m in row["messages"])
