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

# A switch is named and its state told in one clause: "mobile data's on, roaming isn't".
_SWITCHES = tuple(
    (fact, re.compile(text, re.IGNORECASE))
    for fact, text in (
        ("airplane", r"\b(?:air|aero)?plane mode|\bflight mode"),
        ("roaming", r"\broaming"),
        ("saver", r"\b(?:data )?sav(?:er|ing)s?\b(?: mode| thing)?"),
        ("data", r"\b(?:mobile|cellular|phone) data|\bdata (?:switch|connection)|^\W*(?:the |my )?data\b"),
        ("wificalling", r"\bwi-?fi call(?:ing|s)|\bcalls? over wi-?fi"),
        ("vpn", r"\bvpn"),
        ("storage", r"\bstorage|\bfiles\b"),
        ("sms", r"\bsms\b|\btexts?\b"),
    )
)
_NO = re.compile(
    r"\boff\b|\bdisabled\b|\bdisconnected\b|\bgr[ae]y(?:ed)?\b|\b(?:is|was|are)(?:n't| not)\b|\bnot (?:on|enabled"
    r"|active|allowed|ticked|granted|connected)\b|\bunticked\b|\bdenied\b|\bblocked\b|\bno\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\bon\b|\benabled\b|\bactive\b|\ballowed\b|\bticked\b|\bgranted\b|\bgreen\b|\blit\b|\bconnected\b", re.IGNORECASE
)
_STATES = {"storage": ("granted", "missing"), "sms": ("granted", "missing"), "vpn": ("", "off")}
_CLAUSE = re.compile(r"[,;\n]|\b(?:and|but|while|though)\b")
_WORDINGS: tuple[tuple[str, str, str], ...] = (
    ("sim", "locked", r"\bp(?:in|uk)\b|\b(?:asks?|asking|wants?|enter|need)\b.*\bcode\b|\bsim\b.*\blocked\b"),
    (
        "sim",
        "missing",
        r"\bno (?:sim|card found)\b|\b(?:can't|cannot|doesn't) (?:find|see|read) (?:a |the |my )?sim\b"
        r"|\bsim\b.*\b(?:missing|not (?:found|detected|in))|\binsert\b.*\bsim\b",
    ),
    ("sim", "active", r"\bsim\b.*\b(?:fine|ok|okay|active|in use|ready)\b"),
    (
        "airplane",
        "off",
        r"\b(?:no|any|not see an?|see no) (?:\w+ )?(?:aero|air)?plane\b|\bplane\b.*\b(?:gone|vanished|disappeared)\b",
    ),
    (
        "airplane",
        "on",
        r"\b(?:there(?:'s| is)|i (?:can )?see|shows?|got) (?:an? |the )?(?:\w+ )?(?:aero|air)?plane\b(?! mode)"
        r"|plane (?:symbol|icon|sign)\b|\b(?:symbol|icon|picture|sign) of an? (?:aero|air)?plane\b",
    ),
    (
        "signal",
        "none",
        r"\b(?:no|zero|not (?:a single|any)|without) (?:service|signal|bars?|reception|network)\b|\bsignal: none\b"
        r"|\b(?:sos|emergency calls?) only|\bsearching for (?:a )?(?:network|signal|service)",
    ),
    (
        "signal",
        "some",
        r"\b(?:full|strong|good|some|one|two|three|four|five|[1-5]) (?:bars?|signal)\b|\bsignal: (?!none)\w+"
        r"|\bbars? (?:are |is )?(?:back|full)\b",
    ),
    ("vpn", "poor", r"\bvpn\b.*\b(?:poor|slow|bad)\b"),
    ("apn", "broken", r"\b(?:apn|access point)\b.*\bbroken\b"),
    ("apn", "fine", r"\b(?:apn|access point)\b.*\binternet\b"),
    ("mmsc", "missing", r"\b(?:mmsc|picture messages)\b.*\b(?:not set|empty|nothing|blank)\b"),
    ("mmsc", "fine", r"\bmmsc\b.*\bhttps?:"),
    ("mode", "old", r"\b[23]g only\b|\b(?:only|just|stuck (?:on|at|in)|set to) (?:on )?[23]g\b"),
    ("mode", "new", r"\b[45]g\b(?! only)"),
    ("speed", "excellent", r"\bspeed\b.*\bexcellent\b"),
    (
        "speed",
        "slow",
        r"\bmbps\b.*\b(?:poor|fair|good)\b|\bspeed\b.*\b(?:poor|slow|fair|rubbish|bad)\b"
        r"|\b[0-9](?:[.,]\d)? ?(?:mega\w*|mbps|mb\b|meg)",
    ),
    ("speed", "none", r"\bspeed test\b.*\bno connection\b"),
    ("mms", "yes", r"\bpicture(?: message)?\b.*\b(?:was sent|went (?:out|through)|has gone)\b"),
    ("mms", "no", r"\bpicture(?: message)?\b.*\b(?:not be sent|fail(?:s|ed)|won't send|did(?:n't| not) (?:go|send))"),
    (
        "abroad",
        "yes",
        r"(?<!not )\b(?:abroad|not at home|on holiday|another country|travelling|on a trip)\b"
        r"|\b(?:i'm|i am|we're|we are) (?:\w+ )?in (?!my\b|the\b|a\b)\w+ (?:till?|until|for)\b"
        r"|\b(?:i'm|i am|we're|we are) (?:\w+ )?in (?-i:[A-Z])\w+",
    ),
    (
        "abroad",
        "no",
        r"\b(?:i'm|i am|we're|just) (?:(?!not )\w+ )?(?:at|back) home\b|\bnot abroad\b"
        r"|\bin my (?:own )?(?:kitchen|house|flat)\b",
    ),
    (
        "rebooted",
        "yes",
        r"\b(?:restarted|rebooted|has restarted|(?:turned|switched) (?:it|the phone) off and (?:then )?(?:back )?on)\b",
    ),
    ("paid", "yes", r"\b(?:i(?:'ve| have)? (?:just )?paid|payment (?:went through|is done))\b"),
)
_COMPILED = tuple((fact, value, re.compile(text, re.IGNORECASE)) for fact, value, text in _WORDINGS)
_DOING = r"(?:do|touch|open|check|look|take|switch|turn|restart|change|go|mess|fiddle|pay)(?:ing)?"
_REFUSES = re.compile(
    r"\bi(?:'m| am)? ?(?:can't|cannot|won't|will not|don't want to|do not want to|refuse to|not going to|not gonna) "
    rf"{_DOING}\b|^\W*(?:i'm |i am )?not {_DOING}\b|^\W*no(?:pe)?\W*$|\bno way\b|\bforget it\b"
    r"|\brather (?:not|you (?:did|do))\b|\b(?:do|did) (?:it|that) (?:yourselves|yourself|from your (?:end|side))\b"
    r"|\bleave (?:it|that) (?:alone|as it is)\b",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|day)|thanks?|thank you|ok(?:ay)?|alright|all right|sure|yes|yeah|no|"
    r"done|there|wait|one moment|just a moment|hold on|i see)\b",
    re.IGNORECASE,
)


