"""What a talk costs a customer who is short of patience, counted from the agent's messages.

An agent that asks once, in everyday words, for one thing at a time, wears nobody out; and one that is kind about it
gets a little further. Nothing here knows how good the agent is, or who plays the customer.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cxlab.benchmarks.mmtaup2 import stated_values

# What a message costs: being on the phone at all, a thing asked for again, a strange word, each further thing that is
# asked for, a long speech; and what a kind word gives back.
TIME, AGAIN, STRANGE, FURTHER, LONG, KIND = 0.25, 0.75, 0.5, 0.5, 0.5, 0.75
# Who is in a hurry is worn out by each message and by kind words, and by several things at once not at all.
HURRIED_TIME, HURRIED_KIND = 0.75, 0.5
LONG_WORDS = 36
# Patience runs out somewhere between these; where, is the person's own.
LEAST, MOST = 8.0, 20.0
SHORT = "short_of_patience"
"""The trait of those who wear out; those with the other one in a way of their own."""
HURRIED = "in_a_hurry"
_KIND = re.compile(
    r"\bdon't worry\b|\bno worry\b|\btake your time\b|\bno hurry\b|\bdoing (?:well|fine|very well)\b|"
    r"\bsorry for the trouble\b|"
    r"\bi understand that\b|\bnearly there\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class MessageLoad:
    """What a message asks of a customer: its requests, each by a name of its own, and whether a word is strange."""

    requests: frozenset[str]
    strange: bool


def strain(agent: Sequence[str], read: Callable[[str], MessageLoad], hurried: bool = False) -> list[float]:
    """How much the agent's messages have cost after each of them; the greeting costs nothing.

    Never below nothing at any point. `read` says what a message asks. Without a message [0.0].
    """
    course = [0.0]
    asked: set[str] = set()
    for place, text in enumerate(agent[1:], 1):
        load = read(text)
        cost = HURRIED_TIME if hurried else TIME + FURTHER * max(len(load.requests) - 1, 0)
        if load.requests & asked or any(_alike(text, earlier) for earlier in agent[max(1, place - 4) : place]):
            cost += AGAIN
        if load.strange and not hurried:
            cost += STRANGE
        if len(text.split()) > LONG_WORDS:
            cost += LONG
        if _KIND.search(text):
            cost += HURRIED_KIND if hurried else -KIND
        course.append(max(0.0, course[-1] + cost))
        asked |= load.requests
    return course


@functools.lru_cache(maxsize=20_000)
def _alike(one: str, other: str) -> bool:
    return stated_values.alike(one, other, 0.75)


def patience(person: str) -> float:
    """How much a person can take; the same for the same person, whoever serves them and under whatever terms."""
    digest = hashlib.blake2b(person.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return LEAST + (MOST - LEAST) * int.from_bytes(digest, "big") / 2**32


def person_of(reason: str, contact: str, name: str) -> str:
    """Who a customer is, as `patience` tells people apart."""
    return f"{reason} {contact} {name}"
