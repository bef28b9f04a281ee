"""The moves of a conversation: one message each, and what may come between the steps of a solution.

A move holds the acts of a message with what they are about, the class of an agent's message, the passages it rests
on, the facts it states, the details it reveals, a tool call with its result. Standards are noted where they are
shown or broken. `DialogueScript` adds acts to the speaker's message or begins a new one; questions, causes and bad
temper are what may come between the steps of a plan (dialogue_plan.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cxlab.benchmarks.cxmarena.brand.ledger import Fact, TemplateVars, say
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex, SourcePassage
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.conversations.step_phrasing import inside
from cxlab.files import grammar

Class = Literal["general", "knowledge_base", "tool_information_gathering", "tool_call"]
CLASSES: tuple[Class, ...] = ("general", "knowledge_base", "tool_information_gathering", "tool_call")
# Questions of a customer beside the matter, and how often one who is impatient says so.
MOST_QUESTIONS, MOST_TEMPERS = 3, 2


@dataclass
class DialogueMove:
    """One message to be said."""

    role: Literal["customer", "agent"]
    acts: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    cls: Class = "general"
    sources: list[SourcePassage] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    shows: set[str] = field(default_factory=set)
    breaks: set[str] = field(default_factory=set)
    call: dict[str, Any] | None = None


class DialogueScript:
    """The moves so far; see the module's head."""

    def __init__(self, person: Persona, article_index: ArticleIndex, rng: np.random.Generator) -> None:
        self.person, self.article_index, self.rng = person, article_index, rng
        self.moves: list[DialogueMove] = []
        self.occasions: set[str] = set()
        self.asked = self.tempers = 0
        # What a step tells by itself is not asked for before it.
        later = {name for step in person.issue.steps for name in grammar.slot_names(step.say)}
        self.questions: list[tuple[Fact, SourcePassage]] = [
            one for one in article_index.facts(person, rng) if one[0].property not in later
        ]
        self.guessed = False

    # Building blocks

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def agent(self, kind: str, about: Mapping[str, str] | None = None, cls: Class = "general") -> DialogueMove:
        """Add an act to the agent's message, or begin one."""
        move = self._turn("agent")
        move.acts.append((kind, dict(about or {})))
        if CLASSES.index(cls) > CLASSES.index(move.cls):
            move.cls = cls
        return move

    def customer(self, kind: str, about: Mapping[str, str] | None = None) -> DialogueMove:
        move = self._turn("customer")
        move.acts.append((kind, dict(about or {})))
        return move

    def _turn(self, role: Literal["customer", "agent"]) -> DialogueMove:
        if not self.moves or self.moves[-1].role != role or self.moves[-1].call is not None:
            self.moves.append(DialogueMove(role))
        return self.moves[-1]

    def standard(self, name: str, kind: str, about: Mapping[str, str] | None = None, instead: str = "") -> None:
        """The agent does what a standard asks, or leaves it, or does the contrary."""
        self.occasions.add(name)
        if self.person.keeps[name]:
            self.agent(kind, about).shows.add(name)
        elif instead:
            self.agent(instead, about).breaks.add(name)

    # What comes between

    def between(self) -> None:
        """What may come between two steps: a question of the customer's, or its patience gives way."""
        if self.asked < MOST_QUESTIONS and self.chance(0.4):
            self.asked += self.question()
        elif self.person.has("impatient") and self.tempers < MOST_TEMPERS and self.chance(0.3):
            self.temper()

    def temper(self) -> None:
        self.tempers += 1
        self.customer("impatient" if self.chance(0.6) else "complain")
        self.standard("calm", "calm", instead="curt")
        if not self.person.keeps["calm"] and self.chance(0.6):
            self.customer("resigned")

    def question(self, late: bool = False) -> bool:
        """A question of the customer's and its answer, which may be put off unless it is late."""
        # Nobody asks what was just told.
        told = {fact for move in self.moves for fact in move.facts}
        self.questions = [one for one in self.questions if one[0].id not in told]
        if not self.questions:
            return False
        fact, passage = self.questions.pop()
        person = self.person
        spec = person.brand.properties[fact.property]
        question = grammar.say(
            spec.asks[int(self.rng.random() * len(spec.asks))],
            self.rng,
            TemplateVars(person.ledger, fact.subject, self.rng),
        )
        # Who has just said that there is one thing more begins no second time.
        asks = "ask_late" if late else "ask_fact"
        self.customer(asks, {"question": inside(person.ledger, person.brand.language.polish(question))})
        answer = {"fact": inside(person.ledger, say(person.ledger, fact, self.rng, spoken=True))}
        # A promise is kept after something else was said, so there must be something.
        aside = not person.keeps["promise"] or not (self.guessed or person.issue.own_reason)
        if not late and aside and self.chance(0.12):
            self.occasions.add("promise")
            self.agent("promise")
            self.customer("patient")
            if person.keeps["promise"]:
                self._aside()
                move = self.agent("keep_promise", answer, "knowledge_base")
                move.shows.add("promise")
            else:
                self.agent("move_on").breaks.add("promise")
                return True
        else:
            move = self.agent("fact", answer, "knowledge_base")
        move.sources.append(passage)
        move.facts.append(fact.id)
        self.customer("react_fact")
        return True

    def _aside(self) -> None:
        if self.cause():
            self.customer("plausible")

    def cause(self, kind: str = "cause") -> bool:
        """What may lie behind the trouble, as a guess or (kind "why") as the reason for a step."""
        found = self.article_index.line(self.person, self.person.issue.causes, self.rng)
        # Of two likely causes neither would be believed.
        if found is None or self.person.issue.own_reason or (kind == "cause" and self.guessed):
            return False
        self.guessed = self.guessed or kind == "cause"
        text, passage, used = found
        move = self.agent(kind, {"cause": inside(self.person.ledger, text)}, "knowledge_base")
        move.sources.append(passage)
        move.facts += used
        return True
