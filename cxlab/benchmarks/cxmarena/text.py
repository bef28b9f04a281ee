"""How text is taken apart where no model reads it: words, sentences, values; English, French, German."""

from __future__ import annotations

import functools
import html
import re
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
# "15. Juli" is one date, not the end of a sentence.
_MONTHS = "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
_SENTENCE = re.compile(rf"(?<=[.!?])\s+(?!(?<=\d\.\s)(?:{_MONTHS})\b)(?=[^\W\d_a-zà-ÿ]|\d|[\"'«„(])|\n+")
# What a browser does not show in the page: a title in its head is said once more in a heading.
_HIDDEN = re.compile(r"<(script|style|title)\b.*?(?:</\1\s*>|\Z)|<!doctype\b[^>]*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(/?)(\w+)[^<>]*>")
# An underscore inside a word belongs to it (a tool's name); at its edge it is emphasis.
_SIGNS = re.compile(r"[*`]{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)")
_RULE = re.compile(r"^[\s|:+=-]*$")
_NUMBER = re.compile(r"(?P<before>[$€£])?\s?(?P<number>\d+(?:[.,  ]\d{3})*(?:[.,]\d+)?)\s?(?P<unit>%|[$€£]|[^\W\d_]+)?")


def word_set(text: str) -> frozenset[str]:
    """The words of a line, as a set."""
    return frozenset(text.split())


STOP = word_set(
    """
    a about above after again all also am an and any are as at be because been before being below both but by can
    could did do does doing down during each few for from further had has have having he her here hers him his how i
    if in into is it its just me more most my no nor not now of off on once only or other our out over own please
    same she should so some such than that the their them then there these they this those through to too under
    until up very was we were what when where which while who whom why will with would you your yours us im ive
    hello hi hey thanks thank okay ok yes
    au aux avec ce ces cet cette dans de des du elle elles en est et eu il ils je la le les leur leurs lui ma mais me
    mes moi mon ne nos notre nous on ou où par pas plus pour qu que qui sa sans se ses si son sont sur ta te tes toi
    ton tu un une vos votre vous y à être avoir ai as avez était bonjour merci oui non
    aber alle als am an auch auf aus bei bin bis da damit das dass dein dem den der des die dies diese dieser doch du
    durch ein eine einem einen einer es für gegen habe haben hat hatte hier ich ihm ihn ihr ihre im in ist ja kann
    mein meine mich mir mit nach nein nicht noch nur ob oder ohne sehr sein seine sich sie sind so um und uns unser
    unter vom von vor war was wenn wer wie wir wird wurde zu zum zur über danke hallo bitte
    """
)
NEGATION = word_set(
    "not no never cannot without don't doesn't isn't aren't won't pas jamais aucun aucune sans nicht kein keine keinen "
    "keiner nie niemals ohne non"
)
# Words that no text of a language does without, and of which the others have few.
SMALL = {
    "en": word_set(
        "the and of for with our we is are to a from your you at by it an or as on that they their this have i my "
        "what can will not be there"
    ),
    "fr": word_set(
        "le la les des de et pour avec nos nous est sont en dans une un du au aux par sur qui vous votre je que ce "
        "pas il elle mon ma ne"
    ),
    "de": word_set(
        "der die das und für mit wir ist sind ein eine aus im zu von auf bei den dem ich sie nicht es ihre ihr mein "
        "meine wie auch noch wird haben"
    ),
}
# "un" and "ein" are articles far more often than numbers.
_COUNT_WORDS = """
    one|two deux zwei|three trois drei|four quatre vier|five cinq fünf|six sechs|seven sept sieben|eight huit acht|
    nine neuf neun|ten dix zehn|eleven onze elf|twelve douze zwölf
"""
COUNTS = {word: str(number) for number, alike in enumerate(_COUNT_WORDS.split("|"), start=1) for word in alike.split()}


class Statement(NamedTuple):
    """One sentence of an article: what it is about, what it says of it, and with which values."""

    text: str
    names: frozenset[str]
    template: frozenset[str]
    values: frozenset[tuple[str, str]]
    negated: bool


def words(text: str) -> list[str]:
    """The words in small letters."""
    return WORD.findall(text.lower().replace("’", "'"))


def foreign(text: str, language: str) -> bool:
    """Whether a text is plainly written in another of the languages; what is short or mixed is not."""
    said = words(text)
    counts = {name: sum(word in small for word in said) for name, small in SMALL.items()}
    own = counts.pop(language)
    return max(counts.values()) > 3 * own + 3


