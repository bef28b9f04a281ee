"""Which words of a question can be evidence: those that tell what is talked of, and not those that any talk holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from cxlab.benchmarks.cdr.units.unit_text import SPEAKERS
from cxlab.records import Conversation
from cxlab.retrieval.bm25 import tokenize
from cxlab.retrieval.conversation import read_question
from cxlab.retrieval.conversation.signals import called, tokens
from cxlab.word_forms import carries_meaning, find_question_language, find_starts, stem


def find_meaning(text: str, language: str = "en") -> tuple[str, ...]:
    """The words of a text that carry meaning, as indexes cut them, each once."""
    return tuple(word for word in dict.fromkeys(tokenize(text)) if carries_meaning(word, language))


def find_sayable(question: str) -> tuple[str, ...]:
    """The words of the topic that a conversation would have to say: names of moods are read off other words, too."""
    asked = read_question(question)
    named = [called()[state.dimension] for state in asked.states]
    topic = " ".join(word for word in tokens(asked.topic) if not any(each.find([word]) for each in named))
    return find_meaning(topic, find_question_language(question))


def reduce_question(question: str, sides: bool = False) -> str:
    """The question in the words that carry meaning, and with the side that it names where `sides` are read; the whole
    of it where its other words say what of a state is asked ("not happy")."""
    asked = read_question(question)
    side = [asked.side] if sides and asked.side else []
    words = find_meaning(asked.topic if sides else question, find_question_language(question))
    reduced = " ".join([*side, *words])
    return reduced if read_question(reduced).states == asked.states else question


class Unsaid(NamedTuple):
    """A word of the question that nobody says whose words are asked for (`side`, None: anybody's); `others`:
    conversations in which somebody else does."""

    word: str
    side: str | None
    others: int


class SaidWords(NamedTuple):
    """What is said of the words that a question looks for: `forms`, the forms of each that anybody says, commonest
    first; `unsaid`, those that the side which it names says in no conversation."""

    forms: dict[str, tuple[str, ...]]
    unsaid: list[Unsaid]


def read_said(question: str, talks: Iterable[Conversation], language: str) -> SaidWords:
    """Which of the words that a question looks for are said, in any form, in conversations of that language."""
    side, wanted = read_question(question).side, find_sayable(question)
    stems = {stem(word, language): word for word in wanted}
    starts = [start for word in wanted for start in find_starts(word, language)]
    said: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {word: Counter() for word in wanted}
    of_side: set[str] = set()
    none = True
    for talk in talks:
        none = False
        here: set[str] = set()
        for message in talk.messages:
            text = message.text.casefold()
            # Cutting every message into words would take longer than the search.
            if not any(start in text for start in starts):
                continue
            found = {form: stems[stemmed] for form in {*tokenize(text)} if (stemmed := stem(form, language)) in stems}
            here.update(found.values())
            if side is None or SPEAKERS[message.role] == side:
                of_side.update(found.values())
            for form, word in found.items():
                forms[word][form] += 1
        said.update(here)
    # Two forms of one word in a question are looked for as one.
    looked_for = [] if none else list(dict.fromkeys(stems.values()))
    return SaidWords(
        {word: tuple(form for form, _ in forms[word].most_common()) for word in looked_for if forms[word]},
        [Unsaid(word, side, said[word]) for word in looked_for if word not in of_side],
    )
