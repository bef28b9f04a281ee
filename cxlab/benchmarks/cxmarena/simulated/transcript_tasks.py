"""How simulated models do CXMArena's analytic tasks: from the rendered prompt alone, by plain means.

Words they know, overlaps of words, a table of what good service sounds like. A profile decides which
words it knows (for ever the same, so that what it misses is systematic), how much of a conversation it
keeps in mind, and how reliably it keeps to the form.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import (
    IntentInputs,
    NumberedMessage,
    QualityInputs,
    QueryInputs,
    VerifyInputs,
)
from cxlab.benchmarks.cxmarena.simulated import service_quality, topic_words
from cxlab.benchmarks.cxmarena.text import content, stem, word_set
from cxlab.llm.simulated import Profile, knows

SPEAKER = re.compile(r"^(\w[\w ]{0,20}):\s?", re.MULTILINE)
# The customer, however the transcript names it; ivr lines and tool results are nobody's.
CUSTOMER = re.compile(r"^(?:customer|user|client|cliente?|kunde|kundin)\b", re.IGNORECASE)
AGENT = re.compile(r"^(?:agent|representative|conseiller|conseillère|berater|beraterin|mitarbeiter)\b", re.IGNORECASE)

GENERAL = frozenset(
    map(stem, word_set("agent customer conversation representative clear question client conseiller kunde"))
)


def known(profile: Profile, word: str, share: float) -> bool:
    """Whether this profile knows a word: fixed for ever, so that what it misses is systematic."""
    return knows(profile.name, word, share)


_known = functools.lru_cache(maxsize=200_000)(known)


@functools.lru_cache(maxsize=4_000)
def turns(transcript: str) -> tuple[tuple[str, str], ...]:
    """(customer | agent | other, text) of each message of a transcript; continued lines belong to the one before."""
    marks = list(SPEAKER.finditer(transcript))
    found = []
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else len(transcript)
        who = "customer" if CUSTOMER.match(mark[1]) else "agent" if AGENT.match(mark[1]) else "other"
        found.append((who, transcript[mark.end() : end].strip()))
    return tuple(found) or (("customer", transcript.strip()),)


def write(reply: dict[str, Any], profile: Profile, rng: np.random.Generator, prose: str) -> str:
    """The reply as JSON; an unreliable writer now and then answers in prose or breaks off."""
    text = json.dumps(reply, ensure_ascii=False)
    if rng.random() < profile.format_reliability:
        return f"```json\n{text}\n```" if profile.format_reliability < 0.99 and rng.random() < 0.2 else text
    return prose if rng.random() < 0.6 else text[: max(1, int(len(text) * 0.8))]


def intent(inputs: IntentInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The label whose words weigh most in what the customer says, the first messages counting double."""
    pairs = tuple((c.label, c.description) for c in inputs.candidates)
    scores = match_labels(pairs, inputs.transcript, profile)
    order = np.argsort(-scores, kind="stable")
    best = int(order[0])
    if scores[best] <= 0:
        label = next(
            (c.label for c in inputs.candidates if re.search(r"\bother|autre|sonstig", c.label, re.I)), "Others"
        )
        reason = "Nothing in the list fits what was said."
    else:
        # Two labels that fit about as well: a reader without a feeling for shades takes either.
        close = len(order) > 1 and scores[order[1]] > 0.85 * scores[best]
        if close and rng.random() < 0.7 * (1 - profile.subtlety):
            best = int(order[1])
        label, reason = inputs.candidates[best].label, "It is what the customer came with."
    if rng.random() > profile.rule_following:
        label = _careless(label, rng)
    return write({"reason": reason, "intent": label}, profile, rng, f"The customer called about {label}.")


def _careless(label: str, rng: np.random.Generator) -> str:
    """A label not copied letter by letter."""
    kinds = [label.lower(), label.partition(":")[2] or f"{label} issue", label.replace(":", ": "), f'"{label}".']
    return kinds[int(rng.integers(len(kinds)))]


@functools.lru_cache(maxsize=64)
def _index(pairs: tuple[tuple[str, str], ...]) -> tuple[dict[str, list[tuple[int, float]]], np.ndarray[Any, Any]]:
    """Word → (label, weight), rare words weighing more and words of the label itself double; and each label's norm."""
    counts: Counter[str] = Counter()
    tokens = []
    for label, description in pairs:
        weights = dict.fromkeys(content(description), 1.0)
        weights.update(dict.fromkeys(content(label), 2.0))
        counts.update(weights.keys())
        tokens.append(weights)
    index: dict[str, list[tuple[int, float]]] = {}
    norms = np.ones(len(pairs))
    for number, weights in enumerate(tokens):
        rare = {word: weight * math.log(1 + len(pairs) / counts[word]) for word, weight in weights.items()}
        norms[number] = math.sqrt(sum(w * w for w in rare.values())) or 1.0
        for word, weight in rare.items():
            index.setdefault(word, []).append((number, weight))
    return index, norms


def match_labels(pairs: tuple[tuple[str, str], ...], transcript: str, profile: Profile) -> np.ndarray[Any, Any]:
    """How well each (label, description) fits what was said; 0 where none of its words was."""
    index, norms = _index(pairs)
    heard: dict[str, float] = {}
    said = [(who, text) for who, text in turns(transcript) if who != "other"]
    # What was said long ago fades for a reader who tires, except for one who holds on to first statements.
    begin = 0 if not profile.revision else max(0, len(said) - 6 * profile.fatigue)
    mine = 0
    for who, text in said[begin:]:
        mine += who == "customer"
        weight = (2.0 if mine <= 2 else 1.0) if who == "customer" else 0.3
        if not profile.revision and mine > 3:
            break
        for word in content(text):
            if word in index and _known(profile, word, profile.comprehension):
                heard[word] = max(heard.get(word, 0.0), weight)
    scores = np.zeros(len(pairs))
    for word, weight in heard.items():
        for number, worth in index[word]:
            scores[number] += weight * worth
    found: np.ndarray[Any, Any] = scores / np.sqrt(norms)
    return found


