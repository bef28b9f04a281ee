"""How simulated models speak and act for an agent: a grounded answer, tool calls; and how they judge one."""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from cxlab.benchmarks.cxmarena.prompts import AnswerInputs, JudgeInputs, Passage, ToolInputs
from cxlab.benchmarks.cxmarena.simulate import known, pick, turns, write
from cxlab.benchmarks.cxmarena.wording import content, sentences, values, word_set, words
from cxlab.llm.base import Completion
from cxlab.llm.simulated import Profile
from cxlab.records import ToolCall

PHRASES = {
    "en": {
        "open": ("Thanks for your question.", "I see what you mean.", "Let me help with that."),
        "refuse": ("I'm sorry, I don't have that information.", "I'm afraid I can't find anything on that here."),
        "promise": ("I will also make sure that you get a voucher for your next order.",),
        "ask": ("Could you give me the {} first?", "Before I do that, I need the {}."),
        "sure": ("Shall I go ahead and do that for you?",),
        "done": ("I'm taking care of that now.",),
    },
    "fr": {
        "open": ("Merci pour votre question.", "Je vois ce que vous voulez dire.", "Je vous aide volontiers."),
        "refuse": ("Je suis désolé, je n'ai pas cette information.", "Je ne trouve rien à ce sujet."),
        "promise": ("Vous recevrez en plus un bon pour votre prochaine commande.",),
        "ask": ("Pourriez-vous d'abord me donner : {} ?",),
        "sure": ("Voulez-vous que je m'en occupe ?",),
        "done": ("Je m'en occupe tout de suite.",),
    },
    "de": {
        "open": ("Danke für Ihre Frage.", "Ich verstehe, was Sie meinen.", "Dabei helfe ich gern."),
        "refuse": ("Es tut mir leid, diese Information habe ich nicht.", "Dazu finde ich hier leider nichts."),
        "promise": ("Außerdem erhalten Sie einen Gutschein für Ihre nächste Bestellung.",),
        "ask": ("Können Sie mir bitte zuerst Folgendes nennen: {}?",),
        "sure": ("Soll ich das für Sie erledigen?",),
        "done": ("Ich kümmere mich gleich darum.",),
    },
}
REFUSAL = re.compile(
    r"(?:don't|do not|cannot|can't|unable to|no) (?:\w+ ){0,2}(?:have|find|access|provide|information|anything)|not "
    r"(?:able|available in)|n'ai pas (?:cette|l')|ne trouve rien|pas d'information|information habe ich nicht|finde "
    r"ich (?:hier )?(?:leider )?nichts|leider keine",
    re.IGNORECASE,
)
COURTESY = re.compile(
    r"^(?:hello|hi|thanks?|thank you|i see|i understand|i'm sorry|let me help|sure|of course|great|you're welcome|is "
    r"there|anything else|please let|feel free|bonjour|merci|je (?:vois|comprends|vous aide)|bien sûr|n'hésitez|danke|"
    r"ich verstehe|dabei helfe|gerne|natürlich|guten tag|hallo)\b",
    re.IGNORECASE,
)
_TELLING = {
    "en": word_set("the is and you to of my have it"),
    "fr": word_set("le la les est et vous je pas une des mon ma"),
    "de": word_set("der die das ist und sie ich nicht ein eine mein"),
}


@functools.lru_cache(maxsize=4_000)
def language(text: str) -> str:
    """en, fr or de, by the most frequent of the small words."""
    counts = Counter(words(text))
    return max(_TELLING, key=lambda code: sum(counts[word] for word in _TELLING[code]))


def _last(transcript: str, who: str = "customer") -> str:
    return next((text for speaker, text in reversed(turns(transcript)) if speaker == who), "")


