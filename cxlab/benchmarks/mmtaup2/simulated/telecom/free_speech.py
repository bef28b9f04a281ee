"""What a person says to the stand-in agent in words of their own: a state of the phone, a refusal, nothing it knows.

A live demonstration puts people in the customer's place. They read a screen out, speak of codes and bars, turn a
request down, or talk of something else; what the stand-in does not understand it says so, and it never guesses.
"""

from __future__ import annotations

import functools
import re

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.simulated.telecom import phrases
from cxlab.files import grammar

_ON = r"(?::| is| are|'s)? *(?:now |already |turned |switched |set to )*on\b"
_OFF = r"(?::| is| are|'s)? *(?:now |already |turned |switched |set to )*off\b"
_WORDINGS: tuple[tuple[str, str, str], ...] = (
    ("sim", "locked", r"\bp(?:in|uk)\b|\b(?:asks?|asking|wants?|enter|need)\b.*\bcode\b|\bsim\b.*\blocked\b"),
    (
        "sim",
        "missing",
        r"\bno (?:sim|card found)\b|\bsim\b.*\b(?:missing|not (?:found|detected|in))|\binsert\b.*\bsim\b",
    ),
    ("sim", "active", r"\bsim\b.*\b(?:fine|ok|okay|active|in use|ready)\b"),
    ("airplane", "on", rf"\b(?:airplane|aeroplane|flight) mode{_ON}|\b(?:plane|airplane) (?:symbol|icon|sign)\b"),
    ("airplane", "off", rf"\b(?:airplane|aeroplane|flight) mode{_OFF}|\bno (?:plane|airplane)\b"),
    (
        "signal",
        "none",
        r"\bno (?:service|signal|bars?|reception|network)\b|\bsignal: none\b|\b(?:sos|emergency calls?) only",
    ),
    ("signal", "some", r"\b(?:full|strong|good|some|two|three|four|five) (?:bars|signal)\b|\bsignal: (?!none)\w+"),
    ("data", "off", rf"\b(?:mobile|cellular) data{_OFF}"),
    ("data", "on", rf"\b(?:mobile|cellular) data{_ON}"),
    ("roaming", "off", rf"\broaming{_OFF}"),
    ("roaming", "on", rf"\broaming{_ON}"),
    ("saver", "on", rf"\b(?:data saver|data saving|saver){_ON}"),
    ("saver", "off", rf"\b(?:data saver|data saving|saver){_OFF}"),
    ("vpn", "poor", r"\bvpn\b.*\b(?:poor|slow|bad)\b"),
    ("vpn", "off", rf"\bvpn{_OFF}|\bvpn: not connected|\b(?:no|don't have a|without a?) vpn\b"),
    ("apn", "broken", r"\b(?:apn|access point)\b.*\bbroken\b"),
    ("apn", "fine", r"\b(?:apn|access point)\b.*\binternet\b"),
    ("mmsc", "missing", r"\b(?:mmsc|picture messages)\b.*\b(?:not set|empty|nothing|blank)\b"),
    ("mmsc", "fine", r"\bmmsc\b.*\bhttps?:"),
    ("mode", "old", r"\b[23]g only\b"),
    ("mode", "new", r"\b[45]g\b(?! only)"),
    ("wificalling", "on", rf"\bwi-?fi calling{_ON}"),
    ("wificalling", "off", rf"\bwi-?fi calling{_OFF}"),
    ("speed", "excellent", r"\bspeed\b.*\bexcellent\b"),
    ("speed", "slow", r"\bmbps\b.*\b(?:poor|fair|good)\b|\bspeed\b.*\b(?:poor|slow|fair)\b"),
    ("speed", "none", r"\bspeed test\b.*\bno connection\b"),
    ("mms", "yes", r"\bpicture(?: message)?\b.*\b(?:was sent|went (?:out|through)|has gone)\b"),
    ("mms", "no", r"\bpicture(?: message)?\b.*\b(?:not be sent|fail(?:s|ed)|won't send|did(?:n't| not) (?:go|send))"),
    ("abroad", "yes", r"\b(?:abroad|on holiday|another country|travelling|on a trip)\b"),
    ("abroad", "no", r"\b(?:i'm|i am) (?:at|back) home\b|\bnot abroad\b"),
    ("rebooted", "yes", r"\b(?:restarted|rebooted|has restarted|turned it off and on)\b"),
    ("paid", "yes", r"\b(?:i(?:'ve| have)? (?:just )?paid|payment (?:went through|is done))\b"),
)
_COMPILED = tuple((fact, value, re.compile(text, re.IGNORECASE)) for fact, value, text in _WORDINGS)
_REFUSES = re.compile(
    r"\bi (?:can't|cannot|won't|will not|don't want to|do not want to|refuse to|am not going to|'m not going to) "
    r"(?:do|touch|open|check|look|take|switch|turn|restart|change|go)\b|^\W*no(?:pe)?\W*$|\bno way\b|\bforget it\b"
    r"|\brather not\b|\bleave (?:it|that) (?:alone|as it is)\b",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|day)|thanks?|thank you|ok(?:ay)?|alright|all right|sure|yes|yeah|no|"
    r"done|there|wait|one moment|just a moment|hold on|i see)\b",
    re.IGNORECASE,
)


def facts_in(text: str) -> dict[str, str]:
    """States of the phone in everyday words or as its screen prints them."""
    found: dict[str, str] = {}
    for sentence in dialogue_acts.sentences(text):
        for fact, value, pattern in _COMPILED:
            if fact not in found and pattern.search(sentence):
                found[fact] = value
    return found


def refuses(text: str) -> bool:
    """Whether a request to do or look at something is turned down."""
    return bool(_REFUSES.search(text))


def is_strange(text: str) -> bool:
    """Whether nothing in a message is known: no state, number, answer, mood or question, and no line of a stand-in."""
    if not text.strip() or facts_in(text) or phrases.facts_said(text) or refuses(text) or _SMALL.search(text):
        return False
    if (
        len(re.sub(r"\D", "", text)) >= 5
        or "?" in text
        or dialogue_acts.is_frustrated(text)
        or dialogue_acts.agrees(text)
    ):
        return False
    return not any(_plain(sentence) in _own_lines() for sentence in dialogue_acts.sentences(text))


@functools.cache
def _own_lines() -> frozenset[str]:
    """Every sentence that a stand-in customer may say, but for those with a value in them."""
    found: set[str] = set()
    for lines in phrases.phrases().customer.values():
        for line in (one for several in lines.values() for one in several):
            for text in grammar.every(line):
                found |= {_plain(sentence) for sentence in dialogue_acts.sentences(text)}
    return frozenset(found)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z ]", "", text.lower()).strip()
