"""Which words a word can be taken for: by table, by the sound of its spelling, or garbled by rule."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Sequence
from typing import TypeVar

from cxlab.voice.confusion_tables import Many, Tables, tables
from cxlab.voice.words import key

Option = TypeVar("Option")

VOWELS = re.compile(r"[aeiouyàâäéèêëîïôöœùûüÿæA]+")
DOUBLED = re.compile(r"(.)\1+")
# How likely each kind of substitution is where a word has candidates of several kinds.
SHARE = {"homophone": 4.0, "slip": 4.0, "similar": 1.5, "ending": 1.5}


def sound(word: str, table: Tables) -> str:
    """A rough code of how the word sounds; all vowels are one, because recognisers slip there first."""
    code = word.lower().replace("'", "").replace("’", "")
    for pattern, to in table.sounds:
        code = pattern.sub(to, code)
    return DOUBLED.sub(r"\1", VOWELS.sub("A", code).upper())


@functools.cache
def _by_sound(language: str) -> Many:
    found: dict[str, list[str]] = {}
    table = tables(language)
    for word in sorted(table.words):
        found.setdefault(sound(word, table), []).append(word)
    return {code: tuple(said) for code, said in found.items()}


@functools.lru_cache(maxsize=20_000)
def neighbours(word: str, language: str) -> tuple[str, ...]:
    """Real words that sound the same or differ in one sound, nearest first, at most eight."""
    table, index = tables(language), _by_sound(language)
    code = sound(word, table)
    if len(code) < 2:
        return ()
    codes = [code]
    for i, one in enumerate(code):
        codes += [code[:i] + other + code[i + 1 :] for other in table.confusable.get(one, ())]
    if len(code) > 3:
        # A lost or added sound changes a short word beyond recognition.
        codes += [code[:i] + code[i + 1 :] for i in range(1, len(code))]
        codes += [code + end for end in "STDN"]
    found = dict.fromkeys(other for each in codes for other in index.get(each, ()) if key(other) != key(word))
    return tuple(found)[:8]


@functools.lru_cache(maxsize=20_000)
def candidates(word: str, language: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(kind, words) for an ordinary word in lower case; words of one written token come first in use."""
    table = tables(language)
    endings = _endings(word, table)
    found = {
        "homophone": table.homophones.get(word, ()),
        "slip": table.near.get(word, ()) + table.numbers.get(word, ()),
        "similar": neighbours(word, language),
        "ending": endings,
    }
    return tuple(
        (kind, kept)
        for kind, options in found.items()
        if (kept := tuple(option for option in options if key(option) != key(word)))
    )


def _endings(word: str, table: Tables) -> tuple[str, ...]:
    """The word without its ending, where that is a word; an ending that was not said is not heard."""
    stems = [word[: -len(end)] for end in table.endings if word.endswith(end) and len(word) - len(end) >= 3]
    return tuple([stem for stem in stems if stem in table.words][:1])


@functools.lru_cache(maxsize=20_000)
def halves(word: str, language: str) -> str | None:
    """The word as two words, by table or because both halves are words; None when it has no seam."""
    table = tables(language)
    if word in table.splits:
        return table.splits[word][0]
    if "-" in word.strip("-"):
        return word.replace("-", " ", 1)
    for i in range(3, len(word) - 2):
        if word[:i] in table.words and word[i:] in table.words:
            return f"{word[:i]} {word[i:]}"
    return None


def garble(word: str, table: Tables, rng: random.Random) -> str:
    """A name with one spelling replaced by one that sounds like it; long ones get two."""
    for _ in range(2 if len(word) > 9 and rng.random() < 0.4 else 1):
        rules = [(left, right) for left, right in table.respell if left in word]
        if not rules:
            break
        left, right = pick(rules, rng)
        places = [found.start() for found in re.finditer(re.escape(left), word)]
        at = pick(places, rng)
        word = word[:at] + right + word[at + len(left) :]
    return word


def pick(options: Sequence[Option], rng: random.Random) -> Option:
    """One of the options; by `random()` alone, whose values Python keeps the same in every version."""
    return options[int(rng.random() * len(options))]