def facts_in(text: str, asked: str = "") -> dict[str, str]:
    """States of the phone in everyday words or as its screen prints them; `asked`: what the agent has just asked.

    A bare yes or no answers a question about one switch ("whether the data saver is on").
    """
    found: dict[str, str] = {}
    for sentence in dialogue_acts.sentences(text):
        for fact, value, pattern in _COMPILED:
            if fact not in found and pattern.search(sentence):
                found[fact] = value
        for clause in _CLAUSE.split(sentence):
            for fact, thing in _SWITCHES:
                if fact not in found and thing.search(clause):
                    found |= _state(fact, clause)
                    break
    return found or _answer(text, asked)


def _state(fact: str, clause: str) -> dict[str, str]:
    yes, no = _STATES.get(fact, ("on", "off"))
    value = no if _NO.search(clause) else yes if _YES.search(clause) else ""
    return {fact: value} if value else {}


def _answer(text: str, asked: str) -> dict[str, str]:
    if _ASKS_ABROAD.search(asked) and len(text.split()) <= _BRIEF:
        return {"abroad": "yes"} if _BARE_YES.search(text) else {"abroad": "no"} if _BARE_NO.search(text) else {}
    names = {one.name for one in phrases.requests_in(asked)}
    if len(names) != 1 or len(text.split()) > _BRIEF:
        return {}
    fact, yes, no = _ASKED.get(names.pop(), ("", "", ""))
    if not fact:
        return {}
    if _BARE_NO.search(text):
        return {fact: no} if no else {}
    return {fact: yes} if yes and _BARE_YES.search(text) else {}


