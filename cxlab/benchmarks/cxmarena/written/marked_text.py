"""Text in which people have marked what states a fact: "leaves at [[half past five|hc.harwich_departure]]".

    read_marks("leaves at [[17:30|hc.departure]]")     # MarkedText("leaves at 17:30", (Mark("hc.departure", "17:30"),))

A mark that ends in "!" states another value than the ledger's, on purpose; "-" marks a figure that is no fact of the
company (an example, a sum of this one conversation).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

EXAMPLE = "-"
_MARK = re.compile(r"\[\[([^\[\]|]+)\|(-|[a-z]+\.[a-z_]+!?)\]\]")
# A road is called M20 and a booking AF418220: digits behind a letter are a name.
_NUMBER = re.compile(r"(?<![^\W_])\d+(?:[.,]\d{3}(?!\d))*")


@dataclass(frozen=True)
class Mark:
    """Words that state a fact; `planted` where they state it wrongly on purpose."""

    fact: str
    words: str
    planted: bool = False


@dataclass(frozen=True)
class MarkedText:
    """A text without its marks, the marks in its order, and what is left when the marked words are taken out."""

    text: str
    marks: tuple[Mark, ...]
    rest: str

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts stated, each once, in the order of the text."""
        return tuple(dict.fromkeys(mark.fact for mark in self.marks if mark.fact != EXAMPLE))


def read_marks(written: str) -> MarkedText:
    """The text and its marks; a bracket that is no mark stays in the text, where the proof finds it."""
    marks = tuple(Mark(fact.rstrip("!"), words, fact.endswith("!")) for words, fact in _MARK.findall(written))
    return MarkedText(_MARK.sub(r"\1", written), marks, _MARK.sub(" ", written))


def numbers(text: str) -> list[str]:
    """The whole numbers in a text, without names such as M20: "1,500 at 17:30 on the M20" → 1500, 17, 30."""
    return [re.sub(r"\D", "", found) for found in _NUMBER.findall(text)]
