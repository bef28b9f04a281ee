"""The simulated customer: goes by its card and by what the agent wrote last.

It keeps no memory of its own: what it has told, held back or taken back is read from the dialogue, as
a model would have to. Wordings are on its card; manner comes from the voice file.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence

import numpy as np

from cxlab.benchmarks.sage.procedures.signal_reader import topic_hits
from cxlab.benchmarks.sage.prompts.scenario_prompts import CustomerInputs, Fact
from cxlab.benchmarks.sage.simulated.agent import voice
from cxlab.files import grammar
from cxlab.llm.simulated.profiles import Profile

LEVEL_OF = {"cooperative": "zero", "questioning": "weak", "adversarial": "strong"}
ANNOUNCES = re.compile(r"\bI will\b|\bI'll\b|\bhas been\b|\bis done\b", re.IGNORECASE)
LONGEST = 46


class DialogueState:
    """What the dialogue shows of the customer's own part and of the agent's last message."""

    def __init__(self, inputs: CustomerInputs) -> None:
        self.own = [_plain(line.text) for line in inputs.history if line.who == "Customer"]
        self.agent = [line.text for line in inputs.history if line.who == "Agent"]
        self.last = self.agent[-1] if self.agent else ""
        self.facts = inputs.facts
        self.told = {f.field for f in inputs.facts if self._any(f.wordings)}
        self.misled = {f.field: self._when(f.wrong) for f in inputs.facts if f.wrong and self._any(f.wrong)}
        self.objected = [o for o in inputs.objections if self._any((o,))]

    def pending(self) -> list[Fact]:
        return [f for f in self.facts if f.field not in self.told]

    def asked(self) -> Fact | None:
        """The fact that the agent's last message asks for, by the words that such a question has."""
        return _asked(self.last, self.facts)

    def times_asked(self, fact: Fact) -> int:
        return sum(_asked(text, self.facts) == fact for text in self.agent)

    def _any(self, texts: Sequence[str]) -> bool:
        return any(_plain(text) in message for text in texts for message in self.own)

    def _when(self, texts: Sequence[str]) -> int:
        return min(i for i, message in enumerate(self.own) if any(_plain(t) in message for t in texts))