def answer(inputs: AnswerInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The sentences of the articles that share most words with what the customer asked; or that there is none."""
    phrases = PHRASES[language(inputs.transcript)]
    asked = {w for w in content(_last(inputs.transcript)) if known(profile, w, profile.comprehension)}
    context = {w for who, text in turns(inputs.transcript)[-6:] if who != "other" for w in content(text)}
    best: list[tuple[float, str, str]] = []
    for rank, passage in enumerate(inputs.passages):
        for sentence in sentences(passage.text):
            stems = set(content(sentence))
            if len(stems) < 4:
                continue  # headings say nothing
            worth = len(stems & asked) + profile.subtlety * 0.4 * len(stems & context)
            best.append((worth / math.sqrt(len(stems)) / (1 + 0.1 * rank), sentence, passage.id))
    best.sort(key=lambda one: -one[0])
    # Below this a sentence shares hardly more than a chance word with the question.
    if not best or (best[0][0] < 0.45 and rng.random() < profile.rule_following):
        return pick(phrases["refuse"], rng)
    chosen = [best[0][1]]
    if profile.words > 20:
        # More of the same article; another one would be about another thing.
        chosen += [sentence for _, sentence, source in best[1:6] if source == best[0][2]][:1]
    if rng.random() > profile.rule_following:
        chosen[0] = _misremember(chosen[0], rng)
    parts = [pick(phrases["open"], rng)] if profile.words > 20 else []
    parts += chosen
    if rng.random() < max(0.0, profile.eloquence - profile.rule_following):
        parts.append(pick(phrases["promise"], rng))
    return " ".join(parts)


def _misremember(sentence: str, rng: np.random.Generator) -> str:
    """The sentence with one number changed, as whoever answers from memory would; unchanged without a number."""
    numbers = list(re.finditer(r"\d+", sentence))
    if not numbers:
        return sentence
    at = numbers[int(rng.integers(len(numbers)))]
    changed = str(int(at[0]) + int(rng.integers(1, 9)))
    return sentence[: at.start()] + changed + sentence[at.end() :]


def judge(inputs: JudgeInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Each stated sentence is looked for in the right articles, then in the others."""
    facts = [s for s in sentences(inputs.response) if not COURTESY.match(s) and len(content(s)) >= 3]
    if REFUSAL.search(inputs.response) or not facts:
        verdict, reason = "refusal", "It gives no information."
    else:
        bar = 0.55 + 0.12 * profile.strictness
        homeless = [s for s in facts if not _borne_out(s, inputs.own, bar)]
        nowhere = [s for s in homeless if not _borne_out(s, inputs.other, bar)]
        if not homeless:
            verdict, reason = "correct", f"Borne out: {facts[0]}"
        elif nowhere:
            verdict, reason = "hallucinated", f"In no article: {nowhere[0]}"
        else:
            verdict, reason = "incorrect", f"From another article: {homeless[0]}"
        # A lenient judge lets one doubtful sentence pass among borne-out ones.
        if verdict == "hallucinated" and profile.strictness < 0 and len(nowhere) < len(facts):
            verdict = "correct" if len(homeless) == len(nowhere) else "incorrect"
        if verdict != "correct" and rng.random() < profile.self_preference * 0.3 and len(words(inputs.response)) > 40:
            verdict = "correct"  # taken in by its own style
    return write({"reason": reason, "verdict": verdict}, profile, rng, f"I would call this {verdict}.")


def _borne_out(sentence: str, passages: Sequence[Passage], bar: float) -> bool:
    stems, amounts = set(content(sentence)), {number for number, _ in values(sentence)}
    for passage in passages:
        for other in sentences(passage.text):
            there = set(content(other))
            if len(stems & there) >= bar * len(stems) and amounts <= {number for number, _ in values(other)}:
                return True
    return False


def tools(inputs: ToolInputs, profile: Profile, rng: np.random.Generator) -> str | Completion:
    """The tool whose name and description share most with the last messages and the article's step at hand."""
    phrases = PHRASES[language(inputs.transcript)]
    offered = [t.get("function", t) for t in inputs.tools]
    names = [str(t["name"]) for t in offered]
    order = _rank(offered, inputs, profile)
    calls: list[dict[str, Any]] = []
    message = pick(phrases["done"], rng)
    if order and (order[0][0] > 0 or inputs.forced):
        place = 1 if len(order) > 1 and rng.random() > profile.tool_skill else 0
        tool = offered[order[place][1]]
        arguments, lacking = _fill(tool, inputs.transcript, profile)
        if not inputs.forced and lacking and rng.random() < profile.rule_following:
            message = pick(phrases["ask"], rng).format(lacking[0].replace("_", " "))
        elif not inputs.forced and rng.random() < 0.5 * profile.eloquence * (1 - profile.tool_skill) + 0.05:
            message = pick(phrases["sure"], rng)  # talks first where it should act
        else:
            calls.append({"name": names[order[place][1]], "arguments": arguments})
    else:
        message = pick(phrases["sure"], rng)
    if inputs.as_text:
        return write({"calls": calls, "message": message}, profile, rng, message)
    made = tuple(
        ToolCall(id=f"call_{n}", name=c["name"], arguments=json.dumps(c["arguments"], ensure_ascii=False))
        for n, c in enumerate(calls, start=1)
    )
    return Completion(text="" if made else message, tool_calls=made)


def _rank(offered: Sequence[dict[str, Any]], inputs: ToolInputs, profile: Profile) -> list[tuple[float, int]]:
    described = [_about(str(t["name"]), str(t.get("description", ""))) for t in offered]
    counts = Counter(word for about in described for word in about)
    recent = [text for who, text in turns(inputs.transcript) if who != "other"][-4:]
    heard: dict[str, float] = {}
    for weight, texts in ((0.5, [p.text for p in inputs.articles]), (0.6, recent), (1.0, recent[-1:])):
        for text in texts:
            for word in content(text):
                if known(profile, word, profile.comprehension):
                    heard[word] = heard.get(word, 0.0) + weight if weight > 0.5 else max(heard.get(word, 0.0), weight)
    scores = []
    for number, about in enumerate(described):
        worth = sum(math.log(1 + len(offered) / counts[w]) * min(heard.get(w, 0.0), 2.0) for w in about)
        scores.append((worth / math.sqrt(len(about) or 1), number))
    return sorted(scores, key=lambda one: (-one[0], one[1]))


@functools.lru_cache(maxsize=4_000)
def _about(name: str, description: str) -> frozenset[str]:
    spaced = re.sub(r"[_\-]+|(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(content(f"{spaced} {description}"))


_SHAPES = tuple(
    (re.compile(name, re.IGNORECASE), re.compile(shape, flags))
    for name, shape, flags in (
        (r"e-?mail|courriel", r"[\w.+-]+@[\w-]+\.[\w.]+\w", 0),
        (r"phone|telefon|téléphone|mobile", r"\+?\d[\d ()/-]{6,}\d", 0),
        (
            r"date|\bday|datum|jour",
            r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
            re.IGNORECASE,
        ),
        (r"zip|postal|plz|postcode", r"\b\d{4,6}\b", 0),
        (
            r"number|_id\b|\bid\b|serial|code|order|account|reference|nummer|numéro|sku|ticket|invoice",
            r"\b(?=[A-Z0-9-]*\d)[A-Z0-9]+(?:-[A-Z0-9]+)*\b",
            0,
        ),
    )
)
# What follows "is", a colon or a preposition is most often the value.
_AFTER = re.compile(r"(?:\bis\b|:|\bat\b|\bfor\b|\bist\b|\best\b|\bto\b)\s+(?:an? |the )?([^.,;!?]{2,60})")


def _fill(tool: dict[str, Any], transcript: str, profile: Profile) -> tuple[dict[str, str], list[str]]:
    """Arguments found in the transcript, and the names of the required ones that were not."""
    shape = tool.get("parameters") or {}
    wanted = shape.get("properties") or {}
    required = shape.get("required") or []
    said = [text for who, text in turns(transcript) if who == "customer"]
    found: dict[str, str] = {}
    lacking = []
    for name, about in wanted.items():
        value = _value(str(name), about if isinstance(about, dict) else {}, said)
        if value and known(profile, f"{name}={value}", 0.5 + 0.5 * profile.tool_skill):
            found[str(name)] = value
        elif name in required:
            lacking.append(str(name))
    return found, lacking


def _value(name: str, about: dict[str, Any], said: Sequence[str]) -> str:
    options = about.get("enum")
    if isinstance(options, list):
        return next((str(o) for text in reversed(said) for o in options if str(o).lower() in text.lower()), "")
    for fits, shape in _SHAPES:
        if fits.search(name):
            hits = [hit for text in said for hit in shape.finditer(text)]
            return hits[-1][0] if hits else ""
    wanted = set(content(name.replace("_", " "))) | set(content(str(about.get("description", ""))))
    for text in reversed(said):
        for sentence in sentences(text):
            if wanted & set(content(sentence)):
                hit = _AFTER.search(sentence)
                return hit[1].strip() if hit else sentence.rstrip(".!?")
    return ""
