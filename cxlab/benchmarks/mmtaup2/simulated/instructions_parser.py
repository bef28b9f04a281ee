"""How a simulated customer reads directions in running text, as imported tasks have them.

A card tells its reader in the second person what to want, what to do if something is asked or turned down, and what
to keep back. Here it becomes what is said unasked (in the first person), what is said when a yes is asked for, when
something is turned down, and what is answered to a question; the rest of it describes the person and is not said.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z(#])|\n+")
_CONDITION = re.compile(
    r"^(?:but |and |however,? |so )?(?:if and only if|only if|if|when|once|in case|should)\b(?P<when>.+?)(?:,\s*|"
    r"\s+(?=just (?:return|cancel|keep|exchange|change)\b|then\b))(?:then )?"
    r"(?P<then>(?:you|your|only|do|don't|just|please|ask|say|tell|go|use|mention|provide|respond|no action|it|"
    r"that|transfer|change)"
    r"\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LOOSE = re.compile(
    r"^(?:but |and |however,? |so )?(?:if and only if|only if|if|when|once|in case|"
    r"should)\b(?P<when>[^,]*),\s*(?:then )?"
    r"(?P<then>.+)$",
    re.IGNORECASE | re.DOTALL,
)
# What an order's way says, and no refusal: "if it has not been shipped yet".
_ON_ITS_WAY = re.compile(r"\b(?:shipped|arrived|delivered|sent)\b", re.IGNORECASE)
_WANTS = re.compile(r"\byou(?:'d| also| then| would)* (?:want|wish|like|prefer|need)\b", re.IGNORECASE)
_INNER = re.compile(
    r"(?:,|;)? (?:but|and) (?=(?:if|when) (?:the agent|that|this|it|not|asked|no)\b)|(?<=[^,]), (?=if not\b)", re.I
)
_CONFIRMS = re.compile(r"\bconfirm", re.IGNORECASE)
_ASKED = re.compile(r"\bask(?:s|ed)?\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\bnot\b|n't\b|\bcannot\b|\bunable\b|\bno\b|\bimpossible\b|\brefus|\bden(?:y|ies|ied)\b|\botherwise\b|"
    r"\bonly do one\b",
    re.IGNORECASE,
)
_MANNER = re.compile(
    r"^(?:you(?:'re| are) (?!(?:certain|sure|looking|considering|also|having|trying|happy to|willing|okay|ok)\b)|"
    r"you (?:like to|speak|talk|randomly|do not want to reveal|don't want to reveal|live in|never|tend)\b|"
    r"your (?:name|approach|memory|email|emails)\b|you name\b|be |make sure|make everything|mention|do not|don't|"
    r"insist|try |"
    r"remember|refrain|keep |act |always |never |it is urgent|pretend|respond|start|avoid)",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"\s*\([^()]*\b(?:do not|don't) (?:reveal|share|mention|tell)\b[^()]*\)", re.IGNORECASE)
_ASIDE = re.compile(
    r",? ?(?:but|and)? ?(?:please )?(?:do not|don't) (?:reveal|share|mention) (?:it|this|that|them)?[^.,;)]*", re.I
)
_OBJECT = frozenset((
    "for", "to", "tell", "tells", "help", "helps", "give", "gives", "gave", "ask", "asks", "asked", "send", "sent",
    "let", "lets", "with", "of", "from", "by", "allow", "allows", "want", "wants", "saves", "save",
))  # fmt: skip
_WORD = re.compile(r"\b(you(?:'d|'ll|'ve|'re)?|your|yours|yourself|the agent's|the agent|agents?)\b", re.IGNORECASE)
_ME = {
    "you'd": "I'd",
    "you'll": "I'll",
    "you've": "I've",
    "you're": "I'm",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
}
_LEADS = re.compile(
    r"^(?:you (?:would |will |can |should )?(?:say|ask|tell the agent|regret|then|suddenly)\b(?: that| for| to| and)*|"
    r"(?:say|tell (?:the agent|it|them)|respond|ask (?:the agent )?(?:to|for|if)|suddenly|reply|"
    r"mention)\b(?: that| to| and)*|"
    r"(?:change|changed) your mind and|proceed to|provide\b|give\b)\s*",
    re.IGNORECASE,
)  # fmt: skip
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ID = re.compile(r"\b([a-z]+)_([a-z]+)_\d{3,}\b")
_NAMED = re.compile(r"\b(?:are|is|called|named|I'm|you're)\s+(?:an? [\w ]+ called )?([A-Z][\w'-]+) ([A-Z][\w'-]+)")
_ZIP = re.compile(r"\b\d{5}\b")


@dataclass(frozen=True)
class ParsedInstructions:
    """Running text as its reader acts by it; all of it in the first person."""

    tells: tuple[str, ...] = ()
    at_confirm: tuple[str, ...] = ()
    if_denied: tuple[str, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    """(what is asked for, the answer)"""
    kept_back: str = ""


@functools.lru_cache(maxsize=2_000)
def parse_instructions(reason: str, directions: tuple[str, ...]) -> ParsedInstructions:
    """Read why somebody gets in touch, and how they are to go on from there."""
    tells: list[str] = []
    at_confirm: list[str] = []
    if_denied: list[str] = []
    answers: list[tuple[str, str]] = []
    kept = " ".join(m[0].strip(" ()") for m in _HIDDEN.finditer(reason))
    for place, text in enumerate((reason, *directions)):
        for sentence in _sentences(_HIDDEN.sub("", text)):
            found = _CONDITION.match(sentence) or _LOOSE.match(sentence)
            if found is None:
                if place == 0 or _WANTS.search(sentence):
                    tells += _told(sentence)
                continue
            when, then = found["when"], _said(found["then"])
            if _ON_ITS_WAY.search(when) and place == 0:
                tells.append(first_person(sentence) + ".")
            elif _CONFIRMS.search(when):
                at_confirm.append(then)
            elif _ASKED.search(when) and not _DENIED.search(when):
                answers.append((when.lower(), then))
            elif _DENIED.search(when):
                if_denied.append(then)
            elif not re.search(r"\bagent\b", when, re.IGNORECASE) and place == 0:
                tells.append(first_person(sentence) + ".")
    return ParsedInstructions(
        tuple(tells), tuple(at_confirm), tuple(if_denied), tuple(answers), first_person(_ASIDE.sub("", kept))
    )


def _sentences(text: str) -> Iterable[str]:
    for part in _SENTENCE.split(text.strip()):
        for one in _INNER.split(part):
            if re.search(r"\w", one):
                yield one.strip(" ,;.")


def _told(sentence: str) -> list[str]:
    if _MANNER.match(sentence) and not (sentence.lower().startswith(("you're", "you are")) and _WANTS.search(sentence)):
        return []
    asked = re.sub(
        r"^(?:then |also |finally,? )?ask (?:the agent )?(?:explicitly )?(?:(?:to|for|if) )?",
        "Please ",
        sentence,
        flags=re.I,
    )
    return [first_person(_ASIDE.sub("", asked)) + "."]


def _said(then: str) -> str:
    """What a direction makes its reader say: "only exchange the lamp" as "please only exchange the lamp"."""
    text = then.strip(" .")
    for _ in range(3):
        text = _LEADS.sub("", text)
    text = first_person(_ASIDE.sub("", text)).strip(" .,'\"")
    if re.match(r"#?W?\d", text):
        return f"It is {re.sub(r' first$', '', text)}."
    if re.match(r"(?:I|I'd|my|it|that|no|yes)\b", text, re.IGNORECASE):
        return text + "."
    return f"Then please {text[:1].lower()}{text[1:]}."


def first_person(text: str) -> str:
    """Directions to a person as that person says them: "You want your money" is "I want my money"."""

    def turn(match: re.Match[str]) -> str:
        word = match[1].lower()
        if word.startswith(("the agent", "agent")):
            return "your" if word.endswith("'s") else "you"
        if word != "you":
            return _ME[word]
        before = re.findall(r"[\w']+", text[: match.start()].lower())[-1:]
        after = text[match.end() : match.end() + 1]
        return "me" if (before and before[0] in _OBJECT) or after in (".", ",", "", ";") else "I"

    said = _WORD.sub(turn, text.strip())
    for wrong, right in (
        ("I are", "I am"),
        ("I were", "I was"),
        ("I wishes", "I wish"),
        ("you asks", "you ask"),
        ("you says", "you say"),
    ):
        said = re.sub(rf"\b{wrong}\b", right, said)
    return said[:1].upper() + said[1:]


def who(known: str) -> dict[str, str]:
    """E-mail address, name and zip code in a text about somebody; a user id is read as a name."""
    found: dict[str, str] = {}
    if emails := _EMAIL.findall(known):
        found["email"] = emails[0].rstrip(".")
        found["emails"] = " ".join(one.rstrip(".") for one in emails)
    if codes := _ZIP.findall(known):
        found["zip"] = codes[0]
        found["zips"] = " ".join(codes)
    named = _NAMED.search(known)
    if named:
        found["name"] = f"{named[1]} {named[2]}"
    elif user := _ID.search(known):
        found["name"] = f"{user[1].title()} {user[2].title()}"
    return found
