"""The causes of wrong answers, and where one lies.

| cause | what went wrong |
| --- | --- |
| query | what had to be asked never was, or about another thing, or it could not be answered |
| window | another period, or none |
| filter | a condition is missing or another one: cases handed over or still open, another number of cases |
| tie | the right figures or record, and another one taken or none: between level ones, or from the other end |
| format | no action or answer that can be read, or the right answer among other words |
| policy | all was read that was needed, and the rule or article applied otherwise |
| undetermined | none of these can be shown |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Cause = Literal["query", "window", "filter", "tie", "format", "policy", "undetermined"]


@dataclass(frozen=True)
class Departure:
    """A cause, in words that alike ones share; the reply (from 1) and tool where it happened, and the solver's tool
    that it should have been like; None where no single one is to blame.
    """

    cause: Cause
    reason: str
    turn: int | None = None
    tool: str | None = None
    step: str | None = None


UNDETERMINED = Departure("undetermined", "undetermined")