_BRIEF = 8
# Of 100; one misheard word in ten leaves more of a sentence than this.
NEAR = 87
_ASKS_ABROAD = re.compile(r"are you abroad", re.IGNORECASE)
# A screen that is read out: no stand-in names a symbol or how full the battery is.
_SCREEN = re.compile(r"\b(?:symbol|icon|battery)\b|\d ?%", re.IGNORECASE)
_ASKED = {
    "check_data_saver": ("saver", "on", "off"),
    "check_wifi_calling": ("wificalling", "on", "off"),
    "check_vpn": ("vpn", "", "off"),
    "can_send_mms": ("mms", "yes", "no"),
    "check_payment": ("payment", "waiting", "none"),
}
_BARE_YES = re.compile(r"^\W*(?:yes|yeah|yep|yup|it (?:is|did|does|was)|sent\b|gone\b|delivered\b)", re.IGNORECASE)
_BARE_NO = re.compile(
    r"^\W*(?:(?:still|there(?:'s| is)) )?(?:no|nope|nah|none|nothing)\b"
    r"|\b(?:isn't|is not|didn't|did not|doesn't|wasn't|not (?:sent|delivered)|failed)\b",
    re.IGNORECASE,
)


def reads_screen(text: str) -> bool:
    """Whether a person reads a screen out, symbol by symbol."""
    return bool(_SCREEN.search(text)) and not is_own(text)


def refuses(text: str) -> bool:
    """Whether a request to do or look at something is turned down."""
    return bool(_REFUSES.search(text))


def is_strange(text: str, asked: str = "") -> bool:
    """Whether nothing in a message is known: no state, number, answer, mood or question, and no line of a stand-in."""
    if not text.strip() or facts_in(text, asked) or phrases.facts_said(text) or refuses(text) or _SMALL.search(text):
        return False
    if (
        len(re.sub(r"\D", "", text)) >= 5
        or "?" in text
        or _ASKS.search(text)
        or _UPSET.search(text)
        or dialogue_acts.is_frustrated(text)
        or dialogue_acts.agrees(text)
    ):
        return False
    return not is_own(text)


def is_own(text: str) -> bool:
    """Whether a sentence of it is a stand-in customer's: what is taken from those depends on the agent's profile."""
    return any(_plain(sentence) in _own_lines() for sentence in dialogue_acts.sentences(text))


@functools.lru_cache(maxsize=20_000)
def is_near_own(text: str, near: float = NEAR) -> bool:
    """The same of a sentence that may have been misheard: it is `near` to one of them, of 100."""
    from rapidfuzz import fuzz, process

    lines = _own_lines()
    return is_own(text) or any(
        process.extractOne(_plain(sentence), lines, scorer=fuzz.ratio, score_cutoff=near) is not None
        for sentence in dialogue_acts.sentences(text)
    )


# People leave the question mark out, and say that they are upset in ways of their own.
_ASKS = re.compile(
    r"^\W*(?:what|where|how|which|why|who|when|do i|can i|should i|is it|is that)(?:'s)? \w+", re.IGNORECASE
)
_UPSET = re.compile(
    r"\b(?:driving|drives|drove) me\b|\b(?:hopeless|rubbish|for ever|forever|all day|hours|cross|confused|lost|nervous"
    r"|fed up|stupid|hate|dear me|good grief|for goodness)\b",
    re.IGNORECASE,
)


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
