"""Which words of a question can be evidence: those that tell what is talked of, and not those that any talk holds."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cxlab.benchmarks.cdr.units.unit_text import SPEAKERS
from cxlab.records import Conversation
from cxlab.retrieval.bm25 import tokenize
from cxlab.retrieval.conversation import read_question
from cxlab.retrieval.conversation.messages import SIDES
from cxlab.retrieval.conversation.signals import called, tokens

# What a question says of the search itself, or of anybody and anything. Verbs of a matter ("promise", "call", "pay")
# are none of these.
_OF_THE_SEARCH = """
    find finds search look looks looking show shows example examples conversation conversations talk talks talking
    talked dialogue dialogues session sessions chat chats message messages people person persons somebody someone
    something anybody anyone anything everybody everyone everything thing things nobody say says said saying tell tells
    told telling mention mentions mentioned mentioning speak speaks speaking spoke ask asks asked asking express
    expresses expressed expressing state states stated stating describe describes described describing reflect reflects
    reflecting highlight highlights highlighting happen happens happened happening want wants wanted get gets got
    getting would could might may must shall can cannot also ever even us let one ones
"""
# Who calls for one of these talks of it.
_SIDES = {*SIDES} - {"human", "bot", "ai"}
_BARE = frozenset(_OF_THE_SEARCH.split()) | _SIDES | {f"{name}s" for name in _SIDES}


@functools.cache
def _empty() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN_PLUS  # late: with what indexes

    return _BARE | {piece for word in STOPWORDS_EN_PLUS for piece in tokenize(word)}


def carries_meaning(word: str) -> bool:
    """Whether a word tells what is talked of; what has no letters and no digits is taken as it is. In English."""
    pieces = tokenize(word)
    return not pieces or any(piece not in _empty() for piece in pieces)


def find_meaning(text: str) -> tuple[str, ...]:
    """The words of a text that carry meaning, as indexes cut them, each once."""
    return tuple(word for word in dict.fromkeys(tokenize(text)) if carries_meaning(word))


def find_sayable(question: str) -> tuple[str, ...]:
    """The words of the topic that a conversation would have to say: names of moods are read off other words, too."""
    asked = read_question(question)
    named = [called()[state.dimension] for state in asked.states]
    topic = " ".join(word for word in tokens(asked.topic) if not any(each.find([word]) for each in named))
    return find_meaning(topic)


def reduce_question(question: str, sides: bool = False) -> str:
    """The question in the words that carry meaning, and with the side that it names where `sides` are read; the whole
    of it where its other words say what of a state is asked ("not happy")."""
    asked = read_question(question)
    side = [asked.side] if sides and asked.side else []
    reduced = " ".join([*side, *find_meaning(asked.topic if sides else question)])
    return reduced if read_question(reduced).states == asked.states else question


class Unsaid(NamedTuple):
    """A word of the question that nobody says whose words are asked for (`side`, None: anybody's); `others`:
    conversations in which somebody else does."""

    word: str
    side: str | None
    others: int


def find_unsaid(question: str, talks: Sequence[Conversation]) -> list[Unsaid]:
    """The words that a question looks for and that the side which it names says in none of these conversations."""
    side, wanted = read_question(question).side, find_sayable(question)
    said: Counter[str] = Counter()
    of_side: set[str] = set()
    for talk in talks:
        here: set[str] = set()
        for message in talk.messages:
            text = message.text.casefold()
            # Cutting every message into words would take longer than the search.
            if near := [word for word in wanted if word in text]:
                held = {*tokenize(text)}.intersection(near)
                here |= held
                of_side |= held if side is None or SPEAKERS[message.role] == side else set()
        said.update(here)
    return [Unsaid(word, side, said[word]) for word in wanted if word not in of_side] if talks else []
