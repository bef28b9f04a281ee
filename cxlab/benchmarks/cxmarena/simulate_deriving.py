"""How simulated models derive and check tasks: names from the issues' own words, checks by words and values.

A check looks for something that must be there: the label's words in what the customer says, a sentence that holds
the asked property with a value, an article on the customer's matter, a line that shows the standard.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from cxlab.benchmarks.cxmarena import standards
from cxlab.benchmarks.cxmarena.deriving import (
    AdjudicateInputs,
    AnswerableInputs,
    NameInputs,
    QuestionInputs,
    RelevantInputs,
    ReviewInputs,
    SupportInputs,
)
from cxlab.benchmarks.cxmarena.matter import last_words, mend, people, terms, things
from cxlab.benchmarks.cxmarena.prompts import QualityInputs
from cxlab.benchmarks.cxmarena.simulate import (
    find_evidence,
    judge_quality,
    known,
    lines_of,
    match_labels,
    turns,
    write,
)
from cxlab.benchmarks.cxmarena.wording import content, sentences, statement
from cxlab.llm.simulated import Profile, grammar

LEADS = {
    "English": (
        "(Hi, |Quick question: |I was wondering: |Before I order: |Please tell me: |Just checking: |)<question>"
    ),
    "French": "(Bonjour, |Petite question : |Avant de commander : |Dites-moi : |Je me demandais : |)<question>",
    "German": "(Hallo, |Kurze Frage: |Vor dem Kauf: |Bitte um Auskunft: |Ich wüsste gern: |)<question>",
}


# A label that fits nearly half as well as the best one may be a matter of view.
FAR = 0.4


def name(inputs: NameInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The issues that most customers of the cluster call about, with their products where neighbours share them."""
    titles: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    for member in inputs.members:
        titles[member.title] += 1 + member.conversations
        groups[member.group] += 1 + member.conversations
    leading = [title for title, _ in titles.most_common(2)]
    called = " / ".join(leading)
    called = called[:1].upper() + called[1:]
    shared = any(other.startswith(f"{title} (") for title in leading for other in inputs.taken)
    if not inputs.l1 and (shared or len(groups) == 1):
        called += f" ({', '.join(group for group, _ in groups.most_common(2))})"
    about = "; ".join(title for title, _ in titles.most_common(6))
    where = ", ".join(group for group, _ in groups.most_common(6))
    description = f"{about} ({where})" + (f": {', '.join(inputs.terms)}" if inputs.terms else "")
    reply = {"name": called, "description": description}
    return write(reply, profile, rng, f"I would call it {called}.")


def question(inputs: QuestionInputs, profile: Profile, rng: np.random.Generator) -> str:
    """One of the ways in which customers ask for each thing; without one, the subject and what is asked of it."""
    asked = []
    for fact in inputs.facts:
        one = fact.questions[int(rng.integers(len(fact.questions)))] if fact.questions else f"{fact.aspect}?"
        asked.append(one if inputs.subject.lower() in one.lower() else f"{inputs.subject}: {one}")
    lead = LEADS.get(inputs.language, "<question>")
    said = grammar.say(lead, rng, {"question": " ".join(asked)})
    return write({"question": said}, profile, rng, said)


