"""A message in short, around a word that was looked for, and the words marked in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

# Letters of a message on each side of the first word that was looked for.
_BEFORE, _AFTER = 200, 500
_WORD = re.compile(r"\w+")


def cut_around(text: str, terms: Sequence[str]) -> str:
    """A long text around the first of the terms, cut at words."""
    return cut_at(text, min((at for each in terms if (at := text.lower().find(each.lower())) >= 0), default=0))


def cut_at(text: str, at: int) -> str:
    """A long text around a place, cut at words; from its start where the place is near."""
    if len(text) <= _BEFORE + _AFTER:
        return text
    start, end = max(0, at - _BEFORE), max(at + _AFTER, _BEFORE + _AFTER)
    head = "" if start == 0 else "… "
    tail = "" if end >= len(text) else " …"
    shown = text[start:end]
    shown = shown.partition(" ")[2] or shown if head else shown
    shown = shown.rpartition(" ")[0] or shown if tail else shown
    return f"{head}{shown}{tail}"


def find_word(text: str, words: Sequence[str]) -> int:
    """Where the first of these casefolded words stands; 0 where none does."""
    return next((each.start() for each in _WORD.finditer(text) if each.group().casefold() in words), 0)


def mark_terms(text: str, terms: Sequence[str]) -> Markup:
    """The text as HTML, escaped, the terms marked wherever they stand."""
    pattern = re.compile("|".join(re.escape(each) for each in sorted(terms, key=len, reverse=True)), re.IGNORECASE)
    return _mark(text, list(pattern.finditer(text)))


def mark_words(text: str, words: Sequence[str]) -> Markup:
    """The text as HTML, escaped, each of these casefolded words marked where it stands."""
    wanted = set(words)
    return _mark(text, [each for each in _WORD.finditer(text) if each.group().casefold() in wanted] if wanted else ())


def _mark(text: str, places: Sequence[re.Match[str]]) -> Markup:
    parts, at = [], 0
    for found in places:
        parts += [escape(text[at : found.start()]), Markup("<mark>{}</mark>").format(found.group())]
        at = found.end()
    return Markup("").join([*parts, escape(text[at:])])
