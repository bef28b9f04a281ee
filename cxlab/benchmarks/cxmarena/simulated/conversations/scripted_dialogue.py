"""A conversation that stand-ins play by a plan: labels true by construction, words by the language's phrase grammars.

row = ScriptedDialogue(ledger, article_index, tools, case, seed).write()
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cxlab.benchmarks.cxmarena.brand.fact_statements import contradictions
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger, rng_for
from cxlab.benchmarks.cxmarena.conversations import personas, phrasebook
from cxlab.benchmarks.cxmarena.conversations.conversation_plan import ConversationPlan, to_row
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.simulated.conversations import dialogue_plan, dialogue_words
from cxlab.benchmarks.cxmarena.simulated.conversations.dialogue_script import DialogueMove
from cxlab.benchmarks.generation import stages
from cxlab.metrics.text_statistics import SENTENCE
from cxlab.records import ToolCall

# Messages of the past that a speaker does not repeat.
MEMORY = 60
# Acts of a customer who wants to know what stands in an article; to hear the same again is none.
ASKING = frozenset({"ask_fact", "ask_why"})


def write(
    ledger: Ledger, article_index: ArticleIndex, tools: Mapping[str, Any], case: ConversationPlan, seed: int
) -> stages.Row:
    """The conversation as a row."""
    return ScriptedDialogue(ledger, article_index, tools, case, seed).write()


class ScriptedDialogue:
    """One conversation while a plan is put into words."""

    def __init__(
        self,
        ledger: Ledger,
        article_index: ArticleIndex,
        tools: Mapping[str, Any],
        case: ConversationPlan,
        seed: int,
    ) -> None:
        self.ledger, self.article_index, self.case, self.seed = ledger, article_index, case, seed
        rng = rng_for("conversation", ledger.brand.id, seed, case.id)
        self.words = phrasebook.load(ledger.brand.language_id)
        self.person: Persona = personas.make(ledger, self.words, article_index.articles[case.article], rng)
        self.person.articles = case.articles
        self.outline = dialogue_plan.DialoguePlan(
            self.person, article_index, {n: tools[n] for n in case.tools if n in tools}, rng
        )
        self.messages: list[dict[str, Any]] = []
        self.history: list[str] = []
        self.turn = 0
        self.places: list[int] = []
        self.grounding: dict[int, tuple[str, ...]] = {}

    def write(self) -> stages.Row:
        for move in self.outline.moves:
            if move.role == "customer" or self.turn == 0:
                last = self.messages[-1]["role"] if self.messages else ""
                self.turn += not (move.role == "customer" and (last == "customer" or len(self.messages) == 1))
            text = self._say(move)
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

    def _say(self, move: DialogueMove) -> str:
        """The words of a move; a statement that the ledger does not hold is said anew, then left out."""
        speak = dialogue_words.customer if move.role == "customer" else dialogue_words.agent
        text = ""
        for attempt in range(2):
            rng = rng_for("words", self.ledger.brand.id, self.seed, self.case.id, len(self.messages), attempt)
            text = speak(self.person, self.words, move.acts, "\n".join(self.history[-MEMORY:]), rng).strip()
            if not self._wrong(text):
                return text
        kept = [s for s in SENTENCE.split(text) if not self._wrong(s)]
        return " ".join(kept) or "…"

    def _wrong(self, text: str) -> set[Any]:
        """What is stated of the brand and not held by its ledger; the conversation's own values do not count."""
        return contradictions(plain(text, self.person.details.values()), self.ledger, self.person.subject)

    def _row(self) -> stages.Row:
        quality = dialogue_plan.quality(self.outline)
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
