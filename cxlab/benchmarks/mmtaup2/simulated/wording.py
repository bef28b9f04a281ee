"""How a stand-in keeps from saying the same words over and over."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cxlab.benchmarks.mmtaup2 import dialogue_acts

# So many messages back a sentence is still in everybody's ear, and so often another wording is looked for.
_HEARD, _TRIES = 5, 8
_OPENING = 3


def say_anew(draw: Callable[[], str], own: Sequence[str]) -> str:
    """A drawn wording no sentence of which begins as one of the speaker's last messages did; the last one where
    there are too few wordings for that."""
    heard = {_opening(one) for text in own[-_HEARD:] for one in dialogue_acts.sentences(text)}
    said = draw()
    for _ in range(_TRIES):
        if not any(_opening(one) in heard for one in dialogue_acts.sentences(said)):
            break
        said = draw()
    return said


def _opening(sentence: str) -> tuple[str, ...]:
    return tuple(sentence.lower().replace(",", " ").replace(":", " ").split()[:_OPENING])
