"""What mood somebody is in by one message, for who searches for it: from -1 to 1, read off its words alone.

Stricter than the signals that the retriever weighs (signals.py): a fault that is reported, a question and a word that
looks like anger are no mood, as what is found is given as evidence. The retriever keeps its own, as its measured
figures are theirs. Irony, and moods that are shown and not said, neither sees.
"""

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from cxlab import resources
from cxlab.files import read_toml
from cxlab.retrieval.conversation.signals import tokens

FILE = resources.data("retrieval") / "mood_words.toml"
KINDS = ("anger", "fear", "sadness")
_SENTENCE = re.compile(r"[^.?!\n]+[.?!]*")
_SHOUTED = re.compile(r"\b[A-Z]{4,}\b")
_NOT = {"not", "no", "never", "hardly", "without", "nothing", "isn't", "wasn't", "don't", "doesn't", "didn't", "aren't"}
# Of somebody else: "she was furious" is her mood.
_OTHERS = {
    *("he", "she", "they", "he's", "she's", "they're", "his", "her", "their", "who", "mum", "dad", "boss", "sister"),
    *("brother", "wife", "husband", "son", "daughter", "mother", "father", "neighbour", "people"),
}
_REACH = 3
# Weight at which a message is three quarters of the way to the end of its scale.
_SOFT = 1.0
# What loud marks add to an anger that is said: each exclamation mark, and words in capitals.
_MARK, _MOST_MARKS, _CAPITALS = 0.15, 3, 0.3


class _Wording(NamedTuple):
    mood: str
    weight: float


class _Words:
    """The wordings of the file by their first word."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.whole: dict[tuple[str, ...], _Wording] = {}
        self.begun: dict[str, _Wording] = {}
        for mood in (*KINDS, "low", "trouble", "glad", "neither"):
            for group in content[mood].values():
                wording = _Wording(mood, float(group["weight"]))
                for entry in group["words"]:
                    if entry.endswith("*"):
                        self.begun[entry[:-1]] = wording
                    else:
                        self.whole[tuple(tokens(entry))] = wording
        self.longest = max(map(len, self.whole))

    def find(self, words: list[str], at: int) -> tuple[int, _Wording] | None:
        """(words that it takes, what it says) of the longest wording that begins there."""
        for size in range(min(self.longest, len(words) - at), 0, -1):
            if wording := self.whole.get(tuple(words[at : at + size])):
                return size, wording
        word = words[at]
        return next(((1, self.begun[word[:end]]) for end in range(len(word), 2, -1) if word[:end] in self.begun), None)


@lru_cache(maxsize=1)
def _words() -> _Words:
    return _Words(read_toml(FILE))


@lru_cache(maxsize=50_000)
def read_mood(text: str, kinds: frozenset[str] = frozenset()) -> float:
    """From -1, a bad mood of these `kinds` (none: of any), to 1, a good one; 0 where the message shows neither."""
    down = up = 0.0
    for sentence in _SENTENCE.findall(text):
        low, high = _weigh(tokens(sentence), kinds, asked=sentence.rstrip().endswith("?"))
        down, up = down + low, up + high
    if down and (not kinds or "anger" in kinds):
        down += _MARK * min(text.count("!"), _MOST_MARKS)
        down += _CAPITALS * (len(_SHOUTED.findall(text)) > 1)
    return math.tanh((up - down) / _SOFT)


def _weigh(words: list[str], kinds: frozenset[str], asked: bool) -> tuple[float, float]:
    """(bad mood, good mood) of one sentence; `asked`: it is a question, of which the mild words tell nothing."""
    down = up = 0.0
    at = 0
    while at < len(words):
        found = _words().find(words, at)
        if found is None:
            at += 1
            continue
        size, (mood, weight) = found
        before = words[max(0, at - _REACH) : at]
        at += size
        negated = size == 1 and any(word in _NOT for word in before)
        if negated or any(word in _OTHERS for word in before) or (asked and (mood == "trouble" or weight < 1)):
            continue
        if mood == "glad":
            up += weight
        elif mood in kinds or mood == "low" or (not kinds and mood != "neither"):
            down += weight
    return down, up
