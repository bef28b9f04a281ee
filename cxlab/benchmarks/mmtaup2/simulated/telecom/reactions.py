"""What a person in the customer's place says beside the matter, and what the simulated agent answers to it first.

People ask what a thing is for, whether their pictures will be gone, whether they speak to a machine; they are annoyed,
turn something down, want somebody else. Whoever goes on as if that had not been said talks like no agent.
The answers stand in data/simulated/mmtaup2/telecom_reactions.yaml.
"""

from __future__ import annotations

import functools
import re

import numpy as np

from cxlab import files, resources
from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.simulated import other_messages
from cxlab.benchmarks.mmtaup2.simulated.telecom import free_speech
from cxlab.benchmarks.mmtaup2.simulated.typed import is_typed
from cxlab.files import grammar
from cxlab.records.base import Record

FILE = resources.data("simulated", "mmtaup2", "telecom_reactions.yaml")
# What is asked that has an answer of its own comes before what may be any question, and any question before a mood.
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_CUES = (
    (
        "birth",
        r"\bbirth ?da(?:te|y)\b|\bdate of birth\b|\bdob\b|\bborn\b"
        rf"|^\W*(?:(?:it's|it is|on) )?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})[a-z]*\.?,? "
        r"(?:19|20)\d\d\W*$"
        r"|^\W*\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d\d\W*$|^\W*(?:19|20)\d\d-\d\d-\d\d\W*$",
    ),
    (
        "human",
        r"\b(?:speak|talk) (?:to|with) (?:(?:a|an|the|your|some) )?(?:real |actual |proper )?(?:human|person|manager"
        r"|supervisor|someone|somebody|colleague|boss)\b|\bget me (?:a|your) (?:human|person|manager|supervisor|boss)\b"
        r"|\bi want (?:a|an) (?:real |actual )?(?:human|person)\b",
    ),
    (
        "works",
        r"^\W*(?:(?:yes|yeah|ok|oh|great|nice|wow|it|that|all|everything)\b\W*)*(?:works?|working|is back|'?s back"
        r"|fixed)\b\W*(?:(?:now|again|fine|good|it|thanks?|thank|you|thx|cheers|great|finally)\b\W*)*$",
    ),
    (
        "robot",
        r"\bwho (?:are|is|am i) (?:you|this|talking to)\b"
        r"|\b(?:are you|is this|am i (?:talking|speaking) (?:to|with)) (?:an? )?(?:\w+ )?(?:ro)?(?:bot|machine|computer"
        r"|human|person|ai|recording)\b",
    ),
    ("bye", r"\b(?:good ?bye|bye(?:[- ]bye)?)\b|\bi(?:'m| am) (?:going to hang|hanging) up\b"),
    ("long", r"\bhow (?:much )?long(?:er)?\b"),
    (
        "harm",
        r"\b(?:what|will|would|does|do|can|could|won't|is|am|have)\b[^.?]*\b(?:lose|lost|gone|deletes?d?|erased?|wiped?"
        r"|happen|break(?:ing)?|broken|damage|contacts|photos|safe)\b[^.?]*\?",
    ),
    ("cost", r"\b(?:cost|charged?|free|pay|expensive)\b[^.?]*\?"),
    ("why", r"\bwhy\b[^.?]*\?|^\W*why\b|\bwhat\b[^.?]*\bfor\?|\bwhat(?:'s| is) the point\b"),
    (
        "again",
        r"\b(?:already|just) (?:told|said|asked|did|done|tried|answered)\b|\basked (?:me )?(?:that|this)\b"
        r"|\btold you\b",
    ),
    (
        "out",
        r"\b(?:cancel|refund|compensat\w+|discount|complain\w*|upgrade)\b|\bnew (?:phone|contract|plan)\b",
    ),
    (
        "how",
        r"\b(?:where|how|which|what(?:'s| is| are| do you mean))\b[^.?]*\?"
        r"|\b(?:don't|do not|can't|cannot) (?:know|see|find|understand)\b[^.?]*"
        r"\b(?:where|how|which|what|it|that|this|them)\b",
    ),
    (
        "wait",
        r"\b(?:hang on|hold on|one (?:moment|second)|just a (?:moment|second|minute)|bear with|wait a)\b"
        r"|\blet me (?:find|look|get|see|fetch)\b",
    ),
    ("question", r"\?|^\W*(?:is it|is there|are there|do you|does it|can you|will it|who|when) \w+"),
    (
        "upset",
        r"\b(?:wtf|fuck\w*|shit\w*|crap)\b"
        r"|\b(?:useless|ridiculous|unbelievable|terrible|awful|a joke|angry|furious|disgrace\w*|nonsense|annoying"
        r"|waiting|idiots?|waste of)\b",
    ),
)  # fmt: skip
_COMPILED = tuple((kind, re.compile(text, re.IGNORECASE)) for kind, text in _CUES)
_ASKS_WHAT = re.compile(
    r"\bwhat(?:'s| is| are| does| do you mean by)\b([^?.!]*)|\bi (?:don't|do not) know what([^?.!]*)", re.IGNORECASE
)
_HALF = 60
# Stand-ins wonder what a thing is, and never where.
_WHERE = re.compile(r"\bwhere\b", re.IGNORECASE)
_DONE = re.compile(
    r"\bi (?:did|have done|'ve done) (?:it|that|so)\b|\bi(?:'ve| have)? (?:turned|switched|put|touched|pressed"
    r"|restarted)\b|\bit(?:'s| is) (?:done|off|on|out|in) now\b"
    r"|^\W*(?:ok(?:ay)?|all right|right|yes)?\W*(?:i am |i'm )?(?:done|finished|did (?:it|that))\W*$",
    re.IGNORECASE,
)


