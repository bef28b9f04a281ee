"""What a talk costs a customer who is short of patience, and what a customer who loses the thread makes of it.

What it costs is counted by `conversation/patience.py` from the agent's messages.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence

import numpy as np

from cxlab.benchmarks.mmtaup2.conversation.patience import HURRIED, SHORT, MessageLoad, patience, strain
from cxlab.benchmarks.mmtaup2.simulated.telecom import phrases as telecom_phrases

HANDED_OVER = re.compile(r"\bhand(?:ing|ed)? you over\b|\btransferr?(?:ing|ed)?\b|\bcolleague\b", re.IGNORECASE)
STRAYED = re.compile(
    r"\bmy (?:late )?(?:daughter|sister|husband|neighbour|wife)\b.*\.$|\bin my day\b|\bbefore all that\b", re.IGNORECASE
)
# After so many messages in a row that it could do nothing with, a customer gives up.
PATIENCE = 4
# From this share of it on, the person says so.
IRRITATED = 0.6


def read_lexicon(text: str) -> MessageLoad:
    """What a message asks of a stand-in, whatever the wording: it knows each request by its lexicon."""
    return MessageLoad(
        frozenset(one.name for one in telecom_phrases.requests_in(text)), bool(telecom_phrases.things_in(text))
    )


# What gives a reason for what is asked for
REASON = re.compile(
    r"\b(?:so that|because|in order to|since|overdue|used (?:up|for)"
    r"|to (?:find|help|look|check|make|see|add|get|protect))\b",
    re.IGNORECASE,
)
_WHY = re.compile(r"\bwhat .*\bfor\?|\bwhy\b", re.IGNORECASE)
# How often somebody insists on a reason before telling all the same.
_INSISTS = 2


def voice_of(traits: Collection[str]) -> str:
    """As which person somebody of these traits puts things, as the phrases name them."""
    if "plain_words" in traits:
        return "hard"
    return "hurried" if HURRIED in traits else "wary" if "asks_why" in traits else "none"


def wants_reason(traits: Collection[str], asked: str, own: Sequence[str]) -> bool:
    """Whether what is asked for is not told before it was said what for."""
    if "asks_why" not in traits or REASON.search(asked):
        return False
    return sum(bool(_WHY.search(text)) for text in own) < _INSISTS


def doubts(traits: Collection[str], offer: str, own: Sequence[str]) -> bool:
    """Whether an offer that costs something is turned down: the first time always, and without a reason."""
    if "doubts" not in traits or "$" not in offer:
        return False
    return not (REASON.search(offer) and any(_DOUBT.search(text) for text in own))


_DOUBT = re.compile(r"\bno\b.*\bwhy\b|\bnot pay\b", re.IGNORECASE)


class CustomerPatience:
    """A customer's state of mind at this point of a talk."""

    def __init__(self, traits: Collection[str], agent: Sequence[str], own: Sequence[str], person: str) -> None:
        self.traits, self.last, self.own = set(traits), agent[-1] if agent else "", own
        worn = strain(agent, read_lexicon, HURRIED in self.traits)[-1] if SHORT in self.traits else 0.0
        self.share = worn / patience(person)

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
