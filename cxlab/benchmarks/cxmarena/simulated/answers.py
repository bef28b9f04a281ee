"""How simulated models speak for an agent: a grounded answer; and how they judge one."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import AnswerInputs, JudgeInputs, Passage
from cxlab.benchmarks.cxmarena.simulated.transcript_tasks import known, pick, turns, write
from cxlab.benchmarks.cxmarena.text import content, sentences, values, word_set, words
from cxlab.llm.simulated import Profile

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
