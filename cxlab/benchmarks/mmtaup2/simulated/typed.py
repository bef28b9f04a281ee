"""What people type, put as it is usually written: apostrophes that are left out, oaths, a sign wrong in a key word."""

from __future__ import annotations

import functools
import re

_BARE = re.compile(
    r"\b(?:(don|doesn|didn|isn|wasn|aren|can|couldn|wouldn|haven|hasn)(t)|(that|what|where)(s)|(i)(m|ve))\b",
    re.IGNORECASE,
)
_OATHS = re.compile(
    r"\b(?:(?:(?:in|what) )?the (?:hell|fuck|heck)|for (?:fuck|god)s? sake|fuck(?:ing|in| this| off)?|goddamn|damn"
    r"|bloody)\b ?",
    re.IGNORECASE,
)
# Words that decide what is wanted, long enough for a sign too few or wrong to leave no other word.
_KEYS = (
    "address", "cancel", "cancelled", "return", "exchange", "refund", "number", "tracking", "delivery", "payment",
    "mistake", "parcel", "cheapest", "airplane", "signal", "internet", "settings", "picture", "pictures", "roaming",
    "restart", "restarted", "service",
)  # fmt: skip
_SHORT = re.compile(r"\b(fone|pics?|pls|plz|u|ur|thx|wanna|gonna|gotta|dunno|idk|cos|coz)\b", re.IGNORECASE)
_IN_FULL = {
    "fone": "phone", "pic": "picture", "pics": "pictures", "pls": "please",
    "plz": "please", "u": "you", "ur": "your", "thx": "thanks", "wanna": "want to",
    "gonna": "going to", "gotta": "have to", "dunno": "don't know", "idk": "I don't know", "cos": "because",
    "coz": "because",
}  # fmt: skip
_WORD = re.compile(r"\b[A-Za-z]{5,}\b")
_EXACT = re.compile(r"\S*[@\d#]\S*")


def is_typed(text: str) -> bool:
    """Whether a message ends without a stop, or with several, as people type; a stand-in's line never does."""
    said = text.rstrip()
    return bool(said) and (said[-1] not in ".?!" or said[-2:] in ("!!", "??", "..", "?!"))


@functools.lru_cache(maxsize=20_000)
def tidy(text: str) -> str:
    """The message as it is usually written; addresses, numbers and names stay as they stand."""
    plain = _OATHS.sub("", text.replace("’", "'"))
    plain = _BARE.sub(lambda one: "'".join(part for part in one.groups() if part), plain)
    plain = _SHORT.sub(lambda one: _IN_FULL[one[0].lower()], plain)
    plain = _WORD.sub(lambda one: one[0] if _is_exact(plain, one) else _spell(one[0]), plain).strip()
    return plain if re.search(r"\w", plain) else text  # what was nothing but an oath is one


def _is_exact(text: str, word: re.Match[str]) -> bool:
    """Whether a word is part of an e-mail address, a number or a code."""
    return any(one.start() <= word.start() < one.end() for one in _EXACT.finditer(text))


@functools.lru_cache(maxsize=20_000)
def _spell(word: str) -> str:
    from rapidfuzz.distance import OSA

    low = word.lower()
    if low in _KEYS or word[0].isupper():  # a name is nobody's slip
        return word
    near = [key for key in _KEYS if OSA.distance(low, key, score_cutoff=1) <= 1 and not low.startswith(key)]
    return near[0] if len(near) == 1 and not _is_other(low, near[0]) else word


def _is_other(word: str, key: str) -> bool:
    """Whether a word is a form of its own: "returns", "signals", "exchanges"."""
    return word in (f"{key}s", f"{key}d", f"{key}ed") or key in (f"{word}s", f"{word}d")
