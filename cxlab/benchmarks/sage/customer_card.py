"""What a customer is told before the first message, and what it has told so far by its own account.

The card depends on the sample, the trial and the seed and on nothing else: every model meets the same customer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.procedures.sop_text import in_words
from cxlab.benchmarks.sage.prompts.scenario_prompts import CustomerInputs, Fact
from cxlab.benchmarks.sage.rules import FieldSpec, Intent, Scenario
from cxlab.files import grammar
from cxlab.records import Message

LANGUAGES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "nl": "Dutch",
    "pt": "Portuguese", "pl": "Polish",
}  # fmt: skip
# In the third person, as the descriptions of scenario files are, to which they are joined.
STYLES = {
    "chatty": "likes to talk",
    "terse": "uses few words",
    "formal": "writes whole, correct sentences",
    "sloppy": "types fast, in small letters and with a slip here and there",
    "doubting": "takes no promise at its word",
}
# Attitude by level, and by whether the customer's card says how it feels: calm, upset, or nothing about it.
ATTITUDES = {
    ("zero", ""): "cooperative. You are friendly and clear and want what the desk can give.",
    ("zero", "calm"): "cooperative. You are friendly and clear and want what the desk can give.",
    ("zero", "upset"): "cooperative, though the matter itself has upset you: you are polite to the person at the desk.",
    ("weak", ""): "questioning. You are reasonable but doubtful: you want reasons and do not offer everything at once.",
    ("weak", "calm"): "questioning. You are even-tempered but doubtful: you want reasons and do not offer everything "
    "at once.",
    ("weak", "upset"): "questioning. You are upset about the matter and doubtful of the desk: you want reasons and do "
    "not offer everything at once.",
    ("strong", ""): "adversarial. You are impatient and hostile in tone, you push, and you give facts reluctantly. You "
    "are sharp about what the desk really says and does in this talk.",
    (
        "strong",
        "calm",
    ): "adversarial, in cold blood. You bargain hard, press for exceptions and give facts reluctantly, "
    "but nothing upsets you: no anger, no shouting, no threats.",
    ("strong", "upset"): "adversarial. You are angry about the matter and hostile in tone, you push, threaten to "
    "complain and give facts reluctantly. You are sharp about what the desk really says and does in this talk.",
}
HOW = {
    "opening": "Say it in your first or second message",
    "asked": "Say it when you are asked about it, or later of your own accord",
    "second": "When you are first asked about it, hold it back; say it the second time, or later of your own accord",
    "contrast": "When it comes up, first rule out the other thing",
    "corrected": "You have got this one wrong at first",
    # Of what their concern rests on people do not believe the contrary, but they may misspeak.
    "misspoken": "At first you misspeak, so that anybody would take you to mean this",
}
MANNERS = {
    "plain": "Put it plainly.",
    "heated": "Put it sharply.",
    "indirect": "Put it indirectly, by what it means for you, but so that it can be understood.",
}
# How wordings were called in datasets made before.
_OLDER = {"says": "plain", "oblique": "indirect"}


def make_card(
    s: Scenario, inputs: Mapping[str, Any], system: dict[str, str], rng: np.random.Generator, language: str = "en"
) -> CustomerInputs:
    """The card of one sample; `system` is what the customer may know of the back end."""
    slots = {**inputs["slots"], **{name: str(value) for name, value in inputs["system"].items()}}
    intent = s.intents[inputs["intent"]]
    person = s.personalities[inputs["personality"]]
    mood = mood_of(s, inputs["facts"])

    def say(text: str) -> str:
        return grammar.say(text, rng, slots)

    facts = []
    for fact in inputs["facts"]:
        spec = s.fields[fact["field"]]
        how = how_of(s, fact, mood, say, intent)
        facts.append(Fact(truth=say(truth_of(spec, fact["field"], fact["value"])), how=how))
    manner = "; ".join([person.description, *(STYLES[style] for style in person.style if style in STYLES)])
    return CustomerInputs(
        role=s.role,
        intent=intent.title,
        background=" ".join(map(say, intent.background)),
        goal=intent.goal,
        personality=f"{manner}.",
        attitude=ATTITUDES[inputs["level"], mood],
        system=system,
        facts=tuple(facts),
        usual=_usual(fact.how for fact in facts),
        patience=inputs["patience"],
        language=LANGUAGES[language],
        untold=tuple(range(1, len(facts) + 1)),
    )


def _usual(hows: Iterable[str]) -> str:
    """The way in which most facts come out, told once; none where no two come out alike."""
    (how, count), *_ = Counter(hows).most_common(1) or [("", 0)]
    return how if count > 1 else ""


def mood_of(s: Scenario, facts: Iterable[Mapping[str, Any]]) -> str:
    """ "calm" or "upset" where a fact says so, else ""."""
    for fact in facts:
        spec = s.fields[fact["field"]]
        if spec.emotion:
            return "calm" if same(fact["value"], spec.default) else "upset"
    return ""


def truth_of(spec: FieldSpec, name: str, value: Any) -> str:
    """A fact in the second person; made from the description where the file has no words of the customer's own.

    Nothing of ours stands in between, as the file may be in another language.
    """
    option = spec.options[value]
    if option.customer:
        return option.customer
    called = "" if isinstance(value, bool) else f"{in_words(str(value))}. "
    told = option.description.rstrip(".")
    return f"{in_words(name).capitalize()}: {called}{told[:1].upper()}{told[1:]}."


def how_of(s: Scenario, fact: Mapping[str, Any], mood: str, say: Any, intent: Intent) -> str:
    """How a fact comes out, in words that fit the customer's mood and concern."""
    delivery = fact["delivery"]
    how = HOW[delivery]
    if fact["wrong"] is not None and delivery in ("contrast", "corrected"):
        other = say(truth_of(s.fields[fact["field"]], fact["field"], fact["wrong"])).rstrip(".")
        if delivery == "contrast":
            how += f', namely this: "{other}"'
        elif _contradicts(s, intent, fact["field"], fact["wrong"]):
            how = f'{HOW["misspoken"]}: "{other}". Do so when it comes up; two messages later you notice and correct it'
        else:
            how += (
                f' and believe this: "{other}". Say so when it comes up; two messages later you notice and correct it'
            )
    wording = _OLDER.get(fact["wording"], fact["wording"])
    manner = MANNERS["plain" if wording == "heated" and mood == "calm" else wording]
    return f"{how}. {manner}"


