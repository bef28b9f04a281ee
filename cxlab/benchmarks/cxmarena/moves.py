"""The moves of a conversation: one message each, and what may come between the steps of a solution.

A move holds the acts of a message with what they are about, the class of an agent's message, the passages it rests
on, the facts it states, the details it reveals, a tool call with its result. Standards are noted where they are
shown or broken. `Moves` adds acts to the speaker's message or begins a new one; questions, tips, causes and bad
temper are the pieces that an outline (outline.py) is filled up with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cxlab.benchmarks.cxmarena.ledger import Fact, Slots, say
from cxlab.benchmarks.cxmarena.personas import Persona
from cxlab.benchmarks.cxmarena.shelf import Passage, Shelf
from cxlab.llm.simulated import grammar

Class = Literal["general", "knowledge_base", "tool_information_gathering", "tool_call"]
CLASSES: tuple[Class, ...] = ("general", "knowledge_base", "tool_information_gathering", "tool_call")
# Messages of a conversation: the paper's mean, of which noise adds some; log-normal, so the median lies lower.
MESSAGES, SPREAD = 33, 0.4
# How often a customer may wander off or lose patience before it stops being believable.
MOST_ASIDES, FAR_APART = 3, 8


@dataclass
class Move:
    """One message to be said."""

    role: Literal["customer", "agent"]
    acts: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    cls: Class = "general"
    sources: list[Passage] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    shows: set[str] = field(default_factory=set)
    breaks: set[str] = field(default_factory=set)
    call: dict[str, Any] | None = None


class Moves:
    """The moves so far; see the module's head."""

    def __init__(self, person: Persona, shelf: Shelf, rng: np.random.Generator) -> None:
        self.person, self.shelf, self.rng = person, shelf, rng
        self.moves: list[Move] = []
        self.occasions: set[str] = set()
        self.asides, self.drifted = 0, -FAR_APART
        self.wanted = int(np.clip(np.exp(rng.normal(np.log(MESSAGES) - SPREAD**2 / 2, SPREAD)), 16, 110))
        self.questions: list[tuple[Fact, Passage]] = shelf.facts(person, rng)

    # Building blocks

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def agent(self, kind: str, about: Mapping[str, str] | None = None, cls: Class = "general") -> Move:
        """Add an act to the agent's message, or begin one."""
        move = self._turn("agent")
        move.acts.append((kind, dict(about or {})))
        if CLASSES.index(cls) > CLASSES.index(move.cls):
            move.cls = cls
        return move

    def customer(self, kind: str, about: Mapping[str, str] | None = None) -> Move:
        move = self._turn("customer")
        move.acts.append((kind, dict(about or {})))
        return move

    def _turn(self, role: Literal["customer", "agent"]) -> Move:
        if not self.moves or self.moves[-1].role != role or self.moves[-1].call is not None:
            self.moves.append(Move(role))
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

    def inside(self, text: str) -> str:
        """The text as it stands after a colon: small, unless it begins with a name, or the language keeps it."""
        ledger = self.person.ledger
        first = re.split(r"\W", text, maxsplit=1)[0]
        named = first in ledger.names or first in ledger.brand.name.split() or first == "I"
        if named or ledger.brand.language_id == "de" or re.match(r"\w+-?[A-Z]", text):
            return text
        return text[:1].lower() + text[1:]

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
            Slots(person.ledger, fact.subject, self.rng),
        )
        self.customer("ask_fact", {"question": self.inside(person.brand.language.polish(question))})
        answer = {"fact": self.inside(say(person.ledger, fact, self.rng))}
        if not late and self.chance(0.12):
            self.occasions.add("promise")
            self.agent("promise")
            self.customer("agree")
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
        found = self.shelf.line(self.person, (*family.use, *family.care), self.rng)
        if found is None:
            return False
        text, passage, used = found
        move = self.agent("tip", {"tip": self.inside(text)}, "knowledge_base")
        move.sources.append(passage)
        move.facts += used
        self.customer("react_tip")
        return True

    def cause(self) -> bool:
        found = self.shelf.line(self.person, self.person.issue.causes, self.rng)
        if found is None:
            return False
        text, passage, used = found
        move = self.agent("cause", {"cause": self.inside(text)}, "knowledge_base")
        move.sources.append(passage)
        move.facts += used
        return True
