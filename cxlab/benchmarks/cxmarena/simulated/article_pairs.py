"""How simulated models compare two articles: what each states of which thing, and whether the words mean the same."""

from __future__ import annotations

import functools
import hashlib

import numpy as np

from cxlab.benchmarks.cxmarena.evaluation.claims import (
    WORDED,
    Claim,
    contrasts,
)
from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import PairInputs
from cxlab.benchmarks.cxmarena.simulated import property_lexicon
from cxlab.benchmarks.cxmarena.simulated.sentence_contrasts import other_rates, unlike_sentences
from cxlab.benchmarks.cxmarena.simulated.transcript_tasks import write
from cxlab.benchmarks.cxmarena.text import content, sentences
from cxlab.llm.simulated import Profile

# Sentences of five words or more: two with three fifths of their words in common say the same, and when a third of an
# article's do, it is a copy; two in a row that are nearly word for word are a passage that was copied.
SHORTEST, SAME, PART, COPIED, RUN = 5, 0.6, 0.33, 0.85, 2


@functools.lru_cache(maxsize=100_000)
def hardness(matter: str) -> float:
    """How hard something is to notice or to know, from 0 to 1: the same for all readers, so that who is more able sees
    what the less able see, and more.
    """
    return int.from_bytes(hashlib.blake2b(matter.encode(), digest_size=4).digest(), "big") / 2**32


def contradiction(inputs: PairInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The first two statements that this reader takes for different values of one property of one thing."""
    for one, other in contrasts(inputs.first.text, inputs.second.text):
        if hardness(one.text) < profile.comprehension and _one_property(one, other, profile):
            reply = {"first": one.text, "second": other.text, "contradicts": True}
            return write(reply, profile, rng, f"They disagree: {one.text} / {other.text}")
    for said, denied in unlike_sentences(inputs.first.text, inputs.second.text):
        if hardness(said) < profile.comprehension:
            reply = {"first": said, "second": denied, "contradicts": True}
            return write(reply, profile, rng, f"They disagree: {said} / {denied}")
    return write({"first": "", "second": "", "contradicts": False}, profile, rng, "I see no contradiction.")


def similar(inputs: PairInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Whether sentences of one come again in the other: several side by side, or a good part of all."""
    first, second = ([(s, frozenset(content(s))) for s in sentences(p.text)] for p in (inputs.first, inputs.second))
    other = [words for _, words in second if len(words) >= SHORTEST]
    again = []
    for said, words in first:
        if len(words) < SHORTEST:
            continue
        alike = max((len(words & one) / len(words | one) for one in other), default=0.0)
        again.append((said, alike if hardness(said) < profile.comprehension else 0.0))
    run = longest = 0
    for _, alike in again:
        run = run + 1 if alike >= COPIED else 0
        longest = max(longest, run)
    shared = [said for said, alike in again if alike >= SAME]
    holds = longest >= RUN or len(shared) >= PART * max(len(again), 1)
    told = shared[0] if holds and shared else ""
    return write({"shared": told, "similar": holds}, profile, rng, told or "They differ.")


def _one_property(one: Claim, other: Claim, profile: Profile) -> bool:
    """Whether the words mean the same to this reader; turns of phrase take more knowledge than plain names."""
    if other_rates(one.text, other.text):
        return False
    mine, theirs = (
        {
            name
            for name, (plain, words) in property_lexicon.find(claim.text.replace(claim.thing, "…")).items()
            if hardness(words) < (profile.comprehension if plain else profile.subtlety)
        }
        for claim in (one, other)
    )
    if one.unit == WORDED:
        return bool(mine & theirs & property_lexicon.WORDED)
    if mine and theirs:
        return bool(mine & theirs)
    # Words that say nothing to it: with a value of the same kind, a careless reader takes them for the same.
    alike = {*one.words} & {*other.words}
    careless = 1 - profile.rule_following * profile.joint_conditions
    return len(alike) >= 2 and hardness(f"{one.text} {other.text}") < careless
