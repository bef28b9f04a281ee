"""One thing that is wrong with a file, and the line that it stands in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cxlab.errors import BadFile

Place = tuple[str, ...]
"""The keys and positions that lead to a value: ("fields", "Age", "options", "0")."""

LONGEST = 400  # characters of a problem or a fix; what a file holds may stand in it


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong with a file; printed it is one line, whatever the file holds."""

    path: str
    line: int | None
    problem: str
    fix: str

    def __str__(self) -> str:
        return f"{plain(self.path)}:{self.line or 1}: {plain(self.problem)}; {plain(self.fix)}"

    @classmethod
    def of(cls, error: BadFile) -> Complaint:
        """The complaint that an exception carries."""
        return cls(str(error.path), error.line, error.problem, error.fix)


def plain(text: str) -> str:
    """One line of printable characters: what a file holds must not write on somebody's terminal."""
    cut = text if len(text) <= LONGEST else text[:LONGEST] + " …"
    shown = (c if c.isprintable() else " " if c.isspace() else c.encode("unicode_escape").decode() for c in cut)
    return " ".join("".join(shown).split(" "))


def line_of(lines: Mapping[Place, int], where: Iterable[object]) -> int | None:
    """The line of the place, or of the nearest one around it that the file has."""
    keys = tuple(str(k) if not isinstance(k, bool) else str(k).lower() for k in where)
    while keys and keys not in lines:
        keys = keys[:-1]
    return lines.get(keys)
