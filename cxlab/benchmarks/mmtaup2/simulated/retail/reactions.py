"""What a person in the customer's place says beside the matter, and what the shop's simulated agent answers first.

The answers stand in data/simulated/mmtaup2/retail_reactions.yaml.
"""

from __future__ import annotations

import functools
import re

import numpy as np

from cxlab import files, resources
from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.simulated import other_messages
from cxlab.benchmarks.mmtaup2.simulated.retail import free_speech
from cxlab.files import grammar
from cxlab.records.base import Record

FILE = resources.data("simulated", "mmtaup2", "retail_reactions.yaml")
_CUES = tuple(
    (kind, re.compile(text, re.IGNORECASE))
    for kind, text in (
        (
            "human",
            r"\b(?:speak|talk) (?:to|with) (?:(?:a|an|the|your|some) )?(?:real |actual |proper )?(?:human|person"
            r"|manager|supervisor|someone|somebody|colleague|boss)\b|\b(?:get me|i want|i need) (?:an?|your) "
            r"(?:real |actual )?(?:human|person|manager|supervisor|boss)\b",
        ),
        (
            "robot",
            r"\bwho (?:are|is|am i) (?:you|this|talking to)\b"
            r"|\b(?:are you|is this|am i (?:talking|speaking|writing) (?:to|with)) (?:an? )?(?:\w+ )?(?:ro)?(?:bot"
            r"|machine|computer|human|person|ai|recording)\b",
        ),
        ("bye", r"\bgood ?bye\b|^\W*(?:ok(?:ay)? )?bye\b"),
        (
            "money",
            r"\b(?:how long|when|what (?:happens|will happen|about|becomes))\b"
            r"[^.?]*\b(?:refund|money|paid back)\b[^.?]*\?"
            r"|\b(?:refund|money)\b[^.?]*\b(?:how long|when)\b[^.?]*\?"
            r"|\bdo i get\b[^.?]*\b(?:refund|money)\b[^.?]*\?",
        ),
        ("delivery", r"\b(?:how (?:long|soon|fast)|when)\b[^.?]*\b(?:deliver\w*|shipping|shipment)\b[^.?]*\?"),
        ("long", r"\bhow (?:much )?long(?:er)?\b[^.?]*\?"),
        ("why", r"\bwhy\b[^.?]*\?|^\W*why\b|\bwhat\b[^.?]*\bfor\?|\bwhat(?:'s| is) the point\b"),
        ("again", r"\b(?:already|just) (?:told|said|answered)\b|\btold you\b"),
        (
            "refusal",
            r"\bi(?:'m| am)? ?(?:won't|will not|don't want to|do not want to|refuse to|not going to|not gonna|would "
            r"rather not) (?:do|say|tell|give|share)\b|^\W*no way\b|\bnone of your business\b"
            r"|\brather not (?:say|tell)\b",
        ),
        ("question", r"\?"),
    )
)


class Reactions(Record):
    """The whole file: kind → wordings."""

    human: tuple[str, ...]
    robot: tuple[str, ...]
    bye: tuple[str, ...]
    why: tuple[str, ...]
    refusal: tuple[str, ...]
    declined: tuple[str, ...]
    money: tuple[str, ...]
    long: tuple[str, ...]
    delivery: tuple[str, ...]
    silence: tuple[str, ...]
    there: tuple[str, ...]
    language: tuple[str, ...]
    again: tuple[str, ...]
    question: tuple[str, ...]
    handed: tuple[str, ...]


@functools.cache
def _lines() -> Reactions:
    return files.load_model(FILE, Reactions, "see the head of the file")


@functools.lru_cache(maxsize=20_000)
def find(text: str, asked: str = "") -> str:
    """What kind of thing a person says beside the matter; "" for nothing, and for what a stand-in says.

    `asked`: what the agent had said last. A question in which something is wanted of the shop is the matter itself.
    """
    if other_messages.is_silence(text):
        return "silence"
    if asked and other_messages.calls_out(text):
        return "there"
    if other_messages.is_foreign(text):
        return "language"
    kind = next((kind for kind, cue in _CUES if cue.search(text)), "")
    if kind == "refusal" and dialogue_acts.asks_to_confirm(asked):
        kind = "declined"
    if not kind or free_speech.is_near_own(text):
        return ""
    return "" if kind in ("question", "long", "why", "delivery") and free_speech.wants(text) else kind


def answer(kind: str, rng: np.random.Generator) -> str:
    """What is said to it."""
    return grammar.say_one(getattr(_lines(), kind), rng)
