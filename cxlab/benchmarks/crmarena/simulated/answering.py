"""How a stand-in finds the piece of an article that answers a question: the sentence that has most of its rare words,
and of that sentence what the question does not say. It knows no article and no answer beforehand."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\$?\d[\d,.]*\d%?|[A-Za-z0-9$%'-]*[A-Za-z0-9%]")
# A sentence ends with its full stop, a list's introduction with a colon.
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|(?<=[a-z\"]): ")
_STEP = re.compile(r"^\d+\. *")
_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "for",
        "and",
        "or",
        "is",
        "are",
        "was",
        "be",
        "been",
        "do",
        "does",
        "did",
        "i",
        "my",
        "me",
        "you",
        "your",
        "we",
        "our",
        "ours",
        "us",
        "it",
        "its",
        "this",
        "that",
        "these",
        "how",
        "what",
        "when",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "where",
        "can",
        "could",
        "may",
        "must",
        "will",
        "would",
        "should",
        "with",
        "from",
        "by",
        "at",
        "as",
        "if",
        "has",
        "have",
        "had",
        "their",
        "they",
        "them",
        "there",
        "then",
        "than",
        "so",
        "out",
        "up",
        "one",
        "into",
        "about",
        "each",
        "any",
        "every",
        "such",
        "customer",
        "customers",
        "agent",
        "agents",
        "company",
        "happens",
        "gets",
        "get",
    ]
)
_SUFFIX = re.compile(r"(?:ings?|ed|es|s|ly|e|er|ers)$")
_TIME = r"(?:business days?|working days?|days?|weeks?|months?|years?|hours?|minutes?)"
_LEAD = r"(?:within |up to |for |after |until )?"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
# What is asked → what an answer looks like. The first whose question fits decides.
_FIGURES: tuple[tuple[str, str], ...] = (
    (r"\bhow many|\bhow much room", r"\b\d[\d.,]*(?: [a-z]+){1,3}"),
    (
        r"\bhow (?:much|high)|\bcosts?\b(?!.*\brefund)|\bprice of\b|\bworth\b|\b(?:smallest|largest) (?:amount|gift)|"
        r"\bwhich (?:amount|balance|value|order value)|\bcredit (?:may|does)",
        rf"{_LEAD}\$\d[\d,]*|\d[\d.]*%",
    ),
    (r"\bhow large\b|\bpercent|\bis added\b", r"\d[\d.]*%|\$\d[\d,]*"),
    (
        r"\bhow (?:long|soon|old|fast)|\buntil (?:when|which)|\bwhich age|\bhow many days|\bfrom which age",
        rf"{_LEAD}\d+ {_TIME}(?: of age)?|{_LEAD}(?:{_MONTHS}) \d+",
    ),
    (r"\bafter how\b", rf"{_LEAD}\d+ [a-z]+(?: days?)?"),
    (r"^when\b|\bhow much notice", rf"{_LEAD}\d+ {_TIME}(?: (?:before|after|of) [a-z]+(?: [a-z]+)?)?"),
)
_YES_OR_NO = re.compile(r"(?:can|may|must|does|do|is|are|will|should) ", re.I)
_DENIES = re.compile(r"\b(?:not|never|no|nobody|nothing|neither|only|cannot|without|free)\b", re.I)
_REASON = re.compile(r"\b(?:because|since|so that) (.+)", re.I)
_TIMES = re.compile(r"\b(?:when|as soon as|until|on the day|once|after) .+", re.I)
_LEADS = frozenset({"in", "on", "at", "by", "to", "from", "with", "inside", "until", "for", "as", "within"})
_JOINS = frozenset({"and", "also", "too", "not"})
_CLAUSE = re.compile(
    r"(?:because|if|when|so that)\b|"
    r"(?:and|but|so|since|which|who|it|they|we|the|as|or) (?:\w+ )?(?:is|are|was|has|it|they|we|can)\b",
    re.I,
)
# Between these the parts of a sentence stand.
_PART = re.compile(
    r", (?=(?:and|but|or|so|since|which|who|it|they|we|the) )|\b(?:, )?(?:but|because|since|when|if) |; "
)


def root(word: str) -> str:
    """A word without its ending."""
    plain = word.lower().replace("'s", "").strip("'-")
    short = _SUFFIX.sub("", plain) if len(plain) > 4 else plain.removesuffix("s") if len(plain) == 4 else plain
    return short[:-1] if len(short) > 3 and short[-1] == short[-2] else short


@functools.lru_cache(maxsize=2000)
def roots(text: str) -> tuple[str, ...]:
    """The roots of the words that say something."""
    return tuple(root(word) for word in _WORD.findall(text) if word.lower() not in _STOP)


def weigh(texts: Sequence[str]) -> dict[str, float]:
    """How much each root tells one of the texts from the others."""
    seen = Counter(name for text in texts for name in set(roots(text)))
    return {name: math.log(1 + len(texts) / count) for name, count in seen.items()}


def find_answer(question: str, title: str, body: str) -> str:
    """The piece of a text that answers a question; "None" where the text is empty."""
    sentences = [_STEP.sub("", each).strip(" .") for each in _SENTENCE.split(body)]
    sentences = [each for each in sentences if len(each) > 8]
    if not sentences:
        return "None"
    asked, weights = set(roots(question)), weigh(sentences)
    told = set(roots(title))
    figure = next((looks for wanted, looks in _FIGURES if re.search(wanted, question, re.I)), None)

    def worth(place: int) -> float:
        # What stands in the title is what the whole text is about.
        names = set(roots(sentences[place])) & asked
        found = sum(weights[name] * (0.5 if name in told else 1) for name in names)
        if place:
            before = set(roots(sentences[place - 1])) & asked - names
            found += 0.25 * sum(weights[name] * (0.5 if name in told else 1) for name in before)
        if figure and re.search(figure, sentences[place]):
            found += 1.2
        return found

    best = sentences[max(range(len(sentences)), key=worth)]
    if figure and (spans := list(re.finditer(figure, best))):
        return _cut(min(spans, key=lambda span: _distance(best, span, asked)).group(), asked)
    if _YES_OR_NO.match(question):
        return _say_yes_or_no(best, asked)
    if re.match(r"why\b", question, re.I) and (reason := _REASON.search(best)):
        return reason[1]
    if re.match(r"when\b", question, re.I) and (time := _TIMES.search(best)):
        return time.group()
    places = bool(re.match(r"where|to whom", question, re.I))
    return _find_new_part(best, asked, places, places or bool(re.match(r"how|when|for which|until", question, re.I)))


def _distance(sentence: str, span: re.Match[str], asked: set[str]) -> float:
    """How far words of the question are from a part of a sentence; nearer still where they are in it."""
    inside = any(root(word) in asked for word in _WORD.findall(span.group()))
    places = [found.start() for found in _WORD.finditer(sentence) if root(found.group()) in asked]
    middle = (span.start() + span.end()) / 2
    return (min((abs(place - middle) for place in places), default=99.0)) - 40 * inside


def _cut(figure: str, asked: set[str]) -> str:
    """A figure with its unit, and what else of it the question names."""
    words = figure.split()
    number = next((n for n, word in enumerate(words) if re.match(r"\$?\d", word)), 0)
    if words[number].startswith("$") or words[number].endswith("%") or re.search(_TIME, figure):
        return figure
    end = number + 2
    while end < len(words) and (root(words[end]) in asked or root(words[end - 1]) not in asked):
        if not any(root(word) in asked for word in words[end:]):
            break
        end += 1
    return " ".join(words[:end])


def _say_yes_or_no(sentence: str, asked: set[str]) -> str:
    """The part of a sentence that affirms or denies."""
    parts = [part.strip(" ,") for part in _PART.split(sentence)]
    parts = [part for part in parts if len(part) > 3] or [sentence]
    return max(parts, key=lambda part: len(set(roots(part)) & asked) + bool(_DENIES.search(part)))


def _find_new_part(sentence: str, asked: set[str], place: bool, keeps_lead: bool) -> str:
    """The stretch of a sentence with most to say that the question does not have; a place begins with a preposition."""
    stretches: list[list[re.Match[str]]] = [[]]
    last = 0
    for found in _WORD.finditer(sentence):
        between, last = sentence[last : found.start()], found.end()
        known = root(found.group()) in asked and found.group().lower() not in _STOP
        if known or _begins_clause(between, sentence[found.start() :]):
            stretches.append([])
        if not known:
            stretches[-1].append(found)
    trimmed = [_trim(stretch, keeps_lead) for stretch in stretches]

    def worth(words: list[re.Match[str]]) -> int:
        leads = bool(words) and words[0].group().lower() in _LEADS
        return sum(word.group().lower() not in _STOP for word in words) + 5 * (place and leads)

    best = max(trimmed, key=worth)
    return sentence[best[0].start() : best[-1].end()] if best else sentence


def _begins_clause(between: str, rest: str) -> bool:
    """Whether another clause begins behind what stands between two words."""
    return bool(re.search(r"[;:()]", between) or ("," in between and _CLAUSE.match(rest)))


def _trim(words: list[re.Match[str]], keeps_lead: bool) -> list[re.Match[str]]:
    """Words without the small ones at both ends; a place or a time keeps the preposition before it."""
    small = _STOP | _JOINS
    while words and words[0].group().lower() in (small - _LEADS if keeps_lead else small):
        words = words[1:]
    while words and words[-1].group().lower() in small:
        words = words[:-1]
    return words
