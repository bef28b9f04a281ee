"""Conversation noise: an IVR opening, misheard speech, messages in fragments; each switched by itself.

    noisy = add_noise(messages, Noise(seed=1, fragmentation=0.5, wer=0.15, opening=IvrOpening(...)))
    noisy.messages                  # what is served; agent and tool messages are as they were
    noisy.origins[i]                # where message i comes from, and how to undo its errors
    noisy.places(k), noisy.source(i)  # clean index -> noisy indices, noisy index -> clean index or None
    remove_noise(noisy) == messages # always

Turns keep their numbers: fragments are in the turn of the message they were, the opening is turn 0. So
grounding by turn still holds; evidence by message index goes through `places`.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from cxlab import files, resources
from cxlab.benchmarks.generation import rng_for
from cxlab.errors import BadOption, UnknownName
from cxlab.files import grammar
from cxlab.records import Message, content_id
from cxlab.records.base import Record
from cxlab.voice import LANGUAGES, hear

PHRASES = resources.data("voice", "ivr.yaml")
Cause = Literal["message", "ivr"]

# How likely a place is to be a break, before `fragmentation` scales it: by syntax, and last by chance.
BREAKS = {"sentence": 1.0, "clause": 0.7, "joint": 0.6, "anywhere": 0.06}
JOINTS = {
    "en": "and but because so since when if that which while although then or",
    "de": "und aber weil denn also seit wenn dass ob während obwohl dann oder",
    "fr": "et mais parce donc puisque quand si que qui alors ou car lorsque",
}
MOST_FRAGMENTS = 6


class CallerCheck(Record):
    """What the machine asks for before it connects, and what the caller keys; None: left out for privacy."""

    what: str
    value: str | None = None


class IvrOpening(Record):
    """An IVR opening: the menus in order, each with its options and the index that the caller wants.

    `choice` None means that no option fits and the caller takes the last, "anything else".
    """

    class Menu(Record):
        options: tuple[str, ...] = Field(min_length=1, max_length=8)
        choice: int | None = None

    brand: str
    menus: tuple[Menu, ...] = Field(min_length=1)
    check: CallerCheck | None = None


class Noise(Record):
    """Which noise, how much, and its seed; the default is none."""

    seed: int = 0
    fragmentation: float = 0.0
    wer: float = 0.0
    opening: IvrOpening | None = None
    language: str = "en"
    roles: tuple[str, ...] = ("customer",)


class HearingError(Record):
    """One misheard stretch of a noisy message: at `at` stands `heard` where `said` was said."""

    at: int
    heard: str
    said: str
    kind: str


class MessageOrigin(Record):
    """Where a noisy message comes from: clean message `index` from `start` on, or the opening.

    `changes` stand in the order of the text; `after` is the white space that a fragment lost at its end.
    """

    cause: Cause
    index: int | None = None
    start: int = 0
    after: str = ""
    changes: tuple[HearingError, ...] = ()


class NoisyConversation(Record):
    """A conversation with noise and the map back; messages and origins stand side by side."""

    messages: tuple[Message, ...]
    origins: tuple[MessageOrigin, ...]
    noise: Noise

    def places(self, index: int) -> tuple[int, ...]:
        """Indices of the noisy messages that clean message `index` became, in order."""
        return tuple(i for i, origin in enumerate(self.origins) if origin.index == index)

    def source(self, index: int) -> int | None:
        """Index of the clean message that noisy message `index` comes from; None in the opening."""
        return self.origins[index].index

    def carry(self, indices: Iterable[int]) -> tuple[int, ...]:
        """Clean message indices (evidence, say) as noisy ones, in order and without repeats."""
        wanted = set(indices)
        return tuple(i for i, origin in enumerate(self.origins) if origin.index in wanted)


def add_noise(messages: Sequence[Message], noise: Noise) -> NoisyConversation:
    """The conversation with the noise that is switched on; the same for the same messages and settings.

    Each kind draws for itself, so switching one off leaves the others as they were; only a break that
    would fall inside one misheard stretch is left out. Raises BadOption or UnknownName.
    """
    if noise.language not in LANGUAGES:
        raise UnknownName("language", noise.language, LANGUAGES)
    for name, value in (("fragmentation", noise.fragmentation), ("wer", noise.wer)):
        if not 0 <= value <= 1:
            raise BadOption(f"{name} {value!r}; give a number from 0 to 1")
    served: list[Message] = []
    origins: list[MessageOrigin] = []
    if noise.opening is not None:
        for message in _open(noise.opening, noise):
            # Keys come through a telephone line unharmed, spoken choices do not.
            spoken = message.role == "customer" and not message.data.get("keyed")
            parts = _hear(message, noise, ("ivr", len(served)), 0.0 if spoken else None)
            for text, origin in parts:
                served.append(message.model_copy(update={"text": text}))
                origins.append(origin.model_copy(update={"cause": "ivr", "index": None}))
    for index, message in enumerate(messages):
        speaks = message.role in noise.roles and message.text.strip()
        parts = _hear(message, noise, ("message", index), noise.fragmentation if speaks else None)
        for n, (text, origin) in enumerate(parts, 1):
            # The last fragment completes the message, so what was known of the whole stands there.
            whole = n == len(parts)
            kept = {"text": text} if whole else {"text": text, "data": {}, "tool_calls": ()}
            served.append(message.model_copy(update=kept))
            origins.append(origin.model_copy(update={"cause": "message", "index": index}))
    return NoisyConversation(messages=tuple(served), origins=tuple(origins), noise=noise)


def remove_noise(noisy: NoisyConversation) -> tuple[Message, ...]:
    """The clean conversation, from the noisy one and its map alone."""
    clean: dict[int, Message] = {}
    for message, origin in zip(noisy.messages, noisy.origins, strict=True):
        if origin.index is None:
            continue
        text = message.text
        for change in reversed(origin.changes):
            text = text[: change.at] + change.said + text[change.at + len(change.heard) :]
        before = clean[origin.index].text if origin.index in clean else ""
        clean[origin.index] = message.model_copy(update={"text": before + text + origin.after})
    return tuple(clean[index] for index in sorted(clean))


# Speech and fragments ---------------------------------------------------------------------------------


def _hear(
    message: Message, noise: Noise, where: tuple[str, int], fragmentation: float | None
) -> list[tuple[str, MessageOrigin]]:
    """The message in its fragments, each as it was heard; `fragmentation` None: nobody speaks here."""
    origin = MessageOrigin(cause="message")
    if fragmentation is None:
        return [(message.text, origin)]
    number = int(content_id(noise.seed, "speech", *where, length=12), 16)
    pieces = hear(message.text, noise.wer, number, noise.language).pieces
    # (start, end) of what may not be torn, in the said text.
    solid: list[tuple[int, int]] = []
    at = 0
    for piece in pieces:
        if piece.kind is not None:
            solid.append((at, at + len(piece.said)))
        at += len(piece.said)
    cuts = _cuts(message.text, fragmentation, noise, where)
    cuts = [(start, end) for start, end in cuts if not any(one < end and start < other for one, other in solid)]
    while True:
        parts: list[tuple[str, MessageOrigin]] = []
        edges = [(0, 0), *cuts, (len(message.text), len(message.text))]
        for (_, start), (end, after) in itertools.pairwise(edges):
            text, changes = _between(pieces, start, end)
            lost = message.text[end:after]
            parts.append((text, origin.model_copy(update={"start": start, "after": lost, "changes": tuple(changes)})))
        # A fragment of which no word was heard would be a message of nothing; it stays with the one before it.
        silent = next((n for n, (text, _) in enumerate(parts) if not text.strip()), None)
        if not cuts or silent is None:
            return parts
        del cuts[max(0, silent - 1)]


def _between(pieces: Sequence[tuple[str, str, str | None]], start: int, end: int) -> tuple[str, list[HearingError]]:
    """What was heard of the said text from `start` to `end`, and how to undo it."""
    text, changes, at = "", [], 0
    for said, heard, kind in pieces:
        stop = at + len(said)
        if kind is None:
            text += said[max(0, start - at) : max(0, end - at)]
        # An insertion has no width; it belongs to the word that follows it.
        elif start <= at and stop <= end and (said or at < end):
            changes.append(HearingError(at=len(text), heard=heard, said=said, kind=kind))
            text += heard
        at = stop
    return text, changes


def _cuts(text: str, fragmentation: float, noise: Noise, where: tuple[str, int]) -> list[tuple[int, int]]:
    """Blanks (start, end) at which the message breaks, two words or more apart."""
    if fragmentation == 0:
        return []
    rng = rng_for(noise.seed, "fragments", *where)
    joints = JOINTS[noise.language].split()
    words = list(re.finditer(r"\S+", text))
    cuts: list[tuple[int, int]] = []
    since = 1
    for n in range(1, len(words)):
        before, after = words[n - 1], words[n]
        draw = rng.random()
        if before[0].endswith((".", "!", "?", "…")):
            chance = BREAKS["sentence"]
        elif before[0].endswith((",", ";", ":", "–", "—")):
            chance = BREAKS["clause"]
        elif after[0].lower().strip(",") in joints:
            chance = BREAKS["joint"]
        else:
            chance = BREAKS["anywhere"]
        if draw < chance * fragmentation and since >= 2 and len(words) - n >= 2 and len(cuts) < MOST_FRAGMENTS - 1:
            cuts.append((before.end(), after.start()))
            since = 0
        since += 1
    return cuts


# The opening ------------------------------------------------------------------------------------------


@functools.cache
def _phrases() -> Mapping[str, Mapping[str, str]]:
    loaded: Mapping[str, Mapping[str, str]] = files.read_yaml(PHRASES)
    return loaded


def _open(opening: IvrOpening, noise: Noise) -> list[Message]:
    """The machine's prompts and the caller's keys or words, up to the hold line."""
    for menu in opening.menus:
        if menu.choice is not None and not 0 <= menu.choice < len(menu.options):
            raise BadOption(f"IVR choice {menu.choice} of {len(menu.options)} options; the first one is 0")
    rng = rng_for(noise.seed, "ivr", opening.model_dump(mode="json"))
    lines = _phrases()[noise.language]
    said: list[Message] = []

    def phrase(name: str, **slots: str) -> str:
        return grammar.say(lines[name], rng, slots)

    def machine(*parts: str) -> None:
        said.append(Message(role="ivr", text=" ".join(part for part in parts if part), turn=0))

    def caller(text: str, keyed: bool) -> None:
        said.append(Message(role="customer", text=text, turn=0, data={"keyed": keyed}))

    lead = phrase("greeting", brand=opening.brand)
    for depth, menu in enumerate(opening.menus):
        other = len(menu.options) + 1
        listed = [phrase("option", label=label, key=str(key)) for key, label in enumerate(menu.options, 1)]
        ask = " ".join([*listed, phrase("other", key=str(other))])
        hint = phrase("spoken")
        machine(lead, ask, hint)
        if rng.random() < 0.2:
            # A slip of the finger: a key that is on no menu, and the machine starts over.
            caller(str(min(9, other + 1 + int(rng.integers(3)))) if other < 9 else "*", True)
            machine(phrase("retry"), ask)
        right = menu.choice is not None
        label = menu.options[menu.choice] if menu.choice is not None else ""
        if right and hint and rng.random() < 0.5:
            caller(phrase("say_label", label=label), False)
        else:
            caller(str(menu.choice + 1 if menu.choice is not None else other), True)
        lead = phrase("chosen", label=label) if right else phrase("thanks")
        if depth + 1 == len(opening.menus) and opening.check is None:
            machine(lead, phrase("hold"))
    if opening.check is not None:
        machine(lead, phrase("ask", what=opening.check.what))
        if opening.check.value is None:
            machine(phrase("ask", what=opening.check.what))
        else:
            caller(opening.check.value, True)
        machine(phrase("thanks") if opening.check.value is not None else "", phrase("hold"))
    return said
