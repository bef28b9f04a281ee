"""How a customer speaks, counted in its messages: what a persona does to the customer itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.mmtaup2 import dialogue_acts, stated_values
from cxlab.benchmarks.mmtaup2.evaluation.repetitions import LOST


@dataclass(frozen=True)
class CustomerTalk:
    """Counts over a customer's messages; `told_at_first`: of the facts that it knows those in its first message."""

    messages: int
    words: float
    """Mean length."""
    questions: int
    """Messages with a question."""
    lost: int
    """Messages that say that something is not known or not understood."""
    upset: tuple[str, ...]
    """The messages that show that patience runs out, as far as the wording is plain."""
    maybe_upset: tuple[str, ...]
    """Those that somebody may have written who is annoyed: most who are do not say so."""
    facts: int
    told_at_first: int


def describe(texts: Sequence[str], facts: Iterable[Any]) -> CustomerTalk | None:
    """How a customer spoke; None where it has said nothing."""
    said = [text for text in texts if text.strip()]
    if not said:
        return None
    told = (one for one in facts if isinstance(one, str | int | float) and not isinstance(one, bool))
    known = [one for one in told if len(stated_values.shape(one)) >= 4]
    moods = [dialogue_acts.frustration(text) for text in said]
    return CustomerTalk(
        len(said),
        sum(len(text.split()) for text in said) / len(said),
        sum("?" in text for text in said),
        sum(bool(LOST.search(text)) for text in said),
        tuple(text for text, mood in zip(said, moods, strict=True) if mood),
        tuple(text for text, mood in zip(said, moods, strict=True) if mood is None),
        len(known),
        sum(stated_values.states(said[0], one) for one in known),
    )