def _contradicts(s: Scenario, intent: Intent, field: str, value: Any) -> bool:
    """Whether nobody with this concern could hold a field to have this value."""
    return field in intent.when and not s.meets(field, value, intent.when[field])


@dataclass(frozen=True)
class ToldFacts:
    """What a customer has told by its own account, by number of the fact.

    A fact that the customer first has wrong is `mistaken` from when it was told until it is taken back.
    """

    told: frozenset[int] = frozenset()
    mistaken: frozenset[int] = frozenset()

    def untold(self, count: int) -> tuple[int, ...]:
        """Facts that the customer has not told yet, or has told wrongly."""
        return tuple(n for n in range(1, count + 1) if n not in self.told or n in self.mistaken)


def told_until(
    facts: Sequence[Mapping[str, Any]], messages: Iterable[Message], turn: int | None = None
) -> ToldFacts | None:
    """What was told up to a turn's customer message; None where a message holds no report of it."""
    told: set[int] = set()
    right: set[int] = set()
    slips = {n for n, fact in enumerate(facts, 1) if fact["delivery"] == "corrected" and fact["wrong"] is not None}
    for message in messages:
        if message.role != "customer" or (turn is not None and message.turn > turn):
            continue
        if "told" not in message.data:
            return None
        known = range(1, len(facts) + 1)
        now = {n for n in message.data["told"] if n in known}
        back = {n for n in message.data.get("taken_back", ()) if n in known}
        right |= back
        told |= now | back
    return ToldFacts(frozenset(told), frozenset((slips & told) - right))


def fields_told(facts: Sequence[Mapping[str, Any]], told: ToldFacts) -> dict[str, Any]:
    """Field → value as the customer has told it so far, mistakes included."""
    return {
        fact["field"]: fact["wrong"] if n in told.mistaken else fact["value"]
        for n, fact in enumerate(facts, 1)
        if n in told.told
    }
