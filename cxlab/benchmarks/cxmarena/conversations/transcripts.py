"""Conversations as the tasks print them: plain transcripts and numbered lines, with the way back to messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from cxlab.benchmarks.cxmarena.conversations.noise import MessageOrigin, Noise, NoisyConversation
from cxlab.records import Conversation, Message

# What a service desk's transcript shows; tool results and system notes are not said by anybody.
SPEAKERS = {"customer": "Customer", "agent": "Agent", "ivr": "IVR"}


class TranscriptLine(NamedTuple):
    """One line: who, what, and the place of the served message that it is."""

    who: str
    text: str
    place: int


def served(conversation: Conversation, noisy: NoisyConversation | None = None) -> NoisyConversation:
    """The conversation as it is served; without noise, messages and places are the clean ones."""
    if noisy is not None:
        return noisy
    origins = tuple(MessageOrigin(cause="message", index=index) for index in range(len(conversation.messages)))
    return NoisyConversation(messages=conversation.messages, origins=origins, noise=Noise())


def lines(messages: Sequence[Message]) -> list[TranscriptLine]:
    """What was said, in order; one line a message, whatever breaks stand in it."""
    return [
        TranscriptLine(SPEAKERS[message.role], text, place)
        for place, message in enumerate(messages)
        if message.role in SPEAKERS and (text := " ".join(message.text.split()))
    ]


def transcript(messages: Sequence[Message]) -> str:
    """ "Customer: ..." and "Agent: ..." lines, as the published transcripts have them."""
    return "\n".join(f"{one.who}: {one.text}" for one in lines(messages))


def number(messages: Sequence[Message]) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """(lines numbered from 1 as samples hold them, index of a message → its line)."""
    said = lines(messages)
    rows = [{"id": n, "who": one.who, "text": one.text} for n, one in enumerate(said, 1)]
    return rows, {one.place: n for n, one in enumerate(said, 1)}


def customer_words(conversation: Conversation, most: int = 3) -> list[str]:
    """The customer's first messages, clean."""
    return [m.text for m in conversation.messages if m.role == "customer"][:most]


def carry(noisy: NoisyConversation, places: dict[int, int], indices: Iterable[int]) -> list[int]:
    """Clean message indices as numbers of the served lines."""
    return [places[index] for index in noisy.carry(indices) if index in places]
