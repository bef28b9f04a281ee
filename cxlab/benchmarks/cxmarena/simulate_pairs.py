"""How simulated models compare two articles: what each states of which thing, and whether the words mean the same."""

from __future__ import annotations

import functools
import hashlib

import numpy as np

from cxlab.benchmarks.cxmarena import meanings
from cxlab.benchmarks.cxmarena.claims import WORDED, Claim, contrasts
from cxlab.benchmarks.cxmarena.prompts import PairInputs
from cxlab.benchmarks.cxmarena.simulate import write
from cxlab.llm.simulated import Profile


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
    return write({"first": "", "second": "", "contradicts": False}, profile, rng, "I see no contradiction.")


def _one_property(one: Claim, other: Claim, profile: Profile) -> bool:
    """Whether the words mean the same to this reader; turns of phrase take more knowledge than plain names."""
    mine, theirs = (
        {
            name
            for name, (plain, words) in meanings.find(claim.text.replace(claim.thing, "…")).items()
            if hardness(words) < (profile.comprehension if plain else profile.subtlety)
        }
        for claim in (one, other)
    )
    if one.unit == WORDED:
        return bool(mine & theirs & meanings.WORDED)
    if mine and theirs:
        return bool(mine & theirs)
    # Words that say nothing to it: with a value of the same kind, a careless reader takes them for the same.
    alike = {*one.words} & {*other.words}
    careless = 1 - profile.rule_following * profile.joint_conditions
    return len(alike) >= 2 and hardness(f"{one.text} {other.text}") < careless
