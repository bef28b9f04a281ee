"""What one message shows of mood, trust, clarity, courtesy and detail, from -1 to 1; read off its words alone."""

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from cxlab import resources
from cxlab.files import read_toml

FILE = resources.data("retrieval") / "conversation_signals.toml"
DIMENSIONS = ("mood", "trust", "clarity", "courtesy", "detail")
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|\?")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w-]+")
_NOT = {"not", "no", "never", "hardly", "without", "isn't", "wasn't", "don't", "doesn't", "didn't", "can't", "aren't"}
# Words before one that a negation reaches; what it leaves of the word's weight, turned round.
_REACH, _TURNED = 3, -0.7
# Evidence at which a message is two thirds of the way to the end of its scale.
_SOFT = 1.2


class Lexicon:
    """Words and phrases with a weight; `thank*` fits every word that begins so."""

    def __init__(self, up: Iterable[str], down: Iterable[str]) -> None:
        self.whole: dict[tuple[str, ...], float] = {}
        self.begun: dict[str, float] = {}
        for entries, weight in ((up, 1.0), (down, -1.0)):
            for entry in entries:
                if entry.endswith("*"):
                    self.begun[entry[:-1]] = weight
                else:
                    self.whole[tuple(tokens(entry))] = weight
        # First word of phrases → their lengths, longest first: most words begin none.
        self.phrases: dict[str, list[int]] = {}
        for held in self.whole:
            if len(held) > 1:
                self.phrases[held[0]] = sorted({*self.phrases.get(held[0], []), len(held)}, reverse=True)
        self.of_word = lru_cache(maxsize=50_000)(self._of_word)

    def _of_word(self, word: str) -> float:
        found = self.whole.get((word,))
        if found is not None:
            return found
        # The longest beginning decides: "dissatisf" is not "satisf".
        return next((self.begun[word[:end]] for end in range(len(word), 1, -1) if word[:end] in self.begun), 0.0)

    def find(self, words: list[str]) -> list[tuple[int, int, float]]:
        """(place, number of words, weight) of what is in it, the longest phrase first at each place."""
        found = []
        at = 0
        while at < len(words):
            size, weight = 1, 0.0
            for longer in self.phrases.get(words[at], ()):
                if phrase := self.whole.get(tuple(words[at : at + longer])):
                    size, weight = longer, phrase
                    break
            weight = weight or self.of_word(words[at])
            if weight:
                found.append((at, size, weight))
            at += size
        return found

    def weigh(self, words: list[str]) -> float:
        """The sum of the weights, those behind a negation turned round."""
        total = 0.0
        for at, size, weight in self.find(words):
            negated = size == 1 and any(word in _NOT for word in words[max(0, at - _REACH) : at])
            total += weight * _TURNED if negated else weight
        return total


def tokens(text: str) -> list[str]:
    """The words of a text, casefolded, apostrophes kept, and its question marks."""
    return _TOKEN.findall(text.casefold().replace("’", "'"))


@lru_cache(maxsize=1)
def _content() -> dict[str, Any]:
    content: dict[str, Any] = read_toml(FILE)
    return content


@lru_cache(maxsize=1)
def _said() -> dict[str, Lexicon]:
    return {name: Lexicon(_content()[name]["said_up"], _content()[name]["said_down"]) for name in DIMENSIONS}


@lru_cache(maxsize=1)
def called() -> dict[str, Lexicon]:
    """How questions call the two ends of each dimension."""
    return {name: Lexicon(_content()[name]["called_up"], _content()[name]["called_down"]) for name in DIMENSIONS}


def name_kinds(question: str) -> frozenset[str]:
    """The kinds of low mood that a question names: anger, fear, sadness; none where it names none of its own."""
    words = tokens(question)
    return frozenset(
        name for name, kind in _content()["kinds"].items() if Lexicon(kind["called"], ()).find(words)
    )  # fmt: skip


def version() -> int:
    """The version of the words."""
    return int(_content()["version"])


@lru_cache(maxsize=50_000)
def read_signals(text: str) -> tuple[float, ...]:
    """A value for each of DIMENSIONS; 0 where a message shows nothing."""
    words = tokens(text)
    found = []
    for name, lexicon in _said().items():
        weight = lexicon.weigh(words)
        if name == "detail":
            weight += (
                0.5 * len(_NUMBER.findall(text)) + 0.5 * len(_NAME.findall(text)) + 0.8 * math.log1p(len(words)) - 2
            )
        elif name == "mood" and weight < 0:
            weight -= 0.3 * min(text.count("!"), 3)
        found.append(math.tanh(weight / _SOFT / 1.5))
    return tuple(found)
