"""What a conversation is about, from its transcript: words of the matter, without names of people, numbers, small talk.

    said = turns(transcript)
    last_words(said)            # the customer's last questions, or all that they said last
    terms(text)                 # words that carry the matter, in order, each once
    people(transcript)          # words of people's names, in small letters
    things(text)                # names of several words with a capital: of products, plans, services
    correct_misheard(name, known)           # a misheard name as the others are
    gist(said, most, skip)      # what the conversation comes back to, weightiest first

The small talk is listed in data/simulated/cxmarena/small_talk.yaml.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict, TypeAdapter

from cxlab import files, resources
from cxlab.benchmarks.cxmarena.text import content, sentences, stem

FILE = resources.data("simulated", "cxmarena", "small_talk.yaml")
SpeakerTurns = Sequence[tuple[str, str]]
# From which likeness on a name counts as another one misheard; siblings in a range are often as alike as 0.7.
ALIKE = 0.8
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_CAPITAL = r"[^\W\d_a-zà-ÿ][^\W_]*(?:[-'’][^\W_]+)*"
# A word that is a code, a number, an address; names of products with a figure in them are letters first.
_CODE = re.compile(r"^\d|\d{3}|^\w$")
_MAIL = re.compile(r"\S+@\S+")
# Words with a capital side by side, or any word by itself.
_RUN = re.compile(rf"{_CAPITAL}(?: {_CAPITAL})+|{_WORD.pattern}")
_NAME = r"(?:[^\W\d_a-zà-ÿ][\w'’-]+)"


class SmallTalk(BaseModel):
    """One language's block of the file."""

    model_config = ConfigDict(extra="forbid")

    words: str
    people: str
    papers: str


@functools.cache
def _blocks() -> dict[str, SmallTalk]:
    return TypeAdapter(dict[str, SmallTalk]).validate_python(files.read_yaml(FILE))


@functools.cache
def small_talk() -> frozenset[str]:
    """The stems of all languages' small talk: a transcript does not say in which one it is."""
    return frozenset(stem(word) for block in _blocks().values() for word in block.words.split())


@functools.cache
def _introductions() -> re.Pattern[str]:
    titles = "|".join(re.escape(word) for block in _blocks().values() for word in block.people.split())
    openings = "|".join(re.escape(one.strip()) for block in _blocks().values() for one in block.papers.split("|"))
    return re.compile(rf"\b(?i:{titles}|{openings}),?\s+({_NAME}(?:\s+{_NAME})?)")


@functools.lru_cache(maxsize=4_000)
def people(transcript: str) -> frozenset[str]:
    """The words of names with which people introduce or address each other."""
    return frozenset(word.lower() for found in _introductions().findall(transcript) for word in found.split())


def terms(text: str, skip: Iterable[str] = ()) -> list[str]:
    """The words that carry the matter as they stand there, each once; those in `skip`, and names with one, left out.

    A product may be called Day or Plus: next to another word with a capital, such a word is part of a name.
    """
    leave = set(skip)
    found: dict[str, str] = {}
    for run in _runs(text, leave):
        for word in run:
            if not _CODE.search(word) and (len(run) > 1 or is_about_something(word)):
                for key in content(word)[:1]:
                    found.setdefault(key, word)
    return list(found.values())


def things(text: str, skip: Iterable[str] = ()) -> list[str]:
    """Names of several words with a capital, as often as they stand there: of products, plans, services."""
    return [" ".join(run) for run in _runs(text, set(skip)) if len(run) > 1]


def _runs(text: str, leave: set[str]) -> list[list[str]]:
    """Words with a capital that stand side by side, and any other word by itself."""
    found = []
    for run in _RUN.finditer(_MAIL.sub(" ", text)):
        words = run[0].split()
        # A sentence's first word has a capital, too, and so have some forms of address.
        while len(words) > 1 and not is_about_something(words[0]):
            words.pop(0)
        while len(words) > 1 and not content(words[-1]) and words[-1].lower() in small_talk():
            words.pop()
        if not leave.intersection(word.lower() for word in words):
            found.append(words)
    return found


def is_about_something(word: str) -> bool:
    """Whether a word is about something, and not only talk."""
    return any(part not in small_talk() for part in content(word)) and stem(word.lower()) not in small_talk()


def correct_misheard(name: str, known: Sequence[str]) -> str:
    """The name, or the one of those known that it most resembles: on the telephone, names are misheard."""
    near = difflib.get_close_matches(name, [one for one in dict.fromkeys(known) if one != name], 1, ALIKE)
    return near[0] if near and known.count(near[0]) >= max(2, known.count(name)) else name


def last_words(said: SpeakerTurns) -> str:
    """What the customer asked last: the questions since the agent spoke, or everything where nothing was asked."""
    mine: list[str] = []
    for who, text in reversed(said):
        if who != "customer":
            break
        mine.insert(0, text)
    whole = " ".join(mine)
    # What stands before a colon opens the question and is no part of it.
    asked = [s.rpartition(": ")[2] for s in sentences(whole) if s.endswith("?")]
    return " ".join(asked) or whole


def gist(said: SpeakerTurns, most: int, skip: Iterable[str] = ()) -> list[str]:
    """The words that both sides come back to, and what the customer began with, weightiest first."""
    leave = set(skip)
    weights: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    heard = 0
    for who, text in said:
        if who == "other":
            continue
        heard += who == "customer"
        for word in terms(text, leave):
            key = content(word)[0]
            spelled.setdefault(key, word)
            # The first things that a customer says are what they came for.
            weights[key] += 3 if who == "customer" and heard <= 2 else 1
    return [spelled[key] for key, _ in weights.most_common(most)]
