"""What good service sounds like, as simulated readers of transcripts know it; the words stand in data/quality/.

    known = find("Did the agent apologise?")     # ServiceStandard or None: which words show it, in which lines
    known.shown.search(text)                      # `broken`: the contrary; `occasion`: what makes it apply

English, French and German. The file knows no conversation and no label.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from cxlab import files, resources

FILE = resources.data("simulated", "cxmarena", "service_quality.yaml")
Speaker = Literal["agent", "customer"]
# "Did the agent avoid jargon?": the words that would show the contrary decide, and turn the answer round.
REVERSED = re.compile(
    r"\b(?:avoid|refrain|without|free of|not interrupt|évit\w+|sans|vermeid\w+|vermied\w*|verzicht\w+|ohne|frei von)\b",
    re.IGNORECASE,
)


class StandardEntry(BaseModel):
    """One standard as the file has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    asked: tuple[str, ...]
    shown: tuple[str, ...]
    broken: tuple[str, ...] = ()
    who: Speaker = "agent"
    where: Literal["start", "end", "any"] = "any"
    occasion_of: Speaker | None = None
    occasion: tuple[str, ...] = ()
    capitals: bool = False


@dataclass(frozen=True)
class ServiceStandard:
    """One standard with its words compiled; None where it has none."""

    id: str
    who: Speaker
    where: Literal["start", "end", "any"]
    asked: re.Pattern[str]
    shown: re.Pattern[str]
    broken: re.Pattern[str] | None
    occasion_of: Speaker | None
    occasion: re.Pattern[str] | None


@functools.cache
def table() -> tuple[ServiceStandard, ...]:
    """All standards in the file's order."""
    rows = [StandardEntry.model_validate(row) for row in files.read_yaml(FILE)["standards"]]
    return tuple(
        ServiceStandard(
            id=row.id,
            who=row.who,
            where=row.where,
            asked=re.compile("|".join(map(_spell, row.asked)), re.IGNORECASE),
            shown=_words(row.shown, row.capitals),
            broken=_words(row.broken, row.capitals) if row.broken else None,
            occasion_of=row.occasion_of,
            occasion=_words(row.occasion, False) if row.occasion else None,
        )
        for row in rows
    )


def _words(phrases: tuple[str, ...], capitals: bool) -> re.Pattern[str]:
    """Whole words in any capitals, unless capitals count."""
    choice = "|".join(map(_spell, phrases))
    return re.compile(rf"(?<!\w)(?:{choice})(?!\w)", 0 if capitals else re.IGNORECASE)


def _spell(phrase: str) -> str:
    """A phrase as a pattern; apostrophes may be straight or curved."""
    return phrase.replace("*", r"\w*").replace("'", "['’]")


@functools.lru_cache(maxsize=2_000)
def find(question: str) -> ServiceStandard | None:
    """The standard that a question asks about; None for one that is not in the table."""
    return next((one for one in table() if one.asked.search(question)), None)
