"""Which records hold which words: what a search looks things up in.

Words are compared without regard to case and accents; a word finds its plural and its singular, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.crmarena.soql.syntax import AllOf, SearchTerm, Without, Words

_WORD = re.compile(r"[^\W_]+")
_ESCAPED = re.compile(r"\\(.)", re.S)
# Beyond that a pattern is no longer tried against words, which could take long.
MOST_STARS = 4
LONGEST_WORD = 60


class TextIndex:
    """The words of some records, each given as its number and its texts."""

    def __init__(self, records: Iterable[tuple[int, Sequence[str | None]]]) -> None:
        self._texts: dict[int, str] = {}
        holders: dict[str, set[int]] = defaultdict(set)
        for number, texts in records:
            # A phrase does not go from one text to the next.
            split = [_WORD.findall(fold(text)) for text in texts if text]
            self._texts[number] = "\n".join(f" {' '.join(words)} " for words in split)
            for words in split:
                for word in words:
                    holders[word].add(number)
        self._holders = dict(holders)
        self._kin: dict[str, list[str]] = defaultdict(list)
        for word in self._holders:
            self._kin[_singular(word)].append(word)

    def find(self, term: SearchTerm, check: Callable[[], None] = lambda: None) -> set[int]:
        """The numbers of the records in which a term is found; `check` is called now and then and may raise."""
        check()
        if isinstance(term, Words):
            return self._find_words(term)
        if isinstance(term, Without):
            return self.find(term.item, check) - self.find(term.unwanted, check)
        found = [self.find(item, check) for item in term.items]
        return set.intersection(*found) if isinstance(term, AllOf) else set.union(*found)

    def _find_words(self, words: Words) -> set[int]:
        folded = fold(_ESCAPED.sub(r"\1", words.text))
        if words.phrase:
            parts = _WORD.findall(folded)
            return self._find_phrase(parts, [self._holders.get(part, set()) for part in parts])
        parts = re.findall(r"(?:[^\W_]|[*?])+", folded)
        if len(parts) == 1:
            return self._holding(parts[0])
        # The parts of what is written as one, as in an e-mail address, follow one another.
        return self._find_phrase(parts, [self._holding(part) for part in parts])

    def _find_phrase(self, parts: list[str], holders: list[set[int]]) -> set[int]:
        if not parts:
            return set()
        found = set.intersection(*holders)
        if any("*" in part or "?" in part for part in parts):
            return found
        phrase = f" {' '.join(parts)} "
        return {number for number in found if phrase in self._texts[number]}

    def _holding(self, word: str) -> set[int]:
        if "*" not in word and "?" not in word:
            return set().union(*(self._holders[each] for each in self._kin.get(_singular(word), ())))
        if word.count("*") > MOST_STARS or len(word) > LONGEST_WORD:
            raise QueryError("INVALID_SEARCH", f"a word has at most {MOST_STARS} stars and {LONGEST_WORD} letters")
        pattern = re.compile(re.sub(r"\*+", "*", word).replace("*", ".*").replace("?", "."))
        known = (each for each in self._holders if len(each) <= LONGEST_WORD and pattern.fullmatch(each))
        return set().union(*(self._holders[each] for each in known))


def letters(term: SearchTerm) -> int:
    """The letters of the longest word that is looked for: one alone is too little."""
    if isinstance(term, Words):
        return len(re.sub(r"[\W_]", "", fold(term.text)))
    items = (term.item,) if isinstance(term, Without) else term.items
    return max(letters(item) for item in items)


def fold(text: str) -> str:
    """Small letters without accents."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).lower())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
