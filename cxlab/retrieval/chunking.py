"""A text cut into overlapping pieces, at the strongest boundary that fits: paragraph, line, space, character.

The rules, exact enough to recompute every cut:

1. Sizes and overlaps count characters (Unicode code points). A text of at most `size` is one piece; "" is none.
2. A boundary lies after the newline that ends a blank line (paragraph), after a newline (line), or after
   any white space (space). Otherwise every position between two characters is one.
3. A piece that begins at `a` ends at the last paragraph boundary in (a + overlap, a + size]; where there is
   none, at the last line boundary there, else the last space, else at a + size. So a paragraph of at most
   size - overlap characters is never cut, and neither is a line or a word.
4. The next piece begins exactly `overlap` characters before that end, be it inside a word: n overlapping
   pieces always hold len(text) + (n - 1) x overlap characters.

Nothing is stripped: `pieces[0] + "".join(piece[overlap:] for piece in pieces[1:])` is the text.
"""

import re
from bisect import bisect_right

from cxlab.errors import BadOption

_PARAGRAPH = re.compile(r"\n[^\S\n]*(?=\n)")
_LINE = re.compile(r"\n")


def chunk(text: str, size: int, overlap: int) -> list[str]:
    """The pieces of a text in order, each at most `size` characters; BadOption unless 0 <= overlap < size."""
    return [text[start:end] for start, end in spans(text, size, overlap)]


def spans(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """The same pieces as (start, end) positions in the text; BadOption for what is no text."""
    check_sizes(size, overlap)
    if not isinstance(text, str):
        raise BadOption(f"a text is needed to cut, not {type(text).__name__}")
    if len(text) <= size:
        return [(0, len(text))] if text else []
    # The boundary of a paragraph is after the newline that ends its blank line: the one looked ahead at.
    levels = [[found.end() + 1 for found in _PARAGRAPH.finditer(text)], [f.end() for f in _LINE.finditer(text)]]
    pieces: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > size:
        end = _cut(text, levels, start + overlap, start + size)
        pieces.append((start, end))
        start = end - overlap
    pieces.append((start, len(text)))
    return pieces


def check_sizes(size: int, overlap: int) -> None:
    """BadOption unless both are whole numbers with 0 <= overlap < size."""
    for name, value in (("size", size), ("overlap", overlap)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadOption(f"chunk {name} {value!r} is not a whole number of characters")
    if size < 1 or not 0 <= overlap < size:
        raise BadOption(f"chunk size {size} with overlap {overlap}: give a size of 1 or more and an overlap below it")


def _cut(text: str, levels: list[list[int]], after: int, last: int) -> int:
    """The last boundary in (after, last] of the strongest level that has one there."""
    for boundaries in levels:
        place = bisect_right(boundaries, last) - 1
        if place >= 0 and boundaries[place] > after:
            return boundaries[place]
    for end in range(last, after, -1):
        if text[end - 1].isspace():
            return end
    return last
