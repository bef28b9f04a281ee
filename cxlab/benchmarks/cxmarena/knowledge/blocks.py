"""The structure of a clean article: headings, paragraphs, lists and facts, read from plain text.

Clean text is plain: blank lines between blocks, a heading on a short line without a full stop (or after
`#`), steps as "1. …", points as "- …", facts as "Label: value" lines. Whatever fits none is a paragraph.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_STEP = re.compile(r"^\s*\d{1,2}[.)]\s+(.*)$")
_POINT = re.compile(r"^\s*[-*•–]\s+(.*)$")
_LISTS: tuple[tuple[Literal["steps", "points"], re.Pattern[str]], ...] = (("steps", _STEP), ("points", _POINT))
_MARK = re.compile(r"^\s*(#{1,6})\s+(.*?)\s*#*$")
# A label is short, and neither it nor its value is a sentence; "at 10:30" and "https://…" are no labels.
_FACT = re.compile(r"^\s*([^:.!?|]{2,48}?)\s?:\s+(\S(?:.*[^.!?\s])?)\s*$")
_STOPS = (".", "!", "?", ";", ",")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-zà-ÿ]|\d|[\"'«„(])")


@dataclass(frozen=True)
class Block:
    """One block; `items` are the lines of a list, `rows` the facts as (label, value)."""

    kind: Literal["heading", "paragraph", "steps", "points", "facts"]
    text: str = ""
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()


def read_blocks(clean: str) -> list[Block]:
    """The blocks of a clean text, in order; every word of it stands in exactly one block."""
    blocks: list[Block] = []
    chunks = re.split(r"\n[ \t]*\n+", clean.replace("\r\n", "\n"))
    for place, chunk in enumerate(chunks):
        lines = [line.strip() for line in chunk.split("\n") if line.strip()]
        at = 0
        # A line of its own at the top is the title, with a colon in it or not ("Delivery: parcel is late").
        if place == 0 and len(chunks) > 1 and len(lines) == 1 and _FACT.match(lines[0]):
            blocks.append(Block("heading", lines[0]))
            continue
        while at < len(lines):
            block, at = _next(lines, at)
            blocks.append(block)
    # A short last line is the end of the article, not the heading of nothing.
    if blocks and blocks[-1].kind == "heading" and len(blocks) > 1:
        blocks[-1] = Block("paragraph", blocks[-1].text)
    return blocks


def _next(lines: list[str], at: int) -> tuple[Block, int]:
    line = lines[at]
    mark = _MARK.match(line)
    if mark:
        return Block("heading", mark[2]), at + 1
    for kind, form in _LISTS:
        end = _while(lines, at, form)
        if end > at:
            items = tuple(re.sub(form, r"\1", each) for each in lines[at:end])
            if kind == "points" and all(_FACT.match(item) for item in items):
                return Block("facts", rows=tuple(_row(item) for item in items)), end
            return Block(kind, items=items), end
    end = _while(lines, at, _FACT)
    if end > at and all(len(row.split()) <= 30 for row in lines[at:end]):
        return Block("facts", rows=tuple(_row(each) for each in lines[at:end])), end
    if len(line) <= 80 and not line.endswith(_STOPS) and (at + 1 < len(lines) or len(lines) == 1):
        return Block("heading", line), at + 1
    end = at + 1
    while end < len(lines) and not any(form.match(lines[end]) for form in (_MARK, _STEP, _POINT, _FACT)):
        end += 1
    return Block("paragraph", " ".join(lines[at:end])), end


def _while(lines: list[str], at: int, form: re.Pattern[str]) -> int:
    while at < len(lines) and form.match(lines[at]):
        at += 1
    return at


def _row(line: str) -> tuple[str, str]:
    found = _FACT.match(line)
    return (found[1].strip(), found[2].strip()) if found else ("", line)


def split_sentences(text: str) -> list[str]:
    """A paragraph's sentences; a stop inside a number or an address ends none."""
    return [part for part in _SENTENCE.split(text) if part]
