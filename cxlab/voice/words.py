"""Words as word error rates count them, and a text cut into words and what lies between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cxlab.voice.confusion_tables import Tables

# A word begins and ends with a letter or digit; signs inside ("don't", "a@b.fr", "1,299") belong to it.
WORD = re.compile(r"[^\W_](?:\S*[^\W_])?")
ADDRESS = re.compile(
    r"^(?:https?://|www\.)|^[\w.+-]+@[\w.-]+$|^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|de|fr|eu|io|uk)$", re.IGNORECASE
)
SPELLED = re.compile(r"^[^\W\d_](?:[-.][^\W\d_]){2,}$")
AMOUNT = re.compile(r"^\d[\d.,:/%-]*[^\W\d_]{0,2}$")
SENTENCE_END = (".", "!", "?", ":", "…")

# How much harder than an ordinary word a class is hit. In mixed sentences .40 of the names, letters, codes and
# addresses come out wrong at WER .15 and .75 at .35; a loop of espeak-ng and pocketsphinx, measured on 17 such
# things, lost .53 and .65 of them, letters and names first, numbers least.
WEIGHT = {"word": 1.0, "number": 2.0, "letter": 4.0, "code": 4.5, "name": 4.0, "email": 5.0}


def key(word: str) -> str:
    """What makes two spellings one word: letters and digits, case apart."""
    return "".join(char for char in word.casefold() if char.isalnum())


def words(text: str) -> list[str]:
    """The text's words as error rates count them: split at white space, case and signs removed."""
    return [word for word in map(key, text.split()) if word]


def distance(said: Sequence[str], heard: Sequence[str]) -> int:
    """Fewest substitutions, deletions and insertions between two lists of words (Levenshtein)."""
    from rapidfuzz.distance import Levenshtein  # late: only who counts errors needs it

    return Levenshtein.distance(said, heard)


def word_error_rate(said: str, heard: str) -> float:
    """Errors per word said, on normalised words; 0 where nothing was said and nothing heard.

    Where nothing was said, each heard word counts as one whole error.
    """
    reference, hypothesis = words(said), words(heard)
    return distance(reference, hypothesis) / max(1, len(reference))


@dataclass(frozen=True, slots=True)
class Token:
    """One word with the white space before it and the signs around it."""

    space: str
    lead: str
    core: str
    tail: str
    kind: str


def cut(text: str, table: Tables) -> tuple[list[Token], str]:
    """The words in order, each with its class, and what follows the last one; joined, they are the text."""
    parts: list[tuple[str, str, str, str]] = []
    before = ""
    for chunk in re.findall(r"\s+|\S+", text):
        found = WORD.search(chunk)
        if found is None or not key(found[0]):
            before += chunk
        else:
            parts.append((before, chunk[: found.start()], found[0], chunk[found.end() :]))
            before = ""
    tokens: list[Token] = []
    for i, (space, lead, core, tail) in enumerate(parts):
        starts = not tokens or tokens[-1].tail.endswith(SENTENCE_END) or "\n" in space
        beside = [parts[j][2] for j in (i - 1, i + 1) if 0 <= j < len(parts)]
        kind = _kind(core, starts, tokens[-1] if tokens else None, beside, table)
        tokens.append(Token(space, lead, core, tail, kind))
    return tokens, before


def _kind(core: str, starts: bool, previous: Token | None, beside: list[str], table: Tables) -> str:
    low = core.lower()
    if ADDRESS.match(core):
        return "email"
    if any(char.isdigit() for char in core):
        return "number" if AMOUNT.match(core) else "code"
    if low in table.numbers:
        return "number"
    if SPELLED.match(core):
        return "letter"
    if len(core) == 1:
        # "a" and "I" are words, unless they stand among spelled letters.
        spelling = any(len(other) == 1 and other not in ("a", "I", "à", "y") for other in beside)
        wordlike = core in ("I", "a", "A", "à", "À", "y", "Y", "ô", "O")
        return "letter" if spelling or not wordlike else "word"
    if low in table.capitalised:
        return "word"
    if core.isupper() and core.isalpha() and len(core) <= 5:
        return "letter"
    if not core[0].isupper():
        return "word"
    cued = previous is not None and previous.core.lower() in table.name_cues
    if cued or (low in table.names and low not in table.words and low not in table.near):
        return "name"
    if table.language == "de":
        # Every German noun has a capital, so a capital alone says nothing; a family name follows a first name.
        family = previous is not None and previous.kind == "name" and not previous.tail
        return "name" if family and low not in table.words else "word"
    return "word" if starts or (low.endswith(("'s", "'m", "'ll", "'ve", "'d")) and low[0] == "i") else "name"
