"""The simulated customer: goes by its card, its script and what the agent wrote last.

It keeps no memory of its own: what it has told stands in the prompt, what it has said in the dialogue. Wordings are in
its script; manner comes from the voice file.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cxlab.benchmarks.sage.prompts.scenario_prompts import CustomerInputs
from cxlab.benchmarks.sage.simulated.script import FactScript, Script
from cxlab.benchmarks.sage.simulated.signal_reader import topic_hits
from cxlab.benchmarks.sage.simulated.voices import voice
from cxlab.files import grammar
from cxlab.llm.simulated.profiles import Profile

ANNOUNCES = re.compile(r"\bI will\b|\bI'll\b|\bhas been\b|\bis done\b", re.IGNORECASE)
LONGEST = 46


@dataclass(frozen=True)
class CustomerLine:
    """A message, with the numbers of the facts that it tells, holds back or takes back."""

    text: str
    told: tuple[int, ...] = ()
    withheld: tuple[int, ...] = ()
    taken_back: tuple[int, ...] = ()
    done: bool = False
    why: str = field(default="", kw_only=True)


def customer(inputs: CustomerInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The next message as the JSON object that the prompt asks for."""
    if inputs._script is None:
        return _write(go_by_card(inputs))
    speaker = CustomerSpeaker(inputs, rng)
    said = CustomerLine("Hello?")
    for _ in range(4):
        said = speaker.next() if inputs.history else speaker.first()
        if _plain(said.text) not in speaker.own:
            break
    return _write(said)


def go_by_card(inputs: CustomerInputs) -> CustomerLine:
    """What a real customer is most likely to send, who has its card alone: one thing a message, and then goodbye.

    Estimates rehearse real customers by it; a script dawdles in ways that stand on no card.
    """
    facts = dict(enumerate(inputs.facts, 1))
    # What was first said wrongly is put right when all else is told.
    if due := sorted(inputs.untold, key=lambda n: n in inputs.mistaken):
        text = sentence(facts[due[0]].truth)
        lead = sentence(inputs.intent) if not inputs.history else ""
        back = tuple({due[0]} & set(inputs.mistaken))
        return CustomerLine(f"{lead} {text}".strip(), (due[0],), taken_back=back, why="I tell what is not told yet")
    if not inputs.history:
        return CustomerLine(sentence(inputs.intent), why="I begin with my concern")
    return CustomerLine("Thank you for your help, goodbye.", done=inputs.may_leave, why="All is told and answered")


def _write(said: CustomerLine) -> str:
    return json.dumps(
        {
            "reasoning": said.why,
            "message": said.text,
            "told": said.told,
            "withheld": said.withheld,
            "taken_back": said.taken_back,
            "done": said.done,
        },
        ensure_ascii=False,
    )