def supported(inputs: SupportInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The label stands when its words were said, and no other label of the taxonomy fits far better."""
    pairs = tuple((one.label, one.description) for one in inputs.taxonomy)
    scores = match_labels(pairs, inputs.transcript, profile)
    own = max(
        (float(score) for (label, _), score in zip(pairs, scores, strict=True) if label == inputs.label), default=0
    )
    best = int(np.argmax(scores)) if len(scores) else 0
    holds = own > 0 and own >= (FAR + 0.1 * profile.strictness) * scores[best]
    reason = "Its words were said." if own > 0 else "None of its words was said."
    if not holds and len(pairs) and scores[best] > own:
        reason = f"{pairs[best][0]} fits better."
    return write({"reason": reason, "supported": bool(holds)}, profile, rng, reason)


# What kind of value a question asks for, by its words; the first that fits.
ASKED: tuple[tuple[str, str], ...] = (
    (r"weigh|heavy|scales|poids|pès|lourd|wieg|schwer|gewicht", r"\d\s?k?g\b"),
    (
        r"\bcosts?\b|price|instalment|\bfees?\b|prix|coût|mensualit|frais|kost|preis|\brate\b|\braten?\b|gebühr",
        r"[£€$]",
    ),
    (r"\bwhen\b|since|\bdate|launch|\bquand|depuis|\bwann|\bseit\b", r"\d{4}|\d{1,2}[:.h]\s?\d{0,2}"),
    (r"percent|share|saving|\bsave\b|discount|pour cent|remise|prozent|anteil|rabatt", r"\d\s?%"),
    (r"loud|noise|bruit|laut", r"\d\s?dB"),
    (r"how far|reach|range|portée|reichweite", r"\d\s?(?:m|km|metres?|mètres?|Meter)\b"),
    (r"wide|width|tall|deep|largeur|hauteur|breit|hoch|tief", r"\d\s?(?:mm|cm|m)\b"),
    (r"\bhow long|\bhow (?:do i|does one) reset|combien de temps|\bdurée|wie lange", r"\d"),
    (r"\bhow\b|combien|\bwie\s?(?:viel|oft|groß)", r"\d"),
)


def answerable(inputs: AnswerableInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Each question of the query needs a sentence of its own: on the thing, with what is asked for, or its words."""
    told = [s for s in sentences(inputs.passage.text) if not s.endswith("?")]
    about = set(content(told[0])) if told else set()
    # What stands before a colon opens the question and is no part of it.
    asked = [s.rpartition(": ")[2] for s in sentences(inputs.query) if "?" in s]
    quotes = [_find_answer(one, told[1:], about, profile) for one in asked]
    holds = bool(quotes) and all(quotes)
    answer = " ".join(quotes) if holds else ""
    return write({"answer": answer, "answerable": holds}, profile, rng, answer or "The article does not say.")


def _find_answer(asked: str, told: Sequence[str], about: set[str], profile: Profile) -> str:
    """The sentence that shares most words with a question and holds a value of the kind that it asks for; or "".

    It must be on the thing that the question names: by its own words or by the article's title.
    """
    # Behind a greeting the question's own first word has a capital, too.
    asked = re.sub(r"^\w+, ", "", asked)
    names = {w for name in statement(asked).names for w in content(name)}
    wanted = {w for w in content(asked) if w not in names and known(profile, w, profile.comprehension)}
    kind = next((shape for words, shape in ASKED if re.search(words, asked, re.IGNORECASE)), None)
    best, quote = 0.0, ""
    for sentence in told:
        stems = set(content(sentence))
        # German has capitals on every noun, so most of them will do.
        near = len(names & (stems | about)) > 0.5 * len(names) or not names
        if not near or (kind is not None and not re.search(kind, sentence)):
            continue
        shared = len(wanted & stems)
        # A value of a kind that is all its own (a weight, a price) answers without a word in common.
        worth = shared + 0.5 * len(names & stems) + (0.6 if kind not in (None, r"\d") else 0.0)
        if worth > best and worth >= 1.0 + 0.2 * profile.strictness:
            best, quote = worth, sentence
    return quote


def relevant(inputs: RelevantInputs, profile: Profile, rng: np.random.Generator) -> str:
    """An article is on the matter when it is about the thing in question and holds what was asked of it; where the
    question only points back ("Why is that?"), the thing of the conversation and what the agent said before."""
    said = [(who, text) for who, text in turns(inputs.transcript) if who != "other"]
    talk = "\n".join(text for _, text in said)
    names = people(inputs.transcript)
    text = spell_out(inputs.passage.text, talk)
    told = things(talk, names)
    question = last_words(said)
    for name in things(question, names):
        question = question.replace(name, mend(name, [*told, *things(text)]))
    named = things(question, names)
    asked = _weigh(terms(question, names), profile)
    held = _held(asked, text)
    need = 0.4 + 0.1 * profile.strictness
    holds = _share(held, asked) >= need and (_is_on(named, text) if named else sum(asked[w] for w in held) > 1)
    if not holds and not named:
        # What an article is about is said at its head.
        head = sentences(spell_out("\n".join(sentences(text)[:4]), talk))
        most = max(Counter(told).values(), default=0)
        named = [name for name in dict.fromkeys(told) if told.count(name) == most]
        before = _weigh(terms(next((text for who, text in reversed(said) if who == "agent"), ""), names), profile)
        title = max((_title(line, talk) for line in head), default=0.0)
        back = _held(before, text)
        holds = (not named or _is_on(named, "\n".join(head))) and (_share(back, before) >= need or title >= 0.6)
        held |= back if holds else set()
    reason = f"In common: {', '.join(sorted(held)[:6])}." if held else "It is about something else."
    return write({"reason": reason, "relevant": bool(holds)}, profile, rng, reason)


def _title(line: str, talk: str) -> float:
    """Which share of a title's words was said; nothing for a line of one word, which may be the publisher's."""
    words = set(content(line))
    return len(_held(words, talk)) / len(words) if len(words) > 1 else 0.0


def _share(held: Iterable[str], wanted: Mapping[str, float]) -> float:
    return sum(wanted[w] for w in held) / sum(wanted.values()) if wanted else 0.0


def _is_on(names: Iterable[str], text: str) -> bool:
    """Whether a text has one of the names, if need be but for one word, which may have been misheard."""
    words = [set(content(name)) for name in names]
    return any(len(_held(one, text)) >= max(1, len(one) - (len(one) > 2)) for one in words if one)


def _weigh(found: Iterable[str], profile: Profile) -> dict[str, float]:
    """The stems that this reader knows; words with a capital count double, as a question is about them."""
    return {
        part: 2.0 if word[:1].isupper() else 1.0
        for word in found
        for part in content(word.replace("-", " "))
        if known(profile, part, profile.comprehension)
    }


def _held(wanted: Iterable[str], text: str) -> set[str]:
    """The stems that a text has; longer ones also inside its words, as German joins them."""
    there, whole = set(content(text)), text.lower()
    return {w for w in wanted if w in there or (len(w) > 4 and w in whole)}


_NAMED = re.compile(r"(?:\b[^\W\d_a-zà-ÿ][\w'’-]* ?){2,5}")


def spell_out(text: str, transcript: str) -> str:
    """The article's text with the names from the conversation of which it holds only the initials."""
    found = []
    for run in set(_NAMED.findall(transcript)):
        parts = run.split()
        for size in range(2, len(parts) + 1):
            for start in range(len(parts) - size + 1):
                some = parts[start : start + size]
                if re.search(rf"\b{re.escape(''.join(part[0] for part in some))}\b", text):
                    found.append(" ".join(some))
    return "\n".join([text, *sorted(set(found))])


def review(inputs: ReviewInputs, profile: Profile, rng: np.random.Generator) -> str:
    """As in the task itself; sure of what a line shows, and that the first or last lines lack something; less sure
    that a whole conversation does; guessing at unknown standards."""
    asked = QualityInputs(lines=inputs.lines, questions=inputs.questions)
    answers = []
    for number, one in enumerate(inputs.questions, start=1):
        answer, found = judge_quality(one, asked, profile, rng)
        sought = standards.find(one)
        bounded = sought is not None and sought.where != "any"
        sure = 1 if sought is None else 5 if found else 4 if bounded and answer == "No" else 3
        reason = f"Lines {', '.join(map(str, found[:5]))}." if found else "No line shows it."
        evidence = found[:5] if answer == "Yes" else []
        answers.append(
            {"question": number, "reason": reason, "answer": answer, "evidence": evidence, "confidence": sure}
        )
    return write({"answers": answers}, profile, rng, "It was all in order.")


def adjudicate(inputs: AdjudicateInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Lines that show the standard, or its contrary, settle it; that none does settles nothing, words being many."""
    asked = QualityInputs(lines=inputs.lines, questions=(inputs.question,))
    sought = standards.find(inputs.question)
    found = find_evidence(inputs.question, asked, profile)[:5] if sought else []
    broken = sought.broken if sought else None
    against = [line.id for line in lines_of("agent", inputs.lines) if broken and broken.search(line.text)]
    answer, reason = "unclear", "No line settles it."
    if found or against:
        shown = bool(found) != bool(standards.REVERSED.search(inputs.question))
        answer, reason = ("Yes" if shown else "No"), f"Line {(found or against)[0]} settles it."
    reply = {"reason": reason, "evidence": found if answer == "Yes" else [], "answer": answer}
    return write(reply, profile, rng, reason)
