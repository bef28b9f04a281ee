"""What a talk costs a customer who is short of patience, and what a customer who loses the thread makes of it.

Everything is counted from the agent's messages, so an agent that asks once, in everyday words, for one thing at a
time, wears nobody out; and one that is kind about it gets a little further. Nothing here knows how good the agent is.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
from collections.abc import Collection, Sequence

import numpy as np

from cxlab.benchmarks.mmtaup2 import stated_values
from cxlab.benchmarks.mmtaup2.simulated.telecom import phrases as telecom_phrases

# What a message costs: being on the phone at all, a thing asked for again, a strange word, each further thing that is
# asked for, a long speech; and what a kind word gives back.
TIME, AGAIN, STRANGE, FURTHER, LONG, KIND = 0.25, 0.75, 0.5, 0.5, 0.5, 0.75
LONG_WORDS = 36
HANDED_OVER = re.compile(r"\bhand(?:ing|ed)? you over\b|\btransferr?(?:ing|ed)?\b|\bcolleague\b", re.IGNORECASE)
STRAYED = re.compile(r"\bmy (?:late )?(?:daughter|sister|husband|neighbour|wife)\b.*\.$|\bin my day\b", re.IGNORECASE)
# After so many messages in a row that it could do nothing with, a customer gives up.
PATIENCE = 4
# Patience runs out somewhere between these; where, is the person's own.
LEAST, MOST = 8.0, 20.0
# From this share of it on, the person says so.
IRRITATED = 0.6
_KIND = re.compile(
    r"\bdon't worry\b|\bno worry\b|\btake your time\b|\bno hurry\b|\bdoing (?:well|fine|very well)\b|"
    r"\bsorry for the trouble\b|"
    r"\bi understand that\b|\bnearly there\b",
    re.IGNORECASE,
)


def strain(agent: Sequence[str]) -> float:
    """How much the agent's messages since the greeting have cost; never below nothing at any point."""
    total = 0.0
    asked: set[str] = set()
    for place, text in enumerate(agent[1:], 1):
        requests = {one.name for one in telecom_phrases.requests_in(text)}
        cost = TIME + FURTHER * max(len(requests) - 1, 0)
        if requests & asked or any(_alike(text, earlier) for earlier in agent[max(1, place - 4) : place]):
            cost += AGAIN
        if telecom_phrases.things_in(text):
            cost += STRANGE
        if len(text.split()) > LONG_WORDS:
            cost += LONG
        if _KIND.search(text):
            cost -= KIND
        total = max(0.0, total + cost)
        asked |= requests
    return total


@functools.lru_cache(maxsize=20_000)
def _alike(one: str, other: str) -> bool:
    return stated_values.alike(one, other, 0.75)


def patience(person: str) -> float:
    """How much a person can take; the same for the same person, whoever serves them and under whatever terms."""
    digest = hashlib.blake2b(person.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return LEAST + (MOST - LEAST) * int.from_bytes(digest, "big") / 2**32


class CustomerPatience:
    """A customer's state of mind at this point of a talk."""

    def __init__(self, traits: Collection[str], agent: Sequence[str], own: Sequence[str], person: str) -> None:
        self.traits, self.last, self.own = set(traits), agent[-1] if agent else "", own
        self.share = strain(agent) / patience(person) if "short_of_patience" in self.traits else 0.0

    @property
    def gives_up(self) -> bool:
        return self.share >= 1

    @property
    def irritated(self) -> bool:
        return self.share >= IRRITATED

    def strays(self, roll: float) -> bool:
        """Whether a question gets another answer than it asked for; the longer it is, the likelier. `roll`: 0 to 1."""
        if "rambles" not in self.traits:
            return False
        return roll < min(0.6, 0.02 * max(len(self.last.split()) - 8, 0))

    def slips(self, requests: int, roll: float) -> bool:
        """Whether the wrong thing is touched: when several were asked for, or in words that mean nothing."""
        if "touches_the_wrong_thing" not in self.traits:
            return False
        return roll < (0.3 if requests > 1 else 0.2 if telecom_phrases.things_in(self.last) else 0.03)


def garble_number(number: str, rng: np.random.Generator) -> str:
    """The number with two neighbouring digits swapped, or the last one missing."""
    places = [i for i, (a, b) in enumerate(itertools.pairwise(number)) if a != b and (a + b).isdigit()]
    if not places or rng.random() < 0.3:
        return number[:-1]
    at = places[int(rng.random() * len(places))]
    return number[:at] + number[at + 1] + number[at] + number[at + 2 :]
