"""Sentences of two articles that cannot both be right, told by plain means: the same matter, and an unlike figure, date
or time, or one denies what the other says.

    unlike_sentences(first, second)    # [("A refund takes five days.", "Refunds take ten days."), ...], likeliest first

No brand is in it: the words are general English, French and German.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from cxlab.benchmarks.cxmarena.evaluation.claims import TOKEN, Names, find_figures, find_names, spell_counts
from cxlab.benchmarks.cxmarena.simulated import property_lexicon
from cxlab.benchmarks.cxmarena.text import COUNTS, NEGATION, STOP, sentences, stem, word_set

# Least words of the matter in common, more where one of the two says "it", for what that is stands in another sentence;
# and which part they have to be: of the shorter sentence's words, or of both's where one denies.
LEAST, LEAST_OF_IT = 2, 4
PART, PART_OF_FEW, PART_DENIED = 0.5, 0.65, 0.6
_PRONOUN = re.compile(r"\W*(?:it|they|this|these|he|she|er|sie|es|il|elle|ils|elles)\b", re.IGNORECASE)
# One length of time in different units; a year is 365 days, and what differs by less than this part is the same.
_HOURS = {
    "minut": 1 / 60, "hour": 1, "stund": 1, "heur": 1, "day": 24, "tag": 24, "jour": 24, "week": 168, "woch": 168,
    "semain": 168, "month": 730, "monat": 730, "mois": 730, "year": 8760, "jahr": 8760, "an": 8760, "anné": 8760,
}  # fmt: skip
_ALIKE = 0.05
# "One" counts where a length of time follows; "a week" is as often a rate.
_ONE = re.compile(
    r"\b(?:one|eine[nmr]?|une?)(?= (?:day|week|month|year|hour|tag|woche|monat|jahr|jour|semaine|mois|an)\b)",
    re.IGNORECASE,
)


def _root(word: str) -> str:
    """One form of more inflections than `stem` takes: "cancel" and "cancelled", "class" and "classes"."""
    short = stem(word)
    while short != word:
        word, short = short, stem(short)
    return re.sub(r"(.)\1$", r"\1", short.rstrip("yi")) if len(short) > 3 else short


# Verbs and nouns that go with any figure and do not say what it is of.
_NEUTRAL = frozenset(
    _root(word)
    for word in word_set(
        """
        cost costs charge charged pay pays paid price fee take takes last lasts need needs require requires expect reach
        reaches arrive arrives come comes get gets make makes give gives go goes keep kept store stored delete deleted
        begin begins start starts end ends run runs expire expires valid open opens close closes within least most
        free usually
        normally always about around roughly allow allowed possible available request able up working business
        coûte coûtent payer comptez gratuit gratuite arrive dure durer faut prend possible ouvrés valable sous
        kostenlos gratis kostet kosten zahlen zahlt dauert dauern beträgt braucht gilt möglich innerhalb binnen etwa
        """
    )
)
_DAYS = word_set(
    "monday tuesday wednesday thursday friday saturday sunday weekday weekend holiday montag dienstag mittwoch"
    " donnerstag freitag samstag sonntag werktag feiertag lundi mardi mercredi jeudi vendredi samedi dimanche"
)
# A rule for some cases only says nothing of the others.
_CONDITION = re.compile(
    r"\b(?:if|when|once|unless|except|only|from|over|above|under|below|after|before|until|during|otherwise|instead|wenn"
    r"|falls|sobald|nur|ab|über|unter|bis|außer|si|dès|sauf|seulement|lorsque|quand)\b",
    re.IGNORECASE,
)
_WHOLE, _PART = (
    re.compile(r"\b(?:full|whole|ganze\w*|volle\w*|entier|totalité)\b", re.I),
    re.compile(r"\b(?:half|part|hälfte|halbe\w*|teil|moitié|partie)\b", re.I),
)
# "Without" says how, which another sentence may leave out.
_DENIES = (NEGATION | word_set("nobody nothing none nowhere niemand nichts nirgends personne rien")) - word_set(
    "without ohne sans"
)
_WITHOUT = re.compile(r"\b(?:without|ohne|sans) (?:(?:an?|the|eine?n?|der|die|das|une?|les?|la) )?([^\W\d_]+)", re.I)
_NEEDS = re.compile(r"\b(?:needs?|requires?|required|must|nötig|braucht|brauchen|muss|müssen|faut|nécessaire)\b", re.I)
# By which time a price is: monthly and yearly ones are two prices.
_RATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:daily|(?:a|per|each|every|pro|par|am) (?:day|tag|jour)|täglich\w*|quotidien\w*)\b",
        r"\b(?:weekly|(?:a|per|each|every|pro|par|in der|die) (?:week|woche|semaine)|wöchentlich\w*|hebdomadaire)\b",
        r"\b(?:monthly|(?:a|per|each|every|pro|par|im) (?:month|monat|mois)|monatlich\w*|monats\w+|mensuel\w*)\b",
        r"\b(?:yearly|annual\w*|(?:a|per|each|every|pro|par|im) (?:year|jahr|an)|jährlich\w*|jahres\w+|annuel\w*)\b",
    )
)
_CASE = re.compile(
    r"\W*(?:after|before|if|when|once|while|during|for|in|on|with|wenn|nach|vor|bei|für|mit|si|après|avant|pour|lors"
    r"|avec)\b[^,:]*,",
    re.IGNORECASE,
)
# What is said in passing by a pair of words instead of a "not": one of each denies the other.
_OPPOSITES = tuple(
    (re.compile(rf"\b(?:{one})\b", re.IGNORECASE), re.compile(rf"\b(?:{other})\b", re.IGNORECASE))
    for one, other in (
        (r"free|no (?:extra )?(?:charge|cost|fee)|gratis|kostenlos|gratuit\w*|offert\w*",
         r"costs?|pays?|(?<!of )charge[ds]?|fee|extra|kostet|coûte|payant\w*"),
        (r"open|geöffnet|ouvert\w*", r"closed|shut|geschlossen|fermé\w*"),
        (r"always|every|immer|toujours", r"never|nie|jamais"),
        (r"optional|voluntary|freiwillig|facultati\w+", r"compulsory|mandatory|required|must|pflicht|obligatoire"),
        (r"allowed|permitted|welcome|erlaubt|permis\w*", r"forbidden|prohibited|verboten|interdit\w*"),
    )
)  # fmt: skip


class _Said(NamedTuple):
    """A sentence: its words in order, those of the matter, those that go with any, its names, its values by unit with
    the lowest and highest, and its weekdays.
    """

    text: str
    tokens: tuple[str, ...]
    matter: frozenset[str]
    neutral: frozenset[str]
    names: frozenset[str]
    values: dict[str, tuple[frozenset[str], float, float]]
    days: frozenset[str]


@functools.lru_cache(maxsize=5_000)
def unlike_sentences(first: str, second: str) -> tuple[tuple[str, str], ...]:
    """The sentences that do not agree, those with most of their words in common first.

    Kept, because every model that is run is asked of the same pairs.
    """
    names = find_names({"1": first, "2": second}, least=1, opening=True)
    mine, theirs = (
        [_read(one, names) for one in sentences(text)[1:] if not one.endswith("?")] for text in (first, second)
    )
    found = []
    for one in mine:
        for other in theirs:
            shared = (one.matter & other.matter) | (one.days & other.days)
            fewer = max(min(len(one.matter | one.days), len(other.matter | other.days)), 1)
            it = _PRONOUN.match(one.text) or _PRONOUN.match(other.text)
            # Where one says nothing but the thing, the verb has to agree as well.
            alike = len(shared) + (len(shared) == fewer == 1 and bool(one.neutral & other.neutral))
            if alike < (LEAST_OF_IT if it else LEAST) or not _one_thing(one, other):
                continue
            if _figures_differ(one, other):
                same = _one_property(one.text, other.text) and not (_undone(one, other) and not _negated(one, other))
                holds = same and len(shared) >= (PART if len(shared) > LEAST else PART_OF_FEW) * fewer
            else:
                # A "not" may belong to anything else that is said: the whole of both has to agree.
                whole = len((one.matter | one.days) | (other.matter | other.days))
                enough = len(shared) >= PART_DENIED * whole
                holds = enough and not _undone(one, other) and _denied(one, other)
            if holds:
                found.append((-len(shared) / fewer, -len(shared), one.text, other.text))
    return tuple((one, other) for _, _, one, other in sorted(found))


def _read(sentence: str, names: Names) -> _Said:
    counted = _ONE.sub("1", spell_counts(sentence))
    values: dict[str, tuple[frozenset[str], float, float]] = {}
    for _, _, unit, value in find_figures(counted):
        kind, size = _measure(unit, value)
        held, low, high = values.get(kind, (frozenset[str](), size, size))
        values[kind] = (held | {value}, min(low, size), max(high, size))
    inside = [(start, end) for start, end, _, _ in find_figures(counted)]
    tokens = tuple(
        match[0].lower() for match in TOKEN.finditer(counted) if not any(a <= match.start() < b for a, b in inside)
    )
    days = frozenset(day for day in _DAYS for word in tokens if word.startswith(day))
    raw = TOKEN.findall(counted)
    spans = [raw[start:end] for start, end in names.within(raw)]
    named = frozenset(" ".join(span).lower() for span in spans)
    within = {word.lower() for span in spans for word in span}
    roots = {
        _root(word)
        for word in tokens
        if word not in STOP | NEGATION
        and word not in COUNTS
        and word not in within
        and len(word) > 1
        and not any(word.startswith(unit) for unit in _HOURS if len(unit) > 2)
        and not any(word.startswith(day) for day in _DAYS)
    }
    # A name is one thing, however many words it has.
    matter = frozenset(roots - _NEUTRAL) | named
    return _Said(sentence, tokens, matter, frozenset(roots & _NEUTRAL), named, values, days)


def _measure(unit: str, value: str) -> tuple[str, float]:
    """The kind of quantity and its size: lengths of time are of one kind."""
    try:
        size = float(value)
    except ValueError:
        size = 0.0
    for known, hours in _HOURS.items():
        if unit == known or (len(known) > 2 and unit.startswith(known)):
            return "time span", size * hours
    return unit, size


def _figures_differ(one: _Said, other: _Said) -> bool:
    """Whether a kind of quantity that both state once has values that have nothing in common."""
    for kind in one.values.keys() & other.values.keys():
        (mine, low, high), (theirs, lowest, highest) = one.values[kind], other.values[kind]
        if kind == "time span":
            if low > highest * (1 + _ALIKE) or lowest > high * (1 + _ALIKE):
                return True
        elif kind and len(mine) == len(theirs) == 1 and mine != theirs:
            return True
    return False


def _one_property(one: str, other: str) -> bool:
    mine, theirs = property_lexicon.find(one), property_lexicon.find(other)
    return not mine or not theirs or bool(mine.keys() & theirs.keys())


def _undone(one: _Said, other: _Said) -> bool:
    """Whether a word stands in one sentence and its opposite with "un" in the other: opened, unopened."""
    return any(f"un{word}" in other.tokens for word in one.tokens) or any(
        f"un{word}" in one.tokens for word in other.tokens
    )


def _negated(one: _Said, other: _Said) -> bool:
    """Whether one of the two has a "not" more than the other."""
    mine, theirs = (sum(word in _DENIES for word in _words(each.text)) % 2 for each in (one, other))
    return mine != theirs


def _denied(first: _Said, second: _Said) -> bool:
    """Whether one says that it is so and the other, by a "not" or by an opposite, that it is not; in any case."""
    one, other = first.text, second.text
    if bool(_CONDITION.search(one)) or bool(_CONDITION.search(other)):
        return False
    for mine, theirs in ((one, other), (other, one)):
        lacks = _WITHOUT.search(mine)
        if (
            lacks
            and _NEEDS.search(theirs)
            and {_root(word) for word in _words(theirs)} & set(map(_root, _words(lacks[1])))
        ):
            return True
    for yes, no in _OPPOSITES:
        sides = [(bool(yes.search(text)), bool(no.search(text))) for text in (one, other)]
        if sides in ([(True, False), (False, True)], [(False, True), (True, False)]):
            return True
    return _negated(first, second)


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text)]


def _one_thing(one: _Said, other: _Said) -> bool:
    """Whether the two may speak of one thing: no unlike names, no unlike days, and no word of the matter that stands in
    another's place ("standard delivery", "express delivery").
    """
    if one.names and other.names and not (one.names <= other.names or other.names <= one.names):
        return False
    if (_WHOLE.search(one.text) and _PART.search(other.text)) or (_PART.search(one.text) and _WHOLE.search(other.text)):
        return False
    if one.days and other.days and not one.days & other.days:
        return False
    mine, theirs = one.matter - other.matter, other.matter - one.matter
    if other_rates(one.text, other.text):
        return False
    if _case(one.text, mine) != _case(other.text, theirs):
        return False
    return not (_places(one.tokens, mine) & _places(other.tokens, theirs))


def other_rates(one: str, other: str) -> bool:
    """Whether one sentence speaks of a time by which something is paid or done, and the other of another."""
    mine, theirs = ({n for n, rate in enumerate(_RATES) if rate.search(text)} for text in (one, other))
    return bool(mine and theirs) and not mine & theirs


def _case(sentence: str, own: frozenset[str]) -> bool:
    """Whether a sentence opens with a case of its own: "After the wash, ..."."""
    clause = _CASE.match(sentence)
    return clause is not None and any(_root(word) in own for word in _words(clause[0]))


def _places(tokens: tuple[str, ...], words: Iterable[str]) -> set[tuple[str, str]]:
    """Where such words stand: between which two others, and before which one of weight."""
    wanted = {part for word in words for part in word.split()}
    told = [token for token in tokens if token not in _ARTICLES]
    found = set()
    for place, token in enumerate(told):
        if token in wanted or _root(token) in wanted:
            after = told[place + 1] if place + 1 < len(told) else ""
            found.add((told[place - 1] if place else "", _root(after)))
            if after and after not in STOP:
                found.add(("…", _root(after)))
    return found


_ARTICLES = word_set("a an the your our his her their der die das ein eine le la les un une de du des")