def stem(word: str) -> str:
    """A crude stem: the same for most inflections of one word in the three languages."""
    if len(word) <= 4:
        return word
    for ending in ("ements", "ement", "ungen", "ings", "ung", "ing", "ies", "ern", "ed", "es", "en", "er", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


@functools.lru_cache(maxsize=20_000)
def content(text: str) -> tuple[str, ...]:
    """The stems of the words that carry meaning, in order."""
    return tuple(stem(word) for word in words(text) if word not in STOP and (len(word) > 1 or word.isdigit()))


@functools.lru_cache(maxsize=20_000)
def bare(text: str) -> str:
    """Text without markup: tags, scripts, Markdown signs; a table's row becomes "first: second; third"."""
    text = _HIDDEN.sub(" ", text)
    text = _TAG.sub(_break, text)
    lines = []
    for line in html.unescape(text).splitlines():
        if _RULE.match(line):
            continue
        line = re.sub(r"^\s*(?:[#>]+|[-*•]\s|\d+[.)]\s)\s*", "", line)
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) > 1:
            line = f"{cells[0]}: {'; '.join(cell for cell in cells[1:] if cell)}"
        lines.append(_SIGNS.sub("", line).strip())
    return "\n".join(line for line in lines if line)


def _break(match: re.Match[str]) -> str:
    name = match[2].lower()
    if name in ("td", "th"):
        return " | " if match[1] else " "
    return "\n" if name in ("p", "br", "li", "tr", "div", "h1", "h2", "h3", "h4", "ul", "ol", "table") else " "


@functools.lru_cache(maxsize=20_000)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text without markup."""
    return tuple(part.strip() for part in _SENTENCE.split(bare(text)) if part and part.strip())


@functools.lru_cache(maxsize=50_000)
def values(text: str) -> frozenset[tuple[str, str]]:
    """(number, unit) of each quantity; a unit is a sign, or the stem of the word that follows."""
    found = set()
    counted = WORD.sub(lambda m: COUNTS.get(m[0].lower(), m[0]), text)
    for match in _NUMBER.finditer(counted):
        start = match.start("number")
        if start and (counted[start - 1].isalpha() or counted[start - 1] in "-_"):
            continue  # part of a name, such as X-200
        unit = match["before"] or match["unit"] or ""
        found.add((normal(match["number"]), stem(unit.lower())))
    return frozenset(found)


def normal(number: str) -> str:
    """One form of a number, whichever signs part its thousands and decimals."""
    digits = re.sub(r"[  ]", "", number)
    digits = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", digits).replace(",", ".")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


@functools.lru_cache(maxsize=100_000)
def statement(text: str) -> Statement:
    """A sentence taken apart; its names are the capitalised words inside it and words with digits."""
    names: set[str] = set()
    tokens = [match[0] for match in WORD.finditer(text)]
    for place, token in enumerate(tokens):
        inner = token[1:] != token[1:].lower() or (any(map(str.isdigit, token)) and any(map(str.isalpha, token)))
        follows = place + 1 < len(tokens) and tokens[place + 1][:1].isupper()
        if token.lower() not in STOP and (inner or (token[:1].isupper() and (place > 0 or follows))):
            names.add(token.lower())
    found = values(text)
    numbers = {number for number, _ in found}
    template = frozenset(
        stem(word)
        for word in words(text)
        if word not in STOP and word not in names and word not in COUNTS and not word[:1].isdigit()
    )
    return Statement(text, frozenset(names), template - numbers, found, any(word in NEGATION for word in words(text)))


@functools.lru_cache(maxsize=8_000)
def statements(text: str) -> dict[frozenset[str], list[Statement]]:
    """The statements of an article that name something, by the names in them."""
    grouped: dict[frozenset[str], list[Statement]] = {}
    for sentence in sentences(text):
        one = statement(sentence)
        if one.names and (one.values or one.template):
            grouped.setdefault(one.names, []).append(one)
    return grouped


def differences(first: str, second: str, alike: float = 0.4) -> list[tuple[str, str]]:
    """Sentences of two articles that say different things of the same thing, as (first's, second's).

    Two sentences speak of the same thing when they hold the same names; of the same property when their other
    words overlap (Jaccard) by `alike`. They differ when quantities of one unit differ and none is shared; or,
    for sentences that are otherwise nearly the same, when one denies what the other says or one word was put
    in another's place. What an article implies by its title alone is not seen.
    """
    found = []
    mine, theirs = statements(first), statements(second)
    for names in mine.keys() & theirs.keys():
        for a in mine[names]:
            for b in theirs[names]:
                if _differ(a, b, alike):
                    found.append((a.text, b.text))
    return found


def _differ(a: Statement, b: Statement, alike: float) -> bool:
    union = len(a.template | b.template)
    shared = len(a.template & b.template)
    overlap = shared / union if union else 1.0
    if overlap < alike:
        return False
    if a.values or b.values:
        units = {unit for _, unit in a.values} & {unit for _, unit in b.values}
        ours = {v for v in a.values if v[1] in units}
        others = {v for v in b.values if v[1] in units}
        return bool(units) and ours != others and (not ours & others or overlap > 0.8)
    if a.negated != b.negated:
        return overlap > 0.7 and shared >= 2
    return shared >= 3 and len(a.template - b.template) == 1 == len(b.template - a.template)
