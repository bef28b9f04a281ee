"""What a sentence does, read from its wording: asks again, asks for a yes, agrees, corrects.

Each cue is a pattern of its own, so that a reader can know some and not others: `plain` ones say it outright,
`oblique` ones in passing. Values (numbers, ids, addresses) are found word by word, however they are spaced.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.voice import words as cut_words


@dataclass(frozen=True)
class Cue:
    """One wording and how directly it says what it says."""

    pattern: re.Pattern[str]
    plain: bool


Knows = Callable[[Cue], bool]


def cue_list(plain: tuple[str, ...], oblique: tuple[str, ...]) -> tuple[Cue, ...]:
    return tuple(
        Cue(re.compile(text, re.IGNORECASE), direct)
        for texts, direct in ((plain, True), (oblique, False))
        for text in texts
    )


ASKS_AGAIN = cue_list(
    (
        r"\b(?:repeat|spell|rephrase|clarify)\b[^.!]*\?",
        r"\b(?:once more|one more time|say (?:that|it|this) again|letter by letter|digit by digit)\b",
        r"\b(?:didn't|did not|couldn't|could not) (?:quite )?(?:catch|hear|get|understand|make out)\b",
        r"\bplease (?:repeat|spell)\b",
    ),
    (
        r"\b(?:did (?:you|i) (?:say|mean|hear)|(?:do|what do|which one do) you mean)\b",
        r"\b(?:have|got|heard|get|understood|understand) (?:that|it|this|you) (?:right|correctly)\b",
        r"\bi (?:heard|noted|understood)\b[^.!]*\?",
    ),
)
ASKS_TO_CONFIRM = cue_list(
    (
        r"\b(?:do|can|could|will) you (?:please )?(?:confirm|agree)\b",
        r"\bplease (?:confirm|answer (?:with )?yes|reply (?:with )?yes)\b",
        r"\byes\s*(?:/|or)\s*no\b",
        r"\b(?:shall|should|may) i (?:go ahead|proceed|do (?:that|this|it|so))\b",
    ),
    (
        r"\b(?:do you want|would you like) me to\b",
        r"\bare you sure\b",
        r"\b(?:is|would) (?:that|this)(?: be)? (?:ok|okay|all right|fine)\b",
        r"\b(?:your|a) (?:go-ahead|okay|permission)\b",
        r"\bshall i\b",
    ),
)
AGREES = cue_list(
    (
        r"^\W*(?:yes|yeah|yep|sure|absolutely|of course|correct)\b(?!,? but)",
        r"\b(?:go ahead|please do|i (?:confirm|agree)|do it)\b",
    ),
    (r"^\W*(?:ok|okay|fine|right|all right|that's (?:right|fine|correct))\b(?!,? but)", r"\bsounds good\b"),
)
REFUSES = cue_list((r"^\W*(?:no|nope)\b", r"\b(?:don't|do not) (?:do|want|go)\b"), (r"\b(?:rather not|wait)\b",))
CORRECTS = cue_list(
    (
        r"^\W*no\b[^.!?]*\bi (?:said|meant)\b",
        # A number put right: "Wait. No, it says 555-273-3113."
        r"(?:^|[.!?,;])\s*no,? (?:it|that) (?:is|was|says|reads)\b[^.!?]*\d",
        r"\bi (?:already|just) (?:told|said|gave|mentioned)\b",
        r"\b(?:that's|that is|this is) (?:not (?:right|correct|what)|wrong)\b",
        r"\b(?:i repeat|let me (?:repeat|spell)|as i (?:said|told))\b",
        r"\byou (?:misheard|misunderstood)\b",
    ),
    (r"\bnot [\w@.#-]+,? but\b", r"\b(?:it's|it is|i meant|i said) [\w@.#-]+, not\b", r"^\W*(?:again|once more)\b"),
)
SATISFIED = cue_list(
    (
        r"\b(?:works|working|fixed|solved|sorted|back) (?:now|again|fine|perfectly)\b",
        r"\b(?:is|it's|that's|all) (?:fixed|solved|sorted|done)\b",
        r"\bthat (?:solved|fixed|did) it\b",
    ),
    (r"\b(?:thank you|thanks)\b", r"\bthat(?:'s| is) (?:all|everything)\b", r"\b(?:perfect|wonderful)\b"),
)
UNSATISFIED = cue_list(
    (
        r"\bstill (?:not|no|isn't|doesn't|can't|cannot|won't|the same|have)\b",
        r"\b(?:doesn't|does not|isn't|is not) work",
        r"\bno (?:signal|service|change)\b",
    ),
    (r"\b(?:useless|waste of time|give up|nothing (?:changed|helped))\b",),
)
# A name in a schema and how people ask for it
_SPOKEN = {"id": "(?:id|number)", "phone": "phone", "zip": "(?:zip|post(?:al)? ?code)", "dob": "(?:birth ?day|birth)"}
_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGITS = {name: str(digit) for digit, name in enumerate(_NAMES)}
_SIGNS = frozenset(("at", "dot", "dash", "hyphen", "hash", "underscore", "point"))
_CODE = re.compile(r"\w*\d\w*(?:[ -]\d+)*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")


def found(text: str, cues: tuple[Cue, ...], knows: Knows | None = None) -> bool:
    """Whether one of the cues that the reader knows (all, if not said) stands in the text."""
    return any((knows is None or knows(cue)) and cue.pattern.search(text) for cue in cues)


def agrees(text: str, knows: Knows | None = None) -> bool:
    return found(text, AGREES, knows) and not found(text, REFUSES, knows)


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
