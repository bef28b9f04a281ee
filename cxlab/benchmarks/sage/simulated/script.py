"""What a simulated customer is given beside its card: words for each fact, ways to begin, things to come back on."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.customer_card import mood_of
from cxlab.benchmarks.sage.rules import Scenario
from cxlab.benchmarks.sage.simulated.check_phrases import guides
from cxlab.benchmarks.sage.simulated.phrases import NO_FIELD, NO_OPTION, phrases_of
from cxlab.benchmarks.sage.simulated.signal_reader import FieldSignals, ReaderSkill, read
from cxlab.files import grammar

SAMPLE_WORDINGS = 4
MANNERS = {"plain": "says", "heated": "heated", "indirect": "oblique", "says": "says", "oblique": "oblique"}
OPENINGS = ("I have a matter for you: <title>", "it is about this: <title>", "I need your help: <title>")
OBJECTIONS = {
    "zero": ("When will that happen?", "Do I get a note about it?", "Is there anything else I have to do?"),
    "weak": ("Why is that so?", "What comes after that?", "Is that certain?", "Who checks that it is done right?"),
}


@dataclass(frozen=True)
class FactScript:
    """One fact in words: four wordings of it, how it comes out, what is denied or said wrongly first; whether it is how
    the customer feels."""

    field: str
    delivery: str
    topic: tuple[str, ...]
    wordings: tuple[str, ...]
    denial: str = ""
    wrong: tuple[str, ...] = ()
    feeling: bool = False


@dataclass(frozen=True)
class Script:
    """A customer's lines. `voice` is the level whose manner it has: who is hostile in cold blood sounds doubtful."""

    level: str
    voice: str
    style: tuple[str, ...]
    openings: tuple[tuple[str, tuple[int, ...]], ...]
    """Each with the numbers of the facts that it tells by itself."""
    small_talk: tuple[str, ...]
    objections: tuple[str, ...]
    facts: tuple[FactScript, ...]


def draw_script(s: Scenario, inputs: Mapping[str, Any], rng: np.random.Generator) -> Script:
    """The script of one sample: drawn from the scenario's phrase bank, or plain where it has none."""
    known = phrases_of(s)
    slots = {**inputs["slots"], **{k: str(v) for k, v in inputs["system"].items()}}
    intent = s.intents[inputs["intent"]]
    level, mood = inputs["level"], mood_of(s, inputs["facts"])
    cold = level == "strong" and mood == "calm"

    def some(lines: Sequence[str], count: int) -> tuple[str, ...]:
        """Up to `count` different wordings, from different lines as long as there are some."""
        if not lines:
            return ()
        order = rng.choice(len(lines), size=len(lines), replace=False, p=_chances(tuple(lines)))
        found: dict[str, None] = {}
        for index in range(count):
            found[grammar.say(lines[order[index % len(lines)]], rng, slots)] = None
        return tuple(found)

    facts = []
    for fact in inputs["facts"]:
        spec = known.fields.get(fact["field"], NO_FIELD)
        option = spec.options.get(fact["value"], NO_OPTION)
        other = spec.options.get(fact["wrong"], NO_OPTION) if fact["wrong"] is not None else NO_OPTION
        wording = "says" if cold and fact["wording"] == "heated" else MANNERS[fact["wording"]]
        facts.append(
            FactScript(
                field=fact["field"],
                delivery=fact["delivery"],
                topic=spec.topic,
                wordings=some(getattr(option, wording) or option.says, SAMPLE_WORDINGS),
                denial=next(iter(some(other.denies, 1)), "") if fact["delivery"] == "contrast" else "",
                wrong=some(other.says, 2) if fact["delivery"] == "corrected" else (),
                feeling=s.fields[fact["field"]].emotion,
            )
        )
    reading = _reading(s)
    openings = known.intents[inputs["intent"]].openings if inputs["intent"] in known.intents else ()
    asked = known.talk.objections or OBJECTIONS
    # Whoever is hostile asks what others ask, only not in their tone.
    objections = asked.get(level) or (*asked.get("weak", ()), *asked.get("zero", ()))
    begins = some(openings or [line.replace("<title>", intent.title.lower()) for line in OPENINGS], 3)
    return Script(
        level=level,
        voice="weak" if cold else level,
        style=s.personalities[inputs["personality"]].style,
        openings=tuple((line, _tells(reading, line, inputs["facts"])) for line in begins),
        small_talk=some(known.talk.small_talk, 3),
        objections=some(objections, inputs["patience"] + 2),
        facts=tuple(facts),
    )


@functools.lru_cache(maxsize=64)
def _reading(s: Scenario) -> tuple[FieldSignals, ...]:
    """The fields of a scenario as its own phrases tell them."""
    return guides(s, phrases_of(s))


@functools.lru_cache(maxsize=2_000)
def _chances(lines: tuple[str, ...]) -> np.ndarray:
    """How likely each line is drawn: one that can be said in few ways less often, or its wordings would be heard again
    and again."""
    weights = np.array([min(grammar.variants(line), 36) for line in lines], dtype=float)
    chances: np.ndarray = weights / weights.sum()
    return chances


def _tells(reading: Sequence[FieldSignals], line: str, facts: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """The numbers of the facts that a line makes plain to a reader who knows every wording."""
    found = read(reading, [line], ReaderSkill("all"))
    told = {name: value for name, (value, evidence) in found.items() if evidence is not None}
    return tuple(
        n for n, fact in enumerate(facts, 1) if fact["field"] in told and same(told[fact["field"]], fact["value"])
    )
