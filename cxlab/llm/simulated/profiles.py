"""Who the simulated models are: named sets of skills, each a number that a handler reads.

A profile says *how well* a simulated model does things; the handler of each prompt says *how* the task
is done. No profile ever sees an expected answer: its mistakes follow from the knobs below.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Literal

from cxlab.errors import BadOption

Role = Literal["agent", "judge", "customer"]


@dataclass(frozen=True, slots=True)
class Profile:
    """One simulated model. Shares and skills run from 0 (none) to 1 (all) unless said otherwise."""

    name: str
    title: str
    explains: str
    family: str
    role: Role
    comprehension: float = 0.95
    """Share of the plain signals (obvious words for a thing) that it knows."""
    subtlety: float = 0.7
    """Share of the oblique signals (hints, paraphrases) that it knows."""
    negation: bool = True
    """Understands "not angry" as the absence of anger."""
    revision: bool = True
    """Takes up a change of mind instead of keeping what was said first."""
    rule_following: float = 0.95
    """How often a rule that applies is applied."""
    joint_conditions: float = 0.9
    """How often a rule with several conditions is checked on all of them."""
    format_reliability: float = 0.99
    """How often the reply has the form that was asked for."""
    empathy: float = 0.6
    """How often a feeling that was shown is answered."""
    eloquence: float = 0.6
    """How varied and polished the wording is."""
    words: int = 45
    """Typical length of a chat reply, in words."""
    fatigue: int = 20
    """Turn after which early context is lost."""
    hostility_sensitivity: float = 0.1
    """How much an aggressive tone costs in rule following."""
    strictness: float = 0.0
    """Judges: -1 forgives all, 0 reads as written, 1 forgives nothing."""
    self_preference: float = 0.0
    """Judges: how much the style of its own family is favoured."""
    tool_skill: float = 0.9
    """How often a tool is chosen and filled in correctly."""
    benchmark: str = ""
    """The one benchmark in which it means something; "" = any."""

    def __post_init__(self) -> None:
        for knob in fields(self):
            value = getattr(self, knob.name)
            low, high = (-1, 1) if knob.name == "strictness" else (0, 1 if knob.type is float else 10_000)
            if knob.type in (float, int) and not low <= value <= high:
                raise BadOption(f"profile {self.name!r}: {knob.name} = {value!r}; give a number from {low} to {high}")


# What is trivial understands nothing, and is never wrong in form.
_NOTHING: dict[str, Any] = {
    "family": "floor",
    "role": "agent",
    "comprehension": 0.0,
    "subtlety": 0.0,
    "rule_following": 1.0,
    "joint_conditions": 1.0,
    "format_reliability": 1.0,
    "empathy": 0.0,
    "eloquence": 0.0,
    "words": 12,
    "fatigue": 1000,
    "hostility_sensitivity": 0.0,
    "tool_skill": 0.0,
}

_AGENTS = (
    Profile(
        name="strong",
        title="Strong",
        explains="Catches hints, follows long rules and keeps the form: about what a good large model does.",
        family="strong",
        role="agent",
        comprehension=0.99,
        subtlety=0.9,
        rule_following=0.98,
        joint_conditions=0.96,
        format_reliability=0.998,
        empathy=0.7,
        eloquence=0.7,
        words=45,
        fatigue=30,
        hostility_sensitivity=0.03,
        tool_skill=0.96,
    ),
    Profile(
        name="base",
        title="Base",
        explains="Solid on what is said plainly, loses some hints and some joint conditions.",
        family="base",
        role="agent",
        comprehension=0.93,
        subtlety=0.6,
        rule_following=0.92,
        joint_conditions=0.8,
        format_reliability=0.98,
        empathy=0.5,
        eloquence=0.5,
        words=40,
        fatigue=12,
        hostility_sensitivity=0.12,
        tool_skill=0.85,
    ),
    Profile(
        name="weak",
        title="Weak",
        explains="Reads word by word: misses hints and negations, holds on to first statements, breaks the form.",
        family="weak",
        role="agent",
        comprehension=0.75,
        subtlety=0.2,
        negation=False,
        revision=False,
        rule_following=0.75,
        joint_conditions=0.45,
        format_reliability=0.9,
        empathy=0.25,
        eloquence=0.3,
        words=30,
        fatigue=5,
        hostility_sensitivity=0.35,
        tool_skill=0.6,
    ),
    Profile(
        name="eloquent",
        title="Eloquent",
        explains="Warm and articulate, weak in logic: shows how a good tone can hide wrong decisions.",
        family="eloquent",
        role="agent",
        comprehension=0.9,
        subtlety=0.55,
        revision=False,
        rule_following=0.7,
        joint_conditions=0.4,
        format_reliability=0.97,
        empathy=0.98,
        eloquence=0.98,
        words=85,
        fatigue=10,
        hostility_sensitivity=0.2,
        tool_skill=0.7,
    ),
    Profile(
        name="curt",
        title="Curt",
        explains="Logical and short, hardly answers feelings: the opposite of Eloquent.",
        family="curt",
        role="agent",
        comprehension=0.97,
        subtlety=0.7,
        rule_following=0.97,
        joint_conditions=0.95,
        format_reliability=0.995,
        empathy=0.08,
        eloquence=0.15,
        words=14,
        fatigue=25,
        hostility_sensitivity=0.02,
        tool_skill=0.93,
    ),
    Profile(
        name="floor",
        title="Floor",
        explains="Takes up nothing that is said and answers with what holds until told: what a constant scores.",
        **_NOTHING,
    ),
)

_CUSTOMERS = (
    Profile(
        name="customer",
        title="Customer",
        explains="Plays the customer: keeps to its persona and its goal, and answers what it is asked.",
        family="customer",
        role="customer",
        comprehension=0.97,
        subtlety=0.8,
        rule_following=0.97,
        joint_conditions=0.95,
        format_reliability=1.0,
        empathy=0.5,
        eloquence=0.5,
        words=25,
        fatigue=40,
        hostility_sensitivity=0.0,
        tool_skill=0.5,
    ),
)

_JUDGES = (
    Profile(
        name="judge-strict",
        title="Strict judge",
        explains="Reads well and forgives little: marks down what the others let pass.",
        family="judge",
        role="judge",
        comprehension=0.98,
        subtlety=0.85,
        rule_following=0.97,
        joint_conditions=0.95,
        format_reliability=0.995,
        strictness=0.6,
    ),
    Profile(
        name="judge-fair",
        title="Fair judge",
        explains="Reads well and grades what is there.",
        family="judge",
        role="judge",
        comprehension=0.98,
        subtlety=0.88,
        rule_following=0.97,
        joint_conditions=0.95,
        format_reliability=0.995,
    ),
    Profile(
        name="judge-lenient",
        title="Lenient judge",
        explains="Misses some hints and gives the benefit of the doubt.",
        family="judge",
        role="judge",
        comprehension=0.95,
        subtlety=0.7,
        rule_following=0.93,
        joint_conditions=0.9,
        format_reliability=0.99,
        strictness=-0.6,
    ),
    Profile(
        name="judge-partial",
        title="Partial judge",
        explains="Favours the style of its own family, the eloquent one: shows self-preference in a panel.",
        family="eloquent",
        role="judge",
        comprehension=0.96,
        subtlety=0.75,
        rule_following=0.9,
        joint_conditions=0.85,
        format_reliability=0.99,
        self_preference=0.7,
    ),
)

PROFILES: dict[str, Profile] = {profile.name: profile for profile in (*_AGENTS, *_CUSTOMERS, *_JUDGES)}
"""Those that mean something anywhere; `list_profiles` has the others, too."""
_SOURCES: list[Callable[[], Iterable[Profile]]] = []


def add_source(source: Callable[[], Iterable[Profile]]) -> None:
    """Name where further profiles come from; it is asked when a name is not among `PROFILES`, or when all are listed.

    So benchmarks bring profiles of their own without this room knowing any of them.
    """
    _SOURCES.append(source)


def knows(name: str, wording: str, share: float) -> bool:
    """Whether the profile of this name knows a wording, of all wordings such a share: fixed for ever, so that what it
    misses is systematic."""
    return _place(name, wording) < share


@lru_cache(maxsize=50_000)
def _place(name: str, wording: str) -> float:
    """From 0 to 1, spread evenly over wordings."""
    digest = hashlib.blake2b(f"{name}\0{wording}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 2**32


def list_profiles() -> dict[str, Profile]:
    """Name → profile of all simulated models, those of one benchmark last."""
    return {**PROFILES, **{profile.name: profile for source in _SOURCES for profile in source()}}


def find_profile(name: str) -> Profile | None:
    """The profile of that name."""
    return PROFILES.get(name) or list_profiles().get(name)