class CustomerSpeaker:
    """One customer at one point of the dialogue: what is told, what was asked last, and the lines to choose from."""

    def __init__(self, inputs: CustomerInputs, rng: np.random.Generator) -> None:
        if not isinstance(inputs._script, Script):
            raise TypeError("a simulated customer is given its script by the run")
        self.inputs, self.rng, self.script = inputs, rng, inputs._script
        self.style = set(self.script.style)
        self.own = [_plain(line.text) for line in inputs.history if line.who == "Customer"]
        self.agent = [line.text for line in inputs.history if line.who == "Agent"]
        self.last = self.agent[-1] if self.agent else ""
        self.facts = dict(enumerate(self.script.facts, 1))
        self.objected = [o for o in self.script.objections if any(_plain(o) in message for message in self.own)]

    def first(self) -> CustomerLine:
        parts = [] if "terse" in self.style and self.chance(0.6) else [self.line("greeting")]
        opening, tells = self.opening()
        parts.append(sentence(opening))
        # What the concern says by itself is not put in other words beside it, which may be about something else.
        now = [n for n, f in self.facts.items() if (f.delivery == "opening" and n not in tells) or (f.wrong and n == 1)]
        now = now[: 1 if self.script.level == "strong" else 2]
        parts += [self.state(n) for n in now]
        if "chatty" in self.style and not now:
            parts.append(self.aside(0.2))
        # It is told as well, unless it is first told wrongly.
        told = sorted({*now, *(n for n in tells if not self.facts[n].wrong)})
        return self.write(parts, told=told, why="I begin with my concern")

    def opening(self) -> tuple[str, tuple[int, ...]]:
        """A way to begin; one that gives away what is first told wrongly only where all do."""
        silent = [each for each in self.script.openings if not any(self.facts[n].wrong for n in each[1])]
        openings = silent or self.script.openings
        return openings[int(self.rng.integers(len(openings)))]

    def next(self) -> CustomerLine:
        asked = self.asked()
        due = [n for n in self.inputs.mistaken if asked == n or self.since(self.facts[n].wrong) >= 2]
        if due:
            parts = [self.line("correction"), self.state(due[0], right=True)]
            return self.write(parts, told=due[:1], back=due[:1], why="I noticed that I had it wrong")
        if asked is not None:
            return self.answer(asked)
        pending = [n for n in self.inputs.untold if n not in self.inputs.mistaken]
        if pending:
            # Nobody asked, so it comes of its own accord and without an answer's manner.
            return self.write([self.state(pending[0])], told=pending[:1], why="not asked, so I bring it up")
        return self.react()

    def answer(self, n: int) -> CustomerLine:
        fact = self.facts[n]
        if n in self.inputs.told and (said := self.said(n)):
            again = self.times_asked(n) > 1 and self.chance(0.5)
            parts = [self.line("asked_again" if again else "repeat"), sentence(self.one(said))]
            return self.write(parts, told=[n], why="told before")
        if fact.delivery == "second" and self.times_asked(n) < 2:
            return self.write([self.line("dodge")], withheld=[n], why="asked for the first time, so I hold it back")
        told = [n]
        if n in self.inputs.told:
            # The way in which it began said as much, and is now put in the words that come nearest to it.
            return self.write([self.lead(), sentence(self.nearest(n))], told=told, why="I say plainly how I began")
        if fact.feeling:
            # Nobody looks a feeling up, is sorry to have left it out or asks whether it was of use.
            return self.write([self.state(n)], told=told, why="I answer what was asked")
        parts = [self.lead(), self.state(n)]
        others = [o for o in self.inputs.untold if o != n and self.facts[o].delivery == "opening"]
        if others and self.script.level == "zero" and self.chance(0.5):
            parts.append(self.state(others[0]))
            told.append(others[0])
        else:
            parts.append(self.tail())
        return self.write(parts, told=told, why="I answer what was asked")

    def react(self) -> CustomerLine:
        fresh = [o for o in self.script.objections if o not in self.objected]
        if not any(ANNOUNCES.search(text) for text in self.agent):
            return self.write([self.line("vague")], why="nothing was asked and nothing said that will be done")
        if fresh and len(self.objected) < self.inputs.patience:
            hot = self.line("objecting") if self.script.voice == "strong" else ""
            return self.write([hot, sentence(self.one(fresh))], why="I come back on what the desk will do")
        end = self.line("grudging" if self.script.level == "strong" else "relief")
        return self.write([end, self.line("goodbye")], done=self.inputs.may_leave, why="nothing is left to say")

    def state(self, n: int, right: bool = False) -> str:
        """The fact in one of its wordings; wrongly where the customer has it wrong at first."""
        fact = self.facts[n]
        if fact.wrong and not right:
            return sentence(self.one(fact.wrong))
        text = sentence(self.one(fact.wordings))
        return f"{sentence(fact.denial)} {text}" if fact.denial else text

    def asked(self) -> int | None:
        """The fact that the agent's last message asks for, by the words that such a question has."""
        return _asked(self.last, self.facts)

    def said(self, n: int) -> list[str]:
        """The wordings of a fact that this customer has used: others of the same fact may differ in what they add."""
        return [w for w in self.facts[n].wordings if any(_plain(w) in message for message in self.own)]

    def nearest(self, n: int) -> str:
        """The wording that shares most words with the first message: one may ask for money, one for a flight."""
        begun = set(self.own[0].split())
        return max(self.facts[n].wordings, key=lambda wording: len(begun & set(_plain(wording).split())))

    def times_asked(self, n: int) -> int:
        return sum(_asked(text, self.facts) == n for text in self.agent)

    def since(self, texts: Sequence[str]) -> int:
        """How many own messages ago one of the texts was said; 0 where it was not."""
        at = [i for i, message in enumerate(self.own) if any(_plain(t) in message for t in texts)]
        return len(self.own) - at[0] if at else 0

    def lead(self) -> str:
        return self.line("lead") if self.chance(0.2 if "terse" in self.style else 0.45) else ""

    def tail(self) -> str:
        return self.line("tail") if self.chance(0.1 if "terse" in self.style else 0.25) else ""

    def aside(self, chance: float) -> str:
        fresh = [t for t in self.script.small_talk if _plain(t) not in " ".join(self.own)]
        return sentence(self.one(fresh)) if fresh and self.chance(chance) else ""

    def line(self, kind: str) -> str:
        return grammar.say(self.one(voice("customer_voice")[kind][self.script.voice]), self.rng, {})

    def one(self, lines: Sequence[str]) -> str:
        return lines[int(self.rng.integers(len(lines)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def write(
        self,
        parts: Sequence[str],
        *,
        told: Sequence[int] = (),
        withheld: Sequence[int] = (),
        back: Sequence[int] = (),
        done: bool = False,
        why: str,
    ) -> CustomerLine:
        """Join the parts as such a person types them, and not much longer than it would."""
        kept = [p for p in parts if p]
        # Facts stand behind greetings and before what follows them; what follows goes first when it gets too long.
        while len(kept) > 2 and not told and len(" ".join(kept).split()) > LONGEST:
            kept.pop()
        joined = ""
        for part in kept or ["Hello?"]:
            runs_on = joined.endswith((",", ":"))
            part = part[:1].lower() + part[1:] if runs_on and not _proper(part) else part
            joined += f" {part}" if not joined or joined[-1] in ".!?,:;" else f". {part}"
        text = grammar.tidy(joined).rstrip(",: ")
        text = text[:1].upper() + text[1:]
        if text[-1] not in ".!?":
            text += "."
        text = _sloppy(text, self.rng) if "sloppy" in self.style else text
        return CustomerLine(text, tuple(told), tuple(withheld), tuple(back), done, why=why)


def sentence(text: str) -> str:
    """The text with a full stop."""
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


def _asked(text: str, facts: dict[int, FactScript]) -> int | None:
    if "?" not in text:
        return None
    scored = [(topic_hits(text, fact.topic), -n) for n, fact in facts.items()]
    best = max(scored, default=(0, 0))
    return -best[1] if best[0] >= 2 else None