def customer(inputs: CustomerInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The next message as the JSON object that the prompt asks for."""
    memory = DialogueState(inputs)
    speaker = CustomerSpeaker(inputs, rng)
    for _ in range(4):
        text, done = speaker.first(memory) if not memory.own else speaker.next(memory)
        if _plain(text) not in memory.own:
            break
    return json.dumps({"message": text, "done": done}, ensure_ascii=False)


class CustomerSpeaker:
    """One customer's manner: level, style, and the lines it has to choose from."""

    def __init__(self, inputs: CustomerInputs, rng: np.random.Generator) -> None:
        self.inputs, self.rng = inputs, rng
        self.level = LEVEL_OF[inputs.attitude.split(":")[0]]
        self.style = set(inputs.style)
        self.own = [_plain(line.text) for line in inputs.history if line.who == "Customer"]

    def first(self, memory: DialogueState) -> tuple[str, bool]:
        parts = [] if "terse" in self.style and self.chance(0.6) else [self.line("greeting")]
        parts.append(sentence(self.one(self.inputs.openings)))
        facts = self.inputs.facts
        now = [f for i, f in enumerate(facts) if f.delivery == "opening" or (f.wrong and i == 0)]
        for fact in now[: 1 if self.level == "strong" else 2]:
            parts.append(sentence(self.one(fact.wrong)) if fact.wrong else self.state(fact))
        if "chatty" in self.style:
            parts.append(self.aside(0.2))
        return self.write(parts), False

    def next(self, memory: DialogueState) -> tuple[str, bool]:
        asked, pending = memory.asked(), memory.pending()
        to_correct = [f for f in pending if len(memory.own) - memory.misled.get(f.field, 99) >= 2]
        if asked is not None and asked.field in memory.misled and asked in pending:
            to_correct = [asked]
        if to_correct:
            return self.write([self.line("correction"), self.state(to_correct[0])]), False
        if asked is not None:
            return self.answer(memory, asked), False
        if pending:
            return self.volunteer(memory, pending), False
        return self.react(memory)

    def answer(self, memory: DialogueState, fact: Fact) -> str:
        if fact.field in memory.told:
            before = [w for w in fact.wordings if any(_plain(w) in message for message in self.own)]
            return self.write([self.line("repeat"), sentence(self.one(before or fact.wordings))])
        if fact.delivery == "second" and memory.times_asked(fact) < 2:
            return self.write([self.line("dodge"), self.aside(0.3)])
        if fact.wrong and fact.field not in memory.misled:
            return self.write([self.lead(), sentence(self.one(fact.wrong))])
        parts = [self.lead(), self.state(fact)]
        others = [f for f in memory.pending() if f != fact and f.delivery == "opening"]
        if others and self.level == "zero" and self.chance(0.5):
            parts.append(self.state(others[0]))
        else:
            parts += [self.tail(), self.aside(0.15)]
        return self.write(parts)

    def volunteer(self, memory: DialogueState, pending: Sequence[Fact]) -> str:
        # A hostile customer attacks first and lets the fact out in the next message.
        fresh = [o for o in self.inputs.objections if o not in memory.objected]
        if self.level == "strong" and fresh and len(memory.own) % 2 and self.chance(0.5):
            return self.object(fresh)
        fact = pending[0]
        if fact.wrong and fact.field not in memory.misled:
            return self.write([self.lead(), sentence(self.one(fact.wrong))])
        return self.write([self.lead(), self.state(fact), self.tail()])

    def react(self, memory: DialogueState) -> tuple[str, bool]:
        fresh = [o for o in self.inputs.objections if o not in memory.objected]
        announced = bool(ANNOUNCES.search(memory.last))
        if fresh and len(memory.objected) < self.inputs.patience:
            return self.object(fresh), False
        if self.inputs.may_leave and (announced or len(memory.objected) >= self.inputs.patience):
            end = self.line("grudging" if self.level == "strong" or not announced else "relief")
            return self.write([end, self.line("goodbye")]), True
        if self.inputs.may_leave:
            return self.write([self.line("goodbye")]), True
        return self.write([self.line("vague"), self.aside(0.3)]), False

    def object(self, fresh: Sequence[str]) -> str:
        """Come back on what the agent said; what stands around it is seldom the same."""
        more = self.aside(0.2)
        if not more and self.chance(0.5):
            more = self.line("vague" if self.chance(0.6) else "tail")
        return self.write([self.lead() if self.chance(0.4) else "", sentence(self.one(fresh)), more])

    def state(self, fact: Fact) -> str:
        text = sentence(self.one(fact.wordings))
        if fact.denial and self.chance(0.9):
            return f"{sentence(fact.denial)} {text}"
        return text

    def lead(self) -> str:
        return self.line("lead") if self.chance(0.25 if "terse" in self.style else 0.6) else ""

    def tail(self) -> str:
        return self.line("tail") if self.chance(0.1 if "terse" in self.style else 0.35) else ""

    def aside(self, chance: float) -> str:
        more = 0.3 if "chatty" in self.style else 0.0
        fresh = [t for t in self.inputs.small_talk if _plain(t) not in " ".join(self.own)]
        return sentence(self.one(fresh)) if fresh and self.chance(chance + more) else ""

    def line(self, kind: str) -> str:
        return grammar.say(self.one(voice("customer_voice")[kind][self.level]), self.rng, {})

    def one(self, lines: Sequence[str]) -> str:
        return lines[int(self.rng.integers(len(lines)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def write(self, parts: Sequence[str]) -> str:
        """Join the parts as such a person types them, and not much longer than it would."""
        kept = [p for p in parts if p]
        while len(kept) > 1 and len(" ".join(kept).split()) > LONGEST:
            kept.pop()
        joined = ""
        for part in kept or ["Hello?"]:
            runs_on = joined.endswith((",", ":"))
            part = part[:1].lower() + part[1:] if runs_on and not _proper(part) else part
            joined += f" {part}" if not joined or joined[-1] in ".!?,:;" else f". {part}"
        text = grammar.tidy(joined).rstrip(",: ")
        if text[-1] not in ".!?":
            text += "."
        return _sloppy(text, self.rng) if "sloppy" in self.style else text


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    text = grammar.tidy(text)
    return text if text[-1] in ".!?" else text + "."


def _proper(text: str) -> bool:
    first = text.split(" ")[0]
    return first in ("I", "I'm", "I'd", "I'll", "I've") or not first[1:].islower() or len(first) < 2


def _sloppy(text: str, rng: np.random.Generator) -> str:
    """Small letters, missing stops: as typed on a phone."""
    if rng.random() < 0.7:
        # A shouted word keeps its capitals.
        text = re.sub(r"(^|[.!?] )([A-Z])(?![A-Z])", lambda m: m[1] + m[2].lower(), text)
    if rng.random() < 0.6 and text.endswith("."):
        text = text[:-1]
    if rng.random() < 0.4:
        text = text.replace("'", "")
    return text


@functools.lru_cache(maxsize=100_000)
def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9 ]", "", text.lower())


def _asked(text: str, facts: Sequence[Fact]) -> Fact | None:
    if "?" not in text:
        return None
    scored = [(topic_hits(text, fact.topic), -i) for i, fact in enumerate(facts)]
    best = max(scored, default=(0, 0))
    return facts[-best[1]] if best[0] >= 2 else None
