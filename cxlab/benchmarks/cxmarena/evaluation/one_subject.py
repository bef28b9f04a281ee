"""Whether two passages, or two articles, are of one subject; else what is alike or differs in them tells nothing.

Two sentences may count in one unit and speak of two properties or under two conditions: when a line opens and when it
closes, a charge and the order from which it is waived, a share that is paid until a day and a change until a day. Two
articles of one pattern say the same in nearly the same words, each of a thing of its own. This is for who shows pairs
to a person; a run that is scored proposes its candidates without it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from cxlab.benchmarks.cxmarena.evaluation.claims import PERIODS, TOKEN, find_figures, find_names, spell_counts, title
from cxlab.benchmarks.cxmarena.text import STOP, stem, word_set

# Properties that are stated of one thing in one unit, as beginnings of words: a passage that has one side alone and one
# that has the other side alone speak of two.
_APART: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("opening", "opens", "open from", "open at", "ouvr", "ouvert", "öffne", "geöffnet"),
        ("closing", "closes", "close at", "ferm", "schließ", "geschlossen", "ladenschluss"),
    ),
    (
        ("waive", "free from", "is free", "free delivery", "threshold", "upwards", "orders of", "orders over", "offert"
         , "gratuit", "kostenlos", "versandkostenfrei", "à partir d"),
        ("delivery charge", "postage", "charge of", "charge for", "frais", "versandkosten", "costs", "is charged"),
    ),
    (
        ("monthly", "instalment", "per month", "a month", "mensuel", "mensualité", "monatlich", "rate "),
        ("costs", "the price", "price of", "le prix", "coûte", "kostet", "preis"),
    ),
    (
        ("earliest", "at least", "minimum", "au moins", "mindestens"),
        ("latest", "at most", "maximum", "au plus", "höchstens"),
    ),
    (("weekday", "monday to friday"), ("weekend", "saturday", "sunday")),
    (("refund", "paid back", "money back"), ("moved to", "change of", "changed", "rebook")),
    (
        ("refund", "money back", "rembours", "erstatt"),
        ("send back", "sent back", "return window", "can be returned", "renvoy", "délai de retour", "rückgabe",
         "zurücks"),
    ),
)  # fmt: skip
# A span within which something must be done, and one after which it happens.
_WITHIN = re.compile(r"\b(?:within|until|up to|no later than|dans les|jusqu'à|innerhalb|binnen|bis)\b", re.IGNORECASE)
_AFTER = re.compile(
    r"\b(?:come|comes|posted|sent|arrives?|paid|credited|added)\b[^.;]*\d[^.;]*\b(?:after|later)\b", re.IGNORECASE
)
# Which way a period is counted from something: "2 hours after", "48 hours before".
_WAY = re.compile(
    r"\d+\s[^\W\d_]+\s(?:(?P<after>after|later|après)|(?P<before>before|avant))|\b(?:(?P<nach>nach)|(?P<vor>vor))\b"
    r"|(?P<bevor>bevor)",
    re.IGNORECASE,
)
_PERIOD = re.compile(rf"(?:{PERIODS}|working|business)", re.IGNORECASE)
_MONEY = frozenset("$€£%")
_TABLE = re.compile(r"\s*\n\s*")
# Words of the shortest sentence; what is less is a cell of a table, without the heading that says of what.
_LEAST_WORDS = 4
# How seldom an article names another one's thing, beside its own, to be of its own alone.
_ASIDE = 0.34
# In so many of the articles a word is one of their pattern.
_COMMON = 0.4
_PLAIN = word_set("the a an of for and to in on")


def state_one_property(first: str, second: str) -> bool:
    """Whether two sentences that give different values may speak of one property under one condition."""
    sides = [_TABLE.sub(" ", text).casefold() for text in (first, second)]
    if any(len(TOKEN.findall(side)) < _LEAST_WORDS for side in sides):
        return False
    # A line that was wrapped or a cell begins in the middle of what it says.
    if len({text.lstrip()[:1].islower() for text in (first, second)}) > 1:
        return False
    ways = [{name in ("after", "nach") for mark in _WAY.finditer(side) if (name := mark.lastgroup)} for side in sides]
    if ways[0] and ways[1] and not ways[0] & ways[1]:
        return False
    for ours, theirs in _APART:
        has = [(_holds(side, ours), _holds(side, theirs)) for side in sides]
        if sorted(has) == [(False, True), (True, False)]:
            return False
    within, after = ([bool(mark.search(side)) for side in sides] for mark in (_WITHIN, _AFTER))
    if within[0] != within[1] and after[0] != after[1] and within[0] != after[0]:
        return False
    return not _has_another_figure(*sides)


def _holds(side: str, beginnings: Iterable[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(each)}", side) for each in beginnings)


def _has_another_figure(first: str, second: str) -> bool:
    """Whether the periods of one sentence are the terms of an amount or a share, and the other one has none."""
    units = [{unit for _, _, unit, _ in find_figures(spell_counts(side))} for side in (first, second)]
    shared = units[0] & units[1]
    if not shared or shared & _MONEY:
        return False
    return bool(units[0] & _MONEY) != bool(units[1] & _MONEY) and all(unit not in {"date", "time"} for unit in shared)


class Subjects:
    """The things that the articles of a collection are named after."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.names = names = find_names(texts)
        self.words = {id: TOKEN.findall(text) for id, text in texts.items()}
        self.holding = Counter(word for words in self.words.values() for word in {each.casefold() for each in words})
        self.of: dict[str, tuple[str, ...]] = {}
        for id, text in texts.items():
            head = TOKEN.findall(title(text))
            spans = names.within(head)
            found = tuple(head[spans[0][0] : spans[0][1]]) if spans else ()
            if not found and head and head[0][0].isupper() and head[0].casefold() not in _PLAIN:
                found = (head[0],) if self._is_name(head[0]) else ()
            self.of[id] = found

    def _is_name(self, word: str) -> bool:
        """Whether a word is never written small, and stands in more than one article."""
        small = word.casefold()
        holding = [words for words in self.words.values() if word in words]
        return len(holding) > 1 and not any(small in words for words in self.words.values())

    def are_apart(self, first: str, second: str) -> bool:
        """Whether the two articles are named after two things: what names none in them is of these. A name of one word
        may be any noun that opens a title."""
        one, other = self.of.get(first, ()), self.of.get(second, ())
        return len(one) > 1 and len(other) > 1 and one != other

    def share_words(self, first: str, second: str) -> bool:
        """Whether two sentences have a word in common beside names, figures and periods: one that tells a property."""
        one, other = (self._telling(each) for each in (first, second))
        return bool(one & other)

    def _telling(self, sentence: str) -> set[str]:
        """Its words without names, figures with their units, and what most articles say."""
        marks = list(TOKEN.finditer(spell_counts(sentence)))
        figures = find_figures(spell_counts(sentence))
        named = {place for span in self.names.within([mark[0] for mark in marks]) for place in range(*span)}
        words = {
            mark[0].casefold()
            for place, mark in enumerate(marks)
            if place not in named
            and mark[0].lower() not in STOP
            and mark[0].isalpha()
            and not _PERIOD.fullmatch(mark[0])
            and not any(start <= mark.start() < end for start, end, _, _ in figures)
        }
        return {stem(word) for word in words if self.holding[word] < _COMMON * len(self.words)}

    def differ(self, first: str, second: str) -> bool:
        """Whether each of the two articles is of a thing of its own, and names the other's at most aside."""
        one, other = self.of.get(first, ()), self.of.get(second, ())
        if not one or not other or one == other:
            return False
        return all(
            self._count(id, theirs) <= _ASIDE * self._count(id, mine)
            for id, mine, theirs in ((first, one, other), (second, other, one))
        )

    def _count(self, id: str, name: tuple[str, ...]) -> int:
        words, size = self.words[id], len(name)
        return sum(tuple(words[at : at + size]) == name for at in range(len(words) - size + 1))
