"""How simulated models talk: the acts of a message, each said by a line of the language's phrase grammar.

A handler sees what its prompt renders. It never says a sentence that was said in this conversation before, as long
as other wordings are left, and it types as its persona does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from cxlab.benchmarks.cxmarena.brand import load_language
from cxlab.benchmarks.cxmarena.talk import Talk, Words, load
from cxlab.benchmarks.cxmarena.talking import Act, AgentInputs, CustomerInputs
from cxlab.benchmarks.cxmarena.wording import word_set
from cxlab.llm.simulated import Profile

# How often a trait's own wording is taken where there is one, and how often a sentence said before is said anew.
OWN, TRIES = 0.65, 4
# Kinds of acts that run on into what follows, and how often.
RUN_ON = {
    "greet": 0.5,
    "introduce": 0.6,
    "thank_answer": 0.75,
    "apology": 0.3,
    "empathy": 0.3,
    "name": 0.4,
    "verified": 0.5,
    "plan": 0.5,
    "hold": 0.75,
    "hold_thanks": 0.75,
    "drift_reply": 0.6,
    "move_on": 0.6,
    "wrap": 0.7,
    "next_steps": 0.3,
    "calm": 0.5,
    "curt": 0.4,
}
# German first words that are no nouns, so that they are written small inside a sentence.
_SMALL_DE = word_set(
    """
    ich wir sie es das der die den dem was wie wann wo worum womit welches welche seit können könnten würden
    haben ist war wäre darf dürfte dafür für um im in auf aus von bei hier dann bitte nun jetzt einen geben
    lassen wenn bevor damit zu erzählen sagen schildern beschreiben gehen arbeiten vermutlich soweit nach
    mit alles gibt kann also so gut folgendes laut übrigens einfach weil wissen ihre entschuldigen dürfen da
    danke vielen herzlichen besten nennen auch hat ein eine unter mein zur zum entweder verzeihung wer sehr
    fein prima okay machen bis laut gute folgende nachdem
    """
)
# French sets a space before these signs, which `tidy` takes for a slip.
_SIGNS = re.compile(r"(?<=[\w»)’])([:;?!])(?=\s|$)")


def agent(inputs: AgentInputs, profile: Profile, rng: np.random.Generator) -> str:
    """An agent's message: its acts as sentences, in order."""
    talk = load(inputs.language_id)
    given = {"brand": inputs.brand, "agent": inputs.agent, "customer": inputs.customer, "subject": inputs.subject}
    said = _say(talk, talk.agent, inputs.acts, (), given, inputs.history, rng)
    kinds = [act.kind for act in inputs.acts]
    return _join(kinds, said, talk.language, (inputs.brand, inputs.customer, inputs.subject, inputs.agent), rng)


def customer(inputs: CustomerInputs, profile: Profile, rng: np.random.Generator) -> str:
    """A customer's message: short for the terse, typed without care by the casual."""
    talk = load(inputs.language_id)
    given = {"brand": inputs.brand, "customer": inputs.customer, "subject": inputs.subject, **inputs.life}
    said = _say(talk, talk.customer, inputs.acts, inputs.traits, given, inputs.history, rng)
    if not inputs.casual:
        return " ".join(said)
    if rng.random() < 0.7 and inputs.language_id != "de":
        said = [_small(s, inputs.subject) for s in said]
    text = " ".join(said)
    return text[:-1] if text.endswith(".") and rng.random() < 0.7 else text


def _small(text: str, name: str) -> str:
    """As typed without care; names and codes stay as they are."""
    if text.startswith(name) or text[1:2].isupper() or text[:2] in ("I ", "I'") or re.match(r"\S*\d", text):
        return text
    return text[:1].lower() + text[1:]


def _join(
    kinds: Sequence[str], said: Sequence[str], language: str, names: tuple[str, ...], rng: np.random.Generator
) -> str:
    """The sentences of a message; a short one often runs on into the next, as people type."""
    text = ""
    for place, sentence in enumerate(said):
        before = kinds[place - 1] if place else ""
        if text.endswith(".") and rng.random() < RUN_ON.get(before, 0.0) and not sentence.startswith(names):
            sign = (" – ", "; ")[int(rng.random() * 2)] if " – " not in text[-90:] else "; "
            first = sentence.split(" ", 1)[0]
            small = (
                first.lower().rstrip(",:") in _SMALL_DE
                if language == "de"
                else first not in ("I", "I'll", "I'm", "I'd", "I've")
            )
            if small and not first[1:2].isupper():
                sentence = sentence[:1].lower() + sentence[1:]
            text = text[:-1] + sign + sentence
        else:
            text = f"{text} {sentence}" if text else sentence
    return text


def _say(
    talk: Talk,
    lines: Mapping[str, Sequence[str]],
    acts: Sequence[Act],
    traits: Sequence[str],
    given: Mapping[str, str],
    history: str,
    rng: np.random.Generator,
) -> list[str]:
    language = load_language(talk.language)
    found = []
    for act in acts:
        options = lines[act.kind]
        for trait in traits:
            own = lines.get(f"{act.kind}.{trait}")
            if own and rng.random() < OWN:
                options = own
                break
        words = Words(talk, rng, {**given, **act.about})
        text = ""
        for _ in range(TRIES):
            text = language.polish(_close(words.line(options)))
            if talk.language == "fr":
                text = _SIGNS.sub("\u00a0\\1", text)
            if text[:-1] not in history:
                break
        value = act.about.get("value", "")
        if value and text[:1] == value[:1].upper() and text[1 : len(value)] == value[1:]:
            text = value + text[len(value) :]  # a value is said as it is, at the beginning of a sentence too
        found.append(text)
    return [text for text in found if text]


def _close(text: str) -> str:
    text = text.rstrip()
    if not text or text[-1] in ".?!…":
        return text
    return re.sub(r"[,;:–-]+$", "", text).rstrip() + "."
