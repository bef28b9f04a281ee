"""Where an agent adapts to the person it talks to: the words that do it, found by rule in its messages.

The rules are general English; of settings in everyday words they know few beside the stand-in agent's own. They see
wording alone, so an agent that adapts by what it leaves out (a shorter message, one request instead of three) shows in
the counts beside them, not in a mark. They do not say whether it helped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.cues import questions


@dataclass(frozen=True)
class Adaptation:
    """Words of a message that adapt to the customer: from `start` up to `end`, and in which way."""

    kind: str
    start: int
    end: int


KINDS = {
    "patience": "takes its time",
    "comfort": "comforts",
    "apology": "apologises",
    "plain": "everyday words",
    "guided": "says how to tell it",
    "explains": "explains",
    "reason": "gives the reason",
    "brief": "comes to the point",
    "checks": "checks what it understood",
    "steps": "one step at a time",
}
"""What each kind is called on a page."""
_THING = r"(?:button|switch|picture|symbol|icon|card|square|circle|arrow|cog|gear|wheel|sign|dot|line|bar|plane)s?"
# What a screen shows, by its look or by what it is for in words that everybody has: the name of the thing is left out.
# "The switch" or "the app" of a setting that is named is an ordinary instruction.
_SEEN = r"(?:entry|line|words?|page|row|picture|button|switch|card)s?"
_IN_WORDS = (
    r"(?:for|of|about|that|inside|with) (?!(?:mobile data|wi-?fi|data|airplane|sim|apn|vpn|mms|sms|roaming|the apn)\b)"
)
_WORDINGS: dict[str, tuple[str, ...]] = {
    "patience": (
        r"(?:please )?take (?:all )?(?:your|the) time(?: you need)?",
        r"(?:there is |there's )?no (?:hurry|rush)",
        r"whenever you(?:'re| are) ready",
        r"i(?:'ll| will) (?:wait|stay with you|be here)",
        r"at your own pace",
    ),
    "comfort": (
        r"(?:please )?(?:don't|do not) (?:you )?worry",
        r"no worr(?:y|ies)",
        r"nothing (?:can|will) (?:be lost|break|happen|go wrong)",
        r"(?:can't|cannot|won't|will not) (?:break|lose|delete|harm) (?:any\w*|your \w+)",
        r"your (?:pictures|photos|messages|things|data) (?:are|is|stay|will be)(?: \w+)? (?:safe|where they are|there)",
        r"(?:you(?:'re| are) )?doing (?:very |so |really )?(?:well|great|fine)",
        r"(?:that's |that is )?(?:well done|great job)",
        r"(?:we(?:'re| are) )?(?:nearly|almost) (?:there|done)",
        r"i(?:'m| am) here to help",
        r"i (?:completely |fully )?understand (?:that|how|why|your|this)(?: \w+){0,3}",
        r"that must be (?:\w+ )?\w+ing",
    ),
    "apology": (
        r"(?:i(?:'m| am) (?:so |very |really )?)?sorry (?:for|about|that)(?: \w+){1,4}",
        r"(?:my|our|please accept my) (?:sincere )?apolog(?:y|ies)",
        r"i apologi[sz]e(?: for(?: \w+){1,4})?",
    ),
    "plain": (
        rf"(?:the |a )?(?:little|small|tiny|round|grey|gray|green|blue) (?:\w+ )?{_THING}",
        r"(?:right )?at the (?:very )?(?:top|bottom|side|edge) of (?:the|your) (?:screen|phone)",
        r"(?:the )?(?:internet|calls) (?:on the move|in other countries|at home|over the internet(?: at home)?)",
        r"sav(?:e|ing) on internet",
        r"how (?:quick|fast) the internet is",
        r"(?:the )?detour for the internet",
        r"switch (?:the|your) phone off and (?:then )?on again",
        r"(?:the )?kind of network(?: \w+)? (?:the|your) phone \w+",
        r"put (?:everything|it all) back as it was",
        r"the (?:number with the g\b|words that put everything back)",
        r"a picture as a message",
        r"the app for your messages",
        rf"the (?:little |small )?{_SEEN} {_IN_WORDS}(?:\w+ ){{0,4}}?(?:access point|connection|little plane|phone|pays"
        r"|bill|internet|other countries|at home|puts? everything back)",
        r"the detour\b|the kind of network\b",
        r"(?:look|see) (?:\w+ ){0,4}(?:whether|if) the phone (?:is set to|shows you)(?: \w+){1,4}",
        r"let the phone (?:measure|look for|find)(?: \w+){1,5}",
        r"(?:allow|let) (?:\w+ ){0,5}(?:use files|send texts)",
    ),
    "guided": (
        r"(?:you can |please |could you )?(?:simply |just )?read (?:me )?(?:the words|it|them|what (?:it says|you "
        r"see|is written))(?: out)?(?: loud| to me)?(?: as they stand there)?",
        r"(?:letter by letter|digit by digit|word (?:by|for) word)",
        r"it (?:looks|should look) like(?: \w+){1,5}",
        r"(?:until|till) (?:it|you) (?:clicks?|hear|feel)",
        r"you(?:'ll| will| should) (?:now |then )?see (?:a|an|the|some)(?: \w+){1,4}",
    ),
    "explains": (
        r"(?:in|with) (?:plain|simple|everyday|other) words",
        r"(?:sorry for )?the technical word",
        r"(?:that|which|this) (?:just |simply |only )?means(?: that)?",
        r"\w+ means (?:that )?(?:you|your|the|it|a|an)\b",
        r"that is (?:to say|the (?:part|bit|setting) \w+)",
        r"(?:sometimes |also )?(?:called|known as) (?:a |an |the )?[\"“']?\w+",
        r"let me explain",
        r"to (?:put|say) it simply",
    ),
    "reason": (
        r"(?:so that|in order that) (?:i|we|nobody|no one)(?: \w+){1,6}",
        r"(?:in order )?to (?:find|protect|make sure|check that|be sure) (?:i|we|you|your|the|it|nobody)(?: \w+){1,6}",
        r"(?:that is|that's|this is) (?:why|because|how)(?: \w+){1,6}",
        r"because (?:i|we|it|the|your)(?: \w+){2,8}",
        r"the reason (?:is|for this|i ask)(?: \w+){0,6}",
        r"(?:it|this|that) (?:costs|will cost|does not cost|is free)(?: \w+){0,5}",
        r"(?:is |be )?only used (?:for|to)(?: \w+){1,5}",
    ),
    "brief": (
        r"(?:in short|in one go|all at once)",
        r"(?:i'll|i will|let me) (?:be|keep (?:it|this)) (?:brief|short|quick)",
        r"(?:the )?(?:quickest|fastest|shortest) way",
        r"(?:this|it) (?:takes|will take) (?:\w+ )?(?:\w+ )?(?:minutes?|seconds?|moment)",
        r"straight to (?:it|the point)",
    ),
    "checks": (
        r"(?:did|have) i (?:get|got|understood|understand|hear|heard) (?:that|you|it)(?: \w+)?",
        r"is (?:that|this) (?:right|correct)(?: so far)?",
        r"(?:just )?to (?:make sure|be sure)(?: (?:i|that i|we))?(?: \w+){0,3}",
        r"let me (?:just )?(?:repeat|read (?:it|that) back|check that i)(?: \w+){0,3}",
        r"so you(?:'re| are) (?:saying|seeing)",
        r"i(?:'m| am) not sure i (?:understood|got)(?: \w+){0,2}",
        r"i did not quite (?:catch|get) (?:that|it)",
    ),
    "steps": (
        r"(?:one|a single) (?:thing|step) (?:at a time|after the other|for now)",
        r"step by step",
        r"for now,? (?:just|only)",
        r"(?:the )?(?:first|next|last) (?:step|thing)(?: is)?",
        r"let(?:'s| us) (?:start|begin|go) with(?: \w+){1,4}",
        r"(?:tell me|let me know) when you(?:'re| are| have| 've)(?: \w+){1,3}",
    ),
}
_COMPILED = tuple(
    (kind, re.compile(rf"(?<![\w'])(?:{'|'.join(texts)})", re.IGNORECASE)) for kind, texts in _WORDINGS.items()
)
NAMES = re.compile(
    r"\b(?:APN|MMSC|MMS|VPN|SIM(?! card)|data saver|data roaming|roaming|airplane mode|wi-?fi calling|network (?:mode|"
    r"status|preference)|status bar|reseat|reboot|permissions?|toggle|"
    r"(?:mobile )?hotspot)\b",
    re.IGNORECASE,
)
"""Names of settings that somebody who does not know phones stumbles over."""


def find(text: str) -> list[Adaptation]:
    """The words of an agent's message that adapt to the customer, in order; of two that overlap the first one."""
    found = sorted(
        (Adaptation(kind, hit.start(), hit.end()) for kind, cue in _COMPILED for hit in cue.finditer(text) if hit[0]),
        key=lambda one: (one.start, one.start - one.end),
    )
    kept: list[Adaptation] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def requests(text: str) -> list[str]:
    """The sentences of a message that ask the customer to do or to tell something, in small letters."""
    return [
        sentence.lower()
        for sentence in dialogue_acts.sentences(text)
        if "?" in sentence or _ASKS.match(sentence) or dialogue_acts.found(sentence, questions.ASKS_FOR_INFORMATION)
    ]


_ASKS = re.compile(r"\W*(?:now |then |first,? |next,? )?(?:please|could you|can you|would you|kindly)\b", re.IGNORECASE)


@dataclass(frozen=True)
class SpeakingStyle:
    """How an agent spoke, over some messages: shares of its messages, and means of them."""

    messages: int
    adapted: float
    """Share of the messages with words that adapt."""
    requests: float
    """Mean number of things asked for in a message."""
    words: float
    """Mean length."""
    names: float
    """Mean number of names of settings."""
    kinds: dict[str, int]


def describe(texts: Iterable[str]) -> SpeakingStyle | None:
    """How an agent spoke; None where it has said nothing."""
    said = [text for text in texts if text.strip()]
    if not said:
        return None
    found = [find(text) for text in said]
    kinds = {kind: n for kind in KINDS if (n := sum(one.kind == kind for each in found for one in each))}
    return SpeakingStyle(
        len(said),
        sum(map(bool, found)) / len(said),
        sum(len(requests(text)) for text in said) / len(said),
        sum(len(text.split()) for text in said) / len(said),
        sum(len(NAMES.findall(text)) for text in said) / len(said),
        kinds,
    )
