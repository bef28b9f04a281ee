"""How stand-ins put a plan into words: the acts of a message, each said by a line of the language's phrase grammar.

A sentence that was said in this conversation before is not said again as long as other wordings are left, and a
customer types as its persona does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import load_language
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.conversations.phrasebook import Phrasebook, PhraseVars
from cxlab.benchmarks.cxmarena.text import word_set

# How often a trait's own wording is taken where there is one, and how often a sentence said before is said anew.
OWN, TRIES = 0.65, 10
Act = tuple[str, Mapping[str, str]]
"""The kind of one thing that a message does, and what it is about by name."""
# Each kind with the names of what it is about.
AGENT_ACTS = """
    greet introduce wellbeing offer_help name empathy apology restate:summary ask_model ask_since ask_place ask_tried
    ask_before ask_hurry ask_name no_rush thank_answer cause:cause why:cause plan instruct:step do:step later:step
    warn:step ask_step:step ask_open:step request:step tell_step:step offer_step:step explain_how:step brush_off:step
    alternative insist reason understanding verify verified ask_detail:what ask_wish:what hold call:step hold_thanks
    report:result fact:fact promise keep_promise:fact move_on wrap calm curt jargon next_steps:next
    settled not_settled further_help closing end
"""
CUSTOMER_ACTS = """
    hello open:problem well help_me tell_name:full tell_model:detail tell_since:detail tell_place:detail
    tell_tried:detail tell_before:detail tell_hurry:detail confirm plausible agree patient take_note
    identity:full:second give:what:value give_own:what:value give_number:value give_home:what:value
    give_day:what:value prefer:value choose:value noted search done answer_step answer_open answer_own:answer
    answer_money answer_reason answer_bother answer_where answer_when answer_who will_do send ask_how misunderstand
    now_clear cannot accept ask_why wait react_report ask_fact:question ask_late:question react_fact impatient
    complain resigned solved sorted unsolved thanks no_more one_more bye
"""
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
    "move_on": 0.6,
    "wrap": 0.7,
    "next_steps": 0.3,
    "calm": 0.5,
    "curt": 0.4,
}
# German first words that are no nouns, so that they are written small inside a sentence.
_SMALL_DE = word_set(
    """
    ich wir es das der die den dem was wie wann wo worum womit welches welche seit können könnten würden
    haben ist war wäre darf dürfte dafür für um im in auf aus von bei hier dann bitte nun jetzt einen geben
    lassen wenn bevor damit zu erzählen sagen schildern beschreiben gehen arbeiten vermutlich soweit nach
    mit alles gibt kann also so gut folgendes laut übrigens einfach weil wissen entschuldigen dürfen da
    danke vielen herzlichen besten nennen auch hat ein eine unter mein zur zum entweder wer sehr
    fein prima okay machen bis laut gute folgende nachdem zusammengefasst kurz bitte höchstwahrscheinlich hatten
    würde dürfte sieht verstanden gern selbst jemand
    """
)
# German words of polite address: capital inside a sentence, too.
_POLITE_DE = frozenset(("Sie", "Ihr", "Ihre", "Ihren", "Ihrem", "Ihrer", "Ihnen"))
# What an act is about, where it is a clause: German begins it with a capital after a colon.
_CLAUSES = ("problem", "question", "fact", "cause", "summary", "result", "step", "answer")
# A question that ends before its sentence does: "can that be changed?, and I am lost".
_ASKED = re.compile(r"\?\s*[,–].*$")
# "Done – what else?" before a question of one's own.
_AND_NOW = re.compile(r"(?:,| –) [^,–]*\?$")


def acts(listed: str) -> dict[str, tuple[str, ...]]:
    """Kind → the names of what it is about, of `AGENT_ACTS` or `CUSTOMER_ACTS`."""
    parts = [word.split(":") for word in listed.split()]
    return {kind: tuple(about) for kind, *about in parts}


def agent(person: Persona, talk: Phrasebook, todo: Sequence[Act], history: str, rng: np.random.Generator) -> str:
    """An agent's message: its acts as sentences, in order."""
    names = {
        "brand": person.brand.name, "agent": person.agent, "customer": person.customer, "subject": person.subject
    }  # fmt: skip
    given = {**names, "subject": person.ledger.in_text(person.subject)}
    said = _say(talk, talk.agent, todo, (), given, history, rng)
    return _join([kind for kind, _ in todo], said, talk.language, tuple(names.values()), rng)


def customer(person: Persona, talk: Phrasebook, todo: Sequence[Act], history: str, rng: np.random.Generator) -> str:
    """A customer's message: short for the terse, typed without care by the casual."""
    named = person.ledger.in_text(person.subject)
    given = {"brand": person.brand.name, "customer": person.customer, "subject": named, **person.life}
    said = _say(talk, talk.customer, todo, person.traits, given, history, rng)
    if not person.casual:
        return " ".join(said)
    if rng.random() < 0.7 and talk.language != "de":
        said = [_small(s, person.subject) for s in said]
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
            dashed = " – " in text[-90:] or " – " in sentence
            sign = (" – ", "; ")[int(rng.random() * 2)] if not dashed else "; "
            first = re.split(r"[\s,:;’']", sentence, maxsplit=1)[0]
            if language == "de" and first.lower() not in _SMALL_DE and first not in _POLITE_DE:
                text = f"{text} {sentence}"  # a noun keeps its capital; what looks like a new sentence is one
                continue
            if first != "I" and first not in _POLITE_DE and not first[1:2].isupper():
                sentence = sentence[:1].lower() + sentence[1:]
            text = text[:-1] + (sign.replace("; ", "\u00a0; ") if language == "fr" else sign) + sentence
        else:
            text = f"{text} {sentence}" if text else sentence
    return text


def _say(
    talk: Phrasebook,
    lines: Mapping[str, Sequence[str]],
    todo: Sequence[Act],
    traits: Sequence[str],
    given: Mapping[str, str],
    history: str,
    rng: np.random.Generator,
) -> list[str]:
    language = load_language(talk.language)
    found: list[str] = []
    for kind, about in todo:
        if kind == "help_me" and found and found[-1].endswith("?"):
            continue  # it has been asked for
        options = lines[kind]
        for trait in traits:
            own = lines.get(f"{kind}.{trait}")
            if own and rng.random() < OWN:
                options = own
                break
        words = PhraseVars(talk, rng, {**given, **about})
        text = ""
        for _ in range(TRIES):
            text = language.polish(_close(_set(words.line(options), talk.language, about)))
            if text[:-1].casefold() not in history.casefold():
                break
        value = about.get("value", "")
        if re.search(r"[\d@]", value) and text[:1] == value[:1].upper() and text[1 : len(value)] == value[1:]:
            text = value + text[len(value) :]  # a value is said as it is, at the beginning of a sentence too
        if kind in ("ask_fact", "one_more") and found:
            found[-1] = _AND_NOW.sub(".", found[-1])
        found.append(text)
    return [text for text in found if text]


def _set(text: str, language: str, about: Mapping[str, str]) -> str:
    """A clause that was filled in may end a sentence by a question, or begin one after a colon."""
    if about.get("problem", "").endswith("?"):
        text = _ASKED.sub("?", text)
    if language == "de":
        for name in _CLAUSES:
            clause = about.get(name, "")
            if clause and f": {clause}" in text:
                text = text.replace(f": {clause}", f": {clause[:1].upper()}{clause[1:]}")
    return text


def _close(text: str) -> str:
    text = text.rstrip()
    if not text or text[-1] in ".?!…":
        return text
    return re.sub(r"[,;:–-]+$", "", text).rstrip() + "."
