"""The moves of a conversation: one message each, and what may come between the steps of a solution.

A move holds the acts of a message with what they are about, the class of an agent's message, the passages it rests
on, the facts it states, the details it reveals, a tool call with its result. Standards are noted where they are
shown or broken. `DialogueScript` adds acts to the speaker's message or begins a new one; questions, tips, causes
and bad temper are the pieces that a plan (dialogue_plan.py) is filled up with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import Brand, Issue
from cxlab.benchmarks.cxmarena.brand.ledger import Fact, TemplateVars, say
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex, SourcePassage
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.conversations.step_phrasing import inside
from cxlab.files import grammar

Class = Literal["general", "knowledge_base", "tool_information_gathering", "tool_call"]
CLASSES: tuple[Class, ...] = ("general", "knowledge_base", "tool_information_gathering", "tool_call")
# Messages of a conversation: the paper's mean, of which noise adds some; log-normal, so the median lies lower.
MESSAGES, SPREAD = 29, 0.3
# What a step and a tool's use take of a conversation, and how far a long or a short procedure moves its length.
STEP_LOAD, TOOL_LOAD, LEAST, MOST = 3.0, 6.0, 0.7, 1.35
# Pieces in a row that are not part of the procedure: more reads as if nobody minded the matter.
IN_A_ROW = 4
# How often a customer may wander off or lose patience before it stops being believable.
MOST_ASIDES, FAR_APART = 3, 8


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
        self.asides, self.drifted = 0, -FAR_APART
        mean = MESSAGES * float(np.clip(_load(person.issue) / _usual(person.brand), LEAST, MOST))
        self.wanted = int(np.clip(np.exp(rng.normal(np.log(mean) - SPREAD**2 / 2, SPREAD)), 16, 90))
        self.questions: list[tuple[Fact, SourcePassage]] = article_index.facts(person, rng)

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
        room = self.wanted - 8 - len(self.moves)
        if room <= 0:
            return
        draw = self.rng.random()
        if draw < 0.45:
            self.question()
        elif draw < 0.6 and self.asides < MOST_ASIDES and self.person.has("impatient", "talkative"):
            if self.person.has("impatient"):
                self.temper()
            else:
                self.drift()

    def digress(self) -> bool:
        """Something that fills a conversation up; False when there is nothing left to say."""
        draw = self.rng.random()
        if draw < 0.62 and self.question():
            return True
        if draw < 0.85 and self.tip():
            return True
        if self.asides >= MOST_ASIDES:
            return self.question() or self.tip()
        if self.person.has("impatient") and draw < 0.93:
            self.temper()
            return True
        return self.drift() or self.question() or self.tip()

    def drift(self) -> bool:
        """The customer wanders off, but not twice within a few messages."""
        if len(self.moves) - self.drifted < FAR_APART:
            return False
        self.asides += 1
        self.customer("drift")
        self.agent("drift_reply")
        self.drifted = len(self.moves)
        return True

    def temper(self) -> None:
        self.asides += 1
        self.customer("impatient" if self.chance(0.6) else "complain")
        self.standard("calm", "calm", instead="curt")
        if not self.person.keeps["calm"] and self.chance(0.6):
            self.customer("resigned")

    def question(self, late: bool = False) -> bool:
        """A question of the customer's and its answer, which may be put off unless it is late."""
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
        self.customer("ask_fact", {"question": inside(person.ledger, person.brand.language.polish(question))})
        answer = {"fact": inside(person.ledger, say(person.ledger, fact, self.rng, spoken=True))}
        if not late and self.chance(0.12):
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

    def tip(self) -> bool:
        family = self.person.brand.families[self.person.ledger.subjects[self.person.subject].family]
        found = self.article_index.line(self.person, (*family.use, *family.care), self.rng)
        if found is None:
            return False
        text, passage, used = found
        move = self.agent("tip", {"tip": inside(self.person.ledger, text)}, "knowledge_base")
        move.sources.append(passage)
        move.facts += used
        self.customer("react_tip")
        return True

    def cause(self, kind: str = "cause") -> bool:
        """What may lie behind the trouble, as a guess or (kind "why") as the reason for a step."""
        found = self.article_index.line(self.person, self.person.issue.causes, self.rng)
        if found is None:
            return False
        text, passage, used = found
        move = self.agent(kind, {"cause": inside(self.person.ledger, text)}, "knowledge_base")
        move.sources.append(passage)
        move.facts += used
        return True


def _load(issue: Issue) -> float:
    return sum(TOOL_LOAD if step.tool else STEP_LOAD for step in issue.steps)


def _usual(brand: Brand) -> float:
    return sum(map(_load, brand.issues.values())) / len(brand.issues)
