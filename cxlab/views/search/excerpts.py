"""A message in short, around a word that was looked for."""

from __future__ import annotations

from cxlab.word_forms import Sought

# Letters of a message on each side of the first word that was looked for.
_BEFORE, _AFTER = 200, 500


def cut_around(text: str, sought: Sought) -> str:
    """A long text around the first of what was looked for, cut at words; from its start where that is near or none
    stands in it."""
    if len(text) <= _BEFORE + _AFTER:
        return text
    at = next((start for start, _ in sought.find(text)), 0)
    start, end = max(0, at - _BEFORE), max(at + _AFTER, _BEFORE + _AFTER)
    head = "" if start == 0 else "… "
    tail = "" if end >= len(text) else " …"
    shown = text[start:end]
    shown = shown.partition(" ")[2] or shown if head else shown
    shown = shown.rpartition(" ")[0] or shown if tail else shown
    return f"{head}{shown}{tail}"