def verify(inputs: VerifyInputs, profile: Profile, rng: np.random.Generator) -> str:
    """A label holds when enough of its words, or of its description's, are in what the customer says."""
    heard = {w for who, text in turns(inputs.transcript) if who == "customer" for w in content(text)}
    label = set(content(inputs.label)) or {""}
    about = set(content(inputs.description)) - label
    seen = {w for w in label | about if w in heard and _known(profile, w, profile.comprehension)}
    share = len(seen & label) / len(label) + 0.5 * (len(seen & about) / len(about) if about else 0.0)
    holds = share >= 0.3 + 0.15 * profile.strictness
    reason = f"Heard: {', '.join(sorted(seen)[:6])}." if seen else "None of its words was said."
    return write({"reason": reason, "holds": holds}, profile, rng, "It seems to fit." if holds else "I doubt it.")


def quality(inputs: QualityInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Each question by the table of what good service sounds like; else by the words that it shares with the agent."""
    answers = []
    for number, question in enumerate(inputs.questions, start=1):
        answer, found = judge_quality(question, inputs, profile, rng)
        if rng.random() > profile.rule_following:
            answer = "Yes"  # whoever does not check tends to find things in order
        evidence = found[:5] if answer == "Yes" else []
        reason = (
            f"{'Line' if len(found) == 1 else 'Lines'} {', '.join(map(str, found[:5]))}."
            if found
            else "No line shows it."
        )
        answers.append({"question": number, "reason": reason, "answer": answer, "evidence": evidence})
    if rng.random() > profile.joint_conditions and len(answers) > 2:
        answers.pop()  # loses the last of several questions
    prose = " ".join(f"{a['question']}. {a['answer']}." for a in answers)
    return write({"answers": answers}, profile, rng, prose)


def judge_quality(
    question: str, inputs: QualityInputs, profile: Profile, rng: np.random.Generator
) -> tuple[str, list[int]]:
    """(Yes, No or NA; the lines that decide it). NA: a standard whose occasion was in no line, unless overlooked."""
    found = find_evidence(question, inputs, profile)
    sought = service_quality.find(question)
    if service_quality.REVERSED.search(question):
        return ("No" if found else "Yes"), found
    if found:
        return "Yes", found
    if "NA" in inputs.options and sought is not None and sought.occasion is not None:
        overlooked = rng.random() > profile.joint_conditions
        heard = lines_of(sought.occasion_of or "customer", inputs.lines)
        if not overlooked and not any(sought.occasion.search(line.text) for line in heard):
            return "NA", []
    return "No", []


def lines_of(who: str, lines: Sequence[NumberedMessage]) -> list[NumberedMessage]:
    """The lines of the customer or the agent."""
    pattern = CUSTOMER if who == "customer" else AGENT
    return [line for line in lines if pattern.match(line.who)]


def find_evidence(question: str, inputs: QualityInputs, profile: Profile) -> list[int]:
    """Lines that show what the question asks for, as far as this profile knows the words for it."""
    sought = service_quality.find(question)
    lines = lines_of(sought.who if sought else "agent", inputs.lines)
    if sought is None:
        wanted = {w for w in content(question) if w not in GENERAL and _known(profile, w, profile.comprehension)}
        need = min(2, len(wanted)) or 1
        return [line.id for line in lines if len(wanted & set(content(line.text))) >= need]
    near = lines[:2] if sought.where == "start" else lines[-6:] if sought.where == "end" else lines
    found = []
    for line in near:
        hit = sought.shown.search(line.text)
        if hit and _known(profile, hit[0].lower(), profile.comprehension):
            found.append(line.id)
    return found


def query(inputs: QueryInputs, profile: Profile, rng: np.random.Generator) -> str:
    """What the customer asked last and what of, without names, numbers and small talk; names misheard are mended.

    A question that only points back ("Why is that?") is about what the agent said before, and about the matter of the
    conversation, as far as the reader looks back.
    """
    said = [(who, text) for who, text in turns(inputs.transcript) if who != "other"]
    said = said[max(0, len(said) - 6 * profile.fatigue) :] or [("customer", inputs.transcript)]
    names = topic_words.people(inputs.transcript)
    looks_back = rng.random() < profile.subtlety
    question = topic_words.last_words(said)
    told = topic_words.things("\n".join(text for _, text in said), names)
    if looks_back:
        for name in topic_words.things(question, names):
            question = question.replace(name, topic_words.correct_misheard(name, told))
    named = {word for name in topic_words.things(question, names) for word in name.split()}
    # Names are copied; other words a reader may not know.
    found = [
        word
        for word in topic_words.terms(question, names)
        if word in named or _known(profile, stem(word.lower()), profile.comprehension)
    ]
    if looks_back and not named:
        # No product in the question: it is the one that they have been talking about.
        found += (Counter(told).most_common(1) or [("", 0)])[0][0].split()
        if len(found) < 5:
            agent = next((text for who, text in reversed(said) if who == "agent"), "")
            found += topic_words.terms(agent, names)[-6:]
            found += topic_words.gist(said, 4, names)
    if inputs.style == "question":
        about = [w for w in dict.fromkeys(found) if w not in question]
        return f"{question} ({' '.join(about)})" if about else question
    return " ".join(dict.fromkeys(found)) or question or "information"


def pick(options: Sequence[str], rng: np.random.Generator) -> str:
    """One of the options."""
    return options[int(rng.integers(len(options)))]
