"""Cutting a conversation into the pieces that are searched."""

from typing import Literal, NamedTuple, get_args

from cxlab.benchmarks.cdr.units.unit_text import UnitText
from cxlab.errors import UnknownName
from cxlab.records import Conversation

Granularity = Literal["turn", "window", "session"]
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)
# Messages of a window; windows begin one message apart, as in the paper's tables.
WINDOW = 3
_AS_USUAL = UnitText()


class Unit(NamedTuple):
    """A piece of a conversation; `first` and `last` are the places of its messages in it, from 0, both included.

    `text` is "" where none of these messages has any.
    """

    conversation_id: str
    text: str
    first: int
    last: int


def split(conversation: Conversation, granularity: Granularity, text: UnitText = _AS_USUAL) -> list[Unit]:
    """A conversation's units in the order of their first message; none where nobody of `text.roles` speaks.

    `turn`: each message. `window`: each three consecutive messages, or all where there are fewer. `session`: all.
    Messages are those of `text.roles`; one without text is counted as a message.
    """
    if granularity not in GRANULARITIES:
        raise UnknownName("granularity", granularity, GRANULARITIES)
    roles = set(text.roles)
    places = [place for place, message in enumerate(conversation.messages) if message.role in roles]
    if not places:
        return []
    size = {"turn": 1, "window": WINDOW, "session": len(places)}[granularity]
    units = []
    for start in range(max(1, len(places) - size + 1)):
        held = places[start : start + size]
        said = text.write(tuple(conversation.messages[place] for place in held))
        units.append(Unit(conversation.id, said, held[0], held[-1]))
    return units
