"""A text as the words that a voice says, and recognised words as one writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
# Words between two pauses, and what the pause after them is: "," a short one, "." the end of a sentence.
Clause = tuple[Sequence[str], str]

_PRICE = re.compile(r"\$\s?(\d[\d.,]*\d|\d)")
_CENTS = re.compile(r"(?<=\d)[.,]00(?=\D|$)")
_SAID_AS_WORDS = ("SIM", "PIN", "PUK")
_SIGNS = {"@": " at ", "#": " number ", "$": " dollars ", "%": " percent ", "&": " and ", "+": " plus ", "/": " slash "}
_TOKEN = re.compile(r"\d|[A-Z]{2,5}(?![a-z])|[A-Z]?[a-z']+|[A-Z]|\.(?=\w)|[.!?…](?=\W|$)|[,;:](?=\s|$)|[—–](?=\s)")
_ASKS = re.compile(
    r"what|which|who|where|when|why|how|could|can|would|will|do|does|did|is|are|was|may|shall|should|have|has"
)
_ASKS_NOT = (["do", "not"], ["have", "a"])
_ADDRESS = re.compile(r"\b((?:\w+ dot )*\w+)( \d+)? at (\w+) dot (com|org|net|io|de|fr|eu)\b", re.IGNORECASE)
_KNOWN = (
    (re.compile(r"\be ?mail\b", re.IGNORECASE), "e-mail"),
    (re.compile(r"(?<=\bmy name is )\w+(?: (?!and\b)\w+)?"), lambda found: found[0].title()),
    (re.compile(r"\bwi ?fi\b", re.IGNORECASE), "Wi-Fi"),
    (re.compile(r"\b(sim|pin|puk)\b"), lambda found: found[1].upper()),
    (re.compile(r"\b([A-Z]) (\d{3,})\b"), r"\1\2"),
    (re.compile(r"\b([2-5]) G\b"), r"\1G"),
    (re.compile(r"\bi\b(?!-)"), "I"),
)


def spoken(text: str) -> list[str]:
    """The words a voice says for a text: digits one by one, capitals letter by letter, signs by name."""
    return [word for words, _ in clauses(text) for word in words]


def clauses(text: str) -> list[Clause]:
    """The spoken words from pause to pause."""
    text = _PRICE.sub(lambda found: f"{_CENTS.sub('', found[1])} dollars", text.replace("’", "'"))
    for sign, said in _SIGNS.items():
        text = text.replace(sign, said)
    found: list[Clause] = []
    words: list[str] = []
    for place in _TOKEN.finditer(text):
        token = place[0]
        if token.isdigit():
            words.append(DIGITS[int(token)])
        elif token == "." and text[place.end() : place.end() + 1].isalnum():
            words.append("dot")
        elif token.isupper() and len(token) > 1 and token not in _SAID_AS_WORDS:
            words += token.lower()
        elif not token[0].isalpha():
            if words:
                found.append((words, "," if token in ",;:—–" else "."))
                words = []
        elif word := token.lower().strip("'"):
            words.append(word)
    return [*found, (words, ".")] if words else found


def written(said: Sequence[Clause]) -> str:
    """The words as one writes them, with the marks that the pauses tell; a sentence that begins like one is a question.

    Digits said in a row are a number, letters said in a row an abbreviation; an address is put together.
    """
    sentences: list[str] = []
    begun: list[str] = []
    first: list[str] = []
    for words, pause in said:
        first = first or list(words[:2])
        begun.append(_write(words))
        if pause == ".":
            asks = first and _ASKS.fullmatch(first[0]) and first not in _ASKS_NOT
            sentences.append(_capitalise(", ".join(begun)) + ("?" if asks else "."))
            begun, first = [], []
    if begun:
        sentences.append(_capitalise(", ".join(begun)))
    return " ".join(sentences)


def _write(words: Sequence[str]) -> str:
    parts: list[str] = []
    kinds: list[str] = []
    for place, word in enumerate(words):
        kind = _kind(words, place)
        sign = str(DIGITS.index(word)) if kind == "digits" else word.upper() if kind == "letters" else word
        if kinds and kind == kinds[-1] != "word":
            parts[-1] += sign
        else:
            parts.append(sign)
            kinds.append(kind)
    text = _ADDRESS.sub(_join_address, " ".join(parts))
    for pattern, better in _KNOWN:
        text = pattern.sub(better, text)
    return text


def _kind(words: Sequence[str], place: int) -> str:
    word = words[place]
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if word in DIGITS:
        beside = any(other in DIGITS or other == "dot" or len(other) == 1 for other in (before, after))
        # "Which one it is" is no number; "number one" and "eight dollars" are.
        return "digits" if beside or before == "number" or after in ("dollars", "percent") else "word"
    if len(word) != 1:
        return "word"
    # A lone "a" is a word, one before other letters is a letter, and so is the last one of "USA".
    letter = word not in "ai" or (len(after) == 1 and after not in "ai")
    spelling = len(before) == 1 and place > 1 and len(words[place - 2]) == 1 and not after
    return "letters" if letter or spelling else "word"


def _join_address(found: re.Match[str]) -> str:
    local = found[1].replace(" dot ", ".").lower()
    return f"{local}{(found[2] or '').strip()}@{found[3].lower()}.{found[4].lower()}"


def _capitalise(text: str) -> str:
    # An address keeps its small letter.
    return text if "@" in text.split(" ", 1)[0] else text[:1].upper() + text[1:]
