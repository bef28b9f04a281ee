"""Values in running text: whether a sentence says one, asks for one, or nearly repeats another sentence.

Values (numbers, ids, addresses) are found word by word, however they are spaced.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from cxlab.voice import words as cut_words

# A name in a schema and how people ask for it
_SPOKEN = {"id": "(?:id|number)", "phone": "phone", "zip": "(?:zip|post(?:al)? ?code)", "dob": "(?:birth ?day|birth)"}
_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGITS = {name: str(digit) for digit, name in enumerate(_NAMES)}
_SIGNS = frozenset(("at", "dot", "dash", "hyphen", "hash", "underscore", "point"))
_CODE = re.compile(r"\w*\d\w*(?:[ -]\d+)*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")


@functools.lru_cache(maxsize=512)
def _asking(field: str) -> re.Pattern[str]:
    parts = [_SPOKEN.get(part, re.escape(part)) for part in field.lower().split("_")]
    return re.compile(r"\b" + r"[ _-]?".join(parts) + r"s?\b[^.!]*\?", re.IGNORECASE)


@functools.lru_cache(maxsize=20_000)
def words(text: str) -> tuple[str, ...]:
    """The words of a text as error rates count them."""
    return tuple(cut_words(text))


def asks_for(text: str, field: str) -> bool:
    """Whether a question names the field, as `order_id` is named in "What is the order number?"."""
    return bool(_asking(field).search(text))


def same(one: Any, other: Any) -> bool:
    """Whether two values mean one thing: numbers by size, texts by letters and digits, lists in any order."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return sorted(map(shape, one)) == sorted(map(shape, other))
    return shape(one) == shape(other)


def shape(value: Any) -> str:
    """A value's letters and digits, case apart; 2, 2.0 and "2" have one shape."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{float(value):g}"
    text = "".join(char for char in str(value).casefold() if char.isalnum())
    return f"{float(str(value)):g}" if _NUMBER.fullmatch(str(value).strip()) and len(text) < 6 else text


def make(value: str) -> str:
    """What a code is made of, without the code itself: "#W123" as "a000"; numbers of one length are of one make."""
    return "".join("0" if char.isdigit() else "a" for char in value if char.isalnum())


def codes(text: str) -> list[str]:
    """The numbers and codes in a text, as they stand there: words with at least four digits in them."""
    return [found for found in _CODE.findall(text) if sum(map(str.isdigit, found)) >= 4]


def is_exact(value: Any) -> bool:
    """Whether a value is said as it is written: a number, a code, an address, a name of one or two words."""
    if isinstance(value, str):
        return any(char.isdigit() or char == "@" for char in value) or 0 < len(value.split()) <= 2
    return isinstance(value, int | float)


def states(text: str, value: Any) -> bool:
    """Whether the text says the value: "555 123 2002" says 5551232002, and "12" does not say 2."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    return _states(text, value)


@functools.lru_cache(maxsize=20_000, typed=True)
def _states(text: str, value: str | int | float) -> bool:
    if isinstance(value, int | float):
        return any(float(number) == float(value) for number in _NUMBER.findall(text))
    wanted = "".join(words(str(value)))
    if not wanted:
        return False
    plain = words(text)
    if _joins(plain, wanted):
        return True
    # A recogniser writes digits and signs as words.
    return _joins([_DIGITS.get(word, word) for word in plain if word not in _SIGNS], wanted)


def _joins(tokens: Sequence[str], wanted: str) -> bool:
    for start, token in enumerate(tokens):
        built = token
        following = start + 1
        while len(built) < len(wanted) and wanted.startswith(built) and following < len(tokens):
            built += tokens[following]
            following += 1
        if built == wanted:
            return True
    return False


def misheard(meant: str, heard: str) -> bool:
    """Whether the words differ, case and signs apart."""
    return words(meant) != words(heard)


def alike(one: str, other: str, share: float = 0.9) -> bool:
    """Whether two messages are nearly the same: at least four words, and that share of them common (Jaccard)."""
    a, b = set(words(one)), set(words(other))
    return len(a) >= 4 and len(a & b) >= share * len(a | b)


class EarlierMessages:
    """The messages before this one, asked for one that is `alike` without comparing it with each of them.

    Two sets of words of which nine in ten are common share one of their few rarest words (prefix filtering, Chaudhuri
    et al. 2006): only messages under those words are compared. `texts` are all messages that will come, so that it is
    known which words are rare.
    """

    def __init__(self, texts: Iterable[str], share: float = 0.9) -> None:
        self.share = share
        self.rarity = Counter(word for text in texts for word in set(words(text)))
        self.by_word: dict[str, list[str]] = {}

    def add(self, text: str) -> None:
        """One more message."""
        for word in self._rarest(text):
            self.by_word.setdefault(word, []).append(text)

    def holds(self, text: str) -> bool:
        """Whether one of them is alike."""
        return any(
            alike(text, other, self.share) for word in self._rarest(text) for other in self.by_word.get(word, ())
        )

    def clear(self) -> None:
        """Forget them."""
        self.by_word.clear()

    def _rarest(self, text: str) -> list[str]:
        """As many of its words, rarest first, as must hold one that an alike message has among its own."""
        found = sorted(set(words(text)), key=lambda word: (self.rarity[word], word))
        return found[: len(found) - math.ceil(self.share * len(found) - 1e-9) + 1]
