"""What people say where something happens that is seldom called by its name: a list of cues, and what of it is said.

"Users who are embarrassed" say "stupid question" and "never told anyone". The list is data/cdr/cues.yaml.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from cxlab import resources
from cxlab.benchmarks.cdr.units.unit_text import SPEAKERS
from cxlab.files import load_model
from cxlab.records import Conversation
from cxlab.records.base import Record
from cxlab.retrieval.conversation import read_question

FILE = resources.data("cdr", "cues.yaml")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# Words of the longest cue.
_LONGEST = 5
COLUMNS = 3
Array = NDArray[np.float64]


class Concept(Record):
    """`asked`: words of a question; `shown`: what is said where it happens; a trailing * is any ending."""

    asked: tuple[str, ...]
    shown: tuple[str, ...]


class _File(Record):
    concepts: dict[str, Concept]


@functools.cache
def load_concepts() -> dict[str, Concept]:
    """The file that ships, by name."""
    return load_model(FILE, _File, "see the head of the file").concepts


class _Index:
    """Finds the entries of a list in a text: phrases, words, and beginnings of words, which have a * at their end."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._known = {entry.casefold() for entry in entries}
        self._begins = {entry.partition(" ")[0] for entry in self._known if " " in entry}

    def find(self, text: str) -> set[str]:
        said = _WORD.findall(text.casefold().replace("’", "'"))
        found: set[str] = set()
        for place, word in enumerate(said):
            longest = min(_LONGEST, len(said) - place) if word in self._begins else 1
            tried = [" ".join(said[place : place + length]) for length in range(1, longest + 1)]
            tried += [f"{word[:end]}*" for end in range(2, len(word) + 1)]
            found.update(entry for entry in tried if entry in self._known)
        return found


@functools.cache
def _indexes() -> tuple[_Index, _Index]:
    concepts = load_concepts().values()
    asked, shown = (each.asked for each in concepts), (each.shown for each in concepts)
    return _Index(itertools.chain.from_iterable(asked)), _Index(itertools.chain.from_iterable(shown))


def _name_concepts(query: str) -> list[str]:
    """The concepts that a question names."""
    words = _indexes()[0].find(query)
    return [name for name, each in load_concepts().items() if words & {word.casefold() for word in each.asked}]


def is_shown(query: str, conversation: Conversation) -> bool:
    """Whether the side that a question means says something of each concept that it names."""
    side, index = read_question(query).side, _indexes()[1]
    said: set[str] = set()
    for message in conversation.messages:
        if message.text and side in (None, SPEAKERS[message.role]):
            said |= index.find(message.text)
    known = load_concepts()
    return all(said & {cue.casefold() for cue in known[name].shown} for name in _name_concepts(query))


class CueReader:
    """The cues of every message of a corpus; a rare cue tells more than one that many conversations have."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        index = _indexes()[1]
        self._held = [
            [(SPEAKERS[message.role], frozenset(index.find(message.text))) for message in talk.messages if message.text]
            for talk in conversations
        ]
        having = Counter(cue for talk in self._held for cue in {cue for _, cues in talk for cue in cues})
        self._weights = {cue: math.log((1 + len(conversations)) / count) for cue, count in having.items()}
        self._columns: dict[tuple[str, str | None], Array] = {}

    def read(self, query: str) -> Array:
        """One row a conversation: the weight of the cues that the meant side says, that anybody says, and of those of
        the meant side how much more comes late than early; 0 where the question names nothing that is known."""
        named, side = _name_concepts(query), read_question(query).side
        found = np.zeros((len(self._held), COLUMNS))
        for name in named:
            meant, anybody = self._read_concept(name, side), self._read_concept(name, None)
            found += np.column_stack([meant[:, 0], anybody[:, 0], meant[:, 1]]) / len(named)
        return found

    def _read_concept(self, name: str, side: str | None) -> Array:
        """One row a conversation: the weight of the cues of the side (None: of all), and how much more comes late."""
        if (name, side) not in self._columns:
            wanted = {cue.casefold() for cue in load_concepts()[name].shown}
            told = ([cues & wanted for who, cues in talk if side is None or who == side] for talk in self._held)
            rows = [
                (self._weigh(each), self._weigh(each[-_half(each) :]) - self._weigh(each[: _half(each)]))
                for each in told
            ]
            self._columns[name, side] = np.array(rows, dtype=np.float64).reshape(-1, 2)
        return self._columns[name, side]

    def _weigh(self, told: Sequence[frozenset[str]]) -> float:
        # Sums of a set's numbers would hang on its order, which differs from process to process.
        return sum(self._weights[cue] for cue in sorted(set().union(*told)))


def _half(messages: Sequence[object]) -> int:
    """How many of the messages are early, and how many late; of an odd number the middle one is both."""
    return (len(messages) + 1) // 2
