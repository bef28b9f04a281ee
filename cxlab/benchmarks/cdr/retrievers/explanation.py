"""Why a conversation fits a question: its words, whose they are, and what moves over its messages.

Read off the question and the messages, whichever retriever found them; an embedder sees more than stands here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cxlab.benchmarks.cdr.retrievers.question_words import find_meaning
from cxlab.benchmarks.cdr.units import Unit
from cxlab.benchmarks.cdr.units.unit_text import SPEAKERS
from cxlab.records import Conversation, Message
from cxlab.retrieval.bm25 import tokenize
from cxlab.retrieval.conversation import read_question
from cxlab.retrieval.conversation.mood import read_mood
from cxlab.retrieval.conversation.question import State, Where
from cxlab.retrieval.conversation.signals import DIMENSIONS, called, name_kinds, read_signals, tokens
from cxlab.word_forms import find_question_language, stem

NOTHING = 0.005
"""A level below which a message shows nothing of a dimension, as two decimals have it."""
LEAST = 0.15
"""What a level has to be to tell anything: one word in a long talk is no mood."""


class Level(NamedTuple):
    """A dimension that the question names, in one message: from -1 to 1; `place` counts messages from 0."""

    place: int
    value: float


class Movement(NamedTuple):
    """What the question asks of a dimension (`sign` of its end, `where`), and the levels of that side's messages."""

    dimension: str
    sign: int
    where: Where
    levels: tuple[Level, ...]

    @property
    def early(self) -> float:
        """The mean of the first half; of an odd number the middle one counts in both."""
        half = (len(self.levels) + 1) // 2
        return sum(each.value for each in self.levels[:half]) / max(half, 1)

    @property
    def late(self) -> float:
        """The mean of the second half."""
        half = (len(self.levels) + 1) // 2
        return sum(each.value for each in self.levels[-half:]) / max(half, 1)

    @property
    def level(self) -> float:
        """The mean of all of them."""
        return sum(each.value for each in self.levels) / max(len(self.levels), 1)

    @property
    def speaks_for_it(self) -> bool:
        """Whether the levels go where the question asks: there anywhere, at that end, nearer to it later than earlier,
        or, where it is to grow, also there in the end. What it comes to has to be enough to tell anything, and anywhere
        or at the start a message has to show it that can be given as evidence."""
        half = (len(self.levels) + 1) // 2
        begun = any(self.sign * each.value >= LEAST for each in self.levels[:half])
        come_to = self.sign * self.late >= LEAST
        moved = self.sign * (self.late - self.early) >= NOTHING
        return {
            "any": self.shown > 0,
            "start": begun and self.sign * self.early >= NOTHING,
            "end": come_to,
            "rise": moved,
            "grow": moved and come_to,
        }[self.where]

    @property
    def shown(self) -> float:
        """What the messages that show it come to together; 0 where none does."""
        return sum(level for each in self.levels if (level := self.sign * each.value) >= LEAST)

    @property
    def strength(self) -> float:
        """How much of what is asked there is: what shows it, the level where it is to be, or the way where only that is
        asked."""
        if self.where == "any":
            return self.shown
        asked = {"start": self.early, "end": self.late, "rise": self.late - self.early, "grow": self.late}
        return self.sign * asked[self.where]


class Explanation(NamedTuple):
    """`words`: forms of the question's words that carry meaning, as they stand in the unit; `side`: whose words are
    asked for ("user", "assistant", None: anybody's); `of_side`: those of the words that this side says; `movements`:
    one for each state that the question names."""

    words: tuple[str, ...]
    side: str | None
    of_side: tuple[str, ...]
    movements: tuple[Movement, ...]

    @property
    def speaks_for_it(self) -> bool:
        """Whether anything of the conversation speaks for the question: where it asks how states move, that all of
        them do so; else a word of the side that is meant, or a state."""
        moving = [each for each in self.movements if each.where != "any"]
        if moving:
            return all(each.speaks_for_it for each in moving)
        return bool(self.of_side) or any(each.speaks_for_it for each in self.movements)

    @property
    def speaks_in_full(self) -> bool:
        """Whether a word of the side that is meant speaks for the question, and each state that it names."""
        return bool(self.of_side) and all(each.speaks_for_it for each in self.movements)

    @property
    def strength(self) -> float:
        """How much of the states that are to move there is, in the mean; where none is to move, of all of them."""
        moving = [each for each in self.movements if each.where != "any"] or self.movements
        return sum(each.strength for each in moving) / max(len(moving), 1)


def asks_how_it_moves(question: str) -> bool:
    """Whether a question names a state and where it is to be: at the start, in the end, growing."""
    return any(state.where != "any" for state in read_question(question).states)


def asks_for_states_alone(question: str) -> bool:
    """Whether a question names states and nothing to talk of: "angry customers", but not "angry about the fees"."""
    asked = read_question(question)
    named = [called()[state.dimension] for state in asked.states]
    return bool(named) and all(any(each.find([word]) for each in named) for word in tokens(asked.topic))


def explain(question: str, conversation: Conversation, unit: Unit, language: str = "") -> Explanation:
    """What of the conversation speaks for the question; words in all forms that they have in that language."""
    asked = read_question(question)
    wanted = find_meaning(asked.topic, find_question_language(question))
    held = conversation.messages[unit.first : unit.last + 1]
    words = _find_words(wanted, held, language)
    meant = [message for message in held if asked.side is None or SPEAKERS[message.role] == asked.side]
    kinds = name_kinds(question)
    of_side = [
        (
            place,
            {**dict(zip(DIMENSIONS, read_signals(message.text), strict=True)), "mood": read_mood(message.text, kinds)},
        )
        for place, message in enumerate(conversation.messages)
        if message.text and (asked.side is None or SPEAKERS[message.role] == asked.side)
    ]
    movements = [
        Movement(
            state.dimension,
            state.sign,
            state.where,
            tuple(Level(place, signals[state.dimension]) for place, signals in of_side),
        )
        for state in _join(asked.states)
    ]
    return Explanation(words, asked.side, _find_words(wanted, meant, language), tuple(movements))


def _join(states: Sequence[State]) -> list[State]:
    """The states, of which what is to grow and to be there in the end is one."""
    wanted = {(state.dimension, state.sign, state.where) for state in states}
    joined = [
        state._replace(where="grow")
        if state.where in ("end", "rise") and {(*state[:2], "end"), (*state[:2], "rise")} <= wanted
        else state
        for state in states
    ]
    return list(dict.fromkeys(joined))


def _find_words(wanted: Sequence[str], messages: Sequence[Message], language: str) -> tuple[str, ...]:
    """The forms of these words that stand in the messages, in the order of the words, then of the messages."""
    there: dict[str, list[str]] = {}
    for form in dict.fromkeys(word for message in messages for word in tokenize(message.text)):
        there.setdefault(stem(form, language), []).append(form)
    return tuple(dict.fromkeys(form for word in wanted for form in there.get(stem(word, language), ())))