class Reactions(Record):
    """The whole file: kind → wordings."""

    handed: tuple[str, ...]
    birth: tuple[str, ...]
    silence: tuple[str, ...]
    there: tuple[str, ...]
    works: tuple[str, ...]
    language: tuple[str, ...]
    wait: tuple[str, ...]
    human: tuple[str, ...]
    robot: tuple[str, ...]
    bye: tuple[str, ...]
    harm: tuple[str, ...]
    cost: tuple[str, ...]
    long: tuple[str, ...]
    why: tuple[str, ...]
    why_fix: tuple[str, ...]
    why_number: tuple[str, ...]
    why_abroad: tuple[str, ...]
    again: tuple[str, ...]
    out: tuple[str, ...]
    refusal: tuple[str, ...]
    done: tuple[str, ...]
    question: tuple[str, ...]
    upset: tuple[str, ...]
    terms: dict[str, str]
    """The words for a thing (alternatives between bars) → what it is."""


@functools.cache
def _lines() -> Reactions:
    return files.load_model(FILE, Reactions, "see the head of the file")


@functools.lru_cache(maxsize=20_000)
def find(text: str) -> str:
    """What kind of thing a person says beside the matter, "" for nothing; "how" is answered by other words for it."""
    if other_messages.is_silence(text):
        return "silence"
    if other_messages.calls_out(text):
        return "there"
    if other_messages.is_foreign(text):
        return "language"
    if free_speech.refuses(text):
        kind = "refusal"
    else:
        kind = next((kind for kind, cue in _COMPILED if cue.search(text)), "")
        kind = kind or ("upset" if dialogue_acts.is_frustrated(text) else "")
    if kind == "wait" and (free_speech.facts_in(text) or re.search(r"\d{3}", text)):
        return ""
    if kind == "works":
        return kind if is_typed(text) else ""  # a stand-in that says so rings off
    if kind == "bye" or _WHERE.search(text):
        own = free_speech.is_own(text)
    else:
        # What may be any question may be half of one of a stand-in, the rest misheard.
        own = free_speech.is_near_own(text, _HALF if kind == "question" else free_speech.NEAR)
    return kind if kind and not own else ""


@functools.lru_cache(maxsize=20_000)
def explain(text: str) -> str:
    """What the thing is that a person asks about in so many words, "" for anything else."""
    if free_speech.is_own(text) or not (asked := _ASKS_WHAT.search(text)):
        return ""
    found = (
        told
        for words, told in _lines().terms.items()
        if re.search(rf"\b(?:{words})\b", asked[1] or asked[2], re.IGNORECASE)
    )
    return next(found, "")


@functools.lru_cache(maxsize=20_000)
def says_done(text: str) -> bool:
    """Whether a person says, in words that no stand-in has, that what was asked for is done."""
    return bool(_DONE.search(text)) and not free_speech.is_near_own(text)


def strip(text: str) -> str:
    """A message of the agent without the answer that it begins with."""
    return next((text[len(one) :].strip() for one in _answers() if text.startswith(one)), text)


@functools.cache
def _answers() -> tuple[str, ...]:
    return tuple(
        one
        for lines in _lines().model_dump(exclude={"terms"}).values()
        for line in lines
        for one in grammar.every(line)
    )


def answer(kind: str, rng: np.random.Generator) -> str:
    """What is said to it."""
    return grammar.say_one(getattr(_lines(), kind), rng)
