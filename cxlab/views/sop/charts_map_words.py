"""What is written on a procedure's map, cut into lines."""

import re

from cxlab.charts.names import begin, name_id

LINE_PX = 15.6


def wrap(text: str, letters: int, lines: int) -> list[str]:
    """Text in at most so many lines of about so many letters; words too long for one break at + and at capitals."""
    pieces: list[str] = []
    for word in re.split(r"(?<=\s)", text):
        parts = re.split(r"(?<=\+)|(?<=[a-z])(?=[A-Z])", word) if len(word.strip()) > letters else [word]
        pieces += [part for part in parts if part]
    wrapped: list[str] = [""]
    for piece in pieces:
        if wrapped[-1] and len((wrapped[-1] + piece).rstrip()) > letters:
            wrapped.append("")
        wrapped[-1] += piece
    wrapped = [_cut(line.strip(), letters + 6) for line in wrapped if line.strip()]
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], wrapped[lines - 1][: letters - 1].rstrip(" ,/·") + "…"]
    return wrapped


def _cut(line: str, letters: int) -> str:
    return line if len(line) <= letters else f"{line[: letters - 1].rstrip()}…"


def name_action(action: str) -> list[str]:
    """An action in words, each of a pair in lines of its own, as both tell pairs apart."""
    first, *rest = name_id(action).split(" + ")
    lines = wrap(begin(first), 14, 2)
    for other in rest:
        lines += wrap(f"+ {other}", 16, 2)
    return lines
